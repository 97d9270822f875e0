# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Constrained dynamics by dense matrices: an independent witness of small, slow, plain steps.

A closure is here a list of scalar equations between positions and directions in the ground. They
follow from what its joint leaves free. They are differentiated by differences of high order. Of
the package only the tree's M and b are used, and no closures.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import Closure, Model

STEP = 2e-3
# Weights of differences with seven points, first and second derivative (Fornberg 1988).
FIRST = np.array([-1 / 60, 3 / 20, -3 / 4, 0, 3 / 4, -3 / 20, 1 / 60])
SECOND = np.array([1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90])
tree_of = lru_cache(maxsize=1)(Dynamics)  # of the model that is differentiated


class Dense(NamedTuple):
    """M, b, A, gamma and the force that the constraints put on the coordinates, with a."""

    a: Array
    force: Array
    jacobian: Array
    gamma: Array


def equations(model: Model, q: Array) -> Array:
    """Return what the closures and couplings hold at zero, each a scalar equation or several."""
    poses = dict(zip(model.bodies, tree_of(model).kinematics(q).poses))
    values = [_equation(closure, poses) for closure in model.closures]
    for coupling in model.couplings:
        one, leader = model.joint(coupling.joint), model.joint(coupling.leader)
        values.append([q[one.qi] - coupling.multiplier * q[leader.qi] - coupling.offset])
    return np.concatenate([np.empty(0), *values])


def _equation(closure: Closure, poses: dict[str, Array]) -> list[float]:
    a = (np.eye(4) if closure.body_a is None else poses[closure.body_a]) @ closure.frame_a
    b = (np.eye(4) if closure.body_b is None else poses[closure.body_b]) @ closure.frame_b
    xa, ya, za = a[:3, :3].T
    xb, yb = b[:3, :2].T
    d = b[:3, 3] - a[:3, 3]
    parallel = [za @ xb, za @ yb]
    lead = 2.0 * np.pi * closure.pitch  # a screw may have made whole turns
    ahead = za @ d - closure.pitch * np.arctan2(ya @ xb, xa @ xb)
    return {
        'weld': [*parallel, xa @ yb, *d],
        'revolute': [*parallel, *d],
        'prismatic': [*parallel, xa @ yb, xa @ d, ya @ d],
        'helical': [*parallel, xa @ d, ya @ d,
                    ahead - lead * np.round(ahead / lead) if lead else ahead],
        'cylindrical': [*parallel, xa @ d, ya @ d],
        'planar': [*parallel, za @ d],
        'universal': [xa @ yb, *d],
        'spherical': [*d],
        'point_on_line': [xa @ d, ya @ d],
        'point_on_plane': [za @ d],
        'rod': [d @ d - closure.length**2],
    }[closure.type_name]


def differences(function: Callable[[float], Array], weights: Array, power: int) -> Array:
    """Return a derivative at zero of a function of one number."""
    points = np.arange(-3, 4) * STEP
    return sum(w * function(t) for w, t in zip(weights, points) if w) / STEP**power


def jacobian(model: Model, q: Array) -> Array:
    """Return the derivative of the equations by velocities."""
    return np.column_stack([
        differences(lambda t, e=e: equations(model, model.integrate(q, t * e)), FIRST, 1)
        for e in np.eye(model.nv)])


def forward(model: Model, q: Array, v: Array, tau: Array, external: Array | None = None) -> Dense:
    """Return the accelerations by a least-squares solution of the KKT system."""
    tree = Dynamics(model)
    mass, bias = tree.mass_matrix(q), tree.bias(q, v, external)
    rows = jacobian(model, q)
    gamma = differences(lambda t: equations(model, model.integrate(q, t * v)), SECOND, 2)
    factor = np.linalg.cholesky(mass)
    scaled = np.linalg.solve(factor, rows.T).T
    free = np.linalg.solve(factor, tau - bias)
    change = np.linalg.lstsq(scaled, -gamma - scaled @ free, rcond=1e-7)[0]
    a = np.linalg.solve(factor.T, free + change)
    return Dense(a, factor @ change, rows, gamma)
