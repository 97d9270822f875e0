# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""From actuator readings with names, in any order, to leg lengths and rates in leg order."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array, unknown_name
from liedyn_ros.common.errors import LimitError, NameSetError, StampError
from liedyn_ros.common.name_order import NameOrder
from liedyn_ros.common.stamps import Timeline
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kernels import legs as kernels

NO_READINGS = np.empty(0)


DEFAULTS = {'scale': 1.0, 'offset': 0.0, 'beside': 0.0}  # of the settings of each actuator
WAITING_READINGS = 10  # readings of an actuator that wait for the others'
# Of an actuator's last readings, the longest of which is taken for its period
PERIOD_INTERVALS = 4
# Without a reading, after which an actuator is named as missing
SILENT_PERIODS = 2 * WAITING_READINGS


@dataclass(frozen=True)
class Reading:
    """One actuator at one time: position and, where it is measured, velocity."""

    stamp_ns: int
    position: float
    velocity: float | None = None


@dataclass
class _Actuator:
    """Waiting readings, oldest first, and estimates of their times."""

    heard: bool = False  # since the last set
    timeline: Timeline = field(default_factory=Timeline)
    waiting: deque[Reading] = field(default_factory=lambda: deque(maxlen=WAITING_READINGS))
    intervals: deque[int] = field(default_factory=lambda: deque(maxlen=PERIOD_INTERVALS))


class ActuatorSynchronizer:
    """
    Keeps the readings of each actuator until those of the same time of all others are there.

    The readings of a set are used once, and lie within the tolerance of one another. The tolerance
    must be less than half an actuator's period, so that no reading of another set can be as near.
    A set is complete with its last reading; one actuator may be ahead of the others by up to
    WAITING_READINGS periods. Where readings come faster than that, half their period counts.
    """

    def __init__(self, names: Sequence[str], tolerance: float, stamped: bool = True) -> None:
        """
        Take the actuators' names and the tolerance in s, which must not be negative.

        stamped: whether the stamps are those of the measurements. Times of arrival, which come
        in bursts, tell no period: then the tolerance alone counts.
        """
        if not 0.0 <= tolerance < float('inf'):
            raise LimitError(f'tolerance: expected a number of s from 0 on, got {tolerance}')
        self.names = tuple(names)
        self._tolerance_ns, self._stamped = round(tolerance * 1e9), stamped
        self.clear()

    def add(self, name: str, reading: Reading) -> dict[str, Reading] | None:
        """
        Take a reading; return the complete set that it closes, or None.

        A reading with the stamp of the actuator's last takes its place if that still waits.
        Raises NameSetError for an unknown actuator and StampError where the reading is older
        than the actuator's last. Where the clock was set back (Timeline), all are forgotten.
        """
        if name not in self._actuators:
            raise unknown_name(NameSetError, 'actuator', self.names, name)
        self._take(name, reading)
        queues = [actuator.waiting for actuator in self._actuators.values()]
        while all(queues):
            stamps = [waiting[0].stamp_ns for waiting in queues]
            oldest = max(stamps) - self._window()
            if min(stamps) >= oldest:
                return self._close()
            for waiting, stamp_ns in zip(queues, stamps):
                if stamp_ns < oldest:
                    waiting.popleft()
        return None

    def missing(self) -> list[str]:
        """
        Return the actuators without a new reading.

        These are the ones without a reading newer than the last set's, and those that others have
        left behind by several periods.
        """
        heard = [last_ns for each in self._actuators.values()
                 if (last_ns := each.timeline.last_ns) is not None]
        return [name for name, each in self._actuators.items()
                if not (each.waiting or each.heard)
                or max(heard) - (each.timeline.last_ns or 0) > self._patience(each)]

    def clear(self) -> None:
        """Forget all readings."""
        self._actuators = {name: _Actuator() for name in self.names}

    def _take(self, name: str, reading: Reading) -> None:
        actuator = self._actuators[name]
        last_ns = actuator.timeline.last_ns
        if reading.stamp_ns == last_ns:
            if actuator.waiting:
                actuator.waiting[-1] = reading
            return
        try:
            follows = actuator.timeline.follows(reading.stamp_ns)
        except StampError as error:
            raise StampError(f'{name}: {error}', names=(name,), expected=error.expected,
                             got=error.got) from error
        if not follows:
            self.clear()
            self._take(name, reading)
            return
        if last_ns is not None:
            actuator.intervals.append(reading.stamp_ns - last_ns)
        actuator.waiting.append(reading)
        actuator.heard = True

    def _patience(self, actuator: _Actuator) -> int:
        """Return for how long (ns) an actuator may be silent while others report."""
        periods = [max(each.intervals) for each in self._actuators.values() if each.intervals]
        period = max(actuator.intervals) if actuator.intervals else max(periods, default=0)
        return self._tolerance_ns + SILENT_PERIODS * period

    def _close(self) -> dict[str, Reading]:
        """Return the oldest reading of each."""
        for actuator in self._actuators.values():
            actuator.heard = False
        return {name: actuator.waiting.popleft() for name, actuator in self._actuators.items()}

    def _window(self) -> int:
        """Return by how much the stamps of a set may differ, ns."""
        if not self._stamped:
            return self._tolerance_ns
        periods = [max(a.intervals) for a in self._actuators.values() if a.intervals]
        return min(self._tolerance_ns, min(periods) // 2) if periods else self._tolerance_ns


@dataclass(frozen=True)
class LegActuators:
    """
    Actuators, one a leg: length = offset + scale * position, effort = scale * force.

    One beside its leg, parallel to it, measures x = offset + scale * position; its joints are
    sqrt(x^2 + beside^2) apart. Its effort changes with the length, so it has none here.

    names: the actuator of each of n legs, six or more, in the geometry's leg order. scales: (n,),
    m per unit of position, not zero. offsets: (n,), m, the leg's length at position zero. beside:
    (n,), m, the distance of the actuator's line from the leg's joints, as seen along it.
    ignore_others: whether readings of other names are passed over or refused. fixed: (n,), m, the
    lengths of rods that have no actuator, NaN of the others. Readings of their names may come, and
    say nothing.

    Raises NameSetError, ShapeError, NotFiniteError or LimitError.
    """

    names: tuple[str, ...]
    scales: Array
    offsets: Array
    ignore_others: bool = False
    beside: Array = field(default_factory=lambda: NO_READINGS)
    fixed: Array = field(default_factory=lambda: NO_READINGS)
    _order: NameOrder = field(init=False, repr=False, compare=False)
    _parallel: bool = field(init=False, repr=False, compare=False)
    _rods: set[str] = field(init=False, repr=False, compare=False)  # of fixed length

    def __post_init__(self) -> None:
        """Check the parts."""
        n = len(self.names)
        if n < 6 or len(set(self.names)) != n or '' in self.names:
            raise NameSetError('actuator names: expected six different names, or more, '
                               f'got {list(self.names)}')
        scales = checks.as_array('actuator scales', self.scales, (n,))
        if not scales.all():
            raise LimitError(f'actuator scales: expected none of them zero, got {scales.tolist()}')
        object.__setattr__(self, 'names', tuple(self.names))
        object.__setattr__(self, 'scales', scales)
        object.__setattr__(
            self, 'offsets', checks.as_array('actuator offsets', self.offsets, (n,)))
        beside = np.zeros(n) if self.beside is NO_READINGS else checks.as_array(
            'actuator beside', self.beside, (n,))
        if (beside < 0.0).any():
            raise LimitError(f'actuator beside: expected 0 m or more, got {beside.tolist()}')
        object.__setattr__(self, 'beside', beside)
        fixed = (
            np.full(n, np.nan) if self.fixed is NO_READINGS else np.array(self.fixed, dtype=float))
        if fixed.shape != (n,):
            raise LimitError(f'actuator fixed: expected {n} lengths, got shape {fixed.shape}')
        object.__setattr__(self, 'fixed', fixed)
        object.__setattr__(self, '_rods', {*self.names} - {*self.driven_names})
        object.__setattr__(self, '_parallel', bool(beside.any()))
        object.__setattr__(self, '_order', NameOrder(
            'actuator names', self.names, ignore_others=self.ignore_others))

    @property
    def driven_names(self) -> tuple[str, ...]:
        """Return the names of the actuators that have readings."""
        return tuple(name for name, free in zip(self.names, np.isnan(self.fixed)) if free)

    def lengths(self, names: Sequence[str], positions: ArrayLike) -> Array:
        """
        Return lengths of legs, (n,), m, from named actuator positions given in any order.

        Raises NameSetError, ShapeError, NotFiniteError, or LimitError for an actuator beside its
        leg that measures no length above zero.
        """
        measured = self._in_leg_order('positions', names, positions, self.offsets)
        if self._rods:
            np.copyto(measured, self.fixed, where=~np.isnan(self.fixed))
        if not self._parallel:
            return measured
        if ((measured <= 0.0) & (self.beside > 0.0)).any():
            raise LimitError('actuator positions: expected lengths above zero of actuators beside '
                             f'their legs, got {measured.tolist()} m')
        return np.where(self.beside > 0.0, np.hypot(measured, self.beside), measured)

    def rates(self, names: Sequence[str], velocities: ArrayLike, lengths: Array) -> Array:
        """
        Return rates of legs, (n,), m/s, from named actuator velocities at leg lengths (n,), m.

        Raises as `lengths`.
        """
        rates = self._in_leg_order('velocities', names, velocities, np.zeros(len(self.names)))
        if self._rods:
            rates[~np.isnan(self.fixed)] = 0.0
        return rates * self._slope(lengths) if self._parallel else rates

    def reader(self, names: Sequence[str], tables: Sequence[Any], first: int,
               velocities: int | None) -> tuple[BoundKernel, Array, Array] | None:
        """
        Return legs.read_message for messages of these names, and its lengths and rates, (n,).

        tables, first, velocities: its own; None for messages without velocities. None where more
        than a scale and an offset is between a position and a length. Raises NameSetError.
        """
        if self._parallel or self._rods:
            return None
        n, rated = len(self.names), velocities is not None
        lengths, rates = np.empty(n), np.empty(n)
        return BoundKernel(
            kernels.read_message, self.scales, self.offsets, np.zeros(n), self._order.of(names),
            *tables, first, rated, velocities or 0, lengths, rates), lengths, rates

    def positions(self, lengths: Array) -> Array:
        """
        Return the actuator positions of leg lengths (n,), m.

        Raises LimitError where a leg is shorter than its actuator is beside it.
        """
        measured = self._along(lengths) if self._parallel else lengths
        return (measured - self.offsets) / self.scales

    def velocities(self, rates: Array, lengths: Array) -> Array:
        """Return the actuator velocities of leg rates (n,), m/s, at lengths (n,), m."""
        along = rates / self._slope(lengths) if self._parallel else rates
        return along / self.scales

    def require_constant_ratio(self) -> None:
        """Raise LimitError where the effort of an actuator depends on the length of its leg."""
        if self._parallel:
            raise LimitError('actuator_beside: expected 0 m where forces are commanded, as the '
                             f'ratio would change with the length, got {self.beside.tolist()}')

    def _slope(self, lengths: Array) -> Array:
        """Return d(length)/d(what an actuator measures) at lengths (n,), m."""
        along = self._along(lengths)
        return np.where(self.beside > 0.0, along / np.where(lengths == 0.0, 1.0, lengths), 1.0)

    def _along(self, lengths: Array) -> Array:
        """Return the measured values of actuators, along themselves, for lengths (n,), m."""
        square = lengths ** 2 - self.beside ** 2
        if ((square <= 0.0) & (self.beside > 0.0)).any():
            raise LimitError('lengths: expected more than their actuators are beside them, '
                             f'{self.beside.tolist()} m, got {lengths.tolist()}')
        return np.where(self.beside > 0.0, np.sqrt(np.maximum(square, 0.0)), lengths)

    def efforts(self, forces: Array) -> Array:
        """Return the efforts of the actuators, N m per unit, of forces along the legs (n,), N."""
        return forces * self.scales

    def forces(self, names: Sequence[str], efforts: ArrayLike) -> Array:
        """Return the forces along the legs (n,), N, of named efforts; raises as `lengths`."""
        order = self._order.of(names)
        return checks.as_array('actuator efforts', efforts, (len(names),))[order] / self.scales

    def _in_leg_order(
            self, what: str, names: Sequence[str], values: ArrayLike, offsets: Array) -> Array:
        checks.require_no_mask(f'actuator {what}', values)
        if self._rods and (missing := self._rods - {*names}):
            values = np.append(np.asarray(values, dtype=float), np.zeros(len(missing)))
            names = [*names, *sorted(missing)]
        numbers = np.asarray(values, dtype=float)
        if numbers.shape != (len(names),):
            checks.as_array(f'actuator {what} (one for each of {checks.listed(names)})', values,
                            (len(names),))
        return offsets + self.scales * checks.require_finite(
            f'actuator {what} in leg order', numbers[self._order.of(names)])


def actuators_of(
        settings: Mapping[str, Any] | Any, geometry: StewartGeometry, ignore_others: bool = False
) -> LegActuators:
    """
    Return the actuators that parameters of a node name, those of the legs where they name none.

    Six defaults of a setting stand for any number of legs. Raises NameSetError, ShapeError,
    NotFiniteError or LimitError.
    """
    names, legs = tuple(settings['actuator_names']), geometry.leg_names
    if names != ('',) and len(names) != len(legs):
        raise NameSetError(f'actuator_names: expected one of each leg of {list(legs)}, '
                           f'got {list(names)}')
    scales, offsets, beside = (checks.as_array(
        f'actuator_{key}, one for each leg', [default] * len(legs) if list(
            settings[f'actuator_{key}']) == [default] * 6 else settings[f'actuator_{key}'],
        (len(legs),)) for key, default in DEFAULTS.items())
    return LegActuators(legs if names == ('',) else names, scales, offsets, ignore_others, beside,
                        geometry.fixed_lengths)
