# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Products by parameters of machines with closed loops beside full Jacobians and complex steps."""

import gc
import weakref

import numpy as np
import pytest
from scipy.linalg import qr
from support.comparison import assert_same
from support.machines.loop_states import EVERY, REDUNDANT, state
from support.refusals import refused
from support.witnesses.complex_loops import ComplexLoops
from support.witnesses.complex_step import along

from liedyn_ros.common.errors import LiedynError, NotFiniteError, ShapeError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, LEAST_FORCE, LEAST_TORQUE
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.identification import Regressor

KINEMATIC = {'placement': 'by_placement', 'axis': 'by_axis', 'pitch': 'by_pitch',
             'frame_a': 'by_frame_a', 'frame_b': 'by_frame_b',
             'closure_pitch': 'by_closure_pitch', 'length': 'by_length'}
TOLERANCE = 1e-9


def assert_weighted(got: float, y, found, z, multipliers) -> None:
    """Compare with y . found + z . multipliers, by the size of the terms."""
    size = np.abs(y) @ np.abs(found) + np.abs(z) @ np.abs(multipliers)
    assert got == pytest.approx(y @ found + z @ multipliers, rel=0.0,
                                abs=TOLERANCE * max(1.0, size))


def kinematic(jacobians, change: Parameters):
    """Return how a quantity varies with all kinematic parameters."""
    return sum(np.einsum('ij,j->i', (matrix := getattr(jacobians, by)).reshape(len(matrix), -1),
                         getattr(change, part).ravel()) for part, by in KINEMATIC.items())


def needed(dynamics, q, v, a, w, change: Parameters):
    """Return what the parameters that do not move anything add to the forces of the tree."""
    partial = dynamics.tree.inverse.partial_derivatives
    regressor = Regressor(dynamics.model, dissipation=True, rotor_inertia=True)
    inertial = np.concatenate([change.inertia.ravel(), change.damping, change.friction,
                               change.rotor_inertia])
    return (regressor.torque(q, v, a) @ inertial + partial(q, v, a, w).by_gravity @ change.gravity
            + np.einsum('kbc,bc->k', partial.by_external(q), change.external))


def random_change(model, rng) -> Parameters:
    """Return a random change of every parameter."""
    return Parameters(model, rng.normal(size=len(Parameters(model).vector)))


@pytest.mark.parametrize('name', EVERY)
def test_forward(name: str) -> None:
    dynamics, q, v, tau, w, rng = state(EVERY[name])
    n, m, change = dynamics.model.nv, dynamics.m, random_change(dynamics.model, rng)
    x, y, u, weights = rng.normal(size=(4, n))
    z, given = rng.normal(size=m), (q, v, tau[0])
    full, geometry = (dynamics.forward.partial_derivatives(*given, external=w),
                      dynamics.forward.partial_derivatives.by_kinematics(*given, external=w))
    by = full.by_parameters(needed(dynamics, q, v, full.a, w, change))
    plain = dynamics.forward.partial_derivatives.product(*given, x, y, u, external=w)
    a = plain.a + by + kinematic(geometry.a, change)
    multipliers = plain.multipliers + by.multipliers + kinematic(geometry.multipliers, change)
    product = dynamics.forward.partial_derivatives.product(
        *given, x, y, u, external=w, parameters=change)
    assert_same(product.a, a)
    assert_same(product.multipliers, multipliers)
    assert_same(product.tau, u)
    slope = Parameters(dynamics.model, np.ones(len(change.vector)))  # what is there is lost
    gradient = dynamics.forward.partial_derivatives.gradient(
        *given, weights, external=w, z=z, parameters=slope)
    assert_weighted(gradient.by_q @ x + gradient.by_v @ y + gradient.by_tau @ u
                    + slope.vector @ change.vector, weights, a, z, multipliers)


@pytest.mark.parametrize(('passive', 'redundancy'), ((1, LEAST_TORQUE), (2, LEAST_FORCE)))
@pytest.mark.parametrize('name', EVERY)
def test_inverse(name: str, passive: int, redundancy: str) -> None:
    dynamics, q, v, given, w, rng = state(EVERY[name])
    n, m, change = dynamics.model.nv, dynamics.m, random_change(dynamics.model, rng)
    a, driven = dynamics.forward(q, v, rng.normal(size=n)).a, np.ones(n, dtype=bool)
    driven[qr(dynamics.jacobian(q), mode='r', pivoting=True)[1][:min(passive, m)]] = False
    options = {'tau': given[0], 'actuated': driven, 'redundancy': redundancy, 'external': w}
    x, y, u, t, weights = rng.normal(size=(5, n))
    z, motion = rng.normal(size=m), (q, v, a)
    full, geometry = (dynamics.inverse.partial_derivatives(*motion, **options),
                      dynamics.inverse.partial_derivatives.by_kinematics(*motion, **options))
    by = full.by_parameters(needed(dynamics, q, v, a, w, change))
    plain = dynamics.inverse.partial_derivatives.product(*motion, x, y, u, dtau=t, **options)
    tau = plain.tau + by + kinematic(geometry.tau, change)
    multipliers = plain.multipliers + by.multipliers + kinematic(geometry.multipliers, change)
    product = dynamics.inverse.partial_derivatives.product(
        *motion, x, y, u, dtau=t, parameters=change, **options)
    assert_same(product.tau, tau)
    assert_same(product.multipliers, multipliers)
    slope = Parameters(dynamics.model)
    gradient = dynamics.inverse.partial_derivatives.gradient(
        *motion, weights, z=z, parameters=slope, **options)
    assert_weighted(sum(by @ e for by, e in zip(gradient, (x, y, u, t)))
                    + slope.vector @ change.vector, weights, tau, z, multipliers)


@pytest.mark.parametrize('name', EVERY)
def test_hybrid(name: str) -> None:
    dynamics, q, v, tau, w, rng = state(EVERY[name])
    n, m, change = dynamics.model.nv, dynamics.m, random_change(dynamics.model, rng)
    a, known = dynamics.forward(q, v, tau[0], external=w).a, np.zeros(n, dtype=bool)
    known[np.argsort(np.linalg.norm(dynamics.jacobian(q), axis=0))[:(n - m) // 2]] = True
    x, y, u, weights = rng.normal(size=(4, n))
    z, motion = rng.normal(size=m), (q, v, known, a, tau[0])
    full, geometry = (dynamics.hybrid.partial_derivatives(*motion, external=w),
                      dynamics.hybrid.partial_derivatives.by_kinematics(*motion, external=w))
    more = full.by_parameters(needed(dynamics, q, v, a, w, change))
    plain = dynamics.hybrid.partial_derivatives.product(*motion, x, y, u, external=w)
    wanted = [one + other + kinematic(part, change)
              for one, other, part in zip(plain.solution, more.solution, geometry)]
    product = dynamics.hybrid.partial_derivatives.product(
        *motion, x, y, u, external=w, parameters=change)
    for ours, theirs in zip(product.solution, wanted):
        assert_same(ours, theirs)
    slope = Parameters(dynamics.model)
    gradient = dynamics.hybrid.partial_derivatives.gradient(
        *motion, weights, external=w, z=z, parameters=slope)
    assert_weighted(sum(by @ e for by, e in zip(gradient[2:], (x, y, u)))
                    + slope.vector @ change.vector,
                    weights, np.where(known, wanted[1], wanted[0]), z, wanted[2])


@pytest.mark.parametrize('name', ('weld', 'balls', 'gears'))
def test_beside_complex_steps(name: str) -> None:
    """Gravity, wrenches, inertias and damping, with a change of the state."""
    dynamics, q, v, tau, w, rng = state(EVERY[name])
    model, n, there = dynamics.model, dynamics.model.nv, ComplexLoops(dynamics.model, q)
    tree, change, (x, y, u) = there.tree, Parameters(model), rng.normal(size=(3, n))
    for part in (change.gravity, change.damping, change.external):
        part[:] = rng.normal(size=part.shape)
    change.inertia[:] = Regressor(model).parameters.reshape(-1, 10)  # the same, times 1 + s
    gravity, damping, inertia = tree.gravity, tree.damping, tree.inertia

    def moved(s):
        tree.gravity, tree.damping = gravity + s * change.gravity, damping + s * change.damping
        tree.inertia = (1.0 + s) * inertia
        return np.concatenate(there.hybrid(v + s * y, np.zeros(n, dtype=bool), tau[0] + s * u,
                                           w + s * change.external, s * x))

    product = dynamics.forward.partial_derivatives.product(
        q, v, tau[0], x, y, u, external=w, parameters=change)
    assert_same(np.concatenate(product.solution), along(moved))


@pytest.mark.parametrize('name', REDUNDANT)
def test_redundant_constraints(name: str) -> None:
    """Parameters that do not move anything keep the constraints; a gradient agrees."""
    dynamics, q, v, tau, w, rng = state(REDUNDANT[name])
    change, model = Parameters(dynamics.model), dynamics.model
    for part in ('gravity', 'external', 'inertia', 'damping', 'friction', 'rotor_inertia'):
        getattr(change, part)[:] = rng.normal(size=getattr(change, part).shape)
    rest, y, z = np.zeros(model.nv), rng.normal(size=model.nv), rng.normal(size=dynamics.m)
    full = dynamics.forward.partial_derivatives(q, v, tau[0], external=w)
    by = full.by_parameters(needed(dynamics, q, v, full.a, w, change))
    a, multipliers = np.asarray(by), by.multipliers
    product = dynamics.forward.partial_derivatives.product(
        q, v, tau[0], rest, rest, rest, external=w, parameters=change)
    assert_same(product.a, a)
    assert_same(product.multipliers, multipliers)
    slope = Parameters(model)
    dynamics.forward.partial_derivatives.gradient(
        q, v, tau[0], y, external=w, z=z, parameters=slope)
    assert_weighted(slope.vector @ change.vector, y, a, z, multipliers)


def test_products_keep_no_machine_alive() -> None:
    kept, q, v, tau, _, _ = state(EVERY['revolute'])
    dynamics = ConstrainedDynamics(kept.model)
    dynamics.forward.partial_derivatives.product(
        q, v, tau[0], v, v, v, parameters=Parameters(kept.model))
    alive = weakref.ref(dynamics)
    del dynamics
    gc.collect()
    assert alive() is None


def test_refusals() -> None:
    dynamics, q, v, tau, _, _ = state(EVERY['revolute'])
    with refused(LiedynError, 'parameters', got='int'):
        dynamics.forward.partial_derivatives.gradient(q, v, tau[0], v, parameters=1)
    with refused(ShapeError, 'parameters'):
        dynamics.forward.partial_derivatives.product(
            q, v, tau[0], v, v, v, parameters=Parameters(EVERY['two loops'].model))
    for short in (tau[0][1:], tau[:1]):
        with refused(ShapeError, 'tau'):
            dynamics.forward.partial_derivatives.product(q, v, short, v, v, v)
    broken = Parameters(dynamics.model)
    broken.gravity[2] = np.inf
    with refused(NotFiniteError, 'parameters', indices=(2,)):
        dynamics.forward.partial_derivatives.product(q, v, tau[0], v, v, v, parameters=broken)
