# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Why poses do not fit: readings that count otherwise than the model, or a frame that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification.calibration.frames import frames_of
from liedyn_ros.identification.calibration.loops import is_looped
from liedyn_ros.identification.calibration.problem import ArmSamples
from liedyn_ros.identification.readings import other_readings, other_zeros, OtherReading
from liedyn_ros.model import Model

CAUSE_GAIN = 0.2  # of the error, below which another way of reading explains the poses
MIN_POSES = 3  # poses that lie apart in the range of a joint; two do by chance
Known = tuple[Array | None, Array | None]


class _Guess(NamedTuple):
    """A way of reading the table: text and option for it, readings (n, m), both frames or None."""

    text: str
    option: str
    readings: Array
    known: Known


class Cause(NamedTuple):
    """A likely cause of poses that do not fit, and the option that says so."""

    text: str
    option: str


def likely_cause(model: Model, body: str, samples: ArmSamples, known: Known) -> Cause | None:
    """
    Return a likely cause of poses that do not fit, or None.

    Tried are signs and offsets of joints, joints that count from another one, as the third of
    many controllers does, and frames (4, 4) of instrument and target that are wrong. Each is
    judged by the errors of all poses, the geometry as it is.
    """
    if is_looped(model):
        return None
    measure = _Measure(model, body, samples)
    before = measure.error(_Guess('', '', samples.readings, known))
    best = min(_guesses(model, samples, known, measure), key=measure.error)
    after = measure.error(best)
    return Cause(f'{best.text} ({best.option}): errors are {1e3 * after:.3g} mm then, and '
                 f'{1e3 * before:.3g} mm as it is, rms of all poses', best.option) if (
                     after < CAUSE_GAIN * before) else None


def shared_range(names: tuple[str, ...], readings: Array, left: NDArray[np.bool_]) -> str | None:
    """Return the joint in whose range poses (n,) that were left out lie apart from the others."""
    if left.sum() < MIN_POSES:
        return None
    for name, values in zip(names, readings.T):
        out, rest = values[left], values[~left]
        apart = not ((rest >= out.min()) & (rest <= out.max())).any()
        if apart or not ((out >= rest.min()) & (out <= rest.max())).any():
            return name
    return None


class _Measure:
    """The rms error of poses, the frames that are not known fitted."""

    def __init__(self, model: Model, body: str, samples: ArmSamples) -> None:
        """Take a tree, and what was measured."""
        self._kinematics, self._at = Dynamics(model).kinematics, model.body_index(body)
        self._places = [model.joint(name).qi for name in samples.names]
        self._samples, self._neutral = samples, model.neutral()

    def error(self, guess: _Guess) -> float:
        """Return the rms error, m; rotations count by their deviation over that of positions."""
        q = np.tile(self._neutral, (len(guess.readings), 1))
        q[:, self._places] = guess.readings
        poses = np.array([self._kinematics(each).poses[self._at] for each in q])
        frames = frames_of(poses, self._samples.positions, self._samples.rotations, *guess.known)
        seen = frames['instrument'] @ poses @ frames['target']
        squares = (self._samples.errors(seen, frames['further'])**2).sum(axis=1)
        return float(np.sqrt(squares.mean())) * self._samples.deviations[0]


def _guesses(model: Model, samples: ArmSamples, known: Known, measure: _Measure
             ) -> Iterator[_Guess]:
    def guess(each: OtherReading) -> _Guess:
        return _Guess(each.text, each.option, each.angles(samples.readings), known)
    turning = [name for name in samples.names if model.joint(name).type_name != 'prismatic']
    yield from map(guess, other_readings(samples.names, turning))
    yield from map(guess, other_zeros(
        samples.names, turning, lambda each: measure.error(guess(each))))
    for what, given, free in (('instrument', known[0], (None, known[1])),
                              ('target', known[1], (known[0], None))):
        if given is not None:
            yield _Guess(f'the pose of the {what} is another',
                         f'without --{what}, which is found then', samples.readings, free)
