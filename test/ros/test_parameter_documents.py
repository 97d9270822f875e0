# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""README's tables and the files of config/ say of the parameters what the code says."""

import re

import pytest
from tools.parameter_documents import (
    CONFIG, IN_README, parameter_files, README, TABLE, with_tables)
import yaml

from liedyn_ros.nodes.stewart.pose import StewartPoseNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode

CLASSES = {'stewart_pose': StewartPoseNode, 'stewart_simulator': StewartSimulatorNode}
REMEDY = 'run: python -m tools.parameter_documents'
FILES = parameter_files()


def test_readme_has_a_table_of_each_node():
    assert [match[2] for match in TABLE.finditer(README.read_text())] == list(IN_README)


def test_readme_tables():
    text = README.read_text()
    assert with_tables(text) == text, REMEDY


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_parameter_file(path):
    assert path.read_text() == FILES[path], REMEDY


def test_parameter_files_hold_the_defaults():
    described = {}
    for path in FILES:
        blocks = {key: block['ros__parameters']
                  for key, block in yaml.safe_load(path.read_text()).items()}
        shared = blocks.pop('/**', {})
        described |= {key.removeprefix('/**/'): {**shared, **own} for key, own in blocks.items()}
    assert described == {
        name: {parameter.name: parameter.default for parameter in parameters}
        for name, parameters in IN_README.items()}


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
