# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tables of poses: columns by names of legs and axes, units, orientations of both kinds."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.recordings.calibration_tables import write_table
from support.refusals import ANY, refused

from liedyn_ros.common.errors import LimitError, NameSetError, NotInGroupError
from liedyn_ros.recordings import pose_table, PoseColumns

NAMES = 'leg_1', 'leg_1_2'  # one name is the beginning of the other
RNG = np.random.default_rng(2)
READINGS, POINTS = RNG.normal(size=(5, 2)), RNG.normal(size=(5, 3))
ANGLES = RNG.uniform(-1.0, 1.0, (5, 3))
TURNS = Rotation.from_euler('ZYX', ANGLES[:, ::-1])


def legs(pattern='{}', factor=1.0):
    return {pattern.format(name): factor * READINGS[:, k] for k, name in enumerate(NAMES)}


def point(pattern='{}', factor=1.0):
    return {pattern.format(axis): factor * POINTS[:, k] for k, axis in enumerate('xyz')}


@pytest.mark.parametrize('pattern, factor', [
    ('{}', 1.0), ('{} [mm]', 1e3), ('{}.length', 1.0), ('/leg_states/{}/position (m)', 1.0),
    ('q_{}', 1.0)])
def test_legs_are_found_by_their_names(pattern, factor, tmp_path):
    table = write_table(tmp_path / 'a.csv', {'t': np.arange(5.0), **legs(pattern, factor)})
    found = pose_table(table, NAMES[::-1])
    np.testing.assert_allclose(found.readings, READINGS[:, ::-1], rtol=1e-14)
    assert not found.points and found.rotations is None


@pytest.mark.parametrize('pattern, name, factor', [
    ('{}', '', 1.0), ('{} [mm]', '', 1e3), ('position.{}', 'position', 1.0), ('p1{}', 'p1', 1.0),
    ('/tracker/pose/position/{}', '/tracker/pose/position', 1.0), ('Ball {} (m)', 'Ball', 1.0)])
def test_positions_are_found_by_their_axes(pattern, name, factor, tmp_path):
    others = {'max': np.zeros(5), 'linear.x': np.zeros(5), 'rate.x [m/s]': np.zeros(5)}
    found = pose_table(write_table(tmp_path / 'a.csv', {
        **others, **legs(), **point(pattern, factor)}), NAMES)
    assert list(found.points) == [name]
    np.testing.assert_allclose(found.points[name], POINTS, rtol=1e-14)


@pytest.mark.parametrize('columns', [
    dict(zip(('roll', 'pitch', 'yaw'), ANGLES.T)),
    dict(zip(('Yaw [deg]', 'pitch', 'tcp.roll'), (np.degrees(ANGLES[:, 2]), ANGLES[:, 1],
                                                  ANGLES[:, 0]))),
    dict(zip(('qx', 'qy', 'qz', 'qw'), TURNS.as_quat().T)),
    dict(zip((f'pose.orientation.{axis}' for axis in 'wxyz'),
             -TURNS.as_quat()[:, [3, 0, 1, 2]].T)),
    dict(zip((f'q_{axis}' for axis in 'xyzw'), TURNS.as_quat().round(4).T))], ids=list)
def test_orientations(columns, tmp_path):
    found = pose_table(write_table(tmp_path / 'a.csv', {**legs(), **columns}), NAMES)
    np.testing.assert_allclose(found.rotations, TURNS.as_matrix(), atol=2e-4)
    assert not found.points


def test_points_are_taken_by_name(tmp_path):
    table = write_table(tmp_path / 'a.csv', {
        **legs(), **point('p1.{}'), **point('p2.{}', 2.0), **point('sigma {}', 3.0)})
    assert list(pose_table(table, NAMES, PoseColumns(points=['p2', 'p1'])).points) == ['p2', 'p1']


def test_a_parquet_file_is_the_same(tmp_path):
    parquet = pytest.importorskip('pyarrow.parquet')
    import pyarrow
    parquet.write_table(pyarrow.table({**legs(), **point()}), tmp_path / 'a.parquet')
    found = pose_table(tmp_path / 'a.parquet', NAMES)
    assert np.array_equal(found.readings, READINGS) and np.array_equal(found.points[''], POINTS)


@pytest.mark.parametrize('columns, error, named, got', [
    ({**legs(), 'leg_1.q': READINGS[:, 0]}, NameSetError, ('leg_1',), ANY),
    ({**legs(), **point(), 'X': POINTS[:, 0]}, NameSetError, [ANY], "['x', 'X']"),
    ({**legs(), 'qx': ANGLES[:, 0]}, NameSetError, ('y', 'z', 'w'), ANY),
    ({**legs(), **point(), **point('p.{}'), **dict(zip(('roll', 'pitch', 'yaw'), ANGLES.T))},
     NameSetError, ('', 'p'), ANY),
    ({**legs(), **dict(zip(('roll', 'pitch', 'yaw'), 90.0 * ANGLES.T))},
     LimitError, [ANY], 76.36)])
def test_columns_that_do_not_fit(columns, error, named, got, tmp_path):
    with refused(error, *named, got=got):
        pose_table(write_table(tmp_path / 'a.csv', columns), NAMES)


def test_units_of_nothing_are_refused(tmp_path):
    table = write_table(tmp_path / 'a.csv', legs())
    with refused(NameSetError, 'readings', got='readings'):
        pose_table(table, NAMES, PoseColumns(units={'readings': 'deg'}))


def test_a_quaternion_that_is_none(tmp_path):
    found = pose_table(write_table(tmp_path / 'a.csv', {
        **legs(), **dict(zip(('qx', 'qy', 'qz', 'qw'), 2.0 * TURNS.as_quat().T))}), NAMES)
    with pytest.raises(NotInGroupError):
        np.array(found.rotations)


@pytest.mark.parametrize('between', [',', ' ', '  ', '\t', ', '])
def test_columns_of_a_table_without_a_header_have_numbers(between, tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text(''.join(between.join(f'{x:.17g}' for x in row) + '\n' for row in np.hstack(
        [1e3 * POINTS, ANGLES, READINGS])))
    found = pose_table(path, NAMES, PoseColumns(
        ('7', '8'), units={'position': 'mm'}, measured=(('1', '2', '3', '4', '5', '6'),)))
    np.testing.assert_allclose(found.readings, READINGS, rtol=1e-14)
    np.testing.assert_allclose(found.points['1'], POINTS, rtol=1e-14)
    np.testing.assert_allclose(found.angles, ANGLES, rtol=1e-14)
    three = pose_table(path, NAMES, PoseColumns(('7', '8'), measured=(
        ('1', '2', '3'), ('4', '5', '6'), ('8',))))
    assert [each.shape for each in three.points.values()] == [(5, 3), (5, 3), (5, 1)]


@pytest.mark.parametrize('columns', [(('1', '2'),), (('1', '2', '9'),)])
def test_columns_that_are_no_measurement_are_refused(columns, tmp_path):
    table = write_table(tmp_path / 'a.csv', {str(k): np.arange(5.0) for k in range(1, 5)})
    with pytest.raises(NameSetError):
        pose_table(table, NAMES, PoseColumns(('3', '4'), measured=columns))
