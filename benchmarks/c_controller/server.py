# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pair of topics of dynamics_server at 1 kHz, in the same run as the node in C."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, ExitStack
from multiprocessing import get_context
import signal
import subprocess
import sys
import time
from typing import Any

from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery, TreeAcceleration, TreeState
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.serialization import serialize_message

from benchmarks.nodes.priority import raise_priority
from benchmarks.processes import Beside, end_process
from benchmarks.recorder import Recorder, STAMP_BYTES
from liedyn_ros.model import Model

SERVER = 'liedyn_ros.nodes.dynamics.server'
TOPIC = 'dynamics_server/inverse_dynamics/'
PERIOD = 1e-3  # s
START_TIMEOUT = 120.0  # s
TAKE = 20.0  # s, after which answers are taken: the recorder keeps some
Figures = dict[str, Any]


@contextmanager
def beside(model: Model, file: str, priority: int) -> Iterator[Callable[[], Figures]]:
    """
    Run the server and what asks it meanwhile; yield a function that ends both.

    It returns how many queries were sent, and the times (ns) from stamps to answers.
    """
    query = serialize_message(DynamicsQuery(
        state=TreeState(joint_names=list(model.coordinate_names), positions=[0.1] * model.nv,
                        velocities=[0.0] * model.nv),
        accelerations=[TreeAcceleration(joints=[0.0] * model.nv)]))
    context = get_context('spawn')
    stop, sent = context.Event(), context.Value('q', 0)
    with ExitStack() as stack:
        server = subprocess.Popen(
            [sys.executable, '-m', SERVER, '--ros-args', '-p', f'model_file:={file}',
             '-p', f'realtime_priority:={priority}', '-p', 'autostart:=true'])
        stack.callback(end_process, server, signal.SIGINT)
        recorder = Recorder(stack, [(DynamicsAnswer, TOPIC + 'answer')])
        asker = Beside(target=ask, args=(query, sent, stop))
        asker.start()
        stack.callback(asker.join)
        stack.callback(stop.set)
        end = time.monotonic() + START_TIMEOUT
        while not recorder.newest:
            if time.monotonic() > end or server.poll() is not None:
                raise SystemExit(f'expected an answer of {SERVER}, got none')
            time.sleep(0.05)
        recorder.take()
        begin, first = time.time_ns(), sent.value

        def figures() -> Figures:
            queries = sent.value - first
            time.sleep(1.0)
            record = recorder.take()
            stamps, arrivals = np.array(record.stamps), np.array(record.arrivals)
            mine = (begin <= stamps)
            return {'sent': queries, 'ages': (arrivals - stamps)[mine][:queries]}

        yield figures


def ask(query: bytes, sent: Any, stop: Any) -> None:
    """Send a query with the present stamp each PERIOD until stop is set; count them."""
    raise_priority()
    rclpy.init()
    node, raw = Node('asker'), bytearray(query)
    publisher = node.create_publisher(DynamicsQuery, TOPIC + 'query', 10)
    due = time.monotonic()
    while not stop.is_set():
        STAMP_BYTES.pack_into(raw, 4, *divmod(time.time_ns(), 1_000_000_000))
        publisher.publish(bytes(raw))
        sent.value += 1
        due += PERIOD
        time.sleep(max(0.0, due - time.monotonic()))
    node.destroy_node()
    rclpy.try_shutdown()
