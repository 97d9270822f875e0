# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether recorded efforts have the unit and the sign that a fit takes them for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.identification.consistent_fit import PRIOR
from liedyn_ros.identification.equations import Equations
from liedyn_ros.identification.estimate import ConsistentBodies, given_unknowns
from liedyn_ros.identification.held_out import FOLDS, TEST_LEVEL
from liedyn_ros.identification.motion import Motion, Recording
from liedyn_ros.identification.readings import MAX_REMAINING_SHARE, MAX_SPAN
from liedyn_ros.identification.regressors.regressor import fixed_groups
from liedyn_ros.identification.robust_fit import (
    COLUMN_RANK_TOLERANCE, reduced, repetition, robust_fit, RobustFit, triangle_of)
from liedyn_ros.model import JOINT_TYPES, Model

# Times what the given model needs: one deviation of it, and two
DEVIATION, TWO_DEVIATIONS = 2.0, 4.0
# Factor by which five public descriptions miss the efforts of all joints alike (docs/results.md)
COMMON_DEVIATION = 1.22
# Correlation from which more than the half of an effort is that of the model
MIN_CORRELATION = 0.7
MAX_RANGES = 2.0  # times the range of its limits, which a joint covers where these are too narrow
END_SHARE = 0.1  # of the range of an effort, beside its end
END_SAMPLES = 0.01  # of the samples, which no motion leaves at an end by chance
REST_DISTANCE = 0.02  # rad or m, by which a joint that stood still may be elsewhere
_ROUNDING = 1e-3  # of the largest effort, below which an error has no sign to tell
_SIGN_DEVIATIONS = 2.0  # standard deviations
_MIN_ERROR_RATIO = 2.0  # times the squares that are left, by which one sign must be better


def require_own_columns(model: Model, recording: Recording) -> None:
    """
    Raise LimitError for the same numbers of two joints, efforts that stood, and other units.

    So it does for efforts that are cut off, and for magnitudes, which have one sign at all joints.

    Joints that move further than twice their limits allow have another one, or other limits.
    Two joints of which one follows the other have the same numbers. An effort stood where it is
    one number for a fifth of the recording, a part that is held out, while its joint moved.
    """
    single = [joint for joint in model.joint_list if JOINT_TYPES[joint.type_name].nq == 1]
    limited = {each.name: np.ptp(recording.q[:, each.qi]) / width for each in single
               if 0.0 < (width := float(np.ptp([each.limits.lower, each.limits.upper]))) < np.inf}
    beyond = tuple(name for name, times in limited.items() if times > MAX_RANGES)
    if len(beyond) > 1:  # of one, efforts tell the unit
        names = tuple(each.name for each in single if each.name in beyond or (
            each.type_name == 'continuous' and np.ptp(recording.q[:, each.qi]) > MAX_SPAN))
        raise _other_angles(
            names, f'{_numbers(limited[name] for name in beyond)} times the ranges '
            f'of the limits that {listed(list(beyond))} have', '. Or these limits are wrong:')
    led = {joint for each in model.couplings for joint in (
        each.joint, *(name for name, _ in each.terms))}
    for what, columns in (('positions', recording.q.T[[each.qi for each in single]]),
                          ('efforts', recording.tau.T[[each.vi for each in single]])):
        for (one, first), (other, second) in itertools.combinations(zip(single, columns), 2):
            if np.ptp(first) and np.array_equal(first, second) and not {
                    one.name, other.name} <= led:
                raise LimitError(f'{what} of {one.name} and {other.name}: expected different '
                                 f'numbers for each joint, got the same ones throughout: name '
                                 f'their columns; sure=True (--sure) takes them as they are',
                                 names=(one.name, other.name))
    for each in single:
        force, q = recording.tau[:, each.vi], recording.q[:, each.qi]
        steps = np.unique(force)
        for end, beside in (steps[:2], steps[:-3:-1]) if len(steps) > 1 else ():
            # More at an end than near it are cut off there; coarse readings have a step beside it
            apart = np.abs(force - end)
            near = (apart > 0.0) & (apart <= max(END_SHARE * np.ptp(force), abs(beside - end)))
            if end and (at := apart == 0.0).sum() > max(END_SAMPLES * len(force), near.sum()):
                raise LimitError(
                    f'effort of {each.name}: expected less than its sensor reads at most, got '
                    f'{end:g} in {100.0 * at.mean():.2g} % of the samples. Record it slower; '
                    'sure=True (--sure) takes it as it is', names=(each.name,))
        begins = np.flatnonzero(np.append(True, np.diff(force) != 0.0))
        longest = int(np.argmax(np.diff(begins, append=len(force))))
        begin, end = np.append(begins, len(force))[longest:longest + 2].tolist()
        if (end - begin) * FOLDS > len(force) and np.ptp(force) and (
                np.ptp(q[begin:end]) > REST_DISTANCE):
            raise LimitError(
                f'effort of {each.name}: expected new readings while it moves, got '
                f'{force[begin]:g} from {recording.time[begin]:.4g} to '
                f'{recording.time[end - 1]:.4g} s. Record it again; sure=True (--sure) takes it '
                'as it is', names=(each.name,))


def require_joint_angles(model: Model, motion: Motion, equations: Equations) -> None:
    """
    Raise LimitError for angles of motors, by efforts, where joints have no limits that tell them.

    Several joints turn on and on, and the given bodies need more for it than was measured, in
    another course: accelerations are as many times too large as gears have turns. Wheels and
    efforts in another unit are not meant: these need less, or are alike.
    """
    at = [model.joint(name) for name in equations.joints]
    wide = np.array([each.type_name in ('revolute', 'continuous') and np.ptp(
        motion.q[:, each.qi]) > MAX_SPAN for each in at], dtype=bool)
    given, rank = given_unknowns(model, equations), equations.base.rank
    needed, measured = (np.sqrt((each**2).mean(axis=0)) for each in (
        equations.rows[..., :rank] @ given[:rank], equations.forces))
    wide &= needed > measured
    unlike = np.abs(effort_ratios(equations, given)[1]) < MIN_CORRELATION
    if (wide & unlike).sum() > 1:
        names = tuple(np.array(equations.joints)[wide].tolist())
        raise _other_angles(
            names, 'angles at which the given bodies need '
            f'{_numbers((needed / measured)[wide])} times the recorded efforts', '. If not,')


def _other_angles(names: tuple[str, ...], what: str, otherwise: str) -> LimitError:
    """Return the error of joints whose angles are no rad: what they are or need, and otherwise."""
    return LimitError(
        f'positions of {listed(list(names))}: expected rad or m, got {what}: degrees (np.radians, '
        f'--unit position=deg), or angles of motors before their gears (--reads {names[0]}=0.01*'
        f'{names[0]}){otherwise} sure=True (--sure) takes them as they are', names=names)


def _numbers(values: Iterable[float]) -> str:
    return ', '.join(f'{each:.3g}' for each in values)


def require_efforts(model: Model, equations: Equations, wider: Equations,
                    scales: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
    """
    Return a doubt about the unit of all efforts, '' for none, and others, or raise LimitError.

    wider have springs beside, whose forces are like those of an inertia below zero. Each joint
    alone is fitted by what can be, as its efforts are and negated. What the better of both leaves
    is the error of the model; a sign is only named where it explains more than that. Efforts are a
    multiple of what the given bodies need where both are alike, when friction is taken off. All
    joints together, but those of scales, show a unit by less than one, whose body may be wrong.
    """
    ratio, alike = effort_ratios(equations, given_unknowns(model, equations))
    names, needed = np.array(equations.joints), equations.rows @ given_unknowns(model, equations)
    turns = (needed.min(axis=0) < -END_SHARE * needed.max(axis=0)) & (needed.max(axis=0) > 0.0)
    if len(names) > 1 and turns.any() and (equations.forces + equations.known >= 0.0).all():
        raise LimitError('efforts: expected signs, got none below 0 at any joint: magnitudes? '
                         'Record them with their signs; sure=True (--sure) takes them as they are',
                         names=tuple(names[turns].tolist()))
    similar = np.abs(alike) > MIN_CORRELATION
    far = similar & ~(np.abs(np.log(np.abs(ratio) + 1e-300)) < np.log(TWO_DEVIATIONS))
    known = similar & ~np.isin(names, list(scales))
    common, deviations, sure, by_load = _common_ratio(model, equations, ratio, known)
    lifted = by_load & (np.abs(ratio) > 1.0)
    far &= ~lifted
    far |= known & bool(sure and deviations > 2.0 and (ratio[known] > 0.0).all())
    if far.any():
        raise _other_unit(names[far], ratio[far], names[~similar])
    given = given_unknowns(model, wider)
    sign = np.array([_sign(model, wider, k, given) for k in range(len(ratio))])
    negated = (sign < 0) | ((sign == 0) & (alike < -MIN_CORRELATION) & ~lifted)
    if negated.any():
        wrong = tuple(names[negated].tolist())
        raise LimitError(
            f'effort of {listed(list(wrong))}: expected the sign of the positions, got negative '
            'friction, inertia or load. The sign of efforts or positions is reversed: '
            f'{_scales(wrong, [-1.0] * len(wrong))} turns them; sure=True (--sure) takes them as '
            'they are', names=wrong)
    unit = '' if not deviations > 1.0 else (
        f'efforts are {common:.2g} times what the given model needs, by '
        f'{", ".join(names[known])}: {"a load, heavier" if common > 1.0 else "lighter"} bodies '
        'than the model has, or another unit')
    doubts = [f'{name}: efforts are {each:.3g} times what the given model needs, in the same '
              'course: is the unit right?' for name, each in zip(names[similar], ratio[similar])
              if not 1.0 / DEVIATION < each / (common if unit else 1.0) < DEVIATION]
    if unit and not deviations > 2.0:
        doubts.insert(0, unit)
    for which, what in ((~similar & (sign > 0),
                         'the unit of its effort, and only friction or inertia show the sign'),
                        (~similar & (sign == 0), 'the unit and the sign of its effort')):
        if which.any():
            doubts.append(f'{", ".join(names[which])}: mostly friction, or what no model has: it '
                          f'gives no evidence of {what}')
    return unit if deviations > 2.0 else '', tuple(doubts)


def _other_unit(wrong: NDArray[np.str_], ratio: Array, hidden: NDArray[np.str_]) -> LimitError:
    """
    Return the error of joints whose efforts are a ratio (w,) of those that bodies need.

    Where they are alike, it is one unit: that of joints as well whose friction hides it.
    """
    names, size = tuple(wrong.tolist()), np.log(np.maximum(ratio, 1e-300))
    one = len(names) > 1 and np.ptp(size) < 2.0 * np.log(COMMON_DEVIATION)
    which = (*names, *hidden.tolist()) if one else names
    factors = np.full(len(which), np.exp(-size.mean())) if one else 1.0 / ratio
    return LimitError(
        f'effort of {listed(list(names))}: expected N m or N, got {_numbers(ratio)} times what '
        'the given model needs, in the same course: amperes or another unit. Name the torque of a '
        f'recorded unit, as {_scales(which, factors)}, which the masses of the model give' + (
            f', and that of {listed(hidden.tolist())}, whose friction hides theirs'
            if hidden.size and not one else '') + '. If they are N m and these masses are '
        'placeholders' + (', or the robot carried a load that the model lacks'
                          if (ratio > 1.0).any() else '')
        + ', sure=True (--sure) takes them as they are', names=names)


def _common_ratio(model: Model, equations: Equations, ratio: Array, known: NDArray[np.bool_]
                  ) -> tuple[float, float, bool, bool]:
    """
    Return the ratio of efforts that some joints, a mask (f,), share, and its size in deviations.

    And whether it is sure that a unit or masses make it, and whether loads explain it as well.
    Loads and motors make efforts larger, but only a unit, or the masses, all of them smaller. So
    a larger one is that without last bodies, which may carry loads, motors and friction, of any
    numbers, and a smaller one too where a last body may not have been there. One body alone, of
    one joint, may be wrong.
    """
    count = int(known.sum())
    common = np.log(np.maximum(ratio[known], 1.0 / TWO_DEVIATIONS)).sum() / max(count, 1)
    deviation = np.log(COMMON_DEVIATION) * np.sqrt(1.0 + 1.0 / max(count, 1))
    far, explained = abs(common) > 2.0 * deviation, False
    felt = np.abs(equations.rows[:, known] @ equations.full_map()).max(axis=(0, 1), initial=0.0)
    bodies = felt[:10 * len(equations.regressor.bodies)].reshape(-1, 10).any(axis=1).sum()
    if (common <= 0.0 and far) or bodies < 2:
        return float(np.exp(common)), float(abs(common) / deviation), bool(bodies > 1), False
    unloaded, explained = _unloaded_ratio(model, equations, known)
    sure = far and _is_unit_likelier(model, equations, float(np.exp(common)))
    if unloaded is not None and not sure:
        common = float(np.median([0.0, common, np.log(max(unloaded, 1e-300))]))
    return (float(np.exp(common)), float(abs(common) / deviation), sure or unloaded is not None,
            explained and count > 1)


def _is_unit_likelier(model: Model, equations: Equations, ratio: float) -> bool:
    """
    Return whether efforts that are a ratio too large are likelier than loads of last bodies.

    And clearly likelier than bodies alone, as a further unknown has to make them.
    """
    triangle, target = reduced(equations.rows, equations.forces, robust_fit(
        equations.rows, equations.forces))
    bodies = ConsistentBodies(model, equations)
    try:
        unit, alone, loaded = (bodies.unlikeness(times * triangle, target, carried)
                               for times, carried in ((ratio, False), (1.0, False), (1.0, True)))
    except ConvergenceError:  # nothing is told of any
        return False
    return bool(2.0 * (alone - unit) > chdtri(1.0, 1.0 - TEST_LEVEL) and loaded > unit)


def _unloaded_ratio(model: Model, equations: Equations, known: NDArray[np.bool_]
                    ) -> tuple[float | None, bool]:
    """
    Return efforts of joints, a mask (f,), over those needed, but for loads; None if unlike.

    And whether loads leave so much less of the efforts than a ratio of each does that they explain
    them, as another way of reading would.
    """
    parents = {joint.parent for joint in model.joint_list if joint.type_name != 'fixed'}
    regressor, full = equations.regressor, equations.full_map()
    inertial = len(equations.base.kept) + len(equations.base.dropped)
    free = np.repeat([not parents & {model.bodies[b] for b in group}
                      for group in fixed_groups(model)], 10)
    free = np.concatenate([free, np.ones(full.shape[1] - len(free), dtype=bool)])
    given = np.concatenate([regressor.parameters, np.zeros(full.shape[1] - inertial)])
    size = np.sqrt((equations.forces**2).mean(axis=0))[known]
    rows = (equations.rows[:, known] / size[:, None]).reshape(-1, len(full)) @ full
    forces = (equations.forces[:, known] / size).ravel()
    needed, measured = _left(rows[:, free], np.column_stack([rows[:, ~free] @ given[~free],
                                                             forces])).T
    each = (rows @ given).reshape(-1, len(size), 1) * np.eye(len(size))
    scaled = _left(np.column_stack([each.reshape(-1, len(size)), rows[:, inertial:]]), forces)
    product, square = float(needed @ measured), float(needed @ needed)
    alike = product > MIN_CORRELATION * np.sqrt(square * float(measured @ measured))
    loaded = measured - needed
    return product / square if alike else None, bool(
        loaded @ loaded < MAX_REMAINING_SHARE * (scaled @ scaled))


def _left(columns: Array, target: Array) -> Array:
    """Return the part of a target (n, ...) that no sum of columns (n, p) reaches."""
    return np.asarray(target - columns @ np.linalg.lstsq(
        columns, target, rcond=COLUMN_RANK_TOLERANCE)[0])


def _scales(names: tuple[str, ...], factors: Array | list[float]) -> str:
    return ' '.join(f'--scale {name}={each:.3g}' for name, each in zip(names, factors))


def _sign(model: Model, equations: Equations, k: int, given: Array) -> int:
    """Return 1 or -1, by which sign bodies and friction explain a joint, or 0 for neither."""
    rows, forces = equations.rows[:, k], equations.forces[:, k]
    size, needed = (float(np.abs(each).max(initial=0.0)) for each in (forces, rows @ given))
    forces = forces * (needed / size if size * needed > 0.0 else 1.0)  # near the given bodies
    left = forces - rows @ np.linalg.lstsq(rows, forces, rcond=None)[0]
    size = np.sqrt(np.mean(left**2) * repetition(left[:, None])[0])
    size = max(float(size), _ROUNDING * float(np.abs(forces).max(initial=0.0)), 1e-300)
    triangle = triangle_of(np.column_stack([rows, forces]) / size)
    count = rows.shape[1]
    nothing = RobustFit(np.zeros(count), np.eye(count), np.ones(1), np.ones(1), np.ones((1, 1)),
                        np.zeros((count, 0)))
    bodies, squares = ConsistentBodies(model, equations), list[Array]()
    for sign in (1.0, -1.0):
        try:
            x = bodies.estimate(nothing, triangle[:, :-1], sign * triangle[:, -1],
                                PRIOR).consistent
        except ConvergenceError:  # nothing that can be explains it
            x = np.zeros(count)
        squares.append((forces - sign * (rows @ x))**2)
    gain = squares[1] - squares[0]
    sure = abs(gain.mean()) > _SIGN_DEVIATIONS * np.sqrt(
        gain.var() * repetition((gain - gain.mean())[:, None])[0] / len(gain))
    least, most = sorted(float(each.mean()) for each in squares)
    if not sure or most < _MIN_ERROR_RATIO * least:
        return 0
    return 1 if gain.mean() > 0.0 else -1


def effort_ratios(equations: Equations, given: Array) -> tuple[Array, Array]:
    """
    Return efforts over those of the given bodies (f,), and how alike both are, -1 to 1.

    Friction is taken off both before. A joint whose friction changes more than what its bodies
    need is like nothing, 0: its friction is known to no better than that.
    """
    at, ratios, alike = equations.at_extra, [], []
    for k in range(len(equations.joints)):
        drag = equations.rows[:, k, at]
        drag = drag[:, np.abs(drag).max(axis=0, initial=0.0) > 0.0]
        both = np.column_stack([equations.rows[:, k, :at.start] @ given[:at.start],
                                equations.forces[:, k]])
        braking = drag @ np.linalg.lstsq(drag, both, rcond=None)[0] if drag.size else 0.0 * both
        both = both - braking
        needed, measured = both.T
        square, other = float(needed @ needed), float(measured @ measured)
        product = float(needed @ measured)
        ratios.append(product / square if square > 0.0 else 1.0)
        friction = braking @ [-ratios[-1], 1.0]  # bodies need a part that is like it
        shown = square * other > 0.0 and other > len(measured) * float(friction.var())
        alike.append(product / np.sqrt(square * other) if shown else 0.0)
    return np.array(ratios), np.array(alike)
