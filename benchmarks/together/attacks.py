# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Whoever means harm, beside the nodes of the soak.

Every topic of a node gets messages with hostile names, numbers that are none, and stamps of long
ago; every service of the dynamics server and of a pose node gets damaged requests; parameters of
every node are set to what they are not; the page gets requests of other sites, frames that are
none, connections that never say a word, and browsers that never read.

    python -m benchmarks.together.attacks RATE
"""

from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import cycle, islice
import random
import re
import socket
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from fuzz.ros import dynamics_services, stewart_services
from fuzz.ros.stand_ins import message
from liedyn_interfaces.srv import (
    AssemblyModes, PredictStewartPose, ProveStewartPath, SolveStewartPose,
    StewartInverseKinematics)
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from benchmarks.processes import exit_at_sigterm
from benchmarks.together.fleet import FOLDER, STREAMS
from liedyn_ros.ros.qos import SERVICES

WAITING = 16  # connections that are held open, and requests that may be unanswered
NODES = ('moved/stewart_simulator', 'moved/stewart_pose', 'moved/view', 'aerial/dynamics_server',
         'aerial/aerial_manipulator_controller', 'controlled/stewart_controller',
         'linkage/loop_state_publisher', 'running/path_runner')
OF_POSE = {
    'assembly_modes': AssemblyModes, 'inverse_kinematics': StewartInverseKinematics,
    'predict': PredictStewartPose, 'prove_path': ProveStewartPath, 'solve': SolveStewartPose}
OF_DYNAMICS = {'forward': 'forward_dynamics', 'hybrid': 'hybrid_dynamics',
               'inverse': 'inverse_dynamics'}
TEXTS = ('<script>top.hacked=1</script>', '![](http://203.0.113.9/y)', '\x1b[2J\x07', '%s%n{}',
         '../../etc/passwd', 'n' * 10_000, '', '\N{RIGHT-TO-LEFT OVERRIDE}abc')
NUMBERS = (float('nan'), float('inf'), -1e308, 1e308, 5e-324)


class Attacker:
    """Sends each attack in turn."""

    def __init__(self) -> None:
        """Open publishers and clients; nothing is asked for whether anybody hears."""
        self._node, self._chance = Node('attacker'), random.Random(53)
        self._streams = [(self._node.create_publisher(kind, f'/{name}', 10), kind)
                         for kind, names in STREAMS.items() for name in names]
        self._texts = [(self._node.create_publisher(kind, name, 10), kind) for kind, name in (
            (DiagnosticArray, '/diagnostics'), (String, '/moved/robot_description'))]
        self._requests = [(self._open(kind, name), kind.Request, raw)
                          for kind, name, raw in requests()]
        self._parameters = [self._open(SetParameters, f'{name}/set_parameters') for name in NODES]
        self._asked: list[Any] = []
        self._held: list[socket.socket] = []

    def run(self, rate: float) -> None:
        """Attack at a rate, Hz, each kind in its turn, until the process is ended."""
        kinds: tuple[Iterator[Callable[[], object]], ...] = tuple(map(cycle, (
            [lambda each=each: self._send(*each) for each in self._streams],
            [lambda each=each: self._ask(*each) for each in self._requests],
            [lambda each=each: self._send(*each) for each in self._texts],
            [lambda each=each: self._set(each) for each in self._parameters],
            [lambda each=each: self._connect(each) for each in web()])))
        due, count = time.monotonic(), 0
        for kind in cycle(kinds):
            next(kind)()
            count += 1
            if count % 100 == 0:
                print(f'{count} attacks', flush=True)
            rclpy.spin_once(self._node, timeout_sec=0.0)
            due = max(due + 1.0 / rate, time.monotonic() - 1.0)
            time.sleep(max(0.0, due - time.monotonic()))

    def _open(self, kind: Any, name: str) -> Any:
        return self._node.create_client(kind, f'/{name}', qos_profile=SERVICES)

    def _send(self, publisher: Any, kind: Any) -> None:
        """Publish hostile names and numbers, of long ago or without a time."""
        text, number = self._chance.choice(TEXTS), self._chance.choice(NUMBERS)
        if kind is String:
            publisher.publish(String(data=f'<robot name="r"><link name="{text}"/></robot>'))
            return
        sent = kind()
        sent.header.stamp.sec = self._chance.choice((0, 1, 2**31 - 1, -2**31))
        if kind is JointState:
            sent.name = [text] * self._chance.randrange(9)
            sent.position = [number] * self._chance.randrange(9)
            sent.velocity = sent.effort = [number] * len(sent.name)
        elif kind is Odometry:
            sent.header.frame_id = sent.child_frame_id = text
            sent.pose.pose.position.x = sent.twist.twist.linear.x = number
        else:
            sent.status = [DiagnosticStatus(
                name=f'{text}: kernels', message=text, values=[KeyValue(key=text, value=text)])]
        publisher.publish(sent)

    def _ask(self, client: Any, kind: Any, raw: bytes) -> None:
        """Send a request of which some bytes are others."""
        damaged = bytearray(raw)
        for _ in range(self._chance.randrange(4)):
            damaged[self._chance.randrange(4, len(raw))] = self._chance.randrange(256)
        request = message(bytes(damaged), kind)
        if request is not None:
            self._call(client, request)

    def _set(self, client: Any) -> None:
        """Set parameters of no name, of no type and of no value."""
        values = [ParameterValue(type=kind, double_value=self._chance.choice(NUMBERS),
                                 string_value=self._chance.choice(TEXTS))
                  for kind in (ParameterType.PARAMETER_DOUBLE, ParameterType.PARAMETER_STRING, 99)]
        self._call(client, SetParameters.Request(parameters=[
            Parameter(name=name, value=value) for value in values
            for name in (self._chance.choice(TEXTS), 'use_sim_time', 'autostart')]))

    def _call(self, client: Any, request: Any) -> None:
        self._asked = [each for each in self._asked if not each[1].done()]
        if len(self._asked) > WAITING:
            asked, future = self._asked.pop(0)
            asked.remove_pending_request(future)
        if client.service_is_ready():
            self._asked.append((client, client.call_async(request)))

    def _connect(self, words: bytes) -> None:
        """Open a connection to the page, say words, and leave it open."""
        found = re.search(r'http://127\.0\.0\.1:(\d+)/([\w-]+)',
                          (FOLDER / 'moved_view.log').read_text())
        if found is None:
            return
        if len(self._held) > WAITING:
            self._held.pop(0).close()
        try:
            connection = socket.create_connection(('127.0.0.1', int(found[1])), 1.0)
            connection.sendall(words.replace(b'PORT', found[1].encode()).replace(
                b'TOKEN', found[2].encode()))
        except OSError:
            return
        self._held.append(connection)


def requests() -> Iterator[tuple[Any, str, bytes]]:
    """Yield type, service and bytes of good requests."""
    services = sorted(dynamics_services.SERVICES)
    for seed in islice(dynamics_services.seeds(), len(services)):  # those of the tree
        name = services[seed[0]]
        yield (dynamics_services.SERVICES[name],
               f'aerial/dynamics_server/{OF_DYNAMICS.get(name, name)}', seed[1:])
    for seed, (name, kind) in zip(stewart_services.seeds(), OF_POSE.items()):
        yield kind, f'moved/stewart_pose/{name}', seed[1:]


def web() -> Iterator[bytes]:
    """Yield what is said to the page: requests of others, frames that are none, and nothing."""
    upgrade = (b'GET /%b HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nUpgrade: websocket\r\n'
               b'Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
               b'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: viser-v'
               + version('viser').encode() + b'\r\n%b\r\n')
    yield b''
    yield b'GET /TOKEN/'
    yield b'GET /TOKEN/ HTTP/1.1\r\nHost: evil.example\r\n\r\n'
    yield b'GET /TOKEN/../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n'
    yield b'\x16\x03\x01' + bytes(range(256)) * 40
    yield upgrade % (b'TOKEN', b'Origin: http://evil.example\r\n')
    yield upgrade % (b'', b'')
    for frame in (b'\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff', b'\x82\x84\0\0\0\0\xc1\xc1\xc1\xc1',
                  b'\x81\x83\0\0\0\0abc', b'\xff' * 99, b''):
        yield upgrade % (b'TOKEN', b'') + frame


def main() -> None:
    """Attack until SIGTERM."""
    exit_at_sigterm('attack')
    rclpy.init(args=sys.argv)
    Attacker().run(float(sys.argv[1]))


if __name__ == '__main__':
    main()
