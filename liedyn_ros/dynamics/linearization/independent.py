# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Linear models of closed loops in independent coordinates, for regulators (13.49a)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import (
    complete_acceleration, complete_velocity, ConstrainedDynamics)
from liedyn_ros.dynamics.constrained.statics import independent_coordinates
from liedyn_ros.dynamics.linearization.closed_loops import linearize_constrained
from liedyn_ros.dynamics.linearization.trees import LinearModel
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import velocity_brackets


class IndependentModel(NamedTuple):
    """
    A linear model in the displacements and changes of rate z (2 d,) of independent coordinates.

    model has A (2 d, 2 d) and B (2 d, nv). motions (2 nv, 2 d) gives the displacements and changes
    of velocity of all coordinates, x = motions @ z. by names the d coordinates, and z is that part
    of x.
    """

    model: LinearModel
    motions: Array
    by: tuple[str, ...]


def linearize_independent(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
        external: ArrayLike | None = None, *, by: Sequence[str] | None = None) -> IndependentModel:
    """
    Return the continuous model about a motion, of as many states as the machine has (13.49a).

    by names coordinates that decide the motion, by default independent ones, actuated ones first.
    The model of linearize_constrained has states that no motion reaches, and regulators need one
    without. Raises the errors of linearize_constrained and complete_velocity.
    """
    whole, model = linearize_constrained(dynamics, q, v, tau, external), dynamics.model
    known = (independent_coordinates(dynamics, q, model.actuated) if by is None
             else dynamics.names.mask('by', list(by)))
    motions = _motions(dynamics, q, np.asarray(v, dtype=float), known)
    kept = np.concatenate((known, known))
    names = np.array(model.coordinate_names, dtype=object)[known].tolist()
    return IndependentModel(
        LinearModel(whole.A[kept] @ motions, whole.B[kept]), motions, tuple(names))


def _motions(dynamics: ConstrainedDynamics, q: ArrayLike, v: Array, known: NDArray[np.bool_]
             ) -> Array:
    """
    Return T (2 nv, 2 d): all displacements and changes of velocity, by those of known ones.

    The change of velocity has two parts: N w of the changed rates, and N'[N y] v_by of the
    displaced configuration (13.49a). The second is bilinear in N y and v; accelerations at rates
    u, v and u + v give it, but for the bracket of the groups.
    """
    n, count = len(v), int(known.sum())
    shapes = np.empty((n, count))
    for column, unit in enumerate(np.eye(n)[known]):
        shapes[:, column] = complete_velocity(dynamics, q, unit, known)
    rest = np.zeros(n)
    brackets = velocity_brackets(dynamics.model, v)

    def curved(rates: Array) -> Array:
        return complete_acceleration(dynamics, q, rates, rest, known)

    result = np.zeros((2 * n, 2 * count))
    result[:n, :count] = result[n:, count:] = shapes
    own = curved(v)
    for column, shape in enumerate(shapes.T):
        bracket = -brackets @ shape  # [N y, v]
        along = shapes @ bracket[known] - bracket
        result[n:, column] = (curved(shape + v) - curved(shape) - own + along) / 2.0
    return result
