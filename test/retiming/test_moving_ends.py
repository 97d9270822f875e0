# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs that begin or end on the move are the fastest within the limits."""

from functools import cache

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.example_robots import example_robot
from support.refusals import refused

import liedyn_ros as ld
from liedyn_ros.common.errors import LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.retiming import (
    ClosureLimits, LoopPath, MotionLimits, MovingEnd, OnlineScaling, PathPart, replan, retime,
    Retimed, SplinePath, stop_along, stop_run)
from liedyn_ros.retiming.result import travel_time

# One joint about the vertical, 2 kg m^2: torque is 2 times the acceleration.
WHEEL = """<robot name="wheel"><link name="base"/><link name="disc">
<inertial><mass value="1"/><inertia ixx="2" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="turn" type="continuous"><parent link="base"/><child link="disc"/>
<axis xyz="0 0 1"/></joint></robot>"""
INERTIA, TORQUE, RATE, LENGTH = 2.0, 6.0, 60.0, 4.0
LIMITS = {'torque': MotionLimits(torque=TORQUE),
          'rate': MotionLimits(torque=TORQUE, torque_rate=RATE)}


@cache
def wheel() -> Dynamics:
    """Return the dynamics of a wheel."""
    return ld.load(WHEEL)


def line(length: float = LENGTH) -> SplinePath:
    """Return a path of the wheel whose s is its angle."""
    return SplinePath(wheel().model, [[0.0], [length]])


@pytest.mark.parametrize(('start', 'end'), [(1.5, None), (None, 1.5), (1.0, 2.0)])
def test_ends_are_passed_at_their_speeds_in_the_least_time(
        start: float | None, end: float | None) -> None:
    run = retime(wheel(), line(), LIMITS['torque'], intervals=400,
                 start=None if start is None else MovingEnd(start),
                 end=None if end is None else MovingEnd(end))
    at, most = run.at([0.0, run.duration]), TORQUE / INERTIA
    assert_same(at.v[:, 0], [start or 0.0, end or 0.0], 1e-8, floor=1.0)
    # Full torque to the peak speed of the double integrator, and full torque back.
    peak = (most * LENGTH + ((start or 0.0)**2 + (end or 0.0)**2) / 2.0)**0.5
    fastest = (2.0 * peak - (start or 0.0) - (end or 0.0)) / most
    assert fastest <= run.duration <= 1.003 * fastest
    assert run.margins.most(run.grid, run.unknowns) <= 1.0 + 1e-6


def test_a_stop_under_limited_rates_is_that_of_a_double_integrator() -> None:
    most, speed = TORQUE / INERTIA, 2.0
    fastest = speed / most + most / (RATE / INERTIA)
    distance = speed * fastest / 2.0  # the speed falls symmetrically
    start = MovingEnd(speed, 0.0)
    halt = retime(wheel(), line(1.02 * distance), LIMITS['rate'], start=start, intervals=200)
    assert_same(halt.duration, fastest, 0.06)  # the longer path takes 0.01
    at = halt.at([0.0, halt.duration])
    assert_same(at.v[:, 0], [speed, 0.0], 1e-8)
    assert_same(at.torque[0], [0.0], 1e-6, floor=1.0)
    with refused(LimitError, 'torque'):
        retime(wheel(), line(0.95 * distance), LIMITS['rate'], start=start)


def test_the_shortest_stop_is_that_of_a_double_integrator() -> None:
    most, speed = TORQUE / INERTIA, 2.0
    fastest = speed / most + most / (RATE / INERTIA)
    halt = stop_along(wheel(), line(), LIMITS['rate'], start=MovingEnd(speed, 0.0), intervals=60)
    assert 1.0 <= halt.law.path.length / (speed * fastest / 2.0) < 1.05
    assert_same(halt.duration, fastest, 0.08)
    with refused(LimitError, 'torque_rate'):
        stop_along(wheel(), line(), LIMITS['rate'], start=MovingEnd(9.0, 0.0))


TORQUES = np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0])
ARM_LIMITS = MotionLimits(velocity=np.inf, torque=TORQUES, torque_rate=20.0 * TORQUES)


@pytest.fixture(name='arm', scope='module')
def fixture_arm() -> Dynamics:
    return ld.load(example_robot('ur_description/urdf/ur5_robot.urdf'))


@pytest.fixture(name='run', scope='module')
def fixture_run(arm: Dynamics) -> Retimed:
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (7, 6))
    return retime(arm, SplinePath(arm.model, points), ARM_LIMITS)


@pytest.fixture(name='coarse', scope='module')
def fixture_coarse(arm: Dynamics, run: Retimed) -> Retimed:
    """Return the run of fewer intervals."""
    return retime(arm, run.law.path, ARM_LIMITS, intervals=40)


@pytest.mark.parametrize('share', [0.37, 0.6, 0.9])
def test_a_run_planned_again_on_the_move_goes_on_as_it_was(
        arm: Dynamics, run: Retimed, share: float) -> None:
    instant = share * run.duration
    before = run.at([instant])
    rest = PathPart(run.law.path, float(before.s[0]), run.law.path.length)
    start = MovingEnd(float(before.path_speed[0]), float(before.path_acceleration[0]))
    again = retime(arm, rest, ARM_LIMITS, start=start)
    assert_same(again.duration, run.duration - instant, 3e-2)  # other grids: half a percent
    at = again.at([0.0])
    for name in ('q', 'v', 'a', 'torque'):
        assert_same(getattr(at, name)[0], getattr(before, name)[0], 1e-9)
    assert again.margins.most(again.grid, again.unknowns) <= 1.0 + 1e-6


def test_two_runs_joined_on_the_move_take_the_time_of_one(arm: Dynamics, run: Retimed) -> None:
    middle = run.at([run.duration / 2.0])
    s, path = float(middle.s[0]), run.law.path
    passing = MovingEnd(float(middle.path_speed[0]), float(middle.path_acceleration[0]))
    first = retime(arm, PathPart(path, 0.0, s), ARM_LIMITS, end=passing)
    second = retime(arm, PathPart(path, s, path.length), ARM_LIMITS, start=passing)
    assert_same(first.duration + second.duration, run.duration, 3e-2)  # as there
    one, other = first.at([first.duration]), second.at([0.0])
    for name in ('q', 'v', 'a', 'torque'):
        assert_same(getattr(one, name)[0], getattr(other, name)[0], 1e-9)


def test_the_time_is_the_integral_of_the_inverse_speed(run: Retimed) -> None:
    t = np.linspace(0.0, run.duration, 4001)
    at = run.at(t)
    moved = np.concatenate([[0.0], np.cumsum(
        (at.path_speed[1:] + at.path_speed[:-1]) / 2.0 * np.diff(t))])
    assert_same(moved, at.s, 1e-5)
    assert_same(np.gradient(at.path_speed, t)[1:-1], at.path_acceleration[1:-1], 2e-2)
    assert travel_time(run.grid, run.unknowns)[-1] == run.duration


@pytest.mark.parametrize(('start', 'name'), [
    (MovingEnd(0.0), 'start.speed'),
    (MovingEnd(-1.0), 'start.speed'), (MovingEnd(np.nan), 'start.speed'),
    (MovingEnd(np.inf), 'start.speed'),
    (MovingEnd(1.0, np.nan), 'start.acceleration'),
    (MovingEnd(9.0), 'torque'),
    (MovingEnd(1.0, 4.0), 'torque')])
def test_ends_that_cannot_be_passed_are_refused(start: MovingEnd, name: str) -> None:
    with refused(LimitError, name):
        retime(wheel(), line(), LIMITS['torque'], start=start)


@pytest.mark.parametrize('start', [MovingEnd(5.0), MovingEnd(1e3), MovingEnd(1.0, 1e3)])
def test_ends_far_beyond_limits_of_rates_name_limit_and_joint(
        arm: Dynamics, run: Retimed, start: MovingEnd) -> None:
    with refused(LimitError, 'torque_rate'):
        retime(arm, run.law.path, run.limits, start=start)


@pytest.mark.full
def test_an_arm_stops_along_its_path_from_any_instant(arm: Dynamics, run: Retimed) -> None:
    stronger = MotionLimits(velocity=np.inf, torque=1.05 * TORQUES, torque_rate=21.0 * TORQUES)
    for share in (0.3, 0.8):
        now = run.at([share * run.duration])
        rest = PathPart(run.law.path, float(now.s[0]), run.law.path.length)
        start = MovingEnd(float(now.path_speed[0]), float(now.path_acceleration[0]))
        halt = stop_along(arm, rest, stronger, start=start, intervals=25)
        at = halt.at(np.linspace(0.0, halt.duration, 501))
        assert_same(at.torque[0], now.torque[0], 1e-9)
        assert_same(at.v[-1], np.zeros(6), 1e-8, floor=1.0)
        assert (np.abs(at.torque) <= 1.0501 * TORQUES).all()
        assert (np.abs(at.torque_rate) <= 21.01 * TORQUES).all()
        assert halt.duration < run.duration * (1.0 - share)


def test_an_arm_stops_at_the_limits_of_its_plan_from_any_instant(
        arm: Dynamics, run: Retimed) -> None:
    for share in (0.4, 0.95):  # the first waits before it stops
        instant, left = share * run.duration, (1.0 - share) * run.duration
        begins, halt = stop_run(run, instant, intervals=30)
        assert_goes_on(run, begins, halt, MOTION)
        at = halt.at(np.linspace(0.0, halt.duration, 501))
        assert_same(at.v[-1], np.zeros(6), 1e-8, floor=1.0)
        assert (np.abs(at.torque) <= 1.0001 * TORQUES).all()
        assert (np.abs(at.torque_rate) <= 20.002 * TORQUES).all()
        assert begins - instant + halt.duration <= min(left * (1.0 + 1e-9), 0.5)
    with refused(LimitError, 't'):
        stop_run(run, 0.0)


def assert_goes_on(before: Retimed, instant: float, again: Retimed, names: tuple[str, ...]
                   ) -> None:
    """Compare the motion of a run at an instant with that at the begin of another one."""
    one, other = before.at([instant]), again.at([0.0])
    for name in names:
        assert_same(getattr(other, name)[0], getattr(one, name)[0], 1e-8, floor=1.0)


MOTION = 'q', 'v', 'a', 'torque'


@pytest.mark.full
@pytest.mark.parametrize('strict', [True, False])
def test_a_run_planned_again_at_its_own_limits_is_never_refused_nor_slower(
        arm: Dynamics, coarse: Retimed, strict: bool) -> None:
    before = coarse if strict else retime(arm, coarse.law.path, ARM_LIMITS, intervals=40,
                                          strict=False)
    for share in (0.0, 0.001, 0.155, 0.5, 0.9, 0.999):
        instant = share * before.duration
        again = replan(before, instant, strict=strict)
        assert again.duration <= (before.duration - instant) * (1.0 + 1e-9)
        assert_goes_on(before, instant, again, (*MOTION, 'jerk', 'torque_rate'))
        at = again.at(np.linspace(0.0, again.duration, 301))
        most = 1.0 + 1e-5 if strict else 1.002
        assert (np.abs(at.torque) <= most * TORQUES).all()
        assert (np.abs(at.torque_rate) <= most * 20.0 * TORQUES).all()


def test_a_run_planned_again_again_and_again_is_the_run(coarse: Retimed) -> None:
    passed, again = 0.0, coarse
    for _ in range(6):
        instant = 0.3 * again.duration
        following = replan(again, instant)
        assert_goes_on(again, instant, following, (*MOTION, 'torque_rate'))
        passed, again = passed + instant, following
    assert passed + again.duration <= coarse.duration * (1.0 + 1e-9)
    assert_same(again.at([again.duration]).q, coarse.at([coarse.duration]).q, 1e-9)


def test_a_run_planned_again_takes_other_limits(coarse: Retimed) -> None:
    before, stronger = coarse, MotionLimits(
        velocity=np.inf, torque=1.2 * TORQUES, torque_rate=24.0 * TORQUES)
    instant = 0.4 * before.duration
    faster = replan(before, instant, stronger)
    assert faster.duration < 0.97 * (before.duration - instant)
    assert_goes_on(before, instant, faster, (*MOTION, 'torque_rate'))
    slower = replan(before, 0.02, MotionLimits(
        velocity=1.0, torque=1.2 * TORQUES, torque_rate=24.0 * TORQUES))
    assert_goes_on(before, 0.02, slower, MOTION)
    assert slower.duration > before.duration
    assert np.abs(slower.at(np.linspace(0.0, slower.duration, 501)).v).max() <= 1.0 + 1e-6
    with refused(LimitError, 'torque'):
        replan(before, instant, MotionLimits(velocity=np.inf, torque=0.6 * TORQUES))
    for beyond in (before.duration, -0.1, np.nan):
        with refused(LimitError, 't'):
            replan(before, beyond)


def test_a_run_planned_again_is_scaled_as_others_are(arm: Dynamics, run: Retimed) -> None:
    again = replan(run, 0.37 * run.duration, MotionLimits(
        velocity=20.0, torque=1.2 * TORQUES, torque_rate=24.0 * TORQUES))
    widths = np.diff(again.grid.ends)
    assert widths.max() > 3.0 * widths.min()
    scaling, cycle = OnlineScaling(again), 2e-3
    instants = [scaling.step(cycle) for _ in range(int(again.duration / cycle))]
    at = scaling.samples(instants, cycle * np.arange(1, len(instants) + 1))
    wanted = again.at(at.t)
    for name in ('s', *MOTION):
        assert_same(getattr(at, name), getattr(wanted, name), 1e-7, floor=1.0)


def test_a_run_of_torque_alone_is_planned_again_with_rates(arm: Dynamics, run: Retimed) -> None:
    before = retime(arm, run.law.path, MotionLimits(velocity=np.inf, torque=0.8 * TORQUES),
                    intervals=40)
    again = replan(before, 0.5 * before.duration, ARM_LIMITS)
    assert_goes_on(before, 0.5 * before.duration, again, MOTION)
    at = again.at(np.linspace(0.0, again.duration, 501))
    assert (np.abs(at.torque_rate) <= 20.0 * TORQUES * (1.0 + 1e-5)).all()


def test_a_loop_in_another_assembly_is_planned_again_with_its_force() -> None:
    machine = ld.load(config_file('five_bar.yaml'))
    path = LoopPath(machine, [[0.3, 2.0], [0.8, 2.4], [0.6, 1.8]],
                    assembly=[0.3, -1.0, 2.0, 1.0])
    before = retime(machine, path, MotionLimits(
        torque=dict.fromkeys(path.measured, 12.0), torque_rate=dict.fromkeys(path.measured, 200.0),
        closures=[ClosureLimits('tip', -40.0, 40.0, along='force_x')]), intervals=20)
    instant = 0.6 * before.duration
    again = replan(before, instant)
    assert_goes_on(before, instant, again, (*MOTION, 'torque_rate'))
    assert again.duration <= (before.duration - instant) * (1.0 + 1e-9)
