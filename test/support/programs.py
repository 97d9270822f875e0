# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Programs that a test runs and ends, whatever happens."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import signal
import subprocess
from typing import Any

TIMEOUT = 240.0  # s, to end in; only a failing test waits that long


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
