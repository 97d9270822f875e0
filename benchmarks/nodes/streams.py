# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A node under test between two processes: what feeds it, and what records its answers.

Feed and recorder run at real-time priority where the system allows it. `echo` and `floor` are
nodes that solve nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
import os
from pathlib import Path
import shlex
import signal
import subprocess
import time
from typing import Any

from geometry_msgs.msg import PoseStamped, TwistStamped
from liedyn_interfaces.msg import LoopStatus, StewartStatus
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from benchmarks.nodes.accounts import account, Loss
from benchmarks.nodes.priority import raise_priority
from benchmarks.processes import Beside, end_process, loaded
from benchmarks.recorder import Record, Recorder, STAMP_BYTES
from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.stewart.pose import outputs
from liedyn_ros.ros.messages.conversions import nanoseconds
from liedyn_ros.ros.messages.packed import PackedPublisher, STAMP_FIELDS
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import leg_lengths, load_geometry
from liedyn_ros.stewart.reports.kernels.messages import STATUS

CAPACITY = 1 << 20  # stamps that are written down
ARRIVED = 0.2  # s, in which what was sent has arrived
WARM = 1.0  # s that are not counted: discovery, first samples
START_TIMEOUT = 240.0  # s; the first start compiles kernels
PASSED_OVER = STATUS.index('passed_over') - len(STATUS)  # of the numbers of a status
LOG = Path('out/bench/node.log')


@dataclass(frozen=True)
class Traffic:
    """
    The input and the outputs of a node.

    given: the topic of the JointStates that it is fed. answers: types and topics; the first is
    the stamped answer that is timed, the second the status with what was passed over.
    """

    given: str
    joints: tuple[str, ...]
    positions: tuple[float, ...]
    answers: tuple[tuple[Any, str], ...]

    def message(self) -> JointState:
        """Return the input at rest."""
        return JointState(name=list(self.joints), position=list(self.positions),
                          velocity=[0.0] * len(self.joints))


def platform_traffic() -> Traffic:
    """Return that of the pose node: leg lengths at home."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    home = np.eye(4)
    home[2, 3] = 0.5
    return Traffic('leg_states', geometry.leg_names, tuple(leg_lengths(geometry, home).tolist()),
                   ((PoseStamped, 'pose'), (StewartStatus, 'status'), (TwistStamped, 'twist')))


def loop_traffic() -> Traffic:
    """Return that of loop_state_publisher: the encoders of config/linkage_leg.urdf."""
    return Traffic('measured_joint_states', ('hip', 'crank_joint'), (0.1, 0.2),
                   ((JointState, 'joint_states'), (LoopStatus, 'loop_state_publisher/status')))


TRAFFIC = {'pose': platform_traffic, 'loops': loop_traffic}


def feed(traffic: Traffic, rate: float, sent: Any, count: Any, raised: Any, stop: Any) -> None:
    """
    Send joint states at a rate until the stop flag is set; write down their stamps, ns.

    As a sensor does, it leaves out what it could not send in time.
    """
    raised.value = raise_priority()
    rclpy.init()
    node = Node('feed')
    publisher = node.create_publisher(JointState, traffic.given, QoSProfile(
        depth=10, reliability=ReliabilityPolicy.BEST_EFFORT))
    raw = bytearray(serialize_message(traffic.message()))
    due, period = time.monotonic(), 1.0 / rate
    while not stop.is_set():
        stamp_ns = time.time_ns()
        STAMP_BYTES.pack_into(raw, 4, *divmod(stamp_ns, 1_000_000_000))
        publisher.publish(bytes(raw))
        sent[count.value % CAPACITY] = stamp_ns
        count.value += 1
        due = max(due + period, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
    node.destroy_node()
    rclpy.try_shutdown()


def echo(traffic: Traffic) -> None:
    """Answer every JointState with an empty answer of its stamp, as a plain node of rclpy does."""
    rclpy.init()
    kind, topic = traffic.answers[0]
    node, message = Node('echo'), traffic.message() if kind is JointState else kind()
    publisher = node.create_publisher(kind, topic, 10)

    def take(joints: JointState) -> None:
        message.header.stamp = joints.header.stamp
        publisher.publish(message)

    node.create_subscription(JointState, traffic.given, take, QoSProfile(
        depth=10, reliability=ReliabilityPolicy.BEST_EFFORT))
    rclpy.spin(node)


def floor() -> None:
    """Take and publish what the pose node does, by the same means, and solve nothing."""
    rclpy.init()
    node = Floor()
    rclpy.spin(node)


class Floor(ManagedNode):
    """A stream of leg states, and for each a pose, a twist and a status of its stamp."""

    def __init__(self) -> None:
        """Start."""
        self._newest: bytes | None = None
        self._waiting = 0
        super().__init__('floor', ())

    def configure(self) -> None:
        """Open the stream and the publishers."""
        self._packed = [
            PackedPublisher(self.open_publisher(each, topic), each(), fields)
            for each, topic, fields in (
                (PoseStamped, 'pose', (*STAMP_FIELDS, *outputs.POSE_PATHS)),
                (TwistStamped, 'twist', (*STAMP_FIELDS, *outputs.TWIST_PATHS)),
                (StewartStatus, 'status', (*STAMP_FIELDS, *STATUS)))]
        for publisher in self._packed:
            publisher.values[:] = 0.0
        stream = Stream(self, self._publish)
        stream.subscribe(JointState, 'leg_states', self._take, sensor_data(10), raw=True)
        stream.start()

    def _take(self, raw: bytes) -> None:
        self._newest = raw
        self._waiting += 1

    def _publish(self) -> None:
        if self._newest is not None:
            stamp = STAMP_BYTES.unpack_from(self._newest, 4)
            self._packed[-1].values[PASSED_OVER] = self._waiting - 1
            for publisher in self._packed:
                publisher.values[:2] = stamp
                publisher.publish(publisher.values)
            self._waiting = 0


def slow_subscriber(stop: Any) -> None:
    """Subscribe to poses, reliably, and take 50 ms for each."""
    rclpy.init()
    node = Node('slow_subscriber')
    node.create_subscription(PoseStamped, 'pose', lambda _: time.sleep(0.05), 10)
    while not stop.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    node.destroy_node()
    rclpy.try_shutdown()


class Bench:
    """One node under test, fed and recorded."""

    def __init__(self, stack: ExitStack, command: str, rate: float, slow: bool = False,
                 traffic: Traffic | None = None) -> None:
        """
        Start all three and wait for answers.

        slow: beside a subscriber that is slow. traffic: that of the pose node by default.
        """
        self._stack, self._command, self._context = stack, command, get_context('spawn')
        self._traffic = traffic or platform_traffic()
        self.losses: list[Loss] = []  # of the last time measured
        self.reported_age = np.inf  # ms, median of the statuses; infinity without any
        self._recorder = Recorder(stack, self._traffic.answers)
        self.start()
        stack.callback(lambda: self.end(signal.SIGINT))
        self._sent = self._context.Array('q', CAPACITY, lock=False)
        # Kept here: a value that is collected frees its memory in the feed too.
        self._count, self._raised = self._context.Value('q', 0), self._context.Value('b', 0)
        self._stop = self._context.Event()
        partners = [Beside(
            target=feed, args=(self._traffic, rate, self._sent, self._count, self._raised,
                               self._stop))]
        if slow:
            partners.append(Beside(target=slow_subscriber, args=(self._stop,)))
        for partner in partners:
            partner.start()
            stack.callback(partner.join)
        stack.callback(self._stop.set)
        self.wait_for_pose(time.time_ns())
        self.raised = bool(self._raised.value)
        time.sleep(WARM)

    def start(self) -> None:
        """Start the node."""
        LOG.parent.mkdir(parents=True, exist_ok=True)
        with LOG.open('w') as output:
            self.process = subprocess.Popen(
                shlex.split(self._command), stdout=output, stderr=output)

    def end(self, number: int) -> None:
        """End the node by a signal."""
        end_process(self.process, number)

    def wait_for_pose(self, begin: int) -> None:
        """Wait for a pose of a sample later than a time, ns."""
        end = time.monotonic() + START_TIMEOUT
        while self._recorder.newest < begin:
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit(f'expected a pose within {START_TIMEOUT:g} s, got none; '
                                 f'see {LOG}')
            time.sleep(0.005)

    @contextmanager
    def loaded(self, loops: int) -> Iterator[None]:
        """Keep processors busy meanwhile."""
        with loaded(loops):
            if loops:
                time.sleep(WARM)
            yield

    def cpu(self) -> float:
        """Return the processor time of the node, s."""
        fields = Path(f'/proc/{self.process.pid}/stat').read_text().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def take(self) -> Record:
        """Return the record since the last time."""
        return self._recorder.take()

    def measure(self, seconds: float) -> dict[str, float]:
        """Return the figures of some seconds."""
        begin, cpu = time.time_ns(), self.cpu()
        time.sleep(seconds)
        end, cpu = time.time_ns(), self.cpu() - cpu
        time.sleep(ARRIVED)
        record = self.take()
        ages = 1e3 * record.ages(begin, end)
        arrivals = [at for at in record.arrivals if begin <= at < end]
        gaps = 1e-6 * np.diff([begin, *arrivals, end])
        sent, passed_over, self.losses = self._account(record, begin, end)
        seconds = 1e-9 * (end - begin)
        some = ages if len(ages) else np.array([np.inf])
        return {'sent a second': sent / seconds, 'age median': float(np.median(some)),
                'age 99 %': float(np.percentile(some, 99)), 'age greatest': float(some.max()),
                'longest gap': float(gaps.max()), 'poses a second': len(ages) / seconds,
                'passed over %': 100.0 * passed_over / max(sent, 1),
                'lost %': 100.0 * sum(loss.samples for loss in self.losses) / max(sent, 1),
                'out of order': record.out_of_order,
                'CPU %': 100.0 * cpu / seconds, 'CPU us a sample': 1e6 * cpu / max(sent, 1),
                'age reported': self.reported_age}

    def _account(self, record: Record, begin: int, end: int
                 ) -> tuple[int, int, list[Loss]]:
        """Return how many samples were sent and passed over, and where some were lost."""
        kind = self._traffic.answers[1][0]
        statuses = [deserialize_message(raw, kind) for raw in record.statuses]
        reported = [(nanoseconds(status.header.stamp), status.passed_over) for status in statuses]
        ages = [status.age for status, (stamp, _) in zip(statuses, reported)
                if begin <= stamp < end]
        self.reported_age = 1e3 * float(np.median(ages or [np.inf]))
        return account(np.frombuffer(self._sent, np.int64), record.stamps, reported, begin, end)
