# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Missing packages: a command ends with one sentence, a program with the way to it too."""

import ast
from pathlib import Path
import re
import subprocess
import sys

import pytest

from liedyn_ros.common.extras import EXTRAS, remedy_of, require_extra

ROOT = Path(__file__).parents[2]

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


def test_extras_are_those_of_setup() -> None:
    setup = ast.parse((ROOT / 'setup.py').read_text())
    declared = next(ast.literal_eval(each.value) for each in ast.walk(setup)
                    if isinstance(each, ast.keyword) and each.arg == 'extras_require')
    assert EXTRAS == {name: tuple(each) for name, each in declared.items() if name != 'test'}


def test_a_remedy_names_packages_and_make() -> None:
    assert remedy_of('bags') == (
        "pip install 'rosbags>=0.11,<1' 'mcap>=1.2,<2', or make build in a clone")


@pytest.mark.parametrize('extra', EXTRAS)
def test_make_build_brings_what_a_remedy_names(extra) -> None:
    folder = ROOT / 'requirements'
    pinned = ''.join(
        (folder / f'{name}.txt').read_text() for name in ('messages', 'demo', 'dev'))
    for each in EXTRAS[extra]:
        assert re.search(rf'^{re.match("[a-z]+", each)[0]}==', pinned, re.MULTILINE)


@pytest.mark.parametrize(('reason', 'told'), [('', ''), ('roots are drawn', 'roots are drawn: ')])
def test_a_missing_module_of_an_extra_is_told_with_its_packages(reason, told) -> None:
    with pytest.raises(ModuleNotFoundError) as error:
        require_extra('parquet', 'sys', 'lie_dyn_no', reason=reason)
    assert str(error.value) == ('lie_dyn_no: expected an installed package, found none; '
                                f"{told}pip install 'pyarrow>=14', or make build in a clone")
    assert error.value.name == 'lie_dyn_no'


def test_nothing_tells_to_install_this_package_from_an_index_that_has_it_not() -> None:
    """A name that the index does not have could be anybody's: a path stands before it."""
    files = [*ROOT.glob('*.md'), *ROOT.glob('*.rst'), *(ROOT / 'docs').rglob('*.md'),
             *(ROOT / 'examples').rglob('*.py'), *(ROOT / 'liedyn_ros').rglob('*.py')]
    assert len(files) > 100
    assert not [(file, found) for file in files for found in re.findall(
        r"""pip install [^\n`]*?(?<![/\w])liedyn_ros\b|[^/\w]liedyn_ros\[[a-z,]+\]""",
        file.read_text(encoding='utf-8'))]
