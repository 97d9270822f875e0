# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Starts of each node: python -m benchmarks.nodes.starts.

Each starts twice with a cache of kernels of its own: empty at first, then with what the first
start has kept. Times are from the start of the process until the node is active: by the clock, and
of the processor in this process alone. Without kernels that came along the first start compiles.
With them, `liedyn_warm_up --into share/liedyn_ros/kernels` in the folder above the package, it
loads.
"""

import argparse
from collections.abc import Sequence
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks.faults.scene import ACTIVE
from benchmarks.faults.subjects import Subject, SUBJECTS
from benchmarks.processes import end_process
from benchmarks.record import keep
from liedyn_ros.jit.cache.shipped import shipped_root

TIMEOUT = 900.0  # s
LOOK_PERIOD = 0.05  # s
Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the nodes, print the table and keep it as JSON."""
    parser = argparse.ArgumentParser(prog='benchmarks.nodes.starts', description=__doc__)
    names = [subject.node for subject in SUBJECTS.values()]
    parser.add_argument('--nodes', nargs='+', choices=names, default=names)
    options = parser.parse_args(arguments)
    along = shipped_root() is not None
    print(f'kernels came along: {along}; load {os.getloadavg()[0]:.1f}')
    print(f'{"node":32}{"first, s":>10}{"processor":>10}{"later, s":>10}{"processor":>10}')
    rows = []
    for subject in SUBJECTS.values():
        if subject.node in options.nodes:
            rows.append(measure(subject))
            print(line(rows[-1]), flush=True)
    keep('starts_with_kernels' if along else 'starts', {'rows': rows})


def measure(subject: Subject) -> Row:
    """Return the times of a node's first start and of a later one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first, later = start(subject, folder), start(subject, folder)
    return {'node': subject.node, 'first': first, 'later': later, 'load': os.getloadavg()[0]}


def start(subject: Subject, folder: Path) -> tuple[float, float]:
    """Start a node, end it once it is active; return the times by the clock and processor, s."""
    words = [word for each in subject.parameters for word in ('-p', each)]
    log, begin = folder / 'log', time.monotonic()
    with log.open('w') as output:
        process = subprocess.Popen(
            [sys.executable, '-m', subject.module, '--ros-args', *words], stdout=output,
            stderr=subprocess.STDOUT, text=True,
            env=os.environ | {'NUMBA_CACHE_DIR': str(folder / 'kernels'), 'LIEDYN_QUIET': '1',
                              'ROS_LOG_DIR': str(folder / 'ros')})
    try:
        while ACTIVE not in log.read_text():
            if process.poll() is not None or time.monotonic() - begin > TIMEOUT:
                raise SystemExit(f'{subject.node}: expected an active node:\n{log.read_text()}')
            time.sleep(LOOK_PERIOD)
        return time.monotonic() - begin, processor_time(process.pid)
    finally:
        end_process(process)


def processor_time(pid: int) -> float:
    """Return the processor time of a process, s."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def line(row: Row) -> str:
    """Return a row of the table."""
    return f'{row["node"]:32}' + ''.join(
        f'{seconds:10.1f}' for each in (row['first'], row['later']) for seconds in each)


if __name__ == '__main__':
    main()
