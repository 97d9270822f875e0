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
from liedyn_ros.dynamics.algorithms.kernels.centroidal import momentum_and_drift, observe_motions
from liedyn_ros.dynamics.algorithms.kernels.coriolis import BLOCK_WIDTH
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.dynamics.constrained.minimal_coordinates import MinimalCoordinates
from liedyn_ros.dynamics.constrained.minimal_motions import all_motions, spread
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.frames import LOCAL_WORLD_ALIGNED
from liedyn_ros.dynamics.tree.constants import NO_WRENCHES
from liedyn_ros.dynamics.tree.data import Data

HOUR = 3600.0  # s
EXTREMES = 10  # of a recording, each with its largest value


class ExternalWrench(NamedTuple):
    """
    The wrench (6,) at a frame that explains external forces, along the axes of the ground.

    Moment (N m) before force (N), about the origin of the frame. left (f,) is what it does not
    explain, N m and N: what touches elsewhere, or in directions that the coordinates do not feel.

    >>> MomentumObserver(robot).wrench(q + 0.5, 'tool').left.shape
    (6,)
    """

    wrench: Array
    left: Array


class MomentumObserver:
    """
    Estimates external forces at each sample of a machine; for one thread.

    robot is a Dynamics, of a fixed or a floating base, a ConstrainedDynamics or its
    MinimalCoordinates, whose v and tau (f,) it then takes. Of loops, forces are those at the
    independent coordinates `by`, by default motors as far as they decide the motion.
    gain (1/s): an estimate follows what touches with the time constant 1 / gain. The friction and
    damping of the model are taken off. The first sample, and one after `reset`, starts it at zero.
    The C library's observe_external and loops_observe_external have the same bits.

    >>> observer = MomentumObserver(robot, gain=20.0)
    >>> observer(q, v, robot.bias(q, v), 0.001)
    array([0., 0., 0., 0., 0., 0.])
    """

    def __init__(self, robot: Dynamics | ConstrainedDynamics | MinimalCoordinates, *,
                 gain: float = 50.0, by: Sequence[str] | None = None) -> None:
        """
        Take a robot.

        Args:
            robot: of a tree, of closed loops, or of their minimal coordinates.
            gain: 1/s, the inverse of the estimate's time constant.
            by: joints of loops at which forces are seen, motors by default.

        Raises:
            LimitError: for a gain that is not above 0, or a robot without coordinates.
        """
        self._gain, self._lifts = as_positive('gain', gain), isinstance(robot, MinimalCoordinates)
        self._least = None if isinstance(robot, Dynamics) else robot if isinstance(
            robot, MinimalCoordinates) else MinimalCoordinates(robot, by)
        self._tree = robot.dynamics.tree if isinstance(robot, MinimalCoordinates) else (
            robot if isinstance(robot, Dynamics) else robot.tree)
        self.model, nv = self._tree.model, self._tree.model.nv
        if not nv:
            raise LimitError(
                f'robot: expected joints or a floating base, at which forces are seen, got none '
                f'in {self.model.name}', expected='a moving body', got=0)
        self._data = Data(self._tree.constants)
        self._blocks: Array = np.zeros((self._tree.constants.links, BLOCK_WIDTH))
        self._matrices = np.zeros((nv, nv)), np.zeros((nv, nv))  # M and C
        self._motions: Array = np.eye(nv)
        self._rate: Array = np.zeros((nv, nv))
        self._before, self._reduced = np.zeros((nv, nv)), np.zeros((3, nv))
        self.names = self.model.coordinate_names if self._least is None else self._least.by
        self._known = np.array([name in self.names for name in self.model.coordinate_names])
        self.reset()

    def reset(self) -> None:
        """
        Forget all samples, as after a gap.

        >>> MomentumObserver(robot).reset()
        """
        self._begins = True
        self.estimate: Array = np.zeros(len(self.names))
        self._state: Array = np.zeros((2, self.model.nv))

    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: float) -> Array:
        """
        Return the estimate of external forces at a sample.

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            v: velocity (nv,), of loops one that they allow; rad/s and m/s.
            tau: joint forces (nv,) since the sample before; N m and N.
            dt: time since the sample before; s.

        Returns:
            (f,); N m and N.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> MomentumObserver(robot)(q, v, robot.bias(q, v), 0.001)
        array([0., 0., 0., 0., 0., 0.])
        """
        if self._lifts and self._least is not None:
            v, tau = self._least.velocity(q, v), spread(self._least, tau)
        dt, tau = as_positive('dt', dt), as_array('tau', tau, (self.model.nv,))
        momentum, drift = self._at(
            self.model.check_configuration(q), as_array('v', v, (self.model.nv,)))
        found = np.empty(self.model.nv)
        observe_motions(momentum, drift, self._motions, self._rate, tau, self._gain,
                        0.0 if self._begins else dt, self._before, self._reduced, self._state,
                        found)
        self._begins, self.estimate = False, found[self._known]
        return self.estimate.copy()

    def wrench(self, q: ArrayLike, frame: str, axes: int = LOCAL_WORLD_ALIGNED) -> ExternalWrench:
        """
        Return the least wrench at a frame that explains the last estimate, best in squares.

        Args:
            q: configuration (nq,); rad and m.
            frame: name of a frame or body.
            axes: LOCAL, WORLD or LOCAL_WORLD_ALIGNED.

        Returns:
            the wrench (6,), and the part of the estimate that it does not explain.

        Raises:
            ModelError: for an unknown frame.

        >>> MomentumObserver(robot).wrench(q, 'tool').wrench
        array([0., 0., 0., 0., 0., 0.])
        """
        rows = self._tree.frames.jacobian(q, frame, axes)
        if self._least is not None:
            rows = rows @ self._least.motions(q)
        found = np.linalg.lstsq(rows.T, self.estimate, rcond=RANK_TOLERANCE)[0]
        return ExternalWrench(np.asarray(found, np.float64), self.estimate - rows.T @ found)

    def _at(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return the momentum (nv,) and its rate without joint forces (nv,); find the motions."""
        tree, momentum, drift = self._tree, np.empty_like(v), np.empty_like(v)
        if not momentum_and_drift(
                tree.constants.table, self._data.table, self._blocks, q, v, np.zeros_like(v),
                NO_WRENCHES, *self._matrices, momentum, drift):
            tree.bias(q, v)  # says why
            raise LimitError('v: expected one whose momentum is finite, got one that is not')
        if self._least is not None:
            self._motions, self._rate = all_motions(self._least, q, v)
        return momentum, drift


def alarm_levels(residuals: ArrayLike, dt: float, per_hour: float = 1.0) -> Array:
    """
    Return levels that estimates without contact exceed at most so many times an hour, each.

    They come from the largest residuals of ten blocks, so samples may be correlated and errors of
    the model as they are. Beyond the least of these maxima, the next one is as that of an
    exponential tail whose scale the others determine: P(excess > x) = (1 + x / sum)^-9, sum that
    of their excesses. A short recording contains little, so its levels are high: those of a normal
    residual are 10 of its deviations after 20 s, 6.5 after 200 s, and 4.9 after an hour, where 4.4
    are right. Ten blocks have the lowest levels of these.

    Args:
        residuals: estimates (T, f) of all motions that count, in which nothing touches; N m and N.
        dt: time step; s.
        per_hour: false alarms an hour.

    Returns:
        levels (f,), N m and N.

    Raises:
        LiedynError: for too short a recording.

    >>> alarm_levels(np.sin(np.arange(1000.0))[:, None], 0.001).shape
    (1,)
    """
    given = np.asarray(residuals, dtype=np.float64)
    if given.ndim != 2 or len(given) < 100:
        raise LiedynError('residuals: expected 100 samples or more, a row each, got shape '
                          f'{given.shape}', names=['residuals'], expected=100, got=len(given))
    if not per_hour > 0.0:
        raise LimitError(f'per_hour: expected a number above 0, got {per_hour}',
                         names=['per_hour'], expected=0.0, got=per_hour)
    size = len(given) // EXTREMES
    most = np.abs(given[:EXTREMES * size]).reshape(EXTREMES, size, -1).max(axis=1)
    least, share = most.min(axis=0), -math.expm1(-per_hour * size * as_positive('dt', dt) / HOUR)
    return np.asarray(least + (most - least).sum(axis=0) * (share**(-1.0 / (EXTREMES - 1)) - 1.0))
