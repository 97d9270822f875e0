# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Names that are imported, and values that are computed, when they are used; imports no part."""

import ast
from collections.abc import Callable
import functools
from importlib import import_module
from pathlib import Path
import sys
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Key = TypeVar('Key')
Value = TypeVar('Value')


def on_demand(package: str, path: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """
    Return `__getattr__` and `__dir__` of a package whose `__all__` is imported when it is used.

    The imports in the package's own file say which module has a name. They stand where only a type
    checker runs them. So whoever asks for three names waits for their modules alone.
    """
    places = {name.name: node.module for node in ast.walk(ast.parse(Path(path).read_bytes()))
              if isinstance(node, ast.ImportFrom) and node.module is not None
              and node.module.startswith(f'{package}.') for name in node.names}

    def find(name: str) -> Any:
        module = sys.modules[package]
        if name not in places:
            from liedyn_ros.common.other_names import missing, PACKAGE_NAMES
            raise missing(  # Python offers the nearest of a module that is given
                module, f'module {package!r}', name, PACKAGE_NAMES if '.' not in package else {})
        place = import_module(places[name])
        value = (getattr(place, name) if hasattr(place, name)
                 else import_module(f'{places[name]}.{name}'))
        setattr(module, name, value)
        return value

    return find, lambda: sorted(vars(sys.modules[package])['__all__'])


def weak_cache(function: Callable[[Key], Value]) -> Callable[[Key], Value]:
    """
    Return the function with a cache of its values, one for each living argument.

    An entry goes with its argument. So a value must not hold a reference to it.
    """
    cache: WeakKeyDictionary[Key, Value] = WeakKeyDictionary()

    @functools.wraps(function)
    def cached(key: Key) -> Value:
        try:
            return cache[key]
        except KeyError:
            return cache.setdefault(key, function(key))

    return cached
