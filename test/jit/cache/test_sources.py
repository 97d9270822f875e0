# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The digest of kernels depends on what they can reach, and on nothing else."""

import ast
from collections.abc import Iterator
import functools
from pathlib import Path
import shutil
import sys

import pytest
from tools.source_text import statements

from liedyn_ros.jit.cache import sources as cache

PACKAGE = cache.PACKAGE


@pytest.fixture(scope='module')
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package's sources."""
    target = tmp_path_factory.mktemp('copy') / PACKAGE.name
    return Path(shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns('__pycache__')))


@pytest.fixture
def package(copy: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the copy, of which a test may edit files: those of before come back."""
    monkeypatch.setattr(cache, 'PACKAGE', copy)
    forget()
    yield copy
    forget()
    for path in copy.rglob('*.py'):
        original = PACKAGE / path.relative_to(copy)
        if path.stat().st_mtime_ns != original.stat().st_mtime_ns:
            shutil.copy2(original, path)


def forget() -> None:
    """Read all sources again."""
    for remembered in (
            cache.digest, cache._behind, cache._read, cache._imports, cache._place):
        remembered.cache_clear()


def digests(package: Path) -> dict[str, str]:
    """Return the digest of every module of kernels."""
    forget()
    return {path.relative_to(package).as_posix(): cache.digest(path)
            for path in sorted(package.rglob('kernels/*.py')) if path.name != '__init__.py'}


@functools.cache
def unedited(package: Path) -> dict[str, str]:
    """Return the digests before an edit: tests find the copy as it was."""
    return digests(package)


def edit(path: Path) -> None:
    path.write_text(path.read_text() + '\n# edited\n')


@pytest.mark.parametrize('edited', [
    'model/io/urdf_reader.py', 'common/checks.py', 'common/errors.py', 'lie/arrays.py',
    'model/parts/joints.py', 'dynamics/dynamics.py', 'layers.py', 'jit/cache/sources.py'])
def test_an_edit_outside_the_kernels_compiles_nothing(package: Path, edited: str) -> None:
    before = unedited(package)
    edit(package / edited)
    assert len(before) > 30
    assert digests(package) == before


@pytest.mark.parametrize('edited, reaches, spares', [
    ('lie/kernels/vec3.py', 'dynamics/tree/kernels/motion.py',
     'dynamics/tree/kernels/symmetric.py'),
    ('model/kernels/kinds.py', 'dynamics/tree/kernels/joints.py', 'lie/kernels/se3.py'),
    ('dynamics/tree/kernels/joints.py', 'dynamics/time_derivatives/kernels/rnea.py',
     'model/kernels/configuration.py'),
    ('jit/decorators.py', 'lie/kernels/vec3.py', None)])
def test_an_edit_of_a_kernel_compiles_all_that_reach_it(
        package: Path, edited: str, reaches: str, spares: str | None) -> None:
    before = unedited(package)
    edit(package / edited)
    after = digests(package)
    changed = {name for name in before if before[name] != after[name]}
    assert reaches in changed
    assert edited in changed or edited.startswith('jit/')
    assert spares is None or spares in before.keys() - changed


def test_a_kernel_that_imports_another_module_is_refused(package: Path) -> None:
    path = package / 'lie/kernels/vec3.py'
    path.write_text('from liedyn_ros.common.checks import Array\n' + path.read_text())
    forget()
    with pytest.raises(
            ImportError, match=r'expected imports of kernels .*common/(checks|errors)\.py'):
        cache.digest(package / 'lie/kernels/se3.py')


def test_the_imports_found_are_those_of_the_syntax_tree() -> None:
    for path in sorted(PACKAGE.rglob('*.py')):
        source, named = path.read_text(), set()
        for node in statements(ast.parse(source)):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                named |= {node.module, *(f'{node.module}.{alias.name}' for alias in node.names)}
        ours = {name for name in named if name.split('.')[0] == PACKAGE.name}
        assert set(cache.imported_names(source)) == ours, path


@pytest.mark.parametrize('changed', [
    (cache.numba, '__version__', '0.1'), (cache.llvmlite, '__version__', '0.1'),
    (sys.implementation, 'cache_tag', 'cpython-0'), (cache, 'CHECKED', not cache.CHECKED)],
    ids=['numba', 'llvmlite', 'Python', 'checks of indices'])
def test_another_compiler_compiles_all(
        package: Path, monkeypatch: pytest.MonkeyPatch, changed: tuple[object, str, object]
        ) -> None:
    before = unedited(package)
    monkeypatch.setattr(*changed)
    after = digests(package)
    assert not set(before.values()) & set(after.values())
