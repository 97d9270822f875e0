# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Commands to a process, which are lines of its standard input."""

from queue import Empty, SimpleQueue
import sys
from threading import Thread


class Commands:
    """The lines that have come; the process shall end with the input, as its parent has ended."""

    def __init__(self) -> None:
        """Start to read."""
        self._lines: SimpleQueue[list[str]] = SimpleQueue()
        self.ended = False
        Thread(target=self._read, daemon=True).start()

    def take(self) -> list[list[str]]:
        """Return each line since the last time, split at blanks."""
        taken = []
        while True:
            try:
                taken.append(self._lines.get_nowait())
            except Empty:
                return taken

    def _read(self) -> None:
        for line in sys.stdin:
            self._lines.put(line.split())
        self.ended = True
