# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives of machines with closed loops: time derivatives, Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.loop_states import ALL, EVERY, state
from support.machines.looped_machines import planar_linkage, random_looped
from support.refusals import ANY, refused
from support.witnesses.tangents import difference

from liedyn_ros.common.errors import LiedynError, ModelError, SingularError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, LEAST_FORCE, LEAST_TORQUE, project
from liedyn_ros.dynamics.linearization import linearize


@pytest.mark.parametrize('name', ALL)
def test_along_the_motion_they_make_the_time_derivatives(name: str) -> None:
    dynamics, q, v, tau, w, _ = state(ALL[name])
    got = dynamics.forward.partial_derivatives(q, v, tau[0], external=w)
    wanted = dynamics.forward(q, v, tau, external=np.stack([w, np.zeros_like(w)]))
    assert_same(got.a, wanted.a[0], 1e-11)
    assert_same(got.by_q @ v + got.by_v @ got.a + got.by_tau @ tau[1], wanted.a[1], 1e-9)
    assert_same(got.multipliers_by_q @ v + got.multipliers_by_v @ got.a
                + got.multipliers_by_tau @ tau[1], wanted.multipliers[1], 1e-9)


@pytest.mark.parametrize('name', ALL)
def test_the_kernel_of_order_zero_is_the_series_cut_there(name: str) -> None:
    dynamics, q, v, tau, w, rng = state(ALL[name])
    calls = dynamics.forward.partial_derivatives
    for off, closed in ((0.0, True), (1e-3, False)):  # Newton's first steps are off the loops
        at = dynamics.model.integrate(q, off * rng.normal(size=len(v)))
        got = calls(at, v, tau[0], external=w, closed=closed)
        wanted = calls.time_derivatives(at, v, tau[:1], external=w[None], closed=closed)
        for each, series in zip(got[:-1], wanted):  # by_gravity is of one order alone
            assert_same(each, series.reshape(each.shape), 1e-9)


@pytest.mark.parametrize('redundancy', (LEAST_TORQUE, LEAST_FORCE))
@pytest.mark.parametrize('name', ALL)
def test_inverse_along_the_motion(name: str, redundancy: str) -> None:
    dynamics, q, v, given, w, rng = state(ALL[name])
    n = dynamics.model.nv
    a = dynamics.forward(q, v, rng.normal(size=(2, n))).a
    # Passive is a joint that the loops move.
    actuated = np.arange(n) != np.linalg.norm(dynamics.jacobian(q), axis=0).argmax()
    options = {'actuated': actuated, 'redundancy': redundancy,
               'weights': 0.5 + rng.random(dynamics.m if redundancy == LEAST_FORCE else n)}
    got = dynamics.inverse.partial_derivatives(
        q, v, a[0], tau=given[0], external=w, **options)
    wanted = dynamics.inverse(
        q, v, a, tau=given, external=np.stack([w, np.zeros_like(w)]), **options)
    assert_same(got.tau, wanted.tau[0], 1e-10)
    assert_same(got.by_q @ v + got.by_v @ a[0] + got.by_a @ a[1] + got.by_tau @ given[1],
                wanted.tau[1], 1e-9)
    assert_same(got.multipliers_by_q @ v + got.multipliers_by_v @ a[0]
                + got.multipliers_by_a @ a[1] + got.multipliers_by_tau @ given[1],
                wanted.multipliers[1], 1e-9)


@pytest.mark.parametrize('share', (0.0, 0.3, 1.0))
@pytest.mark.parametrize('name', ALL)
def test_hybrid_along_the_motion(name: str, share: float) -> None:
    dynamics, q, v, _, w, rng = state(ALL[name])
    n = dynamics.model.nv
    motion = dynamics.forward(q, v, rng.normal(size=(2, n)))
    known = rng.random(n) < share
    got = dynamics.hybrid.partial_derivatives(
        q, v, known, motion.a[0], motion.tau[0], external=w)
    wanted = dynamics.hybrid(q, v, known, motion.a, motion.tau,
                             external=np.stack([w, np.zeros_like(w)]))
    given = np.where(known, motion.a[1], motion.tau[1])
    for ours, theirs in ((got[2:5], wanted.a), (got[5:8], wanted.tau),
                         (got[10:], wanted.multipliers)):
        terms = np.array([ours[0] @ v, ours[1] @ got.a, ours[2] @ given])
        rounding = 1e-11 * np.abs(terms).max()  # they may cancel all but a thousandth
        np.testing.assert_allclose(terms.sum(axis=0), theirs[1], rtol=0.0, atol=rounding
                                   + 1e-9 * max(1.0, np.abs(theirs[1]).max()))


@pytest.mark.parametrize('name', ALL)
def test_forward_undoes_inverse(name: str) -> None:
    """Forces that change as the change of a motion asks change it so."""
    dynamics, q, v, tau, w, _ = state(ALL[name])
    a, everything = dynamics.forward(q, v, tau, external=np.stack([w, w])).a, np.ones(
        dynamics.model.nv, dtype=bool)
    back = dynamics.inverse.partial_derivatives(
        q, v, a[0], actuated=everything, external=w)
    ahead = dynamics.forward.partial_derivatives(q, v, back.tau, external=w)
    assert_same(ahead.a, a[0], 1e-9)
    forces = back.by_q @ v + back.by_v @ a[0]
    for rate in (ahead.by_q @ v + ahead.by_v @ a[0] + ahead.by_tau @ tau[1], a[1]):
        assert_same(ahead.by_q @ v + ahead.by_v @ a[0]
                    + ahead.by_tau @ (forces + back.by_a @ rate), rate, 1e-9)
    for free in np.linalg.svd(dynamics.jacobian(q))[2][dynamics.mobility.rank:]:
        assert_same(ahead.by_tau @ back.by_a @ free, free, 1e-9)


def test_pinocchio_has_the_same_derivatives() -> None:
    """Along displacements that keep the constraints, off which the two continue differently."""
    pin = pytest.importorskip('pinocchio')
    from support.witnesses.pinocchio_twin import to_pinocchio  # which imports pinocchio
    looped = random_looped(80, ('weld',), 10, ('revolute', 'prismatic', 'spherical'),
                           floating=True)
    model, closure = looped.model, looped.model.closures[0]
    dynamics, rng = ConstrainedDynamics(model, dissipation=False), np.random.default_rng(9)
    q, v = project(dynamics, looped.q, rng.normal(size=model.nv))
    a, twin = dynamics.forward(q, v, rng.normal(size=model.nv)).a, to_pinocchio(model)
    back = dynamics.inverse.partial_derivatives(
        q, v, a, actuated=np.ones(model.nv, dtype=bool))
    tau, sides = back.tau, []
    for body, frame in ((closure.body_b, closure.frame_b), (closure.body_a, closure.frame_a)):
        place = twin.model.frames[twin.model.getFrameId(body)]
        sides += [place.parentJoint, place.placement * pin.SE3(frame)]
    constraints, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    constraints.append(pin.RigidConstraintModel(
        pin.ContactType.CONTACT_6D, twin.model, *sides, pin.LOCAL))
    datas.append(constraints[0].createData())
    data = twin.model.createData()
    pin.initConstraintDynamics(twin.model, data, constraints, datas)
    there = twin.to_configuration(q), twin.to_velocity(v), twin.to_velocity(tau)
    pin.constraintDynamics(twin.model, data, *there, constraints, datas,
                           pin.ProximalSettings(1e-14, 1e-14, 50))
    pin.computeConstraintDynamicsDerivatives(twin.model, data, constraints, datas)
    theirs = [twin.from_velocity(twin.from_velocity(x.T).T) for x in (
        data.ddq_dq, data.ddq_dv, data.ddq_dtau)]
    got = dynamics.forward.partial_derivatives(q, v, tau)
    assert_same(got.by_tau, theirs[2], 1e-7)
    assert_same(got.by_v, theirs[1], 1e-7)
    known = np.arange(model.nv) < 3
    mixed = dynamics.hybrid.partial_derivatives(q, v, known, got.a, tau)
    allowed = np.linalg.svd(dynamics.jacobian(q))[2][dynamics.m:].T
    # The velocity keeps the constraints too: dv makes up for what a displacement does to A v.
    for x in allowed.T:
        def off(s, x=x):
            return dynamics.jacobian(model.integrate(q, s * x)) @ v
        change = np.linalg.lstsq(dynamics.jacobian(q), -difference(off), rcond=None)[0]
        moved = theirs[0] @ x + theirs[1] @ change
        assert_same(got.by_q @ x + got.by_v @ change, moved, 1e-6)
        # A motion that changes so takes no change of forces but what the constraints bear.
        forces = back.by_q @ x + back.by_v @ change + back.by_a @ moved
        assert_same(theirs[2] @ forces, np.zeros_like(v), 1e-6, floor=1.0)
        asked = np.where(known, moved, 0.0)
        assert_same(mixed.a_by_q @ x + mixed.a_by_v @ change + mixed.a_by_given @ asked,
                    moved, 1e-6)
        assert_same(mixed.tau_by_q @ x + mixed.tau_by_v @ change + mixed.tau_by_given @ asked,
                    np.zeros_like(v), 1e-6, floor=1.0)


def test_linear_models() -> None:
    """Of a machine with loops, along its motion; of a tree, the same as linearize has."""
    dynamics, q, v, tau, _, _ = state(EVERY['balls'])
    found, n = linearize(dynamics, q, v, tau[0]), dynamics.model.nv
    wanted = dynamics.forward(q, v, tau)
    rate = found.A @ np.hstack([v, wanted.a[0]]) + found.B @ tau[1]
    assert_same(rate[n:], wanted.a[1], 1e-9)
    tree = EVERY['rod'].model
    free = ConstrainedDynamics(replace(tree, closures=()))
    at = EVERY['rod'].q, np.ones(tree.nv), np.zeros(tree.nv)
    for mine, other in zip(linearize(free, *at), linearize(free.tree, *at)):
        assert_same(mine, other, 1e-10)


def test_refusals() -> None:
    dynamics, q, v, tau, _, rng = state(EVERY['revolute'])
    with refused(LiedynError, ANY, expected=0.0):
        dynamics.forward.partial_derivatives(
            dynamics.model.integrate(q, rng.normal(size=len(v))), v, tau[0])
    with refused(ModelError, ANY, got=7):
        dynamics.inverse.partial_derivatives(
            q, v, dynamics.forward(q, v, tau[0]).a,
            actuated=np.zeros(len(v), dtype=bool))
    with refused(SingularError, 'prescribed'):
        dynamics.hybrid.partial_derivatives(
            q, v, np.ones(len(v), dtype=bool), rng.normal(size=len(v)), tau[0])
    flat = ConstrainedDynamics(planar_linkage((0.2, 0.3), (0.4,), 0.1, ('left_0',)))
    stretched = np.array([0.0, 0.0, 0.0])  # all bars on one line: 0.2 + 0.3 = 0.1 + 0.4
    with refused(SingularError, 'q', got=1):
        flat.forward.partial_derivatives(stretched, np.zeros(3), np.zeros(3))
    with refused(SingularError, 'q', got=1):
        flat.inverse.partial_derivatives(
            stretched, np.zeros(3), np.zeros(3), actuated=np.ones(3, dtype=bool))
