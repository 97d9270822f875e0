# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Results of an earlier run count where their files are as they were; tables are as csv writes."""

import csv

import numpy as np
import pytest
from support.recordings.bag_files import write_bag
from support.recordings.leg_recordings import messages, motion, numbers, rows_of

from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.bags.job import Job
from liedyn_ros.commands.bags.tables import table_writer
from liedyn_ros.common.resources import config_file

LINK = """<link name="{}"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
NAMED = {  # a file that names another, the other one, and a text there with what takes its place
    'geometry': ('params', 'a.yaml', '/**: {{ros__parameters: {{geometry_file: {}}}}}', 'b.yaml',
                 config_file('stewart_geometry.yaml').read_text(), ', 0.0]', ', 0.01]'),
    'MJCF': ('model', 'a.xml', '<mujoco><worldbody><include file="{}"/></worldbody></mujoco>',
             'b.xml', '<mujocoinclude><body name="a"><joint name="j"/><geom size="0.1" mass="1"/>'
             '</body></mujocoinclude>', 'mass="1"', 'mass="2"'),
    'xacro': ('model', 'a.xacro', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r">'
              '<xacro:include filename="{}"/></robot>', 'b.xacro',
              f'<robot>{LINK.format("a")}</robot>', 'value="1"', 'value="2"')}
TEXTS = '', 'plain', 'a, b', 'say "so"', 'two\nlines', 'ä'
NUMBERS = (0.0, -0.0, 1e-300, 1e22, 0.1, float('nan'), float('inf'), 1, -2**63, np.float64(0.1),
           None)


@pytest.mark.parametrize('kind', NAMED)
def test_files_that_others_name_are_in_the_key(kind, tmp_path):
    option, first, text, second, content, old, new = NAMED[kind]
    pytest.importorskip('xacro')
    named = tmp_path / second
    (tmp_path / first).write_text(text.format(named))
    settings = {'model': None, 'params': None, option: tmp_path / first}

    def key():
        return Job(tmp_path / 'bag', {}, settings).key

    named.write_text(content)
    before = key()
    assert key() == before
    named.write_text(content.replace(old, new, 1))
    assert key() != before


def test_poses_of_another_geometry_are_not_done_before(tmp_path, capsys):
    bag = write_bag(tmp_path / 'bag', messages(*motion(5)), topic='/leg_states')
    geometry, parameters = tmp_path / 'geometry.yaml', tmp_path / 'stewart.yaml'
    parameters.write_text(f'/**: {{ros__parameters: {{geometry_file: {geometry}}}}}')
    text = config_file('stewart_geometry.yaml').read_text()
    heights = []
    for base in ('0.0', '0.0', '0.01'):
        geometry.write_text(text.replace(', 0.0], platform', f', {base}], platform'))
        assert process_bag.main([str(bag), '--params', str(parameters),
                                 '--folder', str(tmp_path / 'out')]) == 0
        before = len(heights) == 1
        assert ('(done before)' in capsys.readouterr().out) == before
        heights.append(numbers(rows_of(tmp_path / 'out' / 'bag.csv')[-1], 'position')[2])
    assert heights[0] == heights[1] == pytest.approx(heights[2] - 0.01)


def test_rows_are_those_of_the_module_csv(tmp_path):
    rows = [[number, text, 1.5] for number in NUMBERS for text in TEXTS]
    columns = ['a [m]', 'b, c', 'd']
    with table_writer(tmp_path / 'ours.csv', columns) as write:
        for row in rows:
            write(row)
    with (tmp_path / 'theirs.csv').open('w', newline='', encoding='utf-8') as stream:
        csv.writer(stream, lineterminator='\n').writerows([columns, *rows])
    assert (tmp_path / 'ours.csv').read_bytes() == (tmp_path / 'theirs.csv').read_bytes()


def test_a_carriage_return_is_read_back(tmp_path):
    with table_writer(tmp_path / 'table.csv', ['reason', 'a']) as write:
        write(['first\rsecond', 1.0])
    with (tmp_path / 'table.csv').open(newline='', encoding='utf-8') as stream:
        assert [*csv.reader(stream)] == [['reason', 'a'], ['first\rsecond', '1.0']]
