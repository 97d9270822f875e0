# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Motions of a Stewart platform in fast time, beside poses and drives that fail."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from benchmarks.outages.outage import Outage, Passed
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Drives
from liedyn_ros.control.follower import Phase
from liedyn_ros.control.gusts import Gusts
from liedyn_ros.lie import se3, so3
from liedyn_ros.stewart import (
    LegPart, load_geometry, MujocoPlatformSimulation, PlatformController, PlatformSimulation,
    SmoothTrajectory, StewartDynamics, StewartGeometry)
from liedyn_ros.stewart.control.controller import LegForceCommand

STEP, PERIOD, LOOK = 0.002, 2, 10  # s, steps between two states, and two looks at errors
PUSH = 10.0, 3.0  # N, mean and gusts in each direction on the platform
FRICTION, RESOLUTION = 0.5, 1e-5  # N of each drive, in MuJoCo, and m of the sensors of its length
LOST = 45.0, 0.2  # deg, m
STRAY = se3.exp(np.full(6, 0.15))  # by which stray poses are off, rad and m
HOME = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
MOTION = (
    Outage('none'), Outage('poses paused, legs read', 'poses', 2.0),
    Outage('poses killed, legs read', 'poses', 99.0),
    Outage('poses and legs paused', 'states', 0.1), Outage('poses and legs paused', 'states', 0.3),
    Outage('poses and legs killed', 'states', 99.0), Outage('poses late', latency=0.02),
    Outage('poses late', latency=0.04), Outage('poses late', latency=0.08),
    Outage('poses late', latency=0.2), Outage('a second publisher, at home', 'second', 1.0),
    Outage('a stray pose in ten', 'stray', 2.0),
    Outage('commands lost', 'commands', 0.3), Outage('commands lost', 'commands', 2.0),
    Outage('commands lost for good', 'commands', 99.0),
    Outage('commands doubled, 50 ms late', 'doubled', 2.0))


def motion() -> SmoothTrajectory:
    """Return the default motion of the controller."""
    return SmoothTrajectory(
        HOME, [0.2, 0.2, 0.3, 0.06, 0.06, 0.06], [0.23, 0.31, 0.17, 0.29, 0.19, 0.37],
        np.arange(6.0))


class Motion:
    """A platform, its controller, and what fails between them."""

    def __init__(self, outage: Outage, rng: np.random.Generator, mass: float,
                 push: tuple[float, float], mujoco: bool) -> None:
        """Take an outage; mass: ratio of the masses that the controller knows to the true ones."""
        geometry, self._trajectory = load_geometry(config_file('stewart_geometry.yaml')), motion()
        self.simulation = (MujocoPlatformSimulation(
            geometry, HOME, STEP, 0.0, RESOLUTION, FRICTION) if mujoco
            else PlatformSimulation(geometry, HOME, STEP, 0.0, RESOLUTION))
        self.control = PlatformController(
            StewartDynamics(scaled(geometry, mass)), self._trajectory)
        self._gusts, self._outage = Gusts.from_anywhere(rng, *push), outage
        self._coming: list[tuple[float, LegForceCommand]] = []
        self._states = deque[tuple[float, Array, Array]]()  # that have not come yet
        self._seen = self.most = 0.0

    def step(self, state: bool) -> None:
        """Go on by a step, with a state or not; raises LimitError at a leg's stop."""
        simulation, control = self.simulation, self.control
        now, outage = simulation.time, self._outage
        command = self._answer(now) if state else None
        if command is not None and not outage.on('commands', now):
            self._coming += [(now, command)] + [(now + 0.05, command)] * outage.on('doubled', now)
        for due, each in [row for row in self._coming if row[0] <= now]:
            self._coming.remove((due, each))
            simulation.command(each.forces)
            self.most = max(self.most, float((each.forces / np.where(
                each.forces > 0.0, control.limits[1], control.limits[0])).max()))
        simulation.load = np.concatenate((np.zeros(3), self._gusts.step(STEP)))
        simulation.step()

    def errors(self) -> tuple[float, float]:
        """Return angle (deg) and distance (m) from the reference where it is."""
        goal, pose = self._trajectory.pose(self.control.place), self.simulation.pose
        turn = so3.log(goal[:3, :3].T @ pose[:3, :3])
        return (float(np.degrees(np.linalg.norm(turn))),
                float(np.linalg.norm(goal[:3, 3] - pose[:3, 3])))

    def _answer(self, now: float) -> LegForceCommand | None:
        """Return the command for a state, or for what is left of it."""
        simulation, control, outage = self.simulation, self.control, self._outage
        stray = outage.on('stray', now) and round(now / STEP / PERIOD) % 10 == 0
        self._states.append((now, simulation.pose @ (STRAY if stray else np.eye(4)),
                             simulation.twist.copy()))
        if outage.on('states', now):
            self._states.clear()
            return control.silent(now - self._seen)
        # A pose that jumps, while two nodes publish, is refused: it counts as none.
        if outage.on('poses', now) or outage.on('second', now):
            self._states.clear()
            self._seen = now
            return control.feel(now, simulation.sample().lengths)
        late = outage.latency if now >= outage.begin else 0.0
        if self._states[0][0] > now - late + 1e-9:
            return control.silent(now - self._seen)
        stamp, pose, twist = self._states.popleft()
        try:
            command = control.see(stamp, pose, twist, now - stamp)
        except LiedynError:  # it counts as none
            command = control.feel(now, simulation.sample().lengths)
        self._seen = now
        if not control.begun:
            control.begin(stamp)
        return command


def move(outage: Outage, seed: int, *, duration: float = 12.0, mass: float = 1.0,
         push: tuple[float, float] = PUSH, mujoco: bool = False, ends: bool = False
         ) -> Passed:
    """Move beside an outage until the end, a leg's stop, or the controller's stop."""
    rng = np.random.default_rng(seed)
    outage = outage.at_random(rng)
    moves = Motion(outage, rng, mass, push, mujoco)
    simulation, control = moves.simulation, moves.control
    worst, errors, phases, ended = np.zeros(2), (0.0, 0.0), [], False
    for k in range(round(duration / STEP)):
        now = simulation.time
        try:
            moves.step(k % PERIOD == 0)
        except LimitError:  # a leg at its stop
            ended = True
            break
        phases.append(control.phase)
        if control.phase is Phase.STOPPED:
            break
        if k % LOOK:
            continue
        errors = moves.errors()
        worst = np.maximum(worst, errors)
        if ends and phases[-1] is Phase.FOLLOWING and outage.settled(now):
            break
    return Passed(
        *worst, errors[1], (control.phase if simulation.drives is Drives.COMMANDED
                            else simulation.drives).value, bool(ended or (worst > LOST).any()),
        tuple(dict.fromkeys(phase.value for phase in phases)), moves.most)


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
