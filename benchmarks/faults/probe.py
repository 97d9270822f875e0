# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Watches a node under test: python -m benchmarks.faults.probe NODE [--simulated].

It hears what the node is sent and what it publishes, and asks one of its services at a rate. A
line on the standard input asks for the record since the last, which is printed as JSON.
"""

from argparse import ArgumentParser
from dataclasses import asdict
import json
import time
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy

from benchmarks.faults.commands import Commands
from benchmarks.faults.figures import Record
from benchmarks.faults.subjects import Subject, SUBJECTS
from liedyn_ros.ros.messages.conversions import nanoseconds
from liedyn_ros.ros.qos import SERVICES

FRESH = 1.0  # s, an age that is fresh
ASK_PERIOD, ANSWER_TIMEOUT = 0.2, 2.0  # s, between two requests; for which an answer is waited
HEARD = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)


class Probe(Node):
    """The listener, and the client."""

    def __init__(self, subject: Subject, simulated: bool) -> None:
        """Subscribe, and open the client."""
        super().__init__(f'probe_of_{subject.node}', parameter_overrides=[
            Parameter('use_sim_time', value=simulated)])
        self._subject, self._record, self._pending = subject, Record(), []
        for topic, message in subject.inputs()[:1]:
            self.create_subscription(type(message), topic, self._hear_input, HEARD)
        self.create_subscription(*subject.output, self._hear_output, HEARD)
        kind, name, self._request = subject.question
        self._client = self.create_client(kind, name, qos_profile=SERVICES)
        self._due = time.monotonic()

    def take(self) -> Record:
        """Return the record since the last time."""
        taken, self._record = self._record, Record()
        return taken

    def ask(self) -> None:
        """Look at the answers, and ask again when that is due."""
        now = time.monotonic()
        for entry in list(self._pending):
            sent, future = entry
            if not future.done() and now - sent < ANSWER_TIMEOUT:
                continue
            self._pending.remove(entry)
            good = future.done() and self._subject.answers(future.result())
            self._record.requests.append((sent, now, bool(good)))
            if not future.done():
                self._client.remove_pending_request(future)
        if now >= self._due:
            self._due = now + ASK_PERIOD
            self._pending.append((now, self._client.call_async(self._request)))

    def _hear_input(self, message: Any) -> None:
        self._record.inputs.append((time.monotonic(), nanoseconds(message.header.stamp)))

    def _hear_output(self, message: Any) -> None:
        if not self._subject.counts(message):
            return
        stamp = nanoseconds(message.header.stamp)
        age = 1e-9 * (self.get_clock().now().nanoseconds - stamp)
        self._record.outputs.append((
            time.monotonic(), stamp, self._subject.good(message), abs(age) < FRESH))


def main() -> None:
    """Watch until the standard input ends."""
    parser = ArgumentParser(description='watcher of a node under test')
    parser.add_argument('node', choices=list(SUBJECTS))
    parser.add_argument('--simulated', action='store_true', help='take the time from /clock')
    options = parser.parse_args()
    rclpy.init()
    probe, commands = Probe(SUBJECTS[options.node], options.simulated), Commands()
    executor = SingleThreadedExecutor()
    executor.add_node(probe)
    while not commands.ended:
        executor.spin_once(timeout_sec=0.02)
        probe.ask()
        for _ in commands.take():
            print(json.dumps(asdict(probe.take())), flush=True)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
