# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Log files of ROS 2, which a node does without where it cannot write them."""

import os
from pathlib import Path
from tempfile import TemporaryFile

WITHOUT = '--ros-args', '--disable-external-lib-logs'  # arguments of rclpy.init


def log_folder() -> Path:
    """Return where rcl writes log files: ROS_LOG_DIR, or log in ROS_HOME, by default ~/.ros."""
    home = os.environ.get('ROS_HOME') or '~/.ros'
    return Path(os.environ.get('ROS_LOG_DIR') or f'{home}/log').expanduser()


def why_no_log_files() -> str:
    """Return why no log file can be written, or nothing: rclpy.init raises an error then."""
    folder = log_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return ''
    except OSError as error:
        return (f'{folder}: expected a folder for log files, got {error.strerror}: '
                'the log goes to the console and to /rosout alone')
