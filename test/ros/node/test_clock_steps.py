# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The system's clock is set back under a node whose timers follow it."""

import pytest
from rclpy.node import Node

from liedyn_ros.ros.node import lifecycle
from liedyn_ros.ros.node.lifecycle import ManagedNode, StepWatch

pytestmark = pytest.mark.ros
HOUR_NS, PERIOD_NS = 3600 * 1_000_000_000, 20_000_000


@pytest.fixture
def stepped(bench):
    """Return a function that moves the clock by so many ns, and returns which timers were set."""
    node = bench.adopt(Node('stepped', context=bench.partner.context))
    looks = []

    class Timer:

        timer_period_ns = PERIOD_NS

        def __init__(self, name, canceled):
            self.name, self.is_canceled, self.left_ns = name, lambda: canceled, PERIOD_NS // 2
            self.canceled, self.set_again = canceled, 0

        def time_until_next_call(self):
            return None if self.canceled else self.left_ns

        def reset(self):
            self.left_ns, self.set_again = PERIOD_NS, self.set_again + 1

    timers = [Timer('running', False), Timer('at rest', True)]

    class Watched:

        def create_timer(self, period, look, clock):
            return node.create_timer(period, lambda: looks.append(look()), clock=clock)

    Watched.timers = timers
    StepWatch(Watched())

    def step(by_ns):
        for timer in timers:
            timer.left_ns, timer.set_again = timer.left_ns - by_ns, 0
        seen = len(looks)
        bench.until(lambda: len(looks) > seen, 'a look at the timers')
        return [timer.name for timer in timers if timer.set_again]

    return step


@pytest.mark.parametrize('by_ns, timers', [
    (-HOUR_NS, ['running']), (-100_000_000, ['running']), (-1_000_000, []), (HOUR_NS, [])])
def test_timers_are_set_again_after_a_step_back(stepped, by_ns, timers):
    assert stepped(by_ns) == timers
    assert stepped(0) == []


def test_a_timer_that_was_armed_by_the_time_before_the_step_is_set_again(stepped):
    """As by a thread that serves it meanwhile, after the others were set."""
    for _ in range(2):
        assert stepped(-HOUR_NS) == ['running']


def test_every_node_looks(bench):
    class Plain(ManagedNode):

        def __init__(self, **options):
            super().__init__('plain', (), **options)

    node = bench.start(Plain)
    before = [timer.timer_period_ns for timer in node.timers]
    assert round(1e9 * lifecycle.TIMER_LOOK_PERIOD) in before
