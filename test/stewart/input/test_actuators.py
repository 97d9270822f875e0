# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Actuator readings: matched by name, scaled, refused with a reason; sets of one time."""

import numpy as np
import pytest
from support.refusals import ANY, refused

from liedyn_ros.common.errors import (
    LiedynError, LimitError, NameSetError, NotFiniteError, ShapeError, StampError)
from liedyn_ros.stewart.input.actuators import (
    ActuatorSynchronizer, LegActuators, Reading, WAITING_READINGS)

NAMES = tuple('abcdef')
MILLISECOND = 1_000_000


@pytest.fixture
def actuators():
    """Return six actuators with different scales and offsets."""
    return LegActuators(NAMES, 0.1 * np.arange(1, 7), np.arange(6) + 0.5)


def test_any_order_gives_leg_order(actuators):
    rng = np.random.default_rng(3)
    positions = rng.normal(size=6)
    expected = 0.1 * np.arange(1, 7) * positions + np.arange(6) + 0.5
    for _ in range(10):
        order = rng.permutation(6)
        names = [NAMES[i] for i in order]
        assert np.allclose(actuators.lengths(names, positions[order]), expected, rtol=1e-15)
        assert np.allclose(
            actuators.rates(names, positions[order], expected), 0.1 * np.arange(1, 7) * positions)
    assert np.allclose(actuators.positions(expected), positions, atol=1e-14)


def test_an_actuator_beside_its_leg_is_the_leg_of_a_triangle(actuators):
    beside = np.array([0.0, 0.05, 0.1, 0.0, 0.02, 0.3])
    aside = LegActuators(NAMES, actuators.scales, actuators.offsets, beside=beside)
    positions, velocities, step = np.linspace(0.5, 2.0, 6), np.linspace(-1.0, 1.0, 6), 1e-4
    lengths, measured = aside.lengths(NAMES, positions), actuators.lengths(NAMES, positions)
    assert lengths ** 2 - beside ** 2 == pytest.approx(measured ** 2, rel=1e-14)
    assert aside.positions(lengths) == pytest.approx(positions, rel=1e-12)
    rates = (aside.lengths(NAMES, positions + step * velocities)
             - aside.lengths(NAMES, positions - step * velocities)) / (2.0 * step)
    # The difference is off by the rounding of a length, 1e-15 m, over the step. Lengths are nearly
    # straight: their third derivatives add less. A scale of 0.1 makes ten times as much of it.
    assert aside.rates(NAMES, velocities, lengths) == pytest.approx(rates, abs=1e-10)
    assert aside.velocities(rates, lengths) == pytest.approx(velocities, abs=1e-9)
    actuators.require_constant_ratio()
    with refused(LimitError, 'actuator_beside', expected=0):
        aside.require_constant_ratio()
    with refused(LimitError, 'actuator positions'):
        aside.lengths(NAMES, np.full(6, -20.0))
    with refused(LimitError, 'lengths'):
        aside.positions(np.full(6, 0.2))
    with refused(LimitError, 'actuator beside', expected=0):
        LegActuators(NAMES, actuators.scales, actuators.offsets, beside=-beside)


@pytest.mark.parametrize(('names', 'positions', 'error', 'named', 'got'), [
    ('abcde', np.ones(5), NameSetError, ('f',), ('a', 'b', 'c', 'd', 'e')),
    ('abcdeg', np.ones(6), NameSetError, ('f', 'g'), ANY),
    ('abcdee', np.ones(6), NameSetError, ('f', 'e'), ANY),
    ('abcdefg', np.ones(7), NameSetError, ('g',), ANY),
    ('abcdef', np.ones(5), ShapeError, [ANY], (5,)),
    ('abcdef', [1, 2, 3, 4, 5, np.nan], NotFiniteError, ('actuator positions in leg order',), ANY),
    ('', [], NameSetError, [ANY], ANY),
    ('abcdef', np.ma.masked_array(np.ones(6), 1), LiedynError, ('actuator positions',), ANY),
])
def test_bad_readings_are_named(actuators, names, positions, error, named, got):
    with refused(error, *named, got=got):
        actuators.lengths(list(names), positions)


def test_other_joints_are_passed_over_on_request():
    actuators = LegActuators(NAMES, np.ones(6), np.zeros(6), ignore_others=True)
    assert actuators.lengths(list('xabcdefy'), np.arange(8.0)).tolist() == [1, 2, 3, 4, 5, 6]
    with refused(NameSetError, 'f'):
        actuators.lengths(list('xabcde'), np.arange(6.0))


@pytest.mark.parametrize(('names', 'scales', 'error'), [
    (NAMES[:5], np.ones(6), NameSetError), (('a',) * 6, np.ones(6), NameSetError),
    (NAMES[:5] + ('',), np.ones(6), NameSetError), (NAMES, np.ones(5), ShapeError),
    (NAMES, [1, 1, 1, 1, 1, 0], LimitError), (NAMES, [1, 1, 1, 1, 1, np.inf], NotFiniteError),
])
def test_bad_settings_are_refused(names, scales, error):
    with pytest.raises(error):
        LegActuators(names, scales, np.zeros(6))


def fill(synchronizer, start_ns, spacing_ns, names=NAMES):
    """Add one reading an actuator, spaced in time; return what the last one gave."""
    for k, name in enumerate(names):
        complete = synchronizer.add(name, Reading(start_ns + k * spacing_ns, float(k)))
    return complete


def test_a_set_closes_when_all_readings_are_of_one_time():
    synchronizer = ActuatorSynchronizer(NAMES, tolerance=5e-3)
    assert fill(synchronizer, 0, MILLISECOND, NAMES[:5]) is None
    assert synchronizer.missing() == ['f']
    complete = synchronizer.add('f', Reading(5 * MILLISECOND, 5.0, 0.25))
    assert complete is not None and complete['f'].velocity == 0.25
    assert [complete[name].position for name in NAMES] == [0, 1, 2, 3, 4, 5]
    assert synchronizer.missing() == list(NAMES)
    assert fill(synchronizer, 10 * MILLISECOND, MILLISECOND) is not None


def test_readings_too_far_apart_wait_for_newer_ones():
    synchronizer = ActuatorSynchronizer(NAMES, tolerance=2e-3)
    assert fill(synchronizer, 0, MILLISECOND) is None
    assert fill(synchronizer, 10 * MILLISECOND, 0) is not None


def test_a_set_never_reuses_a_reading():
    synchronizer = ActuatorSynchronizer(NAMES, tolerance=1.0)
    assert fill(synchronizer, 0, 0) is not None
    assert fill(synchronizer, MILLISECOND, 0, NAMES[:5]) is None
    assert synchronizer.missing() == ['f']


def sets_of(synchronizer, readings):
    """Return the stamps of each set that readings (name, ms) make, in ms."""
    sets = [synchronizer.add(name, Reading(round(ms * MILLISECOND), 0.0)) for name, ms in readings]
    return [[complete[name].stamp_ns / MILLISECOND for name in NAMES]
            for complete in sets if complete]


@pytest.mark.parametrize('ahead', [1, 2, 8])
@pytest.mark.parametrize('tolerance', [0.0, 4e-4])
def test_an_actuator_ahead_of_the_others_waits_for_them(ahead, tolerance):
    """Its newest reading is of another time than theirs, which closed no set or a false one."""
    readings = [(name, k + ahead * (name == 'a')) for k in range(100) for name in NAMES]
    sets = sets_of(ActuatorSynchronizer(NAMES, tolerance), readings)
    assert sets == [[k] * 6 for k in range(ahead, 100)]


def test_a_tolerance_of_more_than_half_a_period_is_cut_once_the_period_is_known():
    readings = [(name, k + (name == 'a')) for k in range(100) for name in NAMES]
    sets = sets_of(ActuatorSynchronizer(NAMES, 2e-3), readings)
    assert sets[1:] == [[k] * 6 for k in range(2, 100)]
    arrivals = sets_of(ActuatorSynchronizer(NAMES, 2e-3, stamped=False), readings)
    assert len(arrivals) == 100  # nothing tells them apart


def test_every_set_comes_with_its_last_reading_whatever_is_lost_or_shifted():
    """Against a search over all: a set is what lies within half a period of every time."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        shift, delay = rng.uniform(-0.2, 0.2, 6), rng.uniform(0.0, 5.0, 6)
        arrivals = sorted((k + delay[i], k, name, k + shift[i]) for k in range(60)
                          for i, name in enumerate(NAMES) if rng.random() > 0.05)
        whole = [k for k in range(60) if sum(at[1] == k for at in arrivals) == 6]
        synchronizer = ActuatorSynchronizer(NAMES, 4.5e-4)
        closed = [(k, [round(r.stamp_ns / MILLISECOND) for r in complete.values()])
                  for _, k, name, ms in arrivals
                  if (complete := synchronizer.add(name, Reading(round(ms * 1e6) + 10**9, 0.0)))]
        assert [of for _, of in closed] == [[k + 1000] * 6 for k in whole]
        ends = {k: max(at[0] for at in arrivals if at[1] == k) for k in whole}
        last = {k: at[1] for at in arrivals for k in whole if at[0] == ends[k]}
        assert [k for k, _ in closed] == [last[k] for k in whole]


def test_readings_that_wait_are_bounded():
    synchronizer = ActuatorSynchronizer(NAMES, 4e-4)
    assert not sets_of(synchronizer, [(name, k) for k in range(1000) for name in NAMES[:5]])
    assert sets_of(synchronizer, [('f', k) for k in range(1000)]) == [
        [k] * 6 for k in range(1000 - WAITING_READINGS, 1000)]


def test_a_reading_of_the_same_stamp_takes_the_place_of_the_last():
    synchronizer = ActuatorSynchronizer(NAMES, 1e-3)
    fill(synchronizer, 0, 0, NAMES[:5])
    synchronizer.add('a', Reading(0, 7.0))
    assert synchronizer.add('f', Reading(0, 0.0))['a'].position == 7.0
    assert synchronizer.add('a', Reading(0, 8.0)) is None and synchronizer.missing() == [*NAMES]


def test_a_reading_that_comes_late_is_refused_and_nothing_else():
    synchronizer = ActuatorSynchronizer(NAMES, tolerance=1e-3)
    fill(synchronizer, 100 * MILLISECOND, 0, NAMES[:5])
    with refused(StampError, 'a', expected=100000000):
        synchronizer.add('a', Reading(50 * MILLISECOND, 0.0))
    assert synchronizer.add('f', Reading(100 * MILLISECOND, 0.0))


def test_a_clock_set_back_restarts_the_matching():
    synchronizer = ActuatorSynchronizer(NAMES, tolerance=1e-3)
    fill(synchronizer, 1000 * MILLISECOND, 0)
    with refused(StampError, 'a'):
        synchronizer.add('a', Reading(50 * MILLISECOND, 0.0))
    assert fill(synchronizer, 51 * MILLISECOND, 0) is not None


@pytest.mark.parametrize('stamped', [True, False])
def test_an_actuator_that_dies_between_two_sets_is_named(stamped):
    """Its last reading came after the last set, and is dropped while the others go on."""
    synchronizer = ActuatorSynchronizer(NAMES, tolerance=1e-3, stamped=stamped)
    for k in range(10):
        fill(synchronizer, 10 * k * MILLISECOND, 0)
    assert synchronizer.add('d', Reading(100 * MILLISECOND, 0.0)) is None
    for k in range(11, 40):
        assert fill(synchronizer, 10 * k * MILLISECOND, 0, [*'abcef']) is None
    assert synchronizer.missing() == ['d']


def test_actuators_whose_readings_never_meet_are_not_missing():
    synchronizer = ActuatorSynchronizer(NAMES, tolerance=1e-4)
    for k in range(100):
        assert fill(synchronizer, 10 * k * MILLISECOND, MILLISECOND) is None
    assert synchronizer.missing() == []


def test_unknown_actuators_and_bad_tolerances_are_refused():
    with refused(NameSetError, 'g', got='g'):
        ActuatorSynchronizer(NAMES, 1e-3).add('g', Reading(0, 0.0))
    for tolerance in (-1.0, float('nan'), float('inf')):
        with refused(LimitError, 'tolerance'):
            ActuatorSynchronizer(NAMES, tolerance)
