# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of retraction and difference, block by block along the diagonal (theory 2.2)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3, so3
from liedyn_ros.model.kernels.kinds import FREE, SPHERICAL
from liedyn_ros.model.link_table import LinkTable


class RetractionDerivatives(NamedTuple):
    """
    Derivatives (nv, nv) of q (+) dv, in tangents at the result.

    by_q is along the tangents at q, by_dv by the numbers of dv.
    """

    by_q: Array
    by_dv: Array


class DifferenceDerivatives(NamedTuple):
    """Derivatives (nv, nv) of the dv with q0 (+) dv = q1, along the tangents at q0 and at q1."""

    by_q0: Array
    by_q1: Array


def retraction_derivatives(table: LinkTable, dv: Array) -> RetractionDerivatives:
    """Return the derivatives of q (+) dv, which do not depend on q."""
    return RetractionDerivatives(
        _blocks(table, dv, lambda group, x: group.adjoint(group.exp(-x))),  # (0.5)
        _blocks(table, dv, lambda group, x: group.right_jacobian(x)))  # (1.14)


def difference_derivatives(table: LinkTable, dv: Array) -> DifferenceDerivatives:
    """Return the derivatives of a difference dv, which depend on dv alone."""
    return DifferenceDerivatives(
        -_blocks(table, dv, lambda group, x: group.left_jacobian_inverse(x)),  # (1.14)
        _blocks(table, dv, lambda group, x: group.right_jacobian_inverse(x)))


def _blocks(table: LinkTable, dv: Array, of: Callable[..., Array]) -> Array:
    """Return the matrix of the block of each group; that of all other coordinates is 1."""
    result = np.eye(table.nv)
    for kind, at in zip(table.kind, table.vi):
        if kind in (SPHERICAL, FREE):
            group, size = (so3, 3) if kind == SPHERICAL else (se3, 6)
            place = slice(at, at + size)
            result[place, place] = of(group, dv[place])
    return result
