# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Try the middleware and print what was found as JSON, for the doctor.

`python -m liedyn_ros.ros.probe`. It starts itself a second time, as a process that sends each
message back: within one process the middleware would take a shorter way.
"""

from collections.abc import Callable
from contextlib import suppress
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node, NodeNameNonExistentError
from std_msgs.msg import UInt32

ROUND_TRIPS = 20
DISCOVERY_LIMIT = 15.0  # s, from the start of both nodes
REPLY_LIMIT = 1.0  # s
GRAPH_LIMIT = 10.0  # s; publishers of a process with many nodes are known seconds after its nodes
MAX_PROBE_TIME = 120  # s; then the system ends it, the echo too: the doctor has given up before
LISTENING = 4.5  # s; processes announce themselves each 3 s, diagnostics come once a second


def main() -> None:
    """Print the report; with an argument, send back the messages of that topic."""
    signal.alarm(MAX_PROBE_TIME)
    rclpy.init(args=[])
    name = sys.argv[1] if len(sys.argv) > 1 else f'/liedyn_doctor_{os.getpid()}'
    try:
        if len(sys.argv) > 1:
            _echo(name)
        else:
            print(json.dumps(report(Node('liedyn_doctor'), name)))
    finally:
        rclpy.try_shutdown()


def report(node: Node, name: str) -> dict[str, Any]:
    """Return findings on the middleware; times in seconds, None where nothing came back."""
    levels: dict[str, tuple[int, str]] = {}

    def take(message: DiagnosticArray) -> None:
        levels.update({each.name: (each.level[0], each.message) for each in message.status})

    diagnostics = node.create_subscription(DiagnosticArray, '/diagnostics', take, 100)
    discovery, round_trip = _round_trips(node, name)
    _spin(node, lambda: _knows_publishers(node) and diagnostics.get_publisher_count()
          >= node.count_publishers('/diagnostics'), GRAPH_LIMIT)
    _spin(node, lambda: levels or not diagnostics.get_publisher_count(), GRAPH_LIMIT)
    _spin(node, lambda: False, LISTENING)
    own = node.get_name()
    return {
        'rmw': rclpy.get_rmw_implementation_identifier(),
        'domain': node.context.get_domain_id(),
        'discovery': discovery, 'round_trip': round_trip,
        'nodes': sorted(f'{space.rstrip("/")}/{each}' for each, space in
                        node.get_node_names_and_namespaces() if not each.startswith(own)),
        'clocks': sorted(each.node_name for each in node.get_publishers_info_by_topic('/clock')),
        'diagnostics': sorted((each, *values) for each, values in levels.items())}


def _knows_publishers(node: Node) -> bool:
    """Return whether the graph has a publisher of each node; each has /rosout by default."""
    try:
        return all(node.get_publisher_names_and_types_by_node(*each)
                   for each in node.get_node_names_and_namespaces())
    except NodeNameNonExistentError:  # of a node that has ended since
        return False


def _round_trips(node: Node, name: str) -> tuple[float | None, float | None]:
    """Return the time until another process answers first, and the median of later answers."""
    publisher = node.create_publisher(UInt32, f'{name}/ping', 10)
    received: set[int] = set()
    node.create_subscription(UInt32, f'{name}/pong', lambda each: received.add(each.data), 10)
    times: list[float] = []
    with subprocess.Popen([sys.executable, '-m', __spec__.name, name],
                          stdout=subprocess.PIPE) as echo:
        try:
            if echo.stdout is not None:  # a pipe; a slow start is no slow discovery
                echo.stdout.readline()
            begin = time.monotonic()
            if not _spin(node, lambda: received, DISCOVERY_LIMIT,
                         lambda: publisher.publish(UInt32(data=0))):
                return None, None
            discovery = time.monotonic() - begin
            for number in range(1, ROUND_TRIPS + 1):
                sent = time.monotonic()
                publisher.publish(UInt32(data=number))
                if _spin(node, lambda: number in received, REPLY_LIMIT):  # noqa: B023
                    times.append(time.monotonic() - sent)
        finally:
            echo.terminate()
    return discovery, statistics.median(times) if times else None


def _spin(node: Node, done: Callable[[], object], limit: float,
          act: Callable[[], object] = lambda: None) -> bool:
    """Spin until it is done, acting before each look; return whether it was in time."""
    end = time.monotonic() + limit
    while not done():
        if time.monotonic() > end:
            return False
        act()
        rclpy.spin_once(node, timeout_sec=0.05)
    return True


def _echo(name: str) -> None:
    """Send back every message until the parent ends this process or is gone."""
    node, parent = Node('liedyn_doctor_echo'), os.getppid()
    publisher = node.create_publisher(UInt32, f'{name}/pong', 10)
    node.create_subscription(UInt32, f'{name}/ping', publisher.publish, 10)
    print('ready', flush=True)
    with suppress(ExternalShutdownException):  # the parent's signal
        while rclpy.ok() and os.getppid() == parent:
            rclpy.spin_once(node, timeout_sec=0.5)


if __name__ == '__main__':
    main()
