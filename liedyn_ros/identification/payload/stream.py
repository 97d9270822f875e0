# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A payload from positions and forces of joints as they come: derivatives included."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, listed
from liedyn_ros.common.errors import LimitError, ModelError, StampError
from liedyn_ros.common.name_order import NameOrder
from liedyn_ros.identification.payload.estimator import Payload, PayloadEstimator
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.model.followers import Followers

POLYNOMIAL_DEGREE = 4
PAYLOAD_RATE = 100.0  # Hz, at which samples are used; more of them tell little that is new
DERIVATIVE_SAMPLES = 21  # samples that a derivative follows from: 0.2 s
MAX_GAP_PERIODS = 5.0  # periods without a sample, after which derivatives begin again
RESTART_JUMP = 1.0  # s, by which a clock that was set back makes a new recording
_TURN = 2.0 * np.pi
_STAMP_TOLERANCE = 0.05  # of a period, by which stamps may come early


class WindowSample(NamedTuple):
    """A smoothed sample: time (s), q, v, a and tau (n,)."""

    time: float
    q: Array
    v: Array
    a: Array
    tau: Array


class MotionWindow:
    """
    Smooths joints of one coordinate by a polynomial of degree 4 over the newest samples.

    The result is that of the middle of the window, so it is late by half of it: the delay. Forces
    are smoothed alike, so that they belong to the motion. Stamps may be uneven.
    """

    def __init__(self, size: int = 21) -> None:
        """Take the number of samples, odd and at least 7."""
        if size < POLYNOMIAL_DEGREE + 3 or size % 2 == 0:
            raise LimitError(f'size: expected an odd number of at least {POLYNOMIAL_DEGREE + 3}, '
                             f'got {size}')
        self._kept: deque[tuple[float, Array]] = deque(maxlen=size)

    def take(self, time: float, q: ArrayLike, tau: ArrayLike) -> WindowSample | None:
        """
        Return the sample of the middle, None until the window is full.

        Raises StampError for a time (s) that is not after the last one, ShapeError and
        NotFiniteError.
        """
        q = as_array('q', q, (-1,))
        tau = as_array('tau', tau, (len(q),))
        kept = self._kept
        if kept and not time > kept[-1][0]:
            raise StampError(f'time: expected one after {kept[-1][0]!r} s, got {time!r}')
        kept.append((time, np.stack([q, tau])))
        if len(kept) < (kept.maxlen or 0):
            return None
        stamps = np.array([each[0] for each in kept])
        middle = float(stamps[len(kept) // 2])
        reach = float(np.abs(stamps - middle).max())
        powers = np.vander((stamps - middle) / reach, POLYNOMIAL_DEGREE + 1, increasing=True)
        values = np.array([each[1] for each in kept]).reshape(len(kept), -1)
        found = np.linalg.lstsq(powers, values, rcond=None)[0].reshape(-1, 2, len(q))
        return WindowSample(middle, found[0, 0], found[1, 0] / reach, 2.0 * found[2, 0] / reach**2,
                            found[0, 1])


class PayloadStream:
    """
    Estimates a payload from named positions (rad or m) and forces (N m or N) with stamps (ns).

    Samples beyond PAYLOAD_RATE are left out. Angles that start over go on. After a gap derivatives
    begin again, and after a clock was set back the estimate too. Joints that couplings decide may
    be left out; of closed loops all are needed, as loop_state_publisher completes them.

    >>> stream = PayloadStream(model, 'tool')
    >>> stream.take(1_000_000, model.coordinate_names, q, robot.gravity_vector(q))
    """

    def __init__(self, model: Model, body: str, *, offsets: bool = False,
                 dissipation: bool = True) -> None:
        """
        Take the arguments of PayloadEstimator.

        Args:
            model: a Model without the payload.
            body: that carries it.
            offsets: whether forces have constant errors, which are estimated too.
            dissipation: whether forces have damping and friction of the model.

        Raises:
            ModelError: an unknown body, or joints of several numbers.
        """
        several = [joint.name for joint in model.joint_list if JOINT_TYPES[joint.type_name].nv > 1]
        if several:
            raise ModelError('model: expected joints of one number, as joint states have them, '
                             f'got {listed(several)}', names=tuple(several))
        moving = [joint for joint in model.joint_list if JOINT_TYPES[joint.type_name].nv]
        self.estimator = PayloadEstimator(model, body, offsets=offsets, dissipation=dissipation)
        self.joint_names = self.estimator.joint_names
        self._order = NameOrder('name', [each.name for each in moving], ignore_others=True)
        self._followers = Followers(model)
        self._turning = np.array([each.type_name != 'prismatic' for each in moving], dtype=bool)
        self.reset()

    def reset(self) -> None:
        """
        Forget all samples.

        >>> PayloadStream(model, 'tool').reset()
        """
        self.estimator.reset()
        self.refused = 0
        self._first_ns = self._last_ns = 0
        self._begin_again()

    def take(self, stamp_ns: int, names: Sequence[str], positions: ArrayLike,
             forces: ArrayLike) -> None:
        """
        Take a sample; a refused one is counted and changes nothing else.

        Args:
            stamp_ns: ns.
            names: of the joints.
            positions: in their order; rad and m.
            forces: in their order; N m and N.

        Raises:
            StampError: for a stamp out of order.
            NameSetError: for names that do not fit.
            LiedynError: for another shape, or a number that is not finite.

        >>> PayloadStream(model, 'tool').take(0, model.coordinate_names, q, robot.bias(q, 0.0 * v))
        """
        try:
            self._take(stamp_ns, names, positions, forces)
        except ValueError:  # LiedynError is one
            self.refused += 1
            raise

    @property
    def estimate(self) -> Payload:
        """Return the payload; errors of PayloadEstimator."""
        return self.estimator.estimate

    @property
    def stamp_ns(self) -> int:
        """Return the stamp of the newest sample that was used."""
        return self._last_ns

    def _begin_again(self) -> None:
        self._window = MotionWindow(DERIVATIVE_SAMPLES)
        self._before: Array | None = None  # the last positions
        self._period = 1.0  # s, the least one; no gap before it is known

    def _take(self, stamp_ns: int, names: Sequence[str], positions: ArrayLike,
              forces: ArrayLike) -> None:
        names, positions, _, forces = self._followers.extend(
            names, positions, np.zeros(len(names)), forces)
        places = self._order.of(names)
        q, tau = (as_array(what, each, (len(names),))[places] for what, each in (
            ('position', positions), ('effort', forces)))
        if not self._first_ns:
            self._first_ns = stamp_ns
        elif stamp_ns < self._last_ns - 1e9 * RESTART_JUMP:
            self.reset()
            self._first_ns = stamp_ns
        else:
            passed = 1e-9 * (stamp_ns - self._last_ns)
            if passed <= 0.0:
                raise StampError(f'stamp: expected one after {self._last_ns} ns, got {stamp_ns}')
            if passed < (1.0 - _STAMP_TOLERANCE) / PAYLOAD_RATE:
                return
            if passed > MAX_GAP_PERIODS * self._period:
                self._begin_again()
            self._period = min(self._period, passed)
        self._last_ns = stamp_ns
        sample = self._window.take(1e-9 * (stamp_ns - self._first_ns), self._continued(q), tau)
        if sample is not None:
            self.estimator.take(*sample)

    def _continued(self, q: Array) -> Array:
        """Return positions whose angles do not start over."""
        if self._before is not None:
            turns = np.round((q - self._before) / _TURN)
            q = q - _TURN * np.where(self._turning, turns, 0.0)
        self._before = q
        return q
