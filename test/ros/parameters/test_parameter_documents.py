# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pages of docs/nodes and the files of config/ describe the parameters as the code does."""

import re

import pytest
from tools.parameter_documents import (
    CONFIG, NODES, page_of, PAGES, parameter_files, parameter_tables, SHARED, TABLE, with_tables)
import yaml

from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode

CLASSES = {'stewart_pose': StewartPoseNode, 'stewart_simulator': StewartSimulatorNode}
REMEDY = 'run: python -m tools.parameter_documents'
FILES = parameter_files()
WRITTEN = {**FILES, **parameter_tables()}


def test_each_node_has_a_page():
    assert {path.stem for path in PAGES.glob('*.md')} - {'README'} == set(NODES)


@pytest.mark.parametrize('node', NODES)
def test_page_has_the_table_of_its_node(node):
    text = page_of(node).read_text()
    assert [match[2] for match in TABLE.finditer(text)] == [node]
    assert with_tables(text) == text, REMEDY


def test_the_page_of_all_nodes_has_what_they_share():
    text = page_of('README').read_text()
    assert [match[2] for match in TABLE.finditer(text)] == list(SHARED)
    assert with_tables(text) == text, REMEDY


@pytest.mark.parametrize('path', WRITTEN, ids=lambda path: path.name)
def test_parameter_file(path):
    assert path.read_text() == WRITTEN[path], REMEDY


def test_parameter_files_hold_the_defaults():
    described = {}
    for path in FILES:
        blocks = {key: block['ros__parameters']
                  for key, block in yaml.safe_load(path.read_text()).items()}
        shared = blocks.pop('/**', {})
        described |= {key.removeprefix('/**/'): {**shared, **own} for key, own in blocks.items()}
    assert described == {
        name: {parameter.name: parameter.default for parameter in parameters}
        for name, parameters in NODES.items()}


@pytest.mark.ros
@pytest.mark.parametrize(('name', 'own', 'value'), [
    ('stewart_pose', 'max_iterations', 51), ('stewart_simulator', 'seed', 7)])
def test_parameter_file_reaches_a_node_in_a_namespace(bench, tmp_path, name, own, value):
    """By the wildcards in its keys: what is shared, and what is the node's own."""
    path = tmp_path / 'stewart.yaml'
    text = FILES[CONFIG / 'stewart.yaml'].replace('base_frame: stewart_base', 'base_frame: floor')
    path.write_text(re.sub(rf'\b{own}: .*', f'{own}: {value}', text))
    node = bench.start(CLASSES[name], ['--ros-args', '--params-file', str(path)])
    assert (node.parameters['base_frame'], node.parameters[own]) == ('floor', value)
