# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A run that is scaled while it runs keeps its path and its limits, and stops where it must."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.polynomial import Polynomial
import pytest
from support.comparison import assert_same
from support.refusals import ANY, refused

from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder, pose, SpatialInertia
from liedyn_ros.retiming import (
    MotionLimits, OnlineScaling, retime, Retimed, RetimedSamples, ScaledInstant, ScalingStatus,
    speed_for_lag, SplinePath)
from liedyn_ros.retiming.online.kernels import scaling as kernels

TORQUE = np.array([15.0, 30.0, 8.0])
RATE = 15.0 * TORQUE
CYCLE = 1e-3
CLOSE = 5e-3  # of a limit: between the samples of a scaling
ALL_CYCLES = 20000


@cache
def planned(rates: bool = True) -> Retimed:
    """Return a run of an arm with viscous friction."""
    builder, parent = ModelBuilder('arm'), None
    for name, axis, mass in (('turn', 'z', 4.0), ('shoulder', 'y', 3.0), ('elbow', 'y', 1.5)):
        builder.add_body(name + '_link', SpatialInertia(mass, [0, 0, 0.2], 0.02 * np.eye(3)))
        builder.add_joint(name, 'revolute', parent, name + '_link', damping=0.2,
                          axis=[0, float(axis == 'y'), float(axis == 'z')],
                          placement=pose([0.0, 0.0, 0.0 if parent is None else 0.4]))
        parent = name + '_link'
    arm = Dynamics(builder.build())
    path = SplinePath(arm.model, [[0.0, 0.4, 0.8], [0.5, 0.9, 0.3], [1.0, 0.6, 1.0],
                                  [1.4, 0.2, 0.6], [1.9, 0.5, 0.9], [2.4, 1.0, 0.5]])
    return retime(arm, path, lowered(1.0) if rates else MotionLimits(
        torque=TORQUE, velocity=3.0, power=40.0))


def lowered(share: float) -> MotionLimits:
    """Return the limits at a share of the plan's."""
    return MotionLimits(torque=share * TORQUE, torque_rate=share * RATE)


def passed(run: Retimed, speed: Callable[[int], float] = lambda k: 1.0,
           limits: dict[int, MotionLimits] | None = None, cycles: int = ALL_CYCLES
           ) -> tuple[list[ScaledInstant], RetimedSamples]:
    """Return the instants of a scaled run, and its motion by the dynamics, up to its end."""
    scaling, instants = OnlineScaling(run), []
    for k in range(cycles):
        if limits and k in limits:
            scaling.use(limits[k])
        instants.append(scaling.step(CYCLE, speed(k)))
        if instants[-1].status is ScalingStatus.ENDED:
            break
    return instants, scaling.samples(instants, CYCLE * np.arange(1, len(instants) + 1))


def most(at: RetimedSamples) -> float:
    """Return the largest part of a limit of the plan that a motion uses."""
    return float(max((np.abs(at.torque) / TORQUE).max(), (np.abs(at.torque_rate) / RATE).max()))


@pytest.mark.parametrize('rates', [True, False])
def test_the_plan_is_followed_where_nothing_lags(rates: bool) -> None:
    run = planned(rates)
    instants, at = passed(run)
    assert {each.status for each in instants[:-1]} == {ScalingStatus.FOLLOWS}
    wanted = run.at(at.t[:-1])
    for name in ('q', 'v', 'a', 'torque', 'path_speed'):
        assert_same(getattr(at, name)[:-1], getattr(wanted, name), 1e-8)
    assert_same(at.q[-1], run.at([run.duration]).q[0], 1e-9)


SPEEDS: dict[str, Callable[[int], float]] = {
    'slower for a while': lambda k: 0.5 if 300 < k < 900 else 1.0,
    'stop and go': lambda k: 0.0 if 200 < k < 2200 else 1.0,
    'always another': lambda k: 0.8 + 0.2 * np.sin(0.01 * k)}


@pytest.mark.parametrize('name', SPEEDS)
def test_limits_hold_and_derivatives_fit_at_any_speed(name: str) -> None:
    run = planned()
    instants, at = passed(run, SPEEDS[name])
    assert instants[-1].status is ScalingStatus.ENDED
    assert ScalingStatus.EXCEEDS not in {each.status for each in instants}
    assert most(at) < 1.0 + CLOSE
    assert len(instants) * CYCLE > 1.05 * run.duration
    # The path is never left: v, a are differences of q, v of neighbours, to the jumps of jerk.
    assert_same((at.q[2:-1] - at.q[:-3]) / (2.0 * CYCLE), at.v[1:-2], 2e-3)
    assert_same((at.v[2:-1] - at.v[:-3]) / (2.0 * CYCLE), at.a[1:-2], 2e-2)
    assert_same(at.q, run.law.path(at.s).q, 1e-12)


def test_limits_hold_between_few_intervals_too() -> None:
    fine = planned()
    run = retime(fine.dynamics, fine.law.path, lowered(1.0), intervals=10)
    for name, speed in SPEEDS.items():
        instants, at = passed(run, speed)
        assert (name, instants[-1].status) == (name, ScalingStatus.ENDED)
        assert most(at) < 1.0 + CLOSE


@pytest.mark.parametrize('begin', [100, 400, 700])
def test_lower_limits_are_kept_from_where_they_can_be(begin: int) -> None:
    run = planned()
    instants, at = passed(run, limits={begin: lowered(0.85)})
    assert instants[-1].status is ScalingStatus.ENDED
    exceeding = [k for k, each in enumerate(instants) if each.status is ScalingStatus.EXCEEDS]
    kept = slice(max(exceeding, default=begin) + 1, None)
    rest = RetimedSamples(*(each[kept] for each in at))
    assert most(rest) < 0.85 * (1.0 + CLOSE)
    assert all(instants[k].held_by is not None for k in exceeding)
    assert most(at) < 1.0 + CLOSE  # what was planned, before
    assert len(exceeding) < 0.3 * len(instants)


def test_a_stop_ends_at_rest_on_the_path_and_says_so() -> None:
    run = planned()
    for begin in (50, 400, 800, 1200):
        instants, at = passed(run, lambda k: float(k < begin), cycles=3000)
        assert instants[-1].status in (ScalingStatus.STANDS, ScalingStatus.ENDED)
        assert_same(at.v[-1], np.zeros(3), 1e-9, floor=1.0)
        assert most(at) < 1.0 + CLOSE
        standing = [each.planned_time for each in instants
                    if each.status is ScalingStatus.STANDS]
        assert len(set(standing)) <= 1


def test_a_path_that_motors_cannot_hold_any_more_is_not_run_on() -> None:
    run = planned()
    instants, _ = passed(run, limits={300: lowered(0.3)}, cycles=4000)
    assert instants[-1].status is ScalingStatus.STANDS
    assert instants[-1].held_by == ('torque', 'shoulder')
    again, at = passed(run, limits={300: lowered(0.3), 2500: lowered(1.0)})
    assert again[2499].status is ScalingStatus.STANDS
    assert again[-1].status is ScalingStatus.ENDED
    assert_same(at.q[-1], run.at([run.duration]).q[0], 1e-9)


def test_a_slow_plan_stops_at_once_though_cycles_are_short() -> None:
    fast = planned()
    run = retime(fast.dynamics, fast.law.path, MotionLimits(
        velocity=0.1, acceleration=0.02, jerk=0.01))
    scaling, instants = OnlineScaling(run), []
    for k in range(int(0.4 * run.duration / CYCLE)):
        instants.append(scaling.step(CYCLE, float(k < 10000)))
        if instants[-1].status is ScalingStatus.STANDS:
            break
    assert instants[-1].status is ScalingStatus.STANDS
    assert instants[-1].planned_time < 0.3 * run.duration
    at = scaling.samples(instants[10000::20], np.arange(10000.0, len(instants), 20.0) * CYCLE)
    for values, limit in ((at.v, 0.1), (at.a, 0.02), (at.jerk, 0.01)):
        assert np.abs(values).max() < limit * (1.0 + CLOSE)


def test_limits_that_change_each_cycle_cost_little_more_than_the_plan() -> None:
    rng = np.random.default_rng(1)
    shares = rng.uniform(0.7, 1.3, ALL_CYCLES)
    _, at = passed(planned(), limits={k: lowered(each) for k, each in enumerate(shares)})
    held = shares[:len(at.t), None]
    assert np.abs(at.torque / TORQUE / held).max() < 1.01 / 0.7
    assert np.abs(at.torque_rate / RATE / held).max() < 1.8  # 2.4 where old limits judge


def test_limits_of_almost_nothing_and_of_any_size_leave_numbers() -> None:
    for size in (5e-324, 1e-200, 1e300, np.inf):
        gone = MotionLimits(torque=size, torque_rate=size)
        instants, _ = passed(planned(), limits={300: gone, 301: lowered(1.0), 302: gone},
                             cycles=1000)
        assert np.isfinite([(*each.share, *each.place, each.used, each.expected)
                            for each in instants]).all()
        assert min(each.share[0] for each in instants) > -1e-6
        assert (instants[-1].status is ScalingStatus.EXCEEDS) == (size < 1.0)


def test_after_the_end_the_machine_is_at_rest_there() -> None:
    scaling = OnlineScaling(planned(rates=False))  # whose acceleration jumps at the end
    instants, _ = passed(scaling.run)
    scaling.step(10.0)
    after = scaling.step(CYCLE, 0.5)
    at = scaling.samples([after], np.zeros(1))
    assert after.status is ScalingStatus.ENDED and after.place[0] == instants[-1].place[0]
    assert not at.v.any() and not at.a.any()


def test_the_used_part_is_that_of_the_margins() -> None:
    run = planned()
    scaling = OnlineScaling(run)
    raised, plan = np.ones(len(scaling._rows)), scaling._plan
    for level in (0.3, 0.7, 1.0):
        wanted = max(run.margins.within(rows, run.grid, level**2 * run.unknowns)[:, ::5].max()
                     for rows in (run.margins.states, run.margins.rates))
        assert_same(kernels.level_used(plan, raised, 0.0, level, np.inf)[0], wanted, 1e-12)


def test_a_cubic_is_the_one_of_its_ends() -> None:
    share, rate, level, duration = 0.7, -0.4, 0.2, 0.6
    rows = [[0.0**k for k in range(4)], [0, 1, 0, 0], [duration**k for k in range(4)],
            [k * duration**max(k - 1, 0) for k in range(4)]]
    of = Polynomial(np.linalg.solve(rows, [share, rate, level, 0.0]))
    for t in (0.0, 0.1, 0.45, 0.5999):
        found = kernels.cubic_share(t, share, rate, level, duration)
        assert_same(found, [of.integ()(t), of(t), of.deriv()(t), of.deriv(2)(t)], 1e-12)
    assert_same(kernels.cubic_share(0.7, share, rate, level, duration),
                [of.integ()(duration) + 0.1 * level, level, 0.0, 0.0], 1e-12)


def test_a_copied_state_goes_on_as_the_first() -> None:
    one, other = OnlineScaling(planned()), OnlineScaling(planned())
    for _ in range(500):
        one.step(CYCLE, 0.6)
    other.state[:] = one.state
    assert [one.step(CYCLE, 0.9) for _ in range(100)] == [
        other.step(CYCLE, 0.9) for _ in range(100)]
    one.reset()
    assert one.step(CYCLE) == OnlineScaling(planned()).step(CYCLE)


def test_a_machine_that_lags_is_waited_for() -> None:
    assert [speed_for_lag(lag, 0.01, 0.05) for lag in (0.0, -0.01, 0.03, 0.05, 1.0)] == \
        pytest.approx([1.0, 1.0, 0.5, 0.0, 0.0])
    for bad in ((np.nan, 0.0, 1.0), (0.0, 1.0, 1.0), (0.0, -1.0, 1.0), (0.0, 0.0, np.inf)):
        with refused(LimitError, 'lag'):
            speed_for_lag(*bad)


@pytest.mark.parametrize(('cycle', 'speed', 'name'), [
    (CYCLE, -0.1, 'speed'), (CYCLE, 1.1, 'speed'), (CYCLE, np.nan, 'speed'),
    (0.0, 1.0, 'cycle'), (np.inf, 1.0, 'cycle'), (np.nan, 1.0, 'cycle')])
def test_bad_steps_are_refused(cycle: float, speed: float, name: str) -> None:
    with refused(LiedynError, name):
        OnlineScaling(planned()).step(cycle, speed)


@pytest.mark.parametrize('limits', [
    MotionLimits(torque=TORQUE, torque_rate=RATE, velocity=1.0),
    MotionLimits(torque=TORQUE, torque_rate=RATE, torque_per_speed=1.0)])
def test_limits_that_the_plan_has_not_are_refused(limits: MotionLimits) -> None:
    with refused(LimitError, ANY, got=1):
        OnlineScaling(planned()).use(limits)
