# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Do the faults to the nodes, print and keep the figures: python -m benchmarks.faults."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby
import sys
import time
from typing import Any

from benchmarks.faults.faults import Fault, FAULTS
from benchmarks.faults.scene import NotBackError, Scene
from benchmarks.faults.subjects import Subject, SUBJECTS
from benchmarks.processes import exit_at_sigterm
from benchmarks.record import distro, keep
from liedyn_ros.common.markup import print_table

# What CI does: a node with a stream and one with services, and what happens most.
QUICK_NODES = 'stewart_pose', 'dynamics_server'
QUICK_FAULTS = ('publisher killed', 'node killed', 'dropped', 'simulated time 10 s back')


KEPT = 'faults'  # where figures are kept, a file for each release and node


def attempt(scene: Scene, fault: Fault) -> dict[str, Any]:
    """Do a fault to a node that works, and return its figures once the node works again."""
    scene.settle()
    with fault.do(scene):
        end = time.monotonic()
        scene.wait(end)
        outcome = scene.record.outcome(scene.begun, end, scene.subject.matched)
    if outcome.wrong:
        raise NotBackError(f'{outcome.wrong} outputs are wrong')
    return outcome._asdict()


def rows_of(subject: Subject, faults: Sequence[Fault]) -> Iterator[dict[str, Any]]:
    """Return a row for each fault; those of one stage share a scene while the node lives."""
    for stage, group in groupby(faults, lambda fault: fault.stage):
        todo = list(group)
        while todo:
            with ExitStack() as stack:
                row = {'node': subject.node, 'fault': todo[0].name}
                if reason := todo[0].impossible():
                    todo.pop(0)
                    yield {**row, 'impossible': reason}
                    continue
                try:
                    scene = Scene(stack, subject, stack.enter_context(stage()))
                    while todo and not todo[0].impossible():
                        row = {'node': subject.node, 'fault': todo[0].name}
                        yield {**row, **attempt(scene, todo[0])}
                        todo.pop(0)
                except NotBackError as error:
                    todo.pop(0)
                    yield {**row, 'failed': str(error)}


def of(subject: Subject, words: Sequence[str]) -> list[Fault]:
    """Return the faults of a node, and of these any whose name has one of some words."""
    return [fault for fault in FAULTS
            if (subject.inputs() or not fault.fed) and (subject.helpers or not fault.helped)
            and (not words or any(word in fault.name for word in words))]


def text_of(row: dict[str, Any]) -> str:
    """Return the figures of a fault in words."""
    if 'impossible' in row:
        return f'not possible here: {row["impossible"]}'
    if 'failed' in row:
        return f'FAILED: {row["failed"]}'
    lost = '' if row['lost'] is None else f'lost {row["lost"]} of {row["inputs"]}, '
    return (f'{lost}gap {row["gap"]:.2f} s, back after {row["back"]:.2f} s, '
            f'served after {row["served"]:.2f} s')


def main(arguments: Sequence[str] | None = None) -> None:
    """Do them all."""
    parser = ArgumentParser(description='faults by script')
    parser.add_argument('--nodes', nargs='+', choices=list(SUBJECTS), default=list(SUBJECTS))
    parser.add_argument('--faults', nargs='+', default=(), help='words of their names')
    parser.add_argument('--quick', action='store_true', help='some nodes, some faults')
    options = parser.parse_args(arguments)
    exit_at_sigterm('fault')
    nodes, words = options.nodes, options.faults
    if options.quick:
        nodes, words = QUICK_NODES, QUICK_FAULTS
    rows: list[dict[str, Any]] = []
    for node in nodes:
        for row in rows_of(SUBJECTS[node], of(SUBJECTS[node], words)):
            rows.append(row)
            print(f'{node}: {row["fault"]}: {text_of(row)}', flush=True)
            keep(f'{KEPT}/{distro()}/{node}', {
                'rows': [each for each in rows if each['node'] == node]})
    failed = [row for row in rows if 'failed' in row]
    print_table(['faults', 'number'], [
        ['done', sum('back' in row for row in rows)], ['failed', len(failed)],
        ['not possible here', sum('impossible' in row for row in rows)]])
    sys.exit(bool(failed))


if __name__ == '__main__':
    main()
