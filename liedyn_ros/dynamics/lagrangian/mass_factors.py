# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The mass matrix as a product of matrices, M = A^T L^T D L A = S^T G^T J G S (6.5, 6.6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.tree.screw_tree import inertia_matrices, link_screws, ScrewTree
from liedyn_ros.lie import se3
from liedyn_ros.model import Model


class MassFactors(NamedTuple):
    """
    The factors of M = S^T G^T J G S over the N links of a model, without its armatures.

    screws S (6 N, nv) and inertias J (6 N, 6 N) are block diagonal and constant. transports G
    (6 N, 6 N) has unit blocks on the diagonal. It has Ad_{T_ij} at row i, column j where link j
    carries link i; the rest is zero. So G maps the twists of the joints to the twists of the
    links.
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
    """Return S, G and J in the frames of the links (Park 47 to 49); raises as ScrewTree does."""
    tree = ScrewTree(model, q)
    screws = [link_screws(model.link_table, i).T for i in range(model.link_table.N)]
    return _factors(tree, tree.poses, screws, inertia_matrices(model.link_table.inertia))


def home_factors(model: Model, q: ArrayLike) -> MassFactors:
    """
    Return A, L and D, all seen in the ground at the zero configuration (Park 35, 41 to 46).

    A holds the home screws. Q is the block diagonal of the adjoints of the links' home poses. A =
    Q S, L = Q G Q^-1 and D = Q^-T J Q^-1 (Park 50, 51). Raises the errors of ScrewTree.
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
