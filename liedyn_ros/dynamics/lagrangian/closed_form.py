# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of the potential of gravity; M = A^T L^T D L A = S^T G^T J G S (6.5, 6.6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.tree.screw_tree import inertia_matrices, link_screws, ScrewTree
from liedyn_ros.lie import se3
from liedyn_ros.model import Model


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
