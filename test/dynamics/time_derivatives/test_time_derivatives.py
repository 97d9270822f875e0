# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of the dynamics: mechanics with 200 digits, the way there and back, order zero."""

import math
import os

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, make_case, TREES
from support.refusals import refused
from support.witnesses.motion_witness import witness

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, NotFiniteError, NotInGroupError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.batch.pool import usable_cores

ROUNDING = 1e-12  # of the largest entry
TRIALS = [(seed, floating, 4) for seed, floating in TREES[:4]] + [(4, True, 10), (5, False, 10)]


def twin(case: Case, dissipation: bool = True) -> Case:
    """Return the same machine in the same state, with or without damping and friction."""
    return case._replace(dynamics=Dynamics(case.model, dissipation=dissipation))


def random_motion(case: Case, order: int) -> Array:
    """Return v and its derivatives (order + 2, nv)."""
    return np.vstack([case.v, case.a, case.rng.normal(size=(order, case.model.nv))])


def random_wrenches(case: Case, order: int) -> Array:
    """Return wrenches on all bodies with their derivatives."""
    return case.rng.normal(size=(order + 1, len(case.model.bodies), 6))


def assert_rows(got: Array, wanted: Array, tolerance: float = ROUNDING) -> None:
    """Compare every order with a tolerance of its largest entry."""
    assert got.shape == wanted.shape
    scale = np.maximum(1.0, np.abs(wanted).max(axis=1))
    assert (np.abs(got - wanted).max(axis=1) <= tolerance * scale).all()


@pytest.mark.full
@pytest.mark.parametrize('seed, floating, order', TRIALS)
def test_forces_are_those_of_mechanics(seed: int, floating: bool, order: int) -> None:
    case = make_case(seed, floating)
    external = random_wrenches(case, order)
    paths = 0.5 * case.rng.normal(size=(order + 2, case.model.nv))
    motion, tau, _ = witness(case.model, case.q, paths, external)
    d, (v, a) = case.dynamics, (motion[0], motion[1:])
    assert_rows(d.inverse.time_derivatives(case.q, v, a, external), tau)
    assert_rows(d.forward.time_derivatives(case.q, v, tau, external), a, 1e-10)


@pytest.mark.parametrize('dissipation', [False, True])
def test_forward_and_hybrid_undo_inverse(case: Case, dissipation: bool) -> None:
    case, order = twin(case, dissipation), 10
    motion, external = random_motion(case, order), random_wrenches(case, order)
    d, (v, a) = case.dynamics, (motion[0], motion[1:])
    tau = d.inverse.time_derivatives(case.q, v, a, external)
    tolerance = 1e-11 * np.abs(tau).max(axis=1, keepdims=True)
    found = d.forward.time_derivatives(case.q, v, tau, external, max_error=math.inf)
    assert (np.abs(found - a) <= tolerance).all()
    for given in (np.zeros(len(v), bool), np.ones(len(v), bool), case.rng.random(len(v)) < 0.5):
        got = d.hybrid.time_derivatives(case.q, v, given, np.where(given, a, np.nan),
                                        np.where(given, np.nan, tau), external,
                                        max_error=math.inf)
        np.testing.assert_array_equal(got[0][:, given], a[:, given])
        np.testing.assert_array_equal(got[1][:, ~given], tau[:, ~given])
        assert (np.abs(got[0] - a) <= tolerance).all()
        assert (np.abs(got[1] - tau) <= tolerance).all()


def test_hybrid_reduces_to_both(case: Case) -> None:
    motion, tau = random_motion(case, 3), case.rng.normal(size=(4, case.model.nv))
    d, q, v, a = case.dynamics, case.q, motion[0], motion[1:]
    none, every = np.zeros(len(v), dtype=bool), np.ones(len(v), dtype=bool)
    np.testing.assert_array_equal(
        d.hybrid.time_derivatives(q, v, none, a, tau)[0], d.forward.time_derivatives(q, v, tau))
    assert_rows(d.hybrid.time_derivatives(q, v, every, a, tau)[1],
                d.inverse.time_derivatives(q, v, a))


def test_order_zero_is_the_classical_algorithm(case: Case) -> None:
    case = twin(case)
    d, q, v, a, external = case.dynamics, case.q, case.v, case.a, case.external
    tau = d.inverse(q, v, a, external)
    assert_rows(d.inverse.time_derivatives(q, v, [a], external[None]), tau[None])
    np.testing.assert_array_equal(
        d.forward.time_derivatives(q, v, [tau], external[None])[0],
        d.forward(q, v, tau, external))
    # The first rows of a higher order are a lower order.
    motion = random_motion(case, 6)
    assert_rows(d.inverse.time_derivatives(q, v, motion[1:4]),
                d.inverse.time_derivatives(q, v, motion[1:])[:3])


def test_derivatives_are_those_along_the_motion(case: Case) -> None:
    # The order zero of a time later is the sum of the Taylor series.
    case = twin(case)
    order, dt, motion = 10, 2e-3, random_motion(case, 10)
    tau = case.dynamics.inverse.time_derivatives(case.q, motion[0], motion[1:])
    powers = np.cumprod([1.0] + [dt / k for k in range(1, order + 2)])
    q, steps = case.q, 400
    for s in range(steps):  # midpoint steps, exact to second order
        t = (s + 0.5) * dt / steps
        rate = np.cumprod([1.0] + [t / k for k in range(1, order + 2)]) @ motion
        q = case.model.integrate(q, rate * dt / steps)
    later = case.dynamics.inverse(q, powers @ motion, powers[:-1] @ motion[1:])
    np.testing.assert_allclose(powers[:-1] @ tau, later, atol=1e-8 * np.abs(tau[0]).max())


def test_damping_has_derivatives_and_friction_none(case: Case) -> None:
    model, motion = case.model, random_motion(case, 3)
    extra = (twin(case).dynamics.inverse.time_derivatives(case.q, motion[0], motion[1:])
             - case.dynamics.inverse.time_derivatives(case.q, motion[0], motion[1:]))
    expected = model.link_table.damping * motion[:4]
    expected[0] += model.link_table.friction * np.sign(motion[0])
    assert_rows(extra, expected, 1e-9)


STATES, ORDER = 83, 4  # more than one share, and no multiple of the lanes


@pytest.fixture
def tree() -> Case:
    """Return a floating machine with damping and friction."""
    return make_case(0, True, dissipation=True)


@pytest.fixture
def states(tree: Case) -> tuple[Array, Array, Array]:
    """Return configurations, motions and wrenches."""
    rng, model = tree.rng, tree.model
    return (np.array([model.random(rng) for _ in range(STATES)]),
            rng.normal(size=(STATES, ORDER + 2, model.nv)),
            rng.normal(size=(STATES, ORDER + 1, len(model.bodies), 6)))


@pytest.mark.parametrize('with_wrenches', [False, True])
def test_batches_are_single_calls(tree: Case, states: tuple, with_wrenches: bool) -> None:
    d, (q, motion, external) = tree.dynamics, states
    every = external if with_wrenches else None
    one = [external[s] if with_wrenches else None for s in range(STATES)]
    given = tree.rng.random(tree.model.nv) < 0.5
    v, a = motion[:, 0].copy(), motion[:, 1:].copy()
    tau = d.inverse.time_derivatives_batch(q, v, a, every)
    forward = d.forward.time_derivatives_batch(q, v, tau, every)
    hybrid = d.hybrid.time_derivatives_batch(q, v, given, a, tau, every)
    for s in range(STATES):
        single = d.inverse.time_derivatives(q[s], v[s], a[s], one[s])
        for batched, wanted in zip(tau[s], single):  # lanes round otherwise, and sums cancel
            assert_same(batched, wanted, 1e-12)
        size = 1e-11 * np.abs(tau[s]).max()
        np.testing.assert_allclose(
            forward[s], d.forward.time_derivatives(q[s], v[s], tau[s], one[s]), atol=size)
        wanted = d.hybrid.time_derivatives(q[s], v[s], given, a[s], tau[s], one[s])
        np.testing.assert_allclose([hybrid[0][s], hybrid[1][s]], wanted, atol=size)


def test_wrenches_of_one_batch_do_not_reach_the_next(tree: Case, states: tuple) -> None:
    d, (q, motion, external) = tree.dynamics, states
    v, a = motion[:, 0], motion[:, 1:]
    before = d.inverse.time_derivatives_batch(q, v, a)
    for order in (ORDER, 1):
        d.inverse.time_derivatives_batch(q, v, a[:, :order + 1], external[:, :order + 1])
    np.testing.assert_array_equal(d.inverse.time_derivatives_batch(q, v, a), before)


@pytest.mark.parametrize('count', [0, 1, 8, 9])
def test_any_number_of_states(tree: Case, states: tuple, count: int) -> None:
    d, (q, motion, _) = tree.dynamics, states
    q, v = q[:count], motion[:count, 0]
    tau = d.inverse.time_derivatives_batch(q, v, motion[:count, 1:])
    a = d.forward.time_derivatives_batch(q, v, tau)
    assert tau.shape == a.shape == (count, ORDER + 1, tree.model.nv)
    np.testing.assert_allclose(a, motion[:count, 1:], atol=1e-6)


def test_cores_where_the_system_tells_not_which_may_be_used(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, 'sched_getaffinity', raising=False)  # as on macOS and Windows
    monkeypatch.setattr(os, 'cpu_count', lambda: 7)
    assert usable_cores() == 7
    monkeypatch.setattr(os, 'cpu_count', lambda: None)  # not known
    assert usable_cores() == 1


def test_order_zero_is_the_batch_of_dynamics(tree: Case, states: tuple) -> None:
    d, (q, motion, _) = tree.dynamics, states
    v, tau = motion[:, 0].copy(), motion[:, 1].copy()
    np.testing.assert_array_equal(
        d.forward.time_derivatives_batch(q, v, tau[:, None])[:, 0], d.forward.batch(q, v, tau))


def test_refusals_name_the_state(tree: Case, states: tuple) -> None:
    d, (q, motion, external) = tree.dynamics, states
    bad_q, bad, wild = q.copy(), motion.copy(), external.copy()
    bad_q[17, 3:7] *= 1.01
    bad[20, 2, 1] = wild[5, 1, 2, 3] = np.inf
    v, a, bad = motion[:, 0], motion[:, 1:], bad[:, 1:]
    with refused(NotInGroupError, 'q[17]', indices=(3,)):
        d.inverse.time_derivatives_batch(bad_q, v, a)
    with refused(NotFiniteError, 'a', indices=(20, 1, 1)):
        d.inverse.time_derivatives_batch(q, v, bad)
    with refused(NotFiniteError, 'tau[20]', indices=(1, 1)):
        d.forward.time_derivatives_batch(q, v, bad)
    with refused(NotFiniteError, 'external[5]', indices=(1, 2, 3)):
        d.inverse.time_derivatives_batch(q, v, a, wild)
    with refused(LimitError, 'a', got=99):
        d.inverse.time_derivatives_batch(q, v, np.zeros((STATES, 99, tree.model.nv)))
    with refused(ShapeError, 'tau'):
        d.hybrid.time_derivatives_batch(q, v, v[0] > 0.0, a, a[:, 1:])
    with refused(ShapeError, 'external'):
        d.inverse.time_derivatives_batch(q, v, a, external[0])
