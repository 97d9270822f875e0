# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Compile kernels ahead, so that first calls and first starts are as quick as any other.

`liedyn_warm_up` for all, `liedyn_warm_up core platform` for Python alone, `liedyn_warm_up
stewart_pose` for one node; `ros2 run liedyn_ros warm_up` and `python -m liedyn_ros.warm_up` are
the same. Run it as the user who computes, after a build and after an upgrade. No kernel depends
on the model or geometry: they are all compiled. A process for each processor compiles, at most
PROCESSES of them.
`--into out/kernels` is for those who build a wheel or a workspace for others: see setup.py.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from importlib.util import find_spec
import os
from pathlib import Path
import subprocess
import sys
import time

from liedyn_ros.jit.beside import compile_beside
from liedyn_ros.jit.cache import kernel_files
from liedyn_ros.jit.cache.folder import cache_root
from liedyn_ros.jit.cache.shipped import environment

PROCESSES = 4  # at most; each takes 0.4 GB
PROGRESS_PERIOD = 10.0  # s
INTERRUPTED = 130  # exit code, as shells have it
_NODES, _DYNAMICS = 'liedyn_ros.nodes', 'liedyn_ros.dynamics.ahead.warm_up'
_STEWART = 'liedyn_ros.stewart.warm_up'
CORE, PLATFORM = 'core', 'platform'  # of Python alone; `make demo` begins with the second
# The calls of each: its kernels, and those of some of its configurations. Long ones first.
WARM_UPS: dict[str, tuple[str, ...]] = {
    'stewart_pose': (f'{_NODES}.stewart.warm_up:warm_up_tracking',
                     f'{_NODES}.stewart.warm_up:warm_up_services',
                     f'{_NODES}.stewart.warm_up:warm_up_redundant'),
    'dynamics_server': (f'{_NODES}.dynamics.answers:warm_up',
                        f'{_NODES}.dynamics.answers:warm_up_derivatives',
                        f'{_DYNAMICS}:warm_up_loops',
                        f'{_NODES}.dynamics.platform_answers:warm_up_platform',
                        f'{_NODES}.dynamics.payload:warm_up_payload'),
    'path_runner': (f'{_NODES}.running.node:warm_up_running',),
    'loop_state_publisher': (f'{_NODES}.loops.machine:warm_up_tracking',),
    'stewart_controller': (f'{_NODES}.stewart.warm_up:warm_up_dynamics',),
    'stewart_dynamics_simulator': (f'{_NODES}.stewart.warm_up:warm_up_dynamics',),
    'stewart_simulator': (f'{_NODES}.stewart.warm_up:warm_up_simulation',),
    'aerial_manipulator_simulator': (f'{_NODES}.aerial.simulator:warm_up_simulation',),
    'aerial_manipulator_controller': (f'{_NODES}.aerial.controller:warm_up_control',),
    CORE: (f'{_DYNAMICS}:warm_up_trees', f'{_DYNAMICS}:warm_up_batches',
           f'{_DYNAMICS}:warm_up_loops'),
    PLATFORM: (f'{_STEWART}:warm_up_tracking', f'{_STEWART}:warm_up_simulation',
               f'{_STEWART}:warm_up_dynamics'),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile; return 0 where all kernels are in the cache now, else 1."""
    options = parser().parse_args(arguments)
    began = time.monotonic()
    try:
        right = compile_all(options.parts or default_parts(), max(options.processes, 1),
                            options.into)
    except KeyboardInterrupt:
        print('interrupted; the next start finds what is compiled', file=sys.stderr)
        return INTERRUPTED
    files = kernel_files(options.into)
    print(f'{time.monotonic() - began:.0f} s; {options.into or cache_root()} holds {len(files)} '
          f'kernels, {sum(file.lstat().st_size for file in files) / 1e6:.0f} MB')
    return 0 if right else 1


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='warm_up', description='Compile kernels ahead of their first use.')
    result.add_argument('parts', nargs='*', metavar='part', choices=[*WARM_UPS, []],
                        help=f'{", ".join(WARM_UPS)}; all of them where none is named')
    result.add_argument('--processes', type=int, default=_processors(), metavar='N',
                        help='how many compile at a time; here %(default)s')
    result.add_argument('--into', type=_absolute, metavar='FOLDER',
                        help='compile for all processors of this kind, for others to install')
    return result


def _absolute(folder: str) -> Path:
    return Path(folder).absolute()


def default_parts() -> list[str]:
    """Return all parts, or without ROS those of Python alone, and say so."""
    if find_spec('rclpy') is not None:
        return list(WARM_UPS)
    print('without ROS: compiling for Python alone')
    return [CORE, PLATFORM]


def compile_all(parts: Sequence[str], processes: int, into: Path | None = None) -> bool:
    """Compile for some parts at a time and print the progress; return whether none failed."""
    began, before = time.monotonic(), len(kernel_files(into))
    with ThreadPoolExecutor(processes) as pool:
        jobs: dict[Future[bool], str] = {
            pool.submit(compile_for, part, into): part for part in parts}
        try:
            while wait(jobs, PROGRESS_PERIOD).not_done:
                going = ', '.join(part for job, part in jobs.items() if job.running())
                print(f'{going}: {len(kernel_files(into)) - before} kernels, '
                      f'{time.monotonic() - began:.0f} s', flush=True)
        except KeyboardInterrupt:  # which the processes got too
            pool.shutdown(cancel_futures=True)
            raise
    return all(job.result() for job in jobs)


def compile_for(part: str, into: Path | None = None) -> bool:
    """Compile for one part in a process of its own; return whether nothing failed."""
    began = time.monotonic()
    process = compile_beside(WARM_UPS[part], subprocess.PIPE,
                             {} if into is None else environment(into))
    output, errors = process.communicate()
    if process.returncode != 0:
        reason = errors.strip() or f'the process ended with {process.returncode}'
        print(f'{part}: {reason.splitlines()[-1]}', file=sys.stderr)
        return False
    compiled, loaded, not_kept = map(int, output.split()[-3:])
    print(f'{part}: ready; {compiled} kernels compiled, {loaded} loaded, '
          f'{time.monotonic() - began:.0f} s', flush=True)
    if not_kept:
        print(f'{part}: {not_kept} kernels are not kept: each start compiles them again\n'
              f'{errors.strip()}', file=sys.stderr)
    return not not_kept


def _processors() -> int:
    return min(len(os.sched_getaffinity(0)), PROCESSES)


if __name__ == '__main__':
    sys.exit(main())
