# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of a^(k) and tau^(k) of machines with closed loops, to order three.

Witnesses are the next time derivative along the motion, differences of eighth order on and beside
the constraints, and machines that are trees as well.
"""

from dataclasses import replace

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.loop_states import closed, EVERY, Machines, REDUNDANT, state
from support.machines.looped_machines import Looped, planar_linkage, SINGLE
from support.machines.random_models import add_random_joint, random_inertia, random_pose
from support.platforms.stewart_motion import GEOMETRY
from support.refusals import ANY, refused
from support.witnesses.tangents import difference

from liedyn_ros.common.errors import LiedynError, LimitError, ModelError, ShapeError, SingularError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    ConstrainedDynamics, ConstraintFunction, LEAST_FORCE, LEAST_TORQUE)
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import ConstraintRates
from liedyn_ros.dynamics.partial_derivatives.body_jacobian import body_jacobian_hessian
from liedyn_ros.lie import so3
from liedyn_ros.model import ModelBuilder, pose
from liedyn_ros.stewart import model_state, platform_model

ORDER = 3
STEP, TOLERANCE = 2e-4, 1e-9  # of differences of eighth order
REACTION = 1e-8  # of multipliers, whose rounding errors a difference divides by the step
ALL = EVERY | REDUNDANT | Machines({'platform': lambda: Looped(
    platform_model(GEOMETRY), model_state(
        GEOMETRY, pose([0.02, -0.03, 0.5], [0.1, -0.05, 0.2]), np.zeros(6))[0])})
REGULAR = [name for name in ALL if name not in REDUNDANT]


def moving(name: str):
    """Return a machine in a state, forces with one order more, and wrenches that stay."""
    dynamics, q, v, _, w, rng = state(ALL[name])
    external = np.zeros((ORDER + 2, *w.shape))
    external[0] = w
    return dynamics, q, v, rng.normal(size=(ORDER + 2, dynamics.model.nv)), external, rng


def along(by_q, by_v, dq, dv, *further):
    """Return the change of all orders along a direction, of pairs of derivatives and changes."""
    return by_q @ dq + by_v @ dv + sum(
        np.einsum('kjab,jb->ka', by, change) for by, change in further)


def actuated(dynamics, q):
    """Return actuators of all joints but one that the loops move."""
    return np.arange(dynamics.model.nv) != np.linalg.norm(dynamics.jacobian(q), axis=0).argmax()


@pytest.mark.parametrize('name', ALL)
def test_along_the_motion_they_make_the_next_order(name: str) -> None:
    dynamics, q, v, tau, w, _ = moving(name)
    got = dynamics.forward.partial_derivatives.time_derivatives(q, v, tau[:-1], external=w[:-1])
    wanted = dynamics.forward(q, v, tau, external=w)
    assert_same(got.a, wanted.a[:-1], 1e-11)
    assert_same(got.multipliers, wanted.multipliers[:-1], 1e-11)
    assert_same(along(got.by_q, got.by_v, v, got.a[0], (got.by_tau, tau[1:])), wanted.a[1:], 1e-11)
    assert_same(along(got.multipliers_by_q, got.multipliers_by_v, v, got.a[0],
                      (got.multipliers_by_tau, tau[1:])), wanted.multipliers[1:], 1e-11)


@pytest.mark.parametrize('redundancy', (LEAST_TORQUE, LEAST_FORCE))
@pytest.mark.parametrize('name', ALL)
def test_inverse_along_the_motion(name: str, redundancy: str) -> None:
    dynamics, q, v, given, w, rng = moving(name)
    a = dynamics.forward(q, v, rng.normal(size=given.shape)).a
    options = {'actuated': actuated(dynamics, q), 'redundancy': redundancy,
               'weights': 0.5 + rng.random(
                   dynamics.m if redundancy == LEAST_FORCE else len(v))}
    got = dynamics.inverse.partial_derivatives.time_derivatives(
        q, v, a[:-1], tau=given[:-1], external=w[:-1], **options)
    wanted = dynamics.inverse(q, v, a, tau=given, external=w, **options)
    assert_same(got.tau, wanted.tau[:-1], 1e-11)
    for change, (by_q, by_v, by_a, by_tau) in (
            (wanted.tau, (got.by_q, got.by_v, got.by_a, got.by_tau)),
            (wanted.multipliers, (got.multipliers_by_q, got.multipliers_by_v,
                                  got.multipliers_by_a, got.multipliers_by_tau))):
        terms = along(np.abs(by_q), np.abs(by_v), np.abs(v), np.abs(a[0]),
                      (np.abs(by_a), np.abs(a[1:])), (np.abs(by_tau), np.abs(given[1:])))
        assert_same(along(by_q, by_v, v, a[0], (by_a, a[1:]), (by_tau, given[1:])), change[1:],
                    1e-12, terms.max())  # they may cancel


@pytest.mark.parametrize('share', (0.3, 1.0))
@pytest.mark.parametrize('name', ALL)
def test_hybrid_along_the_motion(name: str, share: float) -> None:
    dynamics, q, v, tau, w, rng = moving(name)
    a, known = dynamics.forward(q, v, tau, external=w).a, rng.random(len(v)) < share
    wanted = dynamics.hybrid(q, v, known, a, tau, external=w)
    got = dynamics.hybrid.partial_derivatives.time_derivatives(
        q, v, known, a[:-1], tau[:-1], external=w[:-1])
    given = np.where(known, a, tau)[1:]
    for at, value, part in ((2, got.a, wanted.a), (5, got.tau, wanted.tau),
                            (10, got.multipliers, wanted.multipliers)):
        assert_same(value, part[:-1], 1e-10)
        by_q, by_v, by_given = got[at:at + 3]
        terms = along(np.abs(by_q), np.abs(by_v), np.abs(v), np.abs(a[0]), (
            np.abs(by_given), np.abs(given)))
        change = along(by_q, by_v, v, a[0], (by_given, given))
        for ours, theirs, size in zip(change, part[1:], terms):  # they may cancel
            np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-11 * max(
                1.0, size.max(initial=0.0)))


def test_parameters_of_the_tree_at_every_order() -> None:
    """Forces that grow as those of the tree do: of forward, inverse and hybrid dynamics."""
    dynamics, q, v, tau, w, rng = moving('balls')
    n, known, push = len(v), np.arange(len(v)) == 2, rng.normal(size=(ORDER + 1, len(v)))
    tau, w = tau[:-1], w[:-1]
    ahead = dynamics.forward.partial_derivatives.time_derivatives(q, v, tau, external=w)
    other = dynamics.forward(q, v, tau - push, external=w)  # the equations are linear in these
    a = ahead.by_parameters(push)
    assert_same(a[0], other.a[0] - ahead.a[0])
    assert_same(a.multipliers[0], (other.multipliers - ahead.multipliers)[0])
    assert_same(a, -np.einsum('kjab,jb->ka', ahead.by_tau, push))
    mixed = dynamics.hybrid.partial_derivatives.time_derivatives(
        q, v, known, ahead.a, tau, external=w)
    forces = np.where(known, 0.0, push)
    _, held = mixed.by_parameters(push)
    assert_same(held, np.where(known, push - np.einsum(
        'kjab,jb->ka', mixed.tau_by_given, forces), 0.0))
    assert_same(np.stack(mixed.by_parameters(push[..., None]))[..., 0],
                np.stack(mixed.by_parameters(push)))
    back = dynamics.inverse.partial_derivatives.time_derivatives(
        q, v, ahead.a, actuated=np.ones(n, dtype=bool), external=w)
    assert_same(back.by_parameters(push), np.einsum('kjab,jb->ka', back.by_need, push))


@pytest.mark.parametrize('name', REGULAR)
def test_forward_beside_differences(name: str) -> None:
    """In directions that leave the constraints too, with wrenches that change."""
    dynamics, q, v, tau, w, rng = moving(name)
    tau, w = tau[:-1], rng.normal(size=w[:-1].shape)
    got = dynamics.forward.partial_derivatives.time_derivatives(q, v, tau, external=w)
    dq, dv, dtau = *rng.normal(size=(2, len(v))), rng.normal(size=tau.shape)

    def both(s):
        found = dynamics.forward(dynamics.model.integrate(q, s * dq), v + s * dv, tau + s * dtau,
                                 external=w, closed=False)
        return np.hstack([found.a, found.multipliers])

    wanted = difference(both, STEP)
    for k in range(ORDER + 1):
        change = np.hstack([
            along(got.by_q, got.by_v, dq, dv, (got.by_tau, dtau)),
            along(got.multipliers_by_q, got.multipliers_by_v, dq, dv,
                  (got.multipliers_by_tau, dtau))])
        assert_same(change[k], wanted[k])


@pytest.mark.parametrize('name', ALL)
def test_both_beside_differences_on_the_constraints(name: str) -> None:
    """Along a family of motions that the loops allow, redundant ones too."""
    dynamics, q, v, tau, _, rng = moving(name)
    model, tau = dynamics.model, tau[:-1]
    dq, dv, dtau = *rng.normal(size=(2, len(v))), rng.normal(size=tau.shape)
    options = {'actuated': actuated(dynamics, q), 'tau': rng.normal(size=tau.shape)}

    def motion(s):
        q_s, v_s = closed(dynamics, model.integrate(q, s * dq), v + s * dv)
        there = dynamics.forward(q_s, v_s, tau + s * dtau)
        back = dynamics.inverse(q_s, v_s, there.a, **options)
        return np.hstack([model.difference(q, q_s), v_s, *(
            x.ravel() for x in (there.a, there.multipliers, back.tau, back.multipliers))])

    (n, m), orders = (len(v), dynamics.m), ORDER + 1
    change_q, change_v, a, multipliers, forces, reactions = np.split(
        difference(motion, STEP), np.cumsum([n, n, orders * n, orders * m, orders * n]))
    moved, a = (change_q, change_v), a.reshape(orders, n)
    ahead = dynamics.forward.partial_derivatives.time_derivatives(q, v, tau)
    back = dynamics.inverse.partial_derivatives.time_derivatives(q, v, ahead.a, **options)
    for wanted, tolerance, direction in (
            (a, TOLERANCE, (ahead.by_q, ahead.by_v, *moved, (ahead.by_tau, dtau))),
            (multipliers, REACTION, (ahead.multipliers_by_q, ahead.multipliers_by_v, *moved,
                                     (ahead.multipliers_by_tau, dtau))),
            (forces, TOLERANCE, (back.by_q, back.by_v, *moved, (back.by_a, a))),
            (reactions, REACTION, (back.multipliers_by_q, back.multipliers_by_v, *moved,
                                   (back.multipliers_by_a, a)))):
        wanted = wanted.reshape(orders, -1)
        got, terms = along(*direction), along(*map(np.abs, direction[:-1]), tuple(
            map(np.abs, direction[-1])))
        for k in range(ORDER + 1):  # terms cancel all but a thousandth, or less
            np.testing.assert_allclose(got[k], wanted[k], rtol=0.0, atol=tolerance * max(
                1.0, terms[k].max()))


@pytest.mark.parametrize('name', ALL)
def test_order_zero_is_that_of_one_order(name: str) -> None:
    dynamics, q, v, tau, w, _ = moving(name)
    got = dynamics.forward.partial_derivatives.time_derivatives(q, v, tau[:-1], external=w[:-1])
    wanted = dynamics.forward.partial_derivatives(q, v, tau[0], external=w[0])
    for field in wanted._fields[:-1]:  # by_gravity is of one order alone
        ours = getattr(got, field)[0]
        assert_same(ours[0] if field.endswith('_tau') else ours, getattr(wanted, field), 1e-11)
    assert not got.by_tau[0, 1:].any()
    a, every = got.a, np.ones(len(v), dtype=bool)
    got = dynamics.inverse.partial_derivatives.time_derivatives(q, v, a, actuated=every)
    wanted = dynamics.inverse.partial_derivatives(q, v, a[0], actuated=every)
    for field in got._fields[:-1]:
        ours = getattr(got, field)[0]
        assert_same(ours[0] if field.endswith(('_a', '_tau', '_need')) else ours,
                    getattr(wanted, field), 1e-11)


@pytest.mark.parametrize('name', ALL)
def test_forward_undoes_inverse(name: str) -> None:
    """Forces that change as a change of the motion asks change it so."""
    dynamics, q, v, tau, w, rng = moving(name)
    tau, w, every = tau[:-1], w[:-1], np.ones(len(v), dtype=bool)
    ahead = dynamics.forward.partial_derivatives.time_derivatives(q, v, tau, external=w)
    back = dynamics.inverse.partial_derivatives.time_derivatives(
        q, v, ahead.a, actuated=every, external=w)
    ahead = dynamics.forward.partial_derivatives.time_derivatives(q, v, back.tau, external=w)
    constraints = ConstraintRates(dynamics, q, np.vstack([v, ahead.a]))
    rows, turned = constraints.rows[0], constraints.vary_rows(np.vstack([v, ahead.a]))[0]
    inverse = np.linalg.pinv(rows, rcond=1e-9)
    dq, dv = rng.normal(size=(2, len(v)))
    dq = v + 0.1 * (dq - inverse @ (rows @ dq))
    dv -= inverse @ (rows @ dv + turned @ dq)
    da = along(ahead.by_q, ahead.by_v, dq, dv, (ahead.by_tau, tau))
    forces = along(back.by_q, back.by_v, dq, dv, (back.by_a, da))
    got = along(ahead.by_q, ahead.by_v, dq, dv, (ahead.by_tau, forces))
    for k in range(ORDER + 1):
        assert_same(got[k], da[k], 1e-10)


def test_a_machine_without_loops() -> None:
    """A tree, with spherical joints, and a rock that cannot move."""
    tree, rng = replace(EVERY['balls'].model, closures=()), np.random.default_rng(3)
    q, v, tau = tree.random(rng), rng.normal(size=tree.nv), rng.normal(size=(ORDER + 1, tree.nv))
    dynamics, every = ConstrainedDynamics(tree), np.ones(tree.nv, dtype=bool)
    got = dynamics.forward.partial_derivatives.time_derivatives(q, v, tau)
    wanted = dynamics.tree.forward.partial_derivatives.time_derivatives(q, v, tau)
    back = dynamics.inverse.partial_derivatives.time_derivatives(q, v, got.a, actuated=every)
    needed = dynamics.tree.inverse.partial_derivatives.time_derivatives(q, v, got.a)
    for ours, theirs in ((got, wanted), (back, needed)):
        for field in theirs._fields:
            assert_same(getattr(ours, field), getattr(theirs, field), 1e-10)
    builder = ModelBuilder('rock')
    builder.add_body('rock', None)
    builder.add_joint('ground', 'fixed', None, 'rock')
    got = ConstrainedDynamics(builder.build()).forward.partial_derivatives.time_derivatives(
        [], [], np.zeros((3, 0)))
    assert got.by_q.shape == (3, 0, 0) and got.multipliers_by_tau.shape == (3, 3, 0, 0)


CUTS = (*SINGLE, 'spherical')
NAMES = ('ball_joint', 'hinge_joint', 'end_joint')


@pytest.mark.parametrize('kind', CUTS)
def test_a_joint_that_is_a_closure(kind: str) -> None:
    """A tree, and the same with one joint cut: its body is free there, and a closure holds it."""
    rng = np.random.default_rng(CUTS.index(kind))
    tree, loop, place = ModelBuilder('tree'), ModelBuilder('loop'), random_pose(rng)
    inertias, seed = [random_inertia(rng) for _ in range(4)], int(rng.integers(100))
    pitch = 0.3 if kind == 'helical' else 0.0
    for builder in (tree, loop):
        each = np.random.default_rng(seed)
        for name, inertia in zip(('ball', 'hinge', 'cut', 'end'), inertias):
            builder.add_body(name, inertia)
        add_random_joint(each, builder, 'ball_joint', 'spherical', None, 'ball')
        add_random_joint(each, builder, 'hinge_joint', 'revolute', 'ball', 'hinge')
        if builder is loop:
            builder.add_joint('cut_joint', 'free', None, 'cut')
            builder.add_closure('cut_closure', kind, 'hinge', 'cut', placement_a=place,
                                pitch=pitch)
        elif kind == 'universal':
            builder.add_joint('cut_joint', kind, 'hinge', 'cut', placement=place,
                              axis=[1.0, 0.0, 0.0], second_axis=[0.0, 1.0, 0.0])
        else:
            builder.add_joint('cut_joint', kind, 'hinge', 'cut', placement=place, pitch=pitch,
                              axis=None if kind == 'spherical' else [0.0, 0.0, 1.0])
        add_random_joint(each, builder, 'end_joint', 'revolute', 'cut', 'end')
    assert_same_without_cut(tree.build(), loop.build(), rng)


def assert_same_without_cut(tree, loop, rng) -> None:
    """Require the same accelerations of the coordinates that both have, varying alike."""
    free, dynamics = Dynamics(tree), ConstrainedDynamics(loop)
    ours, theirs = (np.concatenate([np.r_[model.joint(name).v_slice] for name in NAMES])
                    for model in (tree, loop))
    cut = loop.joint('cut_joint')
    q, v = tree.random(rng), rng.normal(size=tree.nv)
    tau, dtau = np.zeros((2, ORDER + 1, tree.nv))
    tau[:, ours], dtau[:, ours] = rng.normal(size=(2, ORDER + 1, len(ours)))
    dq, dv = rng.normal(size=(2, tree.nv))
    body, slopes = free.frames.jacobian(q, 'cut'), body_jacobian_hessian(tree, q, 'cut')
    there, turn = free.kinematics(q).poses[tree.body_index('cut')], np.tensordot(dq, slopes, 1)

    def carried(x, of_cut):
        result = np.zeros(loop.nv)
        result[theirs], result[cut.v_slice] = x[ours], of_cut
        return result

    def pressed(x):
        return np.array([carried(row, np.zeros(6)) for row in x])

    at = loop.neutral()
    for name in NAMES:
        at[loop.joint(name).q_slice] = q[tree.joint(name).q_slice]
    at[cut.q_slice] = np.hstack([there[:3, 3], so3.to_quaternion(there[:3, :3])])
    given, state_of = free.forward.partial_derivatives.time_derivatives(q, v, tau), (
        at, carried(v, body @ v))
    got = dynamics.forward.partial_derivatives.time_derivatives(*state_of, pressed(tau))
    assert_same(got.a[:, theirs], given.a[:, ours])
    changed = along(got.by_q, got.by_v, carried(dq, body @ dq),
                    carried(dv, turn @ v + body @ dv), (got.by_tau, pressed(dtau)))
    wanted = along(given.by_q, given.by_v, dq, dv, (given.by_tau, dtau))
    for k in range(ORDER + 1):
        assert_same(changed[k, theirs], wanted[k, ours])


@pytest.mark.parametrize('redundancy', (LEAST_TORQUE, LEAST_FORCE))
def test_a_machine_that_cannot_move(redundancy: str) -> None:
    builder = ModelBuilder('rock')
    builder.add_body('rock', None)
    builder.add_joint('ground', 'fixed', None, 'rock')
    builder.add_closure('weld', 'weld', None, 'rock')
    dynamics, still = ConstrainedDynamics(builder.build()), np.zeros((3, 0))
    ahead = dynamics.forward.partial_derivatives.time_derivatives([], [], still)
    back = dynamics.inverse.partial_derivatives.time_derivatives(
        [], [], still, redundancy=redundancy)
    for got in (ahead.multipliers_by_q, back.multipliers_by_q):
        assert got.shape == (3, 6, 0)
    assert np.array_equal(ahead.multipliers, back.multipliers)
    assert back.tau.shape == (3, 0)
    by_kinematics = dynamics.forward.partial_derivatives.by_kinematics([], [], [])
    assert by_kinematics.a.by_placement.shape == (0, 1, 6)
    assert by_kinematics.multipliers.by_frame_a.shape == (6, 1, 6)


def test_one_motion_leaves_the_series_of_another_alone() -> None:
    dynamics, q, v, tau, _, _ = state(EVERY['floating'])
    motion = np.vstack([v, dynamics.forward(q, v, tau, closed=False).a])
    ours = ConstraintRates(dynamics, q, motion)
    wanted = ours.vary_rows(motion)
    other = ConstraintRates(dynamics, q, 2.0 * motion)
    assert not np.allclose(other.rows, ours.rows)
    assert np.array_equal(ours.vary_rows(motion), wanted)


def test_refusals() -> None:
    dynamics, q, v, tau, _, rng = moving('revolute')
    with refused(ShapeError, 'tau'):
        dynamics.forward.partial_derivatives.time_derivatives(q, v, tau[0])
    with refused(LimitError, 'a'):
        dynamics.inverse.partial_derivatives.time_derivatives(q, v, np.zeros((40, len(v))))
    with refused(LiedynError, ANY, expected=0.0):
        dynamics.forward.partial_derivatives.time_derivatives(
            dynamics.model.integrate(q, rng.normal(size=len(v))), v, tau)
    flat = ConstrainedDynamics(planar_linkage((0.2, 0.3), (0.4,), 0.1, ('left_0',)))
    stretched, rest = np.zeros(3), np.zeros((2, 3))
    with refused(SingularError, 'q', got=1):
        flat.forward.partial_derivatives.time_derivatives(stretched, rest[0], rest)
    with refused(SingularError, 'q', got=1):
        flat.inverse.partial_derivatives.time_derivatives(
            stretched, rest[0], rest, actuated=np.ones(3, dtype=bool))
    lid = ConstraintFunction('lid', 1, lambda x: x[:1] - q[:1], lambda x: np.eye(1, len(v)),
                             bias=lambda x, y: np.zeros(1))
    held = ConstrainedDynamics(dynamics.model, functions=[lid])
    for call in (held.forward, held.inverse):
        with refused(ModelError, 'functions', got="['lid']"):
            call.partial_derivatives.time_derivatives(q, v, tau)
