# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Least torque within the effort limits of actuators, where there are more than needed."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize
from support.machines.looped_machines import bennett, five_bar
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics)
from liedyn_ros.dynamics.constrained.solver.kernels.effort_limits import (
    COLUMNS, DESIRED, NEED, split_efforts)
from liedyn_ros.model import Limits, Model


def limited(model: Model, efforts: Array) -> ConstrainedDynamics:
    """Return the machine, all joints with a motor of a limited effort (n,), N m."""
    return ConstrainedDynamics(replace(model, joint_list=tuple(
        replace(joint, actuated=True, limits=Limits(effort=effort))
        for joint, effort in zip(model.joint_list, efforts))))


def in_motion(model: Model, q: Array, known: list[str], orders: int = 1
              ) -> tuple[Array, Array, Array]:
    """Return a state of a machine, and a (orders, nv)."""
    dynamics, rng = ConstrainedDynamics(model), np.random.default_rng(4)
    v = complete_velocity(dynamics, q, rng.normal(size=model.nv), known)
    return q, v, complete_acceleration(
        dynamics, q, v, 3.0 * rng.normal(size=(orders, model.nv)), known)


def cases() -> list[tuple[Model, tuple[Array, Array, Array]]]:
    """Return a five-bar and Bennett's linkage in motion."""
    planar, spatial = five_bar(), bennett()
    return [(planar, in_motion(planar, assemble(ConstrainedDynamics(planar)),
                               [planar.joints[0], planar.joints[2]], 3)),
            (spatial.model, in_motion(
                spatial.model, assemble(ConstrainedDynamics(spatial.model), spatial.q),
                [spatial.model.joints[0]], 3))]


@pytest.mark.parametrize('case', [0, 1], ids=['five_bar', 'bennett'])
def test_efforts_are_the_least_within_limits(case: int) -> None:
    model, (q, v, a) = cases()[case]
    unlimited = limited(model, np.full(model.nv, np.inf))
    most = np.abs(unlimited.inverse(q, v, a[0]).tau)
    efforts = np.full(model.nv, 1.5 * most.max())
    efforts[np.argmax(most)] = 0.5 * most.max()
    weights = np.arange(1.0, model.nv + 1.0)
    dynamics = limited(model, efforts)
    found = dynamics.inverse(q, v, a[0], weights=weights, within_limits=True)
    assert (np.abs(found.tau) <= efforts * (1.0 + 1e-12)).all()
    assert (np.abs(found.tau) >= efforts * (1.0 - 1e-9)).sum() >= 1
    assert np.allclose(dynamics.forward(q, v, found.tau).a, a[0], atol=1e-9)
    free = np.linalg.svd(dynamics.jacobian(q))[2][found.rank:]
    need = free @ unlimited.inverse(q, v, a[0]).tau
    by_scipy = minimize(
        lambda tau: weights @ tau**2, np.zeros(model.nv), jac=lambda tau: 2.0 * weights * tau,
        bounds=list(zip(-efforts, efforts)), method='SLSQP', options={'ftol': 1e-14},
        constraints={'type': 'eq', 'fun': lambda tau: free @ tau - need, 'jac': lambda _: free})
    assert np.abs(found.tau - by_scipy.x).max() < 1e-6 * efforts.max()
    tree = dynamics.tree.inverse(q, v, a[0])
    assert np.allclose(found.tau + dynamics.jacobian(q).T @ found.multipliers, tree, atol=1e-9)
    same = dynamics.inverse(q, v, a, weights=weights, within_limits=True)  # with derivatives
    assert np.allclose(same.tau[0], found.tau, atol=1e-10)
    assert np.allclose(dynamics.forward(q, v, same.tau).a, a, atol=1e-7)
    held = np.abs(found.tau) >= efforts * (1.0 - 1e-9)
    assert not same.tau[1:, held].any()


def test_wide_limits_change_nothing() -> None:
    model, (q, v, a) = cases()[0]
    dynamics = limited(model, np.full(4, 1e6))
    for each, other in zip(dynamics.inverse(q, v, a, within_limits=True),
                           dynamics.inverse(q, v, a)):
        assert np.array_equal(each, other)


def test_many_states_are_each_as_alone() -> None:
    model, (q, v, a) = cases()[0]
    most = np.abs(limited(model, np.full(4, np.inf)).inverse(q, v, a[0]).tau)
    efforts = np.where(most == most.max(), 0.5, 1.5) * most.max()
    dynamics = limited(model, efforts)
    rest = dynamics.forward(q, 0.0 * v, np.zeros(4)).a  # takes no effort
    states = [q, q], [0.0 * v, v], np.stack([rest, a[0]])
    found = dynamics.inverse.batch(*states, within_limits=True)
    alone = dynamics.inverse(q, v, a[0], within_limits=True)
    assert np.array_equal(found.tau[1], alone.tau) and np.abs(found.tau[0]).max() < 1e-9
    assert np.abs(found.tau[1] / efforts).max() == pytest.approx(1.0)
    weak = limited(model, np.full(4, 1e-6))
    with pytest.raises(LimitError) as caught:
        weak.inverse.batch(*states, within_limits=True)
    assert list(caught.value.indices) == [1]


def test_limits_that_are_too_low_are_told() -> None:
    model, (q, v, a) = cases()[0]
    dynamics = limited(model, np.full(4, 1e-6))
    with pytest.raises(LimitError) as caught:
        dynamics.inverse(q, v, a[0], within_limits=True)
    assert caught.value.names and set(caught.value.names) <= set(model.joints)
    with refused(LiedynError, 'redundancy'):
        dynamics.inverse(q, v, a[0], redundancy='least_force', within_limits=True)


@pytest.mark.full
def test_random_splits_are_optimal() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(2, 6))
        f = int(rng.integers(1, n))
        moved, weights = rng.normal(size=(f, n)), 10.0**rng.uniform(-1, 1, n)
        limits = 10.0**rng.uniform(-1, 1, n)
        limits[0] = np.inf if rng.random() < 0.3 else limits[0]
        inside = rng.uniform(-1.0, 1.0, n) * np.where(np.isinf(limits), 2.0, limits)
        table = np.zeros((n, COLUMNS))
        table[:f, NEED] = moved @ inside
        assert split_efforts(moved, np.arange(n), 1.0 / weights, limits, table, np.zeros(f),
                             np.zeros(f * f)) < 1e-9
        efforts = np.clip(table[:, DESIRED], -limits, limits)
        assert np.abs(moved @ (efforts - inside)).max() < 1e-6
        closest = lsq_linear(np.vstack((1e4 * moved, np.diag(np.sqrt(weights)))),
                             np.append(1e4 * moved @ inside, np.zeros(n)), (-limits, limits),
                             method='bvls', tol=1e-15)
        assert np.abs(efforts - closest.x).max() < 1e-4 * max(np.abs(inside).max(), 1.0)
        assert weights @ efforts**2 <= least(
            moved, moved @ inside, weights, limits) * (1.0 + 1e-6)


def least(moved: Array, need: Array, weights: Array, limits: Array) -> float:
    """Return the least sum of w tau^2 by trying all sets of actuators at limits."""
    best = np.inf
    for signs in product((-1.0, 0.0, 1.0), repeat=len(limits)):
        free = np.array(signs) == 0.0
        tau = np.where(free, 0.0, signs * np.where(np.isinf(limits), np.nan, limits))
        if np.isnan(tau).any():
            continue
        own = moved[:, free] / weights[free]
        tau[free] = own.T @ np.linalg.lstsq(own @ moved[:, free].T, need - moved @ tau,
                                            rcond=None)[0]
        if np.abs(moved @ tau - need).max() < 1e-8 and (np.abs(tau) <= limits + 1e-9).all():
            best = min(best, float(weights @ tau**2))
    return best
