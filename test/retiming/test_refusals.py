# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Paths and limits at the edge of what can be done are solved, or refused with the reason."""

import numpy as np
import pytest
from support.machines.example_robots import example_robot
from support.refusals import ANY, refused

import liedyn_ros as ld
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.retiming import MotionLimits, PathSamples, retime, SplinePath

TORQUE = np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0])
POINTS = np.random.default_rng(0).uniform(-1.5, 1.5, (7, 6))


@pytest.fixture(name='arm', scope='module')
def fixture_arm() -> Dynamics:
    return ld.load(example_robot('ur_description/urdf/ur5_robot.urdf'))


class Bent:
    """A path of one joint after another that stands still up to a place."""

    def __init__(self, still: float, length: float = 1.0) -> None:
        """Take where it begins to move."""
        self._still, self.length = still, length

    def __call__(self, s: Array) -> PathSamples:
        """Return the samples."""
        x = np.maximum(s[:, None] - self._still, 0.0) * np.ones(6)
        return PathSamples(x**4, 4.0 * x**3, 12.0 * x**2, 24.0 * x)


@pytest.mark.parametrize('scale', [1.0, 1e6])
@pytest.mark.parametrize('rate', [np.inf, 20.0])
@pytest.mark.parametrize('points', [POINTS, POINTS[:2], POINTS[0] + 1e-9 * POINTS,
                                    [[0.0] * 6, [0.0, -1.0, *[0.0] * 4], [0.0, -2.0, *[0.0] * 4]]])
def test_limits_and_paths_of_any_size_are_solved(arm: Dynamics, scale: float, rate: float,
                                                 points: Array) -> None:
    limits = MotionLimits(velocity=np.inf, torque=scale * TORQUE,
                          torque_rate=rate * scale * TORQUE)
    run = retime(arm, SplinePath(arm.model, points), limits)
    assert max(used.max() for used in run.used.values()) <= 1.0
    assert run.duration <= run.uniform_duration


@pytest.mark.parametrize('seed', [0, 1, 2, 28])
@pytest.mark.parametrize('rate', [5.0, 100.0])
def test_random_paths_keep_their_limits_at_every_instant(
        arm: Dynamics, seed: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(-3.0, 3.0, (rng.integers(2, 8), 6))
    run = retime(arm, SplinePath(arm.model, points), MotionLimits(
        velocity=np.inf, torque=TORQUE, torque_rate=rate * TORQUE))
    at = run.at(np.linspace(0.0, run.duration, 5003))
    assert (np.abs(at.torque) <= TORQUE * (1.0 + 1e-9)).all()
    assert (np.abs(at.torque_rate) <= rate * TORQUE * (1.0 + 1e-9)).all()


def test_the_slowest_limits_are_solved(arm: Dynamics) -> None:
    run = retime(arm, SplinePath(arm.model, POINTS), MotionLimits(velocity=1e-6))
    assert 0.99 < max(used.max() for used in run.used.values()) <= 1.0


@pytest.mark.parametrize('room', [1.0 - 1e-9, 1.0001])
@pytest.mark.parametrize('rate', [np.inf, 20.0])
def test_no_room_to_move_names_joint_and_place(arm: Dynamics, room: float, rate: float) -> None:
    free, path = Dynamics(arm.model, dissipation=False), SplinePath(arm.model, POINTS)
    hold = max(abs(free.inverse(q, np.zeros(6), np.zeros(6))[1])
               for q in path(np.linspace(0.0, path.length, 4001)).q)
    torque = {'shoulder_lift_joint': hold / room}
    with refused(LimitError, 'shoulder_lift_joint'):
        retime(free, path, MotionLimits(velocity=np.inf, torque=torque, torque_rate=rate * TORQUE))


@pytest.mark.parametrize('limits', [MotionLimits(torque_rate=1e-6), MotionLimits(power=1e-6)])
def test_limits_below_any_speed_name_joint_and_place(arm: Dynamics, limits: MotionLimits) -> None:
    with refused(LimitError, 'shoulder_lift_joint'):
        retime(arm, SplinePath(arm.model, POINTS), limits)


@pytest.mark.parametrize(('path', 'named', 'got'), [
    (Bent(0.5), 'path', ANY), (Bent(2.0), 'path', ANY),
    (Bent(0.0, 0.0), 'path', 0.0),
    (Bent(0.0, np.nan), 'path', ANY)])
def test_paths_that_stand_still_are_refused(arm: Dynamics, path: Bent,
                                            named: str, got: object) -> None:
    with refused(LimitError, named, got=got):
        retime(arm, path, MotionLimits(torque=TORQUE))


@pytest.mark.parametrize('intervals', [-1, 0, 1, 2, 9, 20.0, True, 'many', None])
def test_too_few_intervals_are_refused(arm: Dynamics, intervals: object) -> None:
    with refused(LimitError, 'intervals'):
        retime(arm, SplinePath(arm.model, POINTS), intervals=intervals)
