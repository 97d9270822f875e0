# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The potential of gravity with its first and second derivatives, in closed form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.tree.screw_tree import ScrewTree
from liedyn_ros.model import Model


class GravityTerms(NamedTuple):
    """
    The potential U (J), its gradient E_k U (nv,) and its second derivatives (nv, nv).

    hessian[p, k] is E_p (E_k U). It is symmetric but for two coordinates of one spherical or free
    joint (13.5).
    """

    potential: float
    gradient: Array
    hessian: Array


def gravity_terms(model: Model, q: ArrayLike) -> GravityTerms:
    """Return the potential, zero at the origin, and its derivatives; raises as ScrewTree does."""
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
