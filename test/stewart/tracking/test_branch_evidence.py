# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a branch rests on: no start, reset, gap or clock leads to a wrong pose in silence."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from liedyn_ros.common.errors import StampError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    BranchSource, Flag, leg_lengths, load_geometry, MonitorConfig, MonitoredTracker, PoseSolver,
    StewartGeometry)
from liedyn_ros.stewart.assembly.modes import MachineModes
from liedyn_ros.stewart.certificate.pose import TravelProof
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.tracking.sensor_monitor import OrientationSensor
from liedyn_ros.stewart.tracking.start_modes import StartModes

MACHINES = ('stewart_geometry', 'stewart_6_3', 'stewart_octahedron', 'stewart_hexaglide',
            'stewart_wires', 'stewart_shaking_table')
STEP = 0.02  # of screws, in rad and characteristic lengths
SECOND, PERIOD = 1_000_000_000, 10_000_000  # ns
WRONG = 5e-3


def crossing(geometry, seed):
    """Return poses (n, 4, 4) of a random screw from home, and the first behind a singularity."""
    rng, meter = np.random.default_rng(seed), PlatformMeter(geometry)
    ways = np.arange(0.0, 3.0, STEP)
    while True:
        direction = rng.normal(size=6)
        direction[3:] *= geometry.characteristic_length
        poses = geometry.home @ se3.exp(
            np.multiply.outer(ways, direction / np.linalg.norm(direction)))
        poses = [pose for pose in poses if reaches(geometry, pose)]
        values = meter.signed_values(poses) * meter.measure(geometry.home).determinant_sign
        behind = np.flatnonzero(values < 0.0)
        if len(behind) and values.min() < -0.05:
            first = int(behind[0])
            again = np.flatnonzero(values[first:] > 0.0)
            last = first + int(again[0]) if len(again) else len(values)
            end = first + int(np.argmin(values[first:last]))
            if values[end] < -0.05:
                return np.array(poses[:end + 1]), first


def reaches(geometry, pose):
    """Return whether the legs reach a pose."""
    try:
        return bool(geometry.within_limits(leg_lengths(geometry, pose)).all())
    except ValueError:
        return False


def is_wrong(tracked, truth):
    """Return whether a pose is off."""
    return np.abs(se3.log(se3.inverse(truth) @ tracked.pose)).max() > WRONG


def assert_not_silent(tracked, truth):
    """Assert that a pose is right, or rests on nothing and says so, or that there is none."""
    unsure = Flag.BRANCH_UNSURE in tracked.flags or Flag.BRANCH_WRONG in tracked.flags
    assert (unsure or not tracked.converged) == (tracked.branch_source is BranchSource.UNSURE)
    assert unsure or not tracked.converged or not is_wrong(tracked, truth)


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('machine', MACHINES)
def test_a_start_behind_a_singularity_is_never_silent(machine, seed):
    geometry = load_geometry(config_file(f'{machine}.yaml'))
    poses, first = crossing(geometry, seed)
    for begin in {first, (first + len(poses)) // 2, len(poses) - 1}:
        tracker = MonitoredTracker(geometry, geometry.home)
        for k in range(5):
            assert_not_silent(tracker.track(
                SECOND + k * PERIOD, leg_lengths(geometry, poses[begin])), poses[begin])
        tracker.reset()
        assert_not_silent(tracker.track(
            2 * SECOND, leg_lengths(geometry, poses[begin])), poses[begin])


@pytest.mark.parametrize('gap', [0.6, 1.0, 3.0, 10.0])
@pytest.mark.parametrize('machine', MACHINES)
def test_a_platform_that_moved_in_a_gap_is_never_silent(machine, gap):
    geometry = load_geometry(config_file(f'{machine}.yaml'))
    poses, _ = crossing(geometry, 1)
    tracker = MonitoredTracker(geometry, geometry.home)
    for k in range(50):
        tracker.track(SECOND + k * PERIOD, leg_lengths(geometry, poses[0]))
    begin = SECOND + 50 * PERIOD + round(1e9 * gap)
    for k in range(50):
        assert_not_silent(tracker.track(
            begin + k * PERIOD, leg_lengths(geometry, poses[-1])), poses[-1])


@pytest.mark.parametrize('seed', range(1, 4))
@pytest.mark.parametrize('machine', MACHINES)
def test_a_vibration_before_a_gap_bounds_no_way_within_it(machine, seed):
    geometry = load_geometry(config_file(f'{machine}.yaml'))
    poses, first = crossing(geometry, seed)
    axis = se3.log(se3.inverse(poses[0]) @ poses[first // 3])
    tracker = MonitoredTracker(geometry, geometry.home)
    for k in range(150):
        shaken = geometry.home @ se3.exp(axis * (1.0 + 0.02 * np.sin(0.19 * k)))
        tracker.track(SECOND + k * PERIOD, leg_lengths(geometry, shaken))
    begin = SECOND + 150 * PERIOD + 3 * SECOND
    for k in range(50):
        assert_not_silent(tracker.track(
            begin + k * PERIOD, leg_lengths(geometry, poses[-1])), poses[-1])


def hexapod(seed):
    """Return a random platform of struts, 1 m in size."""
    rng = np.random.default_rng(seed)
    of_base, of_platform = rng.uniform(5.0, 28.0, 2)
    sides = [(third, side) for third in (0.0, 120.0, 240.0) for side in (-1.0, 1.0)]
    base, platform = (radius * np.array([
        (np.cos(angle), np.sin(angle), 0.0) for angle in np.radians(angles)])
        for radius, angles in (
            (rng.uniform(1.0, 2.0), [third + side * of_base for third, side in sides]),
            (1.0, [third + side * (60.0 - of_platform) for third, side in sides])))
    home = np.eye(4)
    home[2, 3] = rng.uniform(1.0, 3.0)
    lengths = np.linalg.norm(home[:3, 3] + platform - base, axis=1)
    return StewartGeometry(
        tuple('abcdef'), base, platform, np.outer(lengths, [0.1, 9.0]), home=home)


@pytest.mark.parametrize('seed', [28, 39, 46, 48, 65])
def test_a_short_gap_of_a_fast_stream_across_a_singularity_is_not_silent(seed):
    """Filters that were judged 2 ms ahead do not tell what a shaken motion does in 0.4 s."""
    geometry = hexapod(seed)
    poses, first = crossing(geometry, seed)
    screw = se3.log(se3.inverse(poses[0]) @ poses[1])
    times = np.arange(0.0, 4.0, 0.002)
    ways = (len(poses) - 1) * 0.5 * (1.0 - np.cos(0.25 * np.pi * times)) * (
        1.0 + 0.02 * np.sin(6.0 * np.pi * times))
    middle = times[np.argmin(abs(ways - first))]
    tracker = MonitoredTracker(geometry, geometry.home)
    rng = np.random.default_rng(seed)
    for time, way in zip(times, np.minimum(ways, len(poses) - 1)):
        if middle - 1.0 < time < middle + 1.2 and abs(time - middle) > 0.2:
            truth = geometry.home @ se3.exp(way * screw)
            lengths = leg_lengths(geometry, truth) + 1e-7 * rng.normal(size=6)
            assert_not_silent(tracker.track(round(1e9 * (1.0 + time)), lengths), truth)


@pytest.mark.parametrize('hold', [False, True])
def test_home_chooses_again_after_a_gap_behind_a_singularity(hold):
    """The last branch of the motion contradicts no pose that the platform could have reached."""
    geometry = load_geometry(config_file('stewart_servos.yaml'))
    poses, _ = crossing(geometry, 1)
    screw = se3.log(se3.inverse(poses[0]) @ poses[-1])
    tracker = MonitoredTracker(geometry, geometry.home, config=MonitorConfig(
        hold_hypotheses=hold))
    for k, way in enumerate(0.5 * (1.0 - np.cos(np.pi * np.minimum(np.arange(600) / 400, 1.0)))):
        tracked = tracker.track(SECOND + k * PERIOD, leg_lengths(
            geometry, geometry.home @ se3.exp(way * screw)))
    sign = tracked.branch.expected_sign
    for k in range(1100, 1200):
        tracked = tracker.track(SECOND + k * PERIOD, leg_lengths(geometry, geometry.home))
        assert tracked.branch_source is BranchSource.HOME and not is_wrong(tracked, geometry.home)
        assert not tracked.flags & (
            Flag.BRANCH_WRONG | Flag.BRANCH_UNSURE | Flag.BRANCH_CROSSED)
        assert tracked.branch.expected_sign == tracked.state.determinant_sign != sign


def test_a_clock_set_back_behind_a_singularity_is_never_silent(geometry):
    poses, _ = crossing(geometry, 2)
    tracker = MonitoredTracker(geometry, geometry.home, config=MonitorConfig(
        leg_noise=1e-5, hold_hypotheses=True))
    fine = [pose for a, b in pairwise(poses) for pose in (a, a @ se3.exp(
        0.5 * se3.log(se3.inverse(a) @ b)))]
    for k, pose in enumerate(fine):
        tracker.track(10 * SECOND + k * PERIOD, leg_lengths(geometry, pose))
    lengths = leg_lengths(geometry, poses[-1])
    with pytest.raises(StampError):
        tracker.track(SECOND, lengths)
    for k in range(1, 50):
        tracked = tracker.track(SECOND + k * PERIOD, lengths)
        assert_not_silent(tracked, poses[-1])
        assert Flag.RESTARTED in tracked.flags


@pytest.mark.parametrize('machine', MACHINES)
def test_a_start_near_home_rests_on_home(machine):
    geometry = load_geometry(config_file(f'{machine}.yaml'))
    tracker = MonitoredTracker(geometry, geometry.home)
    near = geometry.home @ se3.exp([0.02, 0.01, -0.02, 1e-3, 2e-3, 1e-3])
    tracked = tracker.track(SECOND, leg_lengths(geometry, near))
    assert tracked.branch_source is BranchSource.HOME and not tracked.flags
    assert not is_wrong(tracked, near) and not tracked.branch_reason


def test_a_user_confirms_a_pose(geometry, home):
    far = home @ se3.exp([0.0, 0.0, 1.3, 0.0, 0.0, 0.0])
    tracker, lengths = MonitoredTracker(geometry, home), leg_lengths(geometry, far)
    assert not tracker.confirm()
    tracked = tracker.track(SECOND, lengths)
    assert Flag.BRANCH_UNSURE in tracked.flags and 'start' in tracked.branch_reason
    for k in range(1, 30):
        assert Flag.BRANCH_UNSURE in tracker.track(SECOND + k * PERIOD, lengths).flags
    assert tracker.confirm()
    for k in range(30, 60):
        tracked = tracker.track(SECOND + k * PERIOD, lengths)
        assert Flag.BRANCH_UNSURE not in tracked.flags
        assert tracked.branch_source is BranchSource.HOME


def test_a_motion_back_home_clears_a_start_that_was_unsure(geometry, home):
    tracker = MonitoredTracker(geometry, home)
    ways = 1.3 * np.cos(np.linspace(0.0, 0.5 * np.pi, 400))
    flags = [tracker.track(SECOND + k * PERIOD, leg_lengths(geometry, home @ se3.exp(
        [0.0, 0.0, way, 0.0, 0.0, 0.0]))).flags for k, way in enumerate(ways)]
    assert Flag.BRANCH_UNSURE in flags[0] and Flag.BRANCH_UNSURE not in flags[-1]


def test_a_redundant_sensor_settles_a_start(geometry, home):
    far = home @ se3.exp([0.0, 0.0, 1.3, 0.0, 0.0, 0.0])
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(
        leg_noise=1e-5, hold_hypotheses=True, sensor=OrientationSensor(1e-3)))
    for k in range(20):
        tracked = tracker.track(
            SECOND + k * PERIOD, leg_lengths(geometry, far), reading=far[:3, :3])
    assert tracked.branch_source is BranchSource.SENSOR and not is_wrong(tracked, far)
    assert Flag.BRANCH_UNSURE not in tracked.flags


def test_a_crossing_rests_on_the_motion(geometry, home):
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(
        leg_noise=1e-7, hold_hypotheses=True))
    for k, way in enumerate(np.linspace(0.0, 2.3, 1500)):
        pose = home @ se3.exp([0.0, 0.0, way, 0.0, 0.0, 0.0])
        tracked = tracker.track(SECOND + k * PERIOD // 10, leg_lengths(geometry, pose))
    assert tracked.branch_source is BranchSource.MOTION and not is_wrong(tracked, pose)


@pytest.mark.parametrize(('machine', 'share'), [
    ('stewart_geometry', 0.01), ('stewart_6_3', 0.03), ('stewart_octahedron', 0.03),
    ('stewart_hanging', 0.01), ('stewart_hexaglide', 0.01)])
def test_a_travel_that_is_proved_needs_no_home(machine, share):
    geometry = load_geometry(config_file(f'{machine}.yaml'))
    at_home, way = leg_lengths(geometry, geometry.home), share * geometry.characteristic_length
    limits = np.stack((at_home - way, at_home + way), axis=1)
    geometry = dataclasses.replace(geometry, length_limits=limits)
    tracker, rng, now = MonitoredTracker(geometry, geometry.home), np.random.default_rng(1), SECOND
    solver = PoseSolver(geometry)
    for k in range(50):
        ends, pose = rng.uniform(*limits.T), geometry.home
        for part in np.linspace(0.0, 1.0, 20):  # the witness goes there in small steps
            pose = solver.solve(at_home + part * (ends - at_home), pose).pose
        now += 10 * SECOND  # each pose comes after a gap, every tenth after a reset
        if k % 10 == 0:
            tracker.reset()
        tracked = tracker.track(now, ends)
        assert tracked.branch_source is BranchSource.PROVED and not is_wrong(tracked, pose)
        assert not tracked.flags & (Flag.BRANCH_UNSURE | Flag.RESTARTED | Flag.BRANCH_WRONG)


def test_a_travel_with_a_singularity_is_not_proved(geometry, home):
    assert not TravelProof(geometry, home).proved
    free = dataclasses.replace(geometry, length_limits=np.tile([0.0, np.inf], (6, 1)))
    assert not TravelProof(free, home).proved


def coned(geometry, angle):
    """Return a geometry whose joints turn by an angle (rad) from home."""
    legs = geometry.platform_joints @ geometry.home[:3, :3].T + geometry.home[:3, 3] - (
        geometry.base_joints)
    axes, angles = legs / np.linalg.norm(legs, axis=1)[:, None], np.full(6, angle)
    return dataclasses.replace(
        geometry, base_cones=np.column_stack((axes, angles)),
        platform_cones=np.column_stack((-axes @ geometry.home[:3, :3], angles)))


@pytest.mark.parametrize('machine', ['stewart_geometry', 'stewart_6_3', 'stewart_octahedron'])
def test_a_start_is_proved_where_joints_leave_one_pose(machine):
    geometry = coned(load_geometry(config_file(f'{machine}.yaml')), 1.0)
    meter, modes, unsure, starts = PlatformMeter(geometry), StartModes(geometry), 0, 0
    tracker, rng = MonitoredTracker(geometry, geometry.home), np.random.default_rng(2)
    while starts < 8:
        way = rng.normal(size=6) * [*[0.6] * 3, *[0.6 * geometry.characteristic_length] * 3]
        pose = geometry.home @ se3.exp(way)
        if not reaches(geometry, pose) or not meter.measure(pose).margins.within_limits:
            continue
        lengths, starts = leg_lengths(geometry, pose), starts + 1
        tracker.reset()
        unsure += Flag.BRANCH_UNSURE in tracker.track(SECOND, lengths).flags
        modes.weigh(tracker)
        tracked = tracker.track(SECOND + PERIOD, lengths)
        assert tracked.branch_source is BranchSource.PROVED and not tracked.branch_reason
        assert not is_wrong(tracked, pose)
    assert unsure


def test_the_only_pose_of_a_machine_is_taken(geometry, home):
    poses, _ = crossing(geometry, 1)
    lengths, tracker = leg_lengths(geometry, poses[-1]), MonitoredTracker(geometry, home)
    assert is_wrong(tracker.track(SECOND, lengths), poses[-1])
    only = MachineModes((poses[-1],), True, 1e-3)
    tracker.weigh(tracker.start._replace(number=99), only)  # of another start
    assert is_wrong(tracker.track(SECOND + PERIOD, lengths), poses[-1])
    tracker.weigh(tracker.start, only)
    tracked = tracker.track(SECOND + 2 * PERIOD, lengths)
    assert tracked.branch_source is BranchSource.PROVED and not is_wrong(tracked, poses[-1])
    assert not tracked.flags & (Flag.BRANCH_UNSURE | Flag.BRANCH_WRONG)


def test_no_start_is_weighed_behind_a_singularity(geometry, home):
    """What is known of its lengths tells nothing of a motion that has crossed meanwhile."""
    poses, first = crossing(geometry, 1)
    tracker, lengths = MonitoredTracker(geometry, home), leg_lengths(geometry, poses)
    flags = tracker.track(SECOND, lengths[0]).flags
    start = tracker.start
    for k, read in enumerate(lengths[1:], 1):
        flags |= tracker.track(SECOND + k * PERIOD, read).flags
    assert Flag.BRANCH_CROSSED in flags and tracker.start.number == start.number
    before = tracker.track(SECOND + len(poses) * PERIOD, lengths[-1])
    tracker.weigh(start, MachineModes((poses[first // 2],), True, 1e-3))
    after = tracker.track(SECOND + (len(poses) + 1) * PERIOD, lengths[-1])
    assert after.branch_source is before.branch_source
    np.testing.assert_allclose(after.pose, before.pose, rtol=0.0, atol=1e-9)


def test_all_poses_speak_against_a_start_and_are_told(geometry, home):
    far = home @ se3.exp([0.0, 0.0, 1.3, 0.0, 0.0, 0.0])
    tracker, lengths = MonitoredTracker(geometry, home), leg_lengths(geometry, far)
    tracker.track(SECOND, lengths)
    StartModes(geometry).weigh(tracker)
    tracked = tracker.track(SECOND + PERIOD, lengths)
    assert Flag.BRANCH_UNSURE in tracked.flags and 'from home' in tracked.branch_reason


@pytest.mark.parametrize('kind', [int, np.int32, np.int64, np.uint64, bool, np.uint8])
def test_a_stamp_is_of_any_integer_type(geometry, home, kind):
    tracker, lengths = MonitoredTracker(geometry, home), leg_lengths(geometry, home)
    for stamp in (kind(0), kind(1)):
        tracked = tracker.track(stamp, lengths)
        assert type(tracked.stamp_ns) is int and tracked.converged
