# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The momentum observer finds what touches: trees, floating bases, loops and platforms."""

from functools import partial

import numpy as np
import pytest
from scipy.signal import lfilter
from support.comparison import assert_same
from support.machines.collision import ARM, collision, STEP
from support.machines.looped_machines import five_bar
from support.machines.random_models import random_model

import liedyn_ros as ld
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    alarm_levels, assemble, ConstrainedDynamics, MinimalCoordinates, MomentumObserver,
    projected_runge_kutta)
from liedyn_ros.dynamics.constrained.minimal_motions import spread
from liedyn_ros.model import load_mjcf
from liedyn_ros.stewart import load_geometry
from liedyn_ros.stewart.dynamics.closed_loop_model import platform_model


@pytest.mark.parametrize('floating', [False, True])
@pytest.mark.parametrize('seed', range(3))
def test_a_steady_force_is_followed_with_the_time_constant(seed: int, floating: bool) -> None:
    model, rng = random_model(seed, 6, floating), np.random.default_rng(seed)
    robot, dt, gain = Dynamics(model), 2e-4, 40.0
    q, v = model.random(rng), 0.3 * rng.normal(size=model.nv)
    pushed, observer = rng.normal(size=model.nv), MomentumObserver(robot, gain=gain)
    tau = robot.gravity_vector(q)
    for _ in range(151):
        found = observer(q, v, tau, dt)
        q, v = ld.runge_kutta_munthe_kaas.step(robot, q, v, dt, tau + pushed)
    wanted = (1.0 - np.exp(-gain * 150 * dt)) * pushed
    assert_same(found, wanted, 0.02)


@pytest.mark.parametrize('by', [None, ['left_1_joint', 'right_1_joint']])
def test_a_force_on_a_loop_is_found_at_its_independent_coordinates(by: list[str] | None) -> None:
    robot = ConstrainedDynamics(five_bar())
    observer, dt = MomentumObserver(robot, gain=1000.0, by=by), 5e-4
    q, v, tau = assemble(robot, [0.7, 0.9, 1.9, -0.5]), np.zeros(4), np.array([2.0, 0.0, 2.5, 0.0])
    external = np.zeros((len(robot.model.bodies), 6))
    external[robot.model.body_index('left_1'), 3] = 1.5
    pushed = wanted = np.zeros(2)
    for _ in range(200):
        wanted = wanted + (1.0 - np.exp(-1000.0 * dt)) * (pushed - wanted)  # by the same lag
        found = observer(q, v, tau, dt)
        rows = robot.frames.jacobian(q, 'left_1') @ observer._least.motions(q)
        pushed = rows.T @ [0.0, 0.0, 0.0, 1.5, 0.0, 0.0]
        q, v = projected_runge_kutta.step(robot, q, v, dt, tau, external)
    assert_same(found, wanted, 5e-3)  # by so much the force changes within a step
    least = MinimalCoordinates(robot, by)  # whose rates and forces it takes as well
    own, other = MomentumObserver(least), MomentumObserver(robot, by=by)
    for _ in range(2):
        tau = spread(least, [2.0, 2.5])
        assert_same(own(q, v[least.known], [2.0, 2.5], dt), other(q, v, tau, dt), 1e-9, floor=1.0)
    back = observer.wrench(q, 'left_1')
    assert np.abs(back.left).max() < 1e-9


def test_a_load_on_a_stewart_platform_is_found() -> None:
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    model = platform_model(geometry)
    robot = ConstrainedDynamics(model)
    q = assemble(robot)
    observer, rest = MomentumObserver(robot, gain=100.0), np.zeros(model.nv)
    external = np.zeros((len(model.bodies), 6))
    external[model.body_index('platform'), 5] = -30.0  # N
    held = robot.inverse(q, rest, rest, external)  # legs that bear the load
    for _ in range(100):
        found = observer(q, rest, held, 2e-3)
    rows = robot.frames.jacobian(q, 'platform') @ observer._least.motions(q)
    assert_same(found, rows.T @ external[model.body_index('platform')], 1e-6)
    force = observer.wrench(q, 'platform', ld.LOCAL)
    assert_same(force.wrench, [0.0, 0.0, 0.0, 0.0, 0.0, -30.0], 1e-4)


def test_a_collision_of_mujoco_is_told_within_milliseconds() -> None:
    observer, free = MomentumObserver(Dynamics(load_mjcf(ARM)), gain=300.0), list[Array]()
    levels = told = touched = None
    for k, (q, v, tau, touches) in enumerate(collision()):
        found = observer(q, v, tau, STEP)
        if touched is None and touches:
            touched, levels = k, alarm_levels(free, STEP, 1.0)
        if touched is None:
            free.append(found)
        if levels is not None and told is None and (np.abs(found) > levels).any():
            told = k
    assert touched is not None and told is not None
    assert 0 <= told - touched <= 10  # 5 ms


@pytest.mark.parametrize('per_hour', [1.0, 60.0])
@pytest.mark.parametrize('kind', ['normal', 'heavy tails', 'bursts'])
def test_alarms_without_contact_are_at_most_as_many_as_asked_for(kind, per_hour) -> None:
    """Of forty joints for an hour, levels being learned in a minute of each."""
    rng, dt, minute, hour = np.random.default_rng(0), 0.02, 3000, 180_000
    noise = {'normal': rng.normal, 'bursts': rng.normal, 'heavy tails': partial(
        rng.standard_t, 4)}[kind](size=(minute + hour, 40))
    if kind == 'bursts':  # errors of a motion that repeats every 7 s
        noise *= 1.0 + 3.0 * (np.sin(0.9 * dt * np.arange(len(noise)))[:, None]**8)
    slow = lfilter([0.3], [1.0, -0.7], noise, axis=0)
    beyond = np.abs(slow[minute:]) > alarm_levels(slow[:minute], dt, per_hour)
    assert (~beyond[:-1] & beyond[1:]).sum() < 1.3 * per_hour * 40


def test_a_reset_forgets_and_bad_input_is_refused() -> None:
    robot = Dynamics(random_model(0, 3, False))
    observer, nv = MomentumObserver(robot), robot.model.nv
    q, rest = robot.model.neutral(), np.zeros(nv)
    for _ in range(3):
        pushed = observer(q, rest, rest, 0.01)
    assert np.abs(pushed).max() > 0.0  # its weight, that no joint holds
    observer.reset()
    assert not observer(q, rest, rest, 0.01).any()
    post = Dynamics(load_mjcf(
        '<mujoco><worldbody><body><geom size="1"/></body></worldbody></mujoco>'))
    for call, error in ((lambda: MomentumObserver(robot, gain=0.0), LimitError),
                        (lambda: MomentumObserver(post), LimitError),
                        (lambda: observer(q, rest, rest[:-1], 0.01), LiedynError),
                        (lambda: observer(q, rest, rest, -1.0), LimitError),
                        (lambda: alarm_levels(np.zeros((5, 2)), 1e-3), LiedynError),
                        (lambda: alarm_levels(np.ones((500, 2)), 1e-3, 0.0), LimitError)):
        with pytest.raises(error):
            call()
