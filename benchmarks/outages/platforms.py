# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Motions of a Stewart platform in fast time, beside poses and drives that fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.outages.outage import Gusts, Outage, Passed
from liedyn_ros.common.errors import LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Drives, Phase
from liedyn_ros.lie import se3, so3
from liedyn_ros.stewart import (
    LegForceCommand, LegPart, load_geometry, MujocoPlatformSimulation, PlatformController,
    PlatformSimulation, SmoothTrajectory, StewartDynamics, StewartGeometry)

STEP, PERIOD, LOOK = 0.002, 2, 10  # s, steps between two states, and two looks at errors
PUSH = 10.0, 3.0  # N, mean and gusts in each direction on the platform
FRICTION, RESOLUTION = 0.5, 1e-5  # N of each drive, in MuJoCo, and m of the sensors of its length
LOST = 45.0, 0.2  # deg, m
HOME = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
MOTION = (
    Outage('none'), Outage('poses paused, legs read', 'poses', 2.0),
    Outage('poses killed, legs read', 'poses', 99.0),
    Outage('poses and legs paused', 'states', 0.1), Outage('poses and legs paused', 'states', 0.3),
    Outage('poses and legs killed', 'states', 99.0), Outage('poses late', latency=0.02),
    Outage('poses late', latency=0.04), Outage('a second publisher, at home', 'second', 1.0),
    Outage('commands lost', 'commands', 0.3), Outage('commands lost', 'commands', 2.0),
    Outage('commands lost for good', 'commands', 99.0),
    Outage('commands doubled, 50 ms late', 'doubled', 2.0))


def motion() -> SmoothTrajectory:
    """Return the default motion of the controller."""
    return SmoothTrajectory(
        HOME, [0.2, 0.2, 0.3, 0.06, 0.06, 0.06], [0.23, 0.31, 0.17, 0.29, 0.19, 0.37],
        np.arange(6.0))


def move(outage: Outage, seed: int, *, duration: float = 12.0, mass: float = 1.0,
         push: tuple[float, float] = PUSH, mujoco: bool = False, ends: bool = False
         ) -> Passed:
    """Move beside an outage until the end, a leg's stop, or the controller's stop."""
    geometry, trajectory = load_geometry(config_file('stewart_geometry.yaml')), motion()
    rng = np.random.default_rng(seed)
    simulation = (MujocoPlatformSimulation(geometry, HOME, STEP, 0.0, RESOLUTION, FRICTION)
                  if mujoco else PlatformSimulation(geometry, HOME, STEP, 0.0, RESOLUTION))
    control = PlatformController(StewartDynamics(scaled(geometry, mass)), trajectory)
    gusts = Gusts(rng, *push)
    outage = outage._replace(begin=outage.begin + rng.uniform(0.0, 1.0))
    waiting: list[tuple[float, LegForceCommand]] = []
    states: list[tuple[float, np.ndarray, np.ndarray]] = []
    worst, errors, seen, most, phases = np.zeros(2), (0.0, 0.0), 0.0, 0.0, []
    ended = False
    for k in range(round(duration / STEP)):
        now, command = simulation.time, None
        if k % PERIOD == 0:
            states.append((now, simulation.pose.copy(), simulation.twist.copy()))
            # A pose that jumps, while two nodes publish, is refused: it counts as none.
            if outage.on('states', now):
                command = control.silent(now - seen)
            elif outage.on('poses', now) or outage.on('second', now):
                seen, command = now, control.feel(now, simulation.sample().lengths)
            else:
                at = max(i for i, state in enumerate(states)
                         if state[0] <= now - outage.latency or i == 0)
                del states[:at]
                seen, (stamp, pose, twist) = now, states[0]
                command = control.see(stamp, pose, twist)
                if not control.begun:
                    control.begin(stamp)
        if command is not None and not outage.on('commands', now):
            waiting.append((now, command))
            if outage.on('doubled', now):
                waiting.append((now + 0.05, command))
        for due, each in [row for row in waiting if row[0] <= now]:
            waiting.remove((due, each))
            simulation.command(each.forces)
            most = max(most, float((each.forces / np.where(
                each.forces > 0.0, control.limits[1], control.limits[0])).max()))
        simulation.load = np.concatenate((np.zeros(3), gusts.step(STEP)))
        try:
            simulation.step()
        except LimitError:  # a leg at its stop
            ended = True
            break
        phases.append(control.phase)
        if control.phase is Phase.STOPPED:
            break
        if k % LOOK:
            continue
        goal = trajectory.pose(control.place)
        turn = so3.log(goal[:3, :3].T @ simulation.pose[:3, :3])
        errors = (float(np.degrees(np.linalg.norm(turn))),
                  float(np.linalg.norm(goal[:3, 3] - simulation.pose[:3, 3])))
        worst = np.maximum(worst, errors)
        if ends and phases[-1] is Phase.FOLLOWING and outage.settled(now):
            break
    return Passed(
        *worst, errors[1], (control.phase if simulation.drives is Drives.COMMANDED
                            else simulation.drives).value, bool(ended or (worst > LOST).any()),
        tuple(dict.fromkeys(phase.value for phase in phases)), most)


def scaled(geometry: StewartGeometry, factor: float) -> StewartGeometry:
    """Return a geometry all masses of which are scaled."""
    masses = geometry.masses
    if masses is None:
        return geometry

    def part(one: LegPart) -> LegPart:
        return replace(one, mass=factor * one.mass, transverse=factor * one.transverse,
                       axial=factor * one.axial)

    return replace(geometry, masses=replace(
        masses, mass=factor * masses.mass, inertia=tuple(factor * np.array(masses.inertia)),
        legs=tuple(replace(leg, cylinder=part(leg.cylinder), rod=part(leg.rod))
                   for leg in masses.legs)))
