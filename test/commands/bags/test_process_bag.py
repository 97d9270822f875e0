# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Poses of a bag without ROS: whole and damaged bags, the errors, tables as csv writes them."""

import csv
from dataclasses import replace
from pathlib import Path
import re

import numpy as np
import pytest
from rosbags.rosbag2 import Reader
from rosbags.typesys import get_types_from_msg
from support.recordings.bag_files import joint_state, STORE, write_bag, write_mcap
from support.recordings.leg_recordings import (
    COUNT, GEOMETRY, HOME, LEGS, messages, motion, numbers, rows_of)
from support.refusals import ANY, refused

from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.bags.tables import table_writer
from liedyn_ros.commands.inputs import node_settings
from liedyn_ros.commands.stewart.bag_processing.messages import MESSAGE_TYPES, STEWART_STATUS
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart import PoseTracker

ROOT = Path(__file__).parents[3]
TEXTS = '', 'plain', 'a, b', 'say "so"', 'two\nlines', 'ä'
NUMBERS = (0.0, -0.0, 1e-300, 1e22, 0.1, float('nan'), float('inf'), 1, -2**63, np.float64(0.1),
           None)


def run(tmp_path, bag, *options):
    status = process_bag.main([str(bag), '--csv', str(tmp_path / 'poses.csv'), *options])
    return status, rows_of(tmp_path / 'poses.csv')


def test_the_new_bag_has_the_numbers_of_the_table(tmp_path):
    stamps, lengths = motion()
    bag = write_bag(tmp_path / 'bag', messages(stamps, lengths), topic='/leg_states')
    status, rows = run(tmp_path, bag, '--mcap', str(tmp_path / 'out'))
    assert status == 0
    with Reader(tmp_path / 'out') as reader:
        found = [STORE.deserialize_cdr(data, each.msgtype) for each, _, data in reader.messages(
            [each for each in reader.connections if each.topic == '/pose'])]
    assert len(found) == COUNT
    for row, message in zip(rows, found):
        p = message.pose.position
        assert numbers(row, 'position') == [p.x, p.y, p.z]
        assert message.header.frame_id == 'stewart_base'
    ends = HOME @ se3.exp(np.sin(0.1 * (COUNT - 1)) * np.array([
        0.05, -0.03, 0.08, 0.01, 0.02, 0.01]))
    assert np.allclose(numbers(rows[-1], 'position'), ends[:3, 3], atol=1e-4)


def test_the_definition_of_the_status_is_that_of_its_file():
    text = (ROOT / 'liedyn_interfaces/msg/StewartStatus.msg').read_text()
    assert get_types_from_msg(text, MESSAGE_TYPES['status']) == get_types_from_msg(
        STEWART_STATUS, MESSAGE_TYPES['status'])


def test_diagnostics_of_no_rate_are_none(tmp_path):
    stamps, lengths = motion(5)
    bag = write_bag(tmp_path / 'bag', messages(stamps, lengths), topic='/leg_states')
    parameters = tmp_path / 'stewart.yaml'
    parameters.write_text('/**: {ros__parameters: {diagnostics_rate: 0.0}}')
    run(tmp_path, bag, '--params', str(parameters), '--mcap', str(tmp_path / 'out'))
    with Reader(tmp_path / 'out') as reader:
        counts = {each.topic: each.msgcount for each in reader.connections}
    assert (counts['/status'], counts['/diagnostics']) == (5, 0)


def test_poses_are_left_as_a_page_that_plays(tmp_path, capsys):
    pytest.importorskip('viser', reason='the view is not installed here')
    stamps, lengths = motion()
    bag = write_bag(tmp_path / 'bag', messages(stamps, lengths), topic='/leg_states')
    status, _ = run(tmp_path, bag, '--html', str(tmp_path / 'poses.html'))
    assert status == 0
    assert 'plays it in any browser' in capsys.readouterr().out
    assert '__VISER_EMBED_DATA__' in (tmp_path / 'poses.html').read_text(encoding='utf-8')


def test_a_page_that_ends_before_the_bag_says_so(tmp_path, capsys):
    pytest.importorskip('viser', reason='the view is not installed here')
    stamps, lengths = motion(5)
    given = messages([stamps[0] + k * 100_000_000_000 for k in range(5)], lengths)
    bag = write_bag(tmp_path / 'bag', given, topic='/leg_states')
    assert process_bag.main([str(bag), '--html', str(tmp_path / 'poses.html')]) == 0
    assert 'plays the first 300 s of 400 s in any browser' in capsys.readouterr().out


def test_messages_without_a_pose_keep_their_rows_and_reasons(tmp_path, capsys):
    stamps, lengths = motion()
    lengths[20] = 5.0
    given = messages(stamps, lengths)
    given[30] = stamps[30], joint_state(stamps[30], LEGS[:5], lengths[30][:5])
    report = tmp_path / 'new' / 'report.html'
    status, rows = run(tmp_path, write_bag(tmp_path / 'bag', given, topic='/leg_states'),
                       '--report', str(report))
    assert status == 1 and len(rows) == COUNT
    assert f'{COUNT - 2} with a pose' in report.read_text()
    assert [k for k, row in enumerate(rows) if row['reason']] == [0, 20, 30]
    assert rows[0]['position.x [m]'] and not rows[0]['covariance 0 0']
    assert rows[20]['status'] == 'REJECTED' and rows[21]['flags'] == ''
    assert 'missing' in rows[30]['reason'] and rows[30]['status'] == 'REJECTED'
    assert f'{COUNT - 2} with a pose' in capsys.readouterr().out


def table(path, lengths, unit, seconds=0.01):
    """Write a table that begins at 0 s, of legs' names with a unit or none."""
    path.write_text('\n'.join([','.join(['time [s]', *(f'{leg}{unit}' for leg in LEGS)]), *(
        ','.join(map(repr, [seconds * k, *row])) for k, row in enumerate(lengths.tolist()))]))
    return path


def test_a_table_as_calibrate_takes_it(tmp_path, capsys):
    lengths = motion(5)[1]
    status, rows = run(tmp_path, table(tmp_path / 'legs.csv', 1e3 * lengths, ' [mm]'))
    assert status == 0 and rows[0]['stamp [ns]'] == '0'
    status, found = run(tmp_path, table(tmp_path / 'm.csv', lengths, ''))
    np.testing.assert_allclose(numbers(found[4], 'position'), numbers(rows[4], 'position'),
                               atol=1e-12)
    assert 'stamps' not in capsys.readouterr().out


def test_a_unit_is_not_converted_by_the_header_and_by_the_scale(tmp_path, capsys):
    legs = table(tmp_path / 'legs.csv', 1e3 * motion(5)[1], ' [mm]')
    parameters = tmp_path / 'stewart.yaml'
    parameters.write_text('/**: {ros__parameters: {actuator_scale: [1, 1, 1, 1, 1, 1.0004e-3]}}')
    assert process_bag.main([str(legs), '--params', str(parameters), '--csv',
                             str(tmp_path / 'poses.csv')]) == 2
    assert 'its header says [mm], and actuator_scale 0.001' in capsys.readouterr().err
    assert not (tmp_path / 'poses.csv').exists()


def test_a_table_in_mm_without_the_unit_is_told_of_its_header(tmp_path, capsys):
    lengths = motion(5)[1]
    status, rows = run(tmp_path, table(tmp_path / 'legs.csv', 1e3 * lengths, '.position'))
    said = capsys.readouterr().out
    assert status == 2 and not any(row['position.x [m]'] for row in rows)
    assert f'"{LEGS[0]} [mm]"' in said and 'stamps' not in said
    without = replace(GEOMETRY, length_limits=np.tile([0.0, np.inf], (6, 1)))
    with refused(LimitError, LEGS[0], indices=(0,), expected=ANY, got=ANY) as caught:
        PoseTracker(without, HOME).track(0, 1e3 * lengths[0])
    assert 'no such limit' in str(caught.value)
    for text in (rows[0]['reason'], str(caught.value)):
        assert max(len(each) for each in re.findall(r'[0-9.]+', text)) < 12


def test_poses_apart_in_time_have_a_reason_for_no_covariance(tmp_path):
    path = table(tmp_path / 'legs.csv', motion(4)[1], ' [m]', seconds=10.0)
    parameters = tmp_path / 'stewart.yaml'
    parameters.write_text('/**: {ros__parameters: {leg_noise: 1.0e-5}}')
    status, rows = run(tmp_path, path, '--params', str(parameters))
    assert status == 0
    assert all('pose_covariance' in row['reason'] for row in rows)


def test_flags_have_names(tmp_path):
    stamps, lengths = motion()
    lengths[40, 0] += 0.01
    _, rows = run(tmp_path, write_bag(tmp_path / 'bag', messages(stamps, lengths),
                                      topic='/leg_states'))
    assert 'LEG_OUTLIER' in rows[40]['flags'].split()


def test_a_bag_that_is_cut_off_gives_its_poses_and_says_so(tmp_path, capsys):
    stamps, lengths = motion()
    path = tmp_path / 'cut.mcap'
    write_mcap(path, messages(stamps, lengths), topic='/leg_states', chunk=3000)
    content = path.read_bytes()
    path.write_bytes(content[:int(0.6 * len(content))])
    status, rows = run(tmp_path, path)
    assert status == 1 and 20 < len(rows) < COUNT
    assert 'the file ends there' in capsys.readouterr().out


BAD = {
    'topic': (['--topic', 'legs'], '', 'topic'),
    'parameter': ([], 'stewart_pose: {ros__parameters: {leg_nois: 1.0}}', "'leg_noise'"),
    'no parameters': ([], '[1, 2]', 'expected a parameter file'),
    'sensor': ([], 'stewart_pose: {ros__parameters: {orientation_noise: 0.1}}',
               'redundant sensors'),
    'another node': ([], 'left_pose: {ros__parameters: {leg_noise: 1.0}}',
                     r"expected a section stewart_pose or /**, got ['left_pose']"),
    'scale': ([], '/**: {ros__parameters: {actuator_scale: [0, 1, 1, 1, 1, 1]}}',
              'actuator scales')}


@pytest.mark.parametrize('options, text, message', BAD.values(), ids=BAD)
def test_wrong_settings_are_refused(options, text, message, tmp_path, capsys):
    stamps, lengths = motion(3)
    bag = write_bag(tmp_path / 'bag', messages(stamps, lengths), topic='/leg_states')
    parameters = tmp_path / 'stewart.yaml'
    parameters.write_text(text or '{}')
    assert process_bag.main([str(bag), '--params', str(parameters), *options]) == 2
    assert message in capsys.readouterr().err


def test_numbers_of_a_parameter_file_are_those_that_ros_reads(tmp_path):
    """1e-3 is a number there, and a text in YAML 1.1."""
    path = tmp_path / 'stewart.yaml'
    path.write_text('/**: {ros__parameters: {actuator_scale: [1e-3, -1e-3, 1, 1, 1, 1]}}\n')
    assert node_settings(path)['actuator_scale'] == [1e-3, -1e-3, 1, 1, 1, 1]


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
