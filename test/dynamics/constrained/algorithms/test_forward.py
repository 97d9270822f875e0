# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constrained forward and hybrid dynamics against a dense solution, and their derivatives."""

import numpy as np
import pytest
from support.machines.loop_states import assembled, EVERY, Machines, REDUNDANT
from support.machines.looped_machines import (
    five_bar, four_bar, Looped, planar_linkage, random_looped)
from support.refusals import ANY, refused
from support.witnesses import loop_witness
from support.witnesses.tangents import taylor

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, NotFiniteError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics, ConstraintStatus,
    project)
from liedyn_ros.model import CLOSURE_TYPES, Model, ModelBuilder, SpatialInertia

ORDER = 5
MACHINES = EVERY | REDUNDANT | Machines({'five bar': lambda: assembled(five_bar())})


@pytest.fixture(params=MACHINES)
def looped(request: pytest.FixtureRequest) -> Looped:
    """Return one of them: closures alone, several loops, constraints that depend."""
    return MACHINES[request.param]


def state(looped: Looped, seed: int = 5) -> tuple[ConstrainedDynamics, Array, Array, Array]:
    """Return the dynamics, a closed state and forces of orders 0 to ORDER."""
    rng, model = np.random.default_rng(seed), looped.model
    dynamics = ConstrainedDynamics(model)
    q, v = project(dynamics, looped.q, rng.normal(size=model.nv))
    return dynamics, q, v, rng.normal(size=(ORDER + 1, model.nv))


def test_forward_is_the_dense_solution(looped: Looped) -> None:  # (Kim 54, 55, 67 to 69)
    dynamics, q, v, tau = state(looped)
    external = np.random.default_rng(8).normal(size=(len(looped.model.bodies), 6))
    solution = dynamics.forward(q, v, tau[0], external=external)
    dense = loop_witness.forward(looped.model, q, v, tau[0], external)
    scale = 1.0 + np.abs(dense.a).max()
    assert np.abs(solution.a - dense.a).max() < 1e-7 * scale
    force = dynamics.jacobian(q).T @ solution.multipliers
    assert np.abs(force - dense.force).max() < 1e-7 * (1.0 + np.abs(dense.force).max())
    assert solution.rank == np.linalg.matrix_rank(dense.jacobian, 1e-7)
    assert solution.status is (
        ConstraintStatus.REGULAR if solution.rank == dynamics.m else ConstraintStatus.REDUNDANT)


def test_derivatives_are_those_along_the_motion(looped: Looped) -> None:
    # The order below, at instants beside this one, differs by what the order above says.
    dynamics, q, v, tau = state(looped)
    solution = dynamics.forward(q, v, tau)
    steps, h = np.arange(-3, 4), 1e-3
    weights = np.array([-1 / 60, 3 / 20, -3 / 4, 0.0, 3 / 4, -3 / 20, 1 / 60]) / h
    beside = []
    for t in steps * h:
        q1, v1 = follow(looped.model, q, v, solution.a, t)
        q1, v1 = project(dynamics, q1, v1)
        there = taylor(tau, t)
        beside.append(dynamics.forward(q1, v1, there))
    for name in ('a', 'multipliers', 'wrenches'):
        series = np.array([getattr(each, name) for each in beside])
        for k in range(1, 4):
            expected = np.tensordot(weights, series[:, k - 1], axes=1)
            value = getattr(solution, name)[k]
            scale = 1.0 + np.abs(expected).max() + np.abs(getattr(solution, name)[k - 1]).max()
            assert np.abs(value - expected).max() < 2e-6 * scale, (name, k)


def follow(model: Model, q: Array, v: Array, a: Array, t: float) -> tuple[Array, Array]:
    """Return the state that the derivatives (n, nv) of a velocity lead to, in small steps."""
    rates, count = np.vstack((v, a)), 4
    h = t / count
    for i in range(count):  # Magnus, sixth order in h: Gauss points and one bracket
        middle, gap = (i + 0.5) * h, np.sqrt(15.0) / 10.0 * h
        early, mid, late = (taylor(rates, s)[0] for s in (middle - gap, middle, middle + gap))
        average = (5.0 * early + 8.0 * mid + 5.0 * late) / 18.0
        q = model.integrate(q, h * average + bracket(model, early, late, h))
    return q, taylor(rates, t)[0]


def bracket(model: Model, early: Array, late: Array, h: float) -> Array:
    """Return h^2 sqrt(15) / 36 [late, early] on group joints, zero elsewhere; body rates."""
    result = np.zeros(model.nv)
    for joint in model.joint_list:
        at = joint.vi
        if joint.type_name in ('spherical', 'free'):
            w0, w1 = early[at:at + 3], late[at:at + 3]
            result[at:at + 3] = np.cross(w0, w1)
            if joint.type_name == 'free':
                u0, u1 = early[at + 3:at + 6], late[at + 3:at + 6]
                result[at + 3:at + 6] = np.cross(w0, u1) + np.cross(u0, w1)
    return h * h * np.sqrt(15.0) / 36.0 * result


def test_hybrid_undoes_forward(looped: Looped) -> None:  # (Kim 70 to 80)
    dynamics, q, v, tau = state(looped)
    motion = dynamics.forward(q, v, tau)
    prescribed = np.zeros(looped.model.nv, dtype=bool)
    prescribed[0] = True
    hybrid = dynamics.hybrid(q, v, prescribed, motion.a, tau)
    for k in range(ORDER + 1):
        scale = 1.0 + np.abs(motion.a[:k + 2]).max()
        assert np.abs(hybrid.a[k] - motion.a[k]).max() < 1e-8 * scale
        assert np.abs(hybrid.tau[k] - tau[k]).max() < 1e-8 * scale


@pytest.mark.parametrize('seed', range(4))
def test_wrenches_on_bodies_replace_closures(seed: int) -> None:
    # Closed to the ground, loops are cut by applying the wrenches of their closures.
    kinds = tuple(np.random.default_rng(seed).permutation(list(CLOSURE_TYPES))[:2])
    looped = random_looped(40 + seed, kinds, 10, ('revolute', 'spherical', 'prismatic'),
                           grounded=True)
    dynamics, q, v, tau = state(looped)
    solution = dynamics.forward(q, v, tau)
    model = looped.model
    external = np.zeros((ORDER + 1, len(model.bodies), 6))
    for c, closure in enumerate(model.closures):
        to_frame = np.linalg.inv(closure.frame_b)
        r, p = to_frame[:3, :3], to_frame[:3, 3]
        dual = np.zeros((6, 6))  # Ad of the pose of the body in frame b, transposed
        dual[:3, :3] = dual[3:, 3:] = r.T
        dual[:3, 3:] = -r.T @ np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
        external[:, model.body_index(closure.body_b)] += solution.wrenches[:, c] @ dual.T
    cut = Dynamics(model).inverse.time_derivatives(q, v, solution.a, external)
    for k in range(ORDER + 1):
        scale = 1.0 + np.abs(external[:k + 1]).max() + np.abs(solution.a[:k + 1]).max()
        assert np.abs(cut[k] - tau[k]).max() < 1e-9 * scale


def test_couplings_are_enforced() -> None:
    builder = ModelBuilder('geared')
    for name in ('a', 'b'):
        builder.add_body(name, SpatialInertia(1.0, [0.1, 0.0, 0.0], 0.01 * np.eye(3)))
        builder.add_joint(f'{name}_joint', 'revolute', None, name, axis=[1.0, 0.0, 0.0])
    builder.add_coupling('b_joint', 'a_joint', -2.0, 0.3)
    model = builder.build()
    dynamics = ConstrainedDynamics(model)
    q = assemble(dynamics, held={'a_joint': 0.4})
    assert q == pytest.approx([0.4, -0.5])
    solution = dynamics.forward(q, [1.0, -2.0], [[3.0, 0.5], [1.0, 0.0]])
    assert solution.a[:, 1] == pytest.approx(-2.0 * solution.a[:, 0])
    inertia = Dynamics(model).mass_matrix(q)
    bias = Dynamics(model).bias(q, [1.0, -2.0])
    reduced = inertia[0, 0] + 4.0 * inertia[1, 1]
    assert solution.a[0, 0] == pytest.approx((3.0 - 2.0 * 0.5 - bias[0] + 2.0 * bias[1]) / reduced)


def test_kims_hybrid_case_that_breaks_a_loop_is_inconsistent() -> None:
    model = five_bar()
    dynamics = ConstrainedDynamics(model)
    q = assemble(dynamics)
    v = np.zeros(4)
    three = np.array([True, True, True, False])  # more than the two that can move
    solution = dynamics.hybrid(q, v, three, np.ones(4), np.zeros(4))
    assert solution.status is ConstraintStatus.INCONSISTENT
    a = complete_acceleration(dynamics, q, v, [1.0, 0.0, -2.0, 0.0])
    solution = dynamics.hybrid(q, v, three, a, np.zeros(4))
    assert solution.status is ConstraintStatus.REDUNDANT


def test_a_stretched_four_bar_is_near_singular_and_then_singular() -> None:
    # A parallelogram laid flat: the rank drops from two to one, all links along x.
    model = planar_linkage((0.3, 0.5), (0.3,), 0.5, ('left_0',))
    dynamics = ConstrainedDynamics(model)
    ranks, worst = [], 0.0
    for angle in (0.5, 1e-6, 0.0):
        q = np.array([angle, -angle, angle])
        v = 0.0 * q
        solution = dynamics.forward(q, v, [1.0, 0.0, 0.0])
        assert np.isfinite(solution.a).all() and np.isfinite(solution.multipliers).all()
        ranks.append((solution.rank, solution.status))
        worst = max(worst, np.abs(solution.a).max())
    assert ranks == [
        (2, ConstraintStatus.REDUNDANT), (2, ConstraintStatus.NEAR_SINGULAR),
        (1, ConstraintStatus.SINGULAR)]
    assert worst < 1e3


def test_bad_input_is_refused() -> None:
    model = four_bar()
    dynamics = ConstrainedDynamics(model)
    q = assemble(dynamics)
    v = complete_velocity(dynamics, q, [1.0, 0.0, 0.0])
    with refused(LiedynError, 'tip/force_x', 'tip/force_y'):
        dynamics.forward(q + 0.01, v, np.zeros(3))
    with refused(LiedynError, 'tip/force_x', 'tip/force_y'):
        dynamics.forward(q, v + 0.01, np.zeros(3))
    with pytest.raises(ShapeError):
        dynamics.forward(q, v, np.zeros(4))
    with pytest.raises(ShapeError):
        dynamics.hybrid(q, v, [True, False, False], np.zeros((2, 3)), np.zeros(3))
    with pytest.raises(LimitError):
        dynamics.forward(q, v, np.zeros((40, 3)))
    with pytest.raises(LiedynError):
        dynamics.forward(q, v, [np.nan, 0.0, 0.0])


def test_arrays_that_kernels_take_as_they_are_give_what_lists_give() -> None:
    dynamics, q, v, tau = state(random_looped(23, ('universal', 'rod'), 8, floating=True))
    prescribed = np.arange(len(v)) == 3
    a = dynamics.forward(q, v, tau).a
    calls = ((dynamics.forward, (tau,)), (dynamics.inverse, (a,)),
             (dynamics.hybrid, (prescribed, a, tau)))
    for rows in (np.s_[0], np.s_[:3]):
        for call, given in calls:
            arrays = [x if x is prescribed else x[rows].copy() for x in given]
            before = [x.copy() for x in arrays]
            lists = [x if x is prescribed else x.tolist() for x in arrays]
            fast, slow = call(q, v, *arrays), call(q.tolist(), v.tolist(), *lists)
            for one, other in zip(fast[:4], slow[:4]):
                np.testing.assert_array_equal(one, other)
            assert fast.status is slow.status
            for x, kept in zip(arrays, before):
                np.testing.assert_array_equal(x, kept)
                assert not np.shares_memory(fast.a, x) and not np.shares_memory(fast.tau, x)


def test_bad_arrays_are_refused_by_name_after_good_ones() -> None:
    dynamics, q, v, tau = state(random_looped(23, ('universal', 'rod'), 8, floating=True))
    good = dynamics.forward(q, v, tau[0])
    for name, at in (('q', 0), ('v', 1), ('tau', 2)):
        arrays = [q.copy(), v.copy(), tau[0].copy()]
        arrays[at][-1] = np.nan
        with refused(NotFiniteError, name):
            dynamics.forward(*arrays)
    moved = q.copy()
    moved[7:] += 0.1  # all but the floating base
    with refused(LiedynError, ANY, expected=0.0):
        dynamics.forward(moved, v, tau[0])
    assert np.isfinite(dynamics.forward(moved, v, tau[0], closed=False).a).all()
    with refused(LiedynError, ANY, expected=0.0):
        dynamics.forward(q, v + 0.1, tau[0])
    with pytest.raises(ShapeError):
        dynamics.forward(q, v[:-1], tau[0])
    np.testing.assert_array_equal(dynamics.forward(q, v, tau[0]).a, good.a)
    np.testing.assert_array_equal(dynamics.forward(q[::-1].copy()[::-1], v, tau[0]).a, good.a)
