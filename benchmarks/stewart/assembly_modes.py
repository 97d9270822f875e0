# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Assembly modes of random platforms at random poses: is the true pose found, do counts agree.

Three kinds of platform in turn: joints anywhere, joints in two planes, and two semi-regular
hexagons like the paper's. Each is solved twice, with start systems and paths of different random
numbers. The times are of one solve each, in ms, on one thread.
"""

from collections import Counter
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.record import keep
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.lie import se3
from liedyn_ros.stewart import AssemblyModes, AssemblyModeSolver, leg_lengths, StewartGeometry

PLATFORMS = 1000
SEEDS = (0, 1)
SAME = 1e-6  # rad and m, of platforms about a metre wide
KINDS = ('general', 'planar', 'symmetric')
REPORT_EVERY = 100


def main() -> None:
    """Run, print the figures and keep them under out/bench."""
    begin = perf_counter()
    examine(np.random.default_rng(0), 'general')
    print(f'compiled, start systems found: {perf_counter() - begin:.1f} s')
    rng = np.random.default_rng(20261121)
    rows: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for n in range(PLATFORMS):
        kind = KINDS[n % len(KINDS)]
        rows[kind].append(examine(rng, kind))
        if (n + 1) % REPORT_EVERY == 0:
            print(f'  {n + 1} of {PLATFORMS} platforms, {perf_counter() - begin:.0f} s',
                  flush=True)
    figures = {kind: summarize(found) for kind, found in rows.items()}
    names = list(figures[KINDS[0]])
    print_table(['', *KINDS], [[name, *(figures[kind][name] for kind in KINDS)] for name in names])
    path = keep('assembly_modes', {'figures': figures})
    print(f'in {path}; {perf_counter() - begin:.0f} s')


def random_geometry(rng: np.random.Generator, kind: str) -> StewartGeometry:
    """Return a platform of a kind, about a metre wide."""
    if kind == 'symmetric':
        base, moving = (hexagon(rng) for _ in range(2))
    else:
        base, moving = rng.normal(size=(2, 6, 3))
        if kind == 'planar':
            base[:, 2] = moving[:, 2] = 0.0
    limits = np.tile((0.0, np.inf), (6, 1))
    return StewartGeometry(tuple('abcdef'), base, moving, limits, name=kind)


def hexagon(rng: np.random.Generator) -> Array:
    """Return three pairs of corners (6, 3), a third of a turn apart."""
    half_gap = rng.uniform(0.05, 1.0)
    angles = rng.uniform(0.0, 2.0 * np.pi) + np.repeat(np.arange(3) * 2.0 * np.pi / 3.0, 2)
    angles += np.tile((-half_gap, half_gap), 3)
    ring = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(6)))
    return np.asarray(rng.uniform(0.5, 1.5) * ring)


def examine(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    """Return the figures of one platform at one pose."""
    geometry = random_geometry(rng, kind)
    pose = se3.exp(rng.normal(size=6) * (1.5, 1.5, 1.5, 1.0, 1.0, 1.0))
    lengths = leg_lengths(geometry, pose)
    found: list[AssemblyModes] = []
    seconds: list[float] = []
    for seed in SEEDS:
        solver = AssemblyModeSolver(geometry, seed)
        begin = perf_counter()
        found.append(solver.solve(lengths))
        seconds.append(perf_counter() - begin)
    first, second = found
    return {'true pose found': all(contains(modes, pose) for modes in found),
            'complete': first.complete and second.complete,
            'counts agree': (len(first.modes), first.complex_solutions)
            == (len(second.modes), second.complex_solutions),
            'lost': first.lost + second.lost, 'complex': first.complex_solutions,
            'real': len(first.modes), 'seconds': seconds}


def contains(modes: AssemblyModes, pose: Array) -> bool:
    """Return whether a pose is among the modes."""
    return any(np.abs(mode.pose - pose).max() < SAME for mode in modes.modes)


def summarize(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of one kind of platform."""
    milliseconds = 1e3 * np.array([row['seconds'] for row in rows]).ravel()
    return {'platforms': len(rows),
            **{key: sum(row[key] for row in rows)
               for key in ('true pose found', 'complete', 'counts agree', 'lost')},
            'complex solutions': count(row['complex'] for row in rows),
            'real poses': count(row['real'] for row in rows),
            **{f'ms, {name}': round(float(np.percentile(milliseconds, q)), 1)
               for name, q in (('median', 50), ('99th percentile', 99), ('longest', 100))}}


def count(values: Any) -> str:
    """Return how often each value occurs, as 'value: times'."""
    return ', '.join(f'{value}: {times}' for value, times in sorted(Counter(values).items()))


if __name__ == '__main__':
    main()
