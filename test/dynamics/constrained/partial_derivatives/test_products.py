# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Derivatives of machines with closed loops beside complex steps: Jacobians and products.

A product in a random direction, a gradient by random weights and the full Jacobians must agree.
Where constraints are redundant they have a meaning along the motion alone.
"""

import numpy as np
import pytest
from scipy.linalg import qr
from support.comparison import assert_same
from support.machines.loop_states import ALL, closed, EVERY, REDUNDANT, state
from support.machines.looped_machines import planar_linkage
from support.refusals import refused
from support.witnesses.complex_loops import ComplexLoops
from support.witnesses.complex_step import along
from support.witnesses.tangents import difference

from liedyn_ros.common.errors import ModelError, NotFiniteError, ShapeError, SingularError
from liedyn_ros.dynamics.constrained import (
    ConstrainedDynamics, ConstraintFunction, LEAST_FORCE, LEAST_TORQUE)
from liedyn_ros.identification import Regressor

TOLERANCE = 1e-9


def directional(jacobians, *direction):
    """Return the product of full Jacobians, one by each part of a direction, and that part."""
    return sum(matrix @ x for matrix, x in zip(jacobians, direction))


def assert_gradient(gradient, direction, weighted: float, size: float) -> None:
    """Compare a gradient along a direction with the derivative of what was weighted."""
    got = sum(by @ x for by, x in zip(gradient[gradient._fields.index('by_q'):], direction))
    assert got == pytest.approx(weighted, rel=TOLERANCE, abs=TOLERANCE * size)


def weighted_sum(y, found, z, multipliers):
    """Return y . found + z . multipliers, and the size of its terms."""
    return y @ found + z @ multipliers, np.abs(y) @ np.abs(found) + np.abs(z) @ np.abs(multipliers)


@pytest.mark.parametrize('name', EVERY)
def test_forward_beside_complex_steps(name: str) -> None:
    dynamics, q, v, tau, w, rng = state(EVERY[name])
    n, there = dynamics.model.nv, ComplexLoops(dynamics.model, q)
    x, y, u, weights = rng.normal(size=(4, n))
    z = rng.normal(size=dynamics.m)

    def moved(s):
        return np.concatenate(there.hybrid(
            v + s * y, np.zeros(n, dtype=bool), tau[0] + s * u, w, s * x))

    found = dynamics.forward(q, v, tau[0], external=w)
    assert_same(moved(0.0).real, np.concatenate([found.a, found.tau, found.multipliers]))
    a, _, multipliers = np.split(along(moved), [n, 2 * n])
    product = dynamics.forward.partial_derivatives.product(q, v, tau[0], x, y, u, external=w)
    assert_same(product.a, a)
    assert_same(product.tau, u)
    assert_same(product.multipliers, multipliers)
    full = dynamics.forward.partial_derivatives(q, v, tau[0], external=w)
    assert_same(directional(full[1:4], x, y, u), a)
    assert_same(directional(full[5:], x, y, u), multipliers)
    gradient = dynamics.forward.partial_derivatives.gradient(
        q, v, tau[0], weights, external=w, z=z)
    assert_gradient(gradient, (x, y, u), *weighted_sum(weights, a, z, multipliers))


@pytest.mark.parametrize(('passive', 'redundancy'), ((1, LEAST_TORQUE), (2, LEAST_FORCE)))
@pytest.mark.parametrize('name', EVERY)
def test_inverse_beside_complex_steps(name: str, passive: int, redundancy: str) -> None:
    dynamics, q, v, given, w, rng = state(EVERY[name])
    n, m, there = dynamics.model.nv, dynamics.m, ComplexLoops(dynamics.model, q)
    a = dynamics.forward(q, v, rng.normal(size=n)).a
    driven = np.ones(n, dtype=bool)  # passive are joints that the loops move apart
    driven[qr(dynamics.jacobian(q), mode='r', pivoting=True)[1][:min(passive, m)]] = False
    weight = 0.5 + rng.random(m if redundancy == LEAST_FORCE else n)
    options = {'tau': given[0], 'actuated': driven, 'redundancy': redundancy, 'weights': weight,
               'external': w}
    x, y, u, t, weights = rng.normal(size=(5, n))
    z, least_torque = rng.normal(size=m), redundancy == LEAST_TORQUE and min(passive, m) < m

    def moved(s):
        return np.concatenate(there.inverse(
            v + s * y, a + s * u, driven, given[0] + s * t, weight if (
                least_torque or redundancy == LEAST_FORCE) else np.ones(m),
            least_torque, w, s * x))

    found = dynamics.inverse(q, v, a, **options)
    assert_same(moved(0.0).real, np.concatenate([found.tau, found.multipliers]), 1e-8)
    tau, multipliers = np.split(along(moved), [n])
    product = dynamics.inverse.partial_derivatives.product(q, v, a, x, y, u, dtau=t, **options)
    assert_same(product.tau, tau)
    assert_same(product.a, u)
    assert_same(product.multipliers, multipliers)
    full = dynamics.inverse.partial_derivatives(q, v, a, **options)
    assert_same(directional(full[:4], x, y, u, t), tau)
    assert_same(directional(full[7:], x, y, u, t), multipliers)
    gradient = dynamics.inverse.partial_derivatives.gradient(q, v, a, weights, z=z, **options)
    assert_gradient(gradient, (x, y, u, t), *weighted_sum(weights, tau, z, multipliers))


@pytest.mark.parametrize('name', EVERY)
def test_hybrid_beside_complex_steps(name: str) -> None:
    dynamics, q, v, tau, w, rng = state(EVERY[name])
    n, m, there = dynamics.model.nv, dynamics.m, ComplexLoops(dynamics.model, q)
    a = dynamics.forward(q, v, tau[0], external=w).a
    # Joints that the loops move least are given, as many as leave the constraints independent.
    known = np.zeros(n, dtype=bool)
    known[np.argsort(np.linalg.norm(dynamics.jacobian(q), axis=0))[:(n - m) // 2]] = True
    assert np.linalg.svd(dynamics.jacobian(q)[:, ~known])[1].min() > 1e-3
    x, y, u, weights = rng.normal(size=(4, n))
    z = rng.normal(size=m)
    start = np.where(known, a, tau[0])

    def moved(s):
        return np.concatenate(there.hybrid(v + s * y, known, start + s * u, w, s * x))

    changes = np.split(along(moved), [n, 2 * n])
    state_of = q, v, known, a, tau[0]
    product = dynamics.hybrid.partial_derivatives.product(*state_of, x, y, u, external=w)
    full = dynamics.hybrid.partial_derivatives(*state_of, external=w)
    for along_it, at, wanted in zip(product.solution, (2, 5, 10), changes):
        assert_same(along_it, wanted)
        assert_same(directional(full[at:], x, y, u), wanted)
    gradient = dynamics.hybrid.partial_derivatives.gradient(*state_of, weights, external=w, z=z)
    sought = np.where(known, changes[1], changes[0])
    assert_gradient(gradient, (x, y, u), *weighted_sum(weights, sought, z, changes[2]))


@pytest.mark.parametrize('name', ('weld', 'balls', 'gears'))
def test_parameters_beside_complex_steps(name: str) -> None:
    """Gravity, inertias, damping and wrenches, of forward, hybrid and inverse dynamics."""
    dynamics, q, v, tau, w, rng = state(EVERY[name])
    model, n, there = dynamics.model, dynamics.model.nv, ComplexLoops(dynamics.model, q)
    tree, (gravity, damping, inertia) = there.tree, (
        there.tree.gravity, there.tree.damping, there.tree.inertia)
    a = dynamics.forward(q, v, tau[0], external=w).a
    known, everything = np.arange(n) == n - 1, np.ones(n, dtype=bool)
    changes = rng.normal(size=3), rng.normal(size=n), rng.normal(size=w.shape)
    regressor, own = Regressor(model, dissipation=True), dynamics.tree.inverse.partial_derivatives
    parameters = np.concatenate([
        regressor.parameters[:10 * len(w)], changes[1], np.zeros(n)])
    forces = (own(q, v, a, w).by_gravity @ changes[0]
              + regressor.torque(q, v, a) @ parameters  # inertias grow, damping changes
              + np.einsum('kbc,bc->k', own.by_external(q), changes[2]))

    def vary(s):
        tree.gravity, tree.damping = gravity + s * changes[0], damping + s * changes[1]
        tree.inertia = (1.0 + s) * inertia
        return w + s * changes[2]

    def hybrid(s, given):
        return np.concatenate(there.hybrid(v, given, np.where(given, a, tau[0]), vary(s)))

    forward = dynamics.forward.partial_derivatives(q, v, tau[0], external=w).by_parameters(forces)
    found = np.split(along(lambda s: hybrid(s, ~everything)), [n, 2 * n])
    for got, wanted in zip((forward, forward.multipliers), found[::2]):
        assert_same(got, wanted)
    mixed = dynamics.hybrid.partial_derivatives(q, v, known, a, tau[0], external=w)
    found = np.split(along(lambda s: hybrid(s, known)), [n, 2 * n])
    for got, wanted in zip(mixed.by_parameters(forces).solution, found):
        assert_same(got, wanted)
    back = dynamics.inverse.partial_derivatives(
        q, v, a, actuated=everything, external=w)
    found = np.split(along(lambda s: np.concatenate(there.inverse(
        v, a, everything, tau[0], np.ones(n), True, vary(s)))), [n])
    for got, wanted in zip(back.by_parameters(forces).solution[1:], found):
        assert_same(got, wanted)


class Family:
    """A family of motions on the constraints, smooth in s: q, v, a, forces and their changes."""

    def __init__(self, looped, known_share: float) -> None:
        """Choose directions, and coordinates whose accelerations are known."""
        self.dynamics, self.q, self.v, self.tau, self.w, rng = state(looped)
        n = len(self.v)
        self.directions, self.rng = rng.normal(size=(3, n)), rng
        self.known = rng.random(n) < known_share
        self.driven = np.arange(n) != np.linalg.norm(
            self.dynamics.jacobian(self.q), axis=0).argmax()

    def at(self, s):
        """Return q, v, a, tau."""
        q, v = closed(self.dynamics, self.dynamics.model.integrate(
            self.q, s * self.directions[0]), self.v + s * self.directions[1])
        tau = self.tau[0] + s * self.directions[2]
        return q, v, self.dynamics.forward(q, v, tau, external=self.w).a, tau

    def change(self, function):
        """Return the difference quotient of a function of q, v, a and tau."""
        return difference(lambda s: np.concatenate(function(*self.at(s))), 1e-3)

    def direction(self):
        """Return the changes of q, v, a and tau."""
        changes = self.change(lambda q, v, a, tau: (
            self.dynamics.model.difference(self.q, q), v, a, tau))
        return np.split(changes, 4)


def options_of(family: Family, redundancy: str):
    """Return arguments of inverse dynamics, with one passive joint."""
    count = family.dynamics.m if redundancy == LEAST_FORCE else len(family.v)
    return {'actuated': family.driven, 'redundancy': redundancy, 'external': family.w,
            'weights': 0.5 + family.rng.random(count)}


def parts(solution, *names):
    """Return attributes of a solution, and its multipliers."""
    return *(getattr(solution, name) for name in names), solution.multipliers


def assert_near(got, wanted, terms) -> None:
    """Compare with a difference quotient, by the size of the terms."""
    np.testing.assert_allclose(
        got, wanted, rtol=0.0, atol=1e-8 * max(1.0, *(np.abs(x).max(initial=0.0) for x in terms)))


@pytest.mark.parametrize('name', ALL)
def test_forward_is_the_derivative_of_the_call(name: str) -> None:
    """Jacobian, product and gradient beside differences on the constraints."""
    family = Family(ALL[name], 0.0)
    dynamics, (q, v, _, tau) = family.dynamics, family.at(0.0)
    dq, dv, _, dtau = family.direction()
    wanted = np.split(family.change(lambda q, v, a, tau: parts(dynamics.forward(
        q, v, tau, external=family.w), 'a')), [len(v)])
    derivatives = dynamics.forward.partial_derivatives
    full = derivatives(q, v, tau, external=family.w)
    product = derivatives.product(q, v, tau, dq, dv, dtau, external=family.w)
    for by, along_it, change in ((full[1:4], product.a, wanted[0]),
                                 (full[5:], product.multipliers, wanted[1])):
        terms = [matrix @ x for matrix, x in zip(by, (dq, dv, dtau))]
        assert_near(sum(terms), change, terms)
        assert_near(along_it, change, terms)
    y, z = family.rng.normal(size=len(v)), family.rng.normal(size=dynamics.m)
    gradient = derivatives.gradient(q, v, tau, y, external=family.w, z=z)
    assert_gradient(gradient, (dq, dv, dtau), *weighted_sum(
        y, product.a, z, product.multipliers))


@pytest.mark.parametrize('redundancy', (LEAST_TORQUE, LEAST_FORCE))
@pytest.mark.parametrize('name', ALL)
def test_inverse_is_the_derivative_of_the_call(name: str, redundancy: str) -> None:
    family = Family(ALL[name], 0.0)
    dynamics, (q, v, a, tau) = family.dynamics, family.at(0.0)
    options, directions = options_of(family, redundancy), family.direction()
    wanted = np.split(family.change(lambda q, v, a, tau: parts(dynamics.inverse(
        q, v, a, tau=tau, **options), 'tau')), [len(v)])
    derivatives, (dq, dv, da, dtau) = dynamics.inverse.partial_derivatives, directions
    full = derivatives(q, v, a, tau=tau, **options)
    product = derivatives.product(q, v, a, dq, dv, da, dtau=dtau, tau=tau, **options)
    for by, along_it, change in ((full[:4], product.tau, wanted[0]),
                                 (full[7:11], product.multipliers, wanted[1])):
        terms = [matrix @ x for matrix, x in zip(by, directions)]
        assert_near(sum(terms), change, terms)
        assert_near(along_it, change, terms)
    y, z = family.rng.normal(size=len(v)), family.rng.normal(size=dynamics.m)
    gradient = derivatives.gradient(q, v, a, y, z=z, tau=tau, **options)
    assert_gradient(gradient, directions, *weighted_sum(y, product.tau, z, product.multipliers))


@pytest.mark.parametrize('share', (0.3, 1.0))
@pytest.mark.parametrize('name', ALL)
def test_hybrid_is_the_derivative_of_the_call(name: str, share: float) -> None:
    family = Family(ALL[name], share)
    dynamics, known, (q, v, a, tau) = family.dynamics, family.known, family.at(0.0)
    dq, dv, da, dtau = family.direction()
    directions = dq, dv, np.where(known, da, dtau)
    wanted = np.split(family.change(lambda q, v, a, tau: parts(dynamics.hybrid(
        q, v, known, a, tau, external=family.w), 'a', 'tau')), [len(v), 2 * len(v)])
    derivatives, motion = dynamics.hybrid.partial_derivatives, (q, v, known, a, tau)
    full = derivatives(*motion, external=family.w)
    product = derivatives.product(*motion, *directions, external=family.w)
    for along_it, at, change in zip(product.solution, (2, 5, 10), wanted):
        terms = [matrix @ x for matrix, x in zip(full[at:], directions)]
        assert_near(sum(terms), change, terms)
        assert_near(along_it, change, terms)
    y, z = family.rng.normal(size=len(v)), family.rng.normal(size=dynamics.m)
    gradient = derivatives.gradient(*motion, y, external=family.w, z=z)
    assert_gradient(gradient, directions, *weighted_sum(
        y, np.where(known, product.tau, product.a), z, product.multipliers))


@pytest.mark.parametrize('share', (0.0, 0.4, 1.0))
@pytest.mark.parametrize('name', REDUNDANT)
def test_redundant_constraints_along_the_motion(name: str, share: float) -> None:
    dynamics, q, v, _, w, rng = state(REDUNDANT[name])
    n, m = dynamics.model.nv, dynamics.m
    motion = dynamics.forward(q, v, rng.normal(size=(2, n)))
    known, weights, z = rng.random(n) < share, rng.normal(size=n), rng.normal(size=m)
    state_of = q, v, known, motion.a[0], motion.tau[0]
    wanted = dynamics.hybrid(q, v, known, motion.a, motion.tau,
                             external=np.stack([w, np.zeros_like(w)]))
    direction = v, motion.a[0], np.where(known, motion.a[1], motion.tau[1])
    direction = v, wanted.a[0], direction[2]
    product = dynamics.hybrid.partial_derivatives.product(*state_of, *direction, external=w)
    for got, expected in zip(product.solution, (
            wanted.a[1], wanted.tau[1], wanted.multipliers[1])):
        assert_same(got, expected)
    gradient = dynamics.hybrid.partial_derivatives.gradient(*state_of, weights, external=w, z=z)
    sought = np.where(known, product.tau, product.a)
    assert_gradient(gradient, direction, *weighted_sum(weights, sought, z, product.multipliers))
    for redundancy, count in ((LEAST_TORQUE, n), (LEAST_FORCE, m)):
        options = {'actuated': np.arange(n) != n - 1, 'redundancy': redundancy,
                   'weights': 0.5 + rng.random(count)}
        wanted = dynamics.inverse(q, v, motion.a, external=np.stack([w, np.zeros_like(w)]),
                                  **options)
        direction = v, motion.a[0], motion.a[1]
        product = dynamics.inverse.partial_derivatives.product(
            q, v, motion.a[0], *direction, external=w, **options)
        assert_same(product.tau, wanted.tau[1])
        assert_same(product.multipliers, wanted.multipliers[1])
        gradient = dynamics.inverse.partial_derivatives.gradient(
            q, v, motion.a[0], weights, z=z, external=w, **options)
        assert_gradient(gradient, direction, *weighted_sum(
            weights, product.tau, z, product.multipliers))


def test_refusals() -> None:
    dynamics, q, v, tau, _, rng = state(EVERY['revolute'])
    x = rng.normal(size=len(v))
    with refused(ShapeError, 'dv'):
        dynamics.forward.partial_derivatives.product(q, v, tau[0], x, x[1:], x)
    with refused(NotFiniteError, 'dv', indices=(0,)):
        dynamics.forward.partial_derivatives.product(q, v, tau[0], x, np.full_like(x, np.nan), x)
    with refused(ShapeError, 'z'):
        dynamics.forward.partial_derivatives.gradient(q, v, tau[0], x, z=x)
    with refused(ShapeError, 'tau'):
        dynamics.forward.partial_derivatives.product(q, v, tau, x, x, x)
    with refused(SingularError, 'prescribed'):
        dynamics.hybrid.partial_derivatives.gradient(
            q, v, np.ones(len(v), dtype=bool), rng.normal(size=len(v)), tau[0], x)
    flat = ConstrainedDynamics(planar_linkage((0.2, 0.3), (0.4,), 0.1, ('left_0',)))
    stretched = np.zeros(3)  # all bars on one line: 0.2 + 0.3 = 0.1 + 0.4
    with refused(SingularError, 'q', got=1):
        flat.forward.partial_derivatives.product(stretched, stretched, stretched, *np.eye(3))
    with refused(SingularError, 'q', got=1):
        flat.inverse.partial_derivatives.product(
            stretched, stretched, stretched, *np.eye(3), actuated=np.ones(3, dtype=bool))


def test_constraint_functions_without_series_are_refused() -> None:
    dynamics, q, v, tau, _, _ = state(EVERY['revolute'])
    function = ConstraintFunction(
        'wall', 1, lambda at: [0.0], lambda at: np.zeros((1, len(v))), lambda at, rate: [0.0])
    other = ConstrainedDynamics(dynamics.model, functions=[function])
    with refused(ModelError, 'functions'):
        other.forward.partial_derivatives.product(q, v, tau[0], v, v, v)
