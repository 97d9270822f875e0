# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tables are read by names of joints and units; numbers in wrong units are found out."""

import math

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.random_models import random_model
from support.refusals import ANY, refused

from liedyn_ros.common.errors import (
    DescriptionError, LimitError, ModelError, NameSetError, NotFiniteError, ShapeError, StampError)
from liedyn_ros.model import ModelBuilder, SpatialInertia
from liedyn_ros.recordings import Columns, read_samples, table_samples
from liedyn_ros.recordings.model_samples import model_samples
from liedyn_ros.recordings.tables import in_units
from liedyn_ros.recordings.units import require_one_conversion

NAMES = 'arm_1', 'arm_1_2'  # one name is the beginning of the other
TIME = np.arange(200) / 50.0


def motion():
    """Return position, velocity and effort (200, 2)."""
    phase = TIME[:, None] * [1.0, 1.7]
    effort = np.random.default_rng(1).normal(size=(200, 2))
    return np.sin(phase), np.cos(phase) * [1.0, 1.7], effort


def table(path, columns):
    """Write columns by name."""
    np.savetxt(path, np.column_stack(list(columns.values())), delimiter=',', comments='',
               header=','.join(columns), fmt='%.17g')
    return path


def named(pattern, kinds=('position', 'velocity', 'effort'), scale=(1.0, 1.0, 1.0)):
    return {pattern.format(joint=name, kind=kind): factor * block[:, k] for kind, block, factor in
            zip(kinds, motion(), scale) for k, name in enumerate(NAMES)}


@pytest.mark.parametrize('pattern', [
    '{joint}.{kind}', '{kind}_{joint}', '/joint_states/{joint}/{kind}', '- {joint}_{kind}',
    '{joint} {kind} '])
@pytest.mark.parametrize('kinds', [('position', 'velocity', 'effort'), ('q', 'dq', 'tau')])
def test_columns_are_found_by_the_names_of_joints(pattern, kinds, tmp_path):
    path = table(tmp_path / 'run.csv', {'other': TIME, 't': 3.0 + TIME, **named(pattern, kinds)})
    found = read_samples([path], NAMES[::-1])
    assert_same(found.time, TIME)
    for got, expected in zip((found.position, found.velocity, found.effort), motion()):
        assert np.array_equal(got, expected[:, ::-1])


@pytest.mark.parametrize(('time', 'angle', 'speed'), [
    (' [ms]', ' [deg]', ' (rpm)'), ('_ms', '_deg', ' rpm')])
def test_units_of_the_header_and_of_the_call_lead_to_si(time, angle, speed, tmp_path):
    q, v, tau = motion()
    columns = {f'time{time}': 1e3 * TIME}
    for k, name in enumerate(NAMES):
        columns |= {f'{name}_q{angle}': np.degrees(q[:, k]), f'{name}_v{speed}':
                    30.0 / np.pi * v[:, k], f'{name}_i': tau[:, k] / (k + 2.0)}
    path = table(tmp_path / 'run.csv', columns)
    found = table_samples([path], NAMES, Columns(
        effort='{joint}_i', scale={name: k + 2.0 for k, name in enumerate(NAMES)}))
    assert_same(found.time, TIME, 1e-12)
    for got, expected in zip((found.position, found.velocity, found.effort), (q, v, tau)):
        assert_same(got, expected, 1e-13)
    bare = table(tmp_path / 'bare.csv', named('{joint}/{kind}', scale=(180.0 / np.pi, 1e3, 1.0)))
    found = table_samples([bare], NAMES, Columns(
        rate=50.0, units={'position': 'deg', 'velocity': 'mm/s'}))
    assert_same(found.time, TIME, 1e-12)
    assert_same(found.position, q, 1e-13)
    assert_same(found.velocity, v, 1e-13)


def test_parquet_is_read_as_csv_is(tmp_path):
    pyarrow = pytest.importorskip('pyarrow')
    from pyarrow import parquet
    columns = {'t': TIME, **named('{joint}.{kind}')}
    parquet.write_table(pyarrow.table(columns), tmp_path / 'run.parquet', row_group_size=17)
    first = read_samples([tmp_path / 'run.parquet'], NAMES)
    second = read_samples([table(tmp_path / 'run.csv', columns)], NAMES)
    for got, expected in zip((first.time, first.position, first.velocity, first.effort),
                             (second.time, second.position, second.velocity, second.effort)):
        assert np.array_equal(got, expected)


def test_quantities_may_stand_in_files_of_their_own(tmp_path):
    paths = [table(tmp_path / f'{kind}.csv', {'t': TIME, **{
        f'{name}_{kind}': block[:, k] for k, name in enumerate(NAMES)}})
        for kind, block in zip(('position', 'effort'), motion()[::2])]
    found = read_samples(paths, NAMES)
    assert found.velocity is None and np.array_equal(found.effort, motion()[2])
    table(paths[1], {'t': TIME + 0.001, **named('{joint}_{kind}', ('x', 'x', 'effort'))})
    with refused(StampError, ANY, got='0.001 for 0.0 in row 1'):
        read_samples(paths, NAMES)


def text(content, name='run.csv'):
    def write(path):
        (path / name).write_bytes(content)
        return path / name
    return write


GOOD = b't,arm_1.position,arm_1_2.position\n'
BAD = {
    'no file': (lambda path: path / 'run.csv', DescriptionError, ANY),
    'empty': (text(b''), DescriptionError, ANY),
    'header only': (text(GOOD), ShapeError, ANY),
    'not text': (text(b'\xff\xfe\x00\x01'), DescriptionError, ANY),
    'words': (text(GOOD + b'0,1,two\n'), DescriptionError, ANY),
    'short row': (text(GOOD + b'0,1\n'), DescriptionError, ANY),
    'decimal commas': (text(GOOD + b'0,0,1,0,2,0\n'), DescriptionError,
                       ANY),
    'a joint is missing': (text(b't,arm_1.position\n'), NameSetError, 'arm_1_2'),
    'two columns': (text(b't,arm_1.position,arm_1.pos,arm_1_2.q\n'), NameSetError,
                    ANY),
    'no time': (text(b'arm_1.position,arm_1_2.q\n0,1\n'), NameSetError, ANY),
    'NaN': (text(GOOD + b'0,1,nan\n1,2,nan\n'), NotFiniteError, 'arm_1_2'),
    'NaN as time': (text(GOOD + b'nan,1,2\n'), NotFiniteError, ANY),
    'time in ns': (text(GOOD + b'1700000000000000000,1,2\n'), StampError, ANY),
    'unit': (text(b't,arm_1.q [grad],arm_1_2.q\n0,1,2\n'), NameSetError, 'grad'),
    'current': (text(b't,arm_1.q,arm_1_2.q,arm_1.tau [A],arm_1_2.tau [A]\n0,1,2,3,4\n'),
                NameSetError, 'arm_1.tau [A]'),
    'effort of one joint': (text(b't,arm_1.q,arm_1_2.q,arm_1.tau\n0,1,2,3\n'), NameSetError,
                            'arm_1_2'),
    'no Parquet': (text(b'PAR1', 'run.parquet'), DescriptionError, ANY),
    'other file': (text(b'', 'run.csv.gz'), DescriptionError, ANY)}


@pytest.mark.parametrize('write, error, named', BAD.values(), ids=BAD)
def test_tables_that_tell_nothing_are_refused(write, error, named, tmp_path):
    pytest.importorskip('pyarrow')
    with refused(error, named):
        read_samples([write(tmp_path)], NAMES)


@pytest.mark.parametrize('ends', [(b'\n', b',\n'), (b',\n', b',\n'), (b',\n', b'\n')])
def test_a_comma_may_end_header_and_rows(ends, tmp_path):
    head, row = (each + end for each, end in zip((GOOD[:-1], b'0,1,2'), ends))
    found = read_samples([text(head + row + row.replace(b'0', b'1', 1))(tmp_path)], NAMES)
    assert found.position.tolist() == [[1.0, 2.0]] * 2


@pytest.mark.parametrize('columns, name', [
    (Columns(units={'torque': 'N mm'}), 'torque'),
    (Columns(scale={'arm_2': 1.35}), 'arm_2')])
def test_units_and_scales_of_nothing_are_refused(columns, name, tmp_path):
    path = table(tmp_path / 'run.csv', {'t': TIME, **named('{joint}.{kind}')})
    samples = read_samples([path], NAMES)
    for call in (lambda: read_samples([path], NAMES, columns=columns),
                 lambda: in_units(samples, columns)):
        with refused(NameSetError, name):
            call()


def arm(limits):
    """Return a turning and a sliding joint with these limits."""
    builder = ModelBuilder('arm')
    for name, parent, kind in (('arm_1', None, 'revolute'), ('arm_1_2', 'arm_1', 'prismatic')):
        builder.add_body(name, SpatialInertia(1.0, np.zeros(3), np.eye(3)))
        builder.add_joint(name, kind, parent, name, axis=[0, 0, 1.0], limits=limits)
    return builder.build()


LIMITED = arm({'lower': -1.1, 'upper': 1.1})


@pytest.mark.parametrize('scale, name', [
    ((180.0 / np.pi, 1.0), 'arm_1'),
    ((1.0, 1e3), 'arm_1_2')])
def test_positions_beyond_limits_that_fit_in_another_unit_are_refused(scale, name, tmp_path):
    q = motion()[0] * scale
    path = table(tmp_path / 'run.csv', {'t': TIME, 'arm_1.q': q[:, 0], 'arm_1_2.q': q[:, 1]})
    with refused(LimitError, name):
        model_samples(LIMITED, read_samples([path], NAMES))


@pytest.mark.parametrize('q_scale, v_scale, name', [
    (180.0 / np.pi, 1.0, 'arm_1'),
    (1.0, 180.0 / np.pi, 'arm_1')])
def test_velocities_that_are_no_rates_of_positions_are_refused(q_scale, v_scale, name,
                                                               tmp_path):
    path = table(tmp_path / 'run.csv', {
        't': TIME, **named('{joint}.{kind}', scale=(q_scale, v_scale, 1.0))})
    with refused(LimitError, name):
        model_samples(arm({}), read_samples([path], NAMES))


def test_good_samples_are_arrays_in_the_order_of_the_model(tmp_path):
    path = table(tmp_path / 'run.csv', {'t': TIME, **named('{joint}.{kind}')})
    for model in (LIMITED, arm({})):
        found = model_samples(model, read_samples([path], NAMES[::-1]))
        for got, expected in zip((found.q, found.v, found.tau), motion()):
            assert np.array_equal(got, expected)
    with refused(ShapeError, 'arm_1_2'):
        model_samples(LIMITED, read_samples([path], NAMES[:1]))


def test_joints_of_several_numbers_have_no_joint_states(tmp_path):
    path = table(tmp_path / 'run.csv', {'t': TIME, **named('{joint}.{kind}')})
    with refused(ModelError, 'base_joint', 'spherical_0', 'planar_1'):
        model_samples(random_model(3, 2, True), read_samples([path], NAMES))


@pytest.mark.parametrize('unit, factor', [('ms', 1e3), ('us', 1e6), ('ns', 1e9)])
def test_times_without_a_unit_that_are_no_seconds_are_refused(unit, factor, tmp_path):
    path = table(tmp_path / 'run.csv', {'t': factor * TIME, **named('{joint}.{kind}')})
    with refused(StampError, ANY, expected='times in s'):
        read_samples([path], NAMES)
    found = read_samples([path], NAMES, columns=Columns(units={'time': unit}))
    assert_same(found.time, TIME, 1e-12)
    slow = read_samples([path], NAMES, columns=Columns(units={'time': 's'})) if factor < 1e9 else (
        None)
    assert slow is None or slow.time[-1] == pytest.approx(factor * TIME[-1])


def test_angles_that_start_over_go_on_and_other_jumps_are_refused(tmp_path):
    q, other = 5.0 * TIME, np.sin(TIME)
    path = table(tmp_path / 'run.csv', {
        't': TIME, 'arm_1.q': (q + np.pi) % (2.0 * np.pi) - np.pi, 'arm_1_2.q': other})
    found = model_samples(arm({}), read_samples([path], NAMES))
    assert_same(found.q[:, 0], q, 1e-13)
    assert found.remarks[-1].startswith('position of arm_1: 3 full turns taken back')
    other[150:] += 0.4
    path = table(tmp_path / 'run.csv', {'t': TIME, 'arm_1.q': q, 'arm_1_2.q': other})
    with refused(LimitError, 'arm_1_2'):
        model_samples(arm({}), read_samples([path], NAMES))


@pytest.mark.parametrize('q', [
    np.round(np.sin(TIME) / 0.05) * 0.05, np.where(TIME > 3.9, np.sin(40.0 * TIME), 0.0),
    np.zeros(len(TIME))], ids=['coarse encoder', 'short motion', 'at rest'])
def test_steps_of_encoders_and_short_motions_are_no_jumps(q, tmp_path):
    path = table(tmp_path / 'run.csv', {'t': TIME, 'arm_1.q': q, 'arm_1_2.q': q})
    assert np.array_equal(model_samples(arm({}), read_samples([path], NAMES)).q[:, 0], q)


def test_a_step_over_lost_samples_is_no_jump(tmp_path):
    kept = np.ones(len(TIME), dtype=bool)
    kept[100:111] = False
    path = table(tmp_path / 'run.csv', {'t': TIME[kept], 'arm_1.q': np.sin(TIME[kept]),
                                        'arm_1_2.q': np.sin(TIME[kept])})
    found = model_samples(arm({}), read_samples([path], NAMES))
    assert np.array_equal(found.q[:, 0], np.sin(TIME[kept]))


@pytest.mark.parametrize(('delimiter', 'file'), [
    (';', 'run.CSV'), ('\t', 'run.tsv'), (' ', 'run.txt')])
@pytest.mark.parametrize('decimal', ['.', ','])
def test_semicolons_tabs_and_decimal_commas_are_read(delimiter, file, decimal, tmp_path):
    q = motion()[0]
    rows = [delimiter.join(['time', *(f'{name}.position' for name in NAMES)])] + [
        delimiter.join(repr(float(x)).replace('.', decimal) for x in (time, *row))
        for time, row in zip(TIME, q)]
    path = tmp_path / file
    path.write_text('\n'.join(rows) + '\n')
    assert np.array_equal(read_samples([path], NAMES).position, q)


def test_arrays_of_a_joint_state_are_read_by_name_or_in_their_order(tmp_path):
    q, v, _ = motion()
    arrays = {f'position.{k}': q[:, k] for k in range(len(NAMES))}
    path = table(tmp_path / 'run.csv', {'log_time': TIME, **arrays, **{
        f'velocity.{k}': v[:, k] for k in range(len(NAMES))}})
    found = table_samples([path], NAMES)
    assert np.array_equal(found.position, q) and np.array_equal(found.velocity, v)
    assert 'in this order' in found.remarks[0]
    order = list(NAMES)[::-1]
    text = path.read_text().splitlines()
    path.write_text('\n'.join(
        ','.join([row, *(f'name.{k}' if n == 0 else name for k, name in enumerate(order))])
        for n, row in enumerate(text)) + '\n')
    assert np.array_equal(table_samples([path], NAMES).position, q[:, ::-1])


def test_columns_are_read_by_number(tmp_path):
    q = motion()[0]
    path = table(tmp_path / 'run.csv', {'t': TIME, **{
        f'motor_{k}': q[:, k] for k in range(len(NAMES))}})
    found = table_samples([path], NAMES, Columns(position='motor_{index}'))
    assert np.array_equal(found.position, q)


def test_a_last_row_that_is_cut_is_left_out(tmp_path):
    path = table(tmp_path / 'run.csv', {'t': TIME, **named('{joint}.{kind}')})
    text = path.read_text().rstrip()
    path.write_text(text[:text.rindex(',')])
    found = table_samples([path], NAMES)
    assert len(found.time) == len(TIME) - 1 and 'the last row is cut' in found.remarks[0]
    path.write_text(text[:text.rindex(',')] + '\n')
    with pytest.raises(DescriptionError):
        table_samples([path], NAMES)


def test_efforts_that_are_nan_are_left_out_unless_asked_for(tmp_path):
    path = table(tmp_path / 'run.csv', {
        't': TIME, **named('{joint}.{kind}'),
        **{f'{name}.effort': np.nan * TIME for name in NAMES}})
    found = table_samples([path], NAMES)
    assert found.effort is None and 'effort not read' in found.remarks[0]
    with pytest.raises(NotFiniteError) as caught:
        table_samples([path], NAMES, Columns(effort='{joint}.effort'))
    assert caught.value.names[0] in NAMES


def test_arrays_in_brackets_are_columns_by_number(tmp_path) -> None:
    path = tmp_path / 'a.csv'
    path.write_text('time,/joint_states/position[0],/joint_states/position[1]\n' + ''.join(
        f'{k / 100},{k},{-k}\n' for k in range(20)))
    assert read_samples([path], ['arm', 'grip']).position[3].tolist() == [3.0, -3.0]


def test_columns_are_given_by_number_where_there_is_no_header(tmp_path):
    path = tmp_path / 'run.csv'
    np.savetxt(path, np.column_stack([TIME, *(each for each in motion())]), fmt='%.17g')
    columns = Columns('1', position='3,2', velocity='5,4', effort='7,6')
    found = table_samples([path], NAMES[::-1], columns)
    assert_same(found.time, TIME)
    for got, expected in zip((found.position, found.velocity, found.effort), motion()):
        assert np.array_equal(got, expected[:, ::-1])
    with pytest.raises(NameSetError):
        table_samples([path], NAMES, Columns('1', position='2,3,4'))


@pytest.mark.parametrize('text', [
    't|x|y\n0|1|2\n0.1|1|2\n', '# by a logger\nt,x,y\n0,1,2\n0.1,1,2\n',
    '# t x y\n0 1 2\n0.1 1 2\n', 'sep=;\nt;x;y\n0;1;2\n0,1;1;2\n'])
def test_columns_are_given_by_number_beside_a_header(tmp_path, text: str) -> None:
    path = tmp_path / 'run.csv'
    path.write_text(text)
    found = table_samples([path], NAMES, Columns('1', position='2,3'))
    assert found.position.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    with pytest.raises(NameSetError):
        table_samples([path], NAMES, Columns(position='2,4'))


def test_empty_cells_of_columns_that_nobody_asked_for_are_left_out(tmp_path) -> None:
    path = tmp_path / 'run.csv'
    path.write_text('__time,/j/arm_1/position,/j/arm_1_2/position,/j/arm_1/effort,'
                    '/j/arm_1_2/effort\n' + ''.join(f'{k / 10},{k},0,,\n' for k in range(9)))
    found = table_samples([path], NAMES)
    assert found.position[:, 0].tolist() == list(range(9))
    assert found.effort is None and 'effort not read' in found.remarks[0]
    path.write_text('t,arm_1.q,arm_1_2.q\n0,1,\n0.1,1,2\n')
    with pytest.raises(NotFiniteError):
        table_samples([path], NAMES)


DEGREE = math.radians(1.0)
TWICE = {'deg': (DEGREE, 1.003 * DEGREE, 'rad'), 'backwards': (DEGREE, -DEGREE, 'rad'),
         'rev': (2.0 * math.pi, 6.28, 'rad'), 'mm': (1e-3, 1e-3, 'm')}
ONCE = {'header': (DEGREE, 1.0, 'rad'), 'scale': (1.0, DEGREE, 'rad'),
        'gear': (DEGREE, 0.02, 'rad'), 'screw of 0.11 m a turn': (DEGREE, DEGREE, 'm')}


@pytest.mark.parametrize('factor, scale, unit', TWICE.values(), ids=TWICE)
def test_a_unit_that_is_converted_twice_is_refused(factor, scale, unit):
    with refused(LimitError, expected=1.0, got=scale):
        require_one_conversion('run.csv', [1.0, factor], [1.0, scale], [unit] * 2)


@pytest.mark.parametrize('factor, scale, unit', ONCE.values(), ids=ONCE)
def test_other_scales_pass(factor, scale, unit):
    require_one_conversion('run.csv', [factor], [scale], [unit])
