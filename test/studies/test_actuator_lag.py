# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The study of lag: its tables, its plot, its exit codes."""

import numpy as np
import pytest

from liedyn_ros.studies.actuator_lag import study as actuator_lag
from liedyn_ros.studies.actuator_lag.flights import Flight, MAX_FLIGHT_ERROR

pytestmark = pytest.mark.full


def test_rates_compensate_the_lag(tmp_path, capsys):
    folder = tmp_path / 'made'
    arguments = ['--lags', '0.1', '--duration', '2.5', '--folder', str(folder)]
    assert actuator_lag.main(arguments) == 0
    shown = capsys.readouterr().out
    assert (folder / 'errors.png').stat().st_size > 10_000
    rows = [line.split() for line in shown.splitlines() if ' effort' in line]
    assert [row[0] for row in rows] == ['0', '0', '100', '100', '50', '80', '120', '150']
    joints = [float(row[-2]) for row in rows]
    assert joints[2] > 10.0 * joints[3]  # efforts, and with rates, at the same lag
    assert joints[3] < joints[4] < joints[2]  # and with half of the lag known


def test_a_lost_flight_is_reported_and_drawn(tmp_path, capsys):
    flights = [
        Flight(with_rates, lag, lag, np.array([0.0, 2.5, 2.6]), np.array([[0.1] * 3] * 2 + [
            [2.0 * MAX_FLIGHT_ERROR if lag and not with_rates else 0.1, 0.1, 0.1]]),
            np.zeros((3, 1)))
        for lag in (0.0, 0.1) for with_rates in (False, True)]
    actuator_lag.report(flights, 'lag')
    actuator_lag.draw(flights, tmp_path / 'errors.pdf')
    assert capsys.readouterr().out.count('lost at 2.6 s') == 1
    assert [flight.lost for flight in flights] == [False, False, True, False]
    assert actuator_lag.made_up(flights)
    worse = Flight(True, 0.1, 0.1, flights[0].times, 1.5 * flights[0].errors,
                   flights[0].states)
    assert not actuator_lag.made_up([flights[1], worse])


@pytest.mark.parametrize(('arguments', 'message'), [
    (['--lags', '-0.1'], 'expected a number of s from 0, got -0.1'),
    (['--mass-error', '-1'], 'expected a number above 0'),
])
def test_options_that_cannot_be_flown_are_refused(capsys, arguments, message):
    assert actuator_lag.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_flight_must_outlast_its_beginning(capsys):
    with pytest.raises(SystemExit):
        actuator_lag.main(['--duration', '1'])
    assert '--duration: expected more than 2 s' in capsys.readouterr().err
