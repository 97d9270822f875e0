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
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, MinimalCoordinates
from liedyn_ros.dynamics.constrained.statics import independent_coordinates
from liedyn_ros.dynamics.linearization.linear_models import linearize, LinearModel


class IndependentModel(NamedTuple):
    """
    A linear model in the displacements and changes of rate z (2 d,) of independent coordinates.

    model has A (2 d, 2 d) and B (2 d, nv). motions (2 nv, 2 d) gives the displacements and changes
    of velocity of all coordinates, x = motions @ z. by names the d coordinates, and z is that part
    of x.

    >>> linearize_independent(linkage, closed, rest, rest).motions.shape
    (6, 2)
    """

    model: LinearModel
    motions: Array
    by: tuple[str, ...]


def linearize_independent(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
        external: ArrayLike | None = None, *, by: Sequence[str] | None = None) -> IndependentModel:
    """
    Return the continuous model about a motion, of as many states as the machine has (13.49a).

    The model of linearize has states that no motion reaches, and regulators need one
    without.

    Args:
        dynamics: a ConstrainedDynamics.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.
        tau: joint forces (nv,); N m and N.
        external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame of
            its body; by default none.
        by: names of coordinates that decide the motion; by default independent ones, actuated ones
            first.

    Returns:
        the model of the d coordinates, their names, and the motions of all coordinates.

    Raises:
        ModelError: where the coordinates do not decide the motion.
        LiedynError: for a state that is wrong or open.

    >>> linearize_independent(linkage, closed, rest, rest).by
    ('crank_joint',)
    """
    whole, n = linearize(dynamics, q, v, tau, external), dynamics.model.nv
    names = np.array(dynamics.model.coordinate_names, dtype=object)
    least = MinimalCoordinates(dynamics, by if by is not None else names[
        independent_coordinates(dynamics, q, dynamics.model.actuated)].tolist())
    known, rates = dynamics.names.mask('by', list(least.by)), np.asarray(v, dtype=float)
    motions: Array = np.zeros((2 * n, 2 * least.f))
    motions[:n, :least.f] = motions[n:, least.f:] = least.motions(q)
    for column, unit in enumerate(np.eye(least.f)):  # N'[N y] v_by (13.49a)
        motions[n:, column] = least.motions_and_rate(q, unit).rate @ rates[known]
    kept = np.concatenate((known, known))
    return IndependentModel(
        LinearModel(whole.A[kept] @ motions, whole.B[kept]), motions, least.by)
