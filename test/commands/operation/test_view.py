# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""`liedyn view`: what goes to the node."""

import subprocess
import sys

import pytest

from liedyn_ros.commands.operation.view import main
from liedyn_ros.view import __main__ as view


@pytest.mark.parametrize('arguments, expected', [
    ([], []), (['--port', '9000'], ['-p', 'port:=9000']),
    (['--ros-args', '--params-file', 'nodes.yaml', '-p', 'rate:=5.0'],  # which is no model
     ['--params-file', 'nodes.yaml', '-p', 'rate:=5.0']),
    (['--port', '9000', '--ros-args', '-r', '__node:=mine'],
     ['-r', '__node:=mine', '-p', 'port:=9000'])])
def test_what_stands_behind_ros_args_is_of_the_node(monkeypatch, arguments, expected):
    given = []
    monkeypatch.setattr(view, 'main', lambda words, stays: given.extend(words))
    assert main(arguments) == 0
    assert given == ['--ros-args', *expected]


@pytest.mark.ros
def test_a_file_that_is_not_there_ends_the_command():
    """It stood on a page of nothing until Ctrl-C, and returned 0."""
    pytest.importorskip('rclpy', reason='the view listens by ROS 2')
    done = subprocess.run([sys.executable, '-m', 'liedyn_ros', 'view', 'nowhere.urdf'],
                          capture_output=True, text=True, timeout=240.0)
    assert done.returncode == 2
    assert 'nowhere.urdf' in done.stderr and 'the view is on' not in done.stderr
