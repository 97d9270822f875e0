# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Readings of joints that count otherwise than the model: which of them explain a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification.equations import Equations, rows_along
from liedyn_ros.identification.motion import Motion
from liedyn_ros.model import JOINT_TYPES, Model

STEPS = 24  # of a turn, from the best of which the offset of a joint is searched
STEP_WIDTH = 2.0 * np.pi / STEPS
# Of the least error, within which an offset is a step: chance gains that much
MAX_ERROR_RATIO = 1.02
# Ways by which the given bodies are best, of which bodies that are fitted decide
MAX_CANDIDATES = 24
SAMPLES = 240  # of a recording that are looked at
EXPLAINED = 0.25  # of the squared errors of a joint, when a way of reading halves its error


@dataclass(frozen=True)
class OtherReading:
    """
    Way in which a joint may count: its angle is row (m,) times the readings, plus shift.

    name is the joint's, text says what it is, option how a command is told so. effort is -1 where
    the sign of its effort turns as well.
    """

    name: str
    text: str
    option: str
    at: int
    row: Array
    shift: float = 0.0
    effort: float = 1.0

    def angles(self, readings: Array) -> Array:
        """Return joint positions (n, m), from readings (n, m)."""
        return self.rates(readings) + self.shift * (np.arange(readings.shape[1]) == self.at)

    def rates(self, readings: Array) -> Array:
        """Return the derivatives (n, m) of the angles, by those of readings."""
        result = readings.copy()
        result[:, self.at] = readings @ self.row
        return result

    def shifted(self, shift: float) -> OtherReading:
        """Return the reading with an offset, rad or m, of which the option has a few digits."""
        degrees = round(float(np.degrees(shift)), 2)
        return replace(
            self, shift=float(np.radians(degrees)),
            text=f'{self.name} counts from elsewhere, near {degrees:+g} degrees',
            option=f'--reads {self.name}={self.name}{degrees:+g}deg')


def other_readings(names: tuple[str, ...]) -> Iterator[OtherReading]:
    """Yield the ways in which joints often count: signs, and sums with a neighbour."""
    unit = np.eye(len(names))
    for k, name in enumerate(names):
        for other in (k - 1, k + 1):
            for sign, word in ((1.0, '+'), (-1.0, '-')):
                if 0 <= other < len(names):
                    yield OtherReading(
                        name, f'{name} counts from elsewhere: its angle is its reading {word} '
                        f'that of {names[other]}, as many controllers couple them',
                        f'--reads {name}={name}{word}{names[other]}', k,
                        unit[k] + sign * unit[other])
        yield OtherReading(name, f'readings of {name} have the other sign',
                           f'--reads {name}=-{name}', k, -unit[k])
        yield OtherReading(name, f'readings and efforts of {name} have the other sign',
                           f'--reads {name}=-{name} --scale {name}=-1', k, -unit[k], effort=-1.0)


def other_zeros(names: tuple[str, ...], turning: Iterable[str],
                error: Callable[[OtherReading], float]) -> Iterator[OtherReading]:
    """Yield each turning joint as counted from where an error is least."""
    steps: Array = np.asarray(np.arange(-STEPS // 2 + 1, STEPS // 2 + 1) * STEP_WIDTH, np.float64)
    unit = np.eye(len(names))
    for name in turning:
        k = names.index(name)
        best = _least(OtherReading(name, '', '', k, unit[k]), steps, error)
        if best.shift:
            yield best


def _least(reading: OtherReading, steps: Array, error: Callable[[OtherReading], float]
           ) -> OtherReading:
    """Return a reading with the offset of least error, near the best of steps."""
    def at(shift: float) -> float:
        return error(replace(reading, shift=float(shift)))
    middle = min(steps.tolist(), key=at)
    found = minimize_scalar(at, bounds=(middle - STEP_WIDTH, middle + STEP_WIDTH),
                            method='bounded')
    return reading.shifted(middle if at(middle) < MAX_ERROR_RATIO * found.fun else float(found.x))


def likely_reading(model: Model, motion: Motion, equations: Equations) -> OtherReading | None:
    """
    Return the way in which a joint of a tree counts that explains its efforts, or None.

    It is the one by which the given bodies, their friction fitted, and bodies that are fitted
    leave least together. The fitted ones must halve the error of a joint, or more.
    """
    joints = [each for each in model.joint_list if JOINT_TYPES[each.type_name].nv == 1
              and JOINT_TYPES[each.type_name].nq == 1]
    if model.closures or model.couplings or not joints:
        return None
    look = _Look(model, motion, equations, [each.qi for each in joints], [
        each.vi for each in joints])
    names = tuple(each.name for each in joints)
    turning = [each.name for each in joints if each.type_name != 'prismatic']
    some = [*other_readings(names), *other_zeros(names, turning, look.given)]
    as_it_is = OtherReading('', '', '', 0, np.eye(len(names))[0])
    before, alone = look.given(as_it_is), look.fitted(as_it_is)
    likely = sorted((look.given(each), k) for k, each in enumerate(some))[:MAX_CANDIDATES]
    scores = {k: given * float(look.fitted(some[k]).sum()) for given, k in likely
              if given < before}
    if not scores:
        return None
    best = some[min(scores, key=scores.__getitem__)]
    if best.shift:
        fine = best.shifted(float(minimize_scalar(
            lambda shift: float(look.fitted(replace(best, shift=shift)).sum()),
            bounds=(best.shift - STEP_WIDTH, best.shift + STEP_WIDTH), method='bounded').x))
        if MAX_ERROR_RATIO * look.fitted(fine).sum() < look.fitted(best).sum():
            best = fine
    after = look.fitted(best)
    return best if after.sum() < alone.sum() and (after < EXPLAINED * alone).any() else None


class _Look:
    """Errors of some samples by ways of reading."""

    def __init__(self, model: Model, motion: Motion, equations: Equations, at_q: list[int],
                 at_v: list[int]) -> None:
        """Take samples that are spread over the equations."""
        self._model, self._equations, self._at_q, self._at_v = model, equations, at_q, at_v
        rows = np.unique(np.linspace(0, len(equations.time) - 1, SAMPLES).astype(int))
        at = np.minimum(np.searchsorted(motion.time, equations.time[rows]), len(motion.time) - 1)
        self._q, self._v, self._a = motion.q[at], motion.v[at], motion.a[at]
        self._forces = (equations.forces + equations.known)[rows]
        self._known = equations.known[rows]
        self._size = np.maximum(np.sqrt((self._forces**2).mean(axis=0)), 1e-300)
        self._drag = equations.rows[rows][..., equations.at_friction]
        self._inverse = Dynamics(model, dissipation=False).inverse

    def _moved(self, how: OtherReading) -> tuple[Array, Array, Array, Array]:
        q, v, a, forces = (each.copy() for each in (self._q, self._v, self._a, self._forces))
        q[:, self._at_q] = how.angles(q[:, self._at_q])
        v[:, self._at_v], a[:, self._at_v] = (how.rates(each[:, self._at_v]) for each in (v, a))
        forces[:, self._at_v[how.at]] *= how.effort
        return q, v, a, forces

    def given(self, how: OtherReading) -> float:
        """Return the squared errors of the given bodies over the forces, friction fitted."""
        q, v, a, forces = self._moved(how)
        left, total = forces - self._inverse.batch(q, v, a), 0.0
        for rest, drag in zip(left.T / self._size[:, None], np.swapaxes(self._drag, 0, 1)):
            drag = drag[:, drag.any(axis=0)]
            rest = rest - drag @ np.linalg.lstsq(drag, rest, rcond=None)[0]
            total += float(rest @ rest)
        return total

    def fitted(self, how: OtherReading) -> Array:
        """Return the squared errors (f,) of fitted bodies, any numbers, over the forces."""
        q, v, a, forces = self._moved(how)
        count = self._equations.base.rank
        rows = rows_along(self._model, self._equations, np.zeros(count), q, v, a)[..., :count]
        rows = np.concatenate([rows, self._drag], axis=2) / self._size[:, None]
        target = ((forces - self._known) / self._size).ravel()
        flat = rows.reshape(len(target), -1)
        left = target - flat @ np.linalg.lstsq(flat, target, rcond=1e-9)[0]
        return np.asarray((left.reshape(len(rows), -1)**2).sum(axis=0))
