# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
What a first use costs in an empty home: scripts, then nodes until they are active.

`python -m benchmarks.first_use` for all, or with names of some. Seconds are of the
processor: they depend less on other programs than the clock does. `--beside FOLDER` runs scripts
in turns with the package of another tree, such as a `git worktree` of an earlier commit.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
import time

from benchmarks.record import keep
from liedyn_ros.common.tables import print_table

ROOT = Path(__file__).parents[1]
README = 'README.md'
SNIPPET = re.compile(r'^```python\n(.*?)^```', re.MULTILINE | re.DOTALL)
BATCH = """import numpy as np
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_model
model = load_model(config_file('aerial_manipulator.yaml'))
states = np.tile(model.neutral(), (64, 1))
Dynamics(model).{}.batch(states, np.zeros((64, model.nv)), np.zeros((64, model.nv)))
"""
MODEL = {'model_file': ROOT / 'config' / 'aerial_manipulator.yaml'}
NODES = {
    'stewart_pose': ('nodes.stewart.pose', {}),
    'dynamics_server': ('nodes.dynamics.server', MODEL),
    'stewart_simulator': ('nodes.stewart.simulator', {}),
    'stewart_controller': ('nodes.stewart.controller', {}),
    'stewart_dynamics_simulator': ('nodes.stewart.dynamics_simulator', {}),
    'aerial_manipulator_simulator': ('nodes.aerial.simulator', {}),
    'aerial_manipulator_controller': ('nodes.aerial.controller', {}),
    'loop_state_publisher': (
        'nodes.loops.state_publisher', {'model_file': ROOT / 'config' / 'four_bar.yaml'}),
    'path_runner': ('nodes.path_runner', MODEL), 'view': ('view', {})}
ACTIVE = re.compile(r'\]: active')
TIMEOUT, LOOK = 1800.0, 0.1  # s
SECONDS = 1.0 / os.sysconf('SC_CLK_TCK')


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables and keep their figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument('names', nargs='*')
    options.add_argument('--beside', type=Path, action='append', default=[], metavar='FOLDER')
    chosen = options.parse_args(arguments)
    scripts = ['readme platform', 'readme robot', 'batch inverse', 'batch forward']
    rows, starts = [], []
    for name in (each for each in scripts if each in (chosen.names or scripts)):
        for tree in (ROOT, *map(Path.absolute, chosen.beside)):
            rows.append([name, tree.name, *first_and_later(tree, script(tree, name))])
            print(*rows[-1], flush=True)
    for name in (each for each in NODES if each in (chosen.names or NODES)):
        with empty_home() as variables:
            starts.append([name, *start(name, variables), start(name, variables)[0]])
            print(*starts[-1], flush=True)
    print_table(['script', 'tree', 'first, s', 'later, s', 'lines on stderr'], rows)
    print_table(['node', 'active, s', 'by the clock, s', 'later, s'], starts)
    keep('first_use', {'scripts': rows, 'nodes': starts})


def script(tree: Path, name: str) -> str:
    """Return a script by its name; snippets of the README are those of a tree."""
    subject, _, of = name.partition(' ')
    if subject == 'batch':
        return BATCH.format(of)
    found: str = SNIPPET.findall((tree / README).read_text())[of != 'platform']
    return found


def first_and_later(tree: Path, text: str) -> tuple[str, str, str]:
    """Return the seconds of a first and of a later run, and what the first said."""
    with empty_home() as variables:
        first, said = processor_time(tree, text, variables)
        later, _ = processor_time(tree, text, variables)
    return f'{first:.1f}', f'{later:.1f}', '; '.join(said.splitlines())


def processor_time(tree: Path, text: str, variables: dict[str, str]) -> tuple[float, str]:
    """Return the seconds of the processor that a script takes, and its stderr."""
    with TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, '-c', text], cwd=folder, stdout=subprocess.DEVNULL, text=True,
            stderr=subprocess.PIPE, env={**variables, 'PYTHONPATH': str(tree)})
        said = process.stderr.read() if process.stderr is not None else ''
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f'expected a script that runs, got {said}')
    return used.ru_utime + used.ru_stime, said


@contextmanager
def empty_home() -> Iterator[dict[str, str]]:
    """Have an environment with an empty home."""
    with TemporaryDirectory() as folder:
        yield {**os.environ, 'HOME': folder}


def start(name: str, variables: dict[str, str]) -> tuple[str, str]:
    """Return the seconds until a node is active, of processor and clock."""
    module, parameters = NODES[name]
    command = [sys.executable, '-m', f'liedyn_ros.{module}', '--ros-args']
    for key, value in parameters.items():
        command += ['-p', f'{key}:={value}']
    with TemporaryDirectory() as folder:
        log, began = Path(folder) / 'log', time.monotonic()
        with log.open('w') as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, env=variables)
        try:
            while not ACTIVE.search(said := log.read_text()):
                if process.poll() is not None or time.monotonic() - began > TIMEOUT:
                    raise SystemExit(f'{name}: expected an active node, got {said}')
                time.sleep(LOOK)
            used, took = of_process(process.pid), time.monotonic() - began
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()
    return f'{used:.1f}', f'{took:.1f}'


def of_process(pid: int) -> float:
    """Return the seconds of the processor that a process has used, without its children."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return SECONDS * (int(fields[11]) + int(fields[12]))


if __name__ == '__main__':
    main()
