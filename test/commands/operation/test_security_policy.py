# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command that prints the policy of a node in its namespace."""

from xml.etree import ElementTree

import pytest

from liedyn_ros.commands.operation import security_policy


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
