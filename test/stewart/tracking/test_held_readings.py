# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Buses slower than the topic, and noise that changes, differs between legs or has tails."""

import numpy as np
import pytest

from liedyn_ros.lie import se3
from liedyn_ros.stewart import Flag, leg_lengths, MonitorConfig, MonitoredTracker, PoseSolver
from liedyn_ros.stewart.tracking.legs.monitor import LegMonitor

RATE, COUNT = 1000, 3000  # Hz, samples
NOISE = 1e-5  # m
TRUE_FLAGS = Flag.APPROACHING_SINGULARITY | Flag.NEAR_SINGULARITY
TIMES = 2.0 + np.arange(COUNT) / RATE


@pytest.fixture(scope='module')
def poses(motion):
    """Return its poses."""
    return motion.pose(TIMES)


@pytest.fixture(scope='module')
def held(geometry, motion):
    """Return a function that gives the readings of buses of rates (6,), Hz, at the topic's."""
    def read(rates, noise=NOISE, jitter=0.0):
        rng, readings, buses = np.random.default_rng(5), np.empty((COUNT, 6)), {}
        for leg, rate in enumerate(rates):
            if rate not in buses:
                taken = TIMES[0] + (np.arange(round(rate * 3.5)) - 1.0) / rate
                taken += jitter / rate * rng.uniform(-0.5, 0.5, len(taken)) - 1e-7
                lengths = leg_lengths(geometry, motion.pose(taken))
                buses[rate] = taken, lengths + noise * rng.normal(size=lengths.shape)
            taken, lengths = buses[rate]
            readings[:, leg] = lengths[np.searchsorted(taken, TIMES, side='right') - 1, leg]
        return readings
    return read


@pytest.fixture(scope='module')
def compare(geometry, home, poses):
    """Return a function: worst error of the tracker over the solver's, tracker, its results."""
    solved = {}  # by readings, which several trackers follow

    def run(readings, **config):
        tracker = MonitoredTracker(geometry, home, config=MonitorConfig(**config))
        found = [tracker.track(10**9 + k * 10**6, reading)
                 for k, reading in enumerate(readings)]
        key = readings.tobytes()
        if key not in solved:
            solved[key] = error(PoseSolver(geometry).solve_batch(
                readings, poses[:len(readings)]).poses)
        return error(np.array([safe.pose for safe in found])) / solved[key], tracker, found

    def error(tracked):
        return np.abs(se3.log(se3.compose(se3.inverse(poses[:len(tracked)]), tracked))).max()
    return run


def alarms(found):
    """Return the samples whose flags are false alarms."""
    return [k for k, safe in enumerate(found) if safe.flags & ~TRUE_FLAGS]


@pytest.mark.parametrize('told', [0.0, NOISE])
@pytest.mark.parametrize(('rates', 'jitter'), [
    ([50] * 6, 0.0), ([100] * 6, 0.0), ([200] * 6, 0.0), ([250] * 6, 0.0), ([333] * 6, 0.0),
    ([70.7] * 6, 0.0), ([900] * 6, 0.0), ([100] * 6, 0.3),
    ([1000, 1000, 50, 1000, 1000, 1000], 0.0), ([1000, 500, 200, 137, 100, 50], 0.0)])
def test_readings_that_repeat_do_no_harm(held, compare, rates, jitter, told):
    ratio, tracker, found = compare(held(rates, jitter=jitter)[:1500], leg_noise=told)
    assert ratio < 1.2 and not alarms(found) and not tracker.noise.advice
    assert tracker.noise.repeats == pytest.approx(RATE / np.array(rates), rel=0.05)


@pytest.mark.parametrize(('rates', 'message'), [
    ([50] * 6, 'readings repeat 20 times (50 Hz): the bus is slower than the topic'),
    ([1000, 1000, 100, 1000, 1000, 1000],
     'readings of leg_3 repeat 10 times (100 Hz): the bus is slower than the topic'),
    ([1000, 500, 1000, 1000, 1000, 50], 'readings repeat, leg_2 2 times (500 Hz), leg_6 20 times '
     '(50 Hz): the buses are slower than the topic'),
    ([1000] * 6, '')])
def test_repetition_is_told_with_its_rate(geometry, held, rates, message):
    monitor = LegMonitor(geometry)
    for k, reading in enumerate(held(rates)):
        monitor.examine(k * 10**6, reading)
    assert monitor.report().repetition(geometry.leg_names) == message


@pytest.mark.parametrize('step', [1e-5, 1e-4, 1e-3])
def test_an_encoder_is_no_slow_bus(geometry, poses, step):
    monitor = LegMonitor(geometry)
    for k, reading in enumerate(step * np.round(leg_lengths(geometry, poses) / step)):
        monitor.examine(k * 10**6, reading)
    assert monitor.report().repeats == (1.0,) * 6


@pytest.mark.parametrize('rate', [50, 200])
def test_the_twist_is_that_of_fresh_readings(geometry, motion, held, compare, rate):
    _, _, found = compare(held([rate] * 6)[:2000])
    errors = np.array([safe.twist for safe in found[1000:]]) - motion.twist(TIMES[1000:2000])
    assert np.sqrt(np.mean(errors ** 2)) < 3e-3  # 1e-3 with a topic at the rate of the bus


def test_a_leg_that_freezes_on_a_slow_bus_is_named(held, compare):
    readings = held([100] * 6)[:2600]
    readings[2000:, 4] = readings[2000, 4]
    _, _, found = compare(readings)
    flagged = alarms(found)
    assert 2000 < flagged[0] < 2500
    assert Flag.LEG_FROZEN in found[-1].flags and found[-1].legs == (4,)


def test_an_outlier_on_a_slow_bus_is_named_and_replaced(held, compare):
    readings = held([200] * 6)[:2100]
    held_for = slice(2000, 2005)
    readings[held_for, 1] += 0.02
    ratio, _, found = compare(readings)
    assert alarms(found) == list(range(2000, 2005)) and ratio < 0.2
    assert all(found[k].flags == Flag.LEG_OUTLIER and found[k].legs == (1,)
               for k in range(2000, 2005))


ONE, LEG_5 = np.arange(6) == 2, np.arange(6) == 4
LATE = (np.arange(COUNT) >= 1500)[:, None]
RISE = 20.0 ** np.clip((np.arange(COUNT)[:, None] - 500) / 2000, 0.0, 1.0)


@pytest.mark.parametrize('told', [0.0, NOISE])
@pytest.mark.parametrize(('noise', 'most'), [
    (NOISE * np.where(ONE & LATE, 20.0, 1.0), 3), (NOISE * np.where(LATE, 20.0, 1.0), 3),
    (NOISE * np.where(LATE, 1.0, 20.0), 2), (NOISE * np.where(ONE, RISE, 1.0), 2),
    (np.array([1e-6, 1e-5, 1e-4, 3e-5, 2e-6, 2e-4]), 1)])
def test_noise_that_changes_or_differs_does_no_harm(geometry, poses, compare, noise, most, told):
    rng = np.random.default_rng(3)
    readings = leg_lengths(geometry, poses) + noise * rng.normal(size=(COUNT, 6))
    ratio, _, found = compare(readings, leg_noise=told)
    assert ratio < 1.2
    flagged = np.array([bool(safe.flags & (Flag.LEG_OUTLIER | Flag.LEGS_JUMPED))
                        for safe in found])
    assert np.count_nonzero(np.diff(flagged) & flagged[1:]) <= most  # until the change is known
    assert not any(safe.flags & (Flag.LEG_STEPPED | Flag.LEG_FROZEN) for safe in found)
    assert told or not alarms(found[-500:])


@pytest.mark.parametrize('told', [0.0, 2e-5])
def test_tails_of_noise_do_no_harm(geometry, poses, compare, told):
    rng = np.random.default_rng(3)
    readings = leg_lengths(geometry, poses[:2000]) + 2e-5 * rng.standard_t(3, size=(2000, 6))
    ratio, _, found = compare(readings, leg_noise=told)
    outliers = [k for k, safe in enumerate(found) if Flag.LEG_OUTLIER in safe.flags]
    assert ratio < 1.2 and len(outliers) <= 6 and not [k for k in outliers if k > 1000]


@pytest.mark.parametrize('seed', [3, 31])  # 31: at a crest before the errors were known
def test_hum_is_no_outlier(geometry, poses, compare, seed):
    rng = np.random.default_rng(seed)
    hum = 5e-5 * np.sin(300.0 * np.pi * TIMES)[:, None] * [1.0, -1.0, 1.0, 0.5, 0.0, 1.0]
    ratio, _, found = compare((
        leg_lengths(geometry, poses) + hum + NOISE * rng.normal(size=(COUNT, 6)))[:2000])
    assert ratio < 1.2 and not alarms(found)


@pytest.mark.parametrize('times', [2, 3, 5, 10])
def test_a_given_noise_that_is_too_small_does_no_harm_before_it_is_noticed(
        geometry, poses, compare, times):
    rng = np.random.default_rng(3)
    readings = leg_lengths(geometry, poses[:1000]) + 1e-4 * rng.normal(size=(1000, 6))
    ratio, tracker, found = compare(readings, leg_noise=1e-4 / times)
    assert ratio < 1.2 and 'leg_noise' in tracker.noise.advice[0]
    told = alarms(found)
    assert all(found[k].flags & Flag.PARAMETER_TOO_SMALL for k in told if k > 230)


def test_a_platform_that_stands_from_the_start_is_predicted(geometry, home):
    """Readings that repeat before any hold is known are followed, as of legs that stand."""
    tracker, lengths = MonitoredTracker(geometry, home), leg_lengths(geometry, home)
    for k in range(5):
        found = tracker.track(10**9 + k * 10**6, lengths)
    assert np.abs(found.motion.rates).max() < 1e-6
    estimate = found.motion.at(1e-3)
    assert np.abs(estimate.lengths - lengths).max() < 1e-6
    assert estimate.length_variance < 1e-4


@pytest.mark.parametrize('period', [1, 2, 5, 10, 20])  # ms
@pytest.mark.parametrize('count', [3, 5, 10, 15, 30, 100])
def test_a_leg_that_jumps_while_the_platform_stands_is_named(geometry, home, period, count):
    """Whether or not readings have repeated for longer than a bus may hold them."""
    monitor, lengths = LegMonitor(geometry), leg_lengths(geometry, home)
    found = []
    for k in range(count + 30):
        found.append(monitor.examine(k * period * 10**6, lengths + 0.03 * LEG_5 * (k >= count)))
    assert not any(any(each.faults) for each in found[:count])
    assert found[count].faults.outliers == (4,)
    assert found[-1].faults.stepped == (4,)


@pytest.mark.parametrize('rates', [[300, 200, 137, 100, 70, 50], [170] * 6])
def test_slow_buses_are_no_jumps_as_the_platform_starts(held, compare, rates):
    """No leg has a reading in each sample, and no sample has one of each leg."""
    _, _, found = compare(held(rates)[:1000])
    assert not alarms(found)


@pytest.mark.parametrize('rates', [[1] * 6, [2] * 6, [20, 20, 2, 20, 20, 20],
                                   [20, 20, 1, 20, 20, 20], [20, 10, 6, 4, 2, 1]])
def test_a_bus_of_a_few_hz_is_no_fault_from_its_first_readings_on(geometry, motion, rates):
    """A motion ten times slower: the legs go a few mm while a reading is held."""
    times, monitor = np.arange(600) / 20.0, LegMonitor(geometry)
    taken = np.array([np.floor(times * rate + 1e-9) / rate for rate in rates])
    lengths = np.array([leg_lengths(geometry, motion.pose(0.1 * each))[:, leg]
                        for leg, each in enumerate(taken)]).T
    lengths += NOISE * np.random.default_rng(3).normal(size=(600, 6))
    first = np.round(20.0 * taken).astype(int)
    found = [monitor.examine(k * 50 * 10**6, reading) for k, reading in enumerate(
        lengths[first, np.arange(6)[:, None]].T)]
    assert not any(any(each.faults) for each in found)
    slow = [rate for rate in rates if rate < 20]
    assert [repeats for repeats in monitor.report().repeats if repeats > 1.0] == pytest.approx(
        [20.0 / rate for rate in slow], rel=0.1)


def test_a_leg_that_was_frozen_has_not_stepped(geometry, poses):
    readings = leg_lengths(geometry, poses)
    readings += NOISE * np.random.default_rng(3).normal(size=readings.shape)
    readings[1000:2500, 4] = readings[1000, 4]
    monitor = LegMonitor(geometry)
    found = [monitor.examine(k * 10**6, reading).faults for k, reading in enumerate(readings)]
    assert found[2499].frozen == (4,)
    assert not any(any(each) for each in found[2500:])
