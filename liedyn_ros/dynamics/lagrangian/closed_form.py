# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The closed form of the dynamics and of its first derivative (Ali et al., Proposition 1).

tau = M a + C v + g - E w and tau' = M a' + B1 a + B0 v + g' - E' w - E w'. w are the wrenches on
bodies. The matrices are dense, each a sum over bodies, to inspect and to compare recursions with.
They cost O(n^2) a body; for numbers alone inverse.time_derivatives is O(n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.tree.screw_tree import inertia_matrices, ScrewTree
from liedyn_ros.lie import se3
from liedyn_ros.model import Body


class ClosedForm(NamedTuple):
    """
    The matrices of order zero (7.17).

    mass and coriolis (nv, nv), the admissible one of Lemma 1; gravity (nv,); external (nv, B, 6),
    which takes body wrenches to joint forces.
    """

    mass: Array
    coriolis: Array
    gravity: Array
    external: Array


class ClosedFormRate(NamedTuple):
    """
    The matrices of order one (7.18).

    by_acceleration B1 and by_velocity B0 (nv, nv); mass (nv, nv), gravity (nv,) and external
    (nv, B, 6) are the rates of those of order zero.
    """

    mass: Array
    by_acceleration: Array
    by_velocity: Array
    gravity: Array
    external: Array


def closed_form(dynamics: Dynamics, q: ArrayLike, v: ArrayLike) -> ClosedForm:
    """
    Return the matrices of order zero, without damping, friction and springs.

    Raises the errors of the methods of Dynamics.
    """
    screws, bodies = _tree(dynamics, q, v, np.zeros(dynamics.model.nv))
    mass = np.diag(dynamics.model.link_table.armature)  # (3.20)
    coriolis = np.zeros_like(mass)
    gravity, external = np.zeros(dynamics.model.nv), []
    lift = np.concatenate([np.zeros(3), dynamics.model.gravity])
    for body in bodies:
        j, j1 = body.jacobians(screws)[:2]
        mass += j.T @ body.inertia @ j
        coriolis += j.T @ (body.inertia @ j1 - body.ad.T @ body.inertia @ j)
        gravity -= j.T @ body.inertia @ lift
        external.append((body.to_body @ j).T)
    return ClosedForm(mass, coriolis, gravity, np.stack(external, axis=1))


def closed_form_rate(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike
                     ) -> ClosedFormRate:
    """
    Return the matrices of order one, without damping, friction and springs.

    They depend on the acceleration too. Raises the errors of the methods of Dynamics.
    """
    screws, bodies = _tree(dynamics, q, v, a)
    mass, b1, b0 = np.zeros((3, dynamics.model.nv, dynamics.model.nv))
    gravity, external = np.zeros(dynamics.model.nv), []
    lift = np.concatenate([np.zeros(3), dynamics.model.gravity])
    for body in bodies:
        (j, j1, j2), m, (m1, m2) = body.jacobians(screws), body.inertia, body.inertia_rates()
        mass += j1.T @ m @ j + j.T @ (m @ j1 + m1 @ j)
        b1 += j1.T @ m @ j + 2.0 * j.T @ (m @ j1 + m1 @ j)
        b0 += j1.T @ (m @ j1 + m1 @ j) + j.T @ (m @ j2 + 2.0 * m1 @ j1 + m2 @ j)
        gravity -= (j1.T @ m + j.T @ m1) @ lift
        external.append((body.to_body @ (j1 - body.ad @ j)).T)
    return ClosedFormRate(mass, b1, b0, gravity, np.stack(external, axis=1))


class _Body(NamedTuple):
    """A body in the ground frame: spatial inertia, ad of its twist and of the twist's rate."""

    inertia: Array
    ad: Array
    ad_rate: Array
    to_body: Array  # Ad_{T^-1}
    moves_with: Array  # (nv,) 1 for the coordinates that move it, 0 for others

    def jacobians(self, screws: tuple[Array, Array, Array]) -> list[Array]:
        """Return J, J1 and J2 (6, nv)."""
        return [columns * self.moves_with for columns in screws]

    def inertia_rates(self) -> tuple[Array, Array]:
        """Return the first and second derivative of the spatial inertia (Ali 61)."""
        m, a, a1 = self.inertia, self.ad, self.ad_rate
        m1 = -(m @ a + a.T @ m)
        return m1, -(m1 @ a + a.T @ m1 + m @ a1 + a1.T @ m)


def _tree(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike
          ) -> tuple[tuple[Array, Array, Array], list[_Body]]:
    """Return the spatial screws of all coordinates with two derivatives, and all bodies."""
    model, table = dynamics.model, dynamics.model.link_table
    v, a = as_array('v', v, (model.nv,)), as_array('a', a, (model.nv,))
    motion, tree = dynamics.kinematics(q, v, a), ScrewTree(model, q)
    s, own = tree.screws.T, tree.moves[tree.link].astype(float)
    twists = se3.ad((s * v @ own.T).T)
    s1 = np.einsum('jab,bj->aj', twists, s)  # (7.2)
    rates = se3.ad(((s * a + s1 * v) @ own.T).T)
    s2 = np.einsum('jab,bj->aj', rates, s) + np.einsum('jab,bj->aj', twists, s1)
    bodies = []
    for b, each in enumerate(model.body_list):
        to_body = se3.adjoint(np.linalg.inv(motion.poses[b]))
        link = table.body_link[b]
        moves = tree.moves[link].astype(float) if link >= 0 else np.zeros(model.nv)
        bodies.append(_Body(
            to_body.T @ _inertia(each) @ to_body, se3.ad(s @ (moves * v)),
            se3.ad(s @ (moves * a) + s1 @ (moves * v)), to_body, moves))
    return (s, s1, s2), bodies


def _inertia(body: Body) -> Array:
    """Return the inertia (6, 6) about the origin of the body frame (1.17)."""
    if body.inertia is None:
        return np.zeros((6, 6))
    return inertia_matrices(body.inertia.parameters())
