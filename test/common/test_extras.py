# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Missing packages: a command ends with one sentence, a program with the way to it too."""

import subprocess
import sys

import pytest

NEEDS = ('from liedyn_ros.common.extras import require_module\n'
         "require_module('lie_dyn_no', 'cure')\n")
SENTENCE = 'lie_dyn_no: expected an installed package, found none; cure'


def errors_of(program) -> str:
    """Return what a program that fails prints to stderr."""
    found = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert found.returncode == 1
    return found.stderr


@pytest.mark.parametrize('folder', ('bin', 'liedyn_ros'))
def test_a_command_ends_with_a_sentence(folder, tmp_path) -> None:
    program = tmp_path / folder / 'command'
    program.parent.mkdir()
    program.write_text(NEEDS)
    assert errors_of(program) == SENTENCE + '\n'


def test_another_error_of_a_command_keeps_its_trace(tmp_path) -> None:
    program = tmp_path / 'bin' / 'command'
    program.parent.mkdir()
    program.write_text(f'try:\n    {NEEDS.replace(chr(10), chr(10) + "    ")}pass\n'
                       'except ModuleNotFoundError:\n    raise ValueError(1)\n')
    assert errors_of(program).startswith('Traceback')


def test_a_program_has_the_way_to_it(tmp_path) -> None:
    program = tmp_path / 'mine.py'
    program.write_text(NEEDS)
    errors = errors_of(program)
    assert errors.startswith('Traceback') and errors.endswith(SENTENCE + '\n')
