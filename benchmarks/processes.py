# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Processes beside a benchmark: they end with it, however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager, ExitStack
from multiprocessing.context import SpawnProcess
import os
from pathlib import Path
import signal
import subprocess
import sys
from typing import Any

from liedyn_ros.commands.operation.shared_memory import left_over, OF_LOCK, SHARED_MEMORY
from liedyn_ros.common.processes import end_with_parent

END_TIMEOUT = 30.0  # s, in which a program ends that is asked to


def exit_at_sigterm(last: str) -> None:
    """Let SIGTERM end the benchmark by an exception, and so what it has started; last: of it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f'ended before the last {last}'))


def end_process(process: 'subprocess.Popen[Any]', number: int = signal.SIGTERM) -> None:
    """Ask a program to end, by the end of its input or else a signal; kill it if it does not."""
    if process.stdin is not None and not process.stdin.closed:
        try:
            process.stdin.close()
        except BrokenPipeError:  # it has ended
            pass
    elif number == signal.SIGKILL:
        kill_process(process)
    else:
        process.send_signal(number)
    try:
        process.wait(END_TIMEOUT)
    except subprocess.TimeoutExpired:
        kill_process(process)
    if process.stdout is not None:
        process.stdout.close()


def kill_process(process: 'subprocess.Popen[Any]') -> None:
    """Kill a program, and remove the segments of Fast DDS that it cannot delete then."""
    held = held_segments(process.pid)
    process.kill()
    process.wait()
    remove_left(held)


def held_segments(pid: int) -> set[str]:
    """Return the names of the segments whose locks a process holds."""
    locks = (line.split() for line in Path('/proc/locks').read_text().splitlines())
    held = {int(each[5].rpartition(':')[2]) for each in locks
            if each[1:5] == ['FLOCK', 'ADVISORY', 'WRITE', str(pid)]}
    return {entry.name.removesuffix(OF_LOCK) for entry in os.scandir(SHARED_MEMORY)
            if entry.name.endswith(OF_LOCK) and entry.inode() in held}


def remove_left(segments: set[str]) -> None:
    """Remove those of some segments that nobody holds any more."""
    for name in segments.intersection(left_over(SHARED_MEMORY)):
        for each in (name, f'{name}{OF_LOCK}', f'sem.{name}_mutex'):
            (SHARED_MEMORY / each).unlink(missing_ok=True)


class Beside(SpawnProcess):
    """A process that ends with its parent, even where the parent is killed."""

    def run(self) -> None:
        """Call the target."""
        end_with_parent()
        super().run()


@contextmanager
def loaded(loops: int) -> Iterator[None]:
    """Keep as many processors busy until the block is left."""
    with ExitStack() as stack:
        for _ in range(loops):
            burner = Beside(target=_burn)
            burner.start()
            stack.callback(burner.join)
            stack.callback(burner.kill)
        yield


def _burn() -> None:
    while True:
        sum(range(10_000))
