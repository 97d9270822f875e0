# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The flights of the study of lag."""

from dataclasses import dataclass

import numpy as np

from liedyn_ros.aerial import AerialManipulator, FlightSimulation, Reference
from liedyn_ros.aerial.vehicle import Lags
from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Feedback, Gains, tracking_error
from liedyn_ros.control.feedback import RateFeedback
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_model, Model, scale_masses

TRANSIENT = 2.0  # s after which errors count
FLIGHT_STEP, STEPS_PER_COMMAND = 1e-3, 4  # s; commands at 250 Hz
MAX_FLIGHT_ERROR = 1.0  # m of error at which a flight ends


@dataclass(frozen=True)
class Flight:
    """
    A flight: errors (n, 3) of position, m, attitude and the worst joint, rad, at times (n,), s.

    states are the configurations (n, nq) then. with_rates tells whether force rates were
    commanded; lag and known_lag are in s.
    """

    with_rates: bool
    lag: float
    known_lag: float
    times: Array
    errors: Array
    states: Array

    @property
    def lost(self) -> bool:
        """Return whether the machine left its reference."""
        return bool(self.errors[-1, 0] > MAX_FLIGHT_ERROR)

    @property
    def largest(self) -> Array:
        """Return the largest errors (3,) once settled; infinite where the machine was lost."""
        return np.full(3, np.inf) if self.lost else self._settled.max(axis=0)

    @property
    def rms(self) -> Array:
        """Return the root mean square errors (3,) once settled."""
        return np.asarray(np.sqrt((self._settled**2).mean(axis=0)))

    @property
    def _settled(self) -> Array:
        return self.errors[self.times >= TRANSIENT]


class LagStudy:
    """The vehicle, its reference, and a controller with wrong masses."""

    def __init__(self, mass_error: float, duration: float) -> None:
        """Take the relative error of the known masses, and the time of flight, s."""
        self._machine = AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))
        self._reference, self._duration = Reference(), duration
        self._known = Dynamics(scale_masses(self._machine.model, 1.0 + mass_error))

    @property
    def model(self) -> Model:
        """Return the model that flies."""
        return self._machine.model

    def fly(self, with_rates: bool, lag: float, known_lag: float) -> Flight:
        """Fly with one lag of rotors and joints."""
        machine, period = self._machine, FLIGHT_STEP * STEPS_PER_COMMAND
        simulation = FlightSimulation(machine, self._reference.at(0.0).q, FLIGHT_STEP,
                                      Lags(lag, lag))
        feedback = (RateFeedback if with_rates else Feedback)(machine.model, Gains())
        lead, times, errors, states = Lags(known_lag, known_lag).lead, [], [], []
        for _ in range(round(self._duration / period)):
            q, v = simulation.q, simulation.v
            error = tracking_error(machine.model, self._reference.at(simulation.time), q, v)
            times.append(simulation.time)
            states.append(q.copy())
            errors.append((np.linalg.norm(error.error[3:6]), np.linalg.norm(error.error[:3]),
                           np.abs(error.error[6:]).max()))
            if errors[-1][0] > MAX_FLIGHT_ERROR:
                break
            a = feedback.acceleration(error, period)
            tau = (lead(self._known.inverse.time_derivatives(q, v, a)) if with_rates
                   else self._known.inverse(q, v, a))
            command = machine.command(tau, q)
            simulation.command_rotors(command.rotors.speeds)
            simulation.command_torques(command.torques)
            for _ in range(STEPS_PER_COMMAND):
                simulation.step()
        return Flight(with_rates, lag, known_lag, np.array(times), np.array(errors),
                      np.array(states))
