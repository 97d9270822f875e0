# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Simulated time: with the clock, held back for commands, but not forever."""

from types import SimpleNamespace

import pytest

from liedyn_ros.ros import simulated_time
from liedyn_ros.ros.simulated_time import CONTROLLER_TIMEOUT, SimulatedTime

pytestmark = pytest.mark.ros
MS = 1_000_000  # ns
RATE = 250.0  # Hz


@pytest.fixture(autouse=True)
def real(monkeypatch):
    """Replace real time, s, by one that the test sets."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(simulated_time.time, 'monotonic', lambda: clock.now)
    return clock


@pytest.mark.parametrize('factor', [0.5, 1.0, 3.0])
def test_passes_as_the_clock_does(factor):
    passed = SimulatedTime(factor, 0.0, 5 * MS, RATE)
    passed.commanded('speeds', 0.0)
    for now in (7 * MS, 7 * MS, 105 * MS):
        passed.pass_to(now, moves=True)
    assert passed.due == pytest.approx(0.1 * factor, rel=1e-12)


def test_waits_for_the_older_of_the_commands():
    passed = SimulatedTime(1.0, 0.02, 0, RATE)
    passed.pass_to(10 * MS, moves=False)
    passed.commanded('speeds', 0.008)
    passed.commanded('torques', 0.004)
    passed.pass_to(100 * MS, moves=True)
    assert passed.due == pytest.approx(0.024)
    passed.commanded('torques', 0.016)
    passed.pass_to(102 * MS, moves=True)
    assert passed.due == pytest.approx(0.026)  # what it waited is not made up for
    passed.pass_to(200 * MS, moves=True)
    assert passed.due == pytest.approx(0.028)


def test_never_goes_back_for_a_command_that_came_too_late():
    passed = SimulatedTime(1.0, 0.02, 0, RATE)
    passed.pass_to(100 * MS, moves=False)
    passed.commanded('speeds', 0.05)
    passed.pass_to(101 * MS, moves=True)
    assert passed.due == pytest.approx(0.1)


def test_waits_only_so_long(real):
    passed = SimulatedTime(1.0, 0.02, 0, RATE)
    passed.commanded('speeds', 0.0)
    real.now += 0.9 * CONTROLLER_TIMEOUT
    passed.pass_to(1000 * MS, moves=True)
    assert passed.due == pytest.approx(0.02)
    real.now += 0.2 * CONTROLLER_TIMEOUT
    passed.pass_to(1100 * MS, moves=True)
    assert passed.due == pytest.approx(0.12)


def test_waits_no_more_for_a_topic_that_is_silent(real):
    passed = SimulatedTime(1.0, 0.02, 0, RATE)
    passed.commanded('torques', 0.0)
    for k in range(1, 40):
        real.now += 0.1
        passed.commanded('speeds', passed.due)
        passed.pass_to(10 * k * MS, moves=True)
    assert passed.due == pytest.approx(0.02 + 0.01 * (39 - 20), abs=0.011)


def test_reports_speed_and_ages(real):
    passed = SimulatedTime(1.0, 0.02, 0, RATE)
    passed.commanded('speeds', -0.004)
    real.now += 0.5
    passed.pass_to(500 * MS, moves=True)
    status = passed.report('node: pace', passed.due, 4)
    assert (status.level, status.name) == (status.WARN, 'node: pace')
    assert status.message == 'slower than 1 times the clock'
    assert {entry.key: float(entry.value) for entry in status.values} == pytest.approx({
        'real-time factor': 0.032, 'states a second': 8.0, 'age of commands median, ms': 4.0,
        'age of commands 99th percentile, ms': 4.0, 'age of commands greatest, ms': 4.0})
    real.now += 1.0
    passed.pass_to(1500 * MS, moves=False)
    status = passed.report('node: pace', passed.due, 250)
    assert (status.level, status.message) == (status.OK, 'at the required speed')
    assert float(status.values[0].value) == pytest.approx(1.0)


@pytest.mark.parametrize(('reached', 'states', 'message'), [
    (1.0, 250, 'at the required speed'), (0.9, 225, 'slower than 1 times the clock'),
    (1.0, 225, 'fewer than 250 states a simulated second')])
def test_reports_what_did_not_keep_its_rate(real, reached, states, message):
    passed = SimulatedTime(1.0, 0.0, 0, RATE)
    real.now += 1.0
    passed.pass_to(1000 * MS, moves=False)
    assert passed.report('node: pace', reached, states).message == message
