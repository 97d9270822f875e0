# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Actuators with a first-order lag, and commands that compensate it."""

from dataclasses import dataclass

import numpy as np

from liedyn_ros.aerial.vehicle import FREE, JOINTS
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError


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
        return tau[0] + self.of(tau.shape[1]) * tau[1]  # (8.8)


class LaggedActuators:
    """Forces (nv,) that follow commands, a fixed step at a time."""

    def __init__(self, forces: Array, lags: Lags, dt: float) -> None:
        """Start with forces; dt is the step, s."""
        lag = lags.of(len(forces))
        with np.errstate(divide='ignore', over='ignore'):
            self._decay = np.where(lag > 0.0, np.exp(-dt / lag), 0.0)
        self._mean_decay = lag / dt * (1.0 - self._decay)
        self._forces = forces

    def step(self, command: Array) -> Array:
        """Return the mean of the forces over a step in which the command is held (8.7)."""
        excess = self._forces - command
        self._forces = command + self._decay * excess
        return command + self._mean_decay * excess
