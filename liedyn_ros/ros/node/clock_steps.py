# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Timers that go on where the system's clock is set back.

A timer of the node's clock is due at a time of that clock. After a step back it would be silent
for as long as the step. ROS 2 reports jumps of simulated time only.
"""

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer

LOOK_PERIOD = 0.5  # s, of looks at the timers
STEP_NS = 50_000_000  # ns beyond its period for which no timer waits, unless its clock was set


class StepWatch:
    """
    Sets each timer of a node again that waits longer than its period.

    It looks at the timers, not for a step of the clock. A thread that serves a timer during the
    step may arm it by the time before.
    """

    def __init__(self, node: Node) -> None:
        """Start to look; `close` ends that."""
        self._node = node
        self._looks = node.create_timer(
            LOOK_PERIOD, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def close(self) -> None:
        """Look no more."""
        self._node.destroy_timer(self._looks)

    def _look(self) -> None:
        for timer in self._node.timers:
            if _is_late(timer):
                timer.reset()


def _is_late(timer: Timer) -> bool:
    """Return whether a timer that runs is due later than a period from now."""
    left_ns = None if timer.is_canceled() else timer.time_until_next_call()
    return left_ns is not None and left_ns > timer.timer_period_ns + STEP_NS
