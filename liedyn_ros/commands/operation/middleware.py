# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The middleware: multicast, a round trip between two processes, nodes and their diagnostics."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
import json
import socket
import subprocess
import sys
from typing import Any

from liedyn_ros.commands.operation.computer import DoctorLine, Severity

MIDDLEWARE_PART, GRAPH = 'middleware', 'graph'
GROUP = '239.255.0.1'  # in which DDS discovers
PROBE = 'liedyn_ros.ros.probe'
PROBE_TIMEOUT = 90.0  # s for the probe
DATAGRAM_TIMEOUT = 1.0  # s for a datagram
# Of a DiagnosticStatus; 3: stale
LEVELS = (Severity.OK, Severity.WARN, Severity.ERROR, Severity.WARN)
LEVEL_NAMES = ('ok', 'warning', 'error', 'stale')


def findings() -> Iterator[DoctorLine]:
    """Yield findings on multicast and the middleware, tried in a process with a time limit."""
    for address, where in (('127.0.0.1', 'loopback'), ('0.0.0.0', 'the default interface')):
        yield multicast(address, where)
    if find_spec('rclpy') is None:
        return
    yield from judge_probe(start_probe())


def start_probe() -> subprocess.Popen[str]:
    """Start the process that tries the middleware."""
    return subprocess.Popen([sys.executable, '-m', PROBE], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def judge_probe(probe: subprocess.Popen[str]) -> Iterator[DoctorLine]:
    """Provide the findings of the probe, or why there are none."""
    with probe:
        try:
            output, errors = probe.communicate(timeout=PROBE_TIMEOUT)
        except subprocess.TimeoutExpired as error:
            probe.kill()
            yield DoctorLine(MIDDLEWARE_PART, Severity.ERROR, f'the probe failed: {error}')
            return
    try:
        report = json.loads(output.strip().rpartition('\n')[2])
    except ValueError:
        reason = errors.strip().rpartition('\n')[2] or f'exit code {probe.returncode}'
        yield DoctorLine(MIDDLEWARE_PART, Severity.ERROR, f'the probe failed: {reason}',
                         f'python -m {PROBE}')
        return
    yield from judge(report)


def multicast(address: str, where: str) -> DoctorLine:
    """Return whether a datagram to DDS's group comes back on an interface."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, socket.socket(
                socket.AF_INET, socket.SOCK_DGRAM) as sender:
            receiver.bind(('', 0))
            receiver.settimeout(DATAGRAM_TIMEOUT)
            receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                                socket.inet_aton(GROUP) + socket.inet_aton(address))
            if address != '0.0.0.0':
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                                  socket.inet_aton(address))
            sender.sendto(b'doctor', (GROUP, receiver.getsockname()[1]))
            receiver.recv(16)
    except OSError as error:
        return DoctorLine(MIDDLEWARE_PART, Severity.WARN, f'multicast on {where}: {error}',
                          'allow it, or name ' 'the other computers by ROS_STATIC_PEERS')
    return DoctorLine(MIDDLEWARE_PART, Severity.OK, f'multicast on {where} works')


def judge(report: Mapping[str, Any]) -> Iterator[DoctorLine]:
    """Provide the findings of the probe's report."""
    yield DoctorLine(MIDDLEWARE_PART, Severity.OK, f'{report["rmw"]}, domain {report["domain"]}')
    if report['round_trip'] is None:
        yield DoctorLine(MIDDLEWARE_PART, Severity.ERROR,
                         'two processes of this machine do not find each other',
                         'check the firewall, /dev/shm and the variables of ROS above')
    else:
        yield DoctorLine(MIDDLEWARE_PART, Severity.OK, f'two processes found each other in '
                         f'{report["discovery"]:.1f} s; round trip '
                         f'{1e3 * report["round_trip"]:.2f} '
                         'ms at the median')
    yield DoctorLine(GRAPH, Severity.OK, f'nodes: {", ".join(report["nodes"]) or "none"}')
    clocks = report['clocks']
    if clocks:
        yield DoctorLine(GRAPH, Severity.OK if len(clocks) == 1 else Severity.WARN,
                         f'/clock is published by {", ".join(clocks)}',
                         '' if len(clocks) == 1 else 'stop all but one: time jumps between them')
    for name, level, message in report['diagnostics']:
        yield DoctorLine(GRAPH, LEVELS[level], f'{name}: {LEVEL_NAMES[level]}, {message}',
                         'docs/operations.md' if LEVELS[level] else '')
