# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The demo of the aerial manipulator judges a flight that it has seen, by its errors."""

import numpy as np
import pytest

from liedyn_ros.demo.aerial.demo import FLIGHT_TIME, judge, report, STATE_RATE
from liedyn_ros.demo.aerial.flight import RecordedFlight
from liedyn_ros.demo.verdict import Outcome

pytestmark = pytest.mark.ros


def flight(*, off=0.001, tilt=0.0, states=1.0, commands=1.0):
    """Return a flight that is off by m and rad all the time; shares of it that are recorded."""
    times = np.arange(0.0, FLIGHT_TIME * states, 1.0 / STATE_RATE)
    commanded = np.arange(0.0, FLIGHT_TIME * commands, 1.0 / STATE_RATE)
    wanted, error = np.zeros((len(times), 9)), np.zeros((len(times), 8))
    error[:, 0] = tilt
    return RecordedFlight(
        times, wanted + [off, *[0.0] * 8], wanted, error, commanded,
        np.full((len(commanded), 4), 700.0), np.zeros((len(commanded), 2)),
        calls={'calls': '3000'})


@pytest.mark.parametrize(('made', 'outcome'), [
    ({}, Outcome.HELD), ({'off': 0.02}, Outcome.NOT_HELD), ({'tilt': 0.02}, Outcome.NOT_HELD),
    ({'off': 0.02, 'states': 0.5}, Outcome.NOT_HELD), ({'states': 0.9}, Outcome.NOT_SHOWN),
    ({'commands': 0.9}, Outcome.NOT_SHOWN), ({'states': 0.1}, Outcome.NOT_SHOWN)])
def test_a_flight_is_judged_by_what_was_recorded_of_it(made, outcome):
    report(flight(**made))
    assert judge(flight(**made)).outcome is outcome
