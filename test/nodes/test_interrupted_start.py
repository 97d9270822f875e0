# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An interrupt of a node that still imports its modules leaves nothing to read."""

import os
from pathlib import Path
import re
import shutil
import signal
import subprocess
import sys

import pytest
from support.bench.command_lines import NODES, ROOT

from liedyn_ros.nodes import PROGRAMS

pytestmark = pytest.mark.ros
SIMULATOR = NODES['stewart_simulator']
INTERRUPTED = """
import os, signal
os.kill(os.getpid(), signal.SIGINT)
raise SystemExit('went on')
"""


@pytest.fixture(autouse=True)
def interrupting(tmp_path, monkeypatch):
    """Put a numpy first that interrupts who imports it."""
    (tmp_path / 'numpy.py').write_text(INTERRUPTED)
    monkeypatch.setenv('PYTHONPATH', f'{tmp_path}{os.pathsep}{os.environ["PYTHONPATH"]}')


def ended(*words) -> subprocess.CompletedProcess:
    """Return how a process of Python ends."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True)


def script(path: Path) -> Path:
    """Write the script that is installed for a node."""
    path.parent.mkdir(exist_ok=True)
    path.write_text((ROOT / 'executables/run_node.py').read_text())
    return path


def test_every_node_is_an_executable_of_ros2_run_and_none_is_in_the_path():
    """The path has one command of this package, which no command of the system has as its name."""
    linked = {path.name for path in (ROOT / 'executables').iterdir() if path.is_symlink()}
    assert linked == {*PROGRAMS} and not {each for each in linked if shutil.which(each)}
    assert re.findall(r"'console_scripts': (.*)}", (ROOT / 'setup.py').read_text()) == [
        "['liedyn = liedyn_ros.commands.liedyn:main']"]


@pytest.mark.parametrize('module', [SIMULATOR, 'liedyn_ros.nodes.stewart.pose', 'liedyn_ros.view'])
def test_a_module_that_is_a_node_ends_without_a_word(module):
    result = ended('-m', module)
    assert (result.returncode, result.stderr) == (-signal.SIGINT, '')


@pytest.mark.parametrize('folder', ['bin', 'liedyn_ros'])
def test_a_script_that_is_a_node_ends_without_a_word(tmp_path, folder):
    result = ended(script(tmp_path / folder / 'stewart_simulator'))
    assert (result.returncode, result.stderr) == (-signal.SIGINT, '')


@pytest.mark.parametrize('name', ['bin/mine', 'stewart_simulator'])
def test_another_program_is_told_of_the_interrupt(tmp_path, name):
    script(tmp_path / name).write_text(f'from {SIMULATOR} import main\nmain()\n')
    assert 'KeyboardInterrupt' in ended(tmp_path / name).stderr


def test_a_node_that_was_started_to_ignore_interrupts_does():
    """As a shell without job control starts what is in the background."""
    command = f'trap "" INT; exec {sys.executable} -m {SIMULATOR}'
    result = subprocess.run(['sh', '-c', command], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, 'went on\n')
