# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Machines with bodies without mass: their motion needs none, their forces only what moves."""

from collections.abc import Callable

import numpy as np
import pytest
from support.machines.looped_machines import bar, four_bar
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, ModelError, SingularError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics, ConstraintFunction,
    LoopTracker, taylor_series)
from liedyn_ros.model import load_urdf, Model, ModelBuilder, pose, SpatialInertia

Make = Callable[[], Model]
URDF = """<robot name="push_rod">
<link name="ground"/>
<link name="crank"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0"
 ixz="0" iyz="0"/></inertial></link>
<link name="rod"/><link name="slide"><inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01"
 izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="crank_joint" type="continuous"><parent link="ground"/><child link="crank"/>
<axis xyz="0 0 1"/></joint>
<joint name="rod_joint" type="continuous"><parent link="crank"/><child link="rod"/>
<origin xyz="0.2 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="slide_joint" type="prismatic"><parent link="ground"/><child link="slide"/>
<axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
<loop name="wrist" type="spherical"><predecessor link="rod"><origin xyz="0.6 0 0"/></predecessor>
<successor link="slide"><origin xyz="0 0 0"/></successor></loop>
</robot>"""
RATE, START = 1.7, 0.6  # of the crank, rad/s and rad


def linkage(rod: SpatialInertia | None, rocker: SpatialInertia | None, closure: str) -> Model:
    """Return a four-bar linkage whose rod and rocker may be without mass."""
    builder = ModelBuilder('linkage', gravity=(0.0, -9.81, 0.0))
    for name, parent, at, inertia in (('crank', None, 0.0, bar(1.0, 0.2)),
                                      ('rod', 'crank', 0.2, rod), ('rocker', None, 0.45, rocker)):
        builder.add_body(name, inertia)
        builder.add_joint(f'{name}_joint', 'revolute', parent, name, axis=[0.0, 0.0, 1.0],
                          placement=pose([at, 0.0, 0.0]), actuated=name == 'crank')
    builder.add_closure('tip', closure, 'rod', 'rocker', placement_a=pose([0.5, 0.0, 0.0]),
                        placement_b=pose([0.4, 0.0, 0.0]))
    return builder.build()


MACHINES: list[Make] = [
    lambda: linkage(None, bar(2.0, 0.4), 'revolute'),
    lambda: linkage(None, bar(2.0, 0.4), 'point_on_line'),
    lambda: linkage(SpatialInertia(0.4, [0.0] * 3, np.zeros((3, 3))), bar(2.0, 0.4), 'revolute'),
    lambda: linkage(bar(1.0, 0.5), None, 'spherical'),
    lambda: linkage(None, None, 'revolute')]


def moving(dynamics: ConstrainedDynamics) -> tuple[Array, Array, Array]:
    """Return q, v, and a with two derivatives."""
    q = assemble(dynamics, held={'crank_joint': 0.9})
    v = complete_velocity(dynamics, q, [RATE, 0.0, 0.0])
    return q, v, complete_acceleration(dynamics, q, v, [[0.4, 0, 0], [-1.0, 0, 0], [0.3, 0, 0]])


def dense(dynamics: ConstrainedDynamics, q: Array, v: Array, a: Array, tau: Array
          ) -> tuple[Array, Array]:
    """Return accelerations and least-norm multipliers of a dense saddle point system."""
    mass, rows = dynamics.tree.mass_matrix(q), dynamics.jacobian(q)
    left, sizes, _ = np.linalg.svd(rows)
    basis = left[:, :int((sizes > 1e-8 * sizes[0]).sum())]
    own = basis.T @ rows
    matrix = np.block([[mass, -own.T], [own, np.zeros((len(own), len(own)))]])
    found = np.linalg.solve(matrix, np.concatenate([tau - dynamics.tree.bias(q, v), own @ a]))
    return found[:len(v)], basis @ found[len(v):]


@pytest.mark.parametrize('make', MACHINES)
def test_forces_and_motion_are_those_of_a_dense_solution(make: Make) -> None:
    dynamics, tau = ConstrainedDynamics(make()), np.random.default_rng(1).normal(size=(3, 3))
    assert np.linalg.matrix_rank(dynamics.tree.mass_matrix(assemble(dynamics)), 1e-12) < 3
    assert dynamics.mobility.degrees_of_freedom == 1
    q, v, _ = moving(dynamics)
    found = dynamics.forward(q, v, tau)
    a, multipliers = dense(dynamics, q, v, found.a[0], tau[0])
    np.testing.assert_allclose(found.a[0], a, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.multipliers[0], multipliers, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(  # the constraints alone say the same
        complete_acceleration(dynamics, q, v, found.a), found.a, rtol=1e-9, atol=1e-9)
    batch = dynamics.forward.batch([q, q], [v, v], [tau, tau])
    np.testing.assert_allclose(batch.a[1], found.a, rtol=1e-12)
    np.testing.assert_allclose(batch.wrenches[1], found.wrenches, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('make', MACHINES)
def test_inverse_and_hybrid_undo_forward_to_each_order(make: Make) -> None:
    dynamics = ConstrainedDynamics(make())
    q, v, a = moving(dynamics)
    for redundancy in ('least_torque', 'least_force'):
        needed = dynamics.inverse(q, v, a, redundancy=redundancy)
        np.testing.assert_allclose(needed.tau[:, 1:], 0.0, atol=1e-9)
        moved = dynamics.forward(q, v, needed.tau)
        np.testing.assert_allclose(moved.a, a, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(moved.wrenches, needed.wrenches, rtol=1e-8, atol=1e-8)
    driven = dynamics.hybrid(q, v, [True, False, False], a, np.zeros_like(a))
    np.testing.assert_allclose(driven.a, a, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(driven.tau, needed.tau, rtol=1e-8, atol=1e-8)


def test_a_massless_rod_is_the_limit_of_light_ones() -> None:
    apart = []
    exact = ConstrainedDynamics(linkage(None, bar(2.0, 0.4), 'revolute'))
    q, v, _ = moving(exact)
    wanted = exact.forward(q, v, np.ones(3))
    for mass in (1e-3, 1e-5):
        light = ConstrainedDynamics(linkage(bar(mass, 0.5), bar(2.0, 0.4), 'revolute'))
        found = light.forward(q, v, np.ones(3))
        apart.append([np.abs(found.a - wanted.a).max(),
                      np.abs(found.wrenches - wanted.wrenches).max()])
    np.testing.assert_allclose(np.divide(*apart), 100.0, rtol=0.05)


@pytest.mark.parametrize('make', MACHINES)
def test_derivatives_of_forward_dynamics_are_differences(make: Make) -> None:
    dynamics, step = ConstrainedDynamics(make()), 1e-5
    q, v, _ = moving(dynamics)
    tau, along = np.array([0.3, 0.0, 0.0]), np.array([1.0, 0.5, -0.3])
    found = dynamics.forward(q, v, np.array([tau, along]))
    late = []
    for s in (step, -step):
        # Along the motion, to third order.
        moved = dynamics.model.integrate(q, s * v + 0.5 * s**2 * found.a[0]
                                         + s**3 / 6.0 * found.a[1])
        rate = v + s * found.a[0] + 0.5 * s**2 * found.a[1]
        late.append(dynamics.forward(moved, rate, tau + s * along, closed=False))
    for name in ('a', 'wrenches'):
        after, before = (getattr(each, name) for each in late)
        np.testing.assert_allclose(getattr(found, name)[1], (after - before) / (2.0 * step),
                                   rtol=1e-5, atol=1e-5)


def test_the_slide_of_a_push_rod_moves_as_its_closed_form() -> None:
    """It is r cos t + sqrt(l^2 - r^2 sin^2 t); its derivatives by differences of 5 points."""
    dynamics = ConstrainedDynamics(load_urdf(URDF))
    start = assemble(dynamics, [START, -START, 0.7])
    assert start[2] > 0.0
    tracker = LoopTracker(dynamics, ['crank_joint'], start=start)
    state = tracker.update([start[0]], [RATE], [0.0])

    def slide(t: float) -> float:
        return 0.2 * np.cos(t) + np.sqrt(0.6**2 - (0.2 * np.sin(t))**2)

    h, t = 1e-3, start[0]
    second = (-slide(t + 2 * h) + 16 * slide(t + h) - 30 * slide(t) + 16 * slide(t - h)
              - slide(t - 2 * h)) / (12 * h**2)
    first = (slide(t - 2 * h) - 8 * slide(t - h) + 8 * slide(t + h) - slide(t + 2 * h)) / (12 * h)
    assert state.q[2] == pytest.approx(slide(t), abs=1e-10)
    assert state.a is not None
    assert state.a[2] == pytest.approx(RATE**2 * second, rel=1e-8)
    needed = dynamics.inverse(state.q, state.v, state.a, actuated=[True, False, False])
    # No gravity: power of the motor is that of crank and slide.
    assert needed.tau[0] == pytest.approx(2.0 * RATE**2 * second * first, rel=1e-8)


def test_a_machine_without_any_mass_has_motion_and_no_forces() -> None:
    builder = ModelBuilder('bare')
    for name, parent, at in (('a', None, 0.0), ('b', 'a', 0.2), ('c', None, 0.45)):
        builder.add_body(name, None)
        builder.add_joint(f'{name}_joint', 'revolute', parent, name, axis=[0.0, 0.0, 1.0],
                          placement=pose([at, 0.0, 0.0]), actuated=name == 'a')
    builder.add_closure('tip', 'revolute', 'b', 'c', placement_a=pose([0.5, 0.0, 0.0]),
                        placement_b=pose([0.4, 0.0, 0.0]))
    dynamics, heavy = ConstrainedDynamics(builder.build()), ConstrainedDynamics(four_bar())
    assert dynamics.mobility == heavy.mobility
    q = assemble(heavy, held={'left_0_joint': 0.9})
    v = complete_velocity(heavy, q, [RATE, 0.0, 0.0])
    given = np.random.default_rng(2).normal(size=(4, 3))
    wanted = heavy.hybrid(q, v, [True, False, False], given, np.zeros_like(given)).a
    np.testing.assert_allclose(complete_acceleration(dynamics, q, v, given), wanted, rtol=1e-10)
    with refused(SingularError, 'a', 'b', 'c'):
        dynamics.forward(q, v, np.zeros(3))


def test_a_free_massless_body_is_named() -> None:
    builder = ModelBuilder('wrist')
    builder.add_body('slide', bar(1.0, 0.2))
    builder.add_joint('slide_joint', 'prismatic', None, 'slide', axis=[1.0, 0.0, 0.0])
    builder.add_body('other', bar(1.0, 0.2))
    builder.add_joint('other_joint', 'prismatic', None, 'other', axis=[1.0, 0.0, 0.0])
    builder.add_body('pointer', None)
    builder.add_joint('pointer_joint', 'revolute', 'other', 'pointer', axis=[0.0, 0.0, 1.0])
    builder.add_closure('beside', 'point_on_plane', 'slide', 'other', axis=[1.0, 0.0, 0.0])
    dynamics = ConstrainedDynamics(builder.build())
    with refused(SingularError, 'pointer'):
        dynamics.forward(np.zeros(3), np.zeros(3), np.zeros(3))
    held = dynamics.hybrid(np.zeros(3), np.zeros(3), [False, False, True], [0.0, 0.0, 1.0],
                           [2.0, 0.0, 0.0])
    np.testing.assert_allclose(held.a, [1.0, 1.0, 1.0])


def test_a_function_completes_as_the_closure_that_it_is() -> None:
    builder = ModelBuilder('bead')
    for name, parent, axis in (('x', None, [1, 0, 0]), ('y', 'x', [0, 1, 0])):
        builder.add_body(name, None)
        builder.add_joint(f'{name}_joint', 'prismatic', parent, name, axis=axis)

    def jacobian(q: Array) -> list[list[float]]:
        return [[-2.0 * q[0], 1.0]]

    parabola = ConstraintFunction('parabola', 1, lambda q: [q[1] - q[0]**2], jacobian,
                                  jacobian_series=taylor_series(jacobian))
    wire = ConstrainedDynamics(builder.build(), functions=[parabola])
    x, dx, d2, d3 = 0.3, 1.1, -0.4, 0.7
    known = [True, False]
    v = complete_velocity(wire, [x, x**2], [dx, 0.0], known)
    a = complete_acceleration(wire, [x, x**2], v, [[d2, 0.0], [d3, 0.0]], known)
    np.testing.assert_allclose(a[:, 1], [2 * dx**2 + 2 * x * d2, 6 * dx * d2 + 2 * x * d3])
    with refused(LiedynError, 'parabola'):
        complete_acceleration(wire, [x, x**2 + 0.1], v, [d2, 0.0], known)


def test_known_accelerations_that_break_a_loop_are_refused() -> None:
    dynamics = ConstrainedDynamics(four_bar())
    q, known = assemble(dynamics, held={'left_0_joint': 0.9}), [True, False, True]
    v = complete_velocity(dynamics, q, [RATE, 0.0, 0.0])
    a = complete_acceleration(dynamics, q, v, [0.4, 0.0, 0.0])
    np.testing.assert_allclose(complete_acceleration(dynamics, q, v, a, known), a, rtol=1e-10)
    with refused(ModelError, 'a'):
        complete_acceleration(dynamics, q, v, a + [0.0, 0.0, 0.1], known)
