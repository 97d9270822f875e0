# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The functions of the C library: each function with annotated arguments of these modules."""

from collections.abc import Callable, Iterator, Sequence
import inspect
from types import ModuleType
from typing import Any

from liedyn_ros.build.kinds import type_of
from liedyn_ros.export.functions import (
    frames, layout, loop_assembly, loop_partials, loop_tracking, loops, partials,
    platform_tracking, platforms, reading, trees)
from liedyn_ros.jit.pointers import COUNT, FLAGS, NUMBERS, WHOLES

MODULES = (layout, reading, trees, frames, partials, platforms, platform_tracking, loops,
           loop_partials, loop_tracking, loop_assembly)
C_TYPES = {COUNT: 'int64_t ', NUMBERS: 'double *', FLAGS: 'unsigned char *', WHOLES: 'int64_t *'}


class Entry:
    """One exported function: its name in C and its types."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Take a function whose arguments and result are annotated with types of numba."""
        self.function, self.name = function, function.__name__
        self.names = tuple(inspect.signature(function).parameters)
        self.kinds = tuple(function.__annotations__[name] for name in self.names)
        self.types = tuple(map(type_of, self.kinds))

    def declaration(self, name: str) -> str:
        """Return the declaration in C of the function by a name."""
        listed = ', '.join(C_TYPES[of] + name for name, of in zip(self.names, self.kinds))
        return f'{C_TYPES[COUNT]}{name}({listed})'


def entries(modules: tuple[ModuleType, ...] = MODULES) -> Iterator[Entry]:
    """Yield the entries that modules export, in the order of their sources."""
    for module in modules:
        for function in vars(module).values():
            if (inspect.isfunction(function) and function.__module__ == module.__name__
                    and function.__annotations__.get('return') == COUNT):
                yield Entry(function)


def declarations(rows: Sequence[Entry], prefixes: tuple[str, ...]) -> str:
    """Return the header that declares each function for each processor, and lists them."""
    lines = ['/* Written by python -m liedyn_ros.export: not to be edited. */',
             '#include <stdint.h>', 'typedef struct {']
    lines += [f'  {entry.declaration(f"(*{entry.name})")};' for entry in rows]
    lines += ['} liedyn_kernels;']
    for prefix in prefixes:
        lines += [f'{entry.declaration(prefix + entry.name)};' for entry in rows]
        listed = ', '.join(prefix + entry.name for entry in rows)
        lines += [f'#define {prefix.upper()}KERNELS {{ {listed} }}']
    return '\n'.join(lines) + '\n'
