# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of closed loops with a user's functions: differences, time derivatives, products."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import five_bar
from support.machines.random_models import add_random_joint, random_inertia
from support.witnesses.tangents import difference

from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, ConstraintFunction, LEAST_FORCE, LEAST_TORQUE, project,
    taylor_series)
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import (
    ConstraintRates, FunctionRows)
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import kinematic_gaps
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.model import ModelBuilder


@pytest.fixture(scope='module')
def machine():
    """Return a chain with a ball joint, held by two cubic functions of its q, and a motion."""
    rng = np.random.default_rng(2)
    builder, parent = ModelBuilder('cam', gravity=(0.3, -9.0, 1.0)), None
    for name, kind in (('ball', 'spherical'), ('slide', 'prismatic'), ('hinge', 'revolute')):
        builder.add_body(f'{name}_body', random_inertia(rng))
        add_random_joint(rng, builder, name, kind, parent, f'{name}_body')
        parent = f'{name}_body'
    model = builder.build()
    start, c, s = model.random(rng), *rng.normal(size=(2, 2, 6))

    def level(q):
        return c @ q + (s @ q)**3

    def jacobian(q):
        x, y, z, w = q[:4]  # x' = x (w, 0) / 2
        rates = np.zeros((6, 5), dtype=q.dtype)
        rates[:4, :3] = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
        rates[4, 3] = rates[5, 4] = 1.0
        return (c + 3.0 * ((s @ q)**2)[:, None] * s) @ rates

    wanted = level(start)
    cam = ConstraintFunction('cam', 2, lambda q: level(q) - wanted, jacobian,
                             jacobian_series=taylor_series(jacobian))
    dynamics = ConstrainedDynamics(model, functions=[cam])
    q, v = project(dynamics, start, rng.normal(size=5))
    return dynamics, q, v, rng.normal(size=(2, 5)), rng


def test_forward_beside_differences(machine) -> None:
    """In directions that leave the constraints too."""
    dynamics, q, v, tau, rng = machine
    got, n = dynamics.forward.partial_derivatives(q, v, tau[0]), 5

    def both(q, v):
        found = dynamics.forward(q, v, tau[0], closed=False)
        return np.concatenate([found.a, found.multipliers])

    for x in rng.normal(size=(2, n)):
        wanted = difference(lambda s, x=x: both(dynamics.model.integrate(q, s * x), v))
        assert_same(np.concatenate([got.by_q, got.multipliers_by_q]) @ x, wanted)
        wanted = difference(lambda s, x=x: both(q, v + s * x))
        assert_same(np.concatenate([got.by_v, got.multipliers_by_v]) @ x, wanted)


def test_along_the_motion_they_make_the_time_derivatives(machine) -> None:
    dynamics, q, v, tau, _ = machine
    motion = dynamics.forward(q, v, tau)
    a, known = motion.a, np.array([True, False, False, False, True])
    got = dynamics.forward.partial_derivatives(q, v, tau[0])
    assert_same(got.by_q @ v + got.by_v @ a[0] + got.by_tau @ tau[1], a[1])
    mixed = dynamics.hybrid.partial_derivatives(q, v, known, a[0], tau[0])
    wanted, given = dynamics.hybrid(q, v, known, a, tau), np.where(known, a[1], tau[1])
    assert_same(mixed.tau_by_q @ v + mixed.tau_by_v @ a[0] + mixed.tau_by_given @ given,
                wanted.tau[1])
    for options in ({}, {'redundancy': LEAST_FORCE}):
        options['actuated'] = np.arange(5) != 3
        back = dynamics.inverse.partial_derivatives(
            q, v, a[0], tau=tau[0], **options)
        wanted = dynamics.inverse(q, v, a, tau=tau, **options)
        assert_same(back.by_q @ v + back.by_v @ a[0] + back.by_a @ a[1] + back.by_tau @ tau[1],
                    wanted.tau[1])


def test_all_orders_beside_differences(machine) -> None:
    """In directions that leave the constraints too, to order three."""
    dynamics, q, v, _, rng = machine
    tau, dtau = rng.normal(size=(2, 4, 5))
    dq, dv = rng.normal(size=(2, 5))
    got = dynamics.forward.partial_derivatives.time_derivatives(q, v, tau)

    def both(s):
        found = dynamics.forward(
            dynamics.model.integrate(q, s * dq), v + s * dv, tau + s * dtau, closed=False)
        return np.hstack([found.a, found.multipliers])

    wanted = difference(both, 5e-4)
    for k in range(4):
        a = got.by_q[k] @ dq + got.by_v[k] @ dv + np.einsum('jab,jb->a', got.by_tau[k], dtau)
        lam = got.multipliers_by_q[k] @ dq + got.multipliers_by_v[k] @ dv + np.einsum(
            'jab,jb->a', got.multipliers_by_tau[k], dtau)
        assert_same(np.hstack([a, lam]), wanted[k])


@pytest.mark.parametrize('speed', (1.0, 1000.0))
@pytest.mark.parametrize('redundancy', (LEAST_TORQUE, LEAST_FORCE))
def test_along_the_motion_they_make_all_time_derivatives(
        machine, redundancy: str, speed: float) -> None:
    dynamics, q, v, _, rng = machine
    v, faster = speed * v, speed ** np.arange(2, 7)[:, None]
    tau = faster * rng.normal(size=(5, 5))
    a, given = dynamics.forward(q, v, tau).a, {
        'tau': faster * rng.normal(size=(5, 5)), 'actuated': np.arange(5) != 3,
        'redundancy': redundancy}
    wanted = dynamics.inverse(q, v, a, **given)
    below = {**given, 'tau': given['tau'][:-1]}
    ahead, back = dynamics.forward.partial_derivatives.time_derivatives(
        q, v, tau[:-1]), dynamics.inverse.partial_derivatives.time_derivatives(
            q, v, a[:-1], **below)
    for k in range(4):
        assert_same(ahead.by_q[k] @ v + ahead.by_v[k] @ a[0] + np.einsum(
            'jab,jb->a', ahead.by_tau[k], tau[1:]), a[k + 1])
        assert_same(back.by_q[k] @ v + back.by_v[k] @ a[0] + np.einsum(
            'jab,jb->a', back.by_a[k], a[1:]) + np.einsum(
                'jab,jb->a', back.by_tau[k], given['tau'][1:]), wanted.tau[k + 1])
        assert_same(
            back.multipliers_by_q[k] @ v + back.multipliers_by_v[k] @ a[0] + np.einsum(
                'jab,jb->a', back.multipliers_by_a[k], a[1:]) + np.einsum(
                    'jab,jb->a', back.multipliers_by_tau[k], given['tau'][1:]),
            wanted.multipliers[k + 1])


def test_a_motion_that_has_nearly_come_to_rest(machine) -> None:
    dynamics, q, _, _, rng = machine
    motion = rng.normal(size=(4, 5))
    slow, there = (ConstraintRates(dynamics, q, x * motion) for x in (1e-200, 1.0))
    assert_same(slow.rows[0], there.rows[0])
    assert_same(slow.vary_rows(motion)[0], there.vary_rows(motion)[0])
    assert_same(slow.rows[1:], 1e-200 * there.rows[1:], 1e-190, floor=1.0)


def test_a_function_of_nothing() -> None:
    """A machine that cannot move has Jacobians without columns."""
    builder = ModelBuilder('rock')
    builder.add_body('rock', None)
    builder.add_joint('ground', 'fixed', None, 'rock')
    nothing = ConstraintFunction(
        'nothing', 1, lambda q: np.zeros(1), lambda q: np.zeros((1, 0)),
        jacobian_series=lambda q: np.zeros((len(q), 1, 0)))
    dynamics = ConstrainedDynamics(builder.build(), functions=[nothing])
    assert dynamics.forward([], [], np.zeros((2, 0))).multipliers.shape == (2, 1)
    got = dynamics.forward.partial_derivatives.time_derivatives([], [], np.zeros((2, 0)))
    assert got.multipliers_by_q.shape == (2, 1, 0)


def test_they_do_not_vary_with_placements(machine) -> None:
    dynamics, q, v, _, _ = machine
    for gaps in kinematic_gaps(dynamics, q, v):
        assert gaps.by_placement.shape == (2, 3, 6) and not gaps.by_placement.any()


def test_products_of_forward_dynamics(machine) -> None:
    """Beside full Jacobians, differences, and the same from the other side."""
    dynamics, q, v, tau, rng = machine
    full, (dq, dv, dtau, y) = dynamics.forward.partial_derivatives(
        q, v, tau[0]), rng.normal(size=(4, 5))
    got = dynamics.forward.partial_derivatives.product(q, v, tau[0], dq, dv, dtau)
    z = rng.normal(size=2)
    assert_same(got.a, full.by_q @ dq + full.by_v @ dv + full.by_tau @ dtau)
    assert_same(got.multipliers, full.multipliers_by_q @ dq + full.multipliers_by_v @ dv
                + full.multipliers_by_tau @ dtau)
    wanted = difference(lambda s: dynamics.forward(
        dynamics.model.integrate(q, s * dq), v + s * dv, tau[0] + s * dtau, closed=False).a)
    assert_same(got.a, wanted)
    by = dynamics.forward.partial_derivatives.gradient(q, v, tau[0], y, z=z)
    assert_same(by.by_q, y @ full.by_q + z @ full.multipliers_by_q)
    assert_same(by.by_v, y @ full.by_v + z @ full.multipliers_by_v)
    assert_same(by.by_tau, y @ full.by_tau + z @ full.multipliers_by_tau)


@pytest.mark.parametrize('options', ({}, {'redundancy': LEAST_FORCE}), ids=str)
def test_products_of_inverse_dynamics(machine, options: dict) -> None:
    dynamics, q, v, tau, rng = machine
    options = {'tau': tau[0], 'actuated': np.arange(5) != 3, **options}
    a, (dq, dv, da, dtau, y) = dynamics.forward(q, v, tau[0]).a, rng.normal(size=(5, 5))
    full = dynamics.inverse.partial_derivatives(q, v, a, **options)
    got = dynamics.inverse.partial_derivatives.product(q, v, a, dq, dv, da, dtau=dtau, **options)
    assert_same(got.tau, full.by_q @ dq + full.by_v @ dv + full.by_a @ da + full.by_tau @ dtau)
    by = dynamics.inverse.partial_derivatives.gradient(q, v, a, y, **options)
    z = rng.normal(size=2)
    for ours, wanted in zip(by, (full.by_q, full.by_v, full.by_a, full.by_tau)):
        assert_same(ours, y @ wanted)
    by = dynamics.inverse.partial_derivatives.gradient(q, v, a, y, z=z, **options)
    assert_same(by.by_q @ dq + by.by_v @ dv + by.by_a @ da + by.by_tau @ dtau,
                y @ got.tau + z @ got.multipliers)


def test_products_of_hybrid_dynamics(machine) -> None:
    dynamics, q, v, tau, rng = machine
    a, known = dynamics.forward(q, v, tau[0]).a, np.array([True, False, False, False, True])
    motion, (dq, dv, given, y) = (q, v, known, a, tau[0]), rng.normal(size=(4, 5))
    full = dynamics.hybrid.partial_derivatives(*motion)
    got = dynamics.hybrid.partial_derivatives.product(*motion, dq, dv, given)
    assert_same(got.a, full.a_by_q @ dq + full.a_by_v @ dv + full.a_by_given @ given)
    assert_same(got.tau, full.tau_by_q @ dq + full.tau_by_v @ dv + full.tau_by_given @ given)
    by, z = dynamics.hybrid.partial_derivatives.gradient(*motion, y), rng.normal(size=2)
    for ours, of_a, of_tau in zip(by[2:], (full.a_by_q, full.a_by_v, full.a_by_given), (
            full.tau_by_q, full.tau_by_v, full.tau_by_given)):
        assert_same(ours, y @ np.where(known[:, None], of_tau, of_a))
    by = dynamics.hybrid.partial_derivatives.gradient(*motion, y, z=z)
    assert_same(by.by_q @ dq + by.by_v @ dv + by.by_given @ given,
                y @ np.where(known, got.tau, got.a) + z @ got.multipliers)


def test_products_of_redundant_functions(machine) -> None:
    """The same functions twice: along what keeps them, the accelerations are those of one."""
    dynamics, q, v, tau, rng = machine
    twice = ConstrainedDynamics(dynamics.model, functions=[*dynamics.functions] * 2)
    (dq, dv, dtau, y), z = rng.normal(size=(4, 5)), rng.normal(size=4)
    rows = dynamics.jacobian(q)
    still = np.eye(5) - np.linalg.pinv(rows) @ rows
    dq = still @ dq
    turned = np.tensordot(dq, FunctionRows(dynamics, q).slopes, 1) @ v
    dv = still @ dv - np.linalg.pinv(rows) @ turned
    one = dynamics.forward.partial_derivatives.product(q, v, tau[0], dq, dv, dtau)
    got = twice.forward.partial_derivatives.product(q, v, tau[0], dq, dv, dtau)
    assert_same(got.a, one.a)
    assert_same(got.multipliers, 0.5 * np.tile(one.multipliers, 2))  # of least norm
    by = twice.forward.partial_derivatives.gradient(q, v, tau[0], y, z=z)
    assert_same(by.by_q @ dq + by.by_v @ dv + by.by_tau @ dtau, y @ got.a + z @ got.multipliers)


def test_products_by_parameters(machine) -> None:
    dynamics, q, v, tau, rng = machine
    rest, y, z = np.zeros(5), rng.normal(size=5), rng.normal(size=2)
    change, slope = Parameters(dynamics.model), Parameters(dynamics.model)
    change.gravity[:] = rng.normal(size=3)
    full, found = dynamics.forward.partial_derivatives(q, v, tau[0]), dynamics.forward(
        q, v, tau[0])
    forces = dynamics.tree.inverse.partial_derivatives(q, v, found.a).by_gravity @ change.gravity
    state = q, v, tau[0]
    got = dynamics.forward.partial_derivatives.product(*state, rest, rest, rest, parameters=change)
    by = full.by_parameters(forces)
    assert_same(got.a, by)
    assert_same(got.multipliers, by.multipliers)
    change.vector[:] = rng.normal(size=len(change.vector))
    got = dynamics.forward.partial_derivatives.product(*state, rest, rest, rest, parameters=change)
    dynamics.forward.partial_derivatives.gradient(*state, y, z=z, parameters=slope)
    assert_same(slope.vector @ change.vector, y @ got.a + z @ got.multipliers)


def test_products_of_a_function_beside_closures_and_couplings() -> None:
    rng, loop = np.random.default_rng(5), five_bar()
    start = assemble(ConstrainedDynamics(loop), rng.uniform(-0.3, 0.3, loop.nq))
    s = rng.normal(size=loop.nq)
    height = (s @ start)**2

    def jacobian(q):
        return 2.0 * (s[None] @ q)[:, None] * s

    sheet = ConstraintFunction('sheet', 1, lambda q: np.array([(s @ q)**2 - height]), jacobian,
                               jacobian_series=taylor_series(jacobian))
    dynamics = ConstrainedDynamics(loop, functions=[sheet])
    q, v = project(dynamics, start, rng.normal(size=loop.nv))
    (dq, dv, dtau, y, tau), z = rng.normal(size=(5, loop.nv)), rng.normal(size=dynamics.m)
    full = dynamics.forward.partial_derivatives(q, v, tau)
    got = dynamics.forward.partial_derivatives.product(q, v, tau, dq, dv, dtau)
    assert_same(got.a, full.by_q @ dq + full.by_v @ dv + full.by_tau @ dtau)
    by = dynamics.forward.partial_derivatives.gradient(q, v, tau, y)
    for ours, wanted in zip(by[1:], (full.by_q, full.by_v, full.by_tau)):
        assert_same(ours, y @ wanted)
    by = dynamics.forward.partial_derivatives.gradient(q, v, tau, y, z=z)
    assert_same(by.by_q @ dq + by.by_v @ dv + by.by_tau @ dtau, y @ got.a + z @ got.multipliers)
