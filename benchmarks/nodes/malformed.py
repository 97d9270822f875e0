# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Malformed messages to every node.

    python -m benchmarks.nodes.malformed [--messages N] [--nodes ...]

Each node is sent serialised rubbish and spoilt copies of good messages on its input. Beside, its
parameters are set to values of any kind. Counted are the messages that the node took, by its own
/diagnostics, without those passed over. The rate follows from them: it falls where the node takes
less than it is sent. Input queues are long, and the publishers many, so that little is passed
over. What the middleware itself cannot read never reaches most nodes: it does not count, and few
of it are sent. Memory is looked at ten times. At the end good input must have good outputs, and
good requests right answers.
"""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, ExitStack
from dataclasses import replace
import os
import sys
import time
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message, serialize_message

from benchmarks.document import origin_line, table
from benchmarks.faults.scene import NotBackError, Scene, Stage
from benchmarks.faults.subjects import Subject, SUBJECTS
from benchmarks.nodes.memory import memory
from benchmarks.record import distro, keep, origin

MESSAGES = 100_000  # that each node takes
REQUESTS = 10_000  # to a node without input
BURST = 20  # messages that are sent at once
PUBLISHERS = 100  # in turns, as a node may look at the newest message of each alone
DEPTH = 1000  # of the queues of input
CHUNK = 500  # messages that are spoilt at once
START, SLOWEST, FASTEST = 500.0, 100.0, 10_000.0  # messages a second
ENOUGH, SLOWER, FASTER = 0.9, 0.7, 1.2  # of the messages of a report; factors of the rate
LOOKS = 10  # at the memory
MAX_GROWTH = 5.0  # MB, over the second half
BODY = 12  # bytes of CDR's header and a stamp, before the rest of a message
SETTLED = 10.0  # s, for the last answers
REQUEST_PERIOD = 0.05  # s, at least, between two requests
STUCK = 120.0  # s without a message taken
READS_BYTES = 'stewart_pose', 'loop_state_publisher'  # these count what cannot be read too
SOME = 10  # of so many spoilt messages that the middleware cannot read one is sent to the others
COUNTS = 'taken', 'solved', 'not solved', 'refused'  # values of /diagnostics that are messages
NEWEST_ONLY = 'dynamics_server'  # does not look at messages that it passes over
NEWEST_OF = {'view': ('pose',)}  # topics whose newest message alone counts, by node
NAMES = 'autostart', 'max_age', 'geometry_file', 'home_position', 'rate', 'model_file', 'x' * 300
# None is an empty name: without a model a server rightly stops to answer.
VALUES = (float('nan'), -1.0, 1e300, 2**62, True, 'x' * 3000, '/dev/zero', [1.0] * 7, ['a'])


class Shot(NamedTuple):
    """Bytes to publish, whether they are a message for the middleware, and whether they count."""

    publisher: Publisher
    raw: bytes
    readable: bool
    counts: bool


def spoilt(rng: np.random.Generator, good: bytes) -> bytes:
    """Return a malformed copy of a serialised message."""
    raw, kind = bytearray(good), rng.integers(0, 4)
    if kind == 0:
        return bytes(raw[:rng.integers(4, len(raw))])
    if kind == 1:
        raw[BODY:] = rng.bytes(len(raw) - BODY)
    elif kind == 2:
        for at in rng.integers(4, len(raw), rng.integers(1, 9)):
            raw[at] = rng.integers(0, 256)
    else:
        at = int(rng.integers(4, len(raw) - 8))
        raw[at:at + 8] = np.float64(rng.choice([np.nan, np.inf, -1e300])).tobytes()
    return bytes(raw)


def is_readable(raw: bytes, message_type: Any) -> bool:
    """Return whether the middleware can read bytes as a message of a type."""
    try:
        deserialize_message(raw, message_type)
    except RuntimeError:  # RMWError is one
        return False
    return True


@contextmanager
def quiet() -> Iterator[None]:
    """Discard what the middleware writes to the standard error about each such message."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


class Attack:
    """A publisher of rubbish that a node keeps up with, and a client that sets parameters."""

    def __init__(self, stack: ExitStack, subject: Subject) -> None:
        """Open both, and listen to what the node counts."""
        self._node, self._rng = Node('attack'), np.random.default_rng(7)
        stack.callback(self._node.destroy_node)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._part, self._counts_all = f'{subject.node}: ', subject.node in READS_BYTES
        self._node.create_subscription(DiagnosticArray, '/diagnostics', self._count, 100)
        self._newest = NEWEST_OF.get(subject.node, ())
        self._inputs = [(topic, self._open(type(message), topic), type(message),
                         serialize_message(message)) for topic, message in subject.inputs()]
        self._counted = {*COUNTS, *(('passed over',) if subject.node == NEWEST_ONLY else ())}
        self._client = self._node.create_client(
            SetParameters, f'{subject.node}/set_parameters')
        self._client.wait_for_service(SETTLED)
        self._shots: list[Shot] = []
        self._rate, self._due, self._ask, self._expected = START, time.monotonic(), 0.0, 0
        self.taken = self.sent = self.unreadable = 0
        self.requests: list[Any] = []
        self.heard = time.monotonic()  # of the last messages taken

    @property
    def done(self) -> int:
        """Return what the node has taken: messages, or requests where it has no input."""
        return self.taken if self._inputs else len(self.requests) - 1

    def burst(self) -> None:
        """Send a burst of messages and a request, once the request before is answered."""
        for _ in range(BURST if self._inputs else 0):
            if not self._shots:
                self._spoil()
            shot = self._shots.pop()
            shot.publisher.publish(shot.raw)
            self.sent += 1
            self.unreadable += not shot.readable
            self._expected += shot.counts
        if time.monotonic() >= self._ask and (not self.requests or self.requests[-1].done()):
            self._ask = time.monotonic() + REQUEST_PERIOD * bool(self._inputs)
            self._set_parameter()
            if not self._inputs:
                self.heard = time.monotonic()
        self._due = max(self._due + BURST / self._rate, time.monotonic() - 0.1)
        while True:
            self._executor.spin_once(timeout_sec=max(0.0, self._due - time.monotonic()))
            if time.monotonic() >= self._due:
                return

    def unanswered(self) -> int:
        """Return how many requests have no answer."""
        end = time.monotonic() + SETTLED
        while time.monotonic() < end and not self.requests[-1].done():
            self._executor.spin_once(timeout_sec=0.1)
        return sum(not request.done() for request in self.requests)

    def _open(self, message_type: Any, topic: str) -> list[Publisher]:
        return [self._node.create_publisher(message_type, topic, 10) for _ in range(PUBLISHERS)]

    def _spoil(self) -> None:
        while len(self._shots) < CHUNK:
            topic, publishers, kind, good = self._inputs[self._rng.integers(0, len(self._inputs))]
            raw = spoilt(self._rng, good)
            readable = is_readable(raw, kind)
            if readable or self._counts_all or not self._rng.integers(0, SOME):
                publisher = publishers[len(self._shots) % PUBLISHERS]
                self._shots.append(Shot(
                    publisher, raw, readable,
                    topic not in self._newest and (readable or self._counts_all)))

    def _set_parameter(self) -> None:
        parameter = Parameter(NAMES[self._rng.integers(0, len(NAMES))],
                              value=VALUES[self._rng.integers(0, len(VALUES))])
        self.requests.append(self._client.call_async(
            SetParameters.Request(parameters=[parameter.to_parameter_msg()])))

    def _count(self, report: DiagnosticArray) -> None:
        """Count the messages of a report, and set the rate by them."""
        counts = [int(value.value) * (1 if value.key in COUNTS else -1)
                  for status in report.status if status.name.startswith(self._part)
                  for value in status.values if value.key in self._counted]
        if not counts:
            return
        taken, expected, self._expected = sum(counts), self._expected, 0
        self.taken += taken
        if taken:
            self.heard = time.monotonic()
        factor = FASTER if taken >= ENOUGH * expected else SLOWER
        self._rate = min(max(factor * self._rate, SLOWEST), FASTEST)


def with_queues(subject: Subject) -> Subject:
    """Return a node under test with long queues of its inputs."""
    return replace(subject, parameters=(*subject.parameters, *(
        f'qos_overrides./{topic}.subscription.depth:={DEPTH}' for topic, _ in subject.inputs())))


def attack(subject: Subject, messages: int) -> dict[str, Any]:
    """Return the figures of a node under attack."""
    row: dict[str, Any] = {'node': subject.node, 'measured': origin()}
    wanted = messages if subject.inputs() else min(messages, REQUESTS)
    with ExitStack() as stack:
        try:
            stack.enter_context(quiet())
            scene = Scene(stack, with_queues(subject), Stage())
            scene.kill_feed()
            enemy, held, begin = Attack(stack, subject), [memory(scene.node.pid)], time.monotonic()
            while enemy.done < wanted:
                enemy.burst()
                if enemy.done * LOOKS // wanted >= len(held):
                    held.append(memory(scene.node.pid))
                    print(f'{subject.node}: {enemy.done} of {wanted} taken, '
                          f'{enemy.done / (time.monotonic() - begin):.0f} a second, '
                          f'{held[-1]:.1f} MB', flush=True)
                if time.monotonic() - enemy.heard > STUCK:
                    raise NotBackError(f'nothing taken for {STUCK:g} s')
            row |= {'taken': enemy.taken, 'sent': enemy.sent, 'unreadable': enemy.unreadable,
                    'requests': len(enemy.requests), 'unanswered': enemy.unanswered(),
                    'memory MB': held, 'growth MB': held[-1] - held[LOOKS // 2]}
            scene.start_feed()
            scene.wait(time.monotonic())
        except (NotBackError, SystemExit) as error:
            row['failed'] = str(error)
    return row


def failed(row: dict[str, Any]) -> str:
    """Return why a node failed, or nothing."""
    if 'failed' in row:
        return row['failed']
    if row['unanswered']:
        return f'{row["unanswered"]} requests without an answer'
    return 'memory grows' if row['growth MB'] > MAX_GROWTH else ''


def as_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return the figures as docs/operations.md has them."""
    return table(
        ('node', 'messages taken', 'sent', 'unreadable', 'requests, all answered',
         'memory after half, MB', 'at the end', ''),
        [(row['node'], *(('',) * 6 if 'taken' not in row else (
            row['taken'], row['sent'], row['unreadable'], row['requests'],
            f'{row["memory MB"][LOOKS // 2]:.1f}', f'{row["memory MB"][-1]:.1f}')),
            failed(row) or 'works') for row in rows]) + origin_line(rows[-1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Attack the nodes, print and keep."""
    parser = ArgumentParser(description='malformed messages to every node')
    parser.add_argument('--messages', type=int, default=MESSAGES)
    parser.add_argument('--nodes', nargs='+', choices=list(SUBJECTS), default=list(SUBJECTS))
    options = parser.parse_args(arguments)
    rclpy.init()
    rows = []
    for node in options.nodes:
        rows.append(attack(SUBJECTS[node], options.messages))
        keep(f'malformed_{distro()}', {'rows': rows})
    rclpy.try_shutdown()
    print(as_markdown(rows))
    sys.exit(any(failed(row) for row in rows))


if __name__ == '__main__':
    main()
