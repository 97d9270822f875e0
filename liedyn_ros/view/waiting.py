# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the page says while it waits: for a machine, or for its own kernels."""

from __future__ import annotations

from threading import Event, Thread
import time

from viser import GuiApi

from liedyn_ros.common.markup import as_text
from liedyn_ros.jit.cache import COUNTS

PERIOD = 0.5  # s, of looks at how far the kernels are


class Waiting:
    """A sentence, and how many kernels were compiled since it stands there."""

    def __init__(self, gui: GuiApi, sentence: str) -> None:
        """Show a sentence, from now until `end`."""
        self._sentence, self._end = sentence, Event()
        self._text = gui.add_markdown(f'*{sentence}*')
        self._began, self._compiled = time.monotonic(), COUNTS.compiled
        self._thread = Thread(target=self._tell, daemon=True)
        self._thread.start()

    def end(self, fault: str = '') -> None:
        """Take it away; a fault takes its place."""
        self._end.set()
        self._thread.join()
        if fault:
            self._text.content = f'**{as_text(fault)}**'
        else:
            self._text.remove()

    def _tell(self) -> None:
        while not self._end.wait(PERIOD):
            compiled = COUNTS.compiled - self._compiled
            if compiled:
                self._text.content = (
                    f'*{self._sentence}*\n\n*Kernels are compiled for this processor, once: '
                    f'{compiled}, in {time.monotonic() - self._began:.0f} s*')
