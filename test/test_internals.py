# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Private symbols of other packages: docs/dependencies.md lists them, and they exist."""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
import re

import pytest
from support.syntax import walk

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[1]
TABLES = sorted((ROOT / 'docs' / 'tables').glob('internals_*.csv'))
SYMBOLS = [symbol for path in TABLES
           for symbol in re.findall(r'^`([\w.]+)`,', path.read_text(), re.M)]
COMPILED = 'rclpy_implementation.'
SET_IN_INIT = {  # in __init__, not of the class
    'numba.core.codegen.CPUCodeLibrary._final_module',
    'numba.core.codegen.CPUCodeLibrary._linking_libraries',
    'numba.core.dispatcher.Dispatcher._compiler',
    'rclpy.lifecycle.node.LifecycleNodeMixin._service_change_state',
    'rclpy.lifecycle.node.LifecycleNodeMixin._state_machine',
    'rclpy.node.Node._parameter_overrides'}
PRIVATE = re.compile(r'(numba\.(core|np)|llvmlite|rclpy\.impl|viser\.infra)\b')
OF_HANDLES = re.compile(r'\b(?:handle|waiting|_wake|_context)\.([a-z]\w+)')
DOCUMENTED = {'_replace', '_asdict', '_make', '_fields', '_exit'}  # of named tuples, of os
FILES = sorted(path for part in ('ros', 'jit', 'nodes', 'build', 'view')
               for path in (ROOT / 'liedyn_ros' / part).rglob('*.py'))


def find(symbol):
    """Return what a symbol names, or raise AttributeError or ImportError with its name."""
    if symbol.startswith(COMPILED):
        pytest.importorskip('rclpy')
        from rclpy.impl.implementation_singleton import rclpy_implementation as found
        rest = symbol.removeprefix(COMPILED).split('.')
    else:
        pytest.importorskip(symbol.partition('.')[0])
        parts = symbol.split('.')
        length = next(n for n in range(len(parts), 0, -1) if is_module('.'.join(parts[:n])))
        found, rest = import_module('.'.join(parts[:length])), parts[length:]
    for name in rest:
        found = getattr(found, name)
    return found


def is_module(name):
    """Return whether a name is that of a module."""
    try:
        import_module(name)
    except ImportError:
        return False
    return True


@pytest.mark.parametrize('symbol', SYMBOLS)
def test_the_symbol_exists(symbol):
    if symbol in SET_IN_INIT:
        module = symbol.rsplit('.', 2)[0]
        source = Path(pytest.importorskip(module).__file__).read_text()
        assert f'self.{symbol.rpartition(".")[2]}' in source
    else:
        assert find(symbol) is not None


def nodes_of(path):
    """Return the nodes of a file that name something."""
    return [node for node in walk(ast.parse(path.read_text())) if isinstance(
        node, (ast.Attribute, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef,
               ast.AnnAssign, ast.ImportFrom))]


def names_of(nodes):
    """Return the names that nodes define."""
    return {getattr(node, 'name', None) or getattr(node, 'attr', None)
            or getattr(node.target, 'id', '') for node in nodes
            if not isinstance(node, ast.ImportFrom)
            and not isinstance(getattr(node, 'ctx', None), ast.Load)}


@cache
def all_names():
    """Return the names that any of the files defines."""
    return names_of(node for path in FILES for node in nodes_of(path))


def uses(path):
    """Return the private symbols that a file uses: whole names of imports, else last names."""
    source, nodes = path.read_text(), nodes_of(path)
    names = names_of(nodes)
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and PRIVATE.match(node.module or ''):
            yield from (f'{node.module}.{each.name}' for each in node.names)
        elif isinstance(node, ast.Attribute):
            owner = getattr(node.value, 'id', '')
            if owner == 'rclpy_implementation':
                yield f'{owner}.{node.attr}'
            elif (node.attr.startswith('_') and not node.attr.startswith('__')
                  and node.attr not in DOCUMENTED  # one of self may be that of a base of ours
                  and node.attr not in (all_names() if owner in ('self', 'cls') else names)):
                yield f'.{node.attr}'
    if 'ros' in path.parts or 'nodes' in path.parts:
        yield from (f'.{name}' for name in OF_HANDLES.findall(source))


@pytest.mark.parametrize('path', FILES, ids=lambda path: '/'.join(path.parts[-3:]))
def test_every_use_has_a_row(path):
    listed = [*SYMBOLS, 'rclpy.impl.implementation_singleton.rclpy_implementation']
    unlisted = {use for use in uses(path) if not any(
        symbol.endswith(use) or symbol.startswith(f'{use}.') for symbol in listed)}
    assert not unlisted, f'{path.name}: docs/tables has no row for {sorted(unlisted)}'


def test_a_symbol_that_moved_is_named():
    with pytest.raises(AttributeError, match='no_such_symbol'):
        find('numba.core.cgutils.no_such_symbol')
