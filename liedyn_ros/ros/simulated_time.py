# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Simulated time: follows the clock, but waits for commands that are too old."""

from collections import deque
import math
import time

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
import numpy as np

MAX_AGES = 10_000  # of commands, for a report
CONTROLLER_TIMEOUT = 2.0  # s of real time that simulated time waits for the controller
SLOW = 0.95  # share of the required speed or rate, below which the report warns


class SimulatedTime:
    """
    Simulated time, s from its start.

    A command has the stamp of the state that it answers. Where max_age (s) is above 0, simulated
    time waits as soon as that state is older than this. On a busy machine the flight then runs
    slowly; otherwise commands would be too late for a stable loop.
    """

    def __init__(self, factor: float, max_age: float, now_ns: int, rate: float) -> None:
        """
        Start at 0.

        factor: seconds a second of the clock, which shows now_ns. rate: states published
        a second, for the report.
        """
        self._rate = rate
        self._factor, self._max_age = factor, max_age
        self.looked_ns, self.due = now_ns, 0.0
        # Of each topic: the time of the state that its command answers, and when that came.
        self._newest: dict[str, tuple[float, float]] = {}
        self._reported, self._reported_ns, self._reported_time = time.monotonic(), now_ns, 0.0
        self._ages: deque[float] = deque(maxlen=MAX_AGES)

    def pass_to(self, now_ns: int, *, moves: bool) -> None:
        """Follow the clock, unless a newer command is needed first."""
        due = self.due + 1e-9 * (now_ns - self.looked_ns) * self._factor
        self.looked_ns = now_ns
        if moves and self._max_age > 0.0:
            now = time.monotonic()
            due = min(due, *(state_time + self._max_age
                             for state_time, heard in self._newest.values()
                             if now - heard < CONTROLLER_TIMEOUT), math.inf)
        self.due = max(self.due, due)

    def commanded(self, topic: str, state_time: float) -> None:
        """Register a command that comes into force now and answers the state of a time."""
        self._newest[topic] = state_time, time.monotonic()
        self._ages.append(self.due - state_time)

    def report(self, name: str, reached: float, states: int) -> DiagnosticStatus:
        """
        Return the pace since the last report, and the ages of the last MAX_AGES commands.

        reached: the time that the simulation has reached. states: published since the last report.
        """
        now, passed = time.monotonic(), reached - self._reported_time
        asked = 1e-9 * (self.looked_ns - self._reported_ns) * self._factor
        real = now - self._reported
        values = {'real-time factor': passed / real, 'states a second': states / real}
        slow = ''
        if passed < SLOW * asked - 1.0 / self._rate:  # one state may be on its way
            slow = f'slower than {self._factor:g} times the clock'
        elif states < SLOW * asked * self._rate - 1.0:
            slow = f'fewer than {self._rate:g} states a simulated second'
        self._reported, self._reported_ns, self._reported_time = now, self.looked_ns, reached
        if self._ages:
            ages = 1e3 * np.percentile(self._ages, (50, 99, 100))
            values |= zip(('age of commands median, ms', 'age of commands 99th percentile, ms',
                           'age of commands greatest, ms'), ages)
        return DiagnosticStatus(
            level=DiagnosticStatus.WARN if slow else DiagnosticStatus.OK, name=name,
            message=slow or 'at the required speed',
            values=[KeyValue(key=key, value=f'{value:.6g}') for key, value in values.items()])
