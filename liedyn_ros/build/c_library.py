# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Objects, headers and C functions of `libliedyn`: `python -m liedyn_ros.build.c_library`.

The objects are those of Python's rooms, and of functions that call them. Headers and C functions
are those of liedyn_ros.build.c_interface. CMake of the folder `libliedyn` calls it. No compiler of
C is needed, for no processor.
"""

import argparse
from collections.abc import Iterable, Sequence
import os
from pathlib import Path
import subprocess
import sys

from liedyn_ros.build.c_entries import WORDS
from liedyn_ros.build.objects import PROCESSORS
from liedyn_ros.build.parts import compile_parts, function_parts
from liedyn_ros.build.sources import PACKAGE
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.jit.pointers import COUNT, FLAGS, NUMBERS, WHOLES
from liedyn_ros.jit.rooms import VARIABLE

KERNELS_HEADER = 'liedyn_kernels.h'
C_TYPES = {COUNT: 'int64_t ', NUMBERS: 'double *', FLAGS: 'unsigned char *',
           WHOLES: 'int64_t *', WORDS: 'const word *'}


def build_objects(folder: Path, processors: Iterable[str] = tuple(PROCESSORS)) -> list[Path]:
    """
    Write objects whose names begin with a processor's, headers and C functions into a folder.

    Returns the objects.

    Raises LiedynError for an unknown processor, and where an object would need more than libm,
    memcpy, memmove and memset.
    """
    chosen = tuple(processors)
    functions = function_parts()
    parts, made = compile_parts(functions, chosen), []
    folder.mkdir(parents=True, exist_ok=True)
    for processor in chosen:
        for path in folder.glob(f'{processor}.*.o'):
            path.unlink()
        for part in parts:
            made.append(folder / f'{processor}.{part.module}.o')
            write_whole(made[-1], part.object_file(processor).read_bytes())
    write_whole(folder / KERNELS_HEADER,
                _header([row for part in functions for row in part.rows()]))
    write_interface(folder)
    return made


def write_interface(folder: Path) -> None:
    """Write headers, C functions and exported names into a folder, by kernels as sources."""
    subprocess.run(
        [sys.executable, '-m', 'liedyn_ros.build.c_interface', str(folder)], check=True,
        cwd=PACKAGE.parent, env=os.environ | {VARIABLE: '1'})


def _header(rows: Sequence[Sequence[str]]) -> str:
    """Return the header that declares each function for each processor, and lists them."""
    lines = ['/* Written by python -m liedyn_ros.build.c_library: not to be edited. */',
             '#include <stdint.h>', 'typedef union { void *address; int64_t whole; } word;',
             'typedef struct {',
             *(f'  {_declared(f"(*{name})", given)}' for name, *given in rows),
             '} liedyn_kernels;']
    for prefix in (each.prefix for each in PROCESSORS.values()):
        lines += [_declared(prefix + name, given) for name, *given in rows]
        listed = ', '.join(prefix + name for name, *_ in rows)
        lines += [f'#define {prefix.upper()}KERNELS {{ {listed} }}']
    return '\n'.join(lines) + '\n'


def _declared(name: str, given: Sequence[str]) -> str:
    arguments = (each.split(':') for each in given)
    listed = ', '.join(C_TYPES[kind] + argument for argument, kind in arguments)
    return f'{C_TYPES[COUNT]}{name}({listed});'


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the objects; return 1 where one is refused."""
    parser = argparse.ArgumentParser(
        prog='liedyn_ros.build.c_library', description='Write the objects of libliedyn.')
    parser.add_argument('folder', type=Path, help='folder for objects and header')
    parser.add_argument('--processors', nargs='+', choices=sorted(PROCESSORS),
                        default=sorted(PROCESSORS), help='processors to write them for')
    options = parser.parse_args(arguments)
    try:
        made = build_objects(options.folder, options.processors)
    except (LiedynError, OSError) as error:
        print(f'liedyn_ros.build.c_library: {error}', file=sys.stderr)
        return 1
    print(f'{options.folder}: {len(made)} objects, {sum(path.stat().st_size for path in made)} '
          'bytes')
    return 0


if __name__ == '__main__':
    sys.exit(main())
