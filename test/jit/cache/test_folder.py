# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where kernels are kept: only where others cannot write, and never in the working directory."""

import os
from pathlib import Path
import pwd
import time

from numba.core import config
import pytest

from liedyn_ros.jit.cache import cache_state, COUNTS, folder, kernel_cache

HOME = Path(pwd.getpwuid(os.geteuid()).pw_dir)
DAY = 86400.0  # s


def test_folder_and_files_are_for_their_owner_alone(store):
    before = os.umask(0)
    try:
        store.start()
    finally:
        os.umask(before)
    for path in (store.root, store.file.parent):
        assert path.stat().st_mode & 0o777 == 0o700
    assert store.file.stat().st_mode & 0o777 == 0o600
    assert store.start() and not store.warnings


@pytest.mark.parametrize('mode', [0o777, 0o770, 0o1777, 0o2775, 0o702])
def test_a_folder_in_which_others_can_write_is_refused(store, mode):
    store.root.mkdir()
    store.root.chmod(mode)
    assert not store.start()
    warning, = store.warnings
    assert str(store.root) in warning
    assert f'got owner {os.geteuid()} and mode {mode:04o}' in warning
    assert not any(store.root.iterdir())
    assert cache_state().problem in warning
    store.root.chmod(0o700)
    store.start()
    assert store.start()


def test_a_folder_of_another_user_is_refused(store, monkeypatch):
    store.root.mkdir(mode=0o755)
    usual = Path.stat

    def foreign(path, **options):
        found = usual(path, **options)
        return os.stat_result((*found[:4], 12345, *found[5:])) if path == store.root else found

    monkeypatch.setattr(Path, 'stat', foreign)
    assert not store.start()
    assert 'got owner 12345 and mode 0755' in store.warnings[0]
    assert not any(store.root.iterdir())


def test_kernels_of_a_folder_that_is_read_only_are_used(store, monkeypatch):
    """An image with its own kernels, whose user cannot write there."""
    store.start()

    def refuse(*_):
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(kernel_cache, 'write', refuse)
    assert store.start() and not store.warnings


@pytest.mark.parametrize('environment, expected', [
    ({'HOME': '/here'}, '/here/.cache/liedyn_ros'),
    ({'HOME': '/here', 'XDG_CACHE_HOME': '/there'}, '/there/liedyn_ros'),
    ({'HOME': '/here', 'XDG_CACHE_HOME': ''}, '/here/.cache/liedyn_ros'),
    ({'HOME': '/here', 'XDG_CACHE_HOME': 'relative'}, '/here/.cache/liedyn_ros'),
    ({'HOME': ''}, HOME / '.cache/liedyn_ros'),
    ({'HOME': 'relative'}, HOME / '.cache/liedyn_ros'),
    ({}, HOME / '.cache/liedyn_ros')])
@pytest.mark.parametrize('own', ['', 'relative'])
def test_relative_paths_are_ignored(monkeypatch, environment, expected, own):
    for name in ('HOME', 'XDG_CACHE_HOME'):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(config, 'CACHE_DIR', own)
    assert folder.cache_root() == Path(expected)


def test_a_user_without_a_home_has_no_cache(store, monkeypatch):
    monkeypatch.setattr(config, 'CACHE_DIR', '')
    for name in ('HOME', 'XDG_CACHE_HOME'):
        monkeypatch.delenv(name, raising=False)

    def unknown(user):
        raise KeyError(user)

    monkeypatch.setattr(pwd, 'getpwuid', unknown)
    before = COUNTS.not_kept
    assert not store.start()
    assert 'this user has no home' in store.warnings[0] and COUNTS.not_kept == before + 1
    assert cache_state().folder is None and cache_state().problem


def test_kernels_that_nothing_used_for_two_weeks_are_removed(store):
    store.start()
    kept = {name: store.root / name for name in ('0123456789abcdef', 'fedcba9876543210', 'notes')}
    for name, age in zip(kept, (13, 15, 15)):
        kept[name].mkdir()
        (kept[name] / 'x').touch()
        os.utime(kept[name], (time.time() - age * DAY,) * 2)
    store.file.unlink()
    store.start()
    assert {name for name, path in kept.items() if path.exists()} == {'0123456789abcdef', 'notes'}


def test_use_keeps_kernels_from_being_removed(store):
    store.start()
    os.utime(store.file.parent, (time.time() - 15 * DAY,) * 2)
    assert store.start()
    folder.remove_unused(store.root)
    assert store.start()


def test_the_state_counts_kernels_and_names_damaged_ones(store):
    fresh = cache_state()
    assert (fresh.folder, fresh.writable, fresh.owner) == (store.root, True, None)
    assert not store.root.exists()
    store.start()
    state = cache_state()
    assert (state.problem, state.writable, state.owner) == ('', True, os.geteuid())
    assert (state.mode, state.kernels, state.damaged) == (0o700, 1, ())
    assert state.size == store.file.stat().st_size
    os.truncate(store.file, 9)
    assert cache_state().damaged == (store.file,)
