# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tracking a moving platform: few iterations, exact twist, and a state that bad input leaves."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from support.platforms.stewart_motion import GEOMETRY
from support.refusals import ANY, refused

from liedyn_ros.common.errors import (
    LiedynError, LimitError, NotFiniteError, ShapeError, StampError)
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, leg_rates, load_geometry, MonitoredTracker, PoseTracker, Start, Status)
from liedyn_ros.stewart.tracking.branch.kernels.guess import lead_to_lengths
from liedyn_ros.stewart.tracking.kernels.follower import SOLVE_TIME


def nanoseconds(seconds):
    """Return a stamp late enough that seconds in one float could not hold it."""
    return 1_800_000_000_000_000_000 + round(1e9 * seconds)


@pytest.mark.parametrize(('rate', 'most'), [(1000.0, 3), (200.0, 3), (5.0, 8)])
def test_tracks_at_any_rate(geometry, home, motion, rate, most):
    tracker = PoseTracker(geometry, home)
    times = np.arange(0.0, 10.0, 1.0 / rate)
    poses = motion.pose(times)
    found = [tracker.track(nanoseconds(t), lengths)
             for t, lengths in zip(times, leg_lengths(geometry, poses))]
    assert all(tracked.converged for tracked in found)
    assert np.abs([tracked.pose for tracked in found] - poses).max() < 1e-12
    assert {tracked.start for tracked in found[1:]} == {Start.PREDICTED}
    assert max(tracked.iterations for tracked in found[1:]) <= most


def test_trajectory_twist_is_its_derivative(motion):
    times, step = np.linspace(0.0, 9.0, 40), 1e-5
    change = se3.compose(se3.inverse(motion.pose(times - step)),
                         motion.pose(times + step))
    assert np.allclose(motion.twist(times), se3.log(change) / (2.0 * step), atol=1e-8)
    assert np.array_equal(motion.pose(0.0), motion.home)
    assert not motion.twist(0.0).any()


def test_twist_from_rates_is_exact_and_from_poses_is_the_mean(geometry, home, motion):
    measured, estimated = PoseTracker(geometry, home), PoseTracker(geometry, home)
    times, twists = np.arange(2.0, 2.1, 1e-3), []
    for t in times:
        pose, twist = motion.pose(t), motion.twist(t)
        lengths = leg_lengths(geometry, pose)
        with_rates = measured.track(nanoseconds(t), lengths, leg_rates(geometry, pose, twist))
        twists.append(estimated.track(nanoseconds(t), lengths).twist)
        assert np.allclose(with_rates.twist, twist, atol=1e-10)
    assert twists[0] is None
    assert np.allclose(twists[1:], motion.twist(times[1:] - 0.5e-3), atol=1e-6)


def test_long_products_of_predictions_stay_rotations(geometry, home, motion):
    tracker = PoseTracker(geometry, home)
    for k in range(3000):
        tracked = tracker.track(
            nanoseconds(1e-3 * k), leg_lengths(geometry, motion.pose(1e-3 * k)))
    r = tracked.pose[:3, :3]
    assert np.abs(r.T @ r - np.eye(3)).max() < 1e-14


@pytest.mark.parametrize(('lengths', 'error', 'named', 'got'), [
    ([0.5] * 5, ShapeError, 'lengths', (5,)),
    ([0.5] * 5 + [np.nan], NotFiniteError, 'lengths', ANY),
    ([0.5] * 5 + [-0.5], LimitError, 'leg_6', -0.5),
    ([0.5] * 5 + [0.0], LimitError, 'leg_6', 0.0),
    ([0.5] * 5 + [1.5], LimitError, 'leg_6', 1.5),
])
def test_refused_lengths_leave_the_state(geometry, home, motion, lengths, error, named, got):
    tracker = PoseTracker(geometry, home)
    for t in (1.0, 1.001):
        tracker.track(nanoseconds(t), leg_lengths(geometry, motion.pose(t)))
    with refused(error, named, got=got):
        tracker.track(nanoseconds(1.002), lengths)
    good = tracker.track(nanoseconds(1.003), leg_lengths(geometry, motion.pose(1.003)))
    assert good.start is Start.PREDICTED and good.iterations <= 3


def test_refused_rates_leave_the_state(geometry, home):
    tracker = PoseTracker(geometry, home)
    with refused(NotFiniteError, 'rates'):
        tracker.track(nanoseconds(0.0), leg_lengths(geometry, home), [np.nan] * 6)
    assert tracker.track(nanoseconds(0.0), leg_lengths(geometry, home)).converged


@pytest.mark.parametrize('tracker', [PoseTracker, MonitoredTracker])
@pytest.mark.parametrize('stamp', [0.5, '1', None, float('nan')])
def test_time_is_a_whole_number_of_ns(geometry, home, tracker, stamp):
    with refused(StampError, 'stamp'):
        tracker(geometry, home).track(stamp, leg_lengths(geometry, home))


@pytest.mark.parametrize('tracker', [PoseTracker, MonitoredTracker])
@pytest.mark.parametrize('stamp', [2 ** 63, -2 ** 63, np.iinfo(np.int64).min, 2 ** 62])
def test_a_time_that_no_difference_of_64_bits_can_hold_is_refused(geometry, home, tracker, stamp):
    tracked, lengths = tracker(geometry, home), leg_lengths(geometry, home)
    with refused(StampError, 'stamp', expected=4611686018427387904):
        tracked.track(stamp, lengths)
    tracked.track(np.int64(1 - 2 ** 62), lengths)
    assert tracked.track(np.int64(2 ** 62 - 1), lengths).converged


@pytest.mark.parametrize('tracker', [PoseTracker, MonitoredTracker])
def test_masked_arrays_are_refused(geometry, home, tracker):
    lengths = leg_lengths(geometry, home)
    hidden = np.ma.masked_array(lengths, [0, 0, 1, 0, 0, 0])
    with refused(LiedynError, 'lengths'):
        tracker(geometry, home).track(0, hidden)
    with refused(LiedynError, 'rates'):
        tracker(geometry, home).track(0, lengths, hidden)


@pytest.mark.parametrize('late', [0.0, 0.001, 0.5, 0.6, 100.0])
def test_a_sample_that_comes_late_is_refused_and_nothing_else(geometry, home, motion, late):
    tracker = PoseTracker(geometry, home)
    lengths = leg_lengths(geometry, motion.pose(3.0))
    tracker.track(nanoseconds(3.0), lengths)
    for k in range(3):
        with refused(StampError, 'stamp'):
            tracker.track(nanoseconds(3.0 - late), lengths)
        now = 3.001 + 0.001 * k
        again = tracker.track(nanoseconds(now), leg_lengths(geometry, motion.pose(now)))
        assert again.converged and again.start is Start.PREDICTED


def test_late_samples_in_a_row_are_no_clock_set_back(geometry, home, motion):
    tracker = PoseTracker(geometry, home)
    lengths = leg_lengths(geometry, motion.pose(3.0))
    tracker.track(nanoseconds(3.0), lengths)
    for stamp in (2.7, 2.8, 2.9, 1.0, 0.9, 2.99):
        with refused(StampError, 'stamp'):
            tracker.track(nanoseconds(stamp), lengths)
    assert tracker.track(nanoseconds(3.001), lengths).start is Start.PREDICTED


def test_late_is_measured_from_samples_that_found_no_pose_too(geometry, home):
    tracker = PoseTracker(geometry, home)
    tracker.track(nanoseconds(0.0), leg_lengths(geometry, home))
    tracker.track(nanoseconds(0.002), [0.3, 0.9, 0.3, 0.9, 0.3, 0.9])
    with refused(StampError, 'stamp'):
        tracker.track(nanoseconds(0.001), leg_lengths(geometry, home))


@pytest.mark.parametrize(('tracker', 'flags'), [
    (PoseTracker, [None, None]), (MonitoredTracker, [Flag.RESTARTED] * 2)])
def test_a_clock_set_back_restarts_the_tracking(geometry, home, motion, tracker, flags):
    tracker = tracker(geometry, home)
    for time in (2.999, 3.0):
        tracker.track(nanoseconds(time), leg_lengths(geometry, motion.pose(time)))
    with refused(StampError, 'stamp'):
        tracker.track(nanoseconds(1.0), leg_lengths(geometry, motion.pose(1.0)))
    results = [tracker.track(nanoseconds(time), leg_lengths(geometry, motion.pose(time)))
               for time in (1.001, 1.002)]
    assert [getattr(tracked, 'flags', None) for tracked in results] == flags
    assert all(tracked.converged for tracked in results)
    assert [tracked.start for tracked in results] == [Start.HOME, Start.PREDICTED]


def test_that_a_track_was_lost_is_said_of_the_next_pose(geometry, home):
    tracker = MonitoredTracker(geometry, home)
    lengths = leg_lengths(geometry, home)
    tracker.track(nanoseconds(3.0), lengths)
    with pytest.raises(StampError):
        tracker.track(nanoseconds(1.0), lengths)
    assert Flag.RESTARTED in tracker.track(nanoseconds(1.001), [0.3, 0.9] * 3).flags
    for time in (1.002, 1.003, 1.1):
        assert tracker.track(nanoseconds(time), lengths).flags == Flag.RESTARTED
    assert not tracker.track(nanoseconds(1.103), lengths).flags


def test_a_clock_set_back_twice_with_no_pose_between_is_told_with_the_next(geometry, home):
    tracker, lengths = MonitoredTracker(geometry, home), leg_lengths(geometry, home)
    assert not tracker.track(nanoseconds(9.0), lengths).flags
    for begin in (6.0, 3.0):
        with refused(StampError, 'stamp'):
            tracker.track(nanoseconds(begin), lengths)
        assert not tracker.track(nanoseconds(begin + 0.001), [0.3, 0.9] * 3).converged
    assert Flag.RESTARTED in tracker.track(nanoseconds(3.002), lengths).flags


def test_a_failed_solve_leaves_the_state(geometry, home):
    tracker = PoseTracker(geometry, home)
    tracker.track(nanoseconds(0.0), leg_lengths(geometry, home))
    failed = tracker.track(nanoseconds(0.001), [0.3, 0.9, 0.3, 0.9, 0.3, 0.9])
    assert failed.status is not Status.CONVERGED
    assert failed.twist is None and failed.start is Start.HOME
    good = tracker.track(nanoseconds(0.002), leg_lengths(geometry, home))
    assert good.converged and good.start is Start.PREDICTED


def test_a_jump_too_far_for_the_prediction_is_found_from_home(geometry, home, random_poses):
    tracker = PoseTracker(geometry, home)
    for k, pose in enumerate(random_poses[:200]):
        tracked = tracker.track(nanoseconds(0.001 * k), leg_lengths(geometry, pose))
        assert tracked.converged


def test_a_jump_is_no_motion_that_goes_on(geometry, home):
    tracker = PoseTracker(geometry, home)
    jumped = se3.compose(home, se3.exp([0.1] * 3 + [0.02] * 3))
    for k, pose in enumerate((home, jumped, jumped)):
        found = tracker.track(10**9 + k * 50 * 10**6, leg_lengths(geometry, pose))
    assert found.iterations == 0 and found.start is Start.PREDICTED


@pytest.mark.parametrize(('before', 'span', 'gap', 'now'), [
    (20.0, 1.0, 3.0, 80.0),  # longer than any twist lasts
    (1.0, 0.01, 0.4, 80.0)])  # than one of so short a difference
def test_a_platform_that_has_slowed_down_in_a_gap_is_not_beyond_the_singularity(
        home, before, span, gap, now):
    """Its twist leads there, from where the lengths have a pose of the other assembly mode."""
    tracker = PoseTracker(GEOMETRY, home)
    for time, angle in ((0.0, 60.0 - before), (span, 60.0), (span + gap, now)):
        pose = turned(home, angle)
        found = tracker.track(round(1e9 * time) + 1, leg_lengths(GEOMETRY, pose))
    assert found.start is Start.PREDICTED
    np.testing.assert_allclose(found.pose, pose, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(('factor', 'leads'), [
    (2.9, True), (3.1, False), (-0.9, True), (-1.1, False)])
def test_rates_lead_where_they_miss_a_change_by_less_than_twice_as_much(factor, leads):
    before, change = np.ones(6), 1e-3 * np.arange(1.0, 7.0)
    assert lead_to_lengths(before, factor * change / 0.01, 0.01, before + change) == leads


@pytest.mark.whole
@pytest.mark.parametrize('factor', [1.0, -1.5, 10.0])
def test_rates_of_a_wrong_sign_or_unit_lead_to_no_other_assembly_mode(home, factor):
    """Through the singularity at 90 degrees: where they miss, the last two poses tell the way."""
    tracker, angles = PoseTracker(GEOMETRY, home), np.arange(79.0, 103.0, 3.0)
    lengths = leg_lengths(GEOMETRY, np.array([turned(home, angle) for angle in angles]))
    rates = factor * np.gradient(lengths, 0.01, axis=0)
    for k, angle in enumerate(angles):
        found = tracker.track(10_000_000 * k + 1, lengths[k], rates[k])
        np.testing.assert_allclose(found.pose, turned(home, angle), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(('file', 'least', 'factor', 'hint'), [
    ('stewart_geometry', 0.0, 1e3, 'mm'),
    ('stewart_servos', -np.inf, np.degrees(1.0), 'degrees')])
@pytest.mark.parametrize('kind', [PoseTracker, MonitoredTracker])
def test_readings_in_another_unit_are_named_without_limits_in_the_file(
        file, least, factor, hint, kind):
    geometry = load_geometry(config_file(f'{file}.yaml'))
    geometry = dataclasses.replace(
        geometry, length_limits=np.tile([least, np.inf], (6, 1)))
    lengths = leg_lengths(geometry, geometry.home @ se3.exp([0.1, 0.1, 0.1, 0.01, 0.0, 0.01]))
    tracker = kind(geometry, geometry.home)
    assert tracker.track(1, lengths).converged
    with pytest.raises(LimitError) as refusal:
        tracker.track(2, factor * lengths)
    assert hint in str(refusal.value)


def test_a_copied_tracker_goes_on_as_the_first_or_is_refused(geometry, home, motion):
    tracker = PoseTracker(geometry, home)
    poses = motion.pose(np.arange(20) * 1e-2)
    lengths = leg_lengths(geometry, poses)
    for k in range(10):
        tracker.track(k * 10 ** 7, lengths[k])
    copied = pickle.loads(pickle.dumps(copy.deepcopy(tracker)))
    for k in range(10, 20):
        first, second = (each.track(k * 10 ** 7, lengths[k]) for each in (tracker, copied))
        assert np.array_equal(first.pose, second.pose)
        assert np.array_equal(first.twist, second.twist)
    for ask in (copy.deepcopy, pickle.dumps):
        with refused(LiedynError, 'MonitoredTracker'):
            ask(MonitoredTracker(geometry, home))


def turned(home, degrees):
    """Return a pose turned about the vertical from home: singular at 90."""
    return se3.compose(home, se3.exp([0.0, 0.0, np.radians(degrees), 0.0, 0.0, 0.0]))


@pytest.mark.parametrize('rated', [False, True])
def test_a_sample_of_one_kernel_is_the_one_of_all_stages(geometry, home, motion, rated):
    quick, checked = MonitoredTracker(geometry, home), MonitoredTracker(geometry, home)
    rng, flags = np.random.default_rng(3), Flag(0)
    for k in range(700):
        pose, stamp = motion.pose(2.0 + 1e-3 * k), nanoseconds(1e-3 * k)
        lengths = leg_lengths(geometry, pose) + rng.normal(0.0, 1e-5, 6) + (
            0.03 * np.eye(6)[k % 6] * (k % 150 == 149))
        rates = leg_rates(geometry, pose, motion.twist(2.0 + 1e-3 * k)) + 0.5 * (k > 600)
        # Lists are no arguments of the kernel.
        first = quick.track(stamp, lengths, rates if rated else None)
        second = checked.track(stamp, lengths.tolist(), rates.tolist() if rated else None)
        first.numbers[SOLVE_TIME] = second.numbers[SOLVE_TIME]
        assert_same_bits(first, second)
        flags |= first.flags
    assert Flag.LEG_OUTLIER in flags and (Flag.RATES_CONTRADICT in flags) == rated


def assert_same_bits(first, second):
    """Compare all numbers of two poses."""
    for name in ('pose', 'values', 'numbers', 'lengths'):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert (first.flags, first.legs, first.status) == (second.flags, second.legs, second.status)
    if first.motion is not None:
        np.testing.assert_array_equal(first.motion.moved, second.motion.moved)
