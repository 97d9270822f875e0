# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A calibrated machine is still that of its file, or is not offered."""

from dataclasses import replace

import numpy as np
import pytest
from support.platforms.calibration import built, seen, spread

from liedyn_ros.stewart.calibration import calibrate
from liedyn_ros.stewart.calibration.doubts import doubts


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
