# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The functions of the C library: each function with annotated arguments of a module."""

from collections.abc import Callable, Iterator
import inspect
from types import ModuleType
from typing import Any

from liedyn_ros.export.kernels.interface import Argument
from liedyn_ros.jit.pointers import COUNT, WHOLES

WORDS = 'words'


class Entry:
    """One exported function: its name in C, its arguments, and whether it is called on words."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Take a function whose arguments and result are annotated by kinds."""
        self.function, self.name = function, function.__name__
        self.names = tuple(inspect.signature(function).parameters)
        self.kinds = tuple(function.__annotations__[name] for name in self.names)
        self.on_words = any(isinstance(kind, Argument) for kind in self.kinds)
        self.by_pointers = self.on_words and 'model' in self.names

    def in_c(self) -> list[tuple[str, str]]:
        """Return the arguments in C, by name and kind: pointers and numbers, or words."""
        if self.by_pointers:
            return [(name, kind[0] + '*' * bool(kind[1:]))
                    for name, kind in zip(self.names, self.kinds)]
        if self.on_words:
            return [('given', WORDS), ('found', WHOLES)]
        return list(zip(self.names, self.kinds))


def functions_of(module: ModuleType) -> Iterator[Entry]:
    """Yield the entries that a module exports, in the order of its source."""
    for function in vars(module).values():
        if (inspect.isfunction(function) and function.__module__ == module.__name__
                and function.__annotations__.get('return') == COUNT):
            yield Entry(function)
