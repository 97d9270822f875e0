# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
External joint forces from the generalized momentum, of trees and of closed loops (12.67).

The momentum p changes by joint forces, by what the model says, and by what touches the machine.
The observer needs positions, velocities and joint forces, no accelerations (De Luca 2006). Loops
have it in their independent coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.dynamics.algorithms.kernels.coriolis import BLOCKS
from liedyn_ros.dynamics.algorithms.kernels.momentum import momentum_and_drift, observe_external
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.dynamics.constrained.minimal_coordinates import MinimalCoordinates
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.frames import LOCAL_WORLD_ALIGNED
from liedyn_ros.dynamics.tree.arguments import NO_WRENCHES
from liedyn_ros.dynamics.tree.data import Data

HOUR = 3600.0  # s


class ExternalWrench(NamedTuple):
    """
    The wrench (6,) at a frame that explains external forces, along the axes of the ground.

    Moment (N m) before force (N), about the origin of the frame. left (f,) is what it does not
    explain, N m and N: what touches elsewhere, or in directions that the coordinates do not feel.
    """

    wrench: Array
    left: Array


class MomentumObserver:
    """
    Estimates external forces at each sample of a machine; for one thread.

    robot is a Dynamics, of a fixed or a floating base, or a ConstrainedDynamics. There forces are
    those at the independent coordinates `by`, by default motors as far as they decide the motion.
    gain (1/s): an estimate follows what touches with the time constant 1 / gain. The friction and
    damping of the model are taken off. The first sample, and one after `reset`, starts it at zero.
    """

    def __init__(self, robot: Dynamics | ConstrainedDynamics, *, gain: float = 50.0,
                 by: Sequence[str] | None = None) -> None:
        """Take a robot; raises LimitError for a gain that is not above 0."""
        self._gain = as_positive('gain', gain)
        self._least = None if isinstance(robot, Dynamics) else MinimalCoordinates(robot, by)
        self._tree = robot if isinstance(robot, Dynamics) else robot.tree
        self.model, nv = robot.model, robot.model.nv
        self._data = Data(self._tree.constants)
        self._blocks: Array = np.zeros((self._tree.constants.links, BLOCKS))
        self._matrices = np.zeros((nv, nv)), np.zeros((nv, nv))  # M and C
        self.names = self.model.coordinate_names if self._least is None else self._least.by
        self.reset()

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self._last: Array | None = None
        self.estimate: Array = np.zeros(len(self.names))
        self._state: Array = np.zeros((2, len(self.names)))

    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: float) -> Array:
        """
        Return the estimate (f,) of external forces at a sample, N m and N.

        q (nq,) and v (nv,) are those of all coordinates; of loops, closed. tau (nv,) are joint
        forces since the sample before, a time dt (s) ago. Raises the errors of the robot's calls.
        """
        dt, tau = as_positive('dt', dt), as_array('tau', tau, (self.model.nv,))
        momentum, drift, motions = self._at(
            self.model.check_configuration(q), as_array('v', v, (self.model.nv,)))
        begins, there = self._last is None, motions if self._last is None else self._last
        observe_external(momentum, drift, (motions + there).T @ tau, self._gain,
                         0.0 if begins else dt, self._state, self.estimate)
        self._last = motions
        return self.estimate.copy()

    def wrench(self, q: ArrayLike, frame: str, axes: int = LOCAL_WORLD_ALIGNED) -> ExternalWrench:
        """Return the least wrench at a frame that explains the last estimate, best in squares."""
        rows = self._tree.frames.jacobian(q, frame, axes)
        if self._least is not None:
            rows = rows @ self._least.motions(q)
        found = np.linalg.lstsq(rows.T, self.estimate, rcond=RANK_TOLERANCE)[0]
        return ExternalWrench(np.asarray(found, np.float64), self.estimate - rows.T @ found)

    def _at(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Return the momentum (f,), its rate without joint forces (f,), and motions (nv, f)."""
        tree, momentum, drift = self._tree, np.empty_like(v), np.empty_like(v)
        if not momentum_and_drift(
                tree.constants.table, self._data.table, self._blocks, q, v, np.zeros_like(v),
                NO_WRENCHES, *self._matrices, momentum, drift):
            tree.bias(q, v)  # says why
            raise LimitError('v: expected one whose momentum is finite, got one that is not')
        if self._least is None:
            return momentum, drift, np.eye(len(v))
        known = [self.model.coordinate_names.index(name) for name in self.names]
        motions, rate = self._least.motions_and_rate(q, v[known])
        return motions.T @ momentum, motions.T @ drift + rate.T @ momentum, motions


def alarm_levels(residuals: ArrayLike, dt: float, per_hour: float = 1.0) -> Array:
    """
    Return levels (f,) that estimates without contact exceed so many times an hour, each.

    residuals (T, f) are estimates of a motion in which nothing touches, at a time step dt (s).
    Levels count from the mean of a residual, whose size is added. They are those of a normal
    process with its spread and its rate of crossings (Rice 1945): per hour 3600 n exp(-u^2 / 2
    s^2). Raises LiedynError for too short a recording.
    """
    given = np.asarray(residuals, dtype=np.float64)
    if given.ndim != 2 or len(given) < 100:
        raise LiedynError('residuals: expected 100 samples or more, a row each, got shape '
                          f'{given.shape}', names=['residuals'], expected=100, got=len(given))
    if not per_hour > 0.0:
        raise LimitError(f'per_hour: expected a number above 0, got {per_hour}',
                         names=['per_hour'], expected=0.0, got=per_hour)
    mean, spread = given.mean(axis=0), given.std(axis=0)
    above = given > mean
    rate = (~above[:-1] & above[1:]).sum(axis=0) / (as_positive('dt', dt) * (len(given) - 1))
    often = np.maximum(2.0 * HOUR * rate / per_hour, math.e)  # above and below
    return np.asarray(np.abs(mean) + spread * np.sqrt(2.0 * np.log(often)))
