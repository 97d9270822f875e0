# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""From actuator readings with names, in any order, to leg lengths and rates in leg order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, NameSetError
from liedyn_ros.common.name_order import NameOrder
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.stewart.platform.kernels import legs as kernels

NONE = np.zeros(6)


@dataclass(frozen=True)
class LegActuators:
    """
    Six actuators, one a leg: length = offset + scale * position, effort = scale * force.

    names: the actuator of each leg, in the geometry's leg order. scales: (6,), m per unit of
    position, not zero. offsets: (6,), m, the leg's length at position zero.
    ignore_others: whether readings of other names are passed over or refused.

    Raises NameSetError, ShapeError, NotFiniteError or LimitError.
    """

    names: tuple[str, ...]
    scales: Array
    offsets: Array
    ignore_others: bool = False
    _order: NameOrder = field(init=False, repr=False, compare=False)
    _kernel: BoundKernel = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parts."""
        if len(self.names) != 6 or len(set(self.names)) != 6 or '' in self.names:
            raise NameSetError('actuator names: expected six different names, '
                               f'got {list(self.names)}')
        scales = checks.as_array('actuator scales', self.scales, (6,))
        if not scales.all():
            raise LimitError(f'actuator scales: expected none of them zero, got {scales.tolist()}')
        object.__setattr__(self, 'names', tuple(self.names))
        object.__setattr__(self, 'scales', scales)
        object.__setattr__(
            self, 'offsets', checks.as_array('actuator offsets', self.offsets, (6,)))
        object.__setattr__(self, '_order', NameOrder(
            'actuator names', self.names, ignore_others=self.ignore_others))
        object.__setattr__(self, '_kernel', BoundKernel(kernels.of_positions, scales))

    def lengths(self, names: Sequence[str], positions: ArrayLike) -> Array:
        """
        Return the six leg lengths, m, of named actuator positions given in any order.

        Raises NameSetError, ShapeError or NotFiniteError.
        """
        return self._in_leg_order('positions', names, positions, self.offsets)

    def rates(self, names: Sequence[str], velocities: ArrayLike) -> Array:
        """Return the six leg rates, m/s, of named actuator velocities; raises as `lengths`."""
        return self._in_leg_order('velocities', names, velocities, NONE)

    def positions(self, lengths: Array) -> Array:
        """Return the actuator positions of leg lengths (6,), m."""
        return (lengths - self.offsets) / self.scales

    def efforts(self, forces: Array) -> Array:
        """Return the efforts of the actuators, N m per unit, of forces along the legs (6,), N."""
        return forces * self.scales

    def forces(self, names: Sequence[str], efforts: ArrayLike) -> Array:
        """Return the forces along the legs (6,), N, of named efforts; raises as `lengths`."""
        order = self._order.of(names)
        return checks.as_array('actuator efforts', efforts, (len(names),))[order] / self.scales

    def _in_leg_order(
            self, what: str, names: Sequence[str], values: ArrayLike, offsets: Array) -> Array:
        numbers, legs = np.asarray(values, dtype=float), np.empty(6)
        if numbers.shape != (len(names),):
            checks.as_array(f'actuator {what} (one for each of {checks.listed(names)})', values,
                            (len(names),))
        order = self._order.of(names)
        if not (self._kernel.attempt(offsets, order, len(names), numbers, legs)
                or self._kernel(offsets, order, len(names), numbers.copy(), legs)):
            checks.require_finite(f'actuator {what} in leg order', numbers[order])
        return legs
