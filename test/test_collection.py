# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Collecting solves nothing and needs no Pinocchio, and no test passes over one of its cases."""

import ast
from pathlib import Path

import pytest
from support.syntax import walk
from tools.source_text import statements

ROOT = Path(__file__).parent
TESTS = sorted(ROOT.rglob('test_*.py'))


def cases_of(function):
    """Return the names that parametrize gives to a test."""
    found = set()
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == 'pytest.mark.parametrize':
            names = ast.literal_eval(mark.args[0])
            found |= set(names.replace(' ', '').split(',') if isinstance(names, str) else names)
    return found


def names_in(expression):
    """Return the variables of an expression."""
    return {each.id for each in walk(expression) if isinstance(each, ast.Name)}


def checks(nodes):
    """Return whether statements check something, or leave the test or the loop."""
    kinds = ast.Assert, ast.Return, ast.Continue, ast.Break
    return any(isinstance(each, kinds) or ast.unparse(each).startswith('pytest.raises')
               for node in nodes for each in walk(node))


def left_out(statements):
    """Return the lines of comprehensions in statements that take all but some."""
    kinds = ast.NotEq, ast.NotIn, ast.Not
    return [rule.lineno for statement in statements for each in walk(statement)
            if isinstance(each, ast.comprehension) for rule in each.ifs
            if any(isinstance(part, kinds) for part in walk(rule))]


def passed_over(source):
    """
    Return the lines that pass over cases of a test: an xfail with its reason is to stand there.

    They are an `if` on the case that checks more of it than of others, and a comprehension that
    leaves cases out.
    """
    tests = [each for each in statements(ast.parse(source))
             if isinstance(each, ast.FunctionDef) and each.name.startswith('test_')]
    return [each.lineno for test in tests if (cases := cases_of(test)) for each in walk(test)
            if isinstance(each, ast.If) and names_in(each.test) & cases
            and checks(each.body) and not checks(each.orelse)] + left_out(
                mark for test in tests for mark in test.decorator_list)


def found_in_tests(look):
    """Return what a function finds in the text of each file of tests, where it finds something."""
    found = {str(path.relative_to(ROOT)): look(path.read_text()) for path in TESTS}
    return {name: each for name, each in found.items() if each}


@pytest.mark.full
def test_no_case_is_passed_over_silently():
    assert found_in_tests(passed_over) == {}


@pytest.mark.parametrize(('body', 'lines'), [
    ('if name != "hard": assert x', [3]), ('if name == "hard": return', [3]),
    ('x = 1 if name == "hard" else 2', []), ('if name == "hard": x = 2', []),
    ('if x: assert name', []), ('if x and name != "hard": assert x', [3]),
    ('y = [k for k in x if k != name]', [])])
def test_passing_over_is_seen(body, lines):
    source = f'@pytest.mark.parametrize("name", NAMES)\ndef test_a(name):\n    {body}\n'
    assert passed_over(source) == lines


def test_a_case_that_is_left_out_of_the_list_is_seen():
    source = '@pytest.mark.parametrize("x", [x for x in ALL if x {}])\ndef test_a(x):\n    pass\n'
    assert passed_over(source.format('!= "hard"')) == passed_over(source.format('not in B')) == [1]
    assert passed_over(source.format('> 3')) == []


def imported_before_skips(source):
    """Return the modules that a file imports before anything can skip it."""
    found = set()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Import):
            found |= {each.name for each in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            found |= {statement.module} | {
                f'{statement.module}.{each.name}' for each in statement.names}
        elif 'importorskip' in ast.unparse(statement):
            break
    return found


def test_collecting_needs_no_pinocchio():
    """The oldest and the newest requirements have none: an import there ends the whole run."""
    of_pinocchio = {'pinocchio', 'support.witnesses.pinocchio_twin'}
    assert found_in_tests(lambda source: imported_before_skips(source) & of_pinocchio
                          if 'pinocchio' in source else set()) == {}


@pytest.mark.parametrize(('source', 'modules'), [
    ('import a\nfrom b.c import d', {'a', 'b.c', 'b.c.d'}),
    ('import a\nx = pytest.importorskip("b")\nimport c', {'a'}),
    ('def f():\n    import a', set())])
def test_imports_are_seen(source, modules):
    assert imported_before_skips(source) == modules
