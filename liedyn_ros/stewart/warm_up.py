# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every kernel of a Stewart platform, called once on the paper's."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import (
    AssemblyModeSolver, GaussNewton, leg_lengths, LegActuators, LegSimulation, LengthSensor,
    LevenbergMarquardt, load_geometry, load_redundant_geometry, MonitorConfig, MonitoredTracker,
    MotionEstimator, OrientationSensor, PathProver, PlatformMeter, PoseCertifier,
    RedundantEstimator, RedundantSolver, RedundantTracker, SmoothTrajectory, StewartGeometry)
from liedyn_ros.stewart.platform.kinematics import (
    driven_platform, held_transmissions, leg_ends)

NOISE = 1e-5  # m, m/s and rad; any will do
HEIGHT, HIGH = 0.5, 1.2  # m, of the homes
SETTLED = 64  # samples, after which the tracker knows their period


def warm_up_tracking() -> None:
    """Call the kernels that follow a platform by its legs."""
    geometry, home = _platform()
    names = geometry.leg_names
    lengths = LegActuators(names, np.ones(6), np.zeros(6)).lengths(
        names, leg_lengths(geometry, home))
    estimator = MotionEstimator(geometry, NOISE)
    for method, sensor, reading in (
            (LevenbergMarquardt(), OrientationSensor(NOISE), home[:3, :3]),
            (GaussNewton(), LengthSensor(np.zeros(3), np.zeros(3), NOISE),
             float(np.linalg.norm(home[:3, 3])))):
        tracker = MonitoredTracker(geometry, home, method, MonitorConfig(
            leg_noise=NOISE, hold_hypotheses=True, sensor=sensor))
        for k in range(SETTLED):
            stamp_ns = 1_000_000 * k
            tracked = tracker.track(
                stamp_ns, lengths, None if k else 0.0 * lengths, reading, stamp_ns - 1000 * k)
            estimator.of(tracked)
        estimator.predict(tracked, 1e-3)
        tracker.track(1_000_000 * SETTLED, np.tile([0.3, 0.9], 3))  # which no pose has
    MonitoredTracker(geometry, home).track(0, np.tile([0.3, 0.9], 3))
    PlatformMeter(geometry).measure(home).exceeded_limits()
    cranks = load_geometry(config_file('stewart_cranks.yaml'))
    PlatformMeter(cranks).measure(home).exceeded_limits()
    driven_platform(cranks, np.zeros(6))
    held_transmissions(cranks, np.zeros(6), home)
    leg_ends(geometry, home)
    PoseCertifier(geometry).certify(home, lengths)


def warm_up_redundant() -> None:
    """Call the kernels that follow a platform with seven legs and more."""
    geometry, home = load_redundant_geometry(config_file('stewart_cable_robot.yaml')), at(HIGH)
    tracker, lengths = RedundantTracker(geometry, home), geometry.lengths(home)
    for k in range(3):
        tracked = tracker.track(10_000_000 * (k + 1), lengths, 0.0 * lengths)
    RedundantEstimator(geometry).predict(tracked, 1e-3)
    RedundantSolver(geometry).solve(lengths, home)
    leg_ends(geometry, home)


def warm_up_services() -> None:
    """Call the kernels of assembly modes and of path proofs, which take long."""
    geometry, home = _platform()
    AssemblyModeSolver(geometry).solve(leg_lengths(geometry, home))
    PathProver(geometry).prove([home, home])


def warm_up_simulation() -> None:
    """Call the kernels of legs that move."""
    geometry, home = _platform()
    trajectory = SmoothTrajectory(home, np.full(6, 0.01), np.ones(6), np.zeros(6), 1.0)
    LegSimulation(geometry, trajectory, 1000.0).take()
    wires = load_redundant_geometry(config_file('stewart_cable_robot.yaml'))
    wires.lengths(at(HIGH))  # by the kernel of all legs but struts


def warm_up_dynamics() -> None:
    """Call the kernels of a platform under leg forces, and those of its controller."""
    # Here, as other nodes of platforms need none of the modules of dynamics.
    from liedyn_ros.stewart import PlatformController, PlatformSimulation, StewartDynamics
    geometry, home = _platform()
    trajectory = SmoothTrajectory(home, np.full(6, 0.01), np.ones(6), np.zeros(6), 1.0)
    simulation = PlatformSimulation(geometry, home)
    simulation.command(PlatformController(StewartDynamics(geometry), trajectory).command(
        0.0, 0.0, home, np.zeros(6)).forces)
    simulation.step()
    simulation.sample()


def at(height: float) -> Array:
    """Return a level pose at a height, m."""
    pose: Array = np.eye(4)
    pose[2, 3] = height
    return pose


def _platform() -> tuple[StewartGeometry, Array]:
    return load_geometry(config_file('stewart_geometry.yaml')), at(HEIGHT)
