# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The tracker of platforms in the C library: the poses, twists and flags of Python's trackers."""

import dataclasses
from dataclasses import dataclass
import math

import numpy as np
import pytest
from support.c_library.c_library import built, HOST, require_tools, run, SANITIZERS, V2
from support.c_library.c_platform_answers import MASSIVE, platform
from support.platforms.stewart_motion import Crossing

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.export import write_platform
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    BranchSource, Flag, leg_lengths, MonitorConfig, MonitoredTracker, PoseTracker)
from liedyn_ros.stewart.platform.kernels import limits
from liedyn_ros.stewart.tracking.kernels import sample
from liedyn_ros.stewart.tracking.kernels.follower import REPORTED_SIGN
from liedyn_ros.stewart.tracking.legs.kernels import motion_bank

motion_of = motion_bank.FILTER.view
# What the program writes of a sample: its code, and the parts of liedyn_tracked.
CODE, POSE, STATUS, VALUE, TWIST, SPAN, START, FLAGS, SIGN, RATE, SOURCE, WIDTH = (
    0, 1, 17, 21, 23, 29, 30, 31, 32, 33, 35, 36)
OK, NOT_FINITE, RANGE, NOT_CONVERGED, LATE = 0, 1, 7, 19, 29  # codes of liedyn.h
SECOND = 1_000_000_000
BRANCH_FLAGS = (Flag.NEAR_SINGULARITY | Flag.BRANCH_CROSSED | Flag.BRANCH_UNSURE
                | Flag.BRANCH_WRONG | Flag.RESTARTED)
PROGRAM = ['test/tracker.c']
NONE, DELAYS = np.zeros(6), np.array([0.0, 0.004, 0.01, 0.0, 0.02, 0.004])  # s


@dataclass
class Run:
    """A recorded run: stamps (n,), ns, lengths (n, 6), m, and rates (n, 6) or none."""

    stamps: np.ndarray
    lengths: np.ndarray
    rates: np.ndarray | None = None

    def write(self, path):
        """Write it for the program: stamp, lengths, rates, NaN where none is measured."""
        rows = np.full((len(self.stamps), 13), math.nan)
        rows[:, 0] = self.stamps.view(np.float64)
        rows[:, 1:7] = self.lengths
        if self.rates is not None:
            rows[:, 7:] = self.rates
        rows.tofile(path)

    def rate(self, k):
        """Return the rates of a sample."""
        return None if self.rates is None else self.rates[k]


def tracked(program, folder, name, samples, noise, latency=NONE):
    """Return what the program answers to a run, a sample a row."""
    geometry, home = late(name, latency)
    write_platform(folder / 'model.liedyn', geometry)
    samples.write(folder / 'samples')
    np.append(home.ravel(), noise).tofile(folder / 'start')
    run(*program, folder / 'model.liedyn', folder / 'start', folder / 'samples',
        folder / 'results')
    return np.fromfile(folder / 'results').reshape(-1, WIDTH)


def late(name, latency):
    """Return a geometry with a latency (6,), s, and its home pose."""
    geometry, home = platform(name)
    return dataclasses.replace(geometry, leg_latency=latency), home


def swinging(name, *, seconds=0.4, noise=0.0, rates=False):
    """Return a run about home with gaps, a late sample, one out of travel and one of no pose."""
    geometry, home = platform(name)
    count, scale = round(1000 * seconds), 0.1 * geometry.characteristic_length
    share = 0.5 - 0.5 * np.cos(np.pi * np.arange(count) / count)
    poses = se3.compose(home, se3.exp(np.multiply.outer(
        share, (0.1, -0.05, 0.2, scale, 0.5 * scale, -0.2 * scale))))
    lengths = leg_lengths(geometry, poses)
    speeds = np.gradient(lengths, 1e-3, axis=0)
    lengths += noise * np.random.default_rng(3).normal(size=lengths.shape)
    stamps = SECOND + np.arange(count) * 1_000_000
    stamps[count // 4:] += 30_000_000  # a gap that is predicted over
    stamps[count // 2:] += SECOND  # one that is not
    stamps[60] = stamps[58]
    lengths[70] = 1e3  # beyond its travel, or of no pose
    lengths[80, 0] *= 1.5
    lengths[90, 3] = math.nan
    return Run(stamps, lengths, speeds if rates else None)


def assert_follows(rows, samples, geometry, home):
    """Assert that the program has followed a run as PoseTracker does; return how many poses."""
    tracker, poses = PoseTracker(geometry, home), 0
    for k, row in enumerate(rows):
        try:
            wanted = tracker.track(int(samples.stamps[k]), samples.lengths[k], samples.rate(k))
        except LiedynError:
            assert row[CODE] in (NOT_FINITE, RANGE, LATE)
            continue
        assert row[CODE] == (OK if wanted.converged else NOT_CONVERGED)
        assert row[START] == wanted.start
        if not wanted.converged:
            assert np.isnan(row[TWIST:SPAN]).all()
            continue
        poses += 1
        assert np.abs(row[POSE:STATUS].reshape(4, 4) - wanted.pose).max() < 1e-12
        assert row[SPAN] == wanted.twist_span and abs(
            row[VALUE] - wanted.state.signed_value) < 1e-12
        if wanted.twist is None:
            assert np.isnan(row[TWIST:SPAN]).all()
        else:  # of a difference over a period: its rounding is that of a pose by the period
            assert np.abs(row[TWIST:SPAN] - wanted.twist).max() < 1e-9
    return poses


@HOST
@pytest.mark.parametrize('flags', [(), V2], ids=['best', 'v2'])
@pytest.mark.parametrize('rates', [False, True], ids=['lengths', 'rates'])
@pytest.mark.parametrize('name', [MASSIVE, 'hexaglide', 'cranks', 'wires'])
def test_poses_are_those_of_python(tmp_path, name, rates, flags):
    samples = swinging(name, rates=rates)
    rows = tracked([built(PROGRAM, *flags)], tmp_path, name, samples, 0.0)
    assert assert_follows(rows, samples, *platform(name)) > 0.9 * len(rows)
    assert {NOT_FINITE, LATE} <= {*rows[:, CODE]}


@HOST
@pytest.mark.parametrize('flags', [(), V2], ids=['best', 'v2'])
@pytest.mark.parametrize('rates', [False, True], ids=['lengths', 'rates'])
@pytest.mark.parametrize('name', [MASSIVE, 'cranks'])
def test_late_readings_are_moved_on_as_in_python(tmp_path, name, rates, flags):
    samples = swinging(name, rates=rates)
    rows = tracked([built(PROGRAM, *flags)], tmp_path, name, samples, 0.0, DELAYS)
    assert assert_follows(rows, samples, *late(name, DELAYS)) > 0.9 * len(rows)
    without = tracked([built(PROGRAM, *flags)], tmp_path, name, samples, 0.0)
    assert np.abs(rows[:, POSE:STATUS] - without[:, POSE:STATUS]).max() > 1e-4


@HOST
@pytest.mark.parametrize('rates', [False, True], ids=['lengths', 'rates'])
def test_late_readings_are_moved_on_by_the_filter(tmp_path, rates):
    samples, noise = swinging(MASSIVE, noise=1e-5, rates=rates), 1e-5
    rows = tracked([built(PROGRAM)], tmp_path, MASSIVE, samples, noise, DELAYS)
    tracker = MonitoredTracker(*late(MASSIVE, DELAYS), config=MonitorConfig(
        leg_noise=noise, replace_outliers=False, frozen_time=0.0))
    compared = 0
    for k in range(60):  # what comes then are faults, which Python's legs judge
        wanted = tracker.track(int(samples.stamps[k]), samples.lengths[k], samples.rate(k))
        assert rows[k, CODE] == OK and not wanted.legs
        assert np.abs(rows[k, POSE:STATUS].reshape(4, 4) - wanted.pose).max() < 1e-12
        if wanted.twist is not None and wanted.twist_span == rows[k, SPAN]:
            compared += 1
            assert np.abs(rows[k, TWIST:SPAN] - wanted.twist).max() < 1e-9
    assert compared > 50


@HOST
@pytest.mark.parametrize(('name', 'least', 'reading'), [
    (MASSIVE, 0.0, 525.0), ('cranks', -math.inf, 10.0)])
def test_readings_in_other_units_are_refused_without_limits_too(tmp_path, name, least, reading):
    geometry, home = platform(name)
    geometry = dataclasses.replace(geometry, length_limits=[(least, math.inf)] * 6)
    lengths = leg_lengths(geometry, home @ se3.exp(np.full(6, 0.01)))
    write_platform(tmp_path / 'model.liedyn', geometry)
    samples = Run(SECOND * np.arange(1, 4), np.array([lengths, np.full(6, reading), lengths]))
    samples.write(tmp_path / 'samples')
    np.append(home.ravel(), 0.0).tofile(tmp_path / 'start')
    run(built(PROGRAM), *(tmp_path / each for each in (
        'model.liedyn', 'start', 'samples', 'results')))
    rows = np.fromfile(tmp_path / 'results').reshape(-1, WIDTH)
    assert rows[:, CODE].tolist() == [OK, RANGE, OK]
    assert assert_follows(rows, samples, geometry, home) == 2


def test_aarch64_has_the_poses_of_python(tmp_path):
    require_tools('aarch64-linux-gnu-gcc', 'qemu-aarch64-static')
    program = built(PROGRAM, '-static', processor='aarch64', compiler='aarch64-linux-gnu-gcc')
    samples = swinging(MASSIVE)
    rows = tracked(['qemu-aarch64-static', program], tmp_path, MASSIVE, samples, 0.0)
    assert assert_follows(rows, samples, *platform(MASSIVE)) > 0.9 * len(rows)


@HOST
@pytest.mark.parametrize('name', ['turn', 'tilt'])
@pytest.mark.parametrize('noise', [1e-6, 1e-4])
def test_a_singularity_is_passed_as_in_python(tmp_path, name, noise):
    geometry, home = platform(MASSIVE)
    crossing = Crossing(geometry, name, 1.0, noise)
    samples = Run(crossing.stamps, crossing.lengths)
    rows = tracked([built(PROGRAM)], tmp_path, MASSIVE, samples, noise)
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(
        leg_noise=noise, replace_outliers=False, frozen_time=0.0))
    seen, away = Flag(0), 0.0
    for k, row in enumerate(rows):
        wanted = tracker.track(int(samples.stamps[k]), samples.lengths[k])
        assert int(row[FLAGS]) == int(wanted.flags & BRANCH_FLAGS)
        assert (row[CODE] == OK) == wanted.converged
        assert row[SIGN] == tracker._follower.numbers[REPORTED_SIGN]
        assert row[SOURCE] == wanted.branch_source
        seen |= wanted.flags
        if wanted.branch is not None:
            assert abs(row[RATE] - wanted.branch.rate) < 1e-8 * max(1.0, abs(wanted.branch.rate))
        if wanted.converged and abs(row[VALUE]) > 0.05:
            away = max(away, np.abs(row[POSE:STATUS].reshape(4, 4) - wanted.pose).max())
    assert Flag.BRANCH_CROSSED in seen and away < 1e-12


@kernel
def filter_plainly(buffer, stamp, lengths, noise, moved):
    """Filter readings of which none is judged; return the time (s) between the last two."""
    return motion_bank.filter_motion(motion_of(buffer), stamp, lengths, noise, 0.0, False, moved)


@HOST
@pytest.mark.parametrize('name', [MASSIVE, 'hexaglide', 'wires', 'offset'])
def test_starts_and_gaps_are_judged_as_in_python(tmp_path, name):
    geometry, home = platform(name)
    scale, poses = geometry.characteristic_length, []
    for k in range(40):
        far = home @ se3.exp(np.array([0.2, 0.1, 0.03 * k, 0.02 * scale, 0.0, 0.01 * scale]))
        poses += [far] if reaches(geometry, far) else []
    ways = [*range(len(poses) - 1, 0, -1), *range(len(poses))]
    stamps = SECOND + np.arange(len(ways)) * 20_000_000
    for k in (5, 15, 25, 35, 45):
        stamps[k:] += 3 * SECOND
    stamps[30] = -1  # the user confirms
    samples = Run(stamps, np.array([leg_lengths(geometry, poses[k]) for k in ways]))
    rows = tracked([built(PROGRAM)], tmp_path, name, samples, 1e-7)
    tracker, told = MonitoredTracker(geometry, home, config=MonitorConfig(
        leg_noise=1e-7, replace_outliers=False, frozen_time=0.0)), []
    for k, stamp in enumerate(stamps):
        if stamp < 0:
            assert tracker.confirm()
            continue
        wanted = tracker.track(int(stamp), samples.lengths[k])
        row = rows[k - (k > 30)]
        told.append(wanted.branch_source)
        assert int(row[FLAGS]) == int(wanted.flags & BRANCH_FLAGS)
        assert row[SOURCE] == wanted.branch_source
    assert {*told} >= {BranchSource.HOME, BranchSource.UNSURE}


def reaches(geometry, pose):
    """Return whether the legs reach a pose within their travel."""
    try:
        return bool(geometry.within_limits(leg_lengths(geometry, pose)).all())
    except LiedynError:
        return False


@pytest.mark.full
@HOST
def test_the_twist_is_that_of_the_filtered_rates(tmp_path):
    geometry, home = platform(MASSIVE)
    samples, noise = swinging(MASSIVE, noise=1e-5), 1e-5
    rows = tracked([built(PROGRAM)], tmp_path, MASSIVE, samples, noise)
    plain = motion_bank.empty_filter(np.ones(6))
    moved = np.empty(motion_bank.motion_size(6))
    taken = [k for k, row in enumerate(rows) if row[CODE] in (OK, NOT_CONVERGED)]
    tracker, worst = PoseTracker(geometry, home), 0.0
    for k in taken:
        period = filter_plainly(
            plain, int(samples.stamps[k]), samples.lengths[k], noise, moved)
        pose = tracker.track(int(samples.stamps[k]), samples.lengths[k])
        if period and pose.converged and pose.twist_span:
            assert rows[k, SPAN] == 0.0
            twist = pose.state.twist(moved[:6])
            worst = max(worst, np.abs(rows[k, TWIST:SPAN] - twist).max())
    assert worst < 1e-9


def test_flags_are_those_of_python():
    of_motion = 'APPROACHING_SINGULARITY', 'BRANCH_CROSSED', 'BRANCH_UNSURE', 'BRANCH_WRONG'
    of_pose = ('NEAR_SINGULARITY', 'LEG_TRAVEL', 'JOINT_ANGLE', 'LEG_CLEARANCE',
               'NEAR_DEAD_CENTRE')
    assert sample.MOTION_RESTARTED == Flag.RESTARTED
    for kernels, names in ((sample, of_motion), (limits, of_pose)):
        assert [getattr(kernels, name) for name in names] == [Flag[name] for name in names]


@HOST
@pytest.mark.full
def test_sanitizers_find_nothing(tmp_path):
    samples = swinging('cranks', seconds=0.2)
    rows = tracked([built(PROGRAM, *SANITIZERS)], tmp_path, 'cranks', samples, 1e-5)
    assert OK in rows[:, CODE]
