# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Why digits differ: PYTHONPATH=test python -m support.c_library.unfused.

Kernels of trees are compiled without fused products, for Python and as objects for each processor,
into a folder of their own. Prints the largest difference of any result, and how many of all
numbers differ in a bit. It takes some minutes.
"""

import argparse
import os
from pathlib import Path
import subprocess
import sys
from typing import Any

from numba.core.cpu import FastMathOptions
from support.c_library import c_answers
from support.c_library.c_library import ROOT, WARNINGS
from support.c_library.comparison import by_name, differences

from liedyn_ros.export import lowering
from liedyn_ros.export.build import HEADER
from liedyn_ros.export.entries import (
    declarations, entries, frames, layout, partials, reading, trees)
from liedyn_ros.export.objects import emitted, PROCESSORS

# What a process runs before it imports a kernel.
UNFUSED = """
import numba
njit = numba.njit
numba.njit = lambda *given, **options: njit(*given, **options | {'fastmath': False})
from liedyn_ros.jit import simd
simd._FLAGS = ()
from pathlib import Path
from support.c_library import unfused
"""
MODULES = layout, reading, trees, frames, partials
SOURCES = 'test/answers.c', 'src/calls.c', 'src/model.c', 'src/partials.c'
ORDER, STATES, SEEDS = 5, 50, 8


def write_objects(folder: Path) -> None:
    """Write the header and the objects of trees for all processors."""
    flags = lowering._flags

    def without() -> Any:
        found = flags()
        found.fastmath = FastMathOptions(False)
        return found

    lowering._flags = without
    rows = list(entries(MODULES))
    bitcode = lowering.lowered(rows)
    for name, processor in PROCESSORS.items():
        (folder / f'{name}.o').write_bytes(emitted(bitcode, processor))
    (folder / HEADER).write_text(declarations(rows, tuple(
        each.prefix for each in PROCESSORS.values())))


def program(folder: Path, processor: str) -> list[object]:
    """Return the command of a program for a processor."""
    arm = processor == 'aarch64'
    target = folder / f'answers_{processor}'
    subprocess.run(
        ['aarch64-linux-gnu-gcc' if arm else 'gcc', *WARNINGS, '-O2', '-static',
         *(['-DLIEDYN_V2_ALONE'] if processor == 'x86_64_v2' else []), f'-I{ROOT / "include"}',
         f'-I{folder}', *(str(ROOT / name) for name in SOURCES),
         *map(str, sorted(folder.glob('aarch64.o' if arm else 'x86_64*.o'))), '-lm',
         '-o', str(target)], check=True)
    return (['qemu-aarch64-static'] if arm else []) + [target]


def main() -> None:
    """Compile, and print what differs, in processes of their own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, nargs='?', default=Path('out/unfused'))
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    kept = {'NUMBA_CACHE_DIR': str(folder)}  # kernels of users have fused products
    if not (folder / HEADER).exists():
        run(f'unfused.write_objects(Path({str(folder)!r}))', lowering.ENVIRONMENT | kept)
    run(f'unfused.compare(Path({str(folder)!r}))', kept)


def run(code: str, environment: dict[str, str]) -> None:
    """Run code in a process whose kernels have no fused products."""
    subprocess.run([sys.executable, '-c', UNFUSED + code], env=os.environ | environment,
                   check=True)


def compare(folder: Path) -> None:
    """Print what differs between Python and the library on each processor."""
    programs = {name: program(folder, name) for name in PROCESSORS}
    worst = dict.fromkeys(PROCESSORS, (0.0, 0, 0))
    for seed in range(SEEDS):
        model = c_answers.random_tree(seed)
        states = c_answers.random_states(model, ORDER, STATES, seed)
        wanted = c_answers.answers_of_python(model, states)
        for name, command in programs.items():
            got = c_answers.answers_of_c(command, folder, model, states)
            other = sum(int((part != values[of]).sum()) for row, values in zip(got, wanted)
                        for of, part in by_name(row, values).items())
            error, count, total = worst[name]
            worst[name] = (max(error, *differences(got, wanted).values()), count + other,
                           total + got.size)
    for name, (error, count, total) in worst.items():
        print(f'{name}: {count} of {total} numbers differ, by {error:.1e} at most')


if __name__ == '__main__':
    main()
