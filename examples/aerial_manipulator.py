# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Fly the aerial manipulator without ROS, its controller knowing all masses 5 % too large."""

import numpy as np

from liedyn_ros.aerial import AerialManipulator, FlightSimulation, Reference
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Feedback, Gains, tracking_error
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_model, scale_masses

machine = AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))
known = Dynamics(scale_masses(machine.model, 1.05))
reference, feedback = Reference(), Feedback(machine.model, Gains())
simulation = FlightSimulation(machine, reference.at(0.0).q)  # steps of 1 ms

for step in range(12_001):
    if step % 4 == 0:  # control at 250 Hz
        q, v = simulation.q, simulation.v
        error = tracking_error(machine.model, reference.at(simulation.time), q, v)
        tau = known.inverse(q, v, feedback.acceleration(error, dt=0.004))
        command = machine.command(tau, q)  # within the limits of rotors and joints
        simulation.command_rotors(command.rotors.speeds)
        simulation.command_torques(command.torques)
    if step % 1000 == 0:
        attitude, position = np.linalg.norm(error.error[:6].reshape(2, 3), axis=1)
        print(f'{simulation.time:5.1f} s: position error {1e3 * position:6.3f} mm, '
              f'attitude {np.degrees(attitude):7.5f} degree')
    simulation.step()
