# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Fuzz the targets, each in a process of its own: python -m fuzz, or make fuzz.

Only LiedynError may leave the package, answers with success are finite, and each input takes
bounded time and memory. What is found is kept under out/fuzz, beside the inputs that reached new
code. Inputs that failed once are kept in test/fuzz/corpus, and run by make test.

    python -m fuzz [--seconds S | --inputs N] [--targets NAME ...] [--engine ENGINE]
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
import os
from pathlib import Path
import re
import subprocess
import sys

from fuzz import engines
from fuzz.target import corpus, folder, NAMES, target

from liedyn_ros.common.markup import print_table

OUT = Path('out/fuzz')
SECONDS = 60.0
RUNS = re.compile(r'stat::number_of_executed_units: *(\d+)')
COVERAGE = re.compile(r'cov: (\d+) ft: (\d+)')
SHOWN = 40  # lines of the log of a target that failed


def main(arguments: Sequence[str] | None = None) -> None:
    """Fuzz, print a table, and fail where an input was found that must not fail."""
    options = read(arguments)
    if options.write_seeds:
        write_seeds(options.targets)
        return
    if options.worker:
        work(options.worker, options.engine, engines.Amount(options.seconds, options.inputs))
        return
    if options.engine != 'atheris':
        print('atheris is not used: good inputs are damaged at random, without a look at coverage')
    rows, failed = [], False
    for name in options.targets:
        code, log = fuzz(name, options)
        runs, covered = RUNS.findall(log), COVERAGE.findall(log)
        failed |= bool(code)
        rows.append([name, options.engine, *(runs[-1:] or ['?']),
                     covered[-1][0] if covered else '', 'FOUND' if code else 'nothing found'])
        print('  '.join(rows[-1]), flush=True)
        if code:
            print('\n'.join(log.splitlines()[-SHOWN:]), flush=True)
    print_table(['target', 'engine', 'inputs', 'branches', ''], rows)
    sys.exit(failed)


def read(arguments: Sequence[str] | None) -> Namespace:
    """Return the options of the command line."""
    parser = ArgumentParser(description='fuzz the package')
    parser.add_argument('--seconds', type=float, default=SECONDS, help='for each target')
    parser.add_argument('--inputs', type=int, default=0, help='for each target, however long')
    parser.add_argument('--targets', nargs='+', choices=NAMES, default=NAMES)
    parser.add_argument('--engine', choices=engines.ENGINES, default=engines.best())
    parser.add_argument('--write-seeds', action='store_true', help='to the corpus')
    parser.add_argument('--worker', choices=NAMES, help='fuzz this target in this process')
    return parser.parse_args(arguments)


def write_seeds(names: Sequence[str]) -> None:
    """Write the good inputs of targets to the corpus."""
    for name in names:
        place = folder(name)
        place.mkdir(parents=True, exist_ok=True)
        for old in place.glob('seed_*'):
            old.unlink()
        for k, seed in enumerate(target(name).seeds()):
            (place / f'seed_{k}').write_bytes(seed)
        print(f'{place}: {len(corpus(name))} files')


def fuzz(name: str, options: Namespace) -> tuple[int, str]:
    """Return the exit code and the log of a target's own process."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f'{name}.log'
    with path.open('wb') as log:
        done = subprocess.run(
            [sys.executable, '-m', 'fuzz', '--worker', name, '--engine', options.engine,
             '--seconds', str(options.seconds), '--inputs', str(options.inputs)],
            stdout=log, stderr=subprocess.STDOUT, check=False)
    lines = path.read_text(errors='replace').splitlines()
    return done.returncode, '\n'.join(
        line for line in lines if line != 'sequence size exceeds remaining buffer')


def work(name: str, engine: str, amount: engines.Amount) -> None:
    """Fuzz a target in this process."""
    if engine == 'atheris':
        engines.instrument(partial(target, name))
    run = target(name).make()
    for path in corpus(name):  # compiles the kernels too
        run(path.read_bytes())
    function = engines.run_atheris if engine == 'atheris' else engines.run_mutations
    function(run, amount, folder(name), (OUT / name).absolute())
    os._exit(0)


if __name__ == '__main__':
    main()
