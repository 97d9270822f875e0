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
They cost O(n^2) a body; for numbers alone inverse.time_derivatives is O(n). Here too: the
derivatives of gravity's potential, and the factors M = A^T L^T D L A = S^T G^T J G S (6.5, 6.6).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.tree.screw_tree import inertia_matrices, link_screws, ScrewTree
from liedyn_ros.lie import se3
from liedyn_ros.model import Body, Model


class ClosedForm(NamedTuple):
    """
    The matrices of order zero (7.17).

    mass and coriolis (nv, nv), the admissible one of Lemma 1; gravity (nv,); external (nv, B, 6),
    which takes body wrenches to joint forces.

    >>> form = closed_form(robot, q, v)
    >>> np.allclose(form.mass @ a + form.coriolis @ v + form.gravity + robot.resistance(v),
    ...             robot.inverse(q, v, a))
    True
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

    >>> closed_form_rate(robot, q, v, a).by_velocity.shape
    (6, 6)
    """

    mass: Array
    by_acceleration: Array
    by_velocity: Array
    gravity: Array
    external: Array


def closed_form(dynamics: Dynamics, q: ArrayLike, v: ArrayLike) -> ClosedForm:
    """
    Return the matrices of the equations of motion of order zero.

    They have neither damping, friction nor springs.

    Args:
        dynamics: a Dynamics.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.

    Returns:
        mass, coriolis, gravity and external.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> np.allclose(closed_form(robot, q, v).mass, robot.mass_matrix(q))
    True
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
    Return the matrices of the differentiated equations of motion.

    They have neither damping, friction nor springs. They depend on the acceleration too.

    Args:
        dynamics: a Dynamics.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.
        a: acceleration (nv,); rad/s^2 and m/s^2.

    Returns:
        by_acceleration, by_velocity and the rates of mass, gravity and external.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> closed_form_rate(robot, q, v, a).mass.shape
    (6, 6)
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


class GravityTerms(NamedTuple):
    """
    The potential U (J), its gradient E_k U (nv,) and its second derivatives (nv, nv).

    hessian[p, k] is E_p (E_k U). It is symmetric but for two coordinates of one spherical or free
    joint (13.5).

    >>> gravity_terms(model, q).hessian.shape
    (6, 6)
    """

    potential: float
    gradient: Array
    hessian: Array


def gravity_terms(model: Model, q: ArrayLike) -> GravityTerms:
    """
    Return the potential of gravity, zero at the origin of the ground, and its derivatives.

    Args:
        model: a Model.
        q: configuration (nq,); rad and m.

    Returns:
        potential (J), gradient (nv,) and Hessian (nv, nv).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> np.allclose(gravity_terms(model, q).gradient, robot.gravity_vector(q))
    True
    """
    tree, gravity = ScrewTree(model, q), model.gravity
    screws, link = tree.screws, tree.link
    weights = (tree.composites @ np.concatenate([np.zeros(3), gravity]))[link]  # of what k carries
    # (p, k): what coordinate p moves of what k carries is the composite of the deeper of the two.
    below = tree.moves[link]
    carried = tree.composites[np.where(below, link[:, None], link)]
    mass, first = carried[..., 3, 3], carried[..., [2, 0, 1], [4, 5, 3]]  # of [J [h]; -[h] m 1]
    moved = np.cross(screws[:, None, :3], first) + mass[..., None] * screws[:, None, 3:]
    change = np.cross(moved, gravity) * (tree.before | below)[..., None]
    return GravityTerms(
        -float(tree.inertias[:, [2, 0, 1], [4, 5, 3]].sum(axis=0) @ gravity),  # (6.15)
        -np.einsum('ka,ka->k', screws, weights),  # (6.16)
        -np.einsum('pka,ka->pk', tree.screw_derivatives, weights)
        - np.einsum('pka,ka->pk', change, screws[:, :3]))  # (6.17)


class MassFactors(NamedTuple):
    """
    The factors of M = S^T G^T J G S over the N links of a model, without its armatures.

    screws S (6 N, nv) and inertias J (6 N, 6 N) are block diagonal and constant. transports G
    (6 N, 6 N) has unit blocks on the diagonal. It has Ad_{T_ij} at row i, column j where link j
    carries link i; the rest is zero. So G maps the twists of the joints to the twists of the
    links.

    >>> factors = body_factors(model, q)
    >>> np.allclose(factors.mass_matrix + np.diag(model.link_table.armature), robot.mass_matrix(q))
    True
    """

    screws: Array
    transports: Array
    inertias: Array

    @property
    def jacobian(self) -> Array:
        """Return G S (6 N, nv), which takes v to the twists of all links."""
        return self.transports @ self.screws

    @property
    def mass_matrix(self) -> Array:
        """Return M (nv, nv)."""
        jacobian = self.jacobian
        return jacobian.T @ self.inertias @ jacobian


def body_factors(model: Model, q: ArrayLike) -> MassFactors:
    """
    Return the factors S, G and J of the mass matrix, in the frames of the links (Park 47 to 49).

    Args:
        model: a Model.
        q: configuration (nq,); rad and m.

    Returns:
        screws (6 N, nv), transports and inertias (6 N, 6 N).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> body_factors(model, q).screws.shape
    (36, 6)
    """
    tree = ScrewTree(model, q)
    screws = [link_screws(model.link_table, i).T for i in range(model.link_table.N)]
    return _factors(tree, tree.poses, screws, inertia_matrices(model.link_table.inertia))


def home_factors(model: Model, q: ArrayLike) -> MassFactors:
    """
    Return the factors A, L and D of the mass matrix (Park 35, 41 to 46).

    They are seen in the ground at the zero configuration. A holds the home screws. Q is the block
    diagonal of the adjoints of the links' home poses. A = Q S, L = Q G Q^-1 and D = Q^-T J Q^-1
    (Park 50, 51).

    Args:
        model: a Model.
        q: configuration (nq,); rad and m.

    Returns:
        screws (6 N, nv), transports and inertias (6 N, 6 N).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> home_factors(model, q).inertias.shape
    (36, 36)
    """
    tree, home = ScrewTree(model, q), ScrewTree(model, model.neutral())
    screws = [home.screws[home.link == i].T for i in range(model.link_table.N)]
    return _factors(tree, tree.poses @ np.linalg.inv(home.poses), screws, home.inertias)


def _factors(tree: ScrewTree, poses: Array, screws: list[Array], inertias: Array) -> MassFactors:
    from scipy.linalg import block_diag  # which takes long to import, and no node needs it
    count = len(poses)
    transports = np.eye(6 * count)
    for i in range(count):
        j = tree.model.link_table.parent[i]
        while j >= 0:
            transports[6 * i:6 * i + 6, 6 * j:6 * j + 6] = se3.adjoint(
                se3.inverse(poses[i]) @ poses[j])
            j = tree.model.link_table.parent[j]
    return MassFactors(block_diag(*screws), transports, block_diag(*inertias))
