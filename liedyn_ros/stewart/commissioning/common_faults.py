# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Faults of all legs alike: of the geometry, of the frames of the poses, and of the readings' unit.

A frame that is turned, moved or mirrored moves the poses by a matrix on the left (base) or on the
right (platform). A radius scales the joints of a frame, a length all rods or horns. A number such
as an angle is fitted to the readings by least absolute errors, which a few wrong legs do not
disturb.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry, table_of
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail
from liedyn_ros.stewart.platform.kernels import leg_types
from liedyn_ros.stewart.platform.kernels.leg_rows import END, LENGTH, OTHER, ROW

WRONG_UNITS = {'millimetres': 1e3, 'centimetres': 1e2, 'inches': 1.0 / 0.0254, 'micrometres': 1e6}
DEGREES_PER_RADIAN = {'degrees': 180.0 / np.pi}
FLIPS = {'x': (-1.0, 1.0, 1.0), 'y': (1.0, -1.0, 1.0), 'z': (1.0, 1.0, -1.0)}
UNIT_FACTOR = 3.0  # factor by which the size of readings may differ from a unit's
TRIED_TURNS = np.radians(np.arange(0.0, 360.0, 5.0))
RADII = np.asarray(np.geomspace(0.3, 3.0, 60), dtype=float)
HEIGHTS = np.asarray(np.linspace(-3.0, 3.0, 121), dtype=float)  # characteristic lengths
FIT_ROUNDS = 8  # of a fit
REFINED_PLACES = 3  # best places of a grid from which a number is fitted
COUNTS_COST, KNOWN_UNIT_COST = 2.0, 1.9  # of a fitted unit and of a known one, with their zeros
ERROR_OUT_OF_REACH = 1e9  # an error where a rod does not reach


class CommonFault(NamedTuple):
    """
    A fault of all legs alike.

    kind: '' where nothing is wrong. text: of its finding. cost: 0 without a fault; a number that
    is fitted costs more than a choice. expected: (n, legs), the values of the machine as it is.
    readings: what its readings, less an offset, are of a unit.
    """

    kind: str
    text: str
    cost: float
    expected: Array
    unit: float = 1.0
    unit_name: str = ''
    offset: float = 0.0


Moves = Callable[[Array], tuple[Array, Array, Array, Array]]


class _Family(NamedTuple):
    """A fault with a number: the values it gives, the places to begin, a step, and its words."""

    kind: str
    values: Callable[[Array], Array]  # (m, n, legs) of numbers (m,), NaN out of reach
    grid: Array
    step: float
    text: Callable[[float], str]


def values_of(
        geometry: StewartGeometry, poses: Array, left: Array, right: Array,
        base_scales: Array, platform_scales: Array) -> Array:
    """
    Return values (m, n, legs) at left * poses * right, with joints scaled; NaN out of reach.

    poses: (n, 4, 4), m. left, right: (m, 4, 4), proper or mirrors. scales: (m, 3), of the joints'
    coordinates.
    """
    moved = left[:, None] @ poses[None] @ right[:, None]
    base, platform = (joints[None] * scales[:, None, :] for joints, scales in (
        (geometry.base_joints, base_scales), (geometry.platform_joints, platform_scales)))
    if geometry.plain:
        tips = np.einsum('mnij,mkj->mnki', moved[..., :3, :3], platform)
        return np.asarray(np.linalg.norm(
            tips + moved[..., None, :3, 3] - base[:, None], axis=-1))
    values = np.empty((len(moved), len(poses), len(base[0])))
    table = geometry.table()
    scaled = (base_scales != 1.0).any(axis=1) | (platform_scales != 1.0).any(axis=1)
    for k in range(len(moved)):
        other = table_of(base[k], platform[k], geometry.leg_types, 1.0, geometry.plain) if (
            scaled[k]) else table
        leg_types.values_batch(other, np.ascontiguousarray(moved[k]), values[k])
    return values


def common_faults(
        geometry: StewartGeometry, poses: Array, readings: Array) -> Iterator[CommonFault]:
    """Return faults of all legs; numbers fit readings (n, legs) at poses (n, 4, 4), m."""
    for fault in _frames(geometry, poses):
        if not np.isfinite(fault.expected).all():
            continue
        for unit in units(geometry, fault.expected, readings):
            if not fault.kind:
                yield unit
                yield from _readings_alike(unit, readings)
                yield from (found for family in _families(geometry, poses) if (
                    found := _fitted(readings, family, unit)) is not None)
            else:
                yield fault._replace(
                    cost=fault.cost + unit.cost, unit=unit.unit, unit_name=unit.unit_name)


def units(
        geometry: StewartGeometry, expected: Array, readings: Array) -> Iterator[CommonFault]:
    """Return no fault, and the units of which readings may be by their size or their changes."""
    yield CommonFault('', '', 0.0, expected)
    cranks = any(isinstance(leg, Crank) for leg in geometry.leg_types)
    for name, unit in (DEGREES_PER_RADIAN if cranks else WRONG_UNITS).items():
        ratios = [_ratio(np.abs(readings), np.abs(expected)),
                  _ratio(np.ptp(readings, axis=0), np.ptp(expected, axis=0))]
        if any(1.0 / UNIT_FACTOR < ratio / unit < UNIT_FACTOR for ratio in ratios):
            yield CommonFault('', '', 1.0, expected, unit, name)


def _ratio(some: Array, others: Array) -> float:
    return float(np.median(some)) / max(float(np.median(others)), 1e-300)


def _frames(geometry: StewartGeometry, poses: Array) -> Iterator[CommonFault]:
    """Yield faults without a number: none, mirrors, inverse poses, joints in another unit."""
    one, ones = np.eye(4)[None], np.ones((1, 3))

    def values(left: Array = one, right: Array = one, scale: float = 1.0,
               at: Array = poses) -> Array:
        return values_of(geometry, at, left, right, scale * ones, scale * ones)[0]
    yield CommonFault('', '', 0.0, values())
    for axis, signs in FLIPS.items():
        flip = np.diag((*signs, 1.0))[None]
        yield CommonFault('mirrored', f'the {axis} axis is mirrored: the poses, or the geometry, '
                          'are of a left-handed frame', 1.0, values(flip, flip))
        for place, moved in (('base', values(flip)), ('platform', values(right=flip))):
            yield CommonFault(f'{place}_mirrored', (
                f'the {place} is mirrored: the {axis} coordinates of its joints have the wrong '
                'sign in the geometry file'), 1.0, moved)
    yield CommonFault('exchanged', (
        'base and platform are exchanged: in the geometry file, or the poses are of the base in '
        'the platform'), 1.0, values(at=se3.inverse(poses)))
    for name, unit in WRONG_UNITS.items():
        yield CommonFault('joints_unit', f'the joints of the geometry file are in {name}: divide '
                          f'them by {unit:.6g}', 1.0, values(scale=1.0 / unit))


def _families(geometry: StewartGeometry, poses: Array) -> tuple[_Family, ...]:
    """Return the faults that have a number."""
    size = geometry.characteristic_length

    def of(kind: str, move: Moves, grid: Array, step: float, text: Callable[[float], str]
           ) -> _Family:
        return _Family(kind, lambda x: values_of(geometry, poses, *move(x)), grid, step, text)

    def turn(name: str) -> Callable[[float], str]:
        return lambda x: (f'the {name} is turned: its joints are turned by {_degrees(x):+.4g} '
                          'degrees about z from the geometry file')

    def radius(name: str) -> Callable[[float], str]:
        return lambda x: (f'the joints of the {name} lie on a radius of {x:.5g} times the one of '
                          'the geometry file')

    def height(name: str) -> Callable[[float], str]:
        return lambda x: (f"the {name}'s joints are {x:+.5g} m along z from where the geometry "
                          'file has them')

    def base(motion: Callable[[Array], Array]) -> Moves:
        return lambda x: (motion(-x), _same(x), _scaled(np.ones_like(x)), _scaled(np.ones_like(x)))

    def platform(motion: Callable[[Array], Array]) -> Moves:
        return lambda x: (_same(x), motion(x), _scaled(np.ones_like(x)), _scaled(np.ones_like(x)))
    heights, small = size * HEIGHTS, 1e-6 * size
    return (
        of('base_turned', base(_turned), TRIED_TURNS, 1e-6, turn('base')),
        of('platform_turned', platform(_turned), TRIED_TURNS, 1e-6, turn('platform')),
        of('base_radius', lambda x: (_same(x), _same(x), _scaled(x), _scaled(1.0 + 0.0 * x)),
           RADII, 1e-6, radius('base')),
        of('platform_radius', lambda x: (
            _same(x), _same(x), _scaled(1.0 + 0.0 * x), _scaled(x)), RADII, 1e-6,
            radius('platform')),
        of('base_height', base(_raised), heights, small, height('base')),
        of('platform_height', platform(_raised), heights, small, height('platform')),
        *_lengths(geometry, poses))


def _lengths(geometry: StewartGeometry, poses: Array) -> Iterator[_Family]:
    """Yield other lengths of all horns, and of all rods at a drive."""
    for part, name, column, types in (('radius', 'horn', OTHER, Crank),
                                      ('rod', 'rod', LENGTH, Crank | Rail)):
        legs = [k for k, leg in enumerate(geometry.leg_types) if isinstance(leg, types)]
        if not legs:
            continue

        def values(x: Array, column: int = column, legs: list[int] = legs) -> Array:
            found = np.empty((len(x), len(poses), len(geometry.leg_names)))
            for k, factor in enumerate(x):
                table = geometry.table()
                table[END * len(geometry.leg_names):].reshape(-1, ROW)[legs, column] *= factor
                leg_types.values_batch(table, poses, found[k])
            return found

        def text(x: float, name: str = name, lengths: frozenset[float] = frozenset(
                getattr(geometry.leg_types[k], part) for k in legs)) -> str:
            return f'the {name}s are {x:.4g} times as long as in the geometry file' + (
                f': {x * max(lengths):.4g} m' if len(lengths) == 1 else '')
        yield _Family(f'{name}_length', values, RADII, 1e-6, text)


def _degrees(x: float) -> float:
    return float(np.degrees((x + np.pi) % (2.0 * np.pi) - np.pi))


def _same(x: Array) -> Array:
    return np.tile(np.eye(4), (len(x), 1, 1))


def _turned(x: Array) -> Array:
    poses = _same(x)
    poses[:, 0, 0] = poses[:, 1, 1] = np.cos(x)
    poses[:, 1, 0] = np.sin(x)
    poses[:, 0, 1] = -poses[:, 1, 0]
    return poses


def _raised(x: Array) -> Array:
    poses = _same(x)
    poses[:, 2, 3] = x
    return poses


def _scaled(x: Array) -> Array:
    return np.stack((x, x, np.ones_like(x)), axis=-1)


def _fitted(readings: Array, family: _Family, unit: CommonFault) -> CommonFault | None:
    """Return a fault whose number fits the readings best, or None where no rod reaches."""
    given = readings / unit.unit

    def errors(x: Array) -> Array:
        found = family.values(x) - given
        return np.where(np.isfinite(found), found, ERROR_OUT_OF_REACH)
    losses = np.abs(errors(family.grid)).sum(axis=(1, 2))
    x = best = family.grid[np.argsort(losses)[:REFINED_PLACES]]
    least = np.full(len(x), np.inf)
    for _ in range(FIT_ROUNDS):  # Gauss-Newton with weights 1 / |error|: least absolute errors
        at, ahead = np.split(errors(np.concatenate((x, x + family.step))), 2)
        now = np.abs(at).sum(axis=(1, 2))
        best, least = np.where(now < least, x, best), np.minimum(now, least)
        slopes = (ahead - at) / family.step
        floor = 1e-3 * np.abs(at).mean(axis=(1, 2), keepdims=True) + 1e-12
        weights = 1.0 / np.maximum(np.abs(at), floor)
        x = x - (weights * slopes * at).sum(axis=(1, 2)) / np.maximum(
            (weights * slopes ** 2).sum(axis=(1, 2)), 1e-300)
    number = _refined(errors, best[[least.argmin()]], family.step)
    expected = errors(number)[0] + given
    if not np.abs(expected).max() < ERROR_OUT_OF_REACH:
        return None
    return CommonFault(family.kind, family.text(float(number[0])), 1.5 + unit.cost, expected,
                       unit.unit, unit.unit_name)


def _refined(errors: Callable[[Array], Array], x: Array, step: float) -> Array:
    """Return a number (1,) after two least squares steps on the legs that fit."""
    for _ in range(2):
        at = errors(x)
        slopes = (errors(x + step) - at) / step
        sizes = np.sqrt((at ** 2).mean(axis=1, keepdims=True))
        used = sizes <= 5.0 * np.median(sizes)
        x = x - (used * slopes * at).sum(axis=(1, 2)) / max(
            float((used * slopes ** 2).sum()), 1e-300)
    return x


def _readings_alike(unit: CommonFault, readings: Array) -> Iterator[CommonFault]:
    """Return a scale and an offset that all readings have."""
    given = readings / unit.unit
    factor = _ratio(given, unit.expected)
    if factor > 0.0 and not unit.unit_name:
        yield unit._replace(kind='all_scaled', cost=1.5, unit=factor, text=(
            f'all legs read {factor:.6g} times their values: set actuator_scale to '
            f'{1.0 / factor:.6g}'))
    moved, turns = (x - x.mean(axis=0) for x in (unit.expected, given))
    counts = float((moved * turns).sum() / max((moved ** 2).sum(), 1e-300))
    if counts and not unit.unit_name:  # as of an encoder
        zero = float(np.median(given / counts - unit.expected))
        yield unit._replace(kind='all_scaled', cost=COUNTS_COST, unit=counts, offset=zero, text=(
            f'all legs read {counts:.6g} counts for one unit of their values, from another zero '
            f'on: set actuator_scale to {1.0 / counts:.6g}, and actuator_offset to {-zero:.6g}'))
    for sense in (1.0, -1.0):
        zero = float(np.median(sense * given - unit.expected))
        known = unit._replace(unit=sense * unit.unit)
        moved_zero = known._replace(kind='all_offset', cost=KNOWN_UNIT_COST, offset=zero, text=(
            f'their zero is at {zero * known.unit:.5g}: add {-zero:+.6g} to actuator_offset'))
        if sense < 0.0:
            text = f'all legs run backwards: set actuator_scale to {1.0 / known.unit:.6g}'
            yield known._replace(kind='all_backwards', cost=1.0 + 0.5 * unit.cost, text=text)
            yield moved_zero._replace(kind='all_backwards', text=f'{text}; {moved_zero.text}')
        elif unit.unit_name:
            yield moved_zero
        else:
            yield moved_zero._replace(cost=1.5, text=(
                f'all legs read {zero:+.6g} too much: add {-zero:+.6g} to actuator_offset'))
