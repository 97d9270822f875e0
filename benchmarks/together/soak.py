# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The soak of all nodes: memory, latency and losses each minute, judged at the end."""

from collections.abc import Sequence
from contextlib import ExitStack
import os
import time
from typing import Any

from liedyn_interfaces.srv import DescribeModel, SolveStewartPose
import numpy as np

from benchmarks.neighbours import busy, Neighbours
from benchmarks.nodes.caller import Caller, Question
from benchmarks.nodes.memory import growth, MAX_GROWTH, memory
from benchmarks.nodes.stalls import covered, longest, merge, Witness
from benchmarks.record import distro, keep, verdict
from benchmarks.together import fleet
from benchmarks.together.causes import NONE
from benchmarks.together.flows import Figures, Flows, Reports
from liedyn_ros.common.resources import config_file
from liedyn_ros.common.tables import print_table
from liedyn_ros.stewart import load_geometry

WARM = 10.0  # s that are not counted: discovery, first samples
SETTLED = 3.0  # s, after which what was sent has arrived, and is counted on /diagnostics
# Files and threads of a node beyond those of its first minutes, and its log, MB a minute: a fault
# that lasts is told once a second, in some 300 bytes.
MAX_MORE, MAX_LOG = 40, 0.05
LEAST_RATE = 0.5  # of a stated rate, below which a machine is too busy to judge
PERCENTS = 50.0, 99.0, 99.9, 99.99, 100.0
ANSWERS = 'answers of services'
POSE_RATE, RATE, CALLS = 250.0, 100.0, 50.0  # Hz: of the pose, of the others, of services
RESTART = 'the reference starts again'  # of the log of a controller
NAME = 'soak_all'


def questions(members: Sequence[fleet.Member]) -> list[Question]:
    """Return calls of every node, and of services that take longer."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    solve = SolveStewartPose.Request(leg_names=list(geometry.leg_names), lengths=[0.52] * 6)
    return [*(each for member in members for each in member.questions()),
            Question(SolveStewartPose, '/moved/stewart_pose/solve', lambda _: solve, _succeeds),
            Question(DescribeModel, '/aerial/dynamics_server/describe_model',
                     lambda _: DescribeModel.Request(), _succeeds)]


def _succeeds(response: Any) -> bool:
    return bool(response.success)


class Soak:
    """All nodes, what is recorded of them, and the figures of each minute."""

    def __init__(self, stack: ExitStack, pose_rate: float, rate: float, calls: float) -> None:
        """Start everything; the stack ends it."""
        self.pose_rate, self.call_rate = pose_rate, calls
        self.members = fleet.start(stack, pose_rate, rate)
        self._attacks = fleet.start_attacks(stack)
        self._flows, self._reports = Flows(stack, pose_rate, rate), Reports()
        self._resets = {each.name.partition('/')[0]: question for each in self.members
                        if (question := each.reset()) is not None}
        self._caller = Caller(calls, questions(self.members), self._reports.hear,
                              tuple(self._resets.values()))
        stack.callback(self._caller.end)
        self._witnesses = [Witness(stack, each) for each in sorted(os.sched_getaffinity(0))]
        self._neighbours = Neighbours(stack)
        self.rows: list[dict[str, Any]] = []
        self.ages: dict[str, list[np.ndarray]] = {
            name: [] for name in (*(flow.name for flow in self._flows.flows), ANSWERS)}
        time.sleep(WARM)
        for each in self._resets.values():  # a machine falls while so many processes start
            self._caller.ask(each.name)
        time.sleep(SETTLED)
        self._end = time.time_ns()
        self._flows.take(self._end)
        self._caller.take()
        for watcher in (*self._witnesses, self._neighbours):
            watcher.take()
        for member in self.members:
            member.trouble()
        self._cpu = self._cpu_now()

    def minute(self) -> dict[str, Any]:
        """Watch for a minute; return its figures."""
        begin = self._end
        self._end = end = begin + 60_000_000_000
        time.sleep(max(0.0, 1e-9 * (end - time.time_ns())) + SETTLED)
        self._flows.take(begin)
        outages = merge(np.concatenate([each.take() for each in self._witnesses]))
        calls, looks = self._caller.take(), self._neighbours.take()
        flows = {flow.name: flow.figures(begin, end, self._reports, outages, busy(looks))
                 for flow in self._flows.flows}
        for name, figures in flows.items():
            self.ages[name].append(figures.ages.astype(np.float32))
        self.ages[ANSWERS].append(np.array(calls.trips, np.float32))
        cpu, self._cpu = self._cpu, self._cpu_now()
        row = {
            'minute': len(self.rows) + 1, 'load': os.getloadavg()[0],
            'memory MB': {each.name: memory(each.process.pid) for each in self.members},
            'files and threads': {each.name: each.held() for each in self.members},
            'log MB': {each.name: each.logged() for each in self.members},
            'attacks': self._attacks(),
            'CPU %': {name: (now - cpu[name]) / 0.6 for name, now in self._cpu.items()},
            'flows': {flow.name: _row(flows[flow.name], flow.rate) for flow in self._flows.flows},
            'answers': {**_percentiles(np.array(calls.trips)), 'answered': len(calls.trips),
                        'unanswered': calls.unanswered, 'wrong': calls.wrong},
            'machine still': len(outages), 'machine still longest': longest(outages),
            'others %': 100.0 * looks[:, 2].mean(),
            'others greatest %': 100.0 * looks[:, 2].max(),
            'machine ran %': max(0.0, 100.0 * (1.0 - covered(outages) / 60.0)),
            'trouble': {each.name: told for each in self.members if (told := each.trouble())}}
        row['reset'] = [place for place in self._resets if self._is_lost(place, row['trouble'])]
        self._put_back(row['reset'])
        self.rows.append(row)
        _tell(row)
        for member in self.members:
            member.require()
        return row

    def _put_back(self, places: Sequence[str]) -> None:
        """Put machines back to their start; what their nodes say of that is no trouble."""
        for place in places:
            self._caller.ask(self._resets[place].name)
        if places:
            time.sleep(SETTLED)
            for member in self.members:
                if member.name.partition('/')[0] in places:
                    member.trouble()

    def _is_lost(self, place: str, trouble: dict[str, list[str]]) -> bool:
        """Return whether a machine was lost in a minute: its reference started again."""
        return any(RESTART in line for name, told in trouble.items() for line in told
                   if name.startswith(f'{place}/'))

    def _cpu_now(self) -> dict[str, float]:
        return {each.name: each.cpu() for each in self.members}


def _row(figures: Figures, rate: float) -> dict[str, Any]:
    return {'rate': rate, 'sent a second': figures.sent / 60.0,
            'passed over': figures.passed_over, 'lost': figures.lost,
            'without a cause': [loss._asdict() for loss in figures.without_cause],
            **_percentiles(figures.ages)}


def _percentiles(seconds: np.ndarray) -> dict[str, float]:
    """Return percentiles, ms; infinity where there is nothing."""
    some = 1e3 * seconds if len(seconds) else np.array([np.inf])
    return {f'{percent:g} %': float(value)
            for percent, value in zip(PERCENTS, np.percentile(some, PERCENTS))}


def _tell(row: dict[str, Any]) -> None:
    """Print a minute in some lines."""
    held = row['memory MB']
    print(f'minute {row["minute"]}: load {row["load"]:.1f}, memory {sum(held.values()):.1f} MB, '
          f'{sum(row["files and threads"].values())} files and threads, '
          f'logs {sum(row["log MB"].values()):.2f} MB, after {row["attacks"]} attacks, '
          f'CPU {sum(row["CPU %"].values()):.0f} %, machine still {row["machine still"]} times, '
          f'at most {row["machine still longest"]:.0f} ms; other programs '
          f'{row["others %"]:.0f} % of a processor, at most {row["others greatest %"]:.0f} %')
    for name, flow in row['flows'].items():
        lost = ', '.join(f'{samples} {cause}'
                         for cause, samples in flow['lost'].items() if samples)
        print(f'  {name}: {flow["sent a second"]:.1f} Hz, {flow["50 %"]:.2f} ms, 99.99 % '
              f'{flow["99.99 %"]:.1f} ms, passed over {flow["passed over"]}, '
              f'lost {lost or "nothing"}')
    answers = row['answers']
    print(f'  {ANSWERS}: {answers["answered"]}, {answers["50 %"]:.2f} ms, 99.99 % '
          f'{answers["99.99 %"]:.1f} ms, unanswered {len(answers["unanswered"])}, wrong '
          f'{len(answers["wrong"])}')
    for name, told in row['trouble'].items():
        print(f'  {name}: {len(told)} warnings, the last one: {told[-1]}')
    print(*(f'  {place}: lost, and put back to its start\n' for place in row['reset']), sep='',
          end='', flush=True)


def faults(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return what is wrong with a run; nothing where memory and samples are as they should be."""
    found = [f'{name}: memory grew by {more:.2f} MB'
             for name, more in growth([row['memory MB'] for row in rows]).items()
             if verdict(more, MAX_GROWTH).endswith('NO')]
    found += [f'{name}: {more:g} more files and threads' for name, more in growth(
        [row['files and threads'] for row in rows]).items() if more > MAX_MORE]
    found += [f'{name}: its log grew by {more:.1f} MB' for name, more in rows[-1]['log MB'].items()
              if more > MAX_LOG * len(rows)]
    if not rows[-1]['attacks']:
        found.append('nothing was attacked')
    for name in rows[0]['flows']:
        flows = [row['flows'][name] for row in rows]
        if lost := sum(flow['lost'][NONE] for flow in flows):
            found.append(f'{name}: {lost} samples lost without a cause')
        least = min(flow['sent a second'] for flow in flows)
        if least < LEAST_RATE * flows[0]['rate']:
            found.append(f'{name}: {least:.1f} samples a second in the worst minute, the machine '
                         'is too busy to judge')
    for kind in ('unanswered', 'wrong'):
        if requests := [each for row in rows for each in row['answers'][kind]]:
            found.append(f'{len(requests)} requests {kind}: {sorted({x for x, _ in requests})}')
    return found


def run(minutes: float, pose_rate: float, calls: float) -> int:
    """Soak, print and keep; return 1 where memory grows or something is lost without a cause."""
    with ExitStack() as stack:
        soak, whole = Soak(stack, pose_rate, RATE, calls), max(1, round(minutes))
        for _ in range(whole):
            soak.minute()
            figures = _summary(soak, whole)
            path = keep(f'{NAME}_{distro()}', figures)
    print_table(('latency, ms', *(f'{percent:g} %' for percent in PERCENTS)), [
        [name, *(f'{value:.2f}' for value in values.values())]
        for name, values in figures['latency'].items()])
    print_table(('memory, MB', 'begin', 'growth'), [
        [name, f'{soak.rows[0]["memory MB"][name]:.1f}', f'{more:.2f}']
        for name, more in figures['growth MB'].items()])
    print('\n'.join(figures['faults']) or 'nothing grew, and nothing was lost without a cause')
    print(path)
    return int(bool(figures['faults']))


def _summary(soak: Soak, minutes: int) -> dict[str, Any]:
    missing, found = minutes - len(soak.rows), faults(soak.rows)
    if missing:
        found.append(f'the last {missing} minutes were not run')
    return {
        'latency': {name: _percentiles(np.concatenate(ages)) for name, ages in soak.ages.items()},
        'rates': {'pose': soak.pose_rate, 'others': RATE, 'calls': soak.call_rate},
        'growth MB': growth([row['memory MB'] for row in soak.rows]),
        'faults': found, 'rows': soak.rows}
