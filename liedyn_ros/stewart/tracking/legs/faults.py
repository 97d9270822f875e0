# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Faults of single legs: an outlier, a step, a frozen reading, a jump of all."""

from typing import NamedTuple

from liedyn_ros.stewart.platform.flags import Flag
from liedyn_ros.stewart.platform.kernels.leg_rows import MOST
from liedyn_ros.stewart.tracking.legs.kernels import fault_tables as tables


def legs_of(bits: int) -> tuple[int, ...]:
    """Return the indices of the lowest MOST bits that are set."""
    return tuple(leg for leg in range(MOST) if bits >> leg & 1) if bits else ()


class LegFaults(NamedTuple):
    """
    Faults in one sample of readings; legs as indices.

    outliers: legs whose reading no motion explains. stepped: legs whose reading jumped and stayed
    there, as by a bias. frozen: legs whose reading stays while the others move, or all where
    their noise should change them. jumped: whether three legs or more jumped, as no machine does.
    doubted: whether a given parameter is too small, so that no reading counts as an outlier.
    """

    outliers: tuple[int, ...] = ()
    stepped: tuple[int, ...] = ()
    frozen: tuple[int, ...] = ()
    jumped: bool = False
    doubted: bool = False

    @property
    def flags(self) -> int:
        """Return the sum of the flags of these faults."""
        return (Flag.LEG_OUTLIER.value * bool(self.outliers)
                + Flag.LEG_STEPPED.value * bool(self.stepped)
                + Flag.LEG_FROZEN.value * bool(self.frozen)
                + Flag.LEGS_JUMPED.value * self.jumped
                + Flag.PARAMETER_TOO_SMALL.value * self.doubted)

    @property
    def legs(self) -> tuple[int, ...]:
        """Return every suspected leg, in order."""
        return tuple(sorted({*self.outliers, *self.stepped, *self.frozen}))


NO_FAULTS = LegFaults()


def faults_of(findings: int) -> LegFaults:
    """Return the faults among the findings of a kernel, which are bits of a whole number."""
    if not findings & tables.FAULTY:
        return NO_FAULTS
    outlying, stepped, frozen = (legs_of(findings >> first & (1 << MOST) - 1) for first in (
        tables.OUTLYING_LEGS, tables.STEPPED_LEGS, tables.FROZEN_LEGS))
    return LegFaults(outlying, stepped, frozen, bool(findings >> tables.JUMPED & 1),
                     bool(findings >> tables.DOUBTED & 1))
