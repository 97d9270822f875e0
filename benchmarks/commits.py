# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The same calls at several commits, in turns: `python -m benchmarks.commits 9db27007 HEAD`.

Each commit runs in a process of its own with a kernel cache of its own. Only calls that all of
them have are measured, so that a change of the house shows in the times.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
import json
import os
from pathlib import Path
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ROUNDS, BLOCK = 61, 2e-3  # rounds; seconds of one call in a round


def calls(config: Path) -> dict[str, Any]:
    """Return the calls by name, as functions without arguments, for the package on the path."""
    import numpy as np

    from liedyn_ros.dynamics import Dynamics
    from liedyn_ros.dynamics.constrained import assemble, complete_velocity, ConstrainedDynamics
    from liedyn_ros.lie import se3
    from liedyn_ros.model import load_model
    from liedyn_ros.stewart import leg_lengths, MonitoredTracker, PoseSolver, StewartGeometry

    rng = np.random.default_rng(1)
    tree = Dynamics(load_model(config / 'aerial_manipulator.yaml'))
    q, (v, a) = tree.model.random(rng), rng.normal(size=(2, tree.model.nv))
    orders = rng.normal(size=(6, tree.model.nv))
    loops = ConstrainedDynamics(load_model(config / 'five_bar.yaml'))
    closed = assemble(loops)
    rates = complete_velocity(loops, closed, np.where(loops.model.actuated, 2.0, 0.0))
    forces = np.zeros(loops.model.nv)
    read: Any = getattr(StewartGeometry, 'from_yaml', None)
    if read is None:
        from liedyn_ros.stewart import load_geometry
        read = load_geometry
    geometry, home = read(config / 'stewart_geometry.yaml'), np.eye(4)
    home[2, 3] = 0.5
    lengths = leg_lengths(geometry, home @ se3.exp(np.array([0.1, -0.1, 0.2, 0.01, 0.02, 0.03])))
    solver, tracker = PoseSolver(geometry), MonitoredTracker(geometry, home)
    stamps = iter(range(10**9))
    track: Any = getattr(tracker, 'track' if hasattr(tracker, 'track') else 'update')
    noise = 1e-5 * rng.normal(size=(997, 6))

    def sample() -> Any:
        k = next(stamps)
        return track(1_000_000 * (k + 1), lengths + noise[k % len(noise)])

    return {
        'inverse dynamics': lambda: tree.inverse(q, v, a),
        'forward dynamics': lambda: tree.forward(q, v, a),
        'inverse dynamics, order 5': lambda: tree.inverse.time_derivatives(q, v, orders),
        'Jacobians of inverse dynamics': lambda: tree.inverse.partial_derivatives(q, v, a),
        'Jacobians of forward dynamics': lambda: tree.forward.partial_derivatives(q, v, a),
        'closed loops: forward dynamics': lambda: loops.forward(closed, rates, forces),
        'Stewart platform: pose': lambda: solver.solve(lengths, home),
        'Stewart platform: a sample of the tracker': sample}


def serve(tree: Path) -> None:
    """Time each call once a line of stdin, and write the times as a line of JSON."""
    sys.path.insert(0, str(tree))
    begin, functions = time.perf_counter(), calls(tree / 'config')
    for function in functions.values():
        function()
    print(json.dumps({'wall': time.perf_counter() - begin, 'processor': time.process_time()}),
          flush=True)
    counts = {name: max(1, round(BLOCK / _time(each, 20))) for name, each in functions.items()}
    for _ in sys.stdin:
        print(json.dumps({name: _time(each, counts[name]) for name, each in functions.items()}),
              flush=True)


def _time(function: Any, count: int) -> float:
    begin = time.thread_time()
    for _ in range(count):
        function()
    return (time.thread_time() - begin) / count


def start(tree: Path, cache: Path) -> tuple[subprocess.Popen[str], dict[str, float]]:
    """Return a process that serves, and what its start took, s."""
    process = subprocess.Popen(
        [sys.executable, __file__, '--serve', str(tree)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, cwd=tree, env={
            **{k: x for k, x in os.environ.items() if k not in ('PYTHONPATH', 'LIEDYN_OBJECTS')},
            'XDG_CACHE_HOME': str(cache)})
    return process, _line(process)


def _line(process: subprocess.Popen[str]) -> dict[str, float]:
    assert process.stdout is not None
    found: dict[str, float] = json.loads(process.stdout.readline())
    return found


def compare(commits: list[str], rounds: int) -> None:
    """Print the table of the commits."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        trees = {commit: folder / commit for commit in commits}
        for commit, tree in trees.items():
            tree.mkdir()
            archive = subprocess.run(['git', 'archive', commit, 'liedyn_ros', 'config'], cwd=ROOT,
                                     check=True, capture_output=True).stdout
            subprocess.run(['tar', 'x', '-C', tree], input=archive, check=True)
        caches = {name: folder / f'cache-{name}' for name in trees}
        table: dict[str, list[str]] = {'': list(trees)}
        processes = {}
        for what in ('first start', 'next start'):
            for name, tree in trees.items():
                processes[name], took = start(tree, caches[name])
                stack.enter_context(processes[name])
                table.setdefault(f'{what} and first calls, s of the processor', []).append(
                    f'{took["processor"]:.3g}')
        times: dict[str, list[dict[str, float]]] = {name: [] for name in trees}
        for _ in range(rounds):
            for name, process in processes.items():
                assert process.stdin is not None
                print(file=process.stdin, flush=True)
                times[name].append(_line(process))
        for call in times[commits[0]][0]:
            medians = (statistics.median(each[call] for each in rows) for rows in times.values())
            table[f'{call}, us'] = [f'{1e6 * median:.3g}' for median in medians]
        for name, cells in table.items():
            print(f'| {name} | {" | ".join(cells)} |')


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('commits', nargs='*', default=['9db27007', 'HEAD'])
    parser.add_argument('--rounds', type=int, default=ROUNDS)
    parser.add_argument('--serve', type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve)
    else:
        compare(given.commits, given.rounds)
