# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The next poses: within all limits, better than chance, and as telling as a calibration finds."""

import numpy as np
import pytest
from support.platforms.calibration import (
    ANGLE_NOISE, built, full, LENGTH_NOISE, seven_legs, spread)
from support.refusals import ANY, refused

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.calibration import calibrate, measured_poses, next_poses
from liedyn_ros.stewart.platform.state import PlatformMeter

COUNT, LEAST = 6, 0.15
TOLD = LENGTH_NOISE, LENGTH_NOISE, ANGLE_NOISE


def calibrated(geometry, home, poses, machine, rng):
    """Return the calibration of a machine measured at poses."""
    return calibrate(geometry, machine.readings(poses, rng), measured_poses(
        full(poses, rng, 1.0, True)), home=home, deviations=TOLD, tolerance=2e-3)


@pytest.fixture(scope='module')
def first(geometry, home):
    """Return a machine, poses near home and the calibration by them."""
    rng = np.random.default_rng(71)
    machine, poses = built(geometry, rng), spread(home, 20, rng, 0.15, 0.03)
    return machine, poses, calibrated(geometry, home, poses, machine, rng)


@pytest.fixture(scope='module')
def ahead(first, home):
    """Return the next poses, moderately far from home."""
    return next_poses(first[2], COUNT, home, turn=0.5, shift=0.15, least_singular_value=LEAST)


def test_they_keep_limits_and_stay_away_from_singularities(first, ahead, home):
    meter = PlatformMeter(first[2].geometry)
    assert meter.margins(ahead.poses).within_limits.all()
    assert (meter.signed_values(ahead.poses) * np.sign(
        meter.measure(home).signed_value) > LEAST).all()
    away = se3.log(se3.compose(se3.inverse(home), ahead.poses))
    assert np.abs(away[:, :3]).max() < 0.5 * np.sqrt(3.0)
    assert len({pose.tobytes() for pose in ahead.poses}) == COUNT


@pytest.mark.full
def test_a_calibration_with_them_knows_what_was_promised(first, ahead, geometry, home):
    """Measured indeed, they lower the deviations as predicted, and more than poses by chance."""
    machine, poses, before = first
    rng = np.random.default_rng(73)
    with_them = calibrated(
        geometry, home, np.concatenate((poses, ahead.poses)), machine, rng)

    def volume(found):
        return np.linalg.slogdet(found.covariance)[1]
    by_chance = [volume(calibrated(geometry, home, np.concatenate(
        (poses, spread(home, COUNT, rng, 0.5, 0.15))), machine, rng)) for _ in range(4)]
    assert volume(with_them) < min(by_chance) < max(by_chance) < volume(before)
    again = next_poses(with_them, COUNT, home, turn=0.5, shift=0.15, least_singular_value=LEAST)
    np.testing.assert_allclose(again.before, ahead.after, rtol=0.05)
    assert ahead.after < 0.5 * ahead.before


def test_no_other_pose_would_have_told_more_at_first(first, home):
    """The first of one is the best of all tried, by the volume that a calibration would have."""
    _, _, found = first
    one = next_poses(found, 1, home, turn=0.5, shift=0.15, least_singular_value=LEAST)
    several = next_poses(found, 3, home, turn=0.5, shift=0.15, least_singular_value=LEAST)
    assert several.after < one.after < one.before == several.before


@pytest.mark.parametrize('change, named, got', [
    ({'count': 0}, 'count', 0), ({'count': 2000}, 'count', 2000),
    ({'turn': -1.0}, 'turn', -1.0), ({'least_singular_value': 50.0}, 'home', ANY)])
def test_what_cannot_be_had_is_refused(first, home, change, named, got):
    with refused(LiedynError, named, got=got):
        next_poses(first[2], **{'count': COUNT, 'home': home, **change})


def test_seven_legs_have_no_limits_here(home):
    rng = np.random.default_rng(79)
    legs = seven_legs(home)
    machine, poses = built(legs, rng), spread(home, 20, rng, 0.2, 0.05)
    found = calibrated(legs, home, poses, machine, rng)
    with refused(LiedynError, 'geometry'):
        next_poses(found, 3, home)
