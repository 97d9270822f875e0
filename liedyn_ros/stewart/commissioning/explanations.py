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
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.commissioning import leg_faults
from liedyn_ros.stewart.commissioning.common_faults import CommonFault
from liedyn_ros.stewart.commissioning.leg_faults import LegFits, Tolerance
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry


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
    legs = leg_faults.fit_legs(fault.expected, values, tolerance)
    if fault.kind == 'all_scaled':  # found from changes: none of them is a dead leg's
        legs = legs._replace(kinds=np.where(
            legs.kinds == leg_faults.DEAD, leg_faults.UNEXPLAINED_KIND, legs.kinds))
    other = 1.0 - np.eye(len(legs.kinds))
    costs = leg_faults.COSTS[legs.kinds] + leg_faults.OTHER_LEG_COST * other
    from scipy.optimize import linear_sum_assignment  # which takes long, and no node needs it
    rows, order = linear_sum_assignment(costs)
    kinds, scales, offsets, _, rests = (part[rows, order] for part in legs)
    return Diagnosis(
        fault, fault.cost + costs[rows, order].sum(),
        int((kinds == leg_faults.UNEXPLAINED_KIND).sum()),
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
        if kind == leg_faults.UNDECIDED_KIND and beyond:
            what = 'no length is' if low == 0.0 else 'no pose within the travel gives'
            findings.append(Finding('offset_or_sense', (leg,), (
                f'{names[leg]} reads {values[:, k].mean():.6g}, which {what}: its zero is '
                'off, or it runs backwards; these poses do not show which')))
        elif kind:
            findings.append(Finding(leg_faults.FAULT_KINDS[kind], (leg,), leg_faults.words(
                names[leg], int(kind), scale, offset, size, fault.unit)))
    return tuple(findings)
