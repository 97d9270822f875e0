# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One definition for one name of a kernel, so that a search for a name ends at its algorithm."""

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
