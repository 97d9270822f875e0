# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Scripts and commands, run in this process; programs that end whatever happens; ports."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
import runpy
import shlex
import signal
import socket
import subprocess
import sys
from typing import Any

import pytest

from liedyn_ros.commands.liedyn import main


def run_script(path: Path, *arguments: object, folder: Path) -> None:
    """Run a script in a folder, with arguments; it fails the test where it ends with a code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, 'argv', [str(path), *map(str, arguments)])
        try:
            runpy.run_path(str(path), run_name='__main__')
        except SystemExit as end:
            assert not end.code


def run_command(line: str, folder: Path) -> int:
    """Return the code with which a line, `liedyn VERB arguments`, ends in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return main(shlex.split(line)[1:])


TIMEOUT = 600.0  # s, to end in; only a failing test waits that long


@contextmanager
def running(command: Sequence[Any], number: int = signal.SIGINT,
            **options: Any) -> Iterator['subprocess.Popen[Any]']:
    """Run a program until the block is left, by a signal; kill it where that does not end it."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.send_signal(number)
            try:
                process.wait(TIMEOUT)
            finally:
                process.kill()


def free_port() -> int:
    """Return a port that nobody listens on: tests of two releases may run beside each other."""
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return int(listener.getsockname()[1])
