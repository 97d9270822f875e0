# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tasks of the kernel of constrained dynamics: what is free, given and minimised."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.kernels.tables import TASK
from liedyn_ros.dynamics.constrained.solver.kernels import solver as kernels

Mask = NDArray[np.bool_]

NO_USUAL_RANK = np.iinfo(np.int64).max
LEAST_TORQUE, LEAST_FORCE = 'least_torque', 'least_force'  # of inverse dynamics


class Sharing(TypedDict, total=False):
    """Arguments of inverse dynamics that choose joint forces, where several have a motion."""

    tau: ArrayLike | None
    actuated: ArrayLike | None
    redundancy: str
    weights: ArrayLike | None


class Task(NamedTuple):
    """
    A task of the kernel: HYBRID, LEAST_FORCE or LEAST_TORQUE, and the array of a TASK.

    reads_a and reads_tau (nv,) are masks of the input that it reads, driven (nv,) that of the
    actuated coordinates. unprescribed says that it reads no acceleration.
    """

    kind: int
    table: Array
    reads_a: Mask
    reads_tau: Mask
    driven: Mask
    unprescribed: bool

    @property
    def weight(self) -> Array:
        """Return 1 / sqrt(W) (m,) of LEAST_FORCE, or 1 / Q (nv,) of LEAST_TORQUE."""
        return TASK.array(self.table, 'weight')

    def of_rank(self, most: int) -> Task:
        """Return the task where the constraints count with a rank of at most `most`."""
        table = self.table.copy()
        TASK.array(table, 'most')[0] = most
        return self._replace(table=table)


def hybrid_task(free: Mask) -> Task:
    """Return the task of hybrid dynamics, given the mask of unknown accelerations (nv,)."""
    return _hybrid(free.tobytes())


@lru_cache(maxsize=256)
def _hybrid(free: bytes) -> Task:
    """Return the task of hybrid dynamics, given the bytes of the mask of free coordinates."""
    unknown = np.frombuffer(free, dtype=np.bool_)
    table = TASK.pack(kind=[kernels.HYBRID_TASK], free=unknown, most=[NO_USUAL_RANK], chosen=[],
                      weight=[], limit=[])
    return Task(kernels.HYBRID_TASK, table, ~unknown, unknown, unknown, bool(unknown.all()))


def inverse_task(constraints: Constraints, actuated: ArrayLike | None = None,
                 redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
                 limits: Array | None = None) -> tuple[Mask, Task]:
    """
    Return the actuated coordinates (nv,), and the task of inverse dynamics under constraints.

    actuated names them, or is a mask; by default those of the model. Spins of rods, which nothing
    drives, count as actuated too. limits (nv,) bound the forces of least torque. Raises
    LiedynError for another redundancy, name or mask, and ShapeError, NotFiniteError or LimitError
    for wrong weights.
    """
    driven = (constraints.model.leading if actuated is None
              else constraints.names.mask('actuated', actuated))
    driven = driven | idle_spins(constraints, driven)
    if not isinstance(redundancy, str) or redundancy not in (LEAST_TORQUE, LEAST_FORCE):
        raise LiedynError(f'redundancy: expected {LEAST_TORQUE} or {LEAST_FORCE}, '
                          f'got {redundancy!r}')
    if weights is None:
        return driven, _unweighted(constraints.m, driven.tobytes(), redundancy,
                                   None if limits is None else limits.tobytes())
    return driven, _weighted(constraints.m, driven, redundancy, weights, limits)


@lru_cache(maxsize=256)
def _unweighted(m: int, actuated: bytes, redundancy: str, limits: bytes | None) -> Task:
    """Return the task with unit weights; actuated are bytes of bool (nv,), limits of float64."""
    return _weighted(m, np.frombuffer(actuated, dtype=np.bool_), redundancy, None,
                     None if limits is None else np.frombuffer(limits))


def _weighted(m: int, actuated: Mask, redundancy: str, weights: ArrayLike | None,
              limits: Array | None) -> Task:
    passive, everywhere = np.flatnonzero(~actuated), np.ones(len(actuated), dtype=np.bool_)
    if redundancy == LEAST_FORCE or (len(passive) == m and limits is None):
        kind, free, chosen = kernels.LEAST_FORCE_TASK, ~everywhere, passive
        weight = 1.0 / np.sqrt(_weights(weights if redundancy == LEAST_FORCE else None, m))
    else:
        kind, free, chosen = kernels.LEAST_TORQUE_TASK, everywhere, np.flatnonzero(actuated)
        weight = 1.0 / _weights(weights, len(actuated))
    table = TASK.pack(kind=[kind], free=free, most=[NO_USUAL_RANK], chosen=chosen,
                      weight=weight, limit=[] if limits is None else limits)
    return Task(kind, table, everywhere, everywhere, actuated.copy(), False)


def _weights(weights: ArrayLike | None, size: int) -> Array:
    if weights is None:
        return np.ones(size)
    array = as_array('weights', weights, (size,))
    if not (array > 0.0).all():
        raise LimitError(f'weights: expected numbers above 0, got {array.tolist()}')
    return array
