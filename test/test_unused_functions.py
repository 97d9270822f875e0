# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""No function is for tests alone: the package, a tool, an example or a document names each."""

import ast
from collections import Counter
from pathlib import Path
import re

import pytest

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


def names_of(tree):
    """Return how often code names something other than where it is defined or imported."""
    found = Counter()
    for each in ast.walk(tree):
        if isinstance(each, ast.Name):
            found[each.id] += 1
        elif isinstance(each, ast.Attribute):
            found[each.attr] += 1
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.update(re.findall(r'[A-Za-z_]\w*', each.value) if ' ' not in each.value else ())
    return found


def is_called_by_others(function, owner):
    """Return whether a decorator registers a function, or a class of a library calls it."""
    registers = [each for each in map(ast.unparse, function.decorator_list)
                 if each.startswith(('atexit.', 'register_', 'lower_', 'infer_'))]
    foreign = owner is not None and owner.bases != []
    return bool(registers) or foreign


def unnamed(sources, named):
    """Return the functions and classes of sources, by path, that nothing names."""
    found = []
    for path, tree in sources.items():
        owners = {id(each): owner for owner in ast.walk(tree) if isinstance(owner, ast.ClassDef)
                  for each in owner.body}
        found += [f'{path}: {each.name}' for each in ast.walk(tree)
                  if isinstance(each, (ast.FunctionDef, ast.ClassDef))
                  and not each.name.startswith('__') and not named[each.name]
                  and each.name not in BY_NUMBA
                  and not is_called_by_others(each, owners.get(id(each)))]
    return found


def test_no_function_is_for_tests_alone():
    trees = {each.relative_to(ROOT).as_posix(): ast.parse(each.read_text(encoding='utf-8'))
             for each in files('.py')}
    named = Counter()
    for tree in trees.values():
        named.update(names_of(tree))
    for each in files(*TEXTS):
        words = re.findall(r'[A-Za-z_]\w*', each.read_text(encoding='utf-8'))
        named.update(word.removeprefix('liedyn_') for word in words)
    package = {path: tree for path, tree in trees.items() if path.startswith('liedyn_ros/')}
    assert len(package) > 500 and unnamed(package, named) == []


@pytest.mark.parametrize(('body', 'found'), [
    ('def a(): pass', ['a']), ('def a(): pass\nb = a()', []), ('class A:\n  def b(s): pass\nA()',
                                                               ['b']),
    ('class A(B):\n  def b(s): pass\nA()', []), ('@register_model(X)\nclass A: pass', []),
    ('def a(): pass\n__all__ = ["a"]', [])])
def test_unnamed_functions_are_found(body, found):
    tree = ast.parse(body)
    assert unnamed({'f': tree}, names_of(tree)) == [f'f: {each}' for each in found]
