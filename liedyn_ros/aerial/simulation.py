# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Simulation of a vehicle with a fixed step and commands held between updates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.aerial.actuators import Lags
from liedyn_ros.aerial.vehicle import AerialManipulator, FREE, JOINTS
from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control import LaggedActuators
from liedyn_ros.dynamics.integrators import runge_kutta_munthe_kaas
from liedyn_ros.dynamics.mujoco_twin import MujocoTwin
from liedyn_ros.lie import so3


class Simulation:
    """
    The state q (nq,), v (nv,) of a vehicle at a time (s).

    Until the base and the joints have had their first command, the vehicle is held in place, as on
    a stand. Its actuators already hold its weight. A refused command changes nothing. Joints have
    no stops: a position may pass its limits.
    """

    def __init__(self, machine: AerialManipulator, q: ArrayLike, dt: float = 1e-3,
                 lags: Lags = Lags()) -> None:
        """Start at rest; dt is the step, s. Raises the errors of Model.check_configuration."""
        if not 0.0 < dt < np.inf:
            raise LimitError(f'dt: expected a number of s above 0, got {dt}')
        self.machine, self.dt, self._steps = machine, dt, 0
        self.q = machine.model.check_configuration(q)
        self.v: Array = np.zeros(machine.model.nv)
        self._dynamics = machine.dynamics
        self._command = np.zeros(machine.model.nv)
        hold = machine.command(self._dynamics.inverse(self.q, self.v, self.v), self.q)
        self._actuators = LaggedActuators(
            np.concatenate((hold.rotors.wrench, hold.torques)), lags.of(machine.model.nv), dt)
        self._base_commanded = self._joints_commanded = False
        self.wind: Array = np.zeros(3)  # force on the base, N, in the world

    @property
    def time(self) -> float:
        """Return the time since the start, s."""
        return self._steps * self.dt

    @property
    def moves(self) -> bool:
        """Return whether the vehicle has left its stand."""
        return self._base_commanded and self._joints_commanded

    def command_rotors(self, speeds: ArrayLike) -> None:
        """Take rotor speeds (n,), rad/s; raises as RotorAllocation.wrench does."""
        self.command_wrench(self.machine.allocation.wrench(speeds))

    def command_wrench(self, wrench: ArrayLike) -> None:
        """Take a wrench (6,) on the base, in its frame; raises ShapeError or NotFiniteError."""
        self._command[FREE] = as_array('wrench', wrench, (6,))
        self._base_commanded = True

    def command_torques(self, torques: ArrayLike) -> None:
        """Take joint torques (n,), N m; raises as AerialManipulator.require_torques does."""
        self._command[JOINTS] = self.machine.require_torques(torques)
        self._joints_commanded = True

    def step(self) -> None:
        """
        Advance by dt.

        Raises NotFiniteError where the motion diverged.
        """
        if self.moves:
            forces = self._actuators.step(self._command)
            if self.wind.any():
                forces = forces.copy()
                forces[3:6] += so3.from_quaternion(self.q[3:7]).T @ self.wind
            self.q, self.v = self._moved(forces)
        self._steps += 1

    def _moved(self, forces: Array) -> tuple[Array, Array]:
        """Return the state a step later, under mean forces (nv,)."""
        return runge_kutta_munthe_kaas.step(self._dynamics, self.q, self.v, self.dt, forces)

    def poses(self) -> Array:
        """Return the poses of all bodies, (B, 4, 4), in the order of model.bodies."""
        return self._dynamics.kinematics(self.q).poses


class MujocoSimulation(Simulation):
    """Simulation of the vehicle by MuJoCo, above a plane that its visuals touch."""

    def __init__(self, machine: AerialManipulator, q: ArrayLike, dt: float = 1e-3,
                 lags: Lags = Lags(), ground: float = 0.0) -> None:
        """Start at rest; ground is the height of the plane, m. Raises as MujocoTwin, too."""
        super().__init__(machine, q, dt, lags)
        self._twin = MujocoTwin(machine.model, dt, ground)
        self._twin.set_state(self.q, self.v)

    def _moved(self, forces: Array) -> tuple[Array, Array]:
        return self._twin.step(forces)
