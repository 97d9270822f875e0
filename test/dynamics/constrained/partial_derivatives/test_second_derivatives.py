# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
All second derivatives of machines with closed loops.

Witnesses are the Jacobians of the next time derivative, which hold the second derivatives along
the motion. Others are differences beside the constraints, and trees without loops.
"""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.loop_states import ALL, state
from support.machines.looped_machines import planar_linkage
from support.machines.random_models import random_model
from support.refusals import ANY, refused
from support.witnesses.tangents import difference

from liedyn_ros.common.errors import LiedynError, ShapeError, SingularError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.batch import pool
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, LEAST_FORCE, LEAST_TORQUE
from liedyn_ros.dynamics.constrained.partial_derivatives import states
from liedyn_ros.dynamics.partial_derivatives import many_states

SOME = ('revolute', 'rod', 'gears', 'balls', 'floating')


def actuated(dynamics, q):
    """Return actuators of all joints but one that the loops move."""
    return np.arange(dynamics.model.nv) != np.linalg.norm(dynamics.jacobian(q), axis=0).argmax()


def along(second, first, dq, dv):
    """Return how by_q and by_v change along the motion, before a and tau' count."""
    by_qq, by_qv, by_vv = second
    return (np.einsum('ikj,k->ij', by_qq, dq) + np.einsum('ijk,k->ij', by_qv, dv),
            np.einsum('ikj,k->ij', by_qv, dq) + np.einsum('ikj,k->ij', by_vv, dv) + first)


@pytest.mark.parametrize('name', ALL)
def test_forward_along_the_motion(name: str) -> None:
    dynamics, q, v, tau, w, _ = state(ALL[name])
    partial = dynamics.forward.partial_derivatives
    external = np.zeros((2, *w.shape))
    external[0] = w
    rates = partial.time_derivatives(q, v, tau, external=external)
    got = partial.second_derivatives(q, v, tau[0], w)
    a, by_v = rates.a[0], rates.by_v[0]
    m_by_v = rates.multipliers_by_v[0]
    for second, first, of_v, wanted in (
            (got[:4], rates.by_q[0], by_v, (rates.by_q, rates.by_v, rates.by_tau)),
            (got[4:], rates.multipliers_by_q[0], m_by_v, (
                rates.multipliers_by_q, rates.multipliers_by_v, rates.multipliers_by_tau))):
        by_q, by_v_rate = along(second[:3], first, v, a)
        by_q += of_v @ rates.by_q[0] + np.einsum('ijk,k->ij', second[3], tau[1])
        by_v_rate += of_v @ by_v
        by_tau = np.einsum('ikj,k->ij', second[3], v) + of_v @ rates.by_tau[0, 0]
        for ours, theirs in zip((by_q, by_v_rate, by_tau), (
                wanted[0][1], wanted[1][1], wanted[2][1, 0])):
            assert_same(ours, theirs, 1e-9)


@pytest.mark.parametrize('name', ALL)
def test_hybrid_along_the_motion(name: str) -> None:
    dynamics, q, v, tau, w, rng = state(ALL[name])
    external, known = np.zeros((2, *w.shape)), rng.random(len(v)) < 0.3
    external[0] = w
    a = dynamics.forward(q, v, tau, external=external).a
    partial, given = dynamics.hybrid.partial_derivatives, np.where(known, a, tau)[1]
    rates = partial.time_derivatives(q, v, known, a, tau, external=external)
    got = partial.second_derivatives(q, v, known, a[0], tau[0], w)
    for k, at in enumerate((2, 5, 10)):  # a, tau, multipliers
        *second, by_qgiven = got[4 * k:4 * k + 4]
        of_q, of_v, of_given = rates[at:at + 3]
        by_q, by_v = along(second, of_q[0], v, a[0])
        assert_same(by_q + of_v[0] @ rates.a_by_q[0] + np.einsum('ijk,k->ij', by_qgiven, given),
                    of_q[1], 1e-9)
        assert_same(by_v + of_v[0] @ rates.a_by_v[0], of_v[1], 1e-9)
        assert_same(np.einsum('ikj,k->ij', by_qgiven, v) + of_v[0] @ rates.a_by_given[0, 0],
                    of_given[1, 0], 1e-9)


@pytest.mark.parametrize('redundancy', (LEAST_TORQUE, LEAST_FORCE))
@pytest.mark.parametrize('name', ALL)
def test_inverse_along_the_motion(name: str, redundancy: str) -> None:
    dynamics, q, v, given, w, rng = state(ALL[name])
    a = dynamics.forward(q, v, rng.normal(size=given.shape)).a
    weighed = len(v) if redundancy == LEAST_TORQUE else dynamics.m
    options = {'actuated': actuated(dynamics, q), 'weights': 0.5 + rng.random(weighed),
               'redundancy': redundancy}
    partial = dynamics.inverse.partial_derivatives
    external = np.zeros((2, *w.shape))
    external[0] = w
    rates = partial.time_derivatives(q, v, a, tau=given, external=external, **options)
    got = partial.second_derivatives(q, v, a[0], w, tau=given[0], **options)
    for second, now, wanted in (
            (got[:5], (rates.by_q[0], rates.by_v[0]),
             (rates.by_q, rates.by_v, rates.by_a, rates.by_tau)),
            (got[5:], (rates.multipliers_by_q[0], rates.multipliers_by_v[0]),
             (rates.multipliers_by_q, rates.multipliers_by_v, rates.multipliers_by_a,
              rates.multipliers_by_tau))):
        by_q, by_v = along(second[:3], now[0], v, a[0])
        by_q += (np.einsum('ijk,k->ij', second[3], a[1])
                 + np.einsum('ijk,k->ij', second[4], given[1]))
        by_a = np.einsum('ikj,k->ij', second[3], v) + now[1]
        by_tau = np.einsum('ikj,k->ij', second[4], v)
        for ours, theirs in zip((by_q, by_v, by_a, by_tau), (
                wanted[0][1], wanted[1][1], wanted[2][1, 0], wanted[3][1, 0])):
            assert_same(ours, theirs, 1e-9, floor=1e-3)


@pytest.mark.parametrize('name', SOME)
def test_beside_differences_in_any_direction(name: str) -> None:
    dynamics, q, v, (tau, _), w, rng = state(ALL[name])
    partial = dynamics.forward.partial_derivatives
    got = partial.second_derivatives(q, v, tau, w, closed=False)
    dq, dv, dtau = rng.normal(size=(3, len(v)))

    def jacobians(s):
        found = partial(dynamics.model.integrate(q, s * dq), v + s * dv, tau + s * dtau, w,
                        closed=False)
        return np.hstack([np.vstack([found[1 + k], found[5 + k]]) for k in range(3)])

    wanted = np.split(difference(jacobians, 1e-3), 3, axis=1)
    by_qq, by_qv, by_vv, by_qtau = (
        np.vstack(pair) for pair in zip(got[:4], got[4:], strict=True))
    assert_same(by_qq @ dq + by_qv @ dv + by_qtau @ dtau, wanted[0], 1e-8)
    assert_same(np.einsum('ikj,k->ij', by_qv, dq) + by_vv @ dv, wanted[1], 1e-8)
    assert_same(np.einsum('ikj,k->ij', by_qtau, dq), wanted[2], 1e-8)


def test_without_loops_they_are_those_of_the_tree() -> None:
    rng = np.random.default_rng(3)
    model = random_model(3, 5, floating=True)
    dynamics = ConstrainedDynamics(model)
    q, v, tau = model.random(rng), *rng.normal(size=(2, model.nv))
    got = dynamics.forward.partial_derivatives.second_derivatives(q, v, tau)
    tree = Dynamics(model).forward.partial_derivatives.second_derivatives(q, v, tau)
    for ours, theirs in zip(got[:4], tree, strict=True):
        assert_same(ours, theirs, 1e-10)


def test_a_lost_constraint_is_refused() -> None:
    flat = ConstrainedDynamics(planar_linkage((0.2, 0.3), (0.4,), 0.1, ('left_0',)))
    stretched = np.zeros(3)
    with refused(SingularError, 'q', got=1):
        flat.forward.partial_derivatives.second_derivatives(stretched, stretched, stretched)


NAMES = 'revolute', 'bennett', 'floating', 'gears'


@pytest.mark.parametrize('name', NAMES)
def test_each_state_is_as_alone(name: str) -> None:
    dynamics, q, v, tau, w, rng = state(ALL[name])
    n = dynamics.model.nv
    a = dynamics.forward(q, v, tau[0], w).a
    y, external = rng.normal(size=(2, n)), np.stack([w, np.zeros_like(w)])
    two = {'q': np.stack([q, q]), 'v': np.stack([v, 0.0 * v]), 'a': np.stack([a, 0.0 * a]),
           'tau': tau[:2]}
    known = np.ones(n, dtype=bool)  # prescribed, as a mask for all states
    cases = ((dynamics.forward, ('q', 'v', 'tau'), ()),
             (dynamics.inverse, ('q', 'v', 'a'), ()),
             (dynamics.hybrid, ('q', 'v', 'a', 'tau'), (2, known)))
    for algorithm, names, mask in cases:
        calls, rows = algorithm.partial_derivatives, [two[each] for each in names]
        options = {'actuated': known} if algorithm is dynamics.inverse else {}

        def arguments(given, mask=mask):
            return [*given[:mask[0]], mask[1], *given[mask[0]:]] if mask else given

        for of_one, of_many, more in ((calls, calls.batch, []),
                                      (calls.gradient, calls.gradient_batch, [y])):
            found = of_many(*arguments([*rows, *more]), external=external, **options)
            for s in range(2):
                wanted = of_one(*arguments([each[s] for each in (*rows, *more)]),
                                external=external[s], **options)
                assert type(found) is type(wanted)
                for both, one in zip(found, wanted):
                    np.testing.assert_array_equal(both[s], one)


def test_threads_share_many_states(monkeypatch) -> None:
    dynamics, q, v, _, w, rng = state(ALL['bennett'])
    monkeypatch.setattr(pool, 'usable_cores', lambda: 3)
    for module in (states, many_states):
        monkeypatch.setattr(module, 'of_state', None)  # nothing here is Python's
    count = 100
    qs, vs = np.tile(q, (count, 1)), rng.normal(size=(count, 1)) * v
    taus, ys = rng.normal(size=(2, count, dynamics.model.nv))
    ws, calls = np.tile(w, (count, 1, 1)), dynamics.forward.partial_derivatives
    found = calls.batch(qs, vs, taus, external=ws), calls.gradient_batch(
        qs, vs, taus, ys, external=ws)
    for s in range(0, count, 7):
        for many, one in zip(found, (calls(qs[s], vs[s], taus[s], w), calls.gradient(
                qs[s], vs[s], taus[s], ys[s], w))):
            for both, alone in zip(many, one):
                np.testing.assert_array_equal(both[s], alone)


def test_what_is_refused_names_the_state() -> None:
    dynamics, q, v, tau, *_ = state(ALL['revolute'])
    batch = dynamics.forward.partial_derivatives.batch
    with refused(LiedynError, ANY) as caught:
        batch([q, q + 0.3], [v, v], tau[:2])
    assert str(caught.value).startswith('[1] ')
    with refused(ShapeError, 'tau'):
        batch([q, q], [v, v], tau[:1])
