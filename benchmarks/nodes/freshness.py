# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Freshness of the published pose: how old it is, on a quiet machine and on a busy one.

Three processes run: a feed that sends stamped leg lengths at a rate, the node, and a recorder of
all that the node publishes. Feed and recorder run at real-time priority where the system allows
it. Two nodes that solve nothing alternate with the pose node. One is the echo, a plain node of
rclpy that answers every JointState with a PoseStamped of its stamp. The other is the floor, which
takes and publishes all that the pose node does, by the same means. With `--of loops` the node is
loop_state_publisher on a leg linkage, and the echo answers with joint states.

The first columns are the age of a pose when it arrives (ms; median, 99th percentile, greatest) and
the longest time without a pose (ms). Poses a second follow, and samples passed over and lost (per
cent). The last are the node's share of a processor, its processor time a sample (us), and the
median age in its status (ms). Where the last is less than the age at arrival, poses waited on
their way out. After a disturbance: the time until a pose arrives that is younger than FRESH (ms).
On a machine that others use, only ratios of one run mean something.

    python -m benchmarks.nodes.freshness [--seconds S] [--rates HZ ...] [--node 'COMMAND']
                                   [--quick | --quiet] [--of pose|loops]
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import ExitStack
import os
import signal
import sys
from threading import Event, Thread
import time
from typing import Any

from liedyn_interfaces.srv import AssemblyModes
import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.utilities import get_rmw_implementation_identifier

from benchmarks.nodes.accounts import joined
from benchmarks.nodes.streams import Bench, echo, floor, TRAFFIC
from benchmarks.processes import exit_at_sigterm
from benchmarks.record import keep, verdict
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import load_geometry

RATES = 100.0, 500.0, 1000.0, 2000.0, 4000.0  # Hz
SECONDS = 5.0  # of each run
JUDGED = 1000.0  # Hz, the rate of the bars
TURNS = 3  # that the nodes take at that rate, quiet: clocks change within a run
MAX_AGE_RATIO = 1.2
MAX_AGE, MAX_RECOVERY = 50.0, 100.0  # ms
MIN_SENT = 0.98  # of the rate, which the feed has to reach
NODE = f'{sys.executable} -m liedyn_ros.nodes.stewart.pose'
LOOPS = (f'{sys.executable} -m liedyn_ros.nodes.loops.state_publisher --ros-args '
         '-p model_file:=linkage_leg.urdf -p loops_file:=linkage_leg_loops.yaml')
ECHO = f'{sys.executable} -m benchmarks.nodes.freshness --be echo'
FLOOR = f'{sys.executable} -m benchmarks.nodes.freshness --be floor'
COMMANDS = {'pose': {'pose': NODE, 'echo': ECHO, 'floor': FLOOR},
            'loops': {'loops': LOOPS, 'echo': f'{ECHO} --of loops'}}
FILES = {'pose': 'freshness', 'loops': 'loop_freshness'}  # of the figures


def run(command: str, rate: float, loops: int, seconds: float, **options: Any) -> dict[str, float]:
    """Return the figures of a node at a rate beside some busy loops."""
    with ExitStack() as stack:
        bench = Bench(stack, command, rate, **options)
        with bench.loaded(loops):
            figures = bench.measure(seconds)
        if loops:
            end = time.time_ns()
            time.sleep(1.0)
            figures['fresh again after load'] = 1e3 * bench.take().fresh_after(end)
        return figures | {'raised priority': float(bench.raised)}


def stopped(command: str, rate: float, **options: Any) -> dict[str, float]:
    """Return the time until fresh after SIGSTOP of two seconds, and after a kill and restart."""
    with ExitStack() as stack:
        bench = Bench(stack, command, rate, **options)
        bench.process.send_signal(signal.SIGSTOP)
        time.sleep(2.0)
        begin = time.time_ns()
        bench.process.send_signal(signal.SIGCONT)
        time.sleep(1.0)
        record = bench.take()
        oldest = record.ages(begin, time.time_ns()).max(initial=0.0)
        figures = {'fresh again after SIGCONT': 1e3 * record.fresh_after(begin),
                   'oldest pose after SIGCONT': 1e3 * oldest}
        bench.end(signal.SIGKILL)
        begin = time.time_ns()
        bench.start()
        bench.wait_for_pose(begin)
        time.sleep(1.0)
        record = bench.take()
        first = next(stamp for stamp, at in zip(record.stamps, record.arrivals)
                     if at > begin)  # of the first sample that was taken and gave a pose
        return figures | {"fresh again after the stamp of a restart's first sample":
                          1e3 * record.fresh_after(first)}


def beside_services(command: str, rate: float, seconds: float) -> dict[str, float]:
    """Return the figures while assembly modes are asked for without pause."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    node, ended, calls = Node('caller'), Event(), []
    client = node.create_client(AssemblyModes, 'stewart_pose/assembly_modes')
    request = AssemblyModes.Request(leg_names=list(geometry.leg_names), lengths=[0.52] * 6)

    def ask() -> None:
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        while not ended.is_set():
            future = client.call_async(request)
            executor.spin_until_future_complete(future, timeout_sec=5.0)
            calls.append(future.done())

    with ExitStack() as stack:
        bench = Bench(stack, command, rate)
        client.wait_for_service()
        thread = Thread(target=ask)
        thread.start()
        try:
            figures = bench.measure(seconds)
        finally:
            ended.set()
            thread.join()
            node.destroy_node()
    return figures | {'calls a second': sum(calls) / seconds}


def compare(commands: dict[str, str], options: Namespace) -> list[dict[str, Any]]:
    """Return the figures of all runs, nodes taking turns."""
    rows: list[dict[str, Any]] = []
    cores, traffic = len(os.sched_getaffinity(0)), TRAFFIC[options.of]()

    def add(name: str, scene: str, rate: float, figures: dict[str, float]) -> None:
        rows.append({'node': name, 'scene': scene, 'rate': rate, **figures})
        print(f'{name:6s} {scene:22s} {rate:6.0f} Hz  ' + '  '.join(
            f'{key} {value:.3g}' for key, value in figures.items()), flush=True)

    scenes = {'quiet': 0} if options.quiet else {
        'quiet': 0, 'a loop a core': cores, 'four loops a core': 4 * cores}
    for rate in options.rates:
        for scene, loops in scenes.items():
            turns = TURNS if rate == JUDGED and not loops else 1
            figures = [{name: run(command, rate, loops, options.seconds, traffic=traffic)
                        for name, command in commands.items()} for _ in range(turns)]
            for name in commands:
                add(name, scene, rate, joined([each[name] for each in figures]))
    if not (options.quick or options.quiet):
        for name, command in commands.items():
            if name not in ('echo', 'floor'):
                add(name, 'stopped, killed', JUDGED, stopped(command, JUDGED, traffic=traffic))
            if name in ('pose', 'other'):
                add(name, 'slow subscriber', JUDGED,
                    run(command, JUDGED, 0, options.seconds, slow=True))
                add(name, 'assembly modes', JUDGED,
                    beside_services(command, JUDGED, options.seconds))
    return rows


def print_bars(rows: list[dict[str, Any]], name: str) -> None:
    """Print the reference of a node's figures."""
    at = {(row['node'], row['scene']): row for row in rows if row['rate'] == JUDGED}
    quiet = at.get((name, 'quiet'))
    if quiet is None:
        return
    short = [f'{scene}: {row["sent a second"]:.0f} Hz' for (_, scene), row in at.items()
             if row.get('sent a second', np.inf) < MIN_SENT * JUDGED]
    if short:
        print(f'not judged: the feed could not send {JUDGED:g} Hz ({", ".join(short)})')
        return
    bars = [['quiet: samples lost, %', quiet['lost %'], 0.0]]
    for peer, what in (
            ('echo', 'rclpy echo'), ('floor', 'floor'), ('other', 'other node')):
        if (other := at.get((peer, 'quiet'))) is not None:
            bars += [[f'quiet: age / {what}', quiet['age median'] / other['age median'],
                      MAX_AGE_RATIO if peer == 'echo' else None],
                     [f'quiet: CPU of a sample / {what}',
                      quiet['CPU us a sample'] / other['CPU us a sample'], None]]
    if (loaded := at.get((name, 'a loop a core'))) is not None:
        bars += [['a loop a core: age at 99 %, ms', loaded['age 99 %'], MAX_AGE],
                 ['a loop a core: fresh again after it, ms', loaded['fresh again after load'],
                  MAX_RECOVERY]]
    if (ended := at.get((name, 'stopped, killed'))) is not None:
        bars += [[key + ', ms', value, MAX_RECOVERY] for key, value in ended.items()
                 if key.startswith('fresh again')]
    bars.append(['answers not later than the one before',
                 sum(row.get('out of order', 0) for row in rows if row['node'] == name), 0.0])
    print_table(['at 1 kHz', 'value', 'bar'],
                [[what, f'{value:.3g}', verdict(value, bar)] for what, value, bar in bars])


def main(arguments: Sequence[str] = ()) -> None:
    """Measure, print and keep."""
    parser = ArgumentParser(description='freshness of the published pose')
    parser.add_argument('--seconds', type=float, default=SECONDS)
    parser.add_argument('--rates', type=float, nargs='+', default=list(RATES))
    parser.add_argument('--node', default='', help='command of another pose node, to compare')
    parser.add_argument('--quick', action='store_true', help='rates and loads only')
    parser.add_argument('--quiet', action='store_true', help='rates only, no busy loops')
    parser.add_argument('--be', choices=('echo', 'floor'), help='be one of these nodes')
    parser.add_argument('--of', choices=tuple(TRAFFIC), default='pose', help='the node measured')
    options = parser.parse_args(arguments)
    if options.be == 'echo':
        echo(TRAFFIC[options.of]())
        return
    if options.be == 'floor':
        floor()
        return
    exit_at_sigterm('run')
    commands = dict(COMMANDS[options.of])
    if options.node:
        commands['other'] = options.node
    rclpy.init()
    try:
        rows = compare(commands, options)
    finally:
        rclpy.try_shutdown()
    print_bars(rows, options.of)
    print(keep(FILES[options.of], {
        'rows': rows, 'middleware': get_rmw_implementation_identifier()}))


if __name__ == '__main__':
    main(sys.argv[1:])
