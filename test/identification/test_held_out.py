# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parts that a fit did not see: of a motion that repeats, the same share of every repeat."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm, t as student
from support.comparison import assert_same
from support.recordings.recorded_motion import (
    angles, arm_motion, coloured, PERIOD, true_arm)

from liedyn_ros.commands.identification.report import findings
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification import identify, Recording
from liedyn_ros.identification.equations import equations_of
from liedyn_ros.identification.estimate import Estimate, given_unknowns
from liedyn_ros.identification.held_out import parts_of, period_of, Trial
from liedyn_ros.identification.joints import LOAD
from liedyn_ros.identification.joints.friction import with_friction
from liedyn_ros.identification.motion.motion import motion_of
from liedyn_ros.identification.robust_fit import robust_fit, RobustFit
from liedyn_ros.model import ModelBuilder, SpatialInertia, with_inertias

PARTS = 5
STEP = 0.09  # s, which no period is a multiple of
RATE = 100.0  # Hz


@pytest.mark.parametrize('noise', (0.0, 0.05))
@pytest.mark.parametrize('seconds, expected', (
    (30.0, PERIOD), (19.0, PERIOD), (11.0, np.inf), (10.0, np.inf)))
def test_a_period_is_found_to_a_step(noise: float, seconds: float, expected: float) -> None:
    """Friction jumps, samples are lacking, and less than a part of a repeat is none."""
    rng, time = np.random.default_rng(1), np.arange(0.0, seconds, STEP)
    time = time[np.abs(time - 5.0) > 0.5]
    q, v, _ = angles(rng, 3)(time)
    forces = q + 0.3 * np.sign(v) + noise * rng.normal(size=q.shape)
    found = period_of(time, forces, STEP, PARTS)
    assert found == expected or abs(found - expected) < STEP


def test_a_motion_of_incommensurable_sines_has_no_period() -> None:
    rng, time = np.random.default_rng(2), np.arange(0.0, 30.0, STEP)
    forces = np.sin(time[:, None, None] * rng.uniform(0.3, 3.0, (8, 4)) + rng.uniform(
        0.0, 6.0, (8, 4))).sum(axis=1)
    assert period_of(time, forces, STEP, PARTS) == np.inf


@pytest.mark.parametrize('starts', ((0.0,), (0.0, 35.0)))
def test_all_repeats_of_a_phase_are_held_out_together(starts) -> None:
    """Of each of two recordings, and a gap beside each piece too, also from repeat to repeat."""
    model = true_arm()
    time, q, _, _, tau = arm_motion(model, 5, 32.0, RATE)
    tau += 0.01 * np.abs(tau).max(axis=0) * np.random.default_rng(3).normal(size=tau.shape)
    count = len(starts)
    recording = Recording(model, np.concatenate([time + start for start in starts]),
                          np.tile(q, (count, 1)), np.tile(tau, (count, 1)), starts=starts)
    equations = equations_of(model, motion_of(model, recording))
    parts = parts_of(equations, robust_fit(equations.rows, equations.forces), recording.starts,
                     PARTS)
    clock = equations.time
    held = np.array([parts.held(clock, part) for part in range(PARTS)])
    assert (held.sum(axis=0) == 1).all()
    for part, rows in enumerate(held):
        for recorded in range(count):
            own = clock[rows & (parts.recording(clock) == recorded)]
            assert np.ptp(own) > PERIOD  # pieces in several repeats
        seen = clock[parts.seen(clock, part)] - equations.time[0]
        if count == 1:  # a period is found to less than a step
            apart = np.mod(seen[:, None] - clock[rows] + equations.time[0], PERIOD)
            assert np.minimum(apart, PERIOD - apart).min() > parts.gap - np.diff(clock).min()


def small_motion():
    """Return an arm, a model of links off by a quarter, and three periods of a small motion."""
    rng, builder, parent = np.random.default_rng(0), ModelBuilder('arm'), None
    for k, axis in enumerate(np.eye(3)[[2, 1, 2, 1]]):
        builder.add_body(f'link_{k}', SpatialInertia(
            2.5 - 0.4 * k, [0.02, 0.01 * k, 0.12], np.diag([0.03, 0.02, 0.01])))
        place = np.eye(4)
        place[2, 3] = 0.25 if parent else 0.0
        builder.add_joint(f'joint_{k}', 'revolute', parent, f'link_{k}', axis=axis,
                          placement=place, damping=0.8, friction=0.8,
                          limits={'lower': -2.5, 'upper': 2.5})
        parent = f'link_{k}'
    true = builder.build()
    given = with_inertias(true, {
        body.name: SpatialInertia(
            factor * body.inertia.mass, body.inertia.center_of_mass + 6e-3 * rng.normal(size=3),
            factor * body.inertia.inertia_about_com).parameters()
        for body, factor in zip(true.body_list, (1.1, 1.2, 1.05, 1.22))})
    time = np.arange(0.0, 3.0 * PERIOD, 1.0 / RATE)
    q, v, a = angles(np.random.default_rng(1), true.nv, 0.15, 5)(time)
    tau = Dynamics(true).inverse.batch(q, v, a)
    tau += 0.15 * np.sign(v) * (np.exp(-10.0 * np.abs(v)) + 0.3 * np.abs(tau))  # lacking
    return true, given, Recording(given, time, q, tau + 0.2 * rng.normal(size=tau.shape))


@pytest.mark.full
def test_repeats_of_a_small_motion_leave_the_bodies_that_it_does_not_tell() -> None:
    """Gravity at other poses is better, and the verdict says what the motion covered."""
    true, given, recording = small_motion()
    found = identify(given, recording, sure=True)
    assert any('joint_1' in each for each in found.verdict.reasons[2:3])
    q = np.random.default_rng(2).uniform(-1.5, 1.5, (300, true.nv))
    still = np.zeros_like(q)
    exact, *others = (Dynamics(each).inverse.batch(q, still, still)
                      for each in (true, given, found.model))
    before, after = (np.sqrt(np.mean((each - exact)**2)) for each in others)
    assert after < 0.3 * before
    for body in found.model.body_list:
        assert 0.5 < body.inertia.mass / given.body(body.name).inertia.mass < 2.0


@pytest.mark.parametrize('pull', np.linspace(-6.0, 6.0, 13))
@pytest.mark.parametrize('lean', (0.0, 0.5, 1.0))
def test_an_interval_counts_what_pulls_a_value(pull: float, lean: float) -> None:
    """Of noise z in the plain value, the pull is a constant, and as much of -z as it leans."""
    z = norm.ppf((np.arange(2000) + 0.5) / 2000)
    plain = RobustFit(z, np.eye(len(z)), np.ones(1), np.ones(1), np.ones((1, 1)),
                      np.zeros((len(z), 0)))
    found = Estimate(plain, z + pull - lean * z, {}, np.empty(0), np.empty(0))
    assert np.mean(np.abs(found.consistent) < norm.ppf(0.975) * found.deviations) >= 0.95


@pytest.mark.full
@pytest.mark.parametrize('share, first', ((1.0, False), (0.03, True)))
def test_the_next_step_is_a_term_or_other_poses_whichever_gains_more(share, first) -> None:
    """Friction is Stribeck's too, and the shoulder moves over a third or a hundredth of it all."""
    pytest.importorskip('clarabel')
    model, time = true_arm(), np.arange(0.0, 24.0, 0.005)
    q, v, a = angles(np.random.default_rng(1), 3)(time)
    moved = np.array([1.0, share, 1.0])
    q, v, a = q.mean(axis=0) + (q - q.mean(axis=0)) * moved, v * moved, a * moved
    tau = Dynamics(model).inverse.batch(q, v, a) + [0.4, 0.9, 0.3] * np.sign(v) * np.exp(
        -(v / [0.05, 0.1, 0.2])**2)
    tau += 0.02 * coloured(np.random.default_rng(3), tau.shape, 0.9)
    wrong = with_inertias(model, {
        body.name: 1.3 * body.inertia.parameters() for body in model.body_list})
    result = identify(wrong, Recording(model, time, q, tau), rotor_inertia=False, prior=0.1,
                      smoothing=5.0, cutoff=4.0)
    assert result.missing == ('stribeck',) and result.moves_first is first
    step = findings(result, None, '').next_step
    assert step.startswith('record again') if first else '--friction' in step


def test_scatter_is_the_jackknife_of_fits_without_a_part() -> None:
    """As computed for the mean of two rows by hand."""
    trial = Trial.__new__(Trial)
    said = np.array([1.0, 2.0, 6.0])
    trial._fits = [SimpleNamespace(at=lambda weight, x=x: SimpleNamespace(
        consistent=np.array([x]))) for x in said]
    rows = np.array([[[1.0], [0.0]], [[3.0], [2.0]]])
    deviation = np.sqrt(2.0 / 3.0 * ((said - 3.0)**2).sum())
    assert_same(trial.scatter(rows, 1.0), deviation * np.sqrt([5.0, 2.0]))


def test_scatter_counts_by_how_much_a_missing_term_moves_unknowns() -> None:
    """Of friction by load; what else moves less is the scatter of fits that each lack a part."""
    model = true_arm()
    time, q, v, _, tau = arm_motion(model, 5, 24.0, RATE)
    tau += 0.1 * np.abs(tau) * np.sign(v)
    tau += 0.01 * np.abs(tau).max(axis=0) * np.random.default_rng(3).normal(size=tau.shape)
    motion = motion_of(model, Recording(model, time, q, tau))
    equations = equations_of(model, motion)
    parts = parts_of(equations, robust_fit(equations.rows, equations.forces), time[:1], PARTS)
    trial = Trial(model, equations, parts)
    wider = with_friction(model, motion, equations, (LOAD,), {})
    seen = [parts.seen(equations.time, part) for part in range(PARTS)]
    means = [np.mean([robust_fit(each.rows[some], each.forces[some]).x for some in seen], axis=0)
             for each in (equations, wider)]
    moved = np.abs(means[1][:len(means[0])] - means[0])
    found = trial.scatter_with([trial.of(wider)])
    assert_same(trial.scatter_with([]), trial.jackknife())
    assert_same(found, np.hypot(moved, trial.jackknife()))
    inertial = slice(equations.base.rank)
    assert (moved > trial.jackknife())[inertial].any()
    error = np.abs(means[0] - given_unknowns(model, equations))[inertial]
    assert (error < student.ppf(0.975, PARTS - 1) * found[inertial]).all()
