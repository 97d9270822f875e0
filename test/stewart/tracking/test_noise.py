# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Noise, steps, jitter and acceleration estimated from readings; what they mean for faults."""

import numpy as np
import pytest

from liedyn_ros.stewart import (
    Flag, leg_lengths, MonitorConfig, MonitoredTracker, PoseSolver, SmoothTrajectory)
from liedyn_ros.stewart.tracking.legs.kernels.noise import MEMORY_TIME, NOISE_DEVIATIONS
from liedyn_ros.stewart.tracking.legs.monitor import LegMonitor

FIRST_NS = 1_000_000_000


@pytest.fixture(scope='module')
def monitored(geometry, motion):
    """Return a function that gives a monitor and its findings of a motion with noise."""
    def run(rate, noise, spoil=lambda lengths: lengths, count=1500, config=(0.0, 0.0), still=False,
            jitter=0.0, step=0.0):
        rng = np.random.default_rng(11)
        times = np.arange(count) / rate
        lengths = leg_lengths(geometry, motion.pose(0.0 * times if still else 2.0 + times))
        lengths += noise * rng.normal(size=lengths.shape)
        lengths = spoil(step * np.round(lengths / step) if step else lengths)
        stamps = FIRST_NS + np.round(1e9 * (times + jitter * rng.normal(size=count))).astype(int)
        monitor = LegMonitor(geometry, *config)
        return monitor, [monitor.examine(int(stamp), reading).faults
                         for stamp, reading in zip(stamps, lengths)]
    return run


def flagged(found, flag):
    """Return the samples with a flag."""
    return [k for k, faults in enumerate(found) if flag & Flag(faults.flags)]


@pytest.mark.parametrize('rate', [100, 1000])
@pytest.mark.parametrize('noise', [1e-6, 1e-4])
@pytest.mark.parametrize('still', [True, False])
def test_the_noise_of_readings_is_found(monitored, rate, noise, still):
    monitor, found = monitored(rate, noise, still=still)
    report = monitor.report()
    assert report.noise == pytest.approx(noise, rel=0.1) and report.identified
    assert report.period == pytest.approx(1.0 / rate, rel=1e-6)
    assert report.advice == () and not any(faults.flags for faults in found)


@pytest.mark.parametrize(('rate', 'share', 'size'), [
    (1000, 0.005, 0.03), (1000, 0.02, 0.03), (1000, 0.04, 0.03), (1000, 0.005, 1e-3),
    (1000, 0.02, 1e-3), (100, 0.02, 0.03), (100, 0.04, 0.03), (100, 0.02, 6e-3)])
def test_spikes_of_a_leg_are_outliers_and_no_noise(monitored, rate, share, size):
    """
    They were learnt as noise: poses were 43 mm off without a flag.

    Small ones were learnt as tails of the noise or as acceleration: 305 of 462 of 1 mm were
    silent. Many made all samples doubtful: 11,938 of 23,046 right ones had a flag.
    """
    hit = np.flatnonzero(np.random.default_rng(5).random(1500) < share)

    def spoil(lengths):
        lengths[hit, 2] += size * (-1.0) ** np.arange(len(hit))
        return lengths
    monitor, found = monitored(rate, 1e-5, spoil)
    marked = {k for k, faults in enumerate(found) if faults.flags}
    # Of two readings that contradict each other the later one may tell, which is the right one.
    missed = [k for k in hit if not {k, k + 1} & marked]
    clear = hit if size > 0.01 else [  # noise is assumed to be 0.2 mm at first, or to have grown
        k for k, before in zip(hit, np.append(-np.inf, hit)) if k > 300 and k - before > 12]
    assert len(set(missed) & set(clear)) <= 0.03 * len(clear)
    assert len(marked - {*hit, *(hit + 1)}) <= 0.01 * len(found), 'right ones'
    assert monitor.report().noise == pytest.approx(1e-5, rel=0.2)


def test_many_spikes_do_not_widen_their_own_threshold(geometry, home):
    """Their mean square counted as a hum: 334 of 337 were silent."""
    rng = np.random.default_rng(0)
    amplitudes = np.array([0.08] * 3 + [0.06 * geometry.characteristic_length] * 3)
    poses = SmoothTrajectory(
        home, (amplitudes * rng.uniform(0.3, 1.0, 6)).tolist(), rng.uniform(0.15, 0.5, 6).tolist(),
        rng.uniform(0.0, 6.0, 6).tolist()).pose(3.0 + np.arange(4000) / 1000.0)
    lengths = leg_lengths(geometry, poses) + 1e-5 * rng.normal(size=(4000, 6))
    spikes = np.flatnonzero(rng.random(4000) < 0.08)
    lengths[spikes, 1] += 0.03 * rng.choice([-1, 1], len(spikes))
    monitor = LegMonitor(geometry)
    marked = [bool(monitor.examine(10 ** 6 * k, each).faults.flags)
              for k, each in enumerate(lengths)]
    assert np.mean(np.array(marked)[spikes]) > 0.9


@pytest.mark.parametrize('begin', range(196, 206))
def test_two_equal_spikes_in_turn_are_no_lasting_step(monitored, begin):
    """At 100 Hz they last for the time of a step. The leg is back then, but the flag stayed."""
    def spoil(lengths):
        lengths[begin:begin + 2, 1] += 0.03
        return lengths
    _, found = monitored(100, 1e-5, spoil, count=260)
    assert flagged(found, Flag.LEG_OUTLIER | Flag.LEG_STEPPED)
    assert not flagged(found[230:], Flag.LEG_STEPPED)


@pytest.mark.parametrize('step', [1e-6, 1e-5, 1e-4, 1e-3])
def test_the_step_of_an_encoder_is_found(monitored, step):
    monitor, found = monitored(200, 0.0, step=step)
    assert monitor.report().resolution == pytest.approx(step, rel=1e-6)
    assert not any(faults.flags for faults in found)


def test_jitter_of_stamps_is_parted_from_noise(monitored):
    monitor, found = monitored(1000, 1e-5, jitter=2e-4, count=6000)
    assert monitor.report().jitter == pytest.approx(2e-4, rel=0.25)
    assert monitor.report().noise == pytest.approx(1e-5, rel=0.2), 'without the jitter'
    assert not any(faults.flags for faults in found)


@pytest.mark.parametrize(('rate', 'jitter'), [(20, 2.5e-3), (20, 2.2e-2), (100, 4.5e-3)])
def test_jitter_is_not_blamed_on_a_given_noise(geometry, motion, rate, jitter):
    """Noise that is twice the given one is, beside small jitter and at a stand."""
    rng, times = np.random.default_rng(3), 2.0 + np.arange(1500) / rate
    stamps = times + jitter * rng.normal(size=1500)
    kept = np.flatnonzero(stamps > np.maximum.accumulate(np.append(0.0, stamps[:-1])))
    for still, noise, blamed in ((False, 1e-5, False), (True, 1e-5, False), (True, 2e-5, True)):
        lengths = leg_lengths(geometry, motion.pose(0.0 * times if still else times))
        lengths += noise * rng.normal(size=(1500, 6))
        monitor = LegMonitor(geometry, 1e-5)
        found = [monitor.examine(round(1e9 * stamps[k]), lengths[k]).faults for k in kept]
        assert bool(flagged(found, Flag.PARAMETER_TOO_SMALL)) == blamed
        assert any('too small' in text for text in monitor.report().advice) == blamed


def test_acceleration_is_measured(geometry, motion, monitored):
    times = 2.0 + np.arange(1500) / 100
    of_legs = np.abs(np.diff(leg_lengths(geometry, motion.pose(times)), 2, axis=0)) * 1e4
    second = np.sort(of_legs, axis=1)[:, -2]  # of two legs at once: one alone may be a fault
    true = (second * np.exp((times[1:-1] - times[-1]) / MEMORY_TIME)).max()
    deviation = np.sqrt(6.0) * 1e-6 / 0.04**2  # of one over nine readings, by their noise
    monitor, _ = monitored(100, 1e-6)
    # Eight deviations: the greatest of 1500, and what bends over nine readings.
    assert monitor.report().acceleration == pytest.approx(
        true - NOISE_DEVIATIONS * deviation, abs=8.0 * deviation)


@pytest.mark.parametrize('rate', [20, 500])
@pytest.mark.parametrize(('given', 'word'), [(5e-6, 'small'), (2e-5, 'large')])
def test_a_given_noise_that_is_wrong_by_two_is_noticed(monitored, rate, given, word):
    monitor, found = monitored(rate, 1e-5, config=(given, 0.0))
    assert f'leg_noise {given:.3g} m is too {word}' in monitor.report().advice[0]
    assert monitor.report().noise == pytest.approx(1e-5, rel=0.1)
    assert bool(flagged(found, Flag.PARAMETER_TOO_SMALL)) == (word == 'small')
    assert not flagged(found, Flag.LEG_STEPPED)


@pytest.mark.parametrize('rate', [100, 1000])
@pytest.mark.parametrize('legs', [range(6), (0, 2, 4)])
def test_a_jump_of_three_legs_or_six_is_flagged_once(monitored, rate, legs):
    def jump(lengths):
        lengths[1000:, list(legs)] += 0.137
        return lengths
    _, found = monitored(rate, 1e-5, jump)
    assert flagged(found, Flag.LEGS_JUMPED) == [1000]
    assert not flagged(found, Flag.LEG_STEPPED | Flag.LEG_OUTLIER)


@pytest.mark.parametrize('rate', [100, 1000])
def test_six_readings_that_repeat_for_ever_are_frozen_where_there_was_noise(monitored, rate):
    def repeat(lengths):
        lengths[1000:] = lengths[1000]
        return lengths
    _, found = monitored(rate, 1e-5, repeat, still=True)
    frozen = flagged(found, Flag.LEG_FROZEN)
    assert frozen == list(range(frozen[0], 1500)) and 1000 < frozen[0] <= 1010
    assert found[-1].frozen == (0, 1, 2, 3, 4, 5)


def test_readings_that_repeat_are_no_fault_where_there_was_no_noise(monitored):
    _, found = monitored(100, 0.0, still=True)
    assert not any(faults.flags for faults in found)


@pytest.mark.parametrize('apart', [1, 2])
def test_two_spikes_within_20_ms_at_100_hz_are_both_found(monitored, apart):
    def spikes(lengths):
        lengths[1000, 1] += 0.02
        lengths[1000 + apart, 1] -= 0.015
        return lengths
    _, found = monitored(100, 1e-5, spikes)
    assert flagged(found, Flag.LEG_OUTLIER) == [1000, 1000 + apart]
    assert all(found[k].outliers == (1,) for k in (1000, 1000 + apart))


def test_a_frozen_leg_with_a_little_noise_left_is_named(monitored):
    def freeze(lengths):
        lengths[1000:, 2] = lengths[1000, 2] + 1e-6 * np.random.default_rng(0).normal(size=500)
        return lengths
    _, found = monitored(200, 1e-5, freeze)
    frozen = flagged(found, Flag.LEG_FROZEN)
    assert frozen and frozen[0] > 1000 and {found[k].frozen for k in frozen} == {(2,)}


@pytest.mark.parametrize('left', [1e-6, 2e-6, 5e-6])
def test_a_frozen_leg_stays_named_until_it_moves(monitored, left):
    """The estimate of its noise falls meanwhile, and with it what counts as one place."""
    def freeze(lengths):
        rng = np.random.default_rng(5)
        lengths[600:2600, 2] = lengths[600, 2] + left * rng.normal(size=2000)
        return lengths
    _, found = monitored(200, 1e-5, freeze, count=2700)
    frozen = flagged(found, Flag.LEG_FROZEN)
    assert 600 < frozen[0] < 800 and frozen[-1] < 2620
    assert frozen == list(range(frozen[0], frozen[-1] + 1)) and frozen[-1] >= 2599
    assert {found[k].frozen for k in frozen} == {(2,)}


def test_many_outliers_mean_a_wrong_parameter_and_nothing_stays_latched(monitored):
    monitor, found = monitored(500, 1e-4, config=(1e-5, 0.0), count=3000)
    assert not any(faults.stepped for faults in found[1000:])
    assert len(flagged(found, Flag.PARAMETER_TOO_SMALL)) > 2500
    assert not flagged(found[1000:], Flag.LEG_OUTLIER)
    assert 'leg_noise 1e-05 m is too small' in monitor.report().advice[0]


@pytest.mark.parametrize(('rate', 'noise', 'step', 'jitter', 'lost'), [
    (1000, 1e-4, 0.0, 0.0, 0.0), (500, 5e-5, 0.0, 0.0, 0.3), (100, 1e-5, 0.0, 2e-3, 0.0),
    (1000, 0.0, 1e-3, 0.0, 0.0), (20, 3e-5, 0.0, 0.0, 0.0)])
def test_a_user_who_sets_nothing_gets_the_solvers_pose(
        geometry, home, motion, rate, noise, step, jitter, lost):
    rng = np.random.default_rng(2)
    times = np.arange(800) / rate
    lengths = leg_lengths(geometry, motion.pose(times))
    lengths += noise * rng.normal(size=lengths.shape)
    lengths = step * np.round(lengths / step) if step else lengths
    stamps = FIRST_NS + np.round(1e9 * (times + jitter * rng.normal(size=800))).astype(int)
    tracker, solver = MonitoredTracker(geometry, home), PoseSolver(geometry)
    came = (np.diff(np.maximum.accumulate(stamps), prepend=0) > 0) & (rng.random(800) >= lost)
    for stamp, reading in zip(stamps[came].tolist(), lengths[came]):
        monitored = tracker.track(stamp, reading)
        bare = solver.solve(reading, monitored.pose)
        assert not monitored.flags and np.abs(bare.pose - monitored.pose).max() < 1e-12


def test_config_defaults_leave_noise_and_acceleration_open():
    assert MonitorConfig().leg_noise == MonitorConfig().leg_acceleration == 0.0


@pytest.mark.parametrize('rate', [100, 1000])
def test_outliers_are_named_where_samples_are_lost(geometry, motion, rate):
    """After a gap a gate can be too wide for 30 mm: the next reading shows which one was off."""
    rng, times = np.random.default_rng(4), 2.0 + np.arange(1500) / rate
    lengths = leg_lengths(geometry, motion.pose(times)) + 1e-5 * rng.normal(size=(1500, 6))
    spikes = {k: int(rng.integers(6)) for k in range(400, 1490, 30)}
    for k, leg in spikes.items():
        lengths[k, leg] += rng.choice((-0.03, 0.03))
    kept = np.flatnonzero((rng.random(1500) > 0.3) | np.isin(np.arange(1500), list(spikes)))
    monitor, named, last = LegMonitor(geometry), {}, -1
    for k in kept.tolist():
        faults = monitor.examine(FIRST_NS + round(1e9 * times[k]), lengths[k]).faults
        if faults.outliers:
            spike = k if k in spikes else last
            named[spike] = faults.outliers
        assert not faults.stepped and not faults.doubted
        last = k
    assert named == {k: (leg,) for k, leg in spikes.items()}


def test_one_outlier_hides_no_smaller_ones(monitored):
    """It is no acceleration: 1 mm is found soon after 30 mm."""
    def spikes(lengths):
        lengths[1000, 1] += 0.03
        lengths[1100::50, 2] += 1e-3
        return lengths
    _, found = monitored(1000, 1e-5, spikes)
    assert flagged(found, Flag.LEG_OUTLIER) == [1000, *range(1100, 1500, 50)]


def test_a_late_stamp_is_no_outlier(geometry, motion):
    """All legs are off by their rates; one leg alone, by as much, is."""
    rng, times = np.random.default_rng(6), 2.0 + np.arange(3000) / 1000
    stamps = times + 2e-3 * rng.normal(size=3000)
    kept = np.flatnonzero(stamps > np.maximum.accumulate(np.append(0.0, stamps[:-1])))
    lengths = leg_lengths(geometry, motion.pose(times)) + 1e-5 * rng.normal(size=(3000, 6))
    lengths[kept[-100], 3] += 0.03
    monitor = LegMonitor(geometry)
    found = {k: monitor.examine(round(1e9 * stamps[k]), lengths[k]).faults
             for k in kept.tolist()}
    assert {k: faults.outliers for k, faults in found.items() if faults.flags} == {
        kept[-100]: (3,)}
