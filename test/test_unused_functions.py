# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""No function is for tests alone: the package, a tool, an example or a document names each."""

import ast
from pathlib import Path
import re

import pytest
from support.syntax import walk

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[1]
PARTS = ('liedyn_ros', 'benchmarks', 'tools', 'examples', 'fuzz', 'launch', 'docs', 'libliedyn',
         'setup.py', 'README.md')
BY_NUMBA = ('set_env',)  # methods that numba calls, of objects that stand for its own
TEXTS = ('.md', '.hpp', '.h', '.c', '.cpp', '.yaml')


def files(*suffixes):
    """Return the files of the package and of what is around it, but for tests."""
    found = [each for part in PARTS for each in [ROOT / part, *(ROOT / part).rglob('*')]
             if each.suffix in suffixes and each.is_file() and '.venv' not in each.parts]
    return sorted(found)


def names_of(nodes):
    """Return all that code names elsewhere than where it is defined or imported."""
    found = set()
    for each in nodes:
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
        elif (isinstance(each, ast.Constant) and isinstance(each.value, str)
                and ' ' not in each.value):
            found.update(re.findall(r'[A-Za-z_]\w*', each.value))
    return found


def is_called_by_others(function, foreign):
    """Return whether a decorator registers a function, or a class of a library calls it."""
    return function in foreign or any(
        each.startswith(('atexit.', 'register_', 'lower_', 'infer_'))
        for each in map(ast.unparse, function.decorator_list))


def defined_in(nodes):
    """Return the names of functions and classes that code alone is to name."""
    foreign = {each for owner in nodes if isinstance(owner, ast.ClassDef) and owner.bases
               for each in owner.body}
    return [each.name for each in nodes if isinstance(each, (ast.FunctionDef, ast.ClassDef))
            and not each.name.startswith('__') and each.name not in BY_NUMBA
            and not is_called_by_others(each, foreign)]


def test_no_function_is_for_tests_alone():
    named, defined = set(), {}
    for each in files('.py'):
        nodes, path = walk(ast.parse(each.read_text(encoding='utf-8'))), each.relative_to(ROOT)
        named |= names_of(nodes)
        if path.parts[0] == 'liedyn_ros':
            defined[path.as_posix()] = defined_in(nodes)
    for each in files(*TEXTS):
        words = set(re.findall(r'[A-Za-z_]\w*', each.read_text(encoding='utf-8')))
        named.update(word.removeprefix('liedyn_') for word in words)
    assert len(defined) > 500 and [
        f'{path}: {name}' for path, names in defined.items() for name in names
        if name not in named] == []


@pytest.mark.parametrize(('body', 'found'), [
    ('def a(): pass', ['a']), ('def a(): pass\nb = a()', []), ('class A:\n  def b(s): pass\nA()',
                                                               ['b']),
    ('class A(B):\n  def b(s): pass\nA()', []), ('@register_model(X)\nclass A: pass', []),
    ('def a(): pass\n__all__ = ["a"]', [])])
def test_unnamed_functions_are_found(body, found):
    nodes = walk(ast.parse(body))
    assert [each for each in defined_in(nodes) if each not in names_of(nodes)] == found
