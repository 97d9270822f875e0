# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The digits of the C library on each processor: PYTHONPATH=test python -m support.c_library.digits.

20 models of 50 states: eight trees, every second one floating, eight machines with closed loops,
four platforms, with time derivatives to order 5. Prints for each result how many of all numbers
differ from Python's in a bit. The largest difference is relative to the largest entry.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
import tempfile
from typing import Any

from support.c_library import c_answers, c_loop_answers, c_platform_answers
from support.c_library.c_library import built, require_tools, V2
from support.c_library.comparison import by_name, Difference, differences, relative
from support.machines.loop_states import ALL

from liedyn_ros.dynamics.constrained import ConstrainedDynamics

ORDER = 5
PLATFORMS = 'table_1', 'hexaglide', 'cranks', 'wires'
PROCESSORS = 'x86_64_v3', 'x86_64_v2', 'aarch64'
CROSS = {'processor': 'aarch64', 'compiler': 'aarch64-linux-gnu-gcc'}
Errors = dict[str, tuple[int, int, float]]


def program(name: str, processor: str) -> list[object]:
    """Return the command of a program of the library for a processor."""
    if processor == 'aarch64':
        require_tools('qemu-aarch64-static')
        return ['qemu-aarch64-static', built([f'test/{name}.c'], '-static', **CROSS)]
    return [built([f'test/{name}.c'], *(V2 if processor == 'x86_64_v2' else ()))]


def errors(states: list[Any], of_python: Callable[[list[Any]], Any],
           of_c: dict[str, Callable[[], Any]], difference: Difference = relative
           ) -> dict[str, Errors]:
    """Return for each processor how many numbers of a result differ, of how many, and by what."""
    wanted = of_python(states)
    found = {}
    for processor, answers in of_c.items():
        got = answers()
        largest = differences(got, wanted, difference)
        counts = dict.fromkeys(largest, (0, 0))
        for row, values in zip(got, wanted):
            for name, part in by_name(row, values).items():
                other, total = counts[name]
                counts[name] = other + int((part != values[name]).sum()), total + part.size
        found[processor] = {name: (*counts[name], error) for name, error in largest.items()}
    return found


def machines(processors: list[str], folder: Path, count: int
             ) -> Iterator[tuple[str, dict[str, Errors]]]:
    """Yield the kind of each machine, and its errors by processor."""
    for seed in range(8):
        model = c_answers.random_tree(seed)
        states = c_answers.random_states(model, ORDER, count, seed)
        yield 'trees', errors(
            states, lambda given: c_answers.answers_of_python(model, given),
            {each: lambda each=each: c_answers.answers_of_c(
                program('answers', each), folder, model, states) for each in processors})
    for looped in list(ALL.values())[:8]:
        dynamics = ConstrainedDynamics(looped.model)
        closed = c_loop_answers.random_states(dynamics, looped.q, ORDER, count, 1)
        yield 'loops', errors(
            closed, lambda given: c_loop_answers.answers_of_python(dynamics, given),
            {each: lambda each=each: c_loop_answers.answers_of_c(
                program('loops', each), folder, looped, ORDER, closed) for each in processors})
    for name in PLATFORMS:
        geometry, home = c_platform_answers.platform(name)
        poses = c_platform_answers.random_states(home, ORDER, count, 1)
        yield 'platforms', errors(
            poses, lambda given: c_platform_answers.answers_of_python(geometry, given),
            {each: lambda each=each: c_platform_answers.answers_of_c(
                program('platforms', each), folder, geometry, poses) for each in processors},
            c_platform_answers.difference)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('processors', nargs='*', default=list(PROCESSORS))
    parser.add_argument('--states', type=int, default=50)
    options = parser.parse_args()
    table: dict[tuple[str, str], Errors] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, by_processor in machines(options.processors, Path(folder), options.states):
            for processor, results in by_processor.items():
                for name, (other, total, error) in results.items():
                    row = table.setdefault((kind, name), {})
                    before = row.get(processor, (0, 0, 0.0))
                    row[processor] = before[0] + other, before[1] + total, max(before[2], error)
    print(f'{"":46}' + ''.join(f'{processor:>28}' for processor in options.processors))
    for (kind, name), row in table.items():
        print(f'{kind + ": " + name:46}' + ''.join(
            f'{other:10} of {total:6}{error:8.1e}' for other, total, error in (
                row[each] for each in options.processors)))


if __name__ == '__main__':
    main()
