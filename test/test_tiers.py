# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What `make test` leaves out, and what is printed of margins."""

from itertools import product
from pathlib import Path
import signal
import subprocess
from threading import Event
from time import sleep
from types import SimpleNamespace

import pytest
from support.c_library import c_library
from support.margins import table
from support.tiers import bounded, core_of, MAX_CASES, MAX_STARTS


def case(name, mark=None, folder='lie', **indices):
    """Return a collected case of a test, with the places of its parameters' values."""
    callspec = {'callspec': SimpleNamespace(indices=indices)} if indices else {}
    return SimpleHashable(
        path=Path(folder, 'test_file.py'), name=name, originalname=name, nodeid=f'{name}{indices}',
        indices=indices, fixturenames=('bench',) if folder == 'nodes' else (),
        get_closest_marker=lambda name: name == mark or None, **callspec)


class SimpleHashable(SimpleNamespace):
    """A namespace that sets may hold."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


def test_every_function_and_every_value_of_a_parameter_is_in_the_core():
    alone = case('test_alone')
    grid = [case('test_grid', a=a, b=b) for a, b in product(range(2), range(2))]
    many = [case('test_many', a=a) for a in range(72)]
    started = [case('test_start', folder='nodes', a=a) for a in range(5)]
    whole = [case('test_whole', 'whole', a=a) for a in range(5)] + [
        case('test_what_is_refused', a=a) for a in range(5)]
    core = core_of([alone, *grid, *many, *started, case('test_statistics', 'full'), *whole])
    assert {alone, *whole} <= core
    chosen = [item for item in grid if item in core]
    assert len(chosen) == MAX_CASES
    assert {item.indices['a'] for item in chosen} == set(range(2))
    assert {item.indices['b'] for item in chosen} == set(range(2))
    assert sum(item in core for item in many) == MAX_CASES
    assert sum(item in core for item in started) == MAX_STARTS
    assert len(core) == 11 + len(chosen) + MAX_CASES + MAX_STARTS


def test_the_core_is_the_same_whatever_else_is_collected():
    grid = [case('test_grid', a=a, b=b) for a, b in product(range(7), range(4))]
    others = [case('test_other', a=a) for a in range(20)]
    assert core_of(grid) == {item for item in core_of(grid[::-1] + others) if item in grid}


@pytest.mark.parametrize('wait', [Event().wait, lambda: subprocess.run(['sleep', 'infinity'])])
def test_a_test_that_waits_for_ever_fails(wait):
    with pytest.raises(pytest.fail.Exception), bounded(1000.0), bounded(0.1):
        wait()
    assert signal.getitimer(signal.ITIMER_REAL)[0] > 0.0  # that of this test


def test_objects_that_are_compiled_for_a_test_take_none_of_its_time(tmp_path, monkeypatch):
    def compile_slowly(folder, _):
        folder.mkdir()
        sleep(delay)

    monkeypatch.setattr(c_library, 'objects_folder', lambda: tmp_path)
    monkeypatch.setattr(c_library.c_library, 'build_objects', compile_slowly)
    delay = 0.0
    c_library.object_folder.__wrapped__('x86_64')  # digests of the sources are known
    delay = 0.6
    with bounded(0.4):
        assert c_library.object_folder.__wrapped__('aarch64').parent.parent == tmp_path


def test_margins_of_several_runs_stand_beside_each_other(tmp_path):
    for name, text in (('one', '0.3 a\n0.1 b\n'), ('other', '0.1 a\n0.1 b\n0.25 c\n')):
        (tmp_path / name).write_text(text)
    rows = table([str(tmp_path / name) for name in ('one', 'other')]).splitlines()
    assert [row.split() for row in rows] == [
        ['0.3', '0.1', 'a'], ['---------', '0.25', 'c']]
