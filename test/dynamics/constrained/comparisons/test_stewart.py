# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform as a model with closed loops: its leg forces are those of virtual work."""

import numpy as np
import pytest
from support.platforms.stewart_motion import GEOMETRY, leg_forces, motion

from liedyn_ros.dynamics.constrained import ConstrainedDynamics, ConstraintStatus, mobility
from liedyn_ros.stewart import model_state, platform_model

STATES = 200


def test_leg_forces_are_those_of_virtual_work() -> None:
    dynamics, rng = ConstrainedDynamics(platform_model(GEOMETRY)), np.random.default_rng(12)
    for _ in range(STATES):
        moved = motion(rng)
        q, v = model_state(GEOMETRY, moved.pose, moved.twist)
        assert np.abs(dynamics.model.difference(q, moved.q)).max() < 1e-12
        assert np.abs(v - moved.v).max() < 1e-12 * (1.0 + np.abs(v).max())
        solution = dynamics.inverse(moved.q, moved.v, moved.a)
        expected = leg_forces(moved)
        scale = 1.0 + np.abs(expected).max()
        assert np.abs(solution.tau[8::3] - expected).max() < 1e-9 * scale
        assert solution.status is ConstraintStatus.REGULAR


def test_forward_dynamics_gives_the_motion_back() -> None:
    dynamics, rng = ConstrainedDynamics(platform_model(GEOMETRY)), np.random.default_rng(13)
    for _ in range(20):
        moved = motion(rng)
        forces = np.zeros(24)
        forces[8::3] = leg_forces(moved)
        a = dynamics.forward(moved.q, moved.v, forces).a
        assert np.abs(a - moved.a).max() < 1e-8 * (1.0 + np.abs(moved.a).max())


def test_round_trip_to_order_five_and_power() -> None:
    dynamics, rng = ConstrainedDynamics(platform_model(GEOMETRY)), np.random.default_rng(14)
    moved, forces = motion(rng), np.zeros((6, 24))
    forces[:, 8::3] = rng.normal(size=(6, 6)) * 20.0
    there = dynamics.forward(moved.q, moved.v, forces)
    back = dynamics.inverse(moved.q, moved.v, there.a)
    for k in range(6):
        scale = np.abs(there.a[:k + 1]).max()
        assert np.abs(back.tau[k] - forces[k]).max() < 1e-9 * (1.0 + scale)
    # What legs put in is the rate of energy: constraint forces do no work.
    tree, h = dynamics.tree, 1e-5
    energy = [tree.kinetic_energy(q, v) + tree.potential_energy(q) for q, v in (
        (dynamics.model.integrate(moved.q, s * h * moved.v + 0.5 * h * h * there.a[0]),
         moved.v + s * h * there.a[0]) for s in (-1.0, 1.0))]
    power = forces[0] @ moved.v
    assert (energy[1] - energy[0]) / (2.0 * h) == pytest.approx(power, rel=1e-5, abs=1e-5)


def test_the_platform_has_six_freedoms() -> None:
    dynamics = ConstrainedDynamics(platform_model(GEOMETRY))
    found = mobility(dynamics, motion(np.random.default_rng(1)).q)
    assert (found.degrees_of_freedom, found.rank, found.redundant) == (6, 18, ())
