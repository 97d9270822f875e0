# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits along a path as rows of inequalities in z = pdot^2 and its derivatives by p."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.retiming.coefficients import Coefficients, FrameMotion
from liedyn_ros.retiming.grid import Speed
from liedyn_ros.retiming.limits import CLOSURE_LIMITS, ClosureLimits
from liedyn_ros.retiming.paths.path import PathSamples

STATE_ROWS, RATE_ROWS = 0, 1  # the two kinds of rows
CORNERS = 48  # of the polygon within the circle of accelerations: 0.2 % smaller at most
SQUARED_ROWS = 'velocity', 'frame_velocity', 'frame_angular_velocity'  # rows of their squares


class Rows(NamedTuple):
    """
    Inequalities at places of a path, each coefficient (K, R) for R rows a place (15.4).

    Rows of states: slope z' + value z + root sqrt(z) + constant <= bound. Rows of rates:
    sqrt(z) (curvature z'' + slope z' + value z + constant) + root_value z + root_slope z'
    <= bound. names (R,) tells the limit of each row, of (R,) its coordinate, frame or closure.
    offset is where a force has its bound from: the middle of its two limits.
    """

    kind: int
    names: tuple[str, ...]
    of: tuple[str, ...]
    curvature: Array
    slope: Array
    value: Array
    constant: Array
    root_value: Array
    root_slope: Array
    root: Array
    bound: Array
    offset: Array

    def as_given(self, place: int, row: int, share: float) -> tuple[str, float, float]:
        """Return 'less' or 'more', a row's limit as it was given, and the number at a share."""
        bound, offset = float(self.bound[place, row]), float(self.offset[place, row])
        if self.names[row] in SQUARED_ROWS:
            return 'less', bound**0.5, (share * bound)**0.5
        if self.names[row].startswith('least_'):
            return 'more', offset - bound, offset - share * bound
        return 'less', offset + bound, offset + share * bound

    def used(self, speed: Speed) -> Array:
        """Return the left side over the bound (K, R): 1 where a limit binds."""
        z, dz, ddz = (each[:, None] for each in speed)
        inner = self.slope * dz + self.value * z + self.constant
        if self.kind == STATE_ROWS:
            return (inner + self.root * np.sqrt(z)) / self.bound
        outer = self.root_value * z + self.root_slope * dz
        return ((inner + self.curvature * ddz) * np.sqrt(z) + outer) / self.bound

    def scaled(self, z: float) -> Rows:
        """Return the rows for a path run at the speed sqrt(z): unknowns are near 1 (15.7)."""
        speed = np.sqrt(z)
        by = 1.0 if self.kind == STATE_ROWS else 1.0 / speed
        return self._replace(
            curvature=self.curvature * z, slope=self.slope * z, value=self.value * z,
            root=self.root * speed, root_value=self.root_value * z * by,
            root_slope=self.root_slope * z * by, bound=self.bound * by)

    def eased(self, share: float) -> Rows:
        """Return the rows of limits that are a share of their own, all above zero."""
        return self._replace(bound=share * self.bound)

    def at(self, places: NDArray[np.int64] | slice) -> Rows:
        """Return the rows of some places, which may repeat."""
        return self._replace(**{name: getattr(self, name)[places] for name in _BY_PLACE})


_BY_PLACE = ('curvature', 'slope', 'value', 'constant', 'root_value', 'root_slope', 'root',
             'bound', 'offset')


def limit_rows(path: PathSamples, forces: Coefficients, limits: dict[str, Array],
               names: tuple[str, ...], frames: Sequence[FrameMotion] = (),
               closures: Sequence[ClosureLimits] = (), lines: Array | None = None
               ) -> tuple[Rows, Rows]:
    """
    Return the rows of states and of rates of all limits that are finite (15.4).

    forces are the coefficients of torques, then of the forces in closures. lines (K, 3) are those
    of MotionLimits.
    """
    v, a, jerk = path.v, path.a, path.jerk
    nv = v.shape[1]
    tau, carried = forces.of(slice(nv)), forces.of(slice(nv, None))
    states, rates = _Stack(STATE_ROWS, names), _Stack(RATE_ROWS, names)
    states.add('velocity', limits['velocity']**2, value=v**2)
    for sign in (1.0, -1.0):
        states.add('acceleration', limits['acceleration'], slope=sign * v / 2.0, value=sign * a)
        _add_forces(states, sign, tau, (limits['torque'], limits['least_torque']),
                    ('torque', 'least_torque'), np.maximum(sign * v * limits['torque_per_speed'],
                                                           0.0))
        rates.add('jerk', limits['jerk'], curvature=sign * v / 2.0, slope=sign * 1.5 * a,
                  value=sign * jerk)
        _add_rates(rates, sign, tau, limits['torque_rate'], 'torque_rate')
        rates.add('power', limits['power'], slope=sign * v * tau.inertia / 2.0,
                  value=sign * v * tau.square, constant=sign * v * tau.static,
                  root_value=sign * v * tau.viscous)
        _add_closures(states, rates, sign, carried, closures)
        if lines is not None:
            _add_lines(states, sign, tau, v, lines)
    for frame in frames:
        _add_frame(states, frame)
    return states.rows(len(v)), rates.rows(len(v))


def _add_forces(states: _Stack, sign: float, force: Coefficients, ends: tuple[Array, Array],
                names: tuple[str, str], fall: Array, of: tuple[str, ...] | None = None) -> None:
    """Add upper (1) or lower (-1) ends, most and least, as a bound about an offset (15.4)."""
    most, least = ends
    end, other = (most, least) if sign > 0.0 else (least, most)
    given, both = np.isfinite(end), np.isfinite(other)
    end, other = np.where(given, end, 0.0), np.where(both, other, 0.0)
    scale = np.maximum(np.abs(force.static).max(axis=0), np.abs(end))
    scale = np.where(scale > 0.0, scale, 1.0)  # of a limit without another one
    offset = np.where(both, (end + other) / 2.0, end - sign * scale)
    even = most == -least
    offset = np.where(even, 0.0, offset)
    for name, chosen in zip(names, (even | (sign > 0.0), ~even & (sign < 0.0))):
        states.add(name, np.where(chosen & given, sign * (end - offset), np.inf), of,
                   slope=sign * force.inertia / 2.0, value=sign * force.square,
                   root=sign * force.viscous + fall, constant=sign * (force.static - offset),
                   offset=np.broadcast_to(offset, force.static.shape))


def _add_rates(rates: _Stack, sign: float, force: Coefficients, bound: Array, name: str,
               of: tuple[str, ...] | None = None) -> None:
    """Add the limits of the rates of forces (15.4)."""
    rates.add(name, bound, of, curvature=sign * force.inertia / 2.0,
              slope=sign * force.cross / 2.0, value=sign * force.cube,
              constant=sign * force.static_rate, root_value=sign * force.viscous_rate,
              root_slope=sign * force.viscous / 2.0)


def _add_closures(states: _Stack, rates: _Stack, sign: float, force: Coefficients,
                  limits: Sequence[ClosureLimits]) -> None:
    """Add the limits of forces in closures, and of their rates (15.19)."""
    of = tuple(each.label for each in limits)
    least, most, rate = (np.array([getattr(each, end) for each in limits])
                         for end in CLOSURE_LIMITS)
    _add_forces(states, sign, force, (most, least),
                (CLOSURE_LIMITS['most'], CLOSURE_LIMITS['least']), np.zeros_like(force.static), of)
    _add_rates(rates, sign, force, rate, CLOSURE_LIMITS['rate'], of)


def _add_lines(states: _Stack, sign: float, tau: Coefficients, v: Array, lines: Array) -> None:
    """Add the lines that bound the torque curves of motors; braking takes the torque at rest."""
    at = lines[:, 0].astype(int)
    states.add('torque_curve', lines[:, 1], tuple(states.coordinates[k] for k in at),
               slope=sign * tau.inertia[:, at] / 2.0, value=sign * tau.square[:, at],
               root=sign * tau.viscous[:, at] + np.maximum(sign * v[:, at] * lines[:, 2], 0.0),
               constant=sign * tau.static[:, at])


def _add_frame(states: _Stack, frame: FrameMotion) -> None:
    """Add the limits of a frame: of the square of its speeds, and of accelerations (15.15)."""
    for place, kind in ((3, ''), (0, 'angular_')):
        along, across = (each[:, place:place + 3] for each in (frame.along, frame.across))
        speed = getattr(frame.limits, f'{kind}velocity')
        states.add(f'frame_{kind}velocity', np.array([speed**2]), (frame.limits.label,),
                   value=(along**2).sum(axis=1, keepdims=True))
        bound = getattr(frame.limits, f'{kind}acceleration') * np.cos(np.pi / CORNERS)
        length = np.linalg.norm(along, axis=1, keepdims=True)
        axis = np.divide(along, length, out=np.zeros_like(along), where=length > 0.0)
        inner = (across * axis).sum(axis=1, keepdims=True)
        outer = np.linalg.norm(across - inner * axis, axis=1, keepdims=True)
        angles = 2.0 * np.pi * np.arange(CORNERS // 2 + 1) / CORNERS
        states.add(f'frame_{kind}acceleration', np.full(len(angles), bound),
                   (frame.limits.label,) * len(angles), slope=np.cos(angles) * length / 2.0,
                   value=np.cos(angles) * inner + np.sin(angles) * outer)


class _Stack:
    """Rows that are laid side by side, those of infinite limits left out."""

    def __init__(self, kind: int, coordinates: tuple[str, ...]) -> None:
        """Begin without rows."""
        self._kind, self.coordinates = kind, coordinates
        self._names: list[str] = []
        self._of: list[str] = []
        self._parts: dict[str, list[Array]] = {name: [] for name in _BY_PLACE}

    def add(self, name: str, bound: Array, of: tuple[str, ...] | None = None, **given: Array
            ) -> None:
        """Add a row for each coordinate, or each of others, whose bound (R,) is finite."""
        finite = np.flatnonzero(np.isfinite(bound))
        of = self.coordinates if of is None else of
        self._names += [name] * len(finite)
        self._of += [of[k] for k in finite]
        shape = next(iter(given.values())).shape
        parts = {each: np.zeros(shape) for each in _BY_PLACE} | given
        parts['bound'] = np.broadcast_to(bound, shape)
        for each, values in parts.items():
            self._parts[each].append(values[:, finite])

    def rows(self, count: int) -> Rows:
        """Return the rows at that many places."""
        return Rows(self._kind, tuple(self._names), tuple(self._of),
                    **{name: np.hstack(values) if values else np.zeros((count, 0))
                       for name, values in self._parts.items()})
