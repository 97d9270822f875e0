# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recording of a machine: stamps, positions, joint forces, and velocities if there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import ShapeError, StampError
from liedyn_ros.model import Model

MIN_SPECTRUM_SAMPLES = 50  # samples; fewer have no spectrum


@dataclass(frozen=True, eq=False, init=False)
class Recording:
    """
    Samples of a machine: time (n,) s, q (n, nq), tau (n, nv), and v (n, nv) if it was measured.

    Stamps increase; their distances may differ. tau are the joint forces of Dynamics.inverse: N m
    or N at joints, and the wrench (m, f) in the frame of the body at a free joint. The forces of
    passive joints are zero. starts (r,) are the times at which recordings begin that were joined.
    Raises ShapeError, NotFiniteError, StampError or NotInGroupError.

    >>> t = np.linspace(0.0, 1.0, 200)
    >>> recording = Recording(model, t, np.zeros((200, 6)), np.zeros((200, 6)))
    >>> round(recording.rate)
    199
    """

    time: Array
    q: Array
    tau: Array
    v: Array | None
    starts: Array

    def __init__(self, model: Model, time: ArrayLike, q: ArrayLike, tau: ArrayLike,
                 v: ArrayLike | None = None, starts: ArrayLike | None = None) -> None:
        """
        Check the samples against the model.

        Args:
            model: a Model.
            time: (n,) s, which increases.
            q: (n, nq), rad and m.
            tau: (n, nv), N m and N.
            v: (n, nv), rad/s and m/s, if it was measured.
            starts: (r,) s, of recordings that were joined.

        Raises:
            ShapeError, NotFiniteError, StampError, NotInGroupError.
        """
        time = as_array('time', time, (-1,))
        count = len(time)
        if count < MIN_SPECTRUM_SAMPLES:
            raise ShapeError(
                f'time: expected at least {MIN_SPECTRUM_SAMPLES} samples, got {count}')
        steps = np.diff(time)
        if not (steps > 0.0).all():
            at = int(np.argmin(steps > 0.0)) + 1
            raise StampError(f'time: expected stamps that increase, got {time[at]!r} after '
                             f'{time[at - 1]!r} at sample {at}')
        q = as_array('q', q, (count, model.nq))
        for configuration in q[::max(1, count // 100)]:
            model.check_configuration(configuration)
        vars(self).update(
            time=time, q=q, tau=as_array('tau', tau, (count, model.nv)),
            v=None if v is None else as_array('v', v, (count, model.nv)),
            starts=time[:1] if starts is None else as_array('starts', starts, (-1,)))

    def part(self, chosen: slice) -> Recording:
        """
        Return some of the samples.

        Args:
            chosen: slice of the samples.

        Returns:
            the recording.

        Raises:
            ShapeError: for fewer than MIN_SPECTRUM_SAMPLES.

        >>> t = np.linspace(0.0, 1.0, 200)
        >>> long = Recording(model, t, np.zeros((200, 6)), np.zeros((200, 6)))
        >>> len(long.part(slice(0, 100)).time)
        100
        """
        if len(self.time[chosen]) < MIN_SPECTRUM_SAMPLES:
            raise ShapeError(f'time: expected at least {MIN_SPECTRUM_SAMPLES} samples, got '
                             f'{len(self.time[chosen])}')
        result = object.__new__(Recording)
        vars(result).update({name: None if each is None else each[chosen]
                             for name, each in vars(self).items() if name != 'starts'})
        vars(result).update(starts=self.starts)
        return result

    @property
    def rate(self) -> float:
        """Return the usual number of samples in a second, Hz."""
        return 1.0 / float(np.median(np.diff(self.time)))
