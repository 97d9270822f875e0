# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Lines that log: rclpy looks up the file of each, and Python the module of that file."""

import inspect
import sys

PACKAGES = 'liedyn_ros.', 'rclpy.'  # whose lines log


def know_modules() -> None:
    """
    Tell Python's table of files which module is where, as far as modules log.

    Else it asks the disk for the files of all modules at the first line, which takes 60 ms.
    """
    table: dict[str, str] = getattr(inspect, 'modulesbyfile', {})
    for name, module in tuple(sys.modules.items()):
        file = getattr(module, '__file__', None) if name.startswith(PACKAGES) else None
        if file is not None:
            table.setdefault(file, name)
