# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Jacobians of inverse, forward and hybrid dynamics beside differences, Pinocchio, each other."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, make_case, TREES
from support.machines.random_models import random_model
from support.refusals import refused
from support.witnesses.tangents import difference, tangent_derivatives

from liedyn_ros.common.errors import (
    LiedynError, LimitError, NotFiniteError, ShapeError, SingularError)
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import JOINT_TYPES, ModelBuilder

TOLERANCE = 1e-12  # of the largest entry, between exact results
DIFFERENCES = 1e-9


@pytest.fixture(params=TREES[:4], ids=str)
def damped(request) -> Case:
    """Return a machine with damping and friction, at rates away from where friction jumps."""
    case = make_case(*request.param, dissipation=True)
    return case._replace(v=case.v + 0.1 * np.sign(case.v))


def test_inverse_beside_differences(damped: Case) -> None:  # (Kim Table 5)
    d, model, q, v, a, w = damped.dynamics, *damped[:1], *damped[2:6]
    got = d.inverse.partial_derivatives(q, v, a, w)
    units = np.eye(model.nv)
    assert_same(got.by_q, tangent_derivatives(
        model, q, lambda at: d.inverse(at, v, a, w)).T, DIFFERENCES)
    assert_same(got.by_v, np.transpose([
        difference(lambda s, e=e: d.inverse(q, v + s * e, a, w)) for e in units]), DIFFERENCES)
    assert_same(got.by_a, d.mass_matrix(q), TOLERANCE)
    assert_same(got.by_gravity, np.transpose([
        d_gravity(damped, e) for e in np.eye(3)]), TOLERANCE)


def d_gravity(case: Case, direction):
    """Return the derivative of tau by gravity, which is linear: the difference of two models."""
    from dataclasses import replace
    forces = []
    for sign in (1.0, -1.0):
        table = replace(case.model.link_table, gravity=case.model.gravity + sign * direction)
        moved = Dynamics(replace(case.model, link_table=table), dissipation=False)
        forces.append(moved.inverse(case.q, case.v, case.a))
    return 0.5 * (forces[0] - forces[1])


def test_forward_beside_differences(damped: Case) -> None:  # (Kim Table 6, 7)
    d, model, q, v, w = damped.dynamics, damped.model, damped.q, damped.v, damped.external
    tau = d.inverse(q, v, damped.a, w)
    got, units = d.forward.partial_derivatives(q, v, tau, w), np.eye(model.nv)
    assert_same(got.a, damped.a, 1e-11)
    assert_same(got.by_q, tangent_derivatives(
        model, q, lambda at: d.forward(at, v, tau, w), 1e-3).T, DIFFERENCES)
    assert_same(got.by_v, np.transpose([
        difference(lambda s, e=e: d.forward(q, v + s * e, tau, w)) for e in units]), DIFFERENCES)
    assert_same(got.by_tau @ d.mass_matrix(q), units, 1e-10)


def test_forward_is_the_inverse_of_inverse(damped: Case) -> None:
    d, state, w = damped.dynamics, (damped.q, damped.v), damped.external
    tau = d.inverse(*state, damped.a, w)
    back, ahead = (d.inverse.partial_derivatives(*state, damped.a, w),
                   d.forward.partial_derivatives(*state, tau, w))
    for name in ('by_q', 'by_v', 'by_gravity'):
        wanted = getattr(back, name)
        assert_same(-back.by_a @ getattr(ahead, name), wanted, 1e-10)


def test_wrenches_on_bodies(damped: Case) -> None:
    d, q, v, a = damped.dynamics, damped.q, damped.v, damped.a
    by = d.inverse.partial_derivatives.by_external(q)
    change = d.inverse(q, v, a, damped.external) - d.inverse(q, v, a)
    assert_same(np.einsum('kbc,bc->k', by, damped.external), change, 1e-11)
    tau = d.inverse(q, v, a)
    by = d.forward.partial_derivatives(q, v, tau).by_parameters(by)
    change = d.forward(q, v, tau, damped.external) - a
    assert_same(np.einsum('kbc,bc->k', by, damped.external), change, 1e-10)


def test_products_are_those_of_the_jacobians(damped: Case) -> None:
    d, state, w, n = damped.dynamics, (damped.q, damped.v), damped.external, damped.model.nv
    dq, dv, du, y = damped.rng.normal(size=(4, n))
    tau = d.inverse(*state, damped.a, w)
    for partial, given, names in (
            (d.inverse.partial_derivatives, damped.a, ('by_q', 'by_v', 'by_a')),
            (d.forward.partial_derivatives, tau, ('by_q', 'by_v', 'by_tau'))):
        full = partial(*state, given, w)
        by_q, by_v, by_u = (getattr(full, name) for name in names)
        assert_same(partial.product(*state, given, dq, dv, du, w),
                    by_q @ dq + by_v @ dv + by_u @ du, 1e-11)
        gradient = partial.gradient(*state, given, y, w)
        for name in names:
            assert_same(getattr(gradient, name), y @ getattr(full, name), 1e-11)


def test_products_undo_each_other(damped: Case) -> None:
    """The change of tau under dq, dv, da, as a change of tau, changes a by da again."""
    d, state, w, n = damped.dynamics, (damped.q, damped.v), damped.external, damped.model.nv
    dq, dv, da, y = damped.rng.normal(size=(4, n))
    tau = d.inverse(*state, damped.a, w)
    back, ahead = d.inverse.partial_derivatives, d.forward.partial_derivatives
    dtau = back.product(*state, damped.a, dq, dv, da, w)
    assert_same(ahead.product(*state, tau, dq, dv, dtau, w), da, 1e-10)
    # y . da is minus the change of (M^-1 y) . tau under dq and dv alone.
    a, by_q, by_v, by_tau = ahead.gradient(*state, tau, y, w)
    assert_same(a, damped.a, 1e-11)
    gradient = back.gradient(*state, damped.a, by_tau, w)
    assert_same(gradient.by_q, -by_q, 1e-10)
    assert_same(gradient.by_v, -by_v, 1e-10)
    assert_same(gradient.by_a, y, 1e-10)


@pytest.mark.parametrize('share', (0.0, 0.5, 1.0))
def test_hybrid_beside_differences(damped: Case, share: float) -> None:
    d, model, q, v, w = damped.dynamics, damped.model, damped.q, damped.v, damped.external
    which = damped.rng.random(model.nv) < share
    tau = d.inverse(q, v, damped.a, w)
    given = np.where(which, damped.a, tau)

    def solve(at=q, rate=v, known=given):
        return np.hstack(d.hybrid(at, rate, which, known, known, w))

    got, units = d.hybrid.partial_derivatives(q, v, which, damped.a, tau, w), np.eye(model.nv)
    assert_same(np.hstack(got[:2]), np.hstack((damped.a, tau)), 1e-11)
    for ours, wanted in (
            ((got.a_by_q, got.tau_by_q), tangent_derivatives(model, q, solve, 1e-3)),
            ((got.a_by_v, got.tau_by_v), [
                difference(lambda s, e=e: solve(rate=v + s * e)) for e in units]),
            ((got.a_by_given, got.tau_by_given), [
                difference(lambda s, e=e: solve(known=given + s * e)) for e in units])):
        assert_same(np.vstack(ours), np.transpose(wanted), DIFFERENCES)


# Pinocchio 4.1 is wrong where S depends on q: universal and SphericalZYX joints.
RIGHT = [name for name in JOINT_TYPES if name not in ('universal', 'planar', 'cylindrical')]


@pytest.mark.parametrize(('seed', 'floating'), TREES[:4])
def test_pinocchio_has_the_same_jacobians(seed: int, floating: bool) -> None:
    pytest.importorskip('pinocchio')
    from support.witnesses.pinocchio_twin import partial_derivatives_of_both, to_pinocchio
    model, rng = random_model(seed, 8, floating, RIGHT), np.random.default_rng(seed)
    twin, d = to_pinocchio(model), Dynamics(model, dissipation=False)
    q, (v, a) = model.random(rng), rng.normal(size=(2, model.nv))
    for ours, theirs in partial_derivatives_of_both(d, twin, q, v, a):
        assert_same(ours, theirs, 1e-10)


def test_refusals(damped: Case) -> None:
    d, q, v, a = damped.dynamics, damped.q, damped.v, damped.a
    partial = d.inverse.partial_derivatives
    with refused(ShapeError, 'v'):
        partial(q, v[1:], a)
    with refused(NotFiniteError, 'a', indices=(0,)):
        partial(q, v, np.full_like(a, np.nan))
    with refused(NotFiniteError, 'y', indices=(0,)):
        partial.gradient(q, v, a, np.full_like(a, np.inf))
    with refused(NotFiniteError, 'dtau', indices=(0,)):
        d.forward.partial_derivatives.product(q, v, a, v, v, np.full_like(a, np.nan))
    with refused(LimitError, 'q', 'v', 'a'):
        partial(q, 1e200 * v, a)


def test_an_earlier_result_is_written_again(damped: Case) -> None:
    d, q, v, a, w = damped.dynamics, damped.q, damped.v, damped.a, damped.external
    for partial in (d.inverse.partial_derivatives, d.forward.partial_derivatives):
        first, wanted = partial(q, a, v), partial(q, v, a, w)
        for state in ((q, v, a), ([*q], [*v], [*a])):
            got = partial(*state, w, out=first)
            assert got is first
            for ours, theirs in zip(got, wanted):
                np.testing.assert_array_equal(ours, theirs)


def test_results_that_cannot_be_written_are_refused(damped: Case) -> None:
    d, q, v, a = damped.dynamics, damped.q, damped.v, damped.a
    inverse, forward = d.inverse.partial_derivatives, d.forward.partial_derivatives
    one, other = inverse(q, v, a), forward(q, v, a)
    with refused(LiedynError, 'out', got='ForwardJacobians'):
        inverse(q, v, a, out=other)
    for partial, result in ((inverse, one), (forward, other)):
        for name in ('by_q', 'by_gravity'):
            with refused(ShapeError, 'out'):
                partial(q, v, a, out=result._replace(**{name: np.zeros((2, 3))}))
        with refused(ShapeError, 'out', 'v'):
            partial(q, result.by_v[0], a, out=result)
        with refused(ShapeError, 'out'):
            partial(q, v, a, out=result._replace(by_v=result.by_q))
    with refused(ShapeError, 'out'):
        forward(q, v, a, out=other._replace(a=np.zeros(1)))


def test_massless_joints_are_named() -> None:
    builder = ModelBuilder('empty')
    builder.add_body('nothing', None)
    builder.add_joint('loose', 'revolute', None, 'nothing', axis=(0, 0, 1))
    d = Dynamics(builder.build())
    with refused(SingularError, 'loose', indices=(0,)):
        d.forward.partial_derivatives([0.0], [0.0], [1.0])
    assert d.inverse.partial_derivatives([0.0], [0.0], [1.0]).by_a == 0.0


def test_an_empty_machine() -> None:
    builder = ModelBuilder('rock')
    builder.add_body('rock', None)
    builder.add_joint('ground', 'fixed', None, 'rock')
    d = Dynamics(builder.build())
    assert d.inverse.partial_derivatives([], [], []).by_q.shape == (0, 0)
    assert d.forward.partial_derivatives([], [], []).a.shape == (0,)
