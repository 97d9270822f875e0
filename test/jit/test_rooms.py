# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rooms of compiled kernels: each kernel that Python calls is in one, and old ones are told."""

import ast
from importlib import import_module
from pathlib import Path
import platform
import shutil
import subprocess
import sys

import pytest
from support.refusals import refused

from liedyn_ros.build import sources
from liedyn_ros.build.__main__ import main
from liedyn_ros.build.parts import entries_of, linked, parts, row_of
from liedyn_ros.build.sources import digest, reachable
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.jit import rooms
from liedyn_ros.jit.decorators import CHECKED, Kernel
from liedyn_ros.jit.kinds import NUMBER

pytestmark = pytest.mark.skipif(CHECKED, reason='nothing that was built is used')
PACKAGE = Path(rooms.__file__).parents[1]
APART = {'bags', 'build', 'demo', 'functions', 'jit', 'kernels', 'nodes', 'ros', 'view'}
MODULES = sorted(path for path in PACKAGE.rglob('*.py')
                 if not APART & {*path.relative_to(PACKAGE).parts})
WITHOUT_NUMBA = """
import sys
from importlib import import_module
sys.modules['numba'] = sys.modules['llvmlite'] = None
for name in sys.argv[1:]:
    try:
        import_module(name)
    except ModuleNotFoundError as error:  # of its classes one module makes others
        if error.name != 'crocoddyl':
            raise
import numpy as np
from liedyn_ros.lie import so3
print(so3.exp(np.zeros(3)).trace())
"""


def run(*arguments):
    """Return a process of Python that has imported nothing before."""
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True,
                          check=False)


def module_of(path):
    """Return the name of the module of a file of the package."""
    name = '.'.join(path.relative_to(PACKAGE.parent).with_suffix('').parts)
    return name.removesuffix('.__init__')


def kernels_named(path):
    """Return the kernels that are none of a room, of those that a file names."""
    tree, names = ast.parse(path.read_text()), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and '.kernels' in (node.module or ''):
            for each in node.names:
                try:
                    names[each.asname or each.name] = import_module(f'{node.module}.{each.name}')
                except ModuleNotFoundError:
                    names[each.asname or each.name] = getattr(
                        import_module(node.module), each.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield names.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield getattr(names.get(node.value.id), node.attr, None)


@pytest.mark.full
def test_each_kernel_that_python_names_is_in_a_room():
    lacking = {f'{module_of(path)}: {each.__qualname__}' for path in MODULES
               for each in kernels_named(path) if isinstance(each, Kernel)}
    assert lacking == set()


@pytest.mark.full
def test_each_entry_of_the_sources_is_in_its_room():
    for part in parts():
        found = rooms.functions(part.room)
        assert {f'{part.module}:{each.__qualname__}' for each in entries_of(part.module)} == {
            name for name in found if name.startswith(f'{part.module}:')}


@pytest.mark.full
def test_no_module_that_users_import_needs_numba():
    names = [module_of(path) for path in MODULES if 'studies' not in path.parts
             and 'commands' not in path.parts and path.name != '__main__.py']
    done = run('-c', WITHOUT_NUMBA, *names)
    assert done.returncode == 0, done.stderr
    assert done.stdout == '3.0\n'


def test_a_source_that_has_changed_is_named(tmp_path, monkeypatch):
    library = rooms.library_of('lie')
    assert rooms.changed(library) == []
    copy = tmp_path / 'package'
    for line in library.with_suffix('.sources').read_text().splitlines():
        name = line.split(' ', 3)[3]
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / name, copy / name)  # with another time
    monkeypatch.setattr(rooms, 'PACKAGE', copy)
    assert rooms.changed(library) == []
    (copy / 'lie/kernels/so3.py').write_text('# other')
    (copy / 'lie/kernels/vec3.py').unlink()
    assert sorted(rooms.changed(library)) == ['lie/kernels/so3.py', 'lie/kernels/vec3.py']


def test_a_caller_that_is_older_than_its_source_is_not_used(tmp_path, monkeypatch):
    (tmp_path / 'jit').mkdir()
    shutil.copy(PACKAGE / 'jit/calls.c', tmp_path / 'jit')
    monkeypatch.setattr(rooms, 'PACKAGE', tmp_path)
    assert rooms._caller.__wrapped__().processor() == rooms.processor_here()
    (tmp_path / 'jit/calls.c').write_text('/* other */')
    with pytest.raises(rooms.NotBuiltError):
        rooms._caller.__wrapped__()


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='of two kinds of this family')
def test_kernels_for_older_processors_are_taken_where_that_is_asked_for(monkeypatch):
    here = rooms.processor_here()
    monkeypatch.setenv('LIEDYN_PROCESSOR', rooms.LEAST)
    assert rooms.processor_here() == rooms.LEAST
    monkeypatch.setenv('LIEDYN_PROCESSOR', '')
    assert rooms.processor_here() in (here, 'x86_64_v3')
    for wrong in ('x86_64_v4', 'x86_64'):
        monkeypatch.setenv('LIEDYN_PROCESSOR', wrong)
        with pytest.raises(ImportError):
            rooms.processor_here()


@pytest.mark.full
def test_a_process_that_compiles_imports_all_that_has_kernels(monkeypatch):
    monkeypatch.setenv('LIEDYN_JIT', '1')
    done = run('-c', 'import liedyn_ros.export, liedyn_ros.identification, liedyn_ros.stewart')
    assert done.returncode == 0, done.stderr


def test_a_room_that_is_not_there_names_the_cure():
    with pytest.raises(rooms.NotBuiltError) as caught:
        rooms.functions('no_room')
    assert 'make build' in str(caught.value)


@pytest.mark.parametrize('given, variables, named', [
    (['--processors', 'generic'], {}, 'x86_64_v3'),
    pytest.param(['--jobs', '-1'], {}, 'jobs', marks=pytest.mark.full),
    ([], {'CC': 'gcc "'}, 'CC'), ([], {'CC': '/no/compiler'}, 'CC'),
    pytest.param([], {'LIEDYN_OBJECTS': '/dev/null/objects'}, '/dev/null',
                 marks=pytest.mark.full)])
def test_a_build_that_cannot_be_says_why(tmp_path, monkeypatch, capsys, given, variables, named):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main([*given, '--into', str(tmp_path), '--quiet']) == 1
    said = capsys.readouterr().err
    assert said.startswith('liedyn_ros.build: ') and named in said


def test_a_kernel_reaches_kernels_of_parts_below_alone():
    names = {path.relative_to(PACKAGE).as_posix()
             for path in reachable(PACKAGE / 'dynamics/algorithms/kernels/rnea.py')}
    assert {'jit/decorators.py', 'lie/kernels/se3.py'} < names
    assert not any(name.startswith(('stewart/', 'build/')) for name in names)
    assert all(name.startswith('jit/') or '/kernels/' in name for name in names)


def test_digests_tell_modules_apart():
    found = {digest(part.path) for part in parts()}
    assert len(found) == len(parts())


@pytest.mark.parametrize('module, called', [
    ('dynamics.partial_derivatives.kernels.hybrid', 'dynamics.algorithms.kernels.aba'),
    ('dynamics.constrained.partial_derivatives.kernels.states',
     'dynamics.constrained.solver.kernels.solver'),
    ('stewart.tracking.kernels.sample', 'stewart.solver.kernels.solve')])
def test_a_kernel_with_a_kind_for_its_result_has_one_object_that_others_call(module, called):
    part = next(part for part in parts() if part.module == f'liedyn_ros.{module}')
    assert f'liedyn_ros.{called}' in part.called()
    assert f'liedyn_ros.{called}' in {each.module for each in linked([part])}


def test_a_result_of_another_kind_than_its_annotation_is_refused():
    @Kernel
    def positive(x: NUMBER) -> NUMBER:
        return x > 0.0

    with refused(LiedynError, 'positive_0'):
        row_of(positive, 'd', 'b', 'positive_0')


@pytest.mark.parametrize('text, same', [
    ('def f(x):\n    return x', True), ('def f(x):\n    return -x', False),
    ('# said\ndef f(x):\n    """Say it."""\n    return x  # so', True)])
def test_what_is_said_of_a_kernel_compiles_nothing(monkeypatch, text, same):
    read = {'before': b'def f(x):\n    """Tell it."""\n    return x', 'now': text.encode()}
    monkeypatch.setattr(sources, '_read', read.__getitem__)
    before, now = map(sources._code.__wrapped__, read)
    assert (before == now) is same


@pytest.mark.parametrize('code', ['import liedyn_ros.build', 'import liedyn_ros.dynamics'])
def test_a_process_of_python_imports_no_compiler(code):
    done = run('-c', f'{code}; import sys; print("numba" in sys.modules)')
    assert done.stdout == 'False\n', done.stderr
