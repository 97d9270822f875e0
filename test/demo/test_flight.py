# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The demo of the aerial manipulator judges its errors, and not how busy the machine was."""

import numpy as np
import pytest

from liedyn_ros.demo.aerial.demo import DURATION, report
from liedyn_ros.demo.aerial.flight import RecordedFlight

pytestmark = pytest.mark.ros
TIMES = np.arange(0.0, DURATION, 0.004)


def flight(*, off=0.001, tilt=0.0, rate=250.0, real_time_factor=1.0):
    """Return a flight that is off its reference by so many m and rad all the time."""
    wanted, error = np.zeros((len(TIMES), 9)), np.zeros((len(TIMES), 8))
    error[:, 0] = tilt
    commands = np.arange(0.0, DURATION, 1.0 / rate)
    return RecordedFlight(
        TIMES, wanted + [off, *[0.0] * 8], wanted, error, commands,
        np.full((len(commands), 4), 700.0), np.zeros((len(commands), 2)), real_time_factor,
        calls={'calls': '3000'}, pace={})


@pytest.mark.parametrize(('made', 'tracked'), [
    ({}, True), ({'off': 0.02}, False), ({'tilt': 0.02}, False),
    ({'off': 0.02, 'real_time_factor': 0.5}, False)])
def test_a_flight_off_its_reference_fails_on_any_machine(made, tracked):
    assert report(flight(**made)) == tracked


@pytest.mark.parametrize(('made', 'told'), [
    ({'rate': 150.0}, 'too busy for 200 commands a second'),
    ({'rate': 150.0, 'real_time_factor': 0.8}, 'too busy for real time')])
def test_a_busy_machine_is_told_so_and_tracks_all_the_same(capsys, made, told):
    assert report(flight(**made))
    assert told in capsys.readouterr().out
