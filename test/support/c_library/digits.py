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
four platforms. Prints for each kind of result the largest difference from Python, relative to the
largest entry of the result.
"""

from collections.abc import Iterator
from pathlib import Path
import sys
import tempfile

from support.c_library import c_answers, c_loop_answers, c_platform_answers
from support.c_library.c_library import built, V2
from support.c_library.comparison import differences
from support.machines.loop_states import ALL

from liedyn_ros.dynamics.constrained import ConstrainedDynamics

STATES, ORDER, ORDER_OF_LOOPS = 50, 5, 2
PLATFORMS = 'table_1', 'hexaglide', 'cranks', 'wires'
CROSS = {'processor': 'aarch64', 'compiler': 'aarch64-linux-gnu-gcc'}


def program(name: str, processor: str) -> list[object]:
    """Return the command of a program of the library for a processor."""
    if processor == 'aarch64':
        return ['qemu-aarch64-static', built([f'test/{name}.c'], '-static', **CROSS)]
    return [built([f'test/{name}.c'], *(V2 if processor == 'x86_64_v2' else ()))]


def machines(processor: str, folder: Path) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the kind of each machine, and the largest difference of each result."""
    for seed in range(8):
        model = c_answers.random_tree(seed)
        states = c_answers.random_states(model, ORDER, STATES, seed)
        yield 'trees', differences(
            c_answers.answers_of_c(program('answers', processor), folder, model, states),
            c_answers.answers_of_python(model, states))
    for looped in list(ALL.values())[:8]:
        dynamics = ConstrainedDynamics(looped.model)
        closed = c_loop_answers.random_states(dynamics, looped.q, ORDER_OF_LOOPS, STATES, 1)
        yield 'loops', differences(
            c_loop_answers.answers_of_c(
                program('loops', processor), folder, looped, ORDER_OF_LOOPS, closed),
            c_loop_answers.answers_of_python(dynamics, closed))
    for name in PLATFORMS:
        geometry, home = c_platform_answers.platform(name)
        poses = c_platform_answers.random_states(home, ORDER, STATES, 1)
        yield 'platforms', differences(
            c_platform_answers.answers_of_c(
                program('platforms', processor), folder, geometry, poses),
            c_platform_answers.answers_of_python(geometry, poses),
            c_platform_answers.difference)


def group(name: str) -> str:
    """Return the kind of a result."""
    if 'derivatives' in name:
        return 'time derivatives of ' + ('inverse' if name.startswith('inverse') else 'the rest')
    if name.startswith(('partial', 'inverse jac', 'inverse prod', 'inverse grad', 'forward jac',
                        'forward prod', 'forward grad')):
        return 'partial derivatives of ' + ('inverse' if 'inverse' in name else 'the rest')
    return 'forward, hybrid' if name.startswith(('forward', 'hybrid')) else (
        name if name in ('assembled', 'velocity') else 'all else')


def main(processors: list[str]) -> None:
    """Print the table."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for processor in processors:
        with tempfile.TemporaryDirectory() as folder:
            for kind, worst in machines(processor, Path(folder)):
                for name, error in worst.items():
                    row = found.setdefault((kind, group(name)), {})
                    row[processor] = max(row.get(processor, 0.0), error)
    print(f'{"":46}' + ''.join(f'{processor:>12}' for processor in processors))
    for (kind, name), row in sorted(found.items()):
        print(f'{kind + ": " + name:46}' + ''.join(f'{row[each]:12.1e}' for each in processors))


if __name__ == '__main__':
    main(sys.argv[1:] or ['x86_64_v3', 'x86_64_v2', 'aarch64'])
