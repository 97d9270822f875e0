# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Soak: every node of the package for an hour, beside attacks.

Memory, ages and losses are printed each minute and judged at the end, by what was recorded. Three
verdicts: HELD, NOT HELD, and NOT SHOWN where evidence is missing. A busy machine is no fault of a
node: samples that are lost and answers that are late count where the machine was not late itself
(`benchmarks.nodes.heartbeat`), as answers that refuse a request whose time is over do. What grows
on, a request that is never answered, another wrong answer and a node that ends always count.

    python -m benchmarks.together.soak [--minutes M] [--rate HZ] [--others HZ] [--calls HZ]
                                       [--attacks HZ]
"""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
import os
import sys
import time
from typing import Any

from liedyn_interfaces.srv import DescribeModel, SolveStewartPose
import numpy as np
import rclpy
from rclpy.signals import SignalHandlerOptions

from benchmarks.nodes.caller import ANSWER, Caller, Question
from benchmarks.nodes.heartbeat import explains, Heartbeat, lateness, merge, PERIOD
from benchmarks.nodes.memory import grows, growth, memory, shows
from benchmarks.processes import exit_at_sigterm
from benchmarks.record import distro, keep
from benchmarks.together import fleet
from benchmarks.together.causes import NONE
from benchmarks.together.flows import Figures, Flows, Reports
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.demo.verdict import DemoVerdict, Outcome
from liedyn_ros.stewart import load_geometry

WARM = 10.0  # s that are not counted: discovery, first samples
SETTLED = 3.0  # s, after which what was sent has arrived, and is counted on /diagnostics
LAST = 120.0  # s, for which answers are awaited at the end
MAX_LOG = 5 * 60 * 300e-6  # MB a minute, of a node: five faults that last, each told once a second
LEAST = 0.5  # of a stated rate, and of the time without lateness, for a verdict on samples
PERCENTS = 50.0, 99.0, 99.9, 99.99, 100.0
ANSWERS = 'answers of services'
POSE_RATE, RATE, CALLS, ATTACKS = 250.0, 100.0, 50.0, 20.0  # Hz: the pose, others, services
# Of the log of a controller whose machine is lost.
LOST = 'the reference starts again', 'activate the node again'
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

    def __init__(self, stack: ExitStack, pose_rate: float, rate: float, calls: float,
                 attacks: float) -> None:
        """Start everything; the stack ends it."""
        self.rates = {'pose': pose_rate, 'others': rate, 'calls': calls, 'attacks': attacks}
        self._bare = fleet.start_follower(stack)
        self.members = fleet.start(stack, pose_rate, rate)
        self._attacks = fleet.start_attacks(stack, attacks)
        self._flows, self._reports = Flows(stack, pose_rate, rate), Reports()
        self._resets = fleet.resets(self.members)
        self._caller = Caller(calls, questions(self.members), self._reports.hear,
                              [each for some in self._resets.values() for each in some])
        stack.callback(self._caller.end)
        # What waits for less than half of a sample's period loses none.
        self._heartbeat = Heartbeat(stack, max(PERIOD, round(0.5e9 / max(pose_rate, rate))))
        self._late = np.empty((0, 2), np.int64)
        self.rows: list[dict[str, Any]] = []
        self.ages: dict[str, list[np.ndarray]] = {
            name: [] for name in (*(flow.name for flow in self._flows.flows), ANSWERS)}
        time.sleep(WARM)
        for each in self._resets.values():  # a machine falls while so many processes start
            self._caller.ask(each)
        time.sleep(SETTLED)
        self._end = time.time_ns()
        self._flows.take(self._end)
        self._caller.take()
        self._heartbeat.take()
        for member in self.members:
            member.trouble()
        self._cpu = self._cpu_now()

    def minute(self) -> dict[str, Any]:
        """Watch for a minute; return its figures."""
        begin = self._end
        self._end = end = begin + 60_000_000_000
        time.sleep(max(0.0, 1e-9 * (end - time.time_ns())) + SETTLED)
        self._flows.take(begin)
        calls, late = self._caller.take(), self._heartbeat.take()
        self._late = merge(np.concatenate([self._late, late]))
        flows = {flow.name: flow.figures(begin, end, self._reports, self._late)
                 for flow in self._flows.flows}
        for name, figures in flows.items():
            self.ages[name].append(figures.ages.astype(np.float32))
        self.ages[ANSWERS].append(np.array(calls.trips, np.float32))
        cpu, self._cpu = self._cpu, self._cpu_now()
        row = {
            'minute': len(self.rows) + 1, 'load': os.getloadavg()[0],
            'memory MB': {each.name: memory(each.process.pid) for each in self.members},
            'bare node MB': memory(self._bare),
            'files and threads': {each.name: each.held() for each in self.members},
            'log MB': {each.name: each.logged() for each in self.members},
            'attacks': self._attacks(),
            'CPU %': {name: (now - cpu[name]) / 0.6 for name, now in self._cpu.items()},
            'flows': {flow.name: _row(flows[flow.name], flow.rate) for flow in self._flows.flows},
            'answers': {**_percentiles(np.array(calls.trips)), 'answered': len(calls.trips),
                        'late': calls.late, 'wrong': calls.wrong,
                        'late without a cause': [
                            (name, asked) for name, asked, answered in calls.late if not explains(
                                self._late, asked, answered, answered - asked - 1e9 * ANSWER)]},
            'machine late %': 100.0 * lateness(self._late, begin, end) / (end - begin),
            'machine late longest': 1e-6 * float(np.diff(late).max(initial=0)),
            'trouble': {each.name: told for each in self.members if (told := each.trouble())}}
        row['reset'] = [place for place in self._resets if self._is_lost(place, row['trouble'])]
        self._put_back(row['reset'])
        self.rows.append(row)
        _tell(row)
        for member in self.members:
            member.require()
        return row

    def unanswered(self) -> list[tuple[str, int]]:
        """Ask no more; return the questions without an answer, and when, ns, they were asked."""
        return self._caller.finish(LAST)

    def _put_back(self, places: Sequence[str]) -> None:
        """Put machines back; what their nodes say and lose meanwhile does not count."""
        for place in places:
            self._caller.ask(self._resets[place])
        if places:
            time.sleep(SETTLED)
            for member in self.members:
                if member.name.partition('/')[0] in places:
                    member.trouble()
        for flow in self._flows.flows:
            if flow.parts[0].partition('/')[0] in places:
                flow.counted = time.time_ns()

    def _is_lost(self, place: str, trouble: dict[str, list[str]]) -> bool:
        """Return whether a machine was lost in a minute: its reference started again, or ended."""
        return any(lost in line for name, told in trouble.items() for line in told
                   if name.startswith(f'{place}/') for lost in LOST)

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
          f'CPU {sum(row["CPU %"].values()):.0f} %, machine late {row["machine late %"]:.0f} % of '
          f'the time, at most {row["machine late longest"]:.0f} ms')
    for name, flow in row['flows'].items():
        lost = ', '.join(f'{samples} {cause}'
                         for cause, samples in flow['lost'].items() if samples)
        print(f'  {name}: {flow["sent a second"]:.1f} Hz, {flow["50 %"]:.2f} ms, 99.99 % '
              f'{flow["99.99 %"]:.1f} ms, passed over {flow["passed over"]}, '
              f'lost {lost or "nothing"}')
    answers = row['answers']
    print(f'  {ANSWERS}: {answers["answered"]}, {answers["50 %"]:.2f} ms, 99.99 % '
          f'{answers["99.99 %"]:.1f} ms, late {len(answers["late"])}, wrong '
          f'{len(answers["wrong"])}')
    for name, told in row['trouble'].items():
        print(f'  {name}: {len(told)} warnings, the last one: {told[-1]}')
    print(*(f'  {place}: lost, and put back to its start\n' for place in row['reset']), sep='',
          end='', flush=True)


def verdicts(rows: Sequence[dict[str, Any]], unanswered: Sequence[tuple[str, int]],
             minutes: int) -> dict[str, DemoVerdict]:
    """Return the verdicts on a run of so many minutes; unanswered: requests, and when, ns."""
    held = _held(rows)
    short = f'minutes: {len(rows)} of {minutes}' if len(rows) < minutes else ''
    late = float(np.mean([row['machine late %'] for row in rows]))
    flows = {name: [row['flows'][name] for row in rows] for name in rows[0]['flows']}
    lost = {name: sum(flow['lost'][NONE] for flow in each) for name, each in flows.items()}
    least = {name: min(flow['sent a second'] for flow in each) for name, each in flows.items()}
    all_wrong, tardy, behind = ([tuple(each[:2]) for row in rows for each in row['answers'][kind]]
                                for kind in ('wrong', 'late without a cause', 'late'))
    excused = {*behind} - {*tardy}  # a request's time is over where the machine is late for it
    wrong = [each for each in all_wrong if each not in excused]
    answered = sum(row['answers']['answered'] for row in rows)
    return {
        'memory, files, threads and logs': DemoVerdict.of(
            f'{len(rows)} minutes, {rows[-1]["attacks"]} attacks',
            {**{f'{what} of {name} grow by {60.0 * growth(each)[0]:.2f} an hour': grows(each)
                for (what, name), each in held.items()},
             **{f'the log of {name} grew by {size:.1f} MB': size > MAX_LOG * len(rows)
                for name, size in rows[-1]['log MB'].items()}},
            (short, '' if rows[-1]['attacks'] else 'attacks',
             '' if shows(len(rows)) else 'minutes, to tell what grows on from what grew once')),
        'samples': DemoVerdict.of(
            f'the machine was late for {late:.0f} % of the time',
            {f'{name}: {count} lost without a cause': count > 0 for name, count in lost.items()},
            (short, *(f'samples of {name}: {each:.0f} a second in the worst minute of '
                      f'{flows[name][0]["rate"]:g}' for name, each in least.items()
                      if each < LEAST * flows[name][0]['rate']),
             'time in which the machine was not late' if late > 100.0 * LEAST else '')),
        'answers': DemoVerdict.of(
            f'{answered} requests, {len(behind)} of them answered after more than {ANSWER:g} s, '
            f'{len(all_wrong) - len(wrong)} of these refused as the machine was late',
            {f'{len(each)} {what}: {sorted({name for name, _ in each})}': bool(each)
             for what, each in (('wrong', wrong), ('never answered', unanswered),
                                ('late, and the machine was not', tardy))},
            (short, '' if answered else 'answers'))}


def _held(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], list[float]]:
    """
    Return memory, files and threads of each minute, by kind and node.

    Of memory that which the bare node beside them has grown by is taken off.
    """
    bare = [row['bare node MB'] - rows[0]['bare node MB'] for row in rows]
    return {(what, name): [row[what][name] - other for row, other in zip(rows, others)]
            for what, others in (('memory MB', bare), ('files and threads', [0.0] * len(rows)))
            for name in rows[0][what]}


def run(minutes: float, *rates: float) -> Outcome:
    """Soak at rates of poses, others, calls, attacks, Hz; print, keep and return a verdict."""
    unanswered: list[tuple[str, int]] = []
    with ExitStack() as stack:
        soak, whole = Soak(stack, *rates), max(1, round(minutes))
        for minute in range(1, whole + 1):
            soak.minute()
            if minute == whole:
                unanswered = soak.unanswered()
            found = verdicts(soak.rows, unanswered, whole)
            path = keep(f'{NAME}_{distro()}', _summary(soak, found))
    print_table(('latency, ms', *(f'{percent:g} %' for percent in PERCENTS)), [
        [name, *(f'{value:.2f}' for value in _percentiles(np.concatenate(ages)).values())]
        for name, ages in soak.ages.items()])
    print_table(('', 'begin', 'greatest', 'end', 'growth an hour', 'at least'), [
        [f'{what} of {name}', f'{each[0]:.1f}', f'{max(each):.1f}', f'{each[-1]:.1f}',
         *(f'{60.0 * x:.2f}' for x in growth(each))]
        for (what, name), each in _held(soak.rows).items()])
    print('\n'.join(f'{name}\n{each}' for name, each in found.items()))
    print(path)
    outcomes = {each.outcome for each in found.values()}
    return next(each for each in (Outcome.NOT_HELD, Outcome.NOT_SHOWN, Outcome.HELD)
                if each in outcomes)


def _summary(soak: Soak, found: Mapping[str, DemoVerdict]) -> dict[str, Any]:
    return {
        'latency': {name: _percentiles(np.concatenate(ages)) for name, ages in soak.ages.items()},
        'rates': soak.rates,
        'verdicts': {name: str(each) for name, each in found.items()}, 'rows': soak.rows}


def main(arguments: Sequence[str] = ()) -> None:
    """Measure, print and keep."""
    parser = ArgumentParser(description='soak of all nodes beside attacks')
    parser.add_argument('--minutes', type=float, default=60.0)
    parser.add_argument('--rate', type=float, default=POSE_RATE,
                        help='of the samples of a pose node, Hz (default: %(default)g)')
    parser.add_argument('--others', type=float, default=RATE,
                        help='of all other streams, Hz (default: %(default)g)')
    parser.add_argument('--calls', type=float, default=CALLS,
                        help='of services, Hz (default: %(default)g)')
    parser.add_argument('--attacks', type=float, default=ATTACKS,
                        help='of what means harm, Hz (default: %(default)g)')
    options = parser.parse_args(arguments)
    exit_at_sigterm('minute')
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(run(options.minutes, options.rate, options.others, options.calls,
                     options.attacks).value)
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main(sys.argv[1:])
