# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels are never old, and imports need no disk: copies of the package, each in its process."""

import os
import shutil

import pytest
from support import forked

from liedyn_ros.jit.cache import sources

DOT = 'from liedyn_ros.lie.kernels.vec3 import dot; print(dot((1., 2., 3.), (4., 5., 6.)))'


@pytest.fixture
def package(tmp_path):
    """Return a folder with a copy of the package."""
    shutil.copytree(sources.PACKAGE, tmp_path / 'copy' / 'liedyn_ros',
                    ignore=shutil.ignore_patterns('__pycache__'))
    return tmp_path / 'copy'


def run(package, program, folder, **environment):
    """Return what a program prints, and its log, with the package of a folder, in another one."""
    usual = {name: value for name, value in os.environ.items()
             if name not in ('NUMBA_CACHE_DIR', 'XDG_CACHE_HOME')}
    result = forked.run('-c', program, cwd=folder, env={
        **usual, 'PYTHONPATH': str(package), 'LIEDYN_QUIET': '1', **environment})
    assert result.returncode == 0, result.stderr
    return result.stdout.strip(), result.stderr


def test_an_edit_counts_where_no_cache_can_be_written(package, tmp_path):
    """The home is a file: as to kernels, that is ProtectHome, or an owner left by sudo."""
    home = tmp_path / 'home'
    home.touch()
    before, log = run(package, DOT, tmp_path, HOME=str(home))
    assert before == '32.0' and log.count('compiled kernels are not kept') == 1
    kernels = package / 'liedyn_ros/lie/kernels/vec3.py'
    kernels.write_text(kernels.read_text().replace(
        'return a[0] * b[0] + a[1] * b[1]', 'return a[0] * b[0] - a[1] * b[1]'))
    assert run(package, DOT, tmp_path, HOME=str(home))[0] == '12.0'
    assert not [*package.rglob('*.nbi'), *package.rglob('*.kernel')]


@pytest.mark.parametrize('names', [
    {'HOME': ''}, {'HOME': '/dev/null'}, {'HOME': 'relative', 'XDG_CACHE_HOME': 'relative'}])
def test_an_import_needs_no_disk(tmp_path, names):
    """A root that is read-only, or a home that cannot be written, is no matter for an import."""
    imports = 'import liedyn_ros.dynamics, liedyn_ros.stewart; print("done")'
    assert run(sources.PACKAGE.parent, imports, tmp_path, **names) == ('done', '')
    assert not any(tmp_path.iterdir())


def test_another_copy_of_the_same_sources_finds_the_kernels(package, tmp_path):
    caches, census = tmp_path / 'kernels', DOT + '; print(sum(dot.stats.cache_hits.values()))'
    for place, hits in ((sources.PACKAGE.parent, 0), (package, 1)):
        output = run(place, census, tmp_path, NUMBA_CACHE_DIR=str(caches))
        assert output == (f'32.0\n{hits}', '')
