# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Soak: the pose node at 1 kHz for ten minutes, with its services called at 200 Hz beside.

Solve, predict and the parameters are asked for in turn. Printed each minute, and judged at the
end: samples lost, and by how much the node's memory has grown since the first minute. Lost are
samples of which the recorder has neither a pose nor the number passed over. Missed are samples
that the node counts itself, by gaps in the middleware's delivery. The rest was lost on the way to
the recorder.

Losses while the machine itself stood still are counted apart: see `benchmarks.stalls`. One
more witness runs at the priority of the node. It wakes late where other processes had the
processors too, which excuses nothing.

    python -m benchmarks.soak [--minutes M] [--rate HZ] [--calls HZ]
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import cycle
import os
from pathlib import Path
import sys
from threading import Event, Thread
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from liedyn_interfaces.srv import PredictStewartPose, SolveStewartPose
import numpy as np
from rcl_interfaces.srv import GetParameters
import rclpy
from rclpy.client import Client
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from benchmarks.freshness import MIN_SENT, NODE
from benchmarks.record import keep, verdict
from benchmarks.stalls import covered, longest, merge, near, outside, Witness
from benchmarks.streams import Bench, WARM
from liedyn_ros.common.resources import config_file
from liedyn_ros.common.tables import print_table
from liedyn_ros.stewart import load_geometry

MAX_GROWTH = 2.0  # MB, of memory after the first minute
MIN_RAN = 50.0  # %, of a minute that is judged
ANSWER = 5.0  # s, for which an answer is waited


class Caller:
    """Calls the services of the pose node at a rate, one at a time."""

    def __init__(self, rate: float) -> None:
        """Open the clients and start the thread."""
        geometry = load_geometry(config_file('stewart_geometry.yaml'))
        self._node, self._period, self._ended = Node('caller'), 1.0 / rate, Event()
        self._calls = [
            (self._node.create_client(kind, f'stewart_pose/{name}'), request)
            for kind, name, request in (
                (SolveStewartPose, 'solve', SolveStewartPose.Request(
                    leg_names=list(geometry.leg_names), lengths=[0.52] * 6)),
                (PredictStewartPose, 'predict', PredictStewartPose.Request()),
                (GetParameters, 'get_parameters', GetParameters.Request(names=['max_age'])))]
        for client, _ in self._calls:
            if not client.wait_for_service(ANSWER):
                raise SystemExit(f'expected service {client.srv_name} within {ANSWER:g} s')
        self._reports = self._node.create_subscription(
            DiagnosticArray, '/diagnostics', lambda _: None, 10)
        self._waiting = rclpy_implementation.WaitSet(0, 0, 0, 1, 0, 0, self._node.context.handle)
        self.answered = self.unanswered = self.missed = 0
        self._thread = Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        due = time.monotonic()
        for client, request in cycle(self._calls):
            if self._ended.is_set():
                return
            if isinstance(request, PredictStewartPose.Request):
                request.stamp = self._node.get_clock().now().to_msg()
            if self._ask(client, request):
                self.answered += 1
            else:
                self.unanswered += 1
            self._count_missed()
            due = max(due + self._period, time.monotonic() - 0.1)
            time.sleep(max(0.0, due - time.monotonic()))

    def _ask(self, client: Client, request: Any) -> bool:
        """Return whether a request is answered; an executor would take as long as the node."""
        number, end = client.handle.send_request(request), time.monotonic() + ANSWER
        while (left := end - time.monotonic()) > 0.0 and not self._ended.is_set():
            self._waiting.clear_entities()
            self._waiting.add_client(client.handle)
            self._waiting.wait(int(1e9 * left))
            header, _ = client.handle.take_response(client.srv_type.Response)
            if header is not None and header.request_id.sequence_number == number:
                return True
        return False

    def _count_missed(self) -> None:
        while (taken := self._reports.handle.take_message(DiagnosticArray, False)) is not None:
            self.missed += sum(int(value.value) for status in taken[0].status
                               for value in status.values if value.key == 'lost')

    def end(self) -> None:
        """End the thread and close the clients."""
        self._ended.set()
        self._thread.join()
        self._node.destroy_node()


def memory(pid: int) -> float:
    """Return the memory that a process holds, MB."""
    for line in Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmRSS'):
            return int(line.split()[1]) / 1024.0
    raise SystemExit(f'process {pid}: expected one that runs, it has ended')


def soak(minutes: float, rate: float, calls: float) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the figures of each minute, and what was lost while the machine ran."""
    rows, kept = [], []
    with ExitStack() as stack:
        bench = Bench(stack, NODE, rate)
        caller = Caller(calls)
        stack.callback(caller.end)
        raised = [Witness(stack, processor) for processor in sorted(os.sched_getaffinity(0))]
        plain = Witness(stack)
        time.sleep(WARM)
        for witness in (*raised, plain):
            witness.take()
        for minute in range(1, round(minutes) + 1):
            answered, missed = caller.answered, caller.missed
            figures = bench.measure(60.0)
            stalls = np.concatenate([witness.take() for witness in raised])
            outages = merge(stalls)
            away = outside(outages, bench.losses)
            kept += [{'minute': minute, **loss._asdict(), 'stalls': near(stalls, loss)}
                     for loss in away]
            rows.append({
                'minute': minute, **figures, 'raised priority': float(bench.raised),
                'missed %': 100.0 * (caller.missed - missed) / (60.0 * figures['sent a second']),
                'calls a second': (caller.answered - answered) / 60.0,
                'unanswered': caller.unanswered, 'memory MB': memory(bench.process.pid),
                'lost while it ran': sum(loss.samples for loss in away),
                'machine ran %': max(0.0, 100.0 * (1.0 - covered(outages) / 60.0)),
                'machine still': len(outages), 'machine still longest': longest(outages),
                'machine busy longest': longest(plain.take())})
            print('  '.join(f'{key} {value:.4g}' for key, value in rows[-1].items()), flush=True)
    return rows, kept


def main(arguments: Sequence[str] = ()) -> None:
    """Measure, print and keep."""
    parser = ArgumentParser(description='soak of the pose node')
    parser.add_argument('--minutes', type=float, default=10.0)
    parser.add_argument('--rate', type=float, default=1000.0, help='of samples, Hz')
    parser.add_argument('--calls', type=float, default=200.0, help='of services, Hz')
    options = parser.parse_args(arguments)
    rclpy.init()
    try:
        rows, losses = soak(options.minutes, options.rate, options.calls)
    finally:
        rclpy.try_shutdown()
    growth = max(row['memory MB'] for row in rows) - rows[0]['memory MB']
    lost = sum(row['lost while it ran'] for row in rows)
    ran = min(row['machine ran %'] for row in rows)
    sent, least = min(row['sent a second'] for row in rows), MIN_SENT * options.rate
    print_table(['figure', 'value', 'bar'], [
        ['samples lost while the machine ran', lost, verdict(lost, 0.0)],
        ['samples lost, %, in the worst minute', f'{max(row["lost %"] for row in rows):.3g}', ''],
        ['minutes that lost none', sum(not row['lost %'] for row in rows), ''],
        ['time in which the machine ran, %, in the worst minute', f'{ran:.1f}',
         '' if ran >= MIN_RAN else f'>= {MIN_RAN:g} NO: not judged'],
        ['samples sent a second, in the worst minute', f'{sent:.0f}',
         '' if sent >= least else f'>= {least:g} NO: not judged'],
        ['longest that the machine stood still, ms',
         f'{max(row["machine still longest"] for row in rows):.0f}', ''],
        ['growth of memory after the first minute, MB', f'{growth:.2f}',
         verdict(growth, MAX_GROWTH)]])
    print(keep('soak', {'rows': rows, 'lost while the machine ran': losses}))


if __name__ == '__main__':
    main(sys.argv[1:])
