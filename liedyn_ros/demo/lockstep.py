# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Simulated time in lockstep: it goes on when all nodes have answered, so load changes nothing."""

from collections.abc import Collection, Mapping
import time

from rosgraph_msgs.msg import Clock

from liedyn_ros.demo.session import Session
from liedyn_ros.demo.verdict import NotShownError
from liedyn_ros.ros.messages.conversions import stamp_of
from liedyn_ros.ros.messages.packed import NANOSECONDS

REPEAT_PERIOD = 0.1  # s; the same time again, where a message of /clock was lost
# s without an answer after which time goes on all the same: a best-effort message was lost. Before
# the first answer that is likely, as publishers and subscriptions have just found each other.
FIRST_TIMEOUT, STEP_TIMEOUT = 0.5, 10.0
# S without any answer; a starved process may be lost and found again meanwhile
ANSWER_TIMEOUT = 180.0


class Lockstep:
    """
    Publishes /clock for nodes that use simulated time, a step of a simulator at a time.

    After each step it waits until a message of that step has come on each answering topic. Its
    stamp may lie between two times of the clock: a timer that began before /clock has its own
    phase. Real time is the fastest that it goes.
    """

    def __init__(self, session: Session, rate: float, answers: Collection[str]) -> None:
        """Take the rate of the simulator, Hz, and the topics; let time stand still at now."""
        self._session, self._recorder = session, session.recorder
        self._publisher = self._recorder.create_publisher(Clock, '/clock', 1)
        self._step_ns, self._answers = round(NANOSECONDS / rate), answers
        self.now_ns, self.unanswered = time.time_ns(), 0
        self._heard = time.monotonic()
        self._answered = False
        self.show()

    def show(self) -> None:
        """Publish the time that it is."""
        self._publisher.publish(Clock(clock=stamp_of(self.now_ns)))

    def begin(self, nodes: Collection[str], heard: Mapping[str, Collection[str]]) -> None:
        """
        Wait for nodes to be active, and for topics to be heard by nodes, by their names.

        Raises NotShownError where they do not come, or another clock is in the domain.
        """
        self._session.wait_until_active(*nodes, idle=self.show)
        for topic, by in heard.items():
            self._session.wait_until_heard(topic, by, idle=self.show)
        if self._recorder.count_publishers('/clock') > 1:
            raise NotShownError('another process publishes /clock in this ROS domain; end it, or '
                                'take another domain: make demo TEST_DOMAIN_ID=42')
        self._heard = time.monotonic()

    def run(self, seconds: float) -> None:
        """
        Let a time pass, s, and tell the progress each second of it.

        Raises NotShownError where no answer comes for ANSWER_TIMEOUT, or the demo's time is over.
        """
        begin, steps = time.monotonic(), round(seconds * NANOSECONDS / self._step_ns)
        for k in range(1, steps + 1):
            self._recorder.spin_until(begin + (k - 1) * 1e-9 * self._step_ns)
            self._pass()
            if k * self._step_ns % NANOSECONDS == 0:
                left = (time.monotonic() - begin) * (steps - k) / k
                counts = ', '.join(f'{self._recorder.count(topic)} of {topic}'
                                   for topic in self._answers)
                print(f'  {k * self._step_ns // NANOSECONDS:2d} s of {seconds:g}: {counts}'
                      + (f'; about {left:.0f} s left' if k < steps else ''), flush=True)

    def _pass(self) -> None:
        """Let the time of a step pass, and wait for its answers."""
        self.now_ns += self._step_ns
        end = time.monotonic() + (STEP_TIMEOUT if self._answered else FIRST_TIMEOUT)
        while time.monotonic() < end:
            self.show()
            again = min(time.monotonic() + REPEAT_PERIOD, end)
            while not (done := self._is_answered()) and time.monotonic() < again:
                self._recorder.spin_some(again)
            if done:
                self._answered, self._heard = True, time.monotonic()
                return
        self.unanswered += 1
        self._session.require_time()
        if time.monotonic() > self._heard + ANSWER_TIMEOUT:
            silent = [topic for topic in self._answers if not self._has_answered(topic)]
            raise NotShownError(f'{", ".join(silent)}: nothing of the present simulated time came '
                                f'for {ANSWER_TIMEOUT:g} s')

    def _is_answered(self) -> bool:
        return all(self._has_answered(topic) for topic in self._answers)

    def _has_answered(self, topic: str) -> bool:
        return self._recorder.newest_ns(topic) > self.now_ns - self._step_ns
