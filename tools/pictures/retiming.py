# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Draw how machines follow runs when actuators change slowly: python -m tools.pictures.retiming.

The simulators of the aerial manipulator and of the Stewart platform are driven by computed
acceleration. Their actuators follow commands at a limited rate. The same paths are run by three
laws of time. That of retiming knows this rate. That of toppra and the fastest trapezoid of speed
know the limits of force alone. Prints times and largest errors.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as File
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from tools.command_line import no_arguments
import toppra.algorithm
import toppra.constraint
import toppra.interpolator

from liedyn_ros.aerial import AerialManipulator, FlightSimulation
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Feedback, Gains, ReferenceMotion, tracking_error
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import load_model, pose
from liedyn_ros.pictures import (
    BOUND, legend_above, new_figure, PAGE, RIGHT_COLOR, save, WRONG_COLOR)
from liedyn_ros.retiming import MotionLimits, Path, PlatformPath, retime, SplinePath
from liedyn_ros.stewart import (
    load_geometry, PlatformController, PlatformSimulation, StewartDynamics)

IMAGE = File(__file__).parents[2] / 'docs' / 'images' / 'retiming_simulators.png'
STEP, AFTER = 1e-3, 0.5  # s: of simulations, and for which they go on at the end of a run
POINTS = 400  # intervals of toppra
LOST = 1000.0  # mm of error, at which a flight ends
COLORS = {'retime': RIGHT_COLOR, 'toppra': WRONG_COLOR, 'trapezoid': BOUND}


class Motion(NamedTuple):
    """A run sampled each STEP: q, v, a and jerk by time, and how long it takes (s)."""

    duration: float
    q: Array
    v: Array
    a: Array
    jerk: Array

    def at(self, k: int) -> ReferenceMotion:
        """Return the reference at a step, at rest after the end."""
        if k < len(self.q):
            return ReferenceMotion(self.q[k], self.v[k], self.a[k], self.jerk[k])
        rest = np.zeros_like(self.v[0])
        return ReferenceMotion(self.q[-1], rest, rest, rest)


class Case(NamedTuple):
    """A machine with its path; limits of forces and of their rates by coordinates that move it."""

    dynamics: Dynamics | ConstrainedDynamics
    path: Path
    places: Array
    force: Array
    rate: Array
    follow: Callable[[Case, Motion], Array]

    def limits(self, *, rates: bool) -> MotionLimits:
        """Return the limits, of the rates too where it is asked for."""
        most = np.full((2, self.dynamics.model.nv), np.inf)
        most[:, self.places] = self.force, self.rate
        return MotionLimits(
            velocity=np.inf, torque=most[0], torque_rate=most[1] if rates else None)

    def forces(self, q: Array, v: Array, a: Array) -> Array:
        """Return the forces of the actuators, without friction, as toppra asks for them."""
        if isinstance(self.dynamics, ConstrainedDynamics):
            tau = self.dynamics.inverse(q, v, a).tau
        else:
            tau = self.dynamics.inverse(q, v, a)
        return np.asarray(tau[self.places])


class SamePath(toppra.interpolator.AbstractGeometricPath):  # type: ignore[misc]
    """A path of this package as toppra takes it."""

    dof = 0
    path_interval = np.zeros(2)
    waypoints = None

    def __init__(self, case: Case) -> None:
        """Take the path."""
        self._path, self.dof = case.path, len(case.places)
        self.path_interval = np.array([0.0, case.path.length])

    def __call__(self, s: ArrayLike, order: int = 0) -> Array:
        """Return q or a derivative by s."""
        rows = self._path(np.atleast_1d(s))[order]
        return rows if np.ndim(s) else rows[0]


def sampled(path: Path, s: Array, rates: Array) -> Motion:
    """Return a path at s (K,) with three derivatives by time (3, K)."""
    at, (first, second, third) = path(s), rates[..., None]
    return Motion(STEP * (len(s) - 1), at.q, at.v * first, at.a * first**2 + at.v * second,
                  at.jerk * first**3 + 3.0 * at.a * first * second + at.v * third)


def by_retime(case: Case) -> Motion:
    """Return the run within limits of forces and their rates."""
    run = retime(case.dynamics, case.path, case.limits(rates=True))
    at = run.at(np.arange(0.0, run.duration, STEP))
    return Motion(run.duration, at.q, at.v, at.a, at.jerk)


def by_toppra(case: Case) -> Motion:
    """Return the run of toppra within limits of forces."""
    size = case.dynamics.model.nv

    def forces(q: Array, *rates: Array) -> Array:  # rates of zeros are as many as limits
        return case.forces(np.ascontiguousarray(q), *(
            np.ascontiguousarray(each) if len(each) == size else np.zeros(size)
            for each in rates))

    limit = toppra.constraint.JointTorqueConstraint(
        forces, np.stack([-case.force, case.force], axis=1), np.zeros(len(case.places)))
    points = np.linspace(0.0, case.path.length, POINTS + 1)
    _, speeds, _ = toppra.algorithm.TOPPRA(
        [limit], SamePath(case), gridpoints=points).compute_parameterization(0.0, 0.0)
    times = np.concatenate([[0.0], np.cumsum(2.0 * np.diff(points) / (speeds[1:] + speeds[:-1]))])
    t = np.arange(0.0, times[-1], STEP)
    k = np.clip(np.searchsorted(times, t, side='right') - 1, 0, POINTS - 1)
    push = (speeds[k + 1]**2 - speeds[k]**2) / (2.0 * (points[k + 1] - points[k]))
    after = t - times[k]
    speed = speeds[k] + push * after
    s = np.clip(points[k] + after * (speeds[k] + 0.5 * push * after), 0.0, case.path.length)
    return sampled(case.path, s, np.array([speed, push, 0.0 * push]))


def by_trapezoid(case: Case) -> Motion:
    """Return the fastest run whose speed is a trapezoid, within limits of forces."""
    def run(duration: float) -> Motion:
        t = np.arange(0.0, duration, STEP)
        ramp, top = duration / 4.0, case.path.length / (0.75 * duration)
        x = np.minimum(t, duration - t)
        speed = top * np.minimum(x / ramp, 1.0)
        push = np.where(x < ramp, top / ramp, 0.0) * np.where(t < duration / 2.0, 1.0, -1.0)
        up = np.where(x < ramp, 0.5 * top * x**2 / ramp, top * (x - 0.5 * ramp))
        s = np.where(t < duration / 2.0, up, case.path.length - up)
        return sampled(case.path, s, np.array([speed, push, 0.0 * t]))

    def kept(motion: Motion) -> bool:
        few = slice(None, None, 5)
        return all((np.abs(case.forces(*state)) <= case.force).all()
                   for state in zip(motion.q[few], motion.v[few], motion.a[few]))

    low, high = 0.1, 20.0
    while high > 1.01 * low:
        middle = (low * high)**0.5
        low, high = (low, middle) if kept(run(middle)) else (middle, high)
    return run(high)


def slow(before: Array, command: Array, case: Case) -> Array:
    """Return the forces of actuators that follow a command at their rate, within their limits."""
    change = np.clip(command - before, -case.rate * STEP, case.rate * STEP)
    return np.clip(before + change, -case.force, case.force)


def fly(case: Case, motion: Motion) -> Array:
    """Return the errors of the aerial manipulator's base at each step, mm."""
    assert isinstance(case.dynamics, Dynamics)
    machine, model = AerialManipulator(case.dynamics.model), case.dynamics.model
    simulation, feedback = FlightSimulation(machine, motion.q[0], STEP), Feedback(model, Gains())
    tau, errors = case.forces(motion.q[0], 0.0 * motion.v[0], 0.0 * motion.v[0]), []
    for k in range(len(motion.q) + round(AFTER / STEP)):
        error = tracking_error(model, motion.at(k), simulation.q, simulation.v)
        errors.append(1e3 * float(np.linalg.norm(error.error[3:6])))
        if errors[-1] > LOST:
            break
        wanted = case.dynamics.inverse(
            simulation.q, simulation.v, feedback.acceleration(error, STEP))
        tau = slow(tau, wanted, case)
        simulation.command_wrench(tau[:6])
        simulation.command_torques(tau[6:])
        simulation.step()
    return np.array(errors)


class AlongMotion:
    """A motion as the platform's controller takes it."""

    def __init__(self, motion: Motion, poses: Array) -> None:
        """Take the motion, and its poses (K, 4, 4)."""
        self._motion, self._poses = motion, poses

    def pose(self, t: float) -> Array:
        """Return the pose at a time, s."""
        return np.asarray(self._poses[min(round(t / STEP), len(self._poses) - 1)])

    def derivatives(self, t: float) -> Array:
        """Return the twist with its two derivatives, (3, 6), at a time, s."""
        at = self._motion.at(round(t / STEP))
        return np.array([at.v[:6], at.a[:6], at.jerk[:6]])


def drive(case: Case, motion: Motion) -> Array:
    """Return the errors of the Stewart platform at each step, mm."""
    geometry = GEOMETRY
    assert isinstance(case.dynamics, ConstrainedDynamics)
    poses = np.array([case.dynamics.tree.frames.pose(q, 'platform') for q in motion.q])
    controller = PlatformController(  # which asks a trajectory for these two alone
        StewartDynamics(geometry), AlongMotion(motion, poses))  # type: ignore[arg-type]
    simulation = PlatformSimulation(geometry, poses[0], STEP)
    rest, errors = np.zeros(6), []
    forces = StewartDynamics(geometry).inverse(poses[0], rest, rest).forces
    for k in range(len(motion.q) + round(AFTER / STEP)):
        command = controller.command(k * STEP, STEP, simulation.pose, simulation.twist)
        errors.append(1e3 * float(np.linalg.norm(command.error.error[3:6])))
        forces = slow(forces, command.forces, case)
        simulation.command(forces)
        try:
            simulation.step()
        except LiedynError:  # a leg at its end, or a singular pose
            break
    return np.array(errors)


GEOMETRY = load_geometry(config_file('stewart_geometry.yaml'))


def flight() -> Case:
    """Return a path of the aerial manipulator, its base in space and its arms."""
    model = load_model(config_file('aerial_manipulator.yaml'))
    rows = np.zeros((5, model.nv))
    rows[1:, 3:6] = [[0.8, 0.3, 0.2], [1.5, -0.3, 0.0], [2.2, 0.2, -0.2], [3.0, 0.0, 0.0]]
    rows[1:, 2] = 0.2, -0.2, 0.3, 0.0
    rows[1:, 6:] = np.random.default_rng(2).uniform(-0.8, 0.8, (4, model.nv - 6))
    start = model.neutral()
    start[2] = 1.5
    force = np.concatenate([[6.0, 6.0, 3.0, 16.0, 16.0, 75.0], model.limits.effort[6:]])
    return Case(Dynamics(model, dissipation=False), SplinePath(model, [
        model.integrate(start, row) for row in rows]), np.arange(model.nv), force,
        np.concatenate([5.0 * force[:6], 20.0 * force[6:]]), fly)


def platform() -> Case:
    """Return a path of the Stewart platform."""
    moves = [[0, 0, 0, 0, 0, 0], [0.1, 0, 0, 0, 0, 0.05], [0, 0.1, 0.1, 0.05, 0, 0],
             [0, -0.1, 0, -0.05, 0.05, 0.05], [0, 0, 0, 0, 0.05, 0]]
    path = PlatformPath(GEOMETRY, pose([0.0, 0.0, 0.5]) @ se3.exp(np.array(moves, dtype=float)))
    model = path.dynamics.model
    places = np.array([model.joint(name).vi for name in GEOMETRY.leg_names])
    return Case(path.dynamics, path, places, np.full(6, 1500.0), np.full(6, 2e4), drive)


def main() -> None:
    """Simulate, print the table, draw the picture."""
    no_arguments(__doc__)
    figure = new_figure(80.0, PAGE)
    rows = []
    for axes, (title, make) in zip(figure.subplots(1, 2), (
            ('aerial manipulator', flight), ('Stewart platform', platform))):
        case = make()
        for name, law in (('trapezoid', by_trapezoid), ('toppra', by_toppra),
                          ('retime', by_retime)):
            motion = law(case)
            errors = case.follow(case, motion)
            whole = len(errors) == len(motion.q) + round(AFTER / STEP)
            rows.append([title, name, f'{motion.duration:.3f}', f'{errors.max():.3g}'
                         if whole else f'lost at {STEP * len(errors):.2f} s'])
            axes.semilogy(STEP * np.arange(len(errors)), np.maximum(errors, 1e-3),
                          color=COLORS[name], label=f'{name}, {motion.duration:.2f} s')
        axes.set(xlabel='time, s', ylabel=f'{title}: error, mm')
        legend_above(axes, 1)
    print_table(['machine', 'law', 'time, s', 'largest error, mm'], rows)
    save(figure, IMAGE)


if __name__ == '__main__':
    main()
