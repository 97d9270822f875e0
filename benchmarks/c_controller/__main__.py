# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The example node in C at 1 kHz beside busy processors: python -m benchmarks.c_controller.

A program in C sends joint states of a UR5 at 1 kHz. The node answers each with efforts. Times are
taken in the node. A cycle is from the call that takes a state to the end of the publication. The
age is from the stamp of a state to there, and the period is between two such ends. It needs CMake,
a C compiler and an installed libliedyn. `chrt` makes both programs real time. With --server the
pair of topics of dynamics_server answers queries at 1 kHz beside it, at the same priority.
"""

import argparse
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
import os
from pathlib import Path
import signal
import subprocess
from typing import Any

import numpy as np

from benchmarks.c_controller.server import beside
from benchmarks.processes import end_process, exit_at_sigterm, loaded
from benchmarks.record import keep, origin
from benchmarks.robots import robots
from liedyn_ros.export import write_model
from liedyn_ros.model import Model

SOURCES = Path(__file__).parent
COLUMNS = ('allocations', 'kernel', 'cycle', 'age', 'end')  # of libliedyn/test/cycles.c, ns
SHARES = {'median': 0.5, '99 %': 0.99, '99.9 %': 0.999, '99.99 %': 0.9999, 'most': 1.0}
PRIORITY = 30
RUNS = {'usual': [], 'real time': ['chrt', '-f', str(PRIORITY)]}
Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure at both priorities, print the table and keep it as JSON."""
    parser = argparse.ArgumentParser(prog='benchmarks.c_controller', description=__doc__)
    parser.add_argument('--seconds', type=int, default=120, help='of each run')
    parser.add_argument('--busy', type=int, default=os.cpu_count(), help='busy loops beside it')
    parser.add_argument('--runs', nargs='+', choices=list(RUNS), default=list(RUNS),
                        help='priorities of both programs')
    parser.add_argument('--server', action='store_true', help='run dynamics_server beside them')
    parser.add_argument('--prefix', type=Path, default=Path('out/libliedyn/prefix'),
                        help='where libliedyn is installed')
    parser.add_argument('--build', type=Path, default=Path('out/c_controller'))
    options = parser.parse_args(arguments)
    folder = options.build.resolve()
    built(folder, options.prefix.resolve())
    robot = robots()['arm (ur5)']
    write_model(folder / 'robot.liedyn', robot.model, tree=True)
    (folder / 'robot.urdf').write_text(robot.urdf)
    exit_at_sigterm('run')
    print(f'{options.seconds} s at 1 kHz, {options.busy} busy loops on {os.cpu_count()} '
          f'processors, load {os.getloadavg()[0]:.1f}')
    with loaded(options.busy):
        rows = {name: measure(folder, name, options.seconds, robot.model, options.server)
                for name in options.runs}
    for name, row in rows.items():
        print('\n'.join(lines(name, row)))
    keep('c_controller', {'seconds': options.seconds, 'busy': options.busy, 'rows': rows})


def built(folder: Path, prefix: Path) -> None:
    """Compile the node, the sender and the watcher of cycles."""
    _run('cmake', '-S', SOURCES, '-B', folder, f'-DCMAKE_PREFIX_PATH={prefix}')
    _run('cmake', '--build', folder)


def measure(folder: Path, run: str, seconds: int, model: Model, server: bool) -> Row:
    """Return figures (us) of some seconds of one of RUNS; server: with dynamics_server beside."""
    priority = PRIORITY if RUNS[run] else 0
    with beside(model, str(folder / 'robot.urdf'), priority) if server else nullcontext() as end:
        row = _measure_node(folder, RUNS[run], seconds, list(model.coordinate_names))
        asked = None if end is None else end()
    if asked is not None:
        row['server'] = {'sent': asked['sent'], 'answered': len(asked['ages']),
                         'age': shares(asked['ages'])}
    return row


def _measure_node(folder: Path, prefix: list[str], seconds: int, names: list[str]) -> Row:
    """Return figures of the node in C alone, both programs started by a prefix."""
    path = folder / 'cycles'
    path.unlink(missing_ok=True)
    node = subprocess.Popen(
        [*prefix, folder / 'c_controller/c_controller', folder / 'robot.liedyn'],
        env=os.environ | {'LD_PRELOAD': str(folder / 'libcycles.so'), 'LIEDYN_CYCLES': str(path)})
    try:
        printed = _run(*prefix, folder / 'probe', seconds, *names)
    finally:
        end_process(node, signal.SIGINT)
    sent, received = map(int, printed.split())
    columns = dict(zip(COLUMNS, np.fromfile(path, dtype=np.int64).reshape(-1, len(COLUMNS)).T))
    period = np.diff(columns['end'])
    return {'sent': sent, 'answered': len(columns['end']), 'received': received,
            'allocations': int(columns['allocations'].sum()), 'load': os.getloadavg()[0],
            **{name: shares(values) for name, values in (
                ('kernel', columns['kernel']), ('cycle', columns['cycle']),
                ('age', columns['age']), ('period', period))}}


def shares(values: Any) -> dict[str, float]:
    """Return shares of times, from ns to us."""
    return {name: float(np.quantile(values, share)) / 1e3 for name, share in SHARES.items()}


def lines(name: str, row: Row) -> list[str]:
    """Return the lines of a run."""
    head = (f'{name}, load {row["load"]:.1f}: {row["answered"]} of {row["sent"]} states answered, '
            f'{row["allocations"]} allocations between taking and publishing')
    table = [head, _line('us', SHARES)] + [
        _line(what, _rounded(row[what])) for what in ('kernel', 'cycle', 'age', 'period')]
    if 'server' in row:
        asked = row['server']
        table += [f'  dynamics_server: {asked["answered"]} of {asked["sent"]} queries answered',
                  _line('age', _rounded(asked['age']))]
    return table


def _rounded(row: dict[str, float]) -> list[str]:
    return [f'{row[share]:.1f}' for share in SHARES]


def _line(name: str, cells: Iterable[str]) -> str:
    return f'  {name:8}' + ''.join(f'{cell:>12}' for cell in cells)


def _run(*command: object) -> str:
    """Run a program, and return what it printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f'{command[0]}: {done.stderr}')
    return done.stdout


if __name__ == '__main__':
    print(origin())
    main()
