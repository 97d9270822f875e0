# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constrained inverse dynamics: every case of Kim's section 3.1, and derivatives of each."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import bennett, five_bar, four_bar, Looped, random_looped
from support.machines.random_models import random_model
from support.refusals import ANY, refused
from support.witnesses import loop_witness
from support.witnesses.tangents import taylor

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, ModelError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics, LEAST_FORCE,
    LEAST_TORQUE, project)

ORDER = 5
KNOWN = np.array([True, False, True, False])  # the cranks


def five_bar_state(*actuated: str) -> tuple[ConstrainedDynamics, Array, Array, Array]:
    """Return Kim's five-bar linkage in motion, derivatives of a to ORDER."""
    dynamics = ConstrainedDynamics(five_bar(*actuated))
    q, rng = assemble(dynamics), np.random.default_rng(3)
    v = complete_velocity(dynamics, q, [0.7, 0.0, -0.4, 0.0], KNOWN)
    given = rng.normal(size=(ORDER + 1, 4))
    return dynamics, q, v, complete_acceleration(dynamics, q, v, given, KNOWN)


def dense_parts(dynamics: ConstrainedDynamics, q: Array, v: Array, a: Array
                ) -> tuple[Array, Array]:
    """Return what the tree needs (nv,) and A, both from the witness."""
    tree = Dynamics(dynamics.model)
    return (tree.mass_matrix(q) @ a + tree.bias(q, v),
            loop_witness.jacobian(dynamics.model, q))


def test_nothing_stands_for_what_was_not_given() -> None:
    dynamics, q, v, a = five_bar_state()
    tau = np.arange(1.0, 5.0)
    for _ in range(2):  # a first call and those after it
        with refused(LiedynError, 'a'):
            dynamics.hybrid(q, v, KNOWN, None, tau)
        with refused(LiedynError, 'tau'):
            dynamics.hybrid(q, v, KNOWN, a[0], None)
        with refused(LiedynError, 'a'):
            dynamics.inverse(q, v, None, tau=tau)
        dynamics.hybrid(q, v, KNOWN, a[0], tau)
    with refused(LiedynError, 'redundancy'):
        dynamics.inverse(q, v, a[0], redundancy=np.array('least_torque'))


def test_two_actuators_are_unique() -> None:  # (Kim 56 to 58)
    dynamics, q, v, a = five_bar_state()
    need, rows = dense_parts(dynamics, q, v, a[0])
    active = dynamics.model.actuated
    force = np.linalg.lstsq(rows[:, ~active].T, need[~active], rcond=1e-9)[0]
    expected = need[active] - rows[:, active].T @ force
    for redundancy in (LEAST_TORQUE, LEAST_FORCE):
        solution = dynamics.inverse(q, v, a[0], redundancy=redundancy)
        assert solution.tau[active] == pytest.approx(expected, abs=1e-7)
        assert solution.tau[~active] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize('names', [('left_0', 'left_1', 'right_0'),
                                   ('left_0', 'left_1', 'right_0', 'right_1')])
def test_least_torque_is_least(names: tuple[str, ...]) -> None:  # (Kim 61 to 66)
    dynamics, q, v, a = five_bar_state(*names)
    need, rows = dense_parts(dynamics, q, v, a[0])
    active = dynamics.model.actuated
    weights = np.array([1.0, 3.0, 0.5, 2.0])
    solution = dynamics.inverse(q, v, a[0], weights=weights)
    null = np.linalg.svd(rows)[2][2:].T  # N: what moves
    expected = np.zeros(4)
    half = 1.0 / np.sqrt(weights[active])
    expected[active] = half * np.linalg.lstsq(
        (null[active] * half[:, None]).T, null.T @ need, rcond=None)[0]
    assert solution.tau == pytest.approx(expected, abs=1e-7)


def test_least_force_is_least() -> None:  # (Kim 59, 60)
    dynamics, q, v, a = five_bar_state('left_0', 'left_1', 'right_0')
    weights = np.linspace(1.0, 2.0, dynamics.m)
    solution = dynamics.inverse(q, v, a[0], redundancy=LEAST_FORCE, weights=weights)
    rows, passive = dynamics.jacobian(q), ~dynamics.model.actuated
    need, _ = dense_parts(dynamics, q, v, a[0])
    half = 1.0 / np.sqrt(weights)
    least = half * np.linalg.lstsq(half * rows[:, passive].T, need[passive], rcond=None)[0]
    assert solution.multipliers == pytest.approx(least, abs=1e-9)
    assert solution.tau == pytest.approx(need - rows.T @ least, abs=1e-9)


def test_too_few_actuators_are_refused_with_what_they_leave_free() -> None:
    dynamics, q, v, a = five_bar_state('left_0')
    for redundancy in (LEAST_TORQUE, LEAST_FORCE):
        with refused(ModelError, 'left_1_joint', 'right_0_joint', 'right_1_joint'):
            dynamics.inverse(q, v, a[0], redundancy=redundancy)


@pytest.mark.parametrize('redundancy', [LEAST_TORQUE, LEAST_FORCE])
@pytest.mark.parametrize('build', [
    bennett, partial(random_looped, 3, ('helical',)),
    partial(random_looped, 4, ('universal', 'point_on_plane'), 10),
    partial(random_looped, 5, ('spherical',), 8, ('revolute', 'spherical'))],
    ids=['bennett', 'helical', 'two loops', 'ball'])
def test_forward_undoes_inverse_to_order_five(
        build: Callable[[], Looped], redundancy: str) -> None:
    looped = build()
    dynamics, rng = ConstrainedDynamics(looped.model), np.random.default_rng(6)
    q, v = project(dynamics, looped.q, rng.normal(size=looped.model.nv))
    a = dynamics.forward(q, v, rng.normal(size=(ORDER + 1, looped.model.nv))).a
    actuated = rng.random(looped.model.nv) < 0.8
    actuated[0] = True
    try:
        solution = dynamics.inverse(q, v, a, actuated=actuated, redundancy=redundancy)
    except ModelError:
        solution = dynamics.inverse(q, v, a, actuated=np.ones_like(actuated),
                                    redundancy=redundancy)
    again = dynamics.forward(q, v, solution.tau)
    for k in range(ORDER + 1):
        scale = 1.0 + np.abs(a[:k + 2]).max()
        assert np.abs(again.a[k] - a[k]).max() < 1e-8 * scale


def test_optimal_forces_have_the_derivatives_of_their_motion() -> None:
    # An optimum order by order would be right at order zero and wrong from order one on.
    dynamics, q, v, a = five_bar_state('left_0', 'left_1', 'right_0')
    steps = np.arange(-3, 4) * 1e-3
    weights = np.array([-1 / 60, 3 / 20, -3 / 4, 0.0, 3 / 4, -3 / 20, 1 / 60]) / 1e-3
    for redundancy in (LEAST_TORQUE, LEAST_FORCE):
        solution = dynamics.inverse(q, v, a, redundancy=redundancy)
        beside = []
        for t in steps:
            late = taylor(np.vstack((q, v, a)), t)
            names = [f'{side}_0_joint' for side in ('left', 'right')]
            q1 = assemble(dynamics, late[0], held=dict(zip(names, late[0][KNOWN])))
            v1 = complete_velocity(dynamics, q1, late[1], KNOWN)
            a1 = complete_acceleration(dynamics, q1, v1, late[2:5], KNOWN)
            beside.append(dynamics.inverse(q1, v1, a1, redundancy=redundancy))
        for k in range(1, 4):
            for name in ('tau', 'multipliers'):
                series = np.array([getattr(each, name)[k - 1] for each in beside])
                expected, value = weights @ series, getattr(solution, name)[k]
                assert np.abs(value - expected).max() < 1e-6 * (1.0 + np.abs(expected).max())


def test_motions_that_break_a_loop_and_passive_forces() -> None:
    dynamics = ConstrainedDynamics(four_bar())
    q = assemble(dynamics)
    v = complete_velocity(dynamics, q, [1.0, 0.0, 0.0])
    a = complete_acceleration(dynamics, q, v, [0.5, 0.0, 0.0])
    with refused(LiedynError, 'a'):
        dynamics.inverse(q, v, a + 0.01)
    spring = np.array([0.0, 0.3, -0.2])
    solution = dynamics.inverse(q, v, a, tau=spring)
    assert solution.tau[1:] == pytest.approx(spring[1:])
    assert dynamics.forward(q, v, solution.tau).a == pytest.approx(a)
    with refused(LiedynError, 'redundancy'):
        dynamics.inverse(q, v, a, redundancy='none')


@pytest.mark.parametrize('name', ['inverse', 'forward', 'hybrid'])
def test_derivatives_of_loops_are_called_and_begin_as_those_of_trees(name: str) -> None:
    """One program for a tree, and for the same tree in the class of loops: same numbers."""
    model, rng = random_model(4, 6, True), np.random.default_rng(5)
    q, (v, given, dq, dv, dx, y) = model.random(rng), rng.normal(size=(6, model.nv))
    wrenches, known = rng.normal(size=(len(model.bodies), 6)), ['revolute_3']
    results = []
    for robot in (Dynamics(model), ConstrainedDynamics(model)):
        derive = getattr(robot, name).partial_derivatives
        at = (q, v, known, given, given) if name == 'hybrid' else (q, v, given)
        rows = [each if each is known else np.array([each]) for each in at]
        named = dict(zip(('q', 'v', 'prescribed', 'a', 'tau') if name == 'hybrid' else (
            'q', 'v', 'a' if name == 'inverse' else 'tau'), rows))
        results.append([
            [np.asarray(derive.product(*at, dq, dv, dx, wrenches))],
            derive(*at, wrenches), derive.gradient(*at, y, wrenches),
            derive.batch(*rows, np.array([wrenches])), derive.batch(**named, external=[wrenches]),
            derive.gradient_batch(*rows, np.array([y]), np.array([wrenches]))])
    for tree, loops in zip(*results):
        names = getattr(tree, '_fields', ('product',))
        assert getattr(loops, '_fields', names)[:3] == names[:3]
        for field, one, other in zip(names, tree, loops):
            if field != 'prescribed':
                assert_same(getattr(loops, field, other), one, 1e-8, floor=1.0)


def wrong_calls(robot, q, v, wrenches):
    """Yield calls that both kinds of robots refuse."""
    bad, short = np.where(np.arange(len(v)) == 3, np.nan, v), v[:-1]
    inverse, forward, hybrid = robot.inverse, robot.forward, robot.hybrid
    by_inverse, by_forward = inverse.partial_derivatives, forward.partial_derivatives
    yield from (partial(call, *given) for call, *given in (
        (inverse, q[:-1], v, v), (inverse, q, short, v), (inverse, q, bad, v),
        (inverse, 2.0 * q, v, v), (inverse, q, v, None), (inverse, q, v),
        (forward, q, v, short), (forward, q, v, bad), (forward, q, v, v, wrenches[1:]),
        (forward, q, v + 1e200, v), (hybrid, q, v, ['nothing'], v, v),
        (hybrid, q, v, [True, False], v, v), (inverse.batch, [q, q], [v], [v, v]),
        (inverse.batch, [q, q], [v, bad], [v, v]), (forward.batch, q, v, v),
        (inverse.time_derivatives, q, v, v), (inverse.time_derivatives, q, v, [v] * 40),
        (forward.time_derivatives, q, v), (by_forward, q, v, short), (by_inverse, q, v, bad),
        (by_inverse.product, q, v, v, bad, v, v), (by_forward.gradient, q, v, v, short),
        (by_forward.batch, [q, q], [v], [v]), (by_forward.batch, [q], [v], [bad]),
        (by_forward.gradient_batch, [q], [v], [v], [bad])))


def test_loops_refuse_what_trees_refuse_by_the_same_names():
    model = random_model(4, 6, True)
    given = model.neutral(), np.zeros(model.nv), np.zeros((len(model.bodies), 6))
    calls = [wrong_calls(each(model), *given) for each in (Dynamics, ConstrainedDynamics)]
    for tree, loops in zip(*calls, strict=True):
        found = []
        for call in (tree, loops):
            with pytest.raises((LiedynError, TypeError)) as caught:
                call()
            found.append((caught.type, getattr(caught.value, 'names', ())))
        assert found[0] == found[1], tree


def test_orders_of_loops_are_counted_wherever_they_stand():
    """By place and by name; a signature that is sought takes longer than many a call."""
    model = random_model(4, 6, True)
    loops, rest = ConstrainedDynamics(model), np.zeros(model.nv)
    at, rows = {'q': model.neutral(), 'v': rest}, np.zeros((2, model.nv))
    for call, given in ((loops.forward, {'tau': rows}), (loops.inverse, {'a': rows}),
                        (loops.hybrid, {'prescribed': [], 'a': rows, 'tau': rows})):
        whole = at | given
        found = [np.asarray(each) for each in (
            call.time_derivatives(*whole.values()), call.time_derivatives(**whole))]
        assert np.array_equal(*found) and found[0].shape[-2:] == rows.shape
        with pytest.raises(ShapeError):
            call.time_derivatives(**whole | {name: rest for name in given if name != 'prescribed'})


@pytest.mark.parametrize('algorithm', ['forward', 'inverse'])
@pytest.mark.parametrize('batch', [False, True])
def test_time_derivatives_that_are_transposed_are_told(algorithm, batch):
    machine = ConstrainedDynamics(four_bar())
    q = assemble(machine)
    rows, still = np.zeros((3, 2)), np.zeros(3)
    for robot in (machine, machine.tree):
        call, name = getattr(robot, algorithm), 'a' if algorithm == 'inverse' else 'tau'
        with refused(ShapeError, name, got=(1, 3, 2) if batch else (3, 2), expected=ANY) as caught:
            if batch:
                call.time_derivatives_batch([q], [still], rows[None])
            else:
                call.time_derivatives(q, still, rows)
        assert 'transposed?' in str(caught.value)
