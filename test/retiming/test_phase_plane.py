# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The phase plane's limit is the speed beyond which no acceleration is left."""

import numpy as np
import pytest
from scipy.optimize import linprog
from support.comparison import assert_same
from support.machines.example_robots import example_robot

import liedyn_ros as ld
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.retiming import MotionLimits, retime, SplinePath
from liedyn_ros.retiming.result import phase_plane

TORQUE = np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0])
POINTS = np.random.default_rng(0).uniform(-1.5, 1.5, (7, 6))


@pytest.fixture(name='arm', scope='module')
def fixture_arm() -> Dynamics:
    return ld.load(example_robot('ur_description/urdf/ur5_robot.urdf'))


def test_limits_of_velocity_are_those_of_the_path(arm: Dynamics) -> None:
    path = SplinePath(arm.model, POINTS)
    run = retime(arm, path, MotionLimits(velocity=2.0, torque=np.inf, acceleration=1e3))
    plane = phase_plane(run)
    inside = (plane.s > 0.01) & (plane.s < path.length - 0.01)
    wanted = (2.0 / np.abs(path(plane.s).v)).min(axis=1)
    assert (plane.limit <= wanted * (1.0 + 1e-9))[inside].all()
    assert np.isclose(plane.limit, wanted, rtol=1e-6)[inside].mean() > 0.9
    assert (plane.speed <= plane.limit * (1.0 + 1e-9))[inside].all()


def test_limits_of_torque_leave_one_acceleration(arm: Dynamics) -> None:
    """A linear program of torques finds a range of accelerations below the limit, none above."""
    free = Dynamics(arm.model, dissipation=False)
    path = SplinePath(arm.model, POINTS)
    plane = phase_plane(retime(free, path, MotionLimits(velocity=np.inf, torque=TORQUE)))
    at = np.linspace(20, len(plane.s) - 20, 9).astype(int)
    q, v, a, _ = path(plane.s[at])
    zero = np.zeros(6)
    for k, speed in enumerate(plane.limit[at]):
        inertia = free.inverse(q[k], zero, v[k]) - free.inverse(q[k], zero, zero)
        ranges = []
        for part in (0.999, 1.001):
            moving = part * speed
            rest = free.inverse(q[k], v[k] * moving, a[k] * moving**2)
            ranges.append(linprog(
                [1.0], np.concatenate([inertia, -inertia])[:, None],
                np.concatenate([TORQUE - rest, TORQUE + rest]), bounds=(None, None)).status)
        assert ranges == [0, 2]  # solved, infeasible


def test_what_bounds_no_speed_has_no_limit(arm: Dynamics) -> None:
    run = retime(arm, SplinePath(arm.model, POINTS),
                 MotionLimits(velocity=np.inf, torque=np.inf, jerk=100.0))
    assert_same(np.isinf(phase_plane(run).limit), True)
