# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A calibrated machine is that of its file or not offered; grossly wrong samples are left out."""

from dataclasses import replace

import numpy as np
import pytest
from support.platforms.calibration import built, seen, spread

from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import load_geometry
from liedyn_ros.stewart.calibration import calibrate
from liedyn_ros.stewart.calibration.held_out import doubts

HOMES = {'stewart_geometry': (0.5, 0.2), 'stewart_wires': (1.2, 0.2),
         'stewart_hexaglide': (0.55, 0.2), 'stewart_cranks': (0.24, 0.1)}  # height, turns


@pytest.fixture(scope='module')
def found(geometry, home):
    """Return a calibration of a machine that is built with errors of 0.5 mm."""
    rng = np.random.default_rng(5)
    machine, poses = built(geometry, rng), spread(home, 30, rng)
    return calibrate(geometry, machine.readings(poses, rng), seen('full', poses, rng), home=home)


def doubted(found, geometry, **changes):
    """Return the doubts of a calibration with other errors, readings or poses."""
    given = {'errors': found.errors, 'readings': found.problem.samples.readings,
             'poses': found.problem.poses} | changes
    return doubts(geometry, found.geometry, given['errors'], given['readings'], given['poses'])


def off(found, leg, column, value):
    errors = found.errors.copy()
    errors[leg, column] = value
    return errors


def test_errors_of_building_are_none(found):
    assert not found.doubts and found.offered


def test_another_machine_is_told_and_not_offered(found, geometry):
    joints = doubted(found, geometry, errors=off(found, 2, 0, 0.4))
    assert len(joints) == 1 and 'leg_3' in joints[0]
    assert len(doubted(found, geometry, errors=off(found, 1, 7, -0.6))) >= 1
    limits = np.tile([0.0, 0.9 * found.problem.samples.readings.min()], (6, 1))
    assert len(doubted(found, replace(geometry, length_limits=limits))) == 1
    assert not replace(found, doubts=joints).offered


def test_held_out_errors_that_could_not_be_measured_are_no_gain(found):
    after = found.held_out.after._replace(position=np.inf)
    assert found.held_out.better and not found.held_out._replace(after=after).better


@pytest.mark.parametrize('kind, count, gross', [('full', 3, 0.06), ('position', 1, 60.0)])
@pytest.mark.parametrize('name', HOMES)
@pytest.mark.full
def test_gross_errors_of_readings_are_left_out(name, kind, count, gross):
    """60 m is a reading in mm among such in m."""
    geometry = load_geometry(config_file(f'{name}.yaml'))
    height, turn = HOMES[name]
    home = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, height])
    rng = np.random.default_rng(100 + count)
    machine, poses = built(geometry, rng), spread(home, 40, rng, turn, 0.02)
    readings, measured = machine.readings(poses, rng), seen(kind, poses, rng, 1.0, False)
    bad, legs = np.sort(rng.choice(40, count, False)), rng.integers(0, 6, count)
    rest = np.delete(np.arange(40), bad)
    without = calibrate(geometry, readings[rest], measured.rows(rest), home=home)
    readings[bad, legs] += gross / geometry.drive_scales[legs] * rng.choice([-1, 1], count)
    found = calibrate(geometry, readings, measured, home=home)
    assert found.offered
    assert {*bad} <= {each.pose for each in found.outliers}
    # A fair sample more or less changes little beside what is not known.
    assert (found.used[rest] != without.used).sum() <= 1
    deviations = np.sqrt(np.diag(without.covariance)).reshape(found.errors.shape)
    assert (np.abs(found.errors - without.errors) < deviations).all()


@pytest.mark.full
@pytest.mark.parametrize('kind', ['full', 'points'])
def test_a_quarter_of_the_measurements_may_be_of_another_place(geometry, home, kind):
    rng = np.random.default_rng(71)
    machine, poses = built(geometry, rng), spread(home, 60, rng)
    measured = seen(kind, poses, rng, 1.0, False)
    measured.points[5:20] += rng.normal(size=measured.points[5:20].shape)
    found = calibrate(geometry, machine.readings(poses, rng), measured, home=home)
    assert found.offered and {*range(5, 20)} <= {each.pose for each in found.outliers}
    assert len(found.outliers) <= 16
