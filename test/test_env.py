# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""tools/env.sh gives a shell the environment of the Makefile; ROS domains of test processes."""

from pathlib import Path
import subprocess

import pytest
from support.domains import domain_of

SCRIPT = Path(__file__).parents[1] / 'tools' / 'env.sh'


def source(*arguments, **variables):
    """Return what a script prints that sources env.sh and has some arguments itself."""
    script = f'. {SCRIPT}; echo "$VIRTUAL_ENV"'
    return subprocess.run(
        ['bash', '-c', script, 'script', *arguments], capture_output=True, text=True,
        env={'PATH': '/usr/bin:/bin', **variables})


def test_arguments_of_the_script_are_its_own():
    assert 'no-such' not in source('no-such').stderr


def test_an_environment_that_does_not_exist_is_named():
    assert '.venv-no-such does not exist' in source(DISTRO='no-such').stderr


@pytest.mark.parametrize('option', ['-u', '+u'])
def test_a_script_that_refuses_unset_variables_may_source_it(tmp_path, option):
    """As colcon writes it, local_setup.sh reads variables that may not be set."""
    root = tmp_path / 'root'
    files = {root / '.venv' / 'bin' / 'python': '', root / 'tools' / 'env.sh': SCRIPT.read_text(),
             root / '.venv' / 'overlay' / 'install' / 'local_setup.sh': 'echo "got $UNSET"'}
    for path, text in files.items():
        path.parent.mkdir(parents=True)
        path.write_text(text)
        path.chmod(0o755)
    script = f'set -e {option}; . {root}/tools/env.sh; [[ $- != *u* ]] || echo nounset; echo end'
    result = subprocess.run(['bash', '-c', script], capture_output=True, text=True,
                            env={'PATH': '/usr/bin:/bin'})
    told = ['nounset'] if option == '-u' else []
    assert result.stdout.splitlines() == ['got ', *told, 'end'], result.stderr


@pytest.mark.parametrize('first', [1, 33, 100])
def test_no_two_processes_have_one_domain(first):
    domains = [domain_of(process, first) for process in range(100)]
    assert domains[0] == first
    assert sorted(domains) == list(range(1, 101))
