# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page: a server for browsers, the scene of one machine, its numbers, what-if, recording."""

from __future__ import annotations

from functools import partial
from pathlib import Path
import time
from typing import Any

import numpy as np
import viser

from liedyn_ros.common.checks import Array
from liedyn_ros.model import Model
from liedyn_ros.nodes.view.seen import Seen
from liedyn_ros.stewart import StewartGeometry
from liedyn_ros.view.platform_scene import PlatformScene
from liedyn_ros.view.plots import Plots
from liedyn_ros.view.recording import Recording
from liedyn_ros.view.tree_scene import TreeScene
from liedyn_ros.view.what_if_platform import PlatformWhatIf
from liedyn_ros.view.what_if_tree import TreeWhatIf

TEXT_RATE = 4.0  # Hz, of what a person reads
OF_PLATFORM = (('distance to singularity', '-'), ('residual', 'm'), ('iterations', ''),
               ('age', 's'), ('error', 'm'))  # of the plots, with their units
GRID = (160, 160, 164)  # as in RViz


class LivePage:
    """
    What every browser that opens the address sees; its sliders are shared by all of them.

    Each browser has its own connection, whose backlog viser keeps, apart from the others'.
    """

    def __init__(self, address: str, port: int, history: float, path_time: float) -> None:
        """Serve on an address and a port, or the next that is free; history, path_time in s."""
        self._history, self._path_time = history, path_time
        self.server = viser.ViserServer(host=address, port=port, label='liedyn_ros', verbose=False)
        self.server.gui.add_markdown('*waiting for the description of a machine*')
        self._host = address
        self._scene: PlatformScene | TreeScene | None = None
        self._read = 0.0
        self._file: Path | None = None  # of a recording from the start
        self._whole = Recording(self.server)
        self._recording = Recording(self.server)

    @property
    def address(self) -> str:
        """Return where a browser finds it."""
        host = 'localhost' if self._host in ('0.0.0.0', '::') else self._host
        return f'http://{host}:{self.server.get_port()}'

    def adopt(self, machine: Model | StewartGeometry, home: Array) -> None:
        """Show another machine; home (4, 4), m, is that of a platform."""
        server = self.server
        server.scene.reset()
        server.gui.reset()
        server.gui.configure_theme(dark_mode=False)
        server.scene.set_up_direction('+z')
        tabs = server.gui.add_tab_group()
        with tabs.add_tab('Live'):
            self._text = server.gui.add_markdown('*nothing heard yet*')
            numbers = OF_PLATFORM if isinstance(machine, StewartGeometry) else ()
            self._plots = Plots(server.gui, numbers, self._history)
        with tabs.add_tab('What if'):
            if isinstance(machine, StewartGeometry):
                self._scene = PlatformScene(server.scene, machine, home, self._path_time)
                self._what_if: Any = PlatformWhatIf(server, machine, home)
                size, middle = 4.0 * machine.characteristic_length, 0.5 * home[:3, 3]
            else:
                self._scene = TreeScene(server.scene, machine, self._path_time)
                self._what_if = TreeWhatIf(server, machine, partial(_state_of, self._scene))
                size, middle = 2.0 * self._scene.size, self._scene.middle
        with tabs.add_tab('Record'):
            self._recording.add_controls()
        server.scene.add_grid('/Grid', 4.0 * size, 4.0 * size, cell_size=0.1, cell_color=GRID,
                              section_color=GRID)
        self._size, self._found = size, False
        self._aim(middle)

    def _aim(self, middle: Array) -> None:
        """Look at a point (3,), m, in browsers that are open and in later ones."""
        for camera in (self.server.initial_camera, *(
                client.camera for client in self.server.get_clients().values())):
            camera.position = middle + self._size * _DIRECTION
            camera.look_at = middle

    def show(self, seen: Seen) -> None:
        """Show what was heard."""
        if self._scene is None:
            return
        now = time.monotonic()
        with self.server.atomic():
            self._scene.show(seen, now)
        if not self._found and isinstance(self._scene, TreeScene) and seen.pose is not None:
            self._found = True  # a floating base may be far from where the scene began
            self._aim(self._scene.middle)
        self._recording.step(now)
        self._whole.step(now)
        if seen.solved is not None:
            error = 0.0
            if seen.pose is not None and seen.true_pose is not None:
                error = float(abs(seen.pose[:3, 3] - seen.true_pose[:3, 3]).max())
            solved = seen.solved
            self._plots.add(now, (solved.smallest_singular_value, solved.residual,
                                  solved.iterations, solved.age, error))
        if now - self._read >= 1.0 / TEXT_RATE:
            self._read = now
            self._text.content = describe(seen)

    def record_to(self, path: Path) -> None:
        """Record what is shown from now on, and write it as HTML to a file at the end."""
        self._file = path
        self._whole.start()

    def close(self) -> None:
        """Write the recording that was asked for, and end the server."""
        if self._file is not None:
            self._whole.save(self._file)
        self.server.stop()


_DIRECTION = np.array([1.0, 0.8, 0.6])


def _state_of(scene: TreeScene) -> Array:
    return scene.q.copy()


def describe(seen: Seen) -> str:
    """Return, in Markdown, what a person reads of what was heard."""
    lines = []
    if seen.fault:
        lines.append(f'**No pose:** {seen.fault}')
    lines += [f'- **{warning}**' for warning in seen.warnings]
    if not lines and seen.solved is not None:
        lines.append('Tracking, no warning.')
    solved = seen.solved
    if solved is not None:
        lines.append(f'\nDistance to singularity {solved.smallest_singular_value:.3f}, '
                     f'age {1e3 * solved.age:.2f} ms, {solved.iterations} iterations.')
    if seen.pose is not None:
        x, y, z = (1e3 * seen.pose[:3, 3]).tolist()
        lines.append(f'\nPosition {x:.2f}, {y:.2f}, {z:.2f} mm.')
    if seen.efforts:
        lines += ['\n| joint | effort |', '| --- | --- |']
        lines += [f'| {name} | {value:.3g} |' for name, value in seen.efforts.items()]
    return '\n'.join(lines) or '*nothing heard yet*'
