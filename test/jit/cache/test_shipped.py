# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels that came with the package: found by users who have none, and no one's else."""

import platform
import shutil

import pytest

from liedyn_ros.jit.cache import kernel_cache, shipped
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels.vec3 import dot

KIND = 'any-of-this-kind'


@pytest.fixture
def installed(store, tmp_path, monkeypatch):
    """Return the file of a kernel that came with the package; the user's folder is empty."""
    target = kernel(dot.py_func).targetctx.codegen()
    monkeypatch.setattr(kernel_cache, 'kind_here', lambda: KIND)
    monkeypatch.setattr(kernel_cache, 'shipped_root', lambda: None)
    with monkeypatch.context() as builder:
        triple = target.magic_tuple()[0]
        builder.setattr(type(target), 'magic_tuple', lambda self: (triple, KIND, ''))
        assert not store.start()
    shutil.move(store.root, tmp_path / 'share')
    monkeypatch.setattr(kernel_cache, 'shipped_root', lambda: tmp_path / 'share')
    found, = (tmp_path / 'share').glob('*/*.kernel')
    return found


def test_a_user_without_kernels_compiles_none(store, installed):
    for mode in (0o644, 0o664):  # as umasks of installers are
        installed.chmod(mode)
        assert store.start() and not store.warnings
    assert not [*store.root.glob('*/*')]


def test_a_kernel_for_this_very_processor_goes_first(store, installed, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(kernel_cache, 'shipped_root', lambda: None)
        assert not store.start()
    installed.write_bytes(b'')  # which is not even read
    assert store.start() and not store.warnings


def test_damage_is_told_and_compiled_again(store, installed):
    content = bytearray(installed.read_bytes())
    content[200] ^= 1
    installed.write_bytes(content)
    assert not store.start()
    warning, = store.warnings
    assert 'cannot be used' in warning and 'replaced' not in warning
    assert installed.read_bytes() == content  # nothing is written there
    assert store.file.stat().st_size > 0


def test_kernels_of_another_kind_are_not_found(store, installed, monkeypatch):
    monkeypatch.setattr(kernel_cache, 'kind_here', lambda: 'another-kind')
    assert not store.start() and not store.warnings


def test_a_processor_with_too_little_has_none(monkeypatch):
    has = dict.fromkeys(shipped.KINDS['x86_64'][1], True)
    monkeypatch.setattr(platform, 'machine', lambda: 'x86_64')
    monkeypatch.setattr(shipped.binding, 'get_host_cpu_features', lambda: has)
    assert shipped.kind_here() == 'x86-64-v3'
    has['fma'] = False
    assert shipped.kind_here() is None
    monkeypatch.setattr(platform, 'machine', lambda: 'riscv64')
    assert shipped.kind_here() is None


def test_the_folder_is_that_of_the_prefix(tmp_path, monkeypatch):
    package = tmp_path / 'lib' / 'python3' / 'site-packages' / 'liedyn_ros'
    monkeypatch.setattr(shipped, '__file__', str(package / 'jit' / 'cache' / 'shipped.py'))
    monkeypatch.setattr(shipped, 'kind_here', lambda: KIND)
    look = shipped.shipped_root.__wrapped__
    assert look() is None
    (tmp_path / 'share' / 'liedyn_ros' / 'kernels').mkdir(parents=True)
    assert look() == tmp_path / 'share' / 'liedyn_ros' / 'kernels'
    monkeypatch.setattr(shipped, 'kind_here', lambda: None)
    assert look() is None
