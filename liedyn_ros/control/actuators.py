# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Drives: what they do with and without commands, and their lag of first order."""

from enum import Enum

import numpy as np

from liedyn_ros.common.checks import Array

COMMAND_TIMEOUT = 0.2  # s without a command after which drives do what is safe by themselves


class Drives(Enum):
    """
    The actions of the drives of a machine; the value is the word for it in a status.

    >>> Drives.COMMANDED.value
    'give what is commanded'
    """

    STANDING = 'hold the machine, no command yet'
    COMMANDED = 'give what is commanded'
    HOLDING = 'hold the joints, which have no commands'
    HOVERING = 'hover level by their own sensors, without commands'
    DESCENDING = 'descend level by their own sensors, without commands'
    LANDED = 'have landed without commands, and stand still until a reset'
    BRAKED = 'have closed their brakes, without commands'


def bounded(x: Array, most: Array | float) -> Array:
    """Return numbers within -most to most; np.clip takes four times as long on few."""
    return np.asarray(np.minimum(np.maximum(x, -most), most))


def lead(forces: Array, lag: Array | float) -> Array:
    """
    Return the commands whose forces, behind a lag, are the desired ones (8.8).

    Args:
        forces: desired forces and their rates (2, n); N m, N and s.
        lag: of each drive or of all; s.

    Returns:
        commands (n,); N m and N.

    >>> lead(np.array([[10.0], [2.0]]), 0.1)
    array([10.2])
    """
    return forces[0] + lag * forces[1]  # (8.8)


class LaggedActuators:
    """
    Forces (n,) with force' = (command - force) / lag (8.6), a fixed step at a time.

    >>> motor = LaggedActuators(np.zeros(1), lag=0.02, dt=0.02)
    >>> motor.step(np.array([10.0])).round(2)  # N m, after one lag
    array([3.68])
    """

    def __init__(self, forces: Array, lag: Array | float, dt: float) -> None:
        """
        Start with forces; lag, of each or of all, and the step dt are in s.

        Args:
            forces: (n,) at the begin, N m or N.
            lag: time constant of each or of all, s.
            dt: the step, s.
        """
        lag = np.broadcast_to(lag, forces.shape)
        with np.errstate(divide='ignore', over='ignore'):
            self._decay = np.where(lag > 0.0, np.exp(-dt / lag), 0.0)
        self._mean_decay = lag / dt * (1.0 - self._decay)
        self._forces = forces

    def step(self, command: Array) -> Array:
        """
        Return the mean of the forces over a step of constant command (8.7).

        Args:
            command: forces (n,); N m and N.

        Returns:
            (n,); N m and N.

        >>> drives = LaggedActuators(np.zeros(1), lag=0.02, dt=0.001)
        >>> float(drives.step(np.ones(1))[0]) < 0.1
        True
        """
        excess = self._forces - command
        self._forces = command + self._decay * excess
        return command + self._mean_decay * excess
