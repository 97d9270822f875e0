# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The derivatives of steps of stormer_verlet: beside differences; symplectic and reversible."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy.linalg import block_diag, null_space
from support.comparison import assert_same
from support.machines.loop_states import ALL, EVERY, state
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics import Dynamics, stormer_verlet
from liedyn_ros.dynamics.constrained import (
    constrained_stormer_verlet, ConstrainedDynamics, project)
from liedyn_ros.dynamics.linearization import linearize_step, STORMER_VERLET
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model
from liedyn_ros.model.kernels import kinds

STEP = 1e-6
VERLET = partial(linearize_step, scheme=STORMER_VERLET)


def assert_differences(model: Model, step: Callable[..., tuple[Array, Array]], found: Array,
                       pairs: list[list[tuple[Array, Array, Array]]], q: Array, q1: Array) -> None:
    """Compare derivatives (2 nv, 3 nv) with differences of steps from pairs of starts."""
    x: list[Array] = []
    y: list[Array] = []
    for starts in pairs:
        before = [np.concatenate([model.difference(q, at), v, tau]) for at, v, tau in starts]
        ends = [step(*start) for start in starts]
        after = [np.concatenate([model.difference(q1, at), v]) for at, v in ends]
        x.append((before[0] - before[1]) / (2 * STEP))
        y.append((after[0] - after[1]) / (2 * STEP))
    assert_same(found @ np.array(x).T, np.array(y).T, 1e-6)


@pytest.mark.parametrize('seed, floating, dt, speed', [
    (1, False, 0.02, 1.0), (4, True, 0.01, 1.0), (4, True, 0.05, 3.0)])
def test_differences_of_a_tree(seed: int, floating: bool, dt: float, speed: float) -> None:
    model, rng = random_model(seed, 6, floating), np.random.default_rng(2)
    dynamics, n = Dynamics(model), model.nv
    q, v, tau = model.random(rng), speed * rng.normal(size=n), rng.normal(size=n)
    wrenches = rng.normal(size=(len(model.bodies), 6))
    q1, v1, linear = VERLET(dynamics, q, v, dt, tau, wrenches)
    ended = stormer_verlet.step(dynamics, q, v, dt, tau, wrenches)
    assert_same(q1, ended[0], 1e-15)
    assert_same(v1, ended[1], 1e-15)
    pairs = [[(model.integrate(q, s * push[:n]), v + s * push[n:2 * n], tau + s * push[2 * n:])
              for s in (1.0, -1.0)] for push in STEP * np.eye(3 * n)]
    assert_differences(
        model, lambda q, v, tau: stormer_verlet.step(dynamics, q, v, dt, tau, wrenches),
        np.hstack([linear.A, linear.B]), pairs, q, q1)


@pytest.mark.parametrize('name', (
    'revolute', 'balls', 'floating', 'gears', 'springs', 'bennett', 'side by side'))
def test_differences_of_a_loop_along_its_motions(name: str) -> None:
    dynamics, q, v, tau, wrenches, _ = state(ALL[name])
    model, v, tau, dt = dynamics.model, 0.5 * v, tau[0], 0.005
    q1, _, linear = VERLET(dynamics, q, v, dt, tau, wrenches)
    free = STEP * null_space(dynamics.jacobian(q), rcond=1e-8).T
    pairs = [[(*project(dynamics, model.integrate(q, s * push), v), tau) for s in (1.0, -1.0)]
             for push in free]
    pairs += [[(q, v + s * push, tau) for s in (1.0, -1.0)] for push in free]
    pairs += [[(q, v, tau + s * push) for s in (1.0, -1.0)] for push in STEP * np.eye(model.nv)]
    assert_differences(
        model,
        lambda q, v, tau: constrained_stormer_verlet.step(dynamics, q, v, dt, tau, wrenches),
        np.hstack([linear.A, linear.B]), pairs, q, q1)


def form(tree: Dynamics, q: Array, v: Array) -> Array:
    """Return the matrix (2 nv, 2 nv) of the symplectic form of displacements (eta, dv)."""
    table, n, rest = tree.model.link_table, len(v), np.zeros_like(v)
    mass, by_q = tree.mass_matrix(q), tree.inverse.partial_derivatives
    momentum, brackets = mass @ v, []
    for kind, vi in zip(table.kind, table.vi):
        p = momentum[vi:vi + kinds.NV_OF_KIND[kind]]
        bracket = {kinds.SPHERICAL: so3.ad, kinds.FREE: se3.ad}.get(
            kind, lambda x: np.zeros((1, 1)))
        brackets.append(np.array([p @ bracket(x) for x in np.eye(len(p))]))
    moved = by_q(q, rest, v).by_q - by_q(q, rest, rest).by_q
    return np.block([[moved.T - moved - block_diag(*brackets), -mass], [mass, np.zeros((n, n))]])


@pytest.mark.parametrize('seed, floating', [(1, False), (4, True)])
def test_a_step_of_a_tree_is_symplectic_and_reversible(seed: int, floating: bool) -> None:
    model, rng = random_model(seed, 6, floating), np.random.default_rng(3)
    dynamics, n = Dynamics(model, dissipation=False), model.nv
    q, v, tau = model.random(rng), rng.normal(size=n), rng.normal(size=n)
    for kind, vi in zip(model.link_table.kind, model.link_table.vi):
        if kind in (kinds.SPHERICAL, kinds.FREE):
            tau[vi:vi + kinds.NV_OF_KIND[kind]] = 0.0  # a held torque of a group has no potential
    q1, v1, (there, _) = VERLET(dynamics, q, v, 0.02, tau)
    assert_same(there.T @ form(dynamics, q1, v1) @ there, form(dynamics, q, v), 1e-11)
    back = VERLET(dynamics, q1, -v1, 0.02, tau)[2].A
    turn = np.diag(np.repeat([1.0, -1.0], n))
    assert_same(turn @ back @ turn @ there, np.eye(2 * n), 1e-10)


@pytest.mark.parametrize('name', ('revolute', 'floating', 'side by side'))
def test_a_step_of_a_loop_is_symplectic_and_reversible(name: str) -> None:
    dynamics, q, v, *_ = state(ALL[name])
    dynamics, v = ConstrainedDynamics(dynamics.model, dissipation=False), 0.5 * v
    n, tree, rest = len(v), dynamics.tree, np.zeros_like(v)
    q, v, (tangents, _) = VERLET(dynamics, q, v, 0.005, rest)  # along closed states
    q1, v1, (there, _) = VERLET(dynamics, q, v, 0.005, rest)
    whole = there @ tangents
    assert_same(whole.T @ form(tree, q1, v1) @ whole,
                tangents.T @ form(tree, q, v) @ tangents, 1e-10)
    back = VERLET(dynamics, q1, -v1, 0.005, rest)[2].A
    turn = np.diag(np.repeat([1.0, -1.0], n))
    assert_same(turn @ back @ turn @ whole, tangents, 1e-9)


def test_refusals() -> None:
    dynamics, q, v, tau, *_ = state(EVERY['revolute'])
    for robot in (dynamics, dynamics.tree):
        with refused(LimitError, 'scheme', got='euler'):
            linearize_step(robot, q, v, 0.01, tau[0], scheme='euler')
