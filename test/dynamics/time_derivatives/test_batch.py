# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Batches of derivatives, in vector lanes and threads, are the single calls."""

import os

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, make_case
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, NotFiniteError, NotInGroupError, ShapeError
from liedyn_ros.dynamics.batch.pool import usable_cores

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
