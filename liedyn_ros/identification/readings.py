# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Readings of joints that count otherwise than the model: which of them explain a recording."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification.equations import (
    Equations, inertial_rows, rows_of, shortened, times_of)
from liedyn_ros.identification.joints import FRICTION_TERMS
from liedyn_ros.identification.motion import Motion
from liedyn_ros.identification.regressors import LoopRegressor, Regressor
from liedyn_ros.model import Joint, JOINT_TYPES, Model

OFFSET_STEPS = 24  # of a turn, from the best of which the offset of a joint is searched
OFFSET_STEP = 2.0 * np.pi / OFFSET_STEPS
# Of the least error, within which an offset is a step: chance gains that much
MAX_ERROR_RATIO = 1.02
# Ways by which the given bodies are best, of which bodies that are fitted decide
MAX_CANDIDATES = 24
INSPECTED_ROWS = 240  # rows of a recording that are looked at, or twice as many
MAX_REMAINING_SHARE = 0.25  # of the squared errors, when a way of reading halves them
_TURN = 2.0 * np.pi
# By turning
READING_UNITS = {True: {'degrees': _TURN / 360.0, 'turns': _TURN}, False: {'mm': 1e-3}}
MAX_SPAN = 2.0 * _TURN  # rad; readings that cover more may be counts of an encoder
SPANS = np.geomspace(0.2, _TURN, 9)  # rad, which such a joint is tried to have covered
GIVEN_RANGE = np.pi / 3.0  # rad, of zeros that given bodies are asked for
EFFECT_TOLERANCE = 1e-9  # of the largest singular value, below which an unknown has no effect
_STEP = 1e-4  # rad, of a difference
NEAR_UNIT = 0.05  # relative, by which the unit of counts may miss one that has a name


@dataclass(frozen=True)
class OtherReading:
    """
    Way in which a joint may count: its angle is row (m,) times the readings, plus shift, rad or m.

    name is the joint's, text says what it is, option how a command says it. effort is -1 where
    the sign of its effort turns as well. other is the joint whose positions or efforts, or both,
    stand under its name, and its own under the other's; -1 for none. others has its name. units
    (m,) are factors of all joints in place of the row, where others count as it does.
    """

    name: str
    text: str
    option: str
    at: int
    row: Array
    shift: float = 0.0
    effort: float = 1.0
    other: int = -1
    exchanged: tuple[bool, bool] = (False, False)  # positions, efforts
    others: tuple[str, ...] = ()
    units: Array | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the joints that it concerns."""
        return (self.name, *self.others)

    def angles(self, readings: Array) -> Array:
        """Return joint positions (n, m), from readings (n, m)."""
        return self.rates(readings) + self.shift * (np.arange(readings.shape[1]) == self.at)

    def rates(self, readings: Array) -> Array:
        """Return the derivatives (n, m) of the angles, by those of readings."""
        if self.units is not None:
            return np.asarray(readings * self.units)
        result = readings.copy()
        if self.exchanged[0]:
            result[:, self.other] = readings[:, self.at]
        result[:, self.at] = readings @ self.row
        return result

    def efforts(self, recorded: Array) -> Array:
        """Return the forces (n, m) of joints, from recorded ones."""
        result = recorded.copy()
        result[:, self.at] *= self.effort
        if self.exchanged[1]:
            result[:, [self.at, self.other]] = recorded[:, [self.other, self.at]]
        return result

    def shifted(self, shift: float) -> OtherReading:
        """Return the reading with an offset, rad or m, of which the option has a few digits."""
        degrees = round(float(np.degrees(shift)), 2)
        return replace(
            self, shift=float(np.radians(degrees)),
            text=f'{self.name} counts from elsewhere, near {degrees:+g} degrees',
            option=f'--reads {self.name}={self.name}{degrees:+g}deg')

    def counted(self, unit: float, shift: float) -> OtherReading:
        """Return the reading of a count of a unit, rad, as the option has it."""
        degrees, digits = round(float(np.degrees(shift)), 2), f'{unit:.7g}'
        return replace(
            self, row=float(digits) * np.sign(self.row), shift=float(np.radians(degrees)),
            text=f'readings of {self.name} count another unit than rad, near {unit:.4g} rad',
            option=f'--reads {self.name}={digits}*{self.name}{degrees:+g}deg')


def other_readings(names: tuple[str, ...], turning: Collection[str]) -> Iterator[OtherReading]:
    """Yield ways in which joints often count: units, signs, sums with a neighbour, exchanges."""
    unit, some = np.eye(len(names)), [name for name in names if name in turning]
    for word, (what, factor) in zip(('deg', 'rev'), READING_UNITS[True].items()):
        if len(some) > 1:
            yield OtherReading(
                some[0], f'readings of all joints that turn are in {what}',
                f'--unit position={word}', names.index(some[0]), unit[names.index(some[0])],
                others=tuple(some[1:]), units=np.where(np.isin(names, some), factor, 1.0))
    for k, name in enumerate(names):
        for what, factor in READING_UNITS[name in turning].items():
            yield OtherReading(name, f'readings of {name} are in {what}',
                               f'--reads {name}={factor:.7g}*{name}', k, factor * unit[k])
        for other in (k - 1, k + 1):
            for sign, word in ((1.0, '+'), (-1.0, '-')):
                if 0 <= other < len(names):
                    yield OtherReading(
                        name, f'{name} is counted from elsewhere: its angle is its reading '
                              f'{word} the reading of {names[other]}, as many controllers couple '
                              f'them',
                        f'--reads {name}={name}{word}{names[other]}', k,
                        unit[k] + sign * unit[other])
        yield OtherReading(name, f'readings of {name} have the other sign',
                           f'--reads {name}=-{name}', k, -unit[k])
        yield OtherReading(name, f'readings and efforts of {name} have the other sign',
                           f'--reads {name}=-{name} --scale {name}=-1', k, -unit[k], effort=-1.0)
        for j in range(k + 1, len(names)):
            yield from _exchanges(names, k, j)


def _exchanges(names: tuple[str, ...], k: int, j: int) -> Iterator[OtherReading]:
    """Yield the ways in which columns of two joints stand under each other's names."""
    name, other, unit = names[k], names[j], np.eye(len(names))
    renamed = 'names of these columns the other way round'
    for what, option, exchanged in (
            ('positions', f'--reads {name}={other} --reads {other}={name}', (True, False)),
            ('efforts', renamed, (False, True)), ('positions and efforts', renamed, (True, True))):
        yield OtherReading(name, f'{what} of {name} and {other} are exchanged', option, k,
                           unit[j if exchanged[0] else k], other=j, exchanged=exchanged,
                           others=(other,))


def other_zeros(names: tuple[str, ...], turning: Collection[str],
                error: Callable[[OtherReading], float]) -> Iterator[OtherReading]:
    """Yield each turning joint as counted from where an error is least."""
    steps: Array = np.asarray(
        np.arange(-OFFSET_STEPS // 2 + 1, OFFSET_STEPS // 2 + 1) * OFFSET_STEP, np.float64)
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
    found = minimize_scalar(at, bounds=(middle - OFFSET_STEP, middle + OFFSET_STEP),
                            method='bounded')
    return reading.shifted(middle if at(middle) < MAX_ERROR_RATIO * found.fun else float(found.x))


def other_counts(names: tuple[str, ...], turning: Collection[str], readings: Array,
                 error: Callable[[OtherReading], float]) -> Iterator[OtherReading]:
    """Yield joints whose readings (n, m) cover turns, as counts of the unit of least error."""
    for k, name in enumerate(names):
        span, middle = float(np.ptp(readings[:, k])), float(readings[:, k].mean())
        if name not in turning or span < MAX_SPAN:
            continue
        at = _counts(OtherReading(name, '', '', k, np.eye(len(names))[k]), middle)
        start = min(((np.log(each / span), turn * OFFSET_STEP) for each in SPANS
                     for turn in range(OFFSET_STEPS)), key=lambda x: error(at(np.array(x))))
        yield _least_count(at, np.array(start), error)


def _counts(reading: OtherReading, middle: float) -> Callable[[Array], OtherReading]:
    """Return readings by the logarithm of the unit, rad, and the angle at the middle, rad."""
    def at(x: Array) -> OtherReading:
        unit = float(np.exp(x[0]))
        return reading.counted(unit, float(np.remainder(
            x[1] - unit * middle + np.pi, _TURN) - np.pi))
    return at


def _least_count(at: Callable[[Array], OtherReading], start: Array,
                 error: Callable[[OtherReading], float]) -> OtherReading:
    return at(minimize(lambda x: error(at(x)), start, method='Nelder-Mead').x)


def likely_reading(model: Model, motion: Motion, equations: Equations
                   ) -> tuple[OtherReading | None, bool]:
    """
    Return the way in which a joint of a tree counts that explains its efforts, and if it must.

    It is the one by which the given bodies, their friction fitted, and bodies that are fitted
    leave least together. It must where the fitted ones halve the error, or more. A last joint may
    count from anywhere, as its body may lie anywhere: there the given bodies tell it, by half of
    their error.
    """
    look = _Look.of(model, motion, equations)
    if look is None:
        return None, False
    names, turning = look.names, look.turning
    some = [*other_readings(names, turning), *other_zeros(names, turning, look.given),
            *other_counts(names, turning, look.readings, look.given)]
    as_it_is = OtherReading('', '', '', 0, np.eye(len(names))[0])
    before, alone = look.given(as_it_is), float(look.fitted(as_it_is).sum())
    likely = sorted((look.given(each), k) for k, each in enumerate(some))[:MAX_CANDIDATES]
    scores = {k: given * float(look.fitted(some[k]).sum()) for given, k in likely
              if given < before}
    if not scores:
        return None, False
    best = some[min(scores, key=scores.__getitem__)]
    best = _refined(best, look, names, turning)
    after = float(look.fitted(best).sum())
    if after < MAX_REMAINING_SHARE * alone and (  # angles of motors may be like degrees
            best.units is None or look.given(best) < look.without_bodies):
        return best, True
    alike = after < MAX_ERROR_RATIO * alone
    return (best if alike and look.given(best) < MAX_REMAINING_SHARE * before else None), False


def open_zeros(model: Model, motion: Motion, equations: Equations) -> tuple[str, ...]:
    """Return a remark on turning joints of a tree of which efforts do not tell the zero."""
    look = _Look.of(model, motion, equations)
    if look is None:
        return ()
    deviations, asked = look.deviations_of_zeros(), list[str]()
    names = [name for name in look.turning if not deviations[name] < OFFSET_STEP]
    for name in names:
        k = look.names.index(name)
        bare = OtherReading(name, '', '', k, np.eye(len(look.names))[k])

        def error(shift: float, bare: OtherReading = bare) -> float:
            return look.own(replace(bare, shift=shift))

        found = minimize_scalar(error, bounds=(-GIVEN_RANGE, GIVEN_RANGE), method='bounded')
        if abs(found.x) < 0.98 * GIVEN_RANGE and MAX_ERROR_RATIO * found.fun < error(0.0):
            asked.append(f'{name} {np.degrees(found.x):+.0f}')
    known = {name: each for name, each in deviations.items() if name not in names}
    worst = max(known, key=known.__getitem__, default='')
    return (f'zeros of {", ".join(names)} are not observable: efforts are the same wherever they '
            'count from, the bodies behind turned along' + (
                f'. The given bodies would have, in degrees: {", ".join(asked)}' if asked else '')
            + (f'. Other zeros are known to {np.degrees(known[worst]):.2g} degrees (one '
               f'deviation, {worst}) or better' if known else ''),) if names else ()


def _refined(best: OtherReading, look: _Look, names: tuple[str, ...], turning: Collection[str]
             ) -> OtherReading:
    """Return a reading whose numbers fit bodies of any numbers, its unit one with a name if so."""
    def error(each: OtherReading) -> float:
        return float(look.fitted(each).sum())

    unit, middle = float(best.row[best.at]), float(look.readings[:, best.at].mean())
    if '*' in best.option and best.shift:
        fine = _least_count(_counts(replace(best, row=np.sign(best.row)), middle), np.array(
            [np.log(unit), best.shift + unit * middle]), error)
        named = [each for each in other_readings(names, turning)
                 if each.at == best.at and '*' in each.option
                 and abs(each.row[each.at] / fine.row[each.at] - 1.0) < NEAR_UNIT]
        return min((fine, *named), key=lambda each: error(each) * (
            MAX_ERROR_RATIO if each is fine else 1.0))
    if not best.shift:
        return best
    fine = best.shifted(float(minimize_scalar(
        lambda shift: error(replace(best, shift=shift)),
        bounds=(best.shift - OFFSET_STEP, best.shift + OFFSET_STEP), method='bounded').x))
    return fine if MAX_ERROR_RATIO * error(fine) < error(best) else best


class _Look:
    """Errors of some samples by ways of reading the joints of one number, of which some turn."""

    @classmethod
    def of(cls, model: Model, motion: Motion, equations: Equations) -> _Look | None:
        """Return the errors of a tree with such joints, or None."""
        joints = [each for each in model.joint_list if JOINT_TYPES[each.type_name].nv == 1
                  and JOINT_TYPES[each.type_name].nq == 1]
        regressor = equations.regressor
        return None if isinstance(regressor, LoopRegressor) or not joints else cls(
            model, motion, equations, regressor, joints)

    def __init__(self, model: Model, motion: Motion, equations: Equations, regressor: Regressor,
                 joints: Sequence[Joint]) -> None:
        """Take pieces that are spread over the recording."""
        self._model, self._equations = model, equations
        self._at_q, self._at_v = [each.qi for each in joints], [each.vi for each in joints]
        self.names = tuple(each.name for each in joints)
        self.turning = [each.name for each in joints if each.type_name != 'prismatic']
        self._motion = shortened(motion, equations.cutoff, INSPECTED_ROWS)
        self._regressor, base = regressor, equations.base
        rows, forces, known = rows_of(model, regressor, base, tuple(
            each for each in equations.extra if each.kind in FRICTION_TERMS), self._motion,
            equations.cutoff)
        self._forces, self._known = (forces + known) / equations.scales, known
        self._drag = rows[..., base.rank:]
        self._size = np.maximum(np.sqrt((self._forces**2).mean(axis=0)), 1e-300)
        # Given bodies are looked at sample by sample, which is coarse and fast
        time = times_of(self._motion, equations.cutoff)
        at = np.minimum(np.searchsorted(motion.time, time), len(motion.time) - 1)
        self._samples = replace(motion, q=motion.q[at], v=motion.v[at], a=motion.a[at])
        self.readings, self.without_bodies = motion.q[:, self._at_q], float(self._forces.size)
        self._inverse = Dynamics(model, dissipation=False).inverse

    def _moved(self, motion: Motion, how: OtherReading) -> Motion:
        q, v, a = (each.copy() for each in (motion.q, motion.v, motion.a))
        q[:, self._at_q] = how.angles(q[:, self._at_q])
        v[:, self._at_v], a[:, self._at_v] = (how.rates(each[:, self._at_v]) for each in (v, a))
        return replace(motion, q=q, v=v, a=a)

    def _turned(self, how: OtherReading) -> Array:
        forces = self._forces.copy()
        forces[:, self._at_v] = how.efforts(forces[:, self._at_v])
        return forces

    def given(self, how: OtherReading) -> float:
        """Return the squared errors of the given bodies over the forces, friction fitted."""
        motion, total = self._moved(self._samples, how), 0.0
        left = self._turned(how) - self._inverse.batch(motion.q, motion.v, motion.a)
        for rest, drag in zip(left.T / self._sizes(how)[:, None], np.swapaxes(
                self._dragged(how), 0, 1)):
            drag = drag[:, drag.any(axis=0)]
            rest = rest - drag @ np.linalg.lstsq(drag, rest, rcond=None)[0]
            total += float(rest @ rest)
        return total

    def own(self, how: OtherReading) -> float:
        """Return the squared error of its joint's effort, the given bodies any times as heavy."""
        k, motion = self._at_v[how.at], self._moved(self._samples, how)
        columns = np.column_stack([self._drag[:, k], self._inverse.batch(
            motion.q, motion.v, motion.a)[:, k]])
        rest = self._forces[:, k] / self._size[k]
        rest = rest - columns @ np.linalg.lstsq(columns, rest, rcond=None)[0]
        return float(rest @ rest)

    def fitted(self, how: OtherReading) -> Array:
        """
        Return the squared errors (f,) of fitted bodies, any numbers, over the forces.

        An error of less than EFFECT_TOLERANCE of the forces is rounding.
        """
        flat, target = self._rows(how), self._target(how)
        left = target - flat @ np.linalg.lstsq(flat, target, rcond=EFFECT_TOLERANCE)[0]
        squares = left.reshape(-1, self._forces.shape[1])**2 + EFFECT_TOLERANCE**2
        return np.asarray(squares.sum(axis=0))

    def deviations_of_zeros(self) -> dict[str, float]:
        """Return the standard deviations of the zeros of turning joints, rad, bodies fitted."""
        result, unit = dict[str, float](), np.eye(len(self.names))
        flat, target = (each(OtherReading('', '', '', 0, unit[0]))
                        for each in (self._rows, self._target))
        x = np.linalg.lstsq(flat, target, rcond=EFFECT_TOLERANCE)[0]
        left = target - flat @ x
        size = np.sqrt(left @ left / max(1, len(left) - len(x)))
        for name in self.turning:
            at = self.names.index(name)
            ahead, back = (self._rows(OtherReading(name, '', '', at, unit[at], shift)) @ x
                           for shift in (_STEP, -_STEP))
            change = (ahead - back) / (2.0 * _STEP)
            apart = change - flat @ np.linalg.lstsq(flat, change, rcond=EFFECT_TOLERANCE)[0]
            shown = np.linalg.norm(apart) - _STEP * np.linalg.norm(change)  # beyond rounding
            result[name] = float(size / max(shown, 1e-300))
        return result

    def _rows(self, how: OtherReading) -> Array:
        """Return filtered rows over the forces, (K f, p)."""
        rows = inertial_rows(self._model, self._regressor, self._equations.base, self._moved(
            self._motion, how), self._equations.cutoff)
        rows = np.concatenate([rows, self._dragged(how)], axis=2) / self._sizes(how)[:, None]
        return rows.reshape(-1, rows.shape[2])

    def _target(self, how: OtherReading) -> Array:
        return np.asarray(((self._turned(how) - self._known) / self._sizes(how)).ravel())

    def _sizes(self, how: OtherReading) -> Array:
        """Return the rms forces (f,) of joints, each of the column that is its own."""
        result = self._size.copy()
        if how.exchanged[1]:
            ends = [self._at_v[k] for k in (how.at, how.other)]
            result[ends] = result[ends[::-1]]
        return result

    def _dragged(self, how: OtherReading) -> Array:
        """Return the columns of friction (n, f, e), which follow the positions of their joint."""
        if not how.exchanged[0]:
            return self._drag
        result, ends = self._drag.copy(), [self._at_v[k] for k in (how.at, how.other)]
        result[:, ends] = result[:, ends[::-1]]
        return result
