# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Dynamics of a platform in closed form: virtual work, closed loops, energy, round trips."""

from dataclasses import replace

import numpy as np
import pytest
from support.platforms.stewart_motion import GEOMETRY, leg_forces, motion
from support.refusals import refused

from liedyn_ros.common.errors import GeometryError, LimitError, ShapeError, SingularError
from liedyn_ros.dynamics.constrained import complete_acceleration, ConstrainedDynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import pose
from liedyn_ros.stewart import (
    leg_rates, LegMasses, LegPart, length_jacobian, model_state, platform_model, PlatformMasses,
    StewartDynamics, StewartGeometry)

STATES = 200


def tilted() -> StewartGeometry:
    """Return a platform whose legs differ, with a load beside its centre, other first axes."""
    rng = np.random.default_rng(3)
    legs = []
    for _ in range(6):
        m1, m2, c1, c2, i1, i2 = rng.uniform(0.1, 1.0, 6)
        legs.append(LegMasses(LegPart(m1, 0.2 * c1, 0.02 * i1, 0.01 * i1),
                              LegPart(m2, 0.2 * c2, 0.02 * i2, 0.02 * i2),
                              tuple(rng.normal(size=3) * [1.0, 1.0, 0.2])))
    masses = PlatformMasses(4.0, (0.2, 0.25, 0.3, 0.02, -0.01, 0.03), (0.05, -0.02, 0.1),
                            tuple(legs), (0.5, 1.0, -9.0))
    return replace(GEOMETRY, masses=masses)


def test_leg_forces_are_those_of_virtual_work() -> None:
    dynamics, rng = StewartDynamics(GEOMETRY), np.random.default_rng(12)
    for _ in range(STATES):
        moved = motion(rng)
        found, expected = dynamics.inverse(moved.pose, moved.twist, moved.rate), leg_forces(moved)
        assert np.abs(found.forces - expected).max() < 1e-9 * (1.0 + np.abs(expected).max())
        assert np.abs(found.leg_accelerations - moved.a[8::3]).max() < 1e-9 * (
            1.0 + np.abs(moved.a).max())
        back = dynamics.forward(moved.pose, moved.twist, found.forces)
        assert np.abs(back.acceleration - moved.rate).max() < 1e-9 * (
            1.0 + np.abs(expected).max())


@pytest.mark.parametrize('geometry', [GEOMETRY, tilted()])
def test_closed_loops_give_the_same_to_order_five(geometry: StewartGeometry) -> None:
    dynamics, model = StewartDynamics(geometry), platform_model(geometry)
    loops, rng = ConstrainedDynamics(model), np.random.default_rng(5)
    legs = [model.joint(name).vi for name in geometry.leg_names]
    known = np.arange(model.nv) < 6
    external = rng.normal(size=(6, 6))
    pressed = np.zeros((6, len(model.bodies), 6))
    pressed[:, model.body_index('platform')] = external
    for _ in range(10):
        moved = motion(rng)
        q, v = model_state(geometry, moved.pose, moved.twist)
        a = np.zeros((6, model.nv))
        a[:, :6] = rng.normal(size=(6, 6))
        a = complete_acceleration(loops, q, v, a, known)
        found = dynamics.inverse(moved.pose, moved.twist, a[:, :6], external=external)
        expected = loops.inverse(q, v, a, external=pressed).tau[:, legs]
        for k in range(6):
            scale = 1.0 + np.abs(expected[:k + 1]).max()
            assert np.abs(found.forces[k] - expected[k]).max() < 1e-10 * scale
            assert np.abs(found.leg_accelerations[k] - a[k, legs]).max() < 1e-10 * (
                1.0 + np.abs(a[:k + 1]).max())
        back = dynamics.forward(moved.pose, moved.twist, found.forces, external=external)
        for k in range(6):
            scale = 1.0 + max(np.abs(found.forces[:k + 1]).max(), np.abs(a[:k + 1]).max())
            assert np.abs(back.acceleration[k] - a[k, :6]).max() < 1e-10 * scale
            assert np.abs(back.leg_accelerations[k] - a[k, legs]).max() < 1e-10 * scale


def test_power_is_the_rate_of_energy_to_order_four() -> None:
    """The series of F . Ldot + F_ext . V, summed, is the energy that a short motion gains."""
    geometry = tilted()
    dynamics, rng = StewartDynamics(geometry), np.random.default_rng(8)
    loops = platform_model(geometry)
    tree = ConstrainedDynamics(loops).tree
    for _ in range(20):
        moved = motion(rng)
        energy = dynamics.energy(moved.pose, moved.twist)
        q, v = model_state(geometry, moved.pose, moved.twist)
        assert energy.kinetic == pytest.approx(tree.kinetic_energy(q, v), rel=1e-12)
        found = dynamics.inverse(moved.pose, moved.twist, moved.rate)
        speeds = leg_rates(geometry, moved.pose, moved.twist)
        h = 1e-4
        after, before = (dynamics.energy(
            moved.pose @ se3.exp(s * h * moved.twist + 0.5 * h * h * moved.rate),
            moved.twist + s * h * moved.rate) for s in (1.0, -1.0))
        assert (sum(after) - sum(before)) / (2.0 * h) == pytest.approx(
            found.forces @ speeds, rel=1e-5, abs=1e-5)


def test_the_mass_matrix_is_what_forces_of_accelerations_say() -> None:
    geometry = tilted()
    dynamics, moved = StewartDynamics(geometry), motion(np.random.default_rng(9))
    rest = dynamics.inverse(moved.pose, np.zeros(6), np.zeros(6)).forces
    jacobian = length_jacobian(geometry, moved.pose)
    columns = [jacobian.T @ (dynamics.inverse(moved.pose, np.zeros(6), unit).forces - rest)
               for unit in np.eye(6)]
    mass = dynamics.mass_matrix(moved.pose)
    assert np.abs(np.column_stack(columns) - mass).max() < 1e-11
    np.testing.assert_allclose(mass, mass.T, atol=1e-14)


def test_weight_alone_on_massless_legs() -> None:
    masses = PlatformMasses(10.0, (0.1, 0.1, 0.2, 0.0, 0.0, 0.0))
    dynamics, at = StewartDynamics(replace(GEOMETRY, masses=masses)), pose([0.0, 0.0, 0.4])
    forces = dynamics.inverse(at, np.zeros(6), np.zeros(6)).forces
    along = length_jacobian(GEOMETRY, at).T @ forces
    assert along == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 98.1])


def test_what_cannot_be_is_refused() -> None:
    dynamics, moved = StewartDynamics(GEOMETRY), motion(np.random.default_rng(1))
    with refused(GeometryError, 'stewart_platform', expected='masses'):
        StewartDynamics(replace(GEOMETRY, masses=None))
    with refused(GeometryError, 'stewart_platform', expected='masses'):
        platform_model(replace(GEOMETRY, masses=None))
    with refused(ShapeError, 'acceleration', expected=(6,)):
        dynamics.inverse(moved.pose, moved.twist, np.zeros(5))
    with refused(ShapeError, 'external'):
        dynamics.inverse(moved.pose, moved.twist, np.zeros((2, 6)), external=np.zeros(6))
    with refused(LimitError, 'forces'):
        dynamics.forward(moved.pose, moved.twist, np.zeros((32, 6)))
    with refused(LimitError):
        dynamics.inverse(moved.pose, 1e200 * moved.twist, np.zeros(6))
    flat = np.eye(4)
    with refused(SingularError, 'pose_base_platform'):
        dynamics.inverse(flat, np.zeros(6), np.zeros(6))


def test_near_a_singular_pose_the_result_says_so() -> None:
    """Before, 1e-6 degrees from a pose turned by 90 degrees gave 2.5e9 N without a word."""
    dynamics, still = StewartDynamics(GEOMETRY), np.zeros(6)
    low = pose([0.0, 0.0, 1e-6])  # the plane of the base, in which legs hold no weight
    found, usual = dynamics.inverse(low, still, still), dynamics.inverse(
        pose([0.0, 0.0, 0.5]), still, still)
    assert found.near_singular and np.abs(found.forces).max() > 1e5
    assert not usual.near_singular and 0.01 < usual.inverse_condition_number <= 1.0
    forward = dynamics.forward(low, still, still)
    assert forward.inverse_condition_number is None and not forward.near_singular


@pytest.mark.parametrize(('change', 'name'), [
    ({'mass': -1.0}, 'mass'), ({'transverse': 0.1, 'axial': 0.3}, 'axial'),
    ({'mass': 0.0, 'transverse': 0.1}, 'mass')])
def test_impossible_parts_are_refused(change: dict[str, float], name: str) -> None:
    with refused(GeometryError, name):
        LegPart(**({'mass': 1.0} | change))
