# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Batches are the single calls, state by state, whatever the number of cores."""

import os

import numpy as np
import pytest
from support.machines.dynamics_cases import Case, make_case
from support.refusals import refused

from liedyn_ros.common.errors import (
    LiedynError, LimitError, NotFiniteError, NotInGroupError, ShapeError)
from liedyn_ros.dynamics.tree.kernels.joints import LARGEST_ANGLE
from liedyn_ros.model.kernels.kinds import REVOLUTE

STATES = 131  # more than one share, and not a multiple of anything


@pytest.fixture
def tree() -> Case:
    """Return a floating machine."""
    return make_case(0, True, dissipation=True)


@pytest.fixture
def states(tree: Case) -> dict[str, np.ndarray]:
    """Return states of motion of the machine."""
    rng, n = tree.rng, tree.model.nv
    return {'q': np.array([tree.model.random(rng) for _ in range(STATES)]),
            'v': rng.normal(size=(STATES, n)), 'a': rng.normal(size=(STATES, n)),
            'external': rng.normal(size=(STATES, len(tree.model.bodies), 6))}


@pytest.mark.parametrize('with_wrenches', [False, True])
def test_batches_are_single_calls(tree: Case, states: dict, with_wrenches: bool) -> None:
    d, (q, v, a, external) = tree.dynamics, states.values()
    one = [external[s] if with_wrenches else None for s in range(STATES)]
    every = external if with_wrenches else None
    tau = d.inverse.batch(q, v, a, every)
    forward = d.forward.batch(q, v, tau, every)
    given = tree.rng.random(tree.model.nv) < 0.5
    hybrid = d.hybrid.batch(q, v, given, np.asfortranarray(a), tau, every)
    for s in range(STATES):
        np.testing.assert_allclose(tau[s], d.inverse(q[s], v[s], a[s], one[s]), atol=1e-12)
        size = 1e-12 * np.abs(tau[s]).max()
        np.testing.assert_allclose(
            forward[s], d.forward(q[s], v[s], tau[s], one[s]), atol=size)
        wanted = d.hybrid(q[s], v[s], given, a[s], tau[s], one[s])
        np.testing.assert_allclose([hybrid[0][s], hybrid[1][s]], wanted, atol=size)


def test_angles_of_many_turns_are_single_calls(tree: Case, states: dict) -> None:
    (q, v, a, _), table = states.values(), tree.model.link_table
    q[4::7, table.qi[table.kind == REVOLUTE][0]] += 2.0 * LARGEST_ANGLE
    tau = tree.dynamics.inverse.batch(q, v, a)
    for s in range(STATES):
        wanted = tree.dynamics.inverse(q[s], v[s], a[s])
        np.testing.assert_allclose(tau[s], wanted, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize('name', [
    'mass_matrix', 'gravity_vector', 'center_of_mass', 'momentum', 'coriolis_matrix'])
def test_batches_of_other_quantities_are_single_calls(tree: Case, states: dict, name: str) -> None:
    q, v = states['q'], states['v']
    given, bad = (q, v) if name in ('momentum', 'coriolis_matrix') else (q,), q.copy()
    one, many = getattr(tree.dynamics, name), getattr(tree.dynamics, f'{name}_batch')
    np.testing.assert_array_equal(many(*given), [one(*row) for row in zip(*given)])
    bad[17, 3:7] *= 1.01
    with refused(NotInGroupError, 'q[17]', indices=(3,)):
        many(bad, *given[1:])
    with refused(ShapeError, 'q'):
        many(*(row[0] for row in given))


def test_many_integrations_are_single_ones(tree: Case, states: dict) -> None:
    q, v = states['q'], states['v']
    np.testing.assert_array_equal(
        tree.model.integrate_batch(q, v), [tree.model.integrate(*row) for row in zip(q, v)])
    with refused(LimitError, 'dv', indices=(3,)):
        tree.model.integrate_batch(q, np.where(np.arange(STATES)[:, None] == 3, 1.7e308, v))
    with refused(ShapeError, 'dv'):
        tree.model.integrate_batch(q, v[:2])


def test_wrenches_of_one_batch_do_not_reach_the_next(tree: Case, states: dict) -> None:
    d, (q, v, a, external) = tree.dynamics, states.values()
    before = d.inverse.batch(q, v, a)
    for _ in range(os.cpu_count()):  # each core's tables have their turn
        d.inverse.batch(q, v, a, external)
    np.testing.assert_array_equal(d.inverse.batch(q, v, a), before)


def test_empty_batches_are_fine(tree: Case) -> None:
    nq, nv = tree.model.nq, tree.model.nv
    assert tree.dynamics.inverse.batch(
        np.empty((0, nq)), np.empty((0, nv)), np.empty((0, nv))).shape == (0, nv)


def test_refusals_name_the_state(tree: Case, states: dict) -> None:
    d, (q, v, a, external) = tree.dynamics, states.values()
    given = np.zeros(tree.model.nv, dtype=bool)
    bad_q, bad_v, bad_a = q.copy(), v.copy(), a.copy()
    bad_q[17, 3:7] *= 1.01
    bad_v[4, 2] = bad_a[20, 1] = np.inf
    with refused(NotInGroupError, 'q[17]', indices=(3,)):
        d.inverse.batch(bad_q, v, a)
    with refused(NotFiniteError, 'v[4]', indices=(2,)):
        d.forward.batch(q, bad_v, a)
    with refused(NotFiniteError, 'tau[20]', indices=(1,)):
        d.hybrid.batch(q, v, given, a, bad_a)
    d.hybrid.batch(q, v, given, bad_a, a)  # what is not given is not read
    with refused(ShapeError, 'q'):
        d.inverse.batch(q[0], v, a)
    with refused(LiedynError, 'q'):
        d.inverse.batch([[0.0], [0.0, 1.0]], v, a)
    with refused(ShapeError, 'a'):
        d.inverse.batch(q, v, a[1:])
    with refused(ShapeError, 'external'):
        d.inverse.batch(q, v, a, external[0])
