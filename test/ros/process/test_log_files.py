# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A node without a place for log files, as under a service with a read-only home."""

import os

import pytest
from support import forked

from liedyn_ros.ros.process.run import why_no_log_files

NOWHERE = '/proc/self/logs'  # where nobody can make a folder
NODE = """
from rclpy.node import Node
from liedyn_ros.ros.process.run import run

class Quiet(Node):
    def __init__(self):
        super().__init__('quiet', namespace='{namespace}')
        self.create_timer(0.01, self.context.shutdown)

run(Quiet, [])
"""


@pytest.mark.ros
def test_a_node_starts_without_log_files_and_says_so(namespace):
    result = forked.run('-c', NODE.format(namespace=namespace),
                        env={**os.environ, 'ROS_LOG_DIR': NOWHERE})
    assert result.returncode == 0, result.stderr
    assert f'{NOWHERE}: expected a folder for log files' in result.stderr


def test_a_folder_that_can_be_written_does(monkeypatch, tmp_path):
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'made' / 'here'))
    assert why_no_log_files() == ''
    assert not list((tmp_path / 'made' / 'here').iterdir())


@pytest.mark.parametrize('variable, folder', [('ROS_LOG_DIR', ''), ('ROS_HOME', '/log')])
def test_the_variables_of_ros_name_the_folder(monkeypatch, variable, folder):
    for each in ('ROS_LOG_DIR', 'ROS_HOME'):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv(variable, NOWHERE)
    assert f'{NOWHERE}{folder}: expected' in why_no_log_files()
