# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Simulation of a vehicle with a fixed step and commands held between updates."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.aerial.failsafe import Failsafe
from liedyn_ros.aerial.vehicle import AerialManipulator, FREE_BASE, JOINTS, Lags
from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control import Drives, LaggedActuators
from liedyn_ros.control.actuators import COMMAND_TIMEOUT
from liedyn_ros.control.gusts import Gusts
from liedyn_ros.dynamics.integrators import runge_kutta_munthe_kaas
from liedyn_ros.dynamics.mujoco_twin import MujocoTwin
from liedyn_ros.lie import so3


class FlightSimulation:
    """
    The state q (nq,), v (nv,) of a vehicle at a time (s).

    Until the base and the joints have had their first command, the vehicle is held in place, as on
    a stand. Its actuators already hold its weight. A refused command changes nothing. Where
    commands stop for `command_timeout` (s), Failsafe flies on, until they come again; once it has
    landed they are refused. Joints have no stops: a position may pass its limits.

    >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
    >>> simulation = FlightSimulation(machine, machine.model.neutral())
    >>> simulation.step()
    >>> simulation.time
    0.001
    """

    command_timeout = COMMAND_TIMEOUT

    def __init__(self, machine: AerialManipulator, q: ArrayLike, dt: float = 1e-3,
                 lags: Lags = Lags(), known: AerialManipulator | None = None) -> None:
        """
        Start at rest; dt is the step, s.

        Args:
            machine: the vehicle.
            q: configuration (nq,) of the vehicle at rest before the first command.
            dt: the step, s.
            lags: of its rotors and joints, s.
            known: the vehicle as its flight controller knows it, by default as it is.

        Raises:
            the errors of Model.check_configuration and AerialManipulator.authority.
        """
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
        self._failsafe = Failsafe(known or machine, self.q, lags)
        self._heard = [-math.inf, -math.inf]  # when base and joints had their last commands, s
        self.wind: Array = np.zeros(3)  # force on the base, N, in the world
        self.gusts: Gusts | None = None  # of which the wind of each step is, where there are any

    @property
    def time(self) -> float:
        """Return the time since the start, s."""
        return self._steps * self.dt

    @property
    def moves(self) -> bool:
        """Return whether the vehicle has left its stand."""
        return min(self._heard) >= 0.0

    @property
    def drives(self) -> Drives:
        """Return the action of rotors and joint drives."""
        return self._failsafe.phase if self.moves else Drives.STANDING

    def command_rotors(self, speeds: ArrayLike) -> None:
        """
        Take rotor speeds.

        Args:
            speeds: (n,); rad/s.

        Raises:
            LimitError: naming a rotor whose speed is out of bounds.

        >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
        >>> simulation = FlightSimulation(machine, machine.model.neutral())
        >>> simulation.command_rotors([400.0] * len(machine.rotors))
        """
        self.command_wrench(self.machine.allocation.wrench(speeds))

    def command_wrench(self, wrench: ArrayLike) -> None:
        """
        Take a wrench on the base.

        Args:
            wrench: (6,) in the frame of the base, moment (N m) before force (N).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
        >>> FlightSimulation(machine, machine.model.neutral()).command_wrench(np.zeros(6))
        """
        self._take(0, as_array('wrench', wrench, (6,)))

    def command_torques(self, torques: ArrayLike) -> None:
        """
        Take joint torques.

        Args:
            torques: (n,); N m or N.

        Raises:
            LimitError: naming a joint whose effort is beyond its limit.

        >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
        >>> simulation = FlightSimulation(machine, machine.model.neutral())
        >>> simulation.command_torques(np.zeros(len(machine.joints)))
        """
        self._take(1, self.machine.require_torques(torques))

    def step(self) -> None:
        """
        Advance by dt.

        Raises:
            NotFiniteError: where the motion diverged.

        >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
        >>> simulation = FlightSimulation(machine, machine.model.neutral())
        >>> simulation.step()
        >>> simulation.moves  # held in place until its first command
        False
        """
        if self.moves:
            silence = [max(self.time - at - self.command_timeout, 0.0) for at in self._heard]
            forces = self._actuators.step(self._failsafe.command(
                self._command, self.q, self.v, self.dt, (silence[0], silence[1])))
            if self.gusts is not None:
                self.wind = self.gusts.step(self.dt)
            if self.wind.any():
                forces = forces.copy()
                forces[3:6] += so3.from_quaternion(self.q[3:7]).T @ self.wind
            self.q, self.v = self._moved(forces)
        self._steps += 1

    def _take(self, k: int, forces: Array) -> None:
        """Take the forces of a part, 0 the base and 1 the joints."""
        if self.drives is Drives.LANDED:
            raise LimitError('vehicle: expected one in flight, got one that has landed without '
                             'commands: reset it', got=Drives.LANDED.value)
        self._command[(FREE_BASE, JOINTS)[k]], self._heard[k] = forces, self.time

    def _moved(self, forces: Array) -> tuple[Array, Array]:
        """Return the state a step later, under mean forces (nv,)."""
        return runge_kutta_munthe_kaas.step(self._dynamics, self.q, self.v, self.dt, forces)


class MujocoSimulation(FlightSimulation):
    """Simulation of the vehicle by MuJoCo; its visuals touch a plane and a box."""

    def __init__(self, machine: AerialManipulator, q: ArrayLike, dt: float = 1e-3,
                 lags: Lags = Lags(), known: AerialManipulator | None = None,
                 ground: float = 0.0, box: Sequence[float] = ()) -> None:
        """Start at rest; ground and box are those of MujocoTwin, which says what it raises."""
        super().__init__(machine, q, dt, lags, known)
        self._twin = MujocoTwin(machine.model, dt, ground, box=box)
        self._twin.set_state(self.q, self.v)

    def touches(self) -> dict[str, Array]:
        """Return the wrench (6,) of what touches each body, by name, as MujocoTwin.touches."""
        return self._twin.touches()

    def _moved(self, forces: Array) -> tuple[Array, Array]:
        return self._twin.step(forces)
