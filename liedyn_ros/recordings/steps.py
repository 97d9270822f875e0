# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Steps of recorded positions that no motion makes: angles that start over, and jumps."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.common.stamps import gaps_in
from liedyn_ros.model import Model

_TURN = 2.0 * math.pi
_NEAR = 0.1  # of a turn, by which an angle that starts over may miss it
_TIMES = 8.0  # the steps beside it and the usual ones, from which a step is a jump
_BESIDE = 2  # steps on each side


def without_turns(model: Model, names: tuple[str, ...], time: Array, q: Array
                  ) -> tuple[Array, list[str]]:
    """
    Return positions (n, joints) whose angles do not start over, and remarks on those that did.

    Raises LimitError for another jump from a sample to the next, as of two runs in one recording
    or of an encoder that was reset. Positions beside a gap may be any.
    """
    q, remarks, lost = q.copy(), list[str](), gaps_in(time)
    longer = np.diff(time)  # where samples are lost, a step is longer in time as well
    longer = np.maximum(longer / np.median(longer), 1.0) if len(longer) else longer
    for k, name in enumerate(names):
        steps = np.diff(q[:, k])
        jumps = _jumps(steps / longer) & ~lost
        turns: Array = np.zeros(len(steps))
        if model.joint(name).type_name != 'prismatic':
            near = np.round(steps / _TURN)
            turns = np.where(
                jumps & (np.abs(steps - _TURN * near) < _NEAR * _TURN), near, 0.0)
        others = np.flatnonzero(jumps & (turns == 0.0))
        if len(others):
            at = int(others[0])
            raise LimitError(
                f'position of {name}: expected a motion, got a jump of {steps[at]:.4g} within '
                f'{1e3 * (time[at + 1] - time[at]):.3g} ms at {time[at]:.6g} s: two runs, or an '
                'encoder that was reset? Cut the recording there', names=(name,))
        if turns.any():
            q[1:, k] -= _TURN * np.cumsum(turns)
            remarks.append(f'position of {name}: {int(np.count_nonzero(turns))} full turns taken '
                           'back, where the angle started over')
    return q, remarks


def _jumps(steps: Array) -> NDArray[np.bool_]:
    """Return whether steps (n,) stand out of those beside them, and of the usual ones."""
    size = np.abs(steps)
    moving = size[size > 0.0]
    if len(size) <= 2 * _BESIDE or not len(moving):
        return np.zeros(len(size), dtype=bool)
    padded = np.pad(size, _BESIDE)
    beside = np.max([padded[_BESIDE + k:_BESIDE + k + len(size)]
                     for k in range(-_BESIDE, _BESIDE + 1) if k], axis=0)
    return np.asarray(size > _TIMES * np.maximum(beside, np.quantile(moving, 0.9)))
