# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""`liedyn platform calibrate`: samples in, a better geometry file with covariance out."""

import json
import re

import numpy as np
import pytest
from support.earlier_results import earlier_results, require_set_aside
from support.html_page import require_complete
from support.platforms.calibration import built, LENGTH_NOISE, seen, seven_legs, spread
from support.recordings.calibration_tables import (
    leg_columns, measured_columns, stands_bag, write_table)
import yaml

from liedyn_ros.commands.inputs import settings_of
from liedyn_ros.commands.stewart import calibrate, path
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import load_geometry, PoseSolver, StewartGeometry
from liedyn_ros.stewart.input.actuators import LegActuators
from liedyn_ros.stewart.tracking.prediction import GeometryNoise

GEOMETRY = config_file('stewart_geometry.yaml')
HOME = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])


def samples(kind='full', known=True, count=40, seed=3, size=5e-4, **options):
    """Return the machine, and the columns of a table of it."""
    rng = np.random.default_rng(seed)
    machine, poses = built(load_geometry(GEOMETRY), rng, size), spread(HOME, count, rng)
    columns = leg_columns(machine.geometry.leg_names, machine.readings(poses, rng))
    return machine, columns | measured_columns(seen(kind, poses, rng, 1.0, known), **options)


def run(folder, columns, *options, geometry=GEOMETRY):
    """Return the status of the command on a table."""
    table = write_table(folder / 'samples.csv', columns)
    return calibrate.main([str(geometry), str(table), '--folder', str(folder / 'out'), *options])


def error_ratio(folder, machine, readings_of=lambda readings: readings):
    """Return errors of poses by the files, mean squares over what their covariance lets expect."""
    settings = settings_of(folder / 'out/stewart_pose.yaml')
    geometry = load_geometry(settings['geometry_file'])
    actuators = LegActuators(settings['actuator_names'], settings['actuator_scale'],
                             settings['actuator_offset'])
    rng = np.random.default_rng(9)
    poses = spread(HOME, 20, rng)
    readings = readings_of(machine.readings(poses, rng, 0.0))
    lengths = np.array([actuators.lengths(actuators.names, row) for row in readings])
    twists = se3.log(se3.compose(se3.inverse(poses), PoseSolver(geometry).solve_batch(
        lengths, poses).poses))
    assert np.abs(twists[:, 3:]).max() < 2e-4
    units, noise = np.array([0.2] * 3 + [1.0] * 3), GeometryNoise(geometry)
    return np.mean([x @ np.linalg.solve(
        units[:, None] * noise.covariance(pose)[:6, :6] * units, x) / 6.0
        for pose, x in zip(poses, twists * units)])


@pytest.mark.full
def test_readings_in_mm_lead_to_a_node_that_reads_mm(tmp_path, capsys):
    machine, columns = samples()
    names = machine.geometry.leg_names
    table = {f'{name} [mm]': 1e3 * columns[name] for name in names}
    assert run(tmp_path, table | {
        name: each for name, each in columns.items() if name not in names}, '--known-frames') == 0
    assert 'divide it by 0.001 if they report m' in capsys.readouterr().out
    assert 0.2 < error_ratio(tmp_path, machine, lambda readings: 1e3 * readings) < 3.0


def test_a_table_leads_to_a_better_geometry_behind_the_node(tmp_path, capsys):
    machine, columns = samples()
    assert run(tmp_path, columns, '--known-frames') == 0
    shown = capsys.readouterr().out
    assert 'The calibrated geometry is offered' in shown and 'stewart_pose.yaml' in shown
    assert 0.2 < error_ratio(tmp_path, machine) < 3.0
    found = json.loads((tmp_path / 'out/calibration.json').read_text())
    assert found['held_out']['calibrated']['position'] < 0.1 * (
        found['held_out']['given']['position'])
    # The poses to measure next are a path that another command reads.
    assert path.main([str(tmp_path / 'out/next_poses.txt')]) in (0, 1)


@pytest.mark.full
def test_the_report_is_one_page_that_needs_nothing_else(tmp_path):
    _, columns = samples(known=False)
    columns['leg_3'][7] += 5e-4
    assert run(tmp_path, columns) == 0
    page = (tmp_path / 'out/report.html').read_text()
    require_complete(page)
    for wanted in ('The calibrated geometry is offered', 'Errors at held-out poses', 'Corrections',
                   'sample 8 is left out: leg_3 reads', 'target on the platform',
                   'What the poses do not determine', 'The next poses to measure',
                   'place and turn of the base frame', 'Settings and versions', 'samples.csv'):
        assert wanted in page
    assert page.count('class="plot"') == 6
    assert not re.search(r'\b(nan|inf)\b', re.sub(r'<script>.*</script>', '', page))


@pytest.mark.parametrize('kind, known, options', [
    ('full', False, {'orientation': 'quaternion'}), ('position', True, {}),
    ('position', False, {}), ('orientation', False, {}),
    ('orientation', True, {'orientation': 'quaternion'}), ('points', False, {})])
def test_whatever_was_measured(kind, known, options, tmp_path):
    _, columns = samples(kind, known, count=60, **options)
    assert run(tmp_path, columns, '--next', '0', *['--known-frames'] * known) == 0
    covariance = load_geometry(
        tmp_path / 'out/stewart_geometry_calibrated.yaml').calibration_covariance
    rank = {'full': 48, 'position': 45, 'orientation': 41}.get(kind) if known else (
        35 if kind == 'orientation' else 36)
    assert np.linalg.matrix_rank(covariance, hermitian=True, tol=1e-15) == rank


def test_points_whose_places_are_given(tmp_path, capsys):
    _, columns = samples('points')
    places = ('p1=0.1,0,0', 'p2=0,0.1,0', 'p3=-0.1,-0.1,0.03')
    given = [word for each in places for word in ('--point', each)]
    assert run(tmp_path, columns, '--known-frames', '--next', '0', *given) == 0
    assert run(tmp_path, columns, '--known-frames', *given[:4]) == 2
    assert "--point: expected each of ['p1', 'p2', 'p3']" in capsys.readouterr().err
    assert run(tmp_path, columns, '--points', 'p2,p3', '--next', '0') == 0


@pytest.mark.full
def test_seven_lengths_alone(tmp_path):
    rng, legs = np.random.default_rng(23), seven_legs(HOME)
    geometry = tmp_path / 'seven.yaml'
    geometry.write_text(yaml.safe_dump({'home': {'position': HOME[:3, 3].tolist()}, 'legs': {
        name: {'base': a.tolist(), 'platform': b.tolist()} for name, a, b in zip(
            legs.leg_names, legs.base_joints, legs.platform_joints)}}))
    machine, poses = built(legs, rng), spread(HOME, 120, rng)
    columns = leg_columns(legs.leg_names, machine.readings(poses, rng))
    assert run(tmp_path, columns, '--reading-noise', str(LENGTH_NOISE), geometry=geometry) == 0
    found = load_geometry(tmp_path / 'out/seven_calibrated.yaml')
    assert isinstance(found, StewartGeometry)
    assert np.linalg.matrix_rank(found.calibration_covariance, hermitian=True, tol=1e-16) == 43
    assert 'no next poses: geometry' in (tmp_path / 'out/report.html').read_text()


def test_actuators_of_a_parameter_file_keep_their_units(tmp_path):
    """Cylinders in mm from 0.4 m, extending backwards, with names of their own."""
    machine, columns = samples()
    names = [f'cylinder_{k}' for k in range(6)]
    parameters = tmp_path / 'my_stewart.yaml'
    parameters.write_text(yaml.safe_dump({'stewart_pose': {'ros__parameters': {
        'actuator_names': names, 'actuator_scale': [-1e-3] * 6, 'actuator_offset': [0.4] * 6,
        'leg_noise': 1e-5}}}))
    of_actuators = {name: 1e3 * (0.4 - columns.pop(leg))
                    for name, leg in zip(names, list(columns)[:6])}
    assert run(tmp_path, of_actuators | columns, '--known-frames', '--params', str(parameters),
               '--next', '0') == 0
    assert 0.2 < error_ratio(tmp_path, machine, lambda x: 1e3 * (0.4 - x)) < 3.0
    assert settings_of(tmp_path / 'out/stewart_pose.yaml')['leg_noise'] == 1e-5


def test_a_geometry_that_is_right_is_not_replaced(tmp_path, capsys):
    _, columns = samples(size=0.0)
    assert run(tmp_path, columns, '--known-frames') == 1
    assert 'The given geometry stays' in capsys.readouterr().out
    assert {each.name for each in (tmp_path / 'out').iterdir()} == {
        'report.html', 'calibration.json', 'next_poses.txt'}


@pytest.mark.full
def test_results_of_an_earlier_run_are_set_aside_but_no_parameters_that_are_given(
        tmp_path, capsys):
    _, columns = samples(size=0.0)
    geometry, parameters, ahead = earlier_results(
        tmp_path / 'out', 'stewart_geometry_calibrated.yaml', 'stewart_pose.yaml',
        'next_poses.txt')
    parameters.write_text('{}')
    assert run(tmp_path, columns, '--known-frames', '--next', '0', '--params',
               str(parameters)) == 1
    require_set_aside([ahead], capsys.readouterr().out)
    assert geometry.exists() and parameters.exists()
    earlier_results(tmp_path / 'out', parameters.name)
    assert run(tmp_path, columns, '--known-frames') == 1
    require_set_aside([geometry, parameters], capsys.readouterr().out)


def test_a_bag_of_stands(tmp_path, capsys):
    rng = np.random.default_rng(5)
    machine, poses = built(load_geometry(GEOMETRY), rng), spread(HOME, 25, rng)
    bag = stands_bag(tmp_path / 'bag', machine, poses, rng)
    arguments = [str(GEOMETRY), str(bag), '--folder', str(tmp_path / 'out'), '--known-frames',
                 '--next', '0']
    assert calibrate.main([*arguments, '--measured', 'tracker']) == 0
    assert '25 poses of' in capsys.readouterr().err
    assert 0.2 < error_ratio(tmp_path, machine) < 3.0
    for options, message in (
            ([], 'got six lengths'),
            (['--measured', 'camera'], "got 'camera'; there are ['/tracker']"),
            (['--measured', 'tracker', '--still', '1e-9'], 'of 0.5 s'),
            (['--measured', 'tracker', '--topic', 'legs'], 'topic'),
            (['--measured', 'tracker', '--unit', 'reading=mm'], '--unit: expected a table')):
        assert calibrate.main([*arguments, *options]) == 2
        assert message in capsys.readouterr().err


def of(name, change):
    def changed(columns):
        columns[name] = change(columns[name])
    return changed


def every(names, factor):
    def changed(columns):
        for name in names:
            columns[name] = factor * columns[name]
    return changed


def renamed(old, new, factor=1.0):
    def changed(columns):
        columns[new] = factor * columns.pop(old)
    return changed


LEGS = [f'leg_{k + 1}' for k in range(6)]
ANGLES = 'roll [deg]', 'pitch [deg]', 'yaw [deg]'


def in_radians_as_it_seems(columns):
    for name in ANGLES:
        columns[name[:-6]] = columns.pop(name)


def quaternions_from_w(columns):
    names = [name for name in columns if name[-2:] in ('qx', 'qy', 'qz', 'qw')]
    columns.update(zip(names, [columns[name] for name in (names[-1], *names[:-1])]))


def yaw_for_roll(columns):
    columns[ANGLES[0]], columns[ANGLES[2]] = columns[ANGLES[2]], columns[ANGLES[0]]


def two_legs_exchanged(columns):
    columns['leg_1'], columns['leg_2'] = columns['leg_2'], columns['leg_1']


def three_legs_in_a_ring(columns):
    columns['leg_1'], columns['leg_4'], columns['leg_2'] = (
        columns['leg_4'], columns['leg_2'], columns['leg_1'])


def all_of(*changes):
    def changed(columns):
        for change in changes:
            change(columns)
    return changed


BAD = {
    'legs exchanged': (two_legs_exchanged, 'leg_1 reads as leg_2'),
    'readings in mm': (every(LEGS, 1e3), 'readings in mm fit'),
    'positions in mm': (every('xyz', 1e3), 'positions in mm fit'),
    'all in mm': (every((*LEGS, *'xyz'), 1e3),
                  'readings in mm fit: name their unit; positions in mm fit'),
    'degrees': (in_radians_as_it_seems, 'degrees? Name the unit'),
    'no leg': (renamed('leg_3', 'strut'), "got none of ['leg_3']"),
    'no z': (renamed('z', 'height'), "expected x, y, z, got ['x', 'y'] without z"),
    'no yaw': (renamed('yaw [deg]', 'other'), 'without yaw'),
    'inches': (renamed('x', 'x [in]'), 'unit of x [in]'),
    'NaN': (of('y', lambda x: np.where(np.arange(len(x)) % 4, x, np.nan)), 'NaN'),
    'legs reordered': (lambda columns: columns.update(zip(
        LEGS, [columns[name] for name in (*LEGS[3:], *LEGS[:3])])), 'leg_1 reads as leg_4')}


@pytest.mark.parametrize('change, message', BAD.values(), ids=BAD)
def test_what_cannot_be_right_has_an_error_and_no_files(change, message, tmp_path, capsys):
    _, columns = samples()
    change(columns)
    assert run(tmp_path, columns, '--known-frames') == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('change, options, message', [
    (quaternions_from_w, {'orientation': 'quaternion'}, 'fit as w, x, y, z'),
    (all_of(quaternions_from_w, every('xyz', 1e3)), {'orientation': 'quaternion'},
     'positions in mm fit: name their unit; the quaternions fit as w, x, y, z'),
    (all_of(quaternions_from_w, every((*LEGS, *'xyz'), 1e3)), {'orientation': 'quaternion'},
     'unit; positions in mm fit: name their unit; the quaternions fit as w, x, y, z'),
    (yaw_for_roll, {}, 'yaw fit in the order yaw, pitch, roll'),
    (three_legs_in_a_ring, {'known': False}, 'leg_1 reads as leg_2, leg_2 reads as leg_4'),
    (two_legs_exchanged, {'kind': 'position'}, 'leg_1 reads as leg_2'),
    (every('xyz', 1e-3), {'known': False}, 'to move as the readings do')])
def test_what_fits_another_way_is_named(change, options, message, tmp_path, capsys):
    _, columns = samples(**options)
    change(columns)
    assert run(tmp_path, columns, *['--known-frames'] * options.get('known', True)) == 2
    assert message in capsys.readouterr().err


def test_angles_of_cranks_in_degrees_are_named(tmp_path, capsys):
    geometry = load_geometry(config_file('stewart_servos.yaml'))
    rng = np.random.default_rng(4)
    machine, poses = built(geometry, rng), spread(geometry.home, 40, rng, 0.15, 0.01)
    columns = leg_columns(geometry.leg_names, np.degrees(machine.readings(poses, rng)))
    columns |= measured_columns(seen('full', poses, rng, 1.0, True))
    assert run(tmp_path, columns, '--known-frames', geometry=config_file(
        'stewart_servos.yaml')) == 2
    assert f'write {geometry.leg_names[0]} [deg]' in capsys.readouterr().err
    every('xyz', 1e3)(columns)
    every(geometry.leg_names, np.radians(1.0)**2)(columns)
    assert run(tmp_path, columns, '--known-frames', geometry=config_file(
        'stewart_servos.yaml')) == 2
    assert 'radians twice; positions in mm fit' in capsys.readouterr().err


@pytest.mark.parametrize('change, message', [
    (lambda readings: -readings, 'fit backwards: set actuator_scale to -1'),
    (lambda readings: readings[:, [1, 0, 3, 2, 5, 4]] + np.radians(
        [1.0, -0.5, 0.8, -1.0, 0.3, 0.6]), 'servo_5 reads as servo_6')])
def test_servos_that_run_backwards_or_are_swapped_are_named(change, message, tmp_path, capsys):
    servos = config_file('stewart_servos.yaml')
    geometry, rng = load_geometry(servos), np.random.default_rng(4)
    machine, poses = built(geometry, rng), spread(geometry.home, 40, rng, 0.15, 0.01)
    columns = leg_columns(geometry.leg_names, change(machine.readings(poses, rng)))
    columns |= measured_columns(seen('full', poses, rng, 1.0, True))
    assert run(tmp_path, columns, '--known-frames', geometry=servos) == 2
    assert message in capsys.readouterr().err


def test_too_few_next_poses_say_how_many_there_are(tmp_path):
    _, columns = samples()
    run(tmp_path, columns, '--known-frames', '--next', '1600')
    assert re.search(r'only (\d+) of 1500 tried .*, 1600 were wanted: .*--next \1',
                     (tmp_path / 'out' / 'report.html').read_text())


@pytest.mark.parametrize('text, message', [
    ('', 'expected a header'), ('{header}\n', 'expected samples, got none'),
    ('{header}\n{row}\n', 'expected 8 or more'), ('{header}\n{row},x\n1,2\n', 'cells, got'),
    ('{header},x\n{row},1\n', 'expected each column once')])
def test_files_that_are_no_tables(text, message, tmp_path, capsys):
    _, columns = samples(count=1)
    table = tmp_path / 'samples.csv'
    table.write_text(text.format(header=','.join(columns), row=','.join(
        str(values[0]) for values in columns.values())))
    assert calibrate.main([str(GEOMETRY), str(table), '--folder', str(tmp_path / 'out'),
                           '--known-frames']) == 2
    assert message in capsys.readouterr().err


def test_a_few_bad_rows_are_left_out_and_said(tmp_path, capsys):
    _, columns = samples()
    columns['leg_2'][4] = np.nan
    assert run(tmp_path, columns, '--known-frames', '--next', '0') == 0
    assert '1 of 40 samples left out, NaN or infinite: 5' in capsys.readouterr().out


@pytest.mark.parametrize('options, message', [
    (['--reading-noise', '1e-5'], '--position-noise, --rotation-noise: expected'),
    (['--reading-noise', '0', '--position-noise', '1', '--rotation-noise', '1'], 'above 0'),
    (['--legs', 'leg_1,leg_2'], 'expected a column for each'),
    (['--still', '1e-4'], '--still: expected a bag, which alone takes it, got a table'),
    (['--points', 'ball'], 'position: expected one of')])
def test_options_that_do_not_fit(options, message, tmp_path, capsys):
    _, columns = samples(count=10)
    assert run(tmp_path, columns, '--known-frames', *options) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize('option', ['--unit=position=deg', '--point=p1=1,2'])
def test_values_that_are_none(option, capsys):
    with pytest.raises(SystemExit, match=r'^2$'):
        calibrate.parser().parse_args(['a.yaml', 'b.csv', option])
    assert 'expected' in capsys.readouterr().err


def test_units_and_columns_by_options(tmp_path):
    _, columns = samples()
    for k, name in enumerate(LEGS):
        columns[f'L{k}'] = 1e3 * columns.pop(name)
    assert run(tmp_path, columns, '--known-frames', '--unit', 'reading=mm', '--legs',
               ','.join(f'L{k}' for k in range(6)), '--next', '0') == 0
