# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Hessian of a body's motion, and time derivatives of its Jacobian (13.7)."""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.tree.screw_tree import bracket, convolve, ScrewTree, unpacked
from liedyn_ros.lie import se3
from liedyn_ros.model import Model


def body_jacobian_hessian(model: Model, q: ArrayLike, body: str) -> Array:
    """
    Return the derivative of the body Jacobian by the configuration.

    It is the bracket [J_a, J_b] where a comes before b on the path to the body, and zero
    elsewhere, also within a spherical or free joint (13.38).

    Args:
        model: a Model.
        q: configuration (nq,); rad and m.
        body: name of a body.

    Returns:
        H (nv, 6, nv): H[b, :, a] is the derivative of column a by q_b.

    Raises:
        ModelError: for an unknown body.

    >>> body_jacobian_hessian(model, q, 'tool').shape
    (6, 6, 6)
    """
    tree, index = ScrewTree(model, q), model.body_index(body)
    columns = _columns(tree, index)
    brackets = bracket(columns[:, None, :], columns[None, :, :])  # [J_a, J_b] at (a, b)
    return np.einsum('ab,abk->bka', tree.before.astype(float), brackets)


def body_jacobian_rates(model: Model, q: ArrayLike, motion: ArrayLike, body: str) -> Array:
    """
    Return the body Jacobian and its first r time derivatives (13.40).

    Args:
        model: a Model.
        q: configuration (nq,); rad and m.
        motion: v and its derivatives (r, nv): v and a give the second derivative of the Jacobian.
        body: name of a body.

    Returns:
        (r + 1, 6, nv), angular rows first.

    Raises:
        ModelError: for an unknown body.

    >>> rates = body_jacobian_rates(model, q, [v], 'tool')
    >>> np.allclose(rates[1], robot.frames.jacobian_rate(q, v, 'tool'))
    True
    """
    tree, index = ScrewTree(model, q), model.body_index(body)
    motion = as_array('motion', motion, (-1, model.nv))
    order, link = len(motion), model.link_table.body_link[index]
    if link < 0:
        return np.zeros((order + 1, 6, model.nv))
    scale = np.array([factorial(k) for k in range(order + 1)], dtype=float)
    screws, twists = tree.series(motion / scale[:-1, None])
    to_body = np.zeros((order + 1, 6, 6))
    to_body[0] = se3.adjoint(se3.inverse(_pose(tree, index)))
    for m in range(order):  # (Ad_{T^-1})' = -Ad_{T^-1} ad_V (0.13)
        to_body[m + 1] = -sum(to_body[m - i] @ se3.ad(twists[i, link])
                              for i in range(m + 1)) / (m + 1)
    series = convolve(to_body, np.swapaxes(screws, 1, 2), np.matmul)
    return series * tree.moves[link] * scale[:, None, None]


def _columns(tree: ScrewTree, body: int) -> Array:
    """Return the columns of the body Jacobian as rows (nv, 6)."""
    link = tree.model.link_table.body_link[body]
    if link < 0:
        return np.zeros((tree.model.nv, 6))
    to_body = se3.adjoint(se3.inverse(_pose(tree, body)))
    return (tree.screws @ to_body.T) * tree.moves[link][:, None]


def _pose(tree: ScrewTree, body: int) -> Array:
    """Return the pose (4, 4) in the ground of a body that moves."""
    table = tree.model.link_table
    return tree.poses[table.body_link[body]] @ unpacked(table.body_placement[body])
