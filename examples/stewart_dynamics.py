# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A Stewart platform's dynamics: leg forces of a motion, motion under leg forces, legs that lag.

Run from the root of the repository: python examples/stewart_dynamics.py
"""

import numpy as np

from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    load_geometry, PlatformController, PlatformSimulation, SmoothTrajectory, StewartDynamics)

geometry = load_geometry(config_file('stewart_geometry.yaml'))
dynamics = StewartDynamics(geometry)
home = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
motion = SmoothTrajectory(
    home, amplitudes=[0.2, 0.2, 0.3, 0.06, 0.06, 0.06], frequencies=[0.4] * 6,
    phases=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])

# Forces of the motion at 2 s and their rates, and back: the accelerations of these forces.
pose, (twist, *accelerations) = motion.pose(2.0), motion.derivatives(2.0)
forces = dynamics.inverse(pose, twist, accelerations).forces
print('leg forces, N:       ', forces[0].round(2))
print('their rates, N/s:    ', forces[1].round(2))
back = dynamics.forward(pose, twist, forces).acceleration
print(f'round trip, rad/s^3 and m/s^3: {np.abs(back - accelerations).max():.0e}')


def track(lag, known):
    """Return the largest distance from the motion after 1.5 s, mm, with legs that lag (s)."""
    simulation = PlatformSimulation(geometry, home, lag=lag)
    controller, period, errors = PlatformController(dynamics, motion, lag=known), 0.004, []
    while simulation.time < 3.0:
        command = controller.command(
            simulation.time, period, simulation.pose, simulation.twist)
        simulation.command(command.forces)
        for _ in range(4):
            simulation.step()
        errors.append(np.linalg.norm(command.error.error[3:]))
    return 1e3 * max(errors[375:])


for text, known in (('not known', 0.0), ('made up for by force rates', 0.03)):
    print(f'legs that lag by 30 ms, {text}: within {track(0.03, known):.2f} mm')
