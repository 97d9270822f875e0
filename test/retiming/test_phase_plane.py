# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits of the phase plane, torques along a path and their rates are inverse dynamics'."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.optimize import linprog
from support.comparison import assert_same
from support.machines.dynamics_cases import make_case, TREES
from support.machines.example_robots import example_robot

import liedyn_ros as ld
from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import Model
from liedyn_ros.retiming import (
    ClosureLimits, LoopPath, MotionLimits, PathSamples, PlatformPath, retime, SplinePath)
from liedyn_ros.retiming.closure_forces import closure_force, ClosureForce
from liedyn_ros.retiming.coefficients import coefficients, Machine, torques
from liedyn_ros.retiming.law import Law
from liedyn_ros.retiming.result import phase_plane
from liedyn_ros.stewart import load_geometry

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


class Geodesic:
    """From q along a constant velocity: a path of every type of joint."""

    length = 1.0

    def __init__(self, model: Model, q: Array, v: Array) -> None:
        """Take where it starts and how it goes."""
        self._model, self._q, self._v = model, q, v

    def __call__(self, s: Array) -> PathSamples:
        """Return the samples; along a geodesic of the joints the velocity is constant."""
        v = np.tile(self._v, (len(s), 1))
        q = np.array([self._model.integrate(self._q, x * self._v) for x in s])
        return PathSamples(q, v, np.zeros_like(v), np.zeros_like(v))


def assert_coefficients(dynamics: Machine, path: PathSamples, rng: np.random.Generator,
                        external: Array | None = None,
                        closures: Sequence[ClosureForce] = ()) -> None:
    """Compare forces and their rates at random speeds with those of inverse dynamics."""
    count = len(path.q)
    wrenches = None if external is None else np.tile(external, (count, 1, 1))
    c = coefficients(dynamics, path, wrenches, closures)
    p1, p2, p3 = rng.uniform(0.1, 2.0, (count, 1)), *rng.normal(size=(2, count, 1))
    v, a = path.v * p1, path.a * p1**2 + path.v * p2
    jerk = path.jerk * p1**3 + 3.0 * path.a * p1 * p2 + path.v * p3
    wanted = torques(dynamics, path.q, v, np.stack([a, jerk], axis=1), wrenches, closures)
    tau = c.inertia * p2 + c.square * p1**2 + c.viscous * p1 + c.static
    rate = (c.inertia * p3 + c.cross * p1 * p2 + c.cube * p1**3 + c.viscous * p2
            + c.viscous_rate * p1**2 + c.static_rate * p1)
    assert_same(tau, wanted[:, 0], 1e-13)
    assert_same(rate, wanted[:, 1], 1e-13)


@pytest.mark.parametrize(('seed', 'floating'), TREES)
@pytest.mark.parametrize('dissipation', [False, True])
def test_trees(seed: int, floating: bool, dissipation: bool) -> None:
    case = make_case(seed, floating, dissipation, springs=seed == 3)  # with rotors' inertias
    law = Law(Geodesic(case.model, case.q, case.v), smooth=True)
    assert_coefficients(case.dynamics, law(np.linspace(0.05, 0.95, 20)), case.rng, case.external)


def test_closed_loops() -> None:
    machine = ld.load(config_file('five_bar.yaml'))
    path = LoopPath(machine, np.array([[0.3, 2.0], [0.8, 2.4], [0.6, 1.8]]))
    carried = [closure_force(machine, ClosureLimits('tip', along=along))
               for along in ('force_x', [0.0, 0.1, 0.0, 0.6, 0.8, 0.0])]
    assert_coefficients(machine, Law(path, smooth=True)(np.linspace(0.0, 1.0, 15)),
                        np.random.default_rng(0), closures=carried)


def test_platforms() -> None:
    home = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
    rng = np.random.default_rng(1)
    path = PlatformPath(load_geometry(config_file('stewart_geometry.yaml')),
                        home @ se3.exp(rng.uniform(-0.1, 0.1, (6, 6))))
    assert_coefficients(path.dynamics, Law(path, smooth=False)(np.linspace(0.0, 1.0, 15)), rng)
