# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The lags of a vehicle's actuators."""

from dataclasses import dataclass

import numpy as np

from liedyn_ros.aerial.vehicle import FREE, JOINTS
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control.actuators import lead


@dataclass(frozen=True)
class Lags:
    """
    The time constants of a vehicle's actuators, s: force' = (command - force) / lag (8.6).

    rotors: of the thrusts, which are proportional to the squares of the speeds. All rotors have
    the same constant, so their wrench has it too. joints: of the torques. 0 for none. Raises
    LimitError.
    """

    rotors: float = 0.0
    joints: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, value in vars(self).items():
            if not 0.0 <= value < np.inf:
                raise LimitError(f'lag of {name}: expected a number of s from 0, got {value}')

    def of(self, size: int) -> Array:
        """Return the time constant of each of the forces (nv,) of an AerialManipulator, s."""
        lags = np.empty(size)
        lags[FREE], lags[JOINTS] = self.rotors, self.joints
        return lags

    def lead(self, tau: Array) -> Array:
        """Return the commands that produce forces: tau (2, nv) are the forces and their rates."""
        return lead(tau, self.of(tau.shape[1]))
