# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy of a node in its namespace, and what `liedyn view` hands to the node."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from liedyn_ros.commands.operation import security_policy
from liedyn_ros.commands.operation.view import main
from liedyn_ros.view import __main__ as view


def printed(capsys, *arguments):
    """Return the policy that the command prints."""
    assert security_policy.main([*arguments]) == 0
    return ElementTree.fromstring(capsys.readouterr().out.partition('\n')[2])


def test_a_policy_in_a_namespace(capsys):
    policy = printed(capsys, 'stewart_pose', '--namespace', '/left', '--name', 'pose')
    enclave, = policy.iter('enclave')
    profile, = policy.iter('profile')
    assert enclave.get('path') == '/left/pose'
    assert profile.attrib == {'ns': '/left', 'node': 'pose'}
    assert 'leg_states' in {topic.text for topic in policy.iter('topic')}


def test_a_remapping_replaces_a_name_and_stands_beside_a_pattern(capsys):
    policy = printed(capsys, 'stewart_pose', '--remap', '/leg_states:=/joint_states',
                     'leg_states/leg_1:=/first')
    topics = {topic.text for topic in policy.iter('topic')}
    assert {'/joint_states', '/first', 'leg_states/*'} <= topics
    assert 'leg_states' not in topics


@pytest.mark.parametrize(('arguments', 'message'), [
    (['stewart_prose'], "'policies/stewart_prose.xml': not found"),
    (['stewart_pose', '--remap', 'legs:=x'], "got '/legs'"),
    (['stewart_pose', '--remap', 'leg_states'], "expected from:=to, got 'leg_states'"),
])
def test_refusals(arguments, message, capsys):
    assert security_policy.main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ''
    assert message in shown.err


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
                          capture_output=True, text=True, timeout=600.0)
    assert done.returncode == 2
    assert 'nowhere.urdf' in done.stderr and 'the view is on' not in done.stderr
