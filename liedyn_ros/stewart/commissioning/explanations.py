# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Explanations of readings: a fault of all legs, with an order and faults of single legs.

Each has a cost, of what has to be wrong. The simplest that explains all legs is found.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.commissioning.common_faults import CommonFault
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry


FAULT_KINDS = ('', 'offset_or_scale', 'offset', 'scale', 'sense', 'scale_and_offset', 'dead',
               'unexplained')
# Cost of each fault of a leg; a fault of all legs costs 1 or more. The cheapest is named.
COSTS = np.array([0.0, 1.0, 1.0, 1.0, 1.2, 1.5, 3.0, np.nan])
OTHER_LEG_COST = 0.4  # cost of a leg that reads as another
# An explanation of all legs is simpler than one that leaves a leg without, whatever it costs.
COSTS[-1] = 7.0 * (np.nanmax(COSTS) + OTHER_LEG_COST)
(NO_KIND, UNDECIDED_KIND, OFFSET_KIND, SCALE_KIND, SENSE, SCALE_AND_OFFSET, DEAD,
 UNEXPLAINED_KIND) = range(8)
# The kinds in the order of their tests, and the model that undoes each: none, an offset, a scale,
# a line.
FAULT_OF_FIT = np.array([NO_KIND, SENSE, UNDECIDED_KIND, OFFSET_KIND, SCALE_KIND, SENSE,
                         SCALE_AND_OFFSET, SENSE, DEAD,
                         UNEXPLAINED_KIND])
MODELS = np.array([0, 2, 1, 1, 2, 2, 3, 3, 0, 0])
FITTED_NUMBERS = np.array([0, 1, 1, 1, 1, 2, 0, 0])  # that each kind fits
# Tolerances by which values must differ to tell two legs, or two faults, apart
MIN_DIFFERENCE = 3.0
DEAD_SHARE = 0.2  # of the change of its value, which a sensor that is alive exceeds
LEAST_SLOPE = 0.05  # of a line from readings to values that is a scale
LOOKS_WRONG_CHANCE = 1e-5  # that noise alone makes a leg look wrong


class Tolerance(NamedTuple):
    """
    Bounds of errors: most, m or rad, of one reading; noise: standard deviation.

    noise: infinity where it is not known.
    """

    most: float
    noise: float = np.inf

    def holds(self, errors: Array, parameters: int) -> NDArray[np.bool_]:
        """Return whether errors (..., n) that are left after a fit may be noise."""
        freedom = max(errors.shape[-1] - parameters, 0)
        bound = np.inf if np.isinf(self.noise) or not freedom else (
            self.noise ** 2 * _most_of_noise(freedom))
        return np.asarray((np.abs(errors).max(axis=-1) <= self.most)
                          & ((errors ** 2).sum(axis=-1) <= bound))


@functools.cache
def _most_of_noise(freedom: int) -> float:
    """Return the chi-square quantile, at LOOKS_WRONG_CHANCE, of so many degrees of freedom."""
    return float(chdtri(freedom, LOOKS_WRONG_CHANCE))


class LegFits(NamedTuple):
    """
    Of each leg, by each reading as its own (m, m): the fault, and what undoes it.

    kinds: of FAULT_KINDS. value = scales * reading + offsets. sizes: greatest error as it is.
    rests: sum of squared errors that are left.
    """

    kinds: NDArray[np.int64]
    scales: Array
    offsets: Array
    sizes: Array
    rests: Array


def fit_legs(expected: Array, readings: Array, tolerance: Tolerance) -> LegFits:
    """Return the faults for expected values and readings (n, m), m or rad."""
    want, got = np.broadcast_arrays(expected.T[:, None], readings.T[None])
    ones, zeros = np.ones(got.shape[:2]), np.zeros(got.shape[:2])
    shifts = (want - got).mean(axis=-1)
    factors = (got * want).sum(axis=-1) / np.maximum((got ** 2).sum(axis=-1), 1e-300)
    slopes, levels = _lines(got, want)
    scales, offsets = np.stack((ones, ones, factors, slopes)), np.stack(
        (zeros, shifts, zeros, levels))
    errors = scales[..., None] * got + offsets[..., None] - want
    rests = (errors ** 2).sum(axis=-1)
    right, shifted, scaled, fitted = (
        tolerance.holds(errors[k], used) for k, used in enumerate((0, 1, 1, 2)))
    varies = np.ptp(want, axis=-1) >= MIN_DIFFERENCE * tolerance.most
    line = fitted & varies & (np.abs(slopes) > LEAST_SLOPE) & (len(readings) > 2)
    dead = varies & (np.ptp(got, axis=-1) <= np.minimum(
        MIN_DIFFERENCE * tolerance.most, DEAD_SHARE * np.ptp(want, axis=-1)))
    negative = np.abs(want + got).max(axis=-1) <= tolerance.most
    tests = (right, negative, shifted & scaled, shifted, scaled & (factors > 0.0), scaled & varies,
             line & (slopes > 0.0), line, dead)
    first = np.stack((*tests, ones.astype(bool))).argmax(axis=0)
    model, (i, j) = MODELS[first], np.indices(ones.shape)
    return LegFits(FAULT_OF_FIT[first], scales[model, i, j], offsets[model, i, j],
                   np.abs(got - want).max(axis=-1), rests[model, i, j])


def _lines(got: Array, want: Array) -> tuple[Array, Array]:
    """Return slopes and levels (m, m) of the lines from readings to values (m, m, n)."""
    centre, aim = got.mean(axis=-1), want.mean(axis=-1)
    away = got - centre[..., None]
    slopes = (away * want).sum(axis=-1) / np.maximum((away ** 2).sum(axis=-1), 1e-300)
    return slopes, aim - slopes * centre


def words(name: str, kind: int, scale: float, offset: float, size: float, unit: float) -> str:
    """Return fault and remedy of a leg, where all readings have a unit (1 / m)."""
    remedy = f'set its actuator_scale to {scale / unit:.6g}'
    too_much = f'{name} reads {-offset:+.6g} too much'
    return {
        UNDECIDED_KIND: f'{too_much}: an offset, or a scale; these poses do not show which',
        OFFSET_KIND: f'{too_much}: add {offset:+.6g} to its actuator_offset',
        SCALE_KIND: f'{name} reads {_inverse(scale):.6g} times its value: {remedy}',
        SENSE: f'{name} runs backwards: {remedy} and its actuator_offset to {offset:.6g}',
        SCALE_AND_OFFSET:
            f'{name} is scaled: {remedy} and its actuator_offset to {offset:.6g}',
        DEAD: f'{name} reads the same at all poses, though its value changes: check that its '
              'sensor is connected',
        UNEXPLAINED_KIND: f'{name} has an error of {size:.6g} that no fault known to this check '
                     'explains. Check its joints in the geometry file, and the known poses',
    }[kind]


def _inverse(scale: float) -> float:
    return 1.0 / scale if scale else np.inf


class Finding(NamedTuple):
    """
    One fault: its kind, the legs as indices, and a sentence with the remedy.

    kind: base_turned, platform_turned, base_radius, platform_radius, base_height, platform_height,
    horn_length, rod_length, mirrored, base_mirrored, platform_mirrored, exchanged, joints_unit or
    geometry (joints are off). Where poses do not decide between these and single legs:
    geometry_or_legs. Of readings: unit, order, all_scaled, all_offset, all_backwards, offset,
    scale, scale_and_offset, sense, offset_or_scale, offset_or_sense, dead or unexplained. Or home.
    """

    kind: str
    legs: tuple[int, ...]
    text: str


class Diagnosis(NamedTuple):
    """The rest of a fault of all legs, explained by their order and leg by leg."""

    fault: CommonFault
    cost: float  # of all that has to be wrong
    unexplained: int  # legs
    findings: tuple[Finding, ...]
    kinds: tuple[int, ...]
    scales: Array
    offsets: Array
    order: tuple[int, ...]
    rests: Array  # (m,), sums of squared errors

    @property
    def mostly_unexplained(self) -> bool:
        """Return whether so many legs are unexplained that none of them is at fault alone."""
        return 2 * self.unexplained >= len(self.kinds)


def simplest(
        geometry: StewartGeometry, faults: Sequence[CommonFault], readings: Array,
        tolerance: Tolerance) -> tuple[Diagnosis, list[Diagnosis]]:
    """Return the simplest explanation, of equal ones that which leaves least, and all."""
    fits = [fit_legs_of(geometry, fault, readings, tolerance) for fault in faults]
    return min(fits, key=lambda fit: (round(fit.cost, 6), fit.rests.sum())), fits


def fit_legs_of(
        geometry: StewartGeometry, fault: CommonFault, readings: Array, tolerance: Tolerance
) -> Diagnosis:
    """Return the simplest order and faults of single legs that a fault of all legs leaves."""
    values = readings / fault.unit - fault.offset
    legs = fit_legs(fault.expected, values, tolerance)
    if fault.kind == 'all_scaled':  # found from changes: none of them is a dead leg's
        legs = legs._replace(kinds=np.where(
            legs.kinds == DEAD, UNEXPLAINED_KIND, legs.kinds))
    other = 1.0 - np.eye(len(legs.kinds))
    costs = COSTS[legs.kinds] + OTHER_LEG_COST * other
    from scipy.optimize import linear_sum_assignment  # which takes long, and no node needs it
    rows, order = linear_sum_assignment(costs)
    kinds, scales, offsets, _, rests = (part[rows, order] for part in legs)
    return Diagnosis(
        fault, fault.cost + costs[rows, order].sum(),
        int((kinds == UNEXPLAINED_KIND).sum()),
        _findings(geometry, fault, values, legs, order),
        tuple(kinds.tolist()), scales / fault.unit, offsets - scales * fault.offset,
        tuple(order.tolist()), rests)


def _findings(
        geometry: StewartGeometry, fault: CommonFault, values: Array, legs: LegFits, order: Array
) -> tuple[Finding, ...]:
    """Return the findings of a fault of all legs and of what it leaves."""
    names, findings = geometry.leg_names, []
    every = tuple(range(len(names)))
    if fault.unit_name:
        findings.append(Finding('unit', every, f'the readings are in {fault.unit_name}: set '
                                f'actuator_scale to {1.0 / fault.unit:.6g}'))
    if fault.kind:
        findings.append(Finding(fault.kind, every, fault.text))
    moved = tuple(np.flatnonzero(order != every).tolist())
    if moved:
        listed = ', '.join(f'{names[leg]} reads as {names[order[leg]]}' for leg in moved)
        findings.append(Finding('order', moved, f'legs are swapped: {listed}; set actuator_names '
                                'in that order'))
    for leg, k in enumerate(order):
        kind, scale, offset, size, _ = (part[leg, k] for part in legs)
        low, high = ((0.0, np.inf) if geometry.leg_types[leg].positive else
                     geometry.length_limits[leg])
        beyond = values[:, k].max() < low or values[:, k].min() > high
        if kind == UNDECIDED_KIND and beyond:
            what = 'no length is' if low == 0.0 else 'no pose within the travel gives'
            findings.append(Finding('offset_or_sense', (leg,), (
                f'{names[leg]} reads {values[:, k].mean():.6g}, which {what}: its zero is '
                'off, or it runs backwards; these poses do not show which')))
        elif kind:
            findings.append(Finding(FAULT_KINDS[kind], (leg,), words(
                names[leg], int(kind), scale, offset, size, fault.unit)))
    return tuple(findings)
