# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Faults while kernels are saved: full disks, killed processes, several at once."""

import errno
import os
import resource
import signal
import sys

import pytest
from support import forked

from liedyn_ros.jit.cache import COUNTS

CALL = """
from liedyn_ros.lie.kernels.vec3 import dot
print(dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)), sum(dot.stats.cache_hits.values()))
"""
KILLED = """
import os, signal
from liedyn_ros.jit.cache import files
files.os.{step} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
""" + CALL


def process(root, program=CALL):
    """Start a process on a cache; a busy machine's slow compiler is no finding."""
    return forked.start(
        '-c', program, env={**os.environ, 'NUMBA_CACHE_DIR': str(root), 'LIEDYN_QUIET': '1'})


def test_a_full_disk_keeps_nothing_and_stops_nothing(store, monkeypatch):
    monkeypatch.setenv('PYTHONDONTWRITEBYTECODE', '1')  # a module cut short would stay on the disk
    monkeypatch.setattr(sys, 'dont_write_bytecode', True)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = COUNTS.not_kept
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        assert not store.start()
        assert not any(store.root.glob('*/*'))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.strerror(errno.EFBIG) in store.warnings[0]
    assert COUNTS.not_kept > before
    assert not store.start()
    assert store.start()


@pytest.mark.parametrize('step', ['fsync', 'replace'])
@pytest.mark.parametrize('number', [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
def test_a_disk_that_fails_keeps_nothing_and_stops_nothing(store, monkeypatch, step, number):
    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        assert not store.start()
    assert os.strerror(number) in store.warnings[0]
    assert not any(store.root.glob('*/*'))
    assert not store.start()
    assert store.start()


def test_a_cache_that_is_deleted_meanwhile_is_made_again(store):
    store.start()
    file = store.file
    file.unlink()
    file.parent.rmdir()
    store.root.rmdir()
    assert not store.start()
    assert store.start() and store.root.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize('step', ['fsync', 'replace'])
def test_a_killed_process_leaves_a_right_start(store, step):
    with process(store.root, KILLED.format(step=step)) as killed:
        assert killed.wait() == -signal.SIGKILL
    assert not store.start() and not store.warnings
    assert store.start()


def test_processes_compile_at_once(store):
    with process(store.root) as first, process(store.root) as second:
        for each in (first, second):
            output, errors = each.communicate()
            assert output.startswith('32.0') and not errors
    with process(store.root) as third:
        output, errors = third.communicate()
    assert output.split() == ['32.0', '1'] and not errors
