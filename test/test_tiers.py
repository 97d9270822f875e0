# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What `make test` leaves out, and what is printed of margins."""

from itertools import product
import math
from pathlib import Path
import signal
import subprocess
from threading import Event
from time import sleep
from types import SimpleNamespace

import pytest
from support.c_library import c_library
from support.margins import table
from support.tiers import bounded, MAX_CASES, MAX_STARTS, most_of, sample


def cases(**sizes):
    """Return all choices of parameters with so many values each."""
    return [SimpleNamespace(indices=dict(zip(sizes, each)))
            for each in product(*map(range, sizes.values()))]


def test_every_value_of_a_parameter_is_in_the_core_as_far_as_it_has_cases():
    grid = cases(a=2, b=2)
    chosen = sample('test', grid, MAX_CASES)
    assert len(chosen) == MAX_CASES
    for name in 'ab':
        assert {each.indices[name] for each in chosen} == {0, 1}
    assert len(sample('test', cases(a=72), MAX_CASES)) == MAX_CASES
    assert sample('test', grid, math.inf) == grid
    assert len(sample('test', cases(a=7, b=4), 20)) == 7


@pytest.mark.parametrize('folder, fixtures, name, marks, most', [
    ('lie', (), 'test_a', (), MAX_CASES), ('lie', (), 'test_what_is_refused', (), math.inf),
    ('lie', (), 'test_a', ('whole',), math.inf), ('view', (), 'test_a', (), MAX_STARTS),
    ('nodes', ('bench',), 'test_a', (), MAX_STARTS), ('nodes', (), 'test_a', (), MAX_CASES)])
def test_what_starts_something_has_fewer_cases_in_the_core(folder, fixtures, name, marks, most):
    assert most_of(Path(folder, 'test_file.py'), fixtures, name, set(marks)) == most


@pytest.mark.parametrize('wait', [Event().wait, lambda: subprocess.run(['sleep', 'infinity'])])
def test_a_test_that_waits_for_ever_fails(wait):
    with pytest.raises(pytest.fail.Exception), bounded(1000.0), bounded(0.1):
        wait()
    assert signal.getitimer(signal.ITIMER_REAL)[0] > 0.0  # that of this test


@pytest.mark.full
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
