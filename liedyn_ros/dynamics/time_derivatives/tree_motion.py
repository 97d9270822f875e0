# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The motion of a whole tree to any order in time (Ali, Algorithm 1), in the ground frame.

All is a Taylor series: products of quantities are convolutions, and the rates of screws are
brackets with the twist of their link.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics.tree.inputs import MAX_ORDER
from liedyn_ros.dynamics.tree.screw_tree import apply, convolve, outer, ScrewTree, unpacked
from liedyn_ros.lie import se3
from liedyn_ros.lie.time_derivatives import SPATIAL, Twists
from liedyn_ros.model import Model


class EquationDerivatives(NamedTuple):
    """
    M, C and g of tau = M a + C v + g (7.17) with their time derivatives (7.18).

    mass M and coriolis C are (r + 1, nv, nv), gravity g (r + 1, nv). C is the admissible one of
    Ali et al., Lemma 1; damping, friction and springs are left out.

    >>> TreeMotion(model, q, np.zeros((3, 6))).equations.mass.shape
    (3, 6, 6)
    """

    mass: Array
    coriolis: Array
    gravity: Array


class TreeMotion:
    """
    Poses, twists and screws of a model along a motion, with time derivatives to order r.

    motion (r + 1, nv) is v and its derivatives. poses (B, 4, 4) in the ground. twists
    (r + 1, B, 6) are the spatial twists of the bodies and their derivatives (7.3). screws
    (r + 1, nv, 6) are the spatial screws S of the coordinates and their derivatives (7.2). Raises
    ShapeError, NotFiniteError, NotInGroupError, or LimitError for r > 30.

    >>> TreeMotion(model, q, np.zeros((3, 6))).screws.shape
    (3, 6, 6)
    """

    poses: Array
    twists: Array
    screws: Array

    def __init__(self, model: Model, q: ArrayLike, motion: ArrayLike) -> None:
        """
        Compute the series.

        Args:
            model: a Model.
            q: configuration (nq,).
            motion: (r + 1, nv), v and its time derivatives.

        Raises:
            ShapeError, NotFiniteError, NotInGroupError; LimitError: r above 30.
        """
        self.model, self._tree = model, ScrewTree(model, q)
        rates = as_array('motion', motion, (-1, model.nv))
        if not 0 < len(rates) <= MAX_ORDER + 1:
            raise (LimitError if len(rates) else ShapeError)(
                f'motion: expected 1 to {MAX_ORDER + 1} rows, v and its derivatives, '
                f'got {len(rates)}')
        self._scale = np.array([float(factorial(k)) for k in range(len(rates) + 1)])
        self._s, self._twist = self._tree.series(rates / self._scale[:-1, None])
        links, table = list(model.link_table.body_link), model.link_table
        ground = np.concatenate([self._twist, np.zeros((len(rates), 1, 6))], axis=1)  # link -1
        self.twists = ground[:, links] * self._scale[:-1, None, None]
        self.screws = self._s[:-1] * self._scale[:-1, None, None]
        carriers = np.concatenate([self._tree.poses, np.eye(4)[None]])
        self.poses = np.array([carriers[link] @ unpacked(row) for link, row in zip(
            links, table.body_placement)]).reshape(-1, 4, 4)

    def body(self, name: str) -> Twists:
        """
        Return the motion of a body; its to(BODY) has body twists, its poses() those of the pose.

        Args:
            name: of a body.

        Returns:
            spatial twist and derivatives.

        Raises:
            ModelError: for an unknown name.

        >>> TreeMotion(model, q, [v, a]).body('tool').time_derivatives.shape
        (2, 6)
        """
        b = self.model.body_index(name)
        return Twists(self.poses[b], self.twists[:, b], SPATIAL)

    def spatial_jacobian(self, name: str) -> Array:
        """
        Return the spatial Jacobian of a body with its time derivatives.

        Args:
            name: of a body.

        Returns:
            (r + 1, 6, nv), angular rows first.

        Raises:
            ModelError: for an unknown name.

        >>> moved = TreeMotion(model, q, [v, a]).spatial_jacobian('tool')
        >>> np.allclose(moved[0], robot.frames.jacobian(q, 'tool', ld.WORLD))
        True
        """
        link = self.model.link_table.body_link[self.model.body_index(name)]
        moves = self._tree.moves[link] if link >= 0 else np.zeros(self.model.nv)
        return np.swapaxes(self.screws * moves[:, None], 1, 2)

    @cached_property
    def equations(self) -> EquationDerivatives:
        """Return the matrices of the equations of motion with their derivatives."""
        tree, s, rows = self._tree, self._s, len(self._twist)
        inertia, coupling = self._composites()
        own = inertia[:, tree.link], coupling[:, tree.link]
        momentum = convolve(own[0], s[:-1], apply)
        rate = s[1:] * np.arange(1.0, rows + 1.0)[:, None, None]  # S'
        force = convolve(own[0], rate, apply) - convolve(own[1], s[:-1], apply)
        dual = convolve(np.swapaxes(own[1], -1, -2), s[:-1], apply)
        inner, after = tree.before | tree.together, tree.before.T
        mass = inner * convolve(s[:-1], momentum, outer) + after * convolve(
            momentum, s[:-1], outer)
        mass[0] += np.diag(self.model.link_table.armature)  # (3.20)
        coriolis = inner * convolve(s[:-1], force, outer) + after * (
            convolve(momentum, rate, outer) - convolve(dual, s[:-1], outer))
        gravity = -momentum[:, :, 3:] @ self.model.gravity
        scale = self._scale[:-1, None, None]
        return EquationDerivatives(mass * scale, coriolis * scale, gravity * scale[:, 0])

    def _composites(self) -> tuple[Array, Array]:
        """Return the series of M and of ad_V^T M, summed over each link and all it carries."""
        ad = se3.ad(self._twist)
        dual = np.swapaxes(ad, -1, -2)
        inertia = np.zeros((len(ad), len(self._tree.poses), 6, 6))
        inertia[0] = self._tree.inertias
        for k in range(len(ad) - 1):  # (Ali 61)
            inertia[k + 1] = -sum(inertia[k - j] @ ad[j] + dual[j] @ inertia[k - j]
                                  for j in range(k + 1)) / (k + 1)
        both: Sequence[Array] = (inertia, convolve(dual, inertia, np.matmul))
        composite, coupling = (np.einsum('kl,mlab->mkab', self._tree.carries, x) for x in both)
        return composite, coupling
