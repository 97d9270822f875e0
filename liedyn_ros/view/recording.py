# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A recording of the scene as one HTML file, which plays in any browser without a network."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

import viser

from liedyn_ros.common.whole_files import write_whole

MAX_DURATION = 300.0  # s; then a recording ends by itself
START_LABEL = 'Start recording'


class ViewRecording:
    """Records the scene, picture by picture, from one click of a button to the next."""

    def __init__(self, server: viser.ViserServer, *, dark: bool = False) -> None:
        """Take the server whose scene is recorded, and how the page looks that plays it."""
        self._server, self._dark, self._lock = server, dark, Lock()
        self._serializer: Any = None
        self._whole = ''  # the page, once the longest time has passed
        self._began = self._last = 0.0
        self._asked: Any = None

    def add_controls(self) -> None:
        """Add the button; the file goes to the browser in which it is clicked."""
        gui = self._server.gui
        gui.add_markdown('A recording is one HTML file. It plays in any browser, without a '
                         'network and without this program.')
        button = gui.add_button(START_LABEL)

        @button.on_click
        def _(event: viser.GuiEvent[Any]) -> None:
            if button.label == START_LABEL:
                self.start()
                button.label = 'Stop and save'
            else:
                button.label = START_LABEL
                client, html = event.client, self.html()
                if client is not None:
                    client.send_file_download('liedyn_recording.html', html.encode())

    def start(self) -> None:
        """Begin with the scene as it is."""
        with self._lock:
            self._serializer, self._whole = self._server.get_scene_serializer(), ''
            self._began = self._last = 0.0

    def step(self, now: float) -> None:
        """Note that the pictures since the last call were shown until now, s."""
        with self._lock:
            if self._serializer is None:
                return
            if not self._began:
                self._began = self._last = now
            self._serializer.insert_sleep(now - self._last)
            self._last = now
            if now - self._began >= MAX_DURATION:  # one that is forgotten takes no more memory
                self._whole, self._serializer = self._page_of(self._serializer), None

    def html(self) -> str:
        """End, and return the page."""
        with self._lock:
            serializer, self._serializer = self._serializer, None
            return self._whole if serializer is None else self._page_of(serializer)

    def _page_of(self, serializer: Any) -> str:
        return str(serializer.as_html(self._dark))

    def save(self, path: Path) -> None:
        """End, and write the page."""
        write_whole(path, self.html())
