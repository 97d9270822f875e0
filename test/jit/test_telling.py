# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The main thread says on stderr that it waits for the compiler, where that takes a while."""

import time

import pytest

from liedyn_ros.jit import first_call


@pytest.fixture
def slow(monkeypatch):
    """Return a compilation that takes longer than the moment."""
    monkeypatch.setattr(first_call, 'TELL_AFTER', 0.05)
    monkeypatch.delenv(first_call.QUIET, raising=False)
    return first_call.apart(lambda duration: time.sleep(duration), 'rnea')


def test_a_long_wait_is_told_with_its_end(slow, capsys):
    slow(0.3)
    assert capsys.readouterr().err.splitlines() == [
        'liedyn_ros: compiling kernel rnea for this processor ...',
        'liedyn_ros: kernel rnea took 0 s']


def test_a_short_one_is_not(slow, capsys):
    slow(0.0)
    assert capsys.readouterr().err == ''


def test_the_environment_can_silence_it(slow, capsys, monkeypatch):
    monkeypatch.setenv(first_call.QUIET, '1')
    slow(0.3)
    assert capsys.readouterr().err == ''


def test_an_error_is_raised_after_all(capsys, monkeypatch):
    monkeypatch.setattr(first_call, 'TELL_AFTER', 0.0)

    def fails():
        time.sleep(0.1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        first_call.apart(fails, 'rnea')()
