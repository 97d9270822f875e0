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

Losses while the machine itself stood still are counted apart: see `benchmarks.nodes.stalls`. One
more witness runs at the priority of the node. It wakes late where other processes had the
processors too, which excuses nothing.

    python -m benchmarks.soak [--minutes M] [--rate HZ] [--calls HZ]

With --all every node of the package runs: see `benchmarks.together`.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import ExitStack
import os
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from liedyn_interfaces.srv import PredictStewartPose, SolveStewartPose
import numpy as np
from rcl_interfaces.srv import GetParameters
import rclpy
from rclpy.signals import SignalHandlerOptions

from benchmarks.nodes.caller import Caller, Question
from benchmarks.nodes.freshness import MIN_SENT, NODE
from benchmarks.nodes.memory import MAX_GROWTH, memory
from benchmarks.nodes.stalls import covered, longest, merge, near, outside, Witness
from benchmarks.nodes.streams import Bench, WARM
from benchmarks.processes import exit_at_sigterm
from benchmarks.record import keep, verdict
from benchmarks.together import soak as together
from liedyn_ros.common.resources import config_file
from liedyn_ros.common.tables import print_table
from liedyn_ros.stewart import load_geometry

RATE, CALLS = 1000.0, 200.0  # Hz, of samples and of services
MIN_RAN = 50.0  # %, of a minute that is judged


class Missed:
    """Counts the samples that the node missed, by gaps in the middleware's delivery."""

    def __init__(self) -> None:
        """Begin with none."""
        self.samples = 0

    def hear(self, report: DiagnosticArray) -> None:
        """Add those of a message of /diagnostics."""
        self.samples += sum(int(value.value) for status in report.status
                            for value in status.values if value.key == 'lost')


def questions() -> list[Question]:
    """Return the calls: solve, predict and the parameters."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    return [
        Question(SolveStewartPose, 'stewart_pose/solve', lambda _: SolveStewartPose.Request(
            leg_names=list(geometry.leg_names), lengths=[0.52] * 6)),
        Question(PredictStewartPose, 'stewart_pose/predict',
                 lambda stamp: PredictStewartPose.Request(stamp=stamp)),
        Question(GetParameters, 'stewart_pose/get_parameters',
                 lambda _: GetParameters.Request(names=['max_age']))]


def soak(minutes: float, rate: float, calls: float) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the figures of each minute, and what was lost while the machine ran."""
    rows, kept = [], []
    with ExitStack() as stack:
        bench = Bench(stack, NODE, rate)
        missed = Missed()
        caller = Caller(calls, questions(), missed.hear)
        stack.callback(caller.end)
        raised = [Witness(stack, processor) for processor in sorted(os.sched_getaffinity(0))]
        plain = Witness(stack)
        time.sleep(WARM)
        for witness in (*raised, plain):
            witness.take()
        caller.take()
        unanswered = 0
        for minute in range(1, round(minutes) + 1):
            before = missed.samples
            figures = bench.measure(60.0)
            called = caller.take()
            unanswered += len(called.unanswered)
            stalls = np.concatenate([witness.take() for witness in raised])
            outages = merge(stalls)
            away = outside(outages, bench.losses)
            kept += [{'minute': minute, **loss._asdict(), 'stalls': near(stalls, loss)}
                     for loss in away]
            rows.append({
                'minute': minute, **figures, 'raised priority': float(bench.raised),
                'missed %': 100.0 * (missed.samples - before) / (60.0 * figures['sent a second']),
                'calls a second': len(called.trips) / 60.0,
                'unanswered': unanswered, 'memory MB': memory(bench.process.pid),
                'lost while it ran': sum(loss.samples for loss in away),
                'machine ran %': max(0.0, 100.0 * (1.0 - covered(outages) / 60.0)),
                'machine still': len(outages), 'machine still longest': longest(outages),
                'machine busy longest': longest(plain.take())})
            print('  '.join(f'{key} {value:.4g}' for key, value in rows[-1].items()), flush=True)
    return rows, kept


def judge(rows: list[dict[str, Any]], losses: list[Any], rate: float) -> None:
    """Print the figures with their bars, and keep them."""
    growth = max(row['memory MB'] for row in rows) - rows[0]['memory MB']
    lost = sum(row['lost while it ran'] for row in rows)
    ran = min(row['machine ran %'] for row in rows)
    sent, least = min(row['sent a second'] for row in rows), MIN_SENT * rate
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


def main(arguments: Sequence[str] = ()) -> None:
    """Measure, print and keep."""
    parser = ArgumentParser(description='soak of the pose node, or of all nodes')
    parser.add_argument('--all', action='store_true', help='every node of the package')
    parser.add_argument('--minutes', type=float, default=10.0)
    parser.add_argument('--rate', type=float, help='of the samples of the pose node, Hz: '
                        f'{RATE:g}, with --all {together.POSE_RATE:g}')
    parser.add_argument('--calls', type=float, help='of services, Hz: '
                        f'{CALLS:g}, with --all {together.CALLS:g}')
    options = parser.parse_args(arguments)
    exit_at_sigterm('minute')
    rates = (together.POSE_RATE, together.CALLS) if options.all else (RATE, CALLS)
    rate, calls = options.rate or rates[0], options.calls or rates[1]
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        if options.all:
            sys.exit(together.run(options.minutes, rate, calls))
        rows, losses = soak(options.minutes, rate, calls)
    finally:
        rclpy.try_shutdown()
    judge(rows, losses, rate)


if __name__ == '__main__':
    main(sys.argv[1:])
