# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Paths through singularities: a plain tracker is fooled, the guard says so where it happens.

The true sign of the determinant (numpy's) and the true pose are the witnesses.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from support.platforms.stewart_motion import Crossing, CROSSINGS, FIRST_NS, pose_of

from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, length_jacobian, LevenbergMarquardt, MonitorConfig, MonitoredTracker,
    PoseSolver, PoseTracker, SmoothTrajectory, Status)
from liedyn_ros.stewart.platform.kernels.state import STATE_SIZE
from liedyn_ros.stewart.platform.state import PlatformMeter, PlatformState
from liedyn_ros.stewart.tracking.branch.kernels import branch as kernels
from liedyn_ros.stewart.tracking.branch.monitor import Branch, BranchMonitor
from liedyn_ros.stewart.tracking.sensor_monitor import OrientationSensor
from liedyn_ros.stewart.tracking.tracker import SampleGate
from liedyn_ros.stewart.tracking.two_branch_tracker import TwoBranchTracker

WRONG = 0.03  # rad or m: no noise in these tests moves a pose as far


class Guard(BranchMonitor):
    """A branch monitor without a tracker: one call for a pose, one for a time without."""

    def judge(self, stamp_ns, state, noise):
        """Return the branch of a pose, by its state and the lengths' noise over their size."""
        return Branch(*kernels.judge_branch(
            self.buffer, stamp_ns, state.signed_value, state.slope, noise, 0.0))

    def predict(self, stamp_ns):
        """Predict the motion to a time."""
        kernels.predict_branch(self.buffer, stamp_ns)


def guarded(geometry, crossing, noise):
    """Return poses and the guard's judgements of a solver that starts from the pose before."""
    solver, meter = PoseSolver(geometry), PlatformMeter(geometry)
    guard, noise = Guard(), noise / geometry.characteristic_length
    pose, poses, judged = crossing.poses[0], {}, {}
    for k, stamp_ns, lengths in crossing.samples():
        values = np.empty(STATE_SIZE)
        solution = solver.solve(lengths, pose, values)
        if not solution.converged:
            guard.predict(stamp_ns)
            continue
        pose = poses[k] = solution.pose
        judged[k] = guard.judge(stamp_ns, PlatformState(meter, pose, values), noise)
    return poses, judged


ACROSS = {('screw', 0.0): pytest.mark.xfail(
    strict=True, reason='a sample lies so that Newton from exact lengths gets across')}


@pytest.mark.parametrize(('name', 'noise'), [
    pytest.param(name, noise, marks=ACROSS.get((name, noise), ()))
    for name in CROSSINGS for noise in (0.0, 1e-6, 1e-5)])
def test_newton_from_the_pose_before_bounces_and_the_guard_tells_where(geometry, name, noise):
    crossing = Crossing(geometry, name, 2.0, noise)
    poses, judged = guarded(geometry, crossing, noise)
    pose = poses[len(crossing) - 1]
    assert crossing.error(-1, pose) > WRONG, 'the plain solver was to be fooled'
    lengths = leg_lengths(geometry, pose)
    assert np.abs(lengths - crossing.lengths[-1]).max() < 1e-12, 'with a perfect residual'
    assert judged[len(crossing) - 1].wrong
    for k in (0, len(crossing) - 1):
        determinant = np.linalg.det(length_jacobian(geometry, crossing.poses[k]))
        assert judged[k].expected_sign == np.sign(determinant)
    before = min(judged[0].expected_sign, 0)
    found = next(k for k, branch in judged.items() if branch.expected_sign != before)
    assert crossing.share_of_path(found) < 0.01
    first_wrong = next(k for k, branch in judged.items() if branch.wrong)
    assert crossing.share_of_path(first_wrong) < 0.01


def test_the_gap_is_the_distance_from_the_true_pose(geometry):
    crossing = Crossing(geometry, 'turn', 2.0, 0.0)
    poses, judged = guarded(geometry, crossing, 0.0)
    for k in range(crossing.index + 1, crossing.index + 10):
        between = se3.log(se3.compose(se3.inverse(crossing.poses[k]), poses[k]))
        between[3:] /= geometry.characteristic_length
        assert abs(judged[k].prediction_gap) == pytest.approx(np.linalg.norm(between), rel=0.02)


@pytest.mark.whole
@pytest.mark.parametrize('noise', [1e-6, 5e-5])
@pytest.mark.parametrize('name', CROSSINGS)
@pytest.mark.parametrize(('hold', 'most'), [(False, np.inf), (True, 1e-2)])  # m, at the end
def test_tracking_through_a_singularity(geometry, name, noise, hold, most):
    crossing = Crossing(geometry, name, 2.0, noise)
    tracker = MonitoredTracker(geometry, crossing.poses[0],
                               config=MonitorConfig(leg_noise=noise, hold_hypotheses=hold))
    told = Flag.BRANCH_UNSURE | Flag.BRANCH_WRONG
    crossed, untold = [], {}
    for k, stamp_ns, lengths in crossing.samples():
        safe = tracker.track(stamp_ns, lengths)
        if Flag.BRANCH_CROSSED in safe.flags:
            crossed.append(k)
        if safe.converged and not safe.flags & told:
            untold[k] = safe.pose
    assert len(crossed) == 1 and crossing.share_of_path(crossed[0]) < 0.01
    errors = crossing.error(list(untold), np.array(list(untold.values())))
    assert errors.size and errors.max() <= WRONG, 'no wrong pose without a flag'
    assert crossing.error(len(crossing) - 1, safe.pose) < most


@pytest.mark.parametrize('name', CROSSINGS)
def test_noise_of_a_micrometre_fools_the_plain_tracker_and_not_the_monitored_one(geometry, name):
    fooled = 0
    for seed in range(5):
        crossing = Crossing(geometry, name, 1.0, 1e-6, seed)
        last, begin = len(crossing) - 1, crossing.poses[0]
        plain = PoseTracker(geometry, begin)
        safe = MonitoredTracker(
            geometry, begin, config=MonitorConfig(leg_noise=1e-6, hold_hypotheses=True))
        for _, stamp_ns, lengths in crossing.samples():
            tracked, monitored = plain.track(stamp_ns, lengths), safe.track(stamp_ns, lengths)
        assert tracked.converged and tracked.residual < 1e-12
        fooled += crossing.error(last, tracked.pose) > WRONG
        assert crossing.error(last, monitored.pose) < 1e-3
        assert not monitored.flags
    assert fooled > 0


def test_warned_before(geometry):
    crossing = Crossing(geometry, 'turn', 4.0, 1e-6)
    tracker = MonitoredTracker(geometry, crossing.poses[0], config=MonitorConfig(leg_noise=1e-6))
    first, both = {}, Flag.APPROACHING_SINGULARITY | Flag.NEAR_SINGULARITY
    for k, stamp_ns, lengths in crossing.samples():
        safe = tracker.track(stamp_ns, lengths)
        for flag in (each for each in Flag if each & safe.flags):
            first.setdefault(flag, (k, safe.time_to_singularity))
        assert safe.flags & both != both
    begun, seconds = first[Flag.APPROACHING_SINGULARITY]
    near, _ = first[Flag.NEAR_SINGULARITY]
    assert begun < near < first[Flag.BRANCH_UNSURE][0] < first[Flag.BRANCH_CROSSED][0]
    assert near - begun == pytest.approx(1000.0 * seconds, rel=0.25)


@pytest.mark.parametrize('lean', [1.2, 1.45])
def test_turning_back_before_a_singularity_is_no_crossing(geometry, home, lean):
    meter, times = PlatformMeter(geometry), np.arange(0.0, 2.0, 1e-3)
    tracker = MonitoredTracker(
        geometry, home, config=MonitorConfig(leg_noise=1e-6, hold_hypotheses=True))
    twists = np.zeros((len(times), 6))
    twists[:, :2], twists[:, 2] = (0.05, 0.02), lean * np.sin(0.5 * np.pi * times)
    poses = se3.compose(home, se3.exp(twists))
    said = [tracker.track(FIRST_NS + k * 1_000_000, lengths)
            for k, lengths in enumerate(leg_lengths(geometry, poses))]
    refused = Flag.BRANCH_CROSSED | Flag.BRANCH_WRONG | Flag.RESTARTED
    assert not any(safe.flags & refused for safe in said)
    assert np.abs(np.array([safe.pose for safe in said]) - poses).max() < 1e-6
    assert meter.measure(home).determinant_sign == said[-1].state.determinant_sign


STOP = np.concatenate((
    np.sin(np.linspace(0.0, 0.5 * np.pi, 1501)) ** 2, np.ones(1000),
    np.cos(np.linspace(0.0, 0.5 * np.pi, 1501)) ** 2))  # into a singularity, a second, and back


def excursion(geometry, shares, noise, sensor=None, chosen=slice(None)):
    """Return true poses, a tracker, what it says at chosen shares of the way to a singularity."""
    start, displacement = CROSSINGS['tilt']
    far = Crossing(geometry, 'tilt', 2.0, 0.0)
    shares = shares * far.arc[far.index] / far.arc[-1]
    poses = se3.compose(start, se3.exp(shares[:, None] * displacement))
    rng = np.random.default_rng(2)
    lengths = leg_lengths(geometry, poses) + noise * rng.normal(size=(len(shares), 6))
    wobble = se3.exp(0.01 * rng.normal(size=(len(shares), 6)) * [1, 1, 1, 0, 0, 0])
    poses, lengths, wobble = poses[chosen], lengths[chosen], wobble[chosen]
    tracker = MonitoredTracker(geometry, start, config=MonitorConfig(
        leg_noise=noise, hold_hypotheses=True, sensor=sensor))
    return poses, tracker, [tracker.track(
        FIRST_NS + k * 1_000_000, lengths[k],
        reading=poses[k, :3, :3] @ wobble[k, :3, :3] if sensor and k % 5 == 0 else None)
        for k in range(len(poses))]


@pytest.mark.parametrize('depth', [0.999, 1.0, 1.01])
def test_a_turn_in_the_noise_of_a_singularity_is_known(geometry, depth):
    shares = depth * np.sin(np.linspace(0.0, np.pi, 6001)) ** 2
    poses, _, said = excursion(geometry, shares, 1e-5, chosen=slice(1000, 5001))
    assert Flag.BRANCH_UNSURE in said[2000].flags, 'while it is in the noise'
    assert not said[-1].flags and np.abs(said[-1].pose - poses[-1]).max() < 1e-3
    sure = [k for k, safe in enumerate(said) if not safe.flags & Flag.BRANCH_UNSURE]
    assert np.abs(np.array([said[k].pose for k in sure]) - poses[sure]).max() <= 0.05


@pytest.fixture(scope='module')
def stopped(geometry):
    """Return what an excursion does that stops in a singularity."""
    return excursion(geometry, STOP, 5e-5)


def test_a_stop_in_a_singularity_leaves_doubt(stopped):
    poses, _, said = stopped
    assert Flag.BRANCH_UNSURE in said[-1].flags and said[-1].other is not None
    crossed = sum(Flag.BRANCH_CROSSED in safe.flags for safe in said)
    assert crossed <= 2, 'told, and not again and again'
    candidates = (np.abs(pose - poses[-1]).max()
                  for pose in (said[-1].pose, said[-1].other))
    assert min(candidates) < 1e-2, 'the true pose is one of the two that were held'


@pytest.mark.parametrize('noise', [0.0, 1e-5, 1e-4])
@pytest.mark.parametrize('rates', [False, True])
def test_no_alarm_in_the_good_workspace(geometry, home, noise, rates):
    rng = np.random.default_rng(4)
    motion = SmoothTrajectory(
        home, amplitudes=[0.2, 0.2, 0.3, 0.06, 0.06, 0.06],
        frequencies=[0.23, 0.31, 0.17, 0.29, 0.19, 0.37], phases=rng.uniform(0.0, 6.0, 6))
    times = np.arange(0.0, 6.0, 2e-3)
    exact = leg_lengths(geometry, motion.pose(times))
    lengths = exact + noise * rng.normal(size=exact.shape)
    speeds = np.gradient(exact, 2e-3, axis=0)
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(leg_noise=noise))
    for k in range(len(times)):
        safe = tracker.track(FIRST_NS + k * 2_000_000, lengths[k], speeds[k] if rates else None)
        assert not safe.flags and not safe.legs


def test_an_orientation_resolves_what_the_motion_leaves_open(geometry):
    poses, _, said = excursion(geometry, STOP, 5e-5, OrientationSensor(0.02))
    assert any(Flag.BRANCH_UNSURE in safe.flags for safe in said)
    assert not said[-1].flags and said[-1].other is None
    assert np.abs(said[-1].pose - poses[-1]).max() < 1e-2


def test_the_motion_is_followed_over_a_gap_at_the_singularity(geometry):
    """Its pose is that of the motion before, which need not have gone on: that is said."""
    crossing = Crossing(geometry, 'tilt', 5.0, 1e-5)
    tracker = MonitoredTracker(geometry, crossing.poses[0], config=MonitorConfig(
        leg_noise=1e-5, hold_hypotheses=True))
    crossed = 0
    for k, stamp_ns, lengths in crossing.samples():
        if abs(k - crossing.index) > 150:
            safe = tracker.track(stamp_ns, lengths)
            crossed += Flag.BRANCH_CROSSED in safe.flags
    assert crossed == 1 and safe.flags == Flag.BRANCH_UNSURE and 'gap' in safe.branch_reason
    assert crossing.error(-1, safe.pose) < 1e-3


@pytest.mark.parametrize('hold', [False, True])
@pytest.mark.parametrize('gap', [1.0, 5.0, 60.0])
@pytest.mark.parametrize('amplitude', [0.0, 0.02])
def test_a_gap_in_the_good_workspace_is_no_crossing(geometry, home, amplitude, gap, hold):
    motion = SmoothTrajectory(
        home, amplitudes=[amplitude] * 6, frequencies=[0.07, 0.11, 0.09, 0.13, 0.1, 0.08],
        phases=[0.0] * 6, rise_time=1.0)
    times = np.arange(0.0, 6.0, 0.01)
    times[300:] += gap
    poses = motion.pose(times)
    lengths = leg_lengths(geometry, poses)
    lengths += 1e-5 * np.random.default_rng(5).normal(size=lengths.shape)
    tracker = MonitoredTracker(
        geometry, home, config=MonitorConfig(leg_noise=1e-5, hold_hypotheses=hold))
    said = [tracker.track(FIRST_NS + round(1e9 * time), measured)
            for time, measured in zip(times, lengths)]
    assert not any(safe.flags for safe in said)
    assert np.abs(np.array([safe.pose for safe in said]) - poses).max() < 1e-3


@pytest.mark.parametrize('hold', [False, True])
@pytest.mark.parametrize('samples', [40, 80, 150])
def test_whether_the_platform_crossed_in_a_gap_is_not_known(geometry, samples, hold):
    crossing = Crossing(geometry, 'tilt', 10.0, 1e-5, rate=100)
    tracker = MonitoredTracker(geometry, crossing.poses[0], config=MonitorConfig(
        leg_noise=1e-5, hold_hypotheses=hold))
    outside = [each for each in crossing.samples() if abs(each[0] - crossing.index) > samples]
    for k, stamp_ns, lengths in outside:
        safe = tracker.track(stamp_ns, lengths)
        assert (Flag.BRANCH_UNSURE in safe.flags) == (k > crossing.index)


def test_the_reading_after_a_gap_counts_once(geometry):
    crossing, meter = Crossing(geometry, 'tilt', 5.0, 1e-5), PlatformMeter(geometry)
    gone_on, new = (Guard() for _ in range(2))
    gone_on.judge(FIRST_NS - 10 ** 9, meter.measure(crossing.poses[0]), 1e-5)
    for pose, (_, stamp_ns, _) in zip(crossing.poses[:20], crossing.samples()):
        singularity = meter.measure(pose)
        known, fresh = (guard.judge(stamp_ns, singularity, 1e-5) for guard in (gone_on, new))
        assert known.unsure and known._replace(unsure=False) == fresh


def test_reset_forgets_the_doubt(geometry, stopped):
    _, tracker, said = stopped
    assert Flag.BRANCH_UNSURE in said[-1].flags
    tracker.reset()
    pose = pose_of((0.0, 0.0, 0.5), (5.0, 0.0, 0.0))
    safe = tracker.track(said[-1].stamp_ns + 1, leg_lengths(geometry, pose))
    assert not safe.flags and np.abs(safe.pose - pose).max() < 1e-12


def watch(values, dt):
    """Return what a monitor says of signed values at a period (s), as a solver may give them."""
    monitor = Guard()
    return [monitor.judge(FIRST_NS + round(1e9 * k * dt), SimpleNamespace(
        signed_value=float(value), determinant_sign=1 if value > 0.0 else -1, slope=1.0), 1e-6)
        for k, value in enumerate(values)]


@pytest.mark.parametrize('amplitude', [0.12, 0.15])
def test_a_motion_too_fast_for_the_filters_has_a_rate_and_a_gap(amplitude):
    dt = 0.05
    values = 0.62 + amplitude * np.cos(40.0 * dt * np.arange(60) + 0.3)  # 6 Hz, sampled at 20 Hz
    said = watch(values, dt)
    assert not any(branch.unsure or branch.wrong for branch in said)
    rates = np.array([branch.rate for branch in said])
    assert np.corrcoef(rates[2:], np.diff(values)[1:])[0, 1] > 0.7, 'that of the change'
    assert np.count_nonzero(rates == 0.0) == 1, 'of the first sample alone'
    gaps = np.array([branch.prediction_gap for branch in said])
    assert np.count_nonzero(gaps == 0.0) == 1 and np.abs(gaps).max() > 0.1


@pytest.mark.parametrize('dt', [0.05, 0.1, 0.5])
@pytest.mark.parametrize('step', [0.4, 0.6, 0.7])
def test_a_crossing_between_two_samples_far_from_singular_is_not_hidden(dt, step):
    values = step * (2.5 - np.arange(6.0))  # zero is between the third and the fourth
    said = watch(np.abs(values), dt)  # of the poses of a solver that stays on its branch
    assert all(branch.unsure or branch.wrong for branch in said[3:])


@pytest.mark.parametrize('dt', [0.02, 0.1, 0.2])
def test_a_motion_far_from_singular_at_a_low_rate_raises_no_doubt(dt):
    times = dt * np.arange(200)
    said = watch(0.7 + 0.2 * np.sin(2.0 * times) + 0.05 * np.sin(7.0 * times), dt)
    assert not any(branch.unsure or branch.wrong for branch in said)


@pytest.mark.parametrize('dt', [0.02, 0.1, 0.2, 0.4])
@pytest.mark.parametrize('value', [0.08, 0.154])
def test_a_platform_at_rest_at_a_low_rate_raises_no_doubt(value, dt):
    """As hobby servos do: from two samples each speed between them was thought possible."""
    noise = 1e-6 * np.random.default_rng(0).standard_normal(100)
    assert not any(branch.unsure or branch.wrong for branch in watch(value + noise, dt))


@pytest.mark.whole
@pytest.mark.parametrize('prefer', [None, lambda *_: False, lambda *_: True])
def test_a_sensor_decides_against_the_motion_and_the_gap_is_to_the_pose_that_is_left(
        geometry, prefer):
    crossing = Crossing(geometry, 'turn', 2.0, 0.0)
    k = crossing.index - 50
    tracker = PoseTracker(geometry, crossing.poses[k])
    tracked = tracker.track(0, crossing.lengths[k])
    two = TwoBranchTracker(
        geometry, crossing.poses[k], LevenbergMarquardt(), PlatformMeter(geometry))
    choice = two.choose(tracked, SampleGate(geometry).accept(0, crossing.lengths[k]), Branch(
        -tracked.state.determinant_sign, 0.0, 0.0, False, True), prefer)
    assert choice.switched is (prefer is None or prefer())
    assert choice.confirmed is (prefer is not None)
    moved = se3.log(se3.inverse(tracked.pose) @ choice.tracked.pose)
    moved[3:] /= geometry.characteristic_length
    wanted = choice.tracked.state.determinant_sign * np.linalg.norm(moved)
    assert choice.branch.prediction_gap == pytest.approx(wanted, rel=0.05)


def test_a_sample_at_the_singularity_itself_is_near_one(geometry, home):
    tracker, singular = MonitoredTracker(geometry, home), 0
    for k, yaw in enumerate(np.radians(np.arange(0.0, 90.5, 0.5))):
        found = tracker.track(10_000_000 * k, leg_lengths(geometry, home @ se3.exp(
            [0.0, 0.0, yaw, 0.0, 0.0, 0.0])))
        if found.status is Status.SINGULAR:
            singular += 1
            assert found.flags & Flag.NEAR_SINGULARITY
    assert singular
