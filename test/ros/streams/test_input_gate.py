# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The gate of stamped input: age, lead, order, silence, clocks that were set; ages reported."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.common.errors import StampError
from liedyn_ros.ros.streams import input_gate
from liedyn_ros.ros.streams.age_statistics import AgeStatistics, MAX_KEPT
from liedyn_ros.ros.streams.input_gate import ClockMonitor, InputGate

S = 1_000_000_000  # ns


@pytest.fixture
def clock():
    """Return a clock that the test sets, ns."""
    return SimpleNamespace(now=100 * S)


def gate_of(clock, **bounds):
    return InputGate(lambda: clock.now, **bounds)


@pytest.mark.parametrize(('stamp', 'named', 'got'), [
    (98.9, 'stamp', 1.1),
    (100.06, 'stamp', 0.06)])
def test_a_stamp_too_old_or_ahead_is_refused(clock, stamp, named, got):
    gate = gate_of(clock, max_age=1.0, max_lead=0.05)
    with refused(StampError, named, got=got):
        gate.require_recent(round(stamp * S))


@pytest.mark.parametrize(('stamps', 'max_age', 'unset'), [
    ([0], 1.0, True), ([0, 0], 0.0, True), ([1, 1], 0.0, False), ([1], 1.0, False)])
def test_a_publisher_that_sets_no_stamp_is_told_so(clock, stamps, max_age, unset):
    gate = gate_of(clock, max_age=max_age)
    with pytest.raises(StampError) as refusal:
        for stamp in stamps:
            gate.follows(stamp)
    assert ('header.stamp' in str(refusal.value)) == unset


def test_a_message_that_is_younger_than_the_last_look_is_not_ahead(clock):
    """As where a batch takes long, or the process did not run after it had read the clock."""
    gate = gate_of(clock, max_age=1.0, max_lead=0.05)
    gate.look()
    clock.now += 2 * S
    gate.require_recent(clock.now)
    with pytest.raises(StampError):
        gate.require_recent(clock.now + S // 10)
    with pytest.raises(StampError):
        gate.require_recent(clock.now - 4 * S)


def test_a_process_that_did_not_run_is_told_from_a_clock_that_was_set(clock, monkeypatch):
    real = SimpleNamespace(now=0.0)
    monkeypatch.setattr(input_gate.time, 'monotonic', lambda: real.now)
    monitor = ClockMonitor(lambda: clock.now, max_step=5.0)
    for step, passed, cause in ((4.0, 0.0, ''), (60.0, 0.0, 'the clock was set'),
                                (-1.0, 0.1, 'the clock was set'), (6.0, 6.0, 'did not run for 6'),
                                (3.0, 3.0, '')):
        clock.now += round(step * S)
        real.now += passed
        monitor.look()
        assert monitor.was_set == bool(cause)
        assert cause in monitor.cause


@pytest.mark.parametrize('stamp', [99.0, 100.0, 100.05])
def test_a_stamp_at_a_bound_passes(clock, stamp):
    assert gate_of(clock, max_age=1.0, max_lead=0.05).follows(round(stamp * S))


def test_the_lead_is_that_of_the_age_where_none_is_given(clock):
    gate = gate_of(clock, max_age=0.5)
    gate.require_recent(round(100.5 * S))
    with refused(StampError, 'stamp', got=0.6):
        gate.require_recent(round(100.6 * S))


def test_a_stamp_may_be_ahead_of_simulated_time_by_five_seconds_and_the_lead(clock):
    """As where /clock comes ten times a second, or the process that reads it is busy."""
    gate = gate_of(clock, max_age=9.0, max_lead=0.05, simulated=lambda: True)
    for _ in range(3):
        clock.now += S // 10
        gate.look()
        gate.require_recent(clock.now + round(5.04 * S))
    with refused(StampError, 'stamp', got=5.06, expected=5.05):
        gate.require_recent(clock.now + round(5.06 * S))


def test_without_a_greatest_age_any_stamp_passes(clock):
    for stamp in (1, 1000 * S):
        assert gate_of(clock, max_age=0.0, max_lead=0.05).follows(stamp)


def test_a_clock_that_has_not_started_judges_nothing(clock):
    clock.now = 0
    assert gate_of(clock, max_age=1.0).follows(1000 * S)


def test_bounds_may_change_at_any_time(clock):
    gate = gate_of(clock)
    gate.follows(50 * S)
    gate.max_age = 1.0
    with pytest.raises(StampError):
        gate.follows(51 * S)


def test_order_is_kept_and_stamps_set_back_are_followed(clock):
    gate = gate_of(clock)
    assert gate.follows(100 * S)
    for late in (100 * S, 99 * S):
        with refused(StampError, 'stamp'):
            gate.follows(late)
    assert not gate.follows(99 * S + 1)  # the second in a row: the clock of the stamps was set
    assert gate.follows(99 * S + 2)


def test_a_reset_takes_any_stamp(clock):
    gate = gate_of(clock)
    gate.follows(100 * S)
    gate.reset()
    assert gate.follows(1)


def test_silence_is_counted_from_the_last_input_accepted(clock):
    gate = gate_of(clock, timeout=0.5)
    gate.accept()
    for now, silent in ((100.5, False), (100.6, True)):
        clock.now = round(now * S)
        gate.look()
        assert gate.silent == silent
    assert gate.silence == pytest.approx(0.6)
    gate.accept()
    assert not gate.silent and gate.silence == 0.0


def test_without_a_timeout_there_is_no_silence(clock):
    gate = gate_of(clock)
    clock.now += 1000 * S
    gate.look()
    assert not gate.silent and gate.silence > 999.0


@pytest.mark.parametrize(('before', 'after'), [(0, 100 * S), (100 * S, 50 * S)])
def test_silence_starts_again_where_the_clock_starts_or_is_set_back(clock, before, after):
    clock.now = before
    gate = gate_of(clock, timeout=0.5)
    clock.now = after
    gate.look()
    assert not gate.silent
    clock.now += S
    gate.look()
    assert gate.silent


@pytest.mark.parametrize(('step', 'was_set'), [
    (0.0, False), (5.0, False), (5.1, True), (-0.1, True)])
def test_a_clock_that_was_set_is_reported(clock, step, was_set):
    monitor = ClockMonitor(lambda: clock.now, 5.0)
    clock.now += round(step * S)
    assert monitor.look() == clock.now
    assert monitor.was_set == was_set
    monitor.look()
    assert not monitor.was_set


def test_without_a_greatest_step_a_clock_is_only_set_back(clock):
    monitor = ClockMonitor(lambda: clock.now)
    clock.now += 1000 * S
    monitor.look()
    assert not monitor.was_set


def report_of(values):
    ages = AgeStatistics()
    for age in values:
        ages.note(age)
    assert len(ages) == len(values)
    return {key: float(value) for key, value in ages.report().items()}


def test_nothing_is_told_where_nothing_was_published():
    assert report_of([]) == {}


@pytest.mark.parametrize('count', [1, 2, MAX_KEPT, MAX_KEPT + 1, 123 * MAX_KEPT + 7])
def test_the_median_is_that_of_the_whole_time_and_the_last_may_be_the_greatest(count):
    ages = np.linspace(1.0, 2.0, count)  # s, that grow: what is kept is no part of the time
    found = report_of(ages)
    assert found['age median, ms'] == pytest.approx(1e3 * np.median(ages), rel=2.0 / MAX_KEPT)
    assert found['age greatest, ms'] == pytest.approx(1e3 * ages[-1], abs=0.005)


def test_no_more_is_kept_than_the_median_needs():
    ages = AgeStatistics()
    for _ in range(20 * MAX_KEPT):
        ages.note(0.001)
    assert MAX_KEPT // 2 <= len(ages._kept) <= MAX_KEPT
