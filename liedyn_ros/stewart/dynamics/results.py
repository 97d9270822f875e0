# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Results of the dynamics of a platform."""

from typing import NamedTuple

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.kernels.tolerances import NEAR_SINGULAR


class Energy(NamedTuple):
    """Kinetic and potential energy of platform and legs, J; the latter up to a constant."""

    kinetic: float
    potential: float


class StewartMotion(NamedTuple):
    """
    Accelerations of the body twist, drive forces and second derivatives of the legs' values.

    Each is (6,), or (order + 1, 6) with time derivatives. Forces are in N, of cranks N m; values
    are lengths or positions in m, of cranks angles in rad.

    Of inverse dynamics, inverse_condition_number says how well the drives hold the platform: 1
    well, 0 not. It is 1 over the largest entry of J^-T without units, where that is above 1. Of
    rails and cranks it is the actuation's of ConstrainedDynamics.inverse. Below NEAR_SINGULAR,
    1e-4, forces are large and tell little.
    """

    acceleration: Array
    forces: Array
    leg_accelerations: Array
    inverse_condition_number: float | None = None

    @property
    def near_singular(self) -> bool:
        """Return whether the drives hardly hold the platform, of inverse dynamics."""
        held = self.inverse_condition_number
        return held is not None and held < NEAR_SINGULAR

    @property
    def stretch(self) -> Array:
        """Return leg_accelerations, by their name in 0.1.0."""
        return self.leg_accelerations
