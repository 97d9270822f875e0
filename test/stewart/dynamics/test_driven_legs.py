# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Dynamics of platforms on rails and cranks: virtual work in 50 digits, Pinocchio, energy."""

from dataclasses import replace

from mpmath import mp
import numpy as np
import pytest
from support.refusals import refused
from support.witnesses.motion_witness import exact, exp

from liedyn_ros.common.errors import GeometryError, LimitError, ShapeError, SingularError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import complete_velocity, ConstrainedDynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import pose
from liedyn_ros.stewart import (
    Crank, leg_lengths, leg_rates, LegMasses, LegPart, length_jacobian, load_geometry, model_state,
    OffsetStrut, platform_model, PlatformController, PlatformMasses, Rail, SmoothTrajectory,
    StewartDynamics, StewartGeometry, Strut)
from liedyn_ros.stewart.simulation.platform_simulation import PlatformSimulation

ORDER = 5
HEIGHTS = {'hexaglide': 0.55, 'cranks': 0.24}


def geometry_of(form: str, axial: float = 0.0) -> StewartGeometry:
    """Return a platform whose legs differ in mass, under tilted gravity."""
    geometry = load_geometry(config_file(f'stewart_{form}.yaml'))
    rng, legs = np.random.default_rng(7), []
    for leg in geometry.leg_types:
        m1, m2, c2, i1, i2 = rng.uniform(0.3, 1.0, 5)
        center = 0.5 * leg.radius if isinstance(leg, Crank) else 0.0
        legs.append(LegMasses(
            LegPart(m1, center, 0.01 * i1), LegPart(m2, c2 * leg.rod, 0.02 * i2, axial * i2)))
    return replace(geometry, masses=PlatformMasses(
        3.0, (0.05, 0.06, 0.08, 0.004, -0.002, 0.003), (0.02, -0.01, 0.05), tuple(legs),
        (0.4, -0.7, -9.5)))


def mixed() -> StewartGeometry:
    """Return a platform on rails but for one leg, a strut."""
    geometry = geometry_of('hexaglide', 0.01)
    leg_types, limits = [*geometry.leg_types], geometry.length_limits.copy()
    leg_types[2], limits[2] = Strut(), (0.1, 2.0)
    return replace(geometry, leg_types=tuple(leg_types), length_limits=limits)


def state_of(form: str, rng: np.random.Generator):
    """Return a pose near home, a twist and its rate."""
    size = 0.08 if form == 'hexaglide' else 0.02
    at = pose([0.0, 0.0, HEIGHTS[form]]) @ se3.exp(rng.uniform(-size, size, 6))
    return at, *rng.normal(size=(2, 6))


def parts(geometry, at):
    """Return of each leg: centre and direction of the rod, centre of what is driven, angle."""
    found = []
    for form, base, tip in zip(geometry.leg_types, geometry.base_joints, geometry.platform_joints):
        index = len(found)
        leg = geometry.masses.legs[index]
        base, end = exact(base), at[:3, :3] @ exact(tip) + at[:3, 3]
        w, rod = end - base, mp.mpf(form.rod)
        side = 1 if form.pushes else -1
        if isinstance(form, Rail):
            along = w @ exact(np.array(form.direction))
            value = along - side * mp.sqrt(rod**2 - w @ w + along**2)
            foot, angle = base + value * exact(np.array(form.direction)), mp.mpf(0)
            center = foot
        else:
            zero, axis = np.array(form.zero), np.array(form.axis)
            e1, e2, r = exact(zero), np.cross(exact(axis), exact(zero)), mp.mpf(form.radius)
            x, y = 2 * r * (w @ e1), 2 * r * (w @ e2)
            value = angle = mp.atan2(y, x) - side * mp.acos(
                (w @ w + r**2 - rod**2) / mp.sqrt(x * x + y * y))
            arm = mp.cos(angle) * e1 + mp.sin(angle) * e2
            foot, center = base + r * arm, base + mp.mpf(leg.cylinder.center) * arm
        u = (end - foot) / rod
        found.append(np.array([
            *(end - mp.mpf(leg.rod.center) * u), *u, *center, angle, value], dtype=object))
    return np.array(found)


def drive_forces(geometry, at, twist, rate):
    """Return the forces by virtual work of all parts, without any formula of dynamics."""
    with mp.workdps(50):
        h, start = mp.mpf('1e-14'), exact(at)

        def moved(x):
            return parts(geometry, start @ exp(x))

        before, now, after = (moved(s * h * exact(twist) + s * s * h * h / 2 * exact(rate))
                              for s in (-1, 0, 1))
        after_now = (after - 2 * now + before) / h**2
        ways = [(moved(h * unit) - moved(-h * unit)) / (2 * h) for unit in exact(np.eye(6))]
        work, gravity = np.zeros(6, dtype=object), exact(np.array(geometry.masses.gravity))
        for leg, pull, *moves in zip(geometry.masses.legs, after_now, *ways):
            for i, move in enumerate(moves):
                work[i] += (
                    leg.rod.mass * ((pull[:3] - gravity) @ move[:3])
                    + leg.rod.transverse * (pull[3:6] @ move[3:6])
                    + leg.cylinder.mass * ((pull[6:9] - gravity) @ move[6:9])
                    + leg.cylinder.transverse * pull[9] * move[9])
        jacobian = np.array([[move[k][10] for move in ways] for k in range(6)]).astype(float)
    alone = replace(geometry, leg_types=(Strut(),) * 6,
                    length_limits=np.tile([0.0, np.inf], (6, 1)),
                    masses=replace(geometry.masses, legs=(LegMasses(),) * 6))
    work = work.astype(float) + length_jacobian(alone, at).T @ StewartDynamics(alone).inverse(
        at, twist, rate).forces
    return np.linalg.solve(jacobian.T, work)


@pytest.mark.parametrize('pushes', (None, False))
@pytest.mark.parametrize('form', HEIGHTS)
def test_drive_forces_are_those_of_virtual_work(form: str, pushes: bool | None) -> None:
    geometry, rng = geometry_of(form), np.random.default_rng(12)
    if pushes is not None:  # rods on the other side of their dead centres
        geometry = replace(geometry, length_limits=np.tile([-10.0, 10.0], (6, 1)), leg_types=tuple(
            replace(leg, pushes=pushes) for leg in geometry.leg_types))
    dynamics = StewartDynamics(geometry)
    for _ in range(4):
        at, twist, rate = state_of(form, rng)
        found, expected = dynamics.inverse(at, twist, rate), drive_forces(
            geometry, at, twist, rate)
        assert np.abs(found.forces - expected).max() < 1e-9 * (1.0 + np.abs(expected).max())
        back = dynamics.forward(at, twist, found.forces)
        np.testing.assert_allclose(back.acceleration, rate, atol=1e-8)
        np.testing.assert_allclose(back.leg_accelerations, found.leg_accelerations, atol=1e-7)


@pytest.mark.parametrize('geometry', [
    geometry_of('hexaglide', 0.01), geometry_of('cranks', 0.01), mixed()],
    ids=['rails', 'cranks', 'a strut among rails'])
def test_states_are_on_the_loops_and_orders_go_round(geometry: StewartGeometry) -> None:
    form = 'cranks' if isinstance(geometry.leg_types[0], Crank) else 'hexaglide'
    loops, rng = ConstrainedDynamics(platform_model(geometry)), np.random.default_rng(5)
    dynamics, legs = StewartDynamics(geometry), [
        loops.model.joint(name).vi for name in geometry.leg_names]
    for _ in range(5):
        at, twist, _ = state_of(form, rng)
        q, v = model_state(geometry, at, twist)
        assert np.abs(loops.residual(q)).max() < 1e-12
        known = np.arange(loops.model.nv) < 6
        np.testing.assert_allclose(complete_velocity(loops, q, v, known), v, atol=1e-9)
        np.testing.assert_allclose(v[legs], leg_rates(geometry, at, twist), atol=1e-12)
        rates, external = rng.normal(size=(2, ORDER + 1, 6))
        found = dynamics.inverse(at, twist, rates, external=external)
        alone = dynamics.inverse(at, twist, rates[0], external=external[0])  # in closed form
        np.testing.assert_allclose(alone.forces, found.forces[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            alone.leg_accelerations, found.leg_accelerations[0], rtol=1e-9, atol=1e-9)
        back = dynamics.forward(at, twist, found.forces, external=external)
        for k in range(ORDER + 1):
            size = 1.0 + max(np.abs(found.forces[:k + 1]).max(), np.abs(rates[:k + 1]).max())
            assert np.abs(back.acceleration[k] - rates[k]).max() < 1e-9 * size, k
            assert np.abs(back.leg_accelerations[k] - found.leg_accelerations[k]).max() < 1e-9 * (
                size + np.abs(found.leg_accelerations[:k + 1]).max()), k
        h = 1e-4  # first derivatives along the motion, by central differences
        ends = [dynamics.inverse(
            at @ se3.exp(s * h * twist + h * h / 2 * rates[0] + s * h**3 / 6 * rates[1]
                         + s * h**3 / 12 * (se3.ad(twist) @ rates[0])),
            twist + s * h * rates[0] + h * h / 2 * rates[1], rates[0] + s * h * rates[1],
            external=external[0] + s * h * external[1]) for s in (1.0, -1.0)]
        for k in ('forces', 'leg_accelerations'):
            slope = (getattr(ends[0], k) - getattr(ends[1], k)) / (2.0 * h)
            wanted = getattr(found, k)[1]
            assert np.abs(slope - wanted).max() < 1e-4 * (1.0 + np.abs(wanted).max())


@pytest.mark.parametrize('form', HEIGHTS)
def test_power_is_the_rate_of_energy(form: str) -> None:
    geometry, rng = geometry_of(form, 0.01), np.random.default_rng(8)
    dynamics = StewartDynamics(geometry)
    for _ in range(5):
        at, twist, rate = state_of(form, rng)
        found, h = dynamics.inverse(at, twist, rate), 1e-5
        after, before = (dynamics.energy(
            at @ se3.exp(s * h * twist + 0.5 * h * h * rate), twist + s * h * rate)
            for s in (1.0, -1.0))
        assert (sum(after) - sum(before)) / (2.0 * h) == pytest.approx(
            found.forces @ leg_rates(geometry, at, twist), rel=1e-5, abs=1e-4)
        mass = dynamics.mass_matrix(at)
        assert 0.5 * twist @ mass @ twist == pytest.approx(
            dynamics.energy(at, twist).kinetic, rel=1e-10)


@pytest.mark.full
@pytest.mark.parametrize('form', HEIGHTS)
def test_a_controller_holds_a_simulated_platform(form: str) -> None:
    """The files of the package have masses: the simulator and the controller take them."""
    geometry = load_geometry(config_file(f'stewart_{form}.yaml'))
    home = pose([0.0, 0.0, HEIGHTS[form]])
    trajectory = SmoothTrajectory(
        home, np.full(6, 0.01), np.full(6, 6.0), np.zeros(6), 1.0)
    simulation = PlatformSimulation(geometry, home, 5e-3)
    controller = PlatformController(StewartDynamics(geometry), trajectory)
    moved = 0.0
    for _ in range(100):
        simulation.command(controller.command(
            simulation.time, simulation.dt, simulation.pose, simulation.twist).forces)
        simulation.step()
        moved = max(moved, np.abs(simulation.pose - home).max())
        assert np.abs(simulation.pose - trajectory.pose(simulation.time)).max() < 1e-3
    assert moved > 2e-3


def test_what_cannot_be_is_refused() -> None:
    geometry = geometry_of('hexaglide')
    dynamics, home = StewartDynamics(geometry), pose([0.0, 0.0, 0.55])
    with refused(GeometryError, 'leg_1'):
        StewartDynamics(replace(
            geometry, leg_types=(OffsetStrut(base_offset=0.02), *geometry.leg_types[1:]),
            length_limits=np.tile([0.1, 2.0], (6, 1))))
    with refused(LimitError, 'pose_base_platform'):
        dynamics.inverse(pose([0.0, 0.0, 3.0]), np.zeros(6), np.zeros(6))
    with refused(ShapeError, 'external'):
        dynamics.inverse(home, np.zeros(6), np.zeros((2, 6)), external=np.zeros(6))
    form = geometry.leg_types[0]
    up = np.array(form.direction)
    side = np.cross(up, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    reach = geometry.base_joints.copy()
    rod = form.rod * (1.0 - 1e-14) * side
    reach[0] = home[:3, 3] + geometry.platform_joints[0] - rod - 0.2 * up
    dead = replace(geometry, base_joints=reach)
    assert leg_lengths(dead, home)[0] == pytest.approx(0.2, abs=1e-6)
    with refused(SingularError, 'pose_base_platform'):
        StewartDynamics(dead).inverse(home, np.zeros(6), np.zeros(6))
