# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policies of SROS 2 allow what each node opens, and nothing else."""

import re

import pytest
from support.bench.command_lines import NODES, ROOT
from tools.security_policies import CLASSES, opened_by, path_of

from liedyn_ros.commands.operation.security_policy import (
    full_name, names_allowed, policy_of, remapped)

pytestmark = [pytest.mark.ros, pytest.mark.full]

REMAPPED = {
    'stewart_pose': ('leg_states:=/joints', '~/solve:=solver', '/tf:=tf'),
    'aerial_manipulator_controller': ('dynamics_server/inverse_dynamics:=/server/inverse',
                                      'joint_states:=arm/joint_states')}
ROWS = re.compile(r'^\| (?:topic|service|action) \|.*\n\| ---.*\n((?:\|.*\n)+)', re.MULTILINE)
NAME = re.compile(r'`([~/\w<>]+)`')


def test_every_node_has_a_policy():
    assert {*NODES, 'view'} == set(CLASSES) == {path.stem for path in path_of('').parent.iterdir()}


@pytest.mark.parametrize('node', CLASSES)
def test_a_policy_allows_what_the_node_opens(node, context):
    """Where this fails after a change of a node, run python -m tools.security_policies."""
    assert path_of(node).read_text(encoding='utf-8') == policy_of(node, opened_by(context, node))


@pytest.mark.parametrize('node', REMAPPED)
def test_a_policy_follows_remappings(node, context):
    """Each start has a namespace of its own: a graph mixes up nodes of one name in succession."""
    rules = REMAPPED[node]
    arguments = [word for rule in ('__node:=mine', *rules) for word in ('-r', rule)]
    assert opened_by(context, node, arguments) == remapped(
        names_allowed(node), rules, '/left', 'mine')


def own_names(node):
    """Return what a node's policy allows beyond what every node has."""
    every = set.intersection(*(rights_of(each) for each in CLASSES))
    return {name for _, name in rights_of(node) - every}


def rights_of(node):
    """Return each right of a policy with each of its names."""
    return {(right, name) for right, names in names_allowed(node).items() for name in names}


@pytest.mark.parametrize('node', CLASSES)
def test_a_policy_has_the_names_of_the_contract(node):
    """The page of a node is written by hand, the policy from what the node opens."""
    page = (ROOT / 'docs' / 'nodes' / f'{node}.md').read_text(encoding='utf-8')
    written = {re.sub('<.*>', '*', name) for rows in ROWS.findall(page)
               for row in rows.splitlines() for name in NAME.findall(row.split(' | ')[0])}
    assert written == own_names(node) | {'/diagnostics'}  # of all nodes; each says what is there


def test_full_names():
    assert [full_name(name, '/left', 'pose') for name in ('/tf', '~/solve', 'legs/*')] == [
        '/tf', '/left/pose/solve', '/left/legs/*']
    assert full_name('legs', '/', 'pose') == '/legs'
