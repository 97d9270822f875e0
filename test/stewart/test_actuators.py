# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Actuator readings: matched by name, scaled, refused with a reason; sets of one time."""

import numpy as np
import pytest

from liedyn_ros.errors import LimitError, NameSetError, NotFiniteError, ShapeError, StampError
from liedyn_ros.stewart import Actuators, ActuatorSynchronizer, Reading

NAMES = tuple('abcdef')
MILLISECOND = 1_000_000


@pytest.fixture
def actuators():
    """Return six actuators with scales and offsets of their own."""
    return Actuators(NAMES, 0.1 * np.arange(1, 7), np.arange(6) + 0.5)


def test_any_order_gives_leg_order(actuators):
    rng = np.random.default_rng(3)
    positions = rng.normal(size=6)
    expected = 0.1 * np.arange(1, 7) * positions + np.arange(6) + 0.5
    for _ in range(10):
        order = rng.permutation(6)
        names = [NAMES[i] for i in order]
        assert np.allclose(actuators.lengths(names, positions[order]), expected, rtol=1e-15)
        assert np.allclose(
            actuators.rates(names, positions[order]), 0.1 * np.arange(1, 7) * positions)
    assert np.allclose(actuators.positions(expected), positions, atol=1e-14)


@pytest.mark.parametrize(('names', 'positions', 'error', 'message'), [
    ('abcde', np.ones(5), NameSetError, r"missing \['f'\]"),
    ('abcdeg', np.ones(6), NameSetError, r"missing \['f'\], unknown \['g'\]"),
    ('abcdee', np.ones(6), NameSetError, r"missing \['f'\], repeated \['e'\]"),
    ('abcdefg', np.ones(7), NameSetError, r"unknown \['g'\]"),
    ('abcdef', np.ones(5), ShapeError, r'\(6,\), got \(5,\)'),
    ('abcdef', [1, 2, 3, 4, 5, np.nan], NotFiniteError, r'\[5\].*nan'),
    ('', [], NameSetError, 'missing'),
])
def test_bad_readings_are_named(actuators, names, positions, error, message):
    with pytest.raises(error, match=message):
        actuators.lengths(list(names), positions)


def test_other_joints_are_passed_over_on_request():
    actuators = Actuators(NAMES, np.ones(6), np.zeros(6), ignore_others=True)
    assert actuators.lengths(list('xabcdefy'), np.arange(8.0)).tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(NameSetError, match=r"missing \['f'\]"):
        actuators.lengths(list('xabcde'), np.arange(6.0))


@pytest.mark.parametrize(('names', 'scales', 'error'), [
    (NAMES[:5], np.ones(6), NameSetError), (('a',) * 6, np.ones(6), NameSetError),
    (NAMES[:5] + ('',), np.ones(6), NameSetError), (NAMES, np.ones(5), ShapeError),
    (NAMES, [1, 1, 1, 1, 1, 0], LimitError), (NAMES, [1, 1, 1, 1, 1, np.inf], NotFiniteError),
])
def test_bad_settings_are_refused(names, scales, error):
    with pytest.raises(error):
        Actuators(names, scales, np.zeros(6))


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


def test_time_going_backward_is_refused_and_starts_anew():
    synchronizer = ActuatorSynchronizer(NAMES, tolerance=1e-3)
    fill(synchronizer, 100 * MILLISECOND, 0)
    with pytest.raises(StampError, match='stamp of a'):
        synchronizer.add('a', Reading(50 * MILLISECOND, 0.0))
    assert fill(synchronizer, 51 * MILLISECOND, 0) is not None


def test_unknown_actuators_and_bad_tolerances_are_refused():
    with pytest.raises(NameSetError, match="got 'g'"):
        ActuatorSynchronizer(NAMES, 1e-3).add('g', Reading(0, 0.0))
    for tolerance in (-1.0, float('nan'), float('inf')):
        with pytest.raises(LimitError, match='tolerance'):
            ActuatorSynchronizer(NAMES, tolerance)
