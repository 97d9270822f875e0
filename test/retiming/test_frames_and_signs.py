# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits of frames and points, and of forces with a sign, hold everywhere and bind."""

from functools import cache

import numpy as np
import pytest
from support.comparison import assert_same
from support.refusals import refused

import liedyn_ros as ld
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, ModelError, NameSetError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder, pose, SpatialInertia
from liedyn_ros.retiming import (
    FrameLimits, LoopPath, MotionLimits, OnlineScaling, retime, Retimed, SplinePath)

POINT, STEP = np.array([0.02, -0.03, 0.4]), 1e-4
TORQUE = {'turn': 15.0, 'shoulder': 60.0, 'elbow': 20.0}


@cache
def carrier() -> Dynamics:
    """Return an arm with a tray, on which a box of 0.5 kg stands: its contact is a joint."""
    builder, parent = ModelBuilder('carrier'), None
    for name, axis, mass in (('turn', 'z', 4.0), ('shoulder', 'y', 3.0), ('elbow', 'y', 1.5)):
        builder.add_body(name + '_link', SpatialInertia(mass, [0, 0, 0.2], 0.02 * np.eye(3)))
        builder.add_joint(name, 'revolute', parent, name + '_link', damping=0.2,
                          axis=[0, float(axis == 'y'), float(axis == 'z')],
                          placement=pose([0.0, 0.0, 0.0 if parent is None else 0.4]))
        parent = name + '_link'
    builder.add_body('box', SpatialInertia(0.5, [0, 0, 0.05], 1e-3 * np.eye(3)))
    builder.add_joint('contact', 'prismatic', parent, 'box', axis=[0, 0, 1],
                      placement=pose([0.0, 0.0, 0.4]))
    return Dynamics(builder.build())


def carried(limits: MotionLimits) -> Retimed:
    """Return a run of the arm that swings its tray."""
    rows = [[0.0, 0.4, -0.3], [0.5, 0.9, -0.8], [1.0, 0.3, -0.2], [1.4, -0.4, 0.5]]
    return retime(carrier(), SplinePath(
        carrier().model, np.column_stack([rows, np.zeros(len(rows))])), limits)


def motion(run: Retimed, frame: str, point: Array) -> dict[str, Array]:
    """Return how fast a point and a frame move, by differences of poses in time."""
    machine = run.dynamics if isinstance(run.dynamics, Dynamics) else run.dynamics.tree
    t = np.linspace(0.01, 0.99, 301) * run.duration
    poses = [np.array([machine.frames.pose(q, frame) for q in run.at(t + k * STEP).q])
             for k in (-1, 0, 1)]
    before, here, after = (each[:, :3, :3] @ point + each[:, :3, 3] for each in poses)
    spins = [np.array([ld.lie.so3.log(a @ b.T) for a, b in zip(
        one[:, :3, :3], other[:, :3, :3])]) / STEP for one, other in (
            (poses[1], poses[0]), (poses[2], poses[1]))]
    return {name: np.linalg.norm(values, axis=1) for name, values in (
        ('velocity', (after - before) / (2.0 * STEP)),
        ('acceleration', (after - 2.0 * here + before) / STEP**2),
        ('angular_velocity', (spins[0] + spins[1]) / 2.0),
        ('angular_acceleration', (spins[1] - spins[0]) / STEP))}


LIMITED = {'velocity': 0.8, 'acceleration': 4.0, 'angular_velocity': 1.2,
           'angular_acceleration': 6.0}


@pytest.mark.parametrize('name', LIMITED)
def test_limits_of_a_point_hold_and_bind(name: str) -> None:
    limit = LIMITED[name]
    run = carried(MotionLimits(torque=TORQUE, frames=[
        FrameLimits('elbow_link', point=POINT, **{name: limit})]))
    share = motion(run, 'elbow_link', POINT)[name] / limit
    assert 0.99 < share.max() < 1.001
    assert run.duration > carried(MotionLimits(torque=TORQUE)).duration
    key = f'frame_{name}', 'elbow_link at (0.02, -0.03, 0.4)'
    assert 0.99 < run.used[key].max() <= 1.0
    assert key in run.binding


def test_a_point_of_a_closed_loop_keeps_its_limit() -> None:
    machine = ld.load(config_file('five_bar.yaml'))
    path = LoopPath(machine, np.array([[0.3, 2.0], [0.8, 2.4], [0.6, 1.8]]))
    body = machine.model.bodies[-1]
    run = retime(machine, path, MotionLimits(
        torque=dict.fromkeys(path.measured, 12.0),
        frames=[FrameLimits(body, velocity=0.5)]), intervals=40)
    assert 0.98 < motion(run, body, np.zeros(3))['velocity'].max() / 0.5 < 1.001


def test_a_box_is_not_lifted_off_its_tray() -> None:
    free = carried(MotionLimits(torque=TORQUE))
    assert free.at(np.linspace(0.0, free.duration, 501)).torque[:, 3].min() < -0.5
    run = carried(MotionLimits(torque=TORQUE, least_torque={'contact': 1.0}))
    at = run.at(np.linspace(0.0, run.duration, 2001))
    force = at.torque[:, 3]
    assert 1.0 - 1e-9 < force.min() < 1.01
    place = np.array([0.0, 0.0, 0.05])
    by_newton = []  # of the centre of mass, along the tray's normal
    for q, v, a in zip(at.q, at.v, at.a):
        turn = carrier().frames.pose(q, 'box')[:3, :3]
        spin = carrier().frames.twist(q, v, 'box')[:3]
        moved = carrier().frames.acceleration(q, v, a, 'box', classical=True)
        center = moved[3:] + np.cross(moved[:3], place) + np.cross(spin, np.cross(spin, place))
        by_newton.append(0.5 * (center - turn.T @ [0.0, 0.0, -9.81])[2])
    assert_same(force, by_newton, 1e-9)
    assert ('least_torque', 'contact') in run.binding


def wheel(length: float, limits: MotionLimits, inertia: float = 2.0) -> Retimed:
    """Return a run of a wheel about the vertical."""
    builder = ModelBuilder('wheel')
    builder.add_body('disc', SpatialInertia(1.0, [0, 0, 0], inertia * np.eye(3)) if inertia
                     else None)
    builder.add_joint('turn', 'revolute', None, 'disc', axis=[0, 0, 1])
    machine = Dynamics(builder.build())
    return retime(machine, SplinePath(machine.model, [[0.0], [length]]), limits, intervals=400)


def test_uneven_torques_take_the_time_of_a_double_integrator() -> None:
    length, push, brake = 4.0, 3.0, 1.0
    run = wheel(length, MotionLimits(torque=6.0, least_torque=-2.0))
    speed = (2.0 * length * push * brake / (push + brake))**0.5
    fastest = speed / push + speed / brake
    assert fastest <= run.duration < 1.003 * fastest


CURVE = np.array([[0.0, 6.0], [1.0, 6.0], [2.0, 4.0], [3.0, 0.5]])


@pytest.mark.parametrize('length', [4.0, -4.0])
def test_a_motor_drives_within_its_curve_and_brakes_with_its_torque_at_rest(length: float) -> None:
    run = wheel(length, MotionLimits(torque_curves={'turn': CURVE}))
    speed = np.linspace(0.0, 2.9, 20001)
    push = np.interp(speed, *CURVE.T) / 2.0
    steps = np.diff(speed) * 0.5 * (1.0 / push[1:] + 1.0 / push[:-1])
    times = np.append(0.0, np.cumsum(steps))
    ways = np.append(0.0, np.cumsum(steps * 0.5 * (speed[1:] + speed[:-1])))
    peak = int(np.argmax(ways + speed**2 / 6.0 >= abs(length)))
    fastest = times[peak] + speed[peak] / 3.0
    assert fastest * (1.0 - 1e-4) <= run.duration < 1.003 * fastest
    at = run.at(np.linspace(0.0, run.duration, 2001))
    torque = np.sign(length) * at.torque[:, 0]
    assert (torque <= np.interp(np.abs(at.v[:, 0]), *CURVE.T) * (1.0 + 1e-9)).all()
    assert 5.99 < -torque.min() <= 6.0 * (1.0 + 1e-9)
    assert {('torque_curve', 'turn')} == set(run.binding)


@pytest.mark.parametrize('points', [
    [[0.0, 6.0]], [[0.1, 6.0], [1.0, 5.0]], [[0.0, 6.0], [0.0, 5.0]], [[0.0, 0.0], [1.0, -1.0]],
    [[0.0, 6.0], [1.0, 7.0]], [[0.0, 6.0], [1.0, 4.0], [2.0, 3.0]], [[0.0, 6.0], [1.0, np.nan]],
    [6.0, 5.0]])
def test_bad_curves_are_refused(points: list[list[float]]) -> None:
    with refused(LiedynError, 'torque_curves[turn]'):
        wheel(4.0, MotionLimits(torque_curves={'turn': points}))
    with refused(NameSetError, 'tern'):
        wheel(4.0, MotionLimits(torque_curves={'tern': CURVE}))


def test_a_scaled_run_keeps_the_curves_of_its_plan() -> None:
    limits = MotionLimits(torque=8.0, torque_curves={'turn': CURVE})
    scaling = OnlineScaling(wheel(4.0, limits))
    scaling.use(MotionLimits(torque=5.0, torque_curves={'turn': CURVE}))
    with refused(LimitError, 'torque_curves'):
        scaling.use(MotionLimits(torque=5.0, torque_curves={'turn': 0.5 * CURVE}))


def test_what_moves_no_inertia_is_bounded_by_no_torque() -> None:
    with refused(LimitError, 'retiming'):
        wheel(4.0, MotionLimits(torque=6.0), inertia=0.0)
    assert wheel(4.0, MotionLimits(torque=6.0, velocity=2.0), inertia=0.0).duration > 2.0


@pytest.mark.parametrize(('limits', 'error', 'name'), [
    (lambda: MotionLimits(torque=TORQUE, least_torque={'elbow': 20.0}), LimitError, 'elbow'),
    (lambda: MotionLimits(torque=TORQUE, least_torque={'elbow': np.nan}), LiedynError, 'elbow'),
    (lambda: MotionLimits(torque=TORQUE, least_torque={'contact': 9.0}), LimitError, 'contact'),
    (lambda: MotionLimits(torque=TORQUE, frames=[FrameLimits('tool', velocity=1.0)]), ModelError,
     'tool'),
    (lambda: MotionLimits(frames=[FrameLimits('box', velocity=0.0)]), LimitError,
     'frames[box].velocity'),
    (lambda: MotionLimits(frames=[FrameLimits('box')] * 2), NameSetError, 'frames')])
def test_bad_limits_are_refused(limits, error: type[Exception], name: str) -> None:
    with refused(error, name):
        carried(limits())


def test_a_scaled_run_takes_other_limits_of_frames_but_not_of_uneven_torques() -> None:
    frame = FrameLimits('elbow_link', velocity=0.8)
    run = carried(MotionLimits(torque=TORQUE, least_torque={'contact': 1.0}, frames=[frame]))
    scaling = OnlineScaling(run)
    scaling.use(MotionLimits(torque=TORQUE, least_torque={'contact': 1.0}, frames=[
        FrameLimits('elbow_link', velocity=0.4)]))
    for _ in range(2000):
        scaling.step(1e-3)
    assert scaling.step(1e-3).expected <= 1.001
    with refused(LimitError, 'least_torque'):
        scaling.use(MotionLimits(torque=TORQUE, least_torque={'contact': 2.0}, frames=[frame]))
