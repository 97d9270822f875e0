# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Processes of a demo: nodes, which it ends by their own pid, and pictures drawn meanwhile."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, wait
import multiprocessing
import os
from pathlib import Path
import signal
import subprocess
import sys
from types import TracebackType
from typing import Any

from liedyn_ros.demo.verdict import NotShownError

END_TIMEOUT = 60.0  # s that a process has to end after it was asked to, on a busy machine
NICENESS = 10  # the nodes go first
DRAWING_TIMEOUT = 600.0  # s for what is left to draw when all parts are over


class NodeProcess:
    """One node of the package in its own process; a context manager."""

    def __init__(self, module: str, parameters: Mapping[str, Any], log: Path,
                 patience: float = END_TIMEOUT, niceness: int = 0) -> None:
        """
        Start `python -m module` with ROS parameters, its output into a log file.

        patience: s that the process has to end. niceness: how far it gives way to others.
        """
        arguments = [sys.executable, '-m', module, '--ros-args']
        for name, value in parameters.items():
            text = str(value).lower() if isinstance(value, bool) else value
            arguments += ['-p', f'{name}:={text}']
        self.log, self._patience, self._asked = log, patience, False
        self._output = log.open('w', encoding='utf-8')
        self._process = subprocess.Popen(
            arguments, stdout=self._output, stderr=subprocess.STDOUT)
        if niceness:  # before it has threads
            os.setpriority(os.PRIO_PROCESS, self._process.pid, os.nice(0) + niceness)

    def require_running(self) -> None:
        """Raise NotShownError with the end of the log if the process has ended."""
        if self._process.poll() is not None:
            tail = self.log.read_text(encoding='utf-8').splitlines()[-5:]
            raise NotShownError('\n'.join([f'{self.log.stem} ended with exit code '
                                          f'{self._process.returncode}:', *tail]))

    def ask_to_end(self) -> None:
        """Send the signal of Ctrl-C, once."""
        if not self._asked and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        self._asked = True

    def __enter__(self) -> 'NodeProcess':
        """Return the running process."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Ask the process to end, and kill it if it does not."""
        self.ask_to_end()
        try:
            self._process.wait(self._patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()


class Drawings:
    """A process that draws; a context manager that waits for all pictures."""

    def __init__(self) -> None:
        """Start no process before the first picture."""
        self._pool = ProcessPoolExecutor(
            1, multiprocessing.get_context('spawn'), os.nice, (NICENESS,))
        self._asked: list[Future[None]] = []

    def draw(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call a function of a module, beside."""
        self._asked.append(self._pool.submit(function, *arguments))

    def __enter__(self) -> 'Drawings':
        """Return the drawings."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Wait for all, at most for DRAWING_TIMEOUT, and raise what one of them raised."""
        if error is None:
            left = wait(self._asked, DRAWING_TIMEOUT).not_done
            if left:
                print(f'{len(left)} of {len(self._asked)} drawings are left out: this machine was '
                      'too busy for them')
                for process in multiprocessing.active_children():
                    process.terminate()
        self._pool.shutdown(cancel_futures=True)
        if error is None:
            for asked in self._asked:
                if asked not in left:
                    asked.result()
