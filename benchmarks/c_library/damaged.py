# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Damaged model files for the C library: python -m benchmarks.c_library.damaged --seconds 600.

Files of all machines in config/ are damaged at random, their checksums made right again. Each has
to get a code, or to run. The program and the library have the sanitizers of gcc; the kernels have
none. It needs gcc, and the objects of `python -m liedyn_ros.build.c_library`.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
import subprocess
import sys
import tempfile
import time

from liedyn_ros.build.c_interface import CALLS
from liedyn_ros.build.c_library import build_objects
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.export import write_loops, write_model, write_platform
from liedyn_ros.model import load_model
from liedyn_ros.stewart import load_geometry
from liedyn_ros.stewart.platform.io.geometry_file import is_geometry_file

ROOT = Path(__file__).parents[2] / 'libliedyn'
FLAGS = ('-std=gnu11', '-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all')
ROUNDS = 500  # files of a machine at a time


def main(arguments: Sequence[str] | None = None) -> None:
    """Damage files for some seconds; print how often each code came."""
    parser = argparse.ArgumentParser(prog='benchmarks.c_library.damaged', description=__doc__)
    parser.add_argument('--seconds', type=float, default=600.0)
    parser.add_argument('--build', type=Path, default=Path('out/c_library'),
                        help='folder for objects and the program, which are made if missing')
    options = parser.parse_args(arguments)
    codes, end, seed = Counter[str](), time.monotonic() + options.seconds, 1
    with tempfile.TemporaryDirectory() as name:
        program, machines = built(options.build.resolve(), Path(name)), list(files(Path(name)))
        print(f'{len(machines)} machines: {", ".join(path.stem for path, _ in machines)}')
        while time.monotonic() < end:
            for path, extra in machines:
                codes.update(tried(program, path, seed, extra))
            seed += 1
    print(f'{sum(codes.values())} files, {seed - 1} seeds')
    for code, count in codes.most_common():
        print(f'{count:8} {code}')


def files(folder: Path) -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """Yield a model file of each machine, and of loops a file with a closed configuration."""
    for source in sorted(config_file('five_bar.yaml').parent.glob('*.yaml')):
        path = folder / f'{source.stem}.liedyn'
        try:
            if is_geometry_file(source):
                write_platform(path, load_geometry(source))
                yield path, ()
                continue
            model = load_model(source)
            if model.closures or model.couplings:
                write_loops(path, model, order=1)
                assemble(ConstrainedDynamics(model)).tofile(path.with_suffix('.q'))
                yield path, (path.with_suffix('.q'),)
            else:
                write_model(path, model)
                yield path, ()
        except LiedynError:
            continue  # no machine, or one that the library does not take


def tried(program: Path, path: Path, seed: int, extra: Sequence[Path]) -> Counter[str]:
    """Return how often each code came of ROUNDS files; exit where the program failed."""
    command = [str(word) for word in (program, path, ROUNDS, seed, *extra)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)}: {done.returncode}\n{done.stderr[-2000:]}')
    lines = (line.partition(' times: ') for line in done.stdout.splitlines())
    return Counter({code: int(count) for count, _, code in lines})


def built(folder: Path, target: Path) -> Path:
    """Return the program, compiled into another folder than its objects."""
    objects = folder / 'objects'
    if not (objects / 'liedyn_kernels.h').exists():
        build_objects(objects)
    program = target / 'damaged'
    subprocess.run(
        ['gcc', *FLAGS, *(f'-I{each}' for each in (objects / 'include', objects, ROOT / 'src')),
         str(objects / CALLS),
         str(ROOT / 'test/damaged.c'), *map(str, sorted(ROOT.glob('src/*.c'))),
         *map(str, sorted(objects.glob('x86_64*.o'))), '-lm', '-o', str(program)], check=True)
    return program


if __name__ == '__main__':
    main()
