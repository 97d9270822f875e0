# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One meaning for one name, so that a search for it ends at one kernel, class or value."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[1] / 'liedyn_ros'
# Operations that several value types have. Callers qualify them: vec3.add, mat3.add, rigid.add.
OF_VALUE_TYPES = {
    'add', 'apply', 'apply_t', 'exp', 'left_jacobian', 'left_jacobian_inverse', 'load', 'log',
    'of_rigid', 'scale', 'store', 'trace', 'transport'}
VALUE_TYPES = {
    'articulated', 'change', 'coriolis', 'mat3', 'rigid', 'se3', 'so3', 'symmetric', 'vec3'}


def definitions():
    """Return the kernel modules that define each public function."""
    found = defaultdict(list)
    for path in sorted(ROOT.rglob('kernels/*.py')):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith('_'):
                found[node.name].append(path)
    return found


def test_no_two_kernels_have_one_name():
    found = definitions()
    assert len(found) > 500
    assert {name: [str(path.relative_to(ROOT)) for path in paths] for name, paths in found.items()
            if len(paths) > 1 and not (name in OF_VALUE_TYPES and all(
                path.stem in VALUE_TYPES for path in paths))} == {}


def values_of(target, value):
    """Yield name and text of the value of each constant of an assignment."""
    if isinstance(target, ast.Name):
        yield target.id, ast.unparse(value)
    elif isinstance(target, ast.Tuple):
        parts = [f'{ast.unparse(value)}[{k}]' for k in range(len(target.elts))]
        if isinstance(value, ast.Tuple):
            parts = [ast.unparse(each) for each in value.elts]
        elif parts[0].startswith('range('):
            parts = [str(k) for k in range(*map(ast.literal_eval, value.args))] if all(
                isinstance(each, ast.Constant) for each in value.args) else parts
        for each, part in zip(target.elts, parts):
            yield from values_of(each, ast.parse(part, mode='eval').body)


def constants_of(tree):
    """Return (name, value) of the public constants of a module; none of a value's second name."""
    return [(name, text) for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in getattr(node, 'targets', [getattr(node, 'target', None)])
            for name, text in values_of(target, node.value)
            if name.isupper() and len(name) > 1 and not name.startswith('_')
            and text.rpartition('.')[2] != name]


def test_no_constant_of_one_name_has_two_values():
    found = defaultdict(lambda: defaultdict(list))
    for path in sorted(ROOT.rglob('*.py')):
        for name, text in constants_of(ast.parse(path.read_text())):
            found[name][text].append(str(path.relative_to(ROOT)))
    assert len(found) > 1500
    assert {name: dict(values) for name, values in found.items() if len(values) > 1} == {}


@pytest.mark.parametrize(('text', 'found'), [
    ('FAR = 1e3', [('FAR', '1000.0')]), ('A1, B1 = 2, x.C', [('A1', '2'), ('B1', 'x.C')]),
    ('A1, B1 = range(3, 5)', [('A1', '3'), ('B1', '4')]), ('FAR = tables.FAR; _FAR = 2', []),
    ('FAR: float = 2', [('FAR', '2')]),
    ('A1, B1 = made()', [('A1', 'made()[0]'), ('B1', 'made()[1]')])])
def test_values_of_constants_are_found(text, found):
    assert constants_of(ast.parse(text)) == found


def test_no_two_public_classes_have_one_name():
    found = defaultdict(list)
    for path in sorted(ROOT.rglob('*.py')):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith('_'):
                found[node.name].append(str(path.relative_to(ROOT)))
    assert len(found) > 500
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
