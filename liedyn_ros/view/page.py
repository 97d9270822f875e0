# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page: a server for browsers, the scene of one machine, its numbers, what-if, recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
import re
from threading import Lock, Thread
import time
from typing import Any

import numpy as np
import viser
from viser import GuiApi

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import as_text
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.model import Model
from liedyn_ros.view.access import open_server, TOKEN
from liedyn_ros.view.platforms.scene import PlatformScene
from liedyn_ros.view.platforms.what_if import PlatformWhatIf
from liedyn_ros.view.plots import Plots
from liedyn_ros.view.recording import MAX_DURATION, ViewRecording
from liedyn_ros.view.trees.scene import TreeScene
from liedyn_ros.view.trees.what_if import TreeWhatIf
from liedyn_ros.view_state import Description, Machine, ViewInput


class Waiting:
    """A sentence."""

    def __init__(self, gui: GuiApi, sentence: str) -> None:
        """Show a sentence, from now until `end`."""
        self._text = gui.add_markdown(f'*{sentence}*')

    def end(self, fault: str = '') -> None:
        """Take the notice away; a fault takes its place."""
        if fault:
            self._text.content = f'**{_wrapped(fault)}**'
        else:
            self._text.remove()


TEXT_RATE = 4.0  # Hz, of what a person reads
REPLAY_RATE = 30.0  # pictures a second of a recording without a live machine
RECORDING_PORT = 18_080  # or the next that is free; no address is printed
OF_PLATFORM = (('distance to singularity', '-'), ('residual', 'm'), ('iterations', ''),
               ('age', 's'), ('error', 'm'))  # of the plots, with their units
CAMERA_STEP = 0.005  # of the size: a floating machine moves so far before a camera follows
GRID = (160, 160, 164)  # as in RViz
MAX_SHOWN_LINES = 200  # names and sentences of a kind that are shown


class LivePage:
    """
    Page that every browser at the address sees; its sliders are shared by all of them.

    Each browser has its own connection, whose backlog viser keeps, apart from the others'.
    """

    def __init__(self, address: str, port: int, history: float, path_time: float, *,
                 dark: bool = False) -> None:
        """
        Serve on an address and a port, or the next that is free; history, path_time in s.

        dark: how it looks in a browser whose user has not chosen.
        """
        self._history, self._path_time = history, path_time
        self.server = open_server(address, port, 'liedyn_ros')
        self.server.gui.configure_theme(dark_mode=dark)
        self.server.on_client_connect(self._stand_back)
        self._dark, self._chosen = dark, dict[int, bool]()  # by the number of a browser
        self._waiting: Waiting | None = Waiting(
            self.server.gui, 'waiting for the description of a machine')
        self._host = address
        self._scene: PlatformScene | TreeScene | None = None
        self._adopting = Lock()  # a scene is made, or drawn
        self._what_if: PlatformWhatIf | TreeWhatIf | None = None
        self._filling = Thread()  # the tab of what-if
        self._moving: Any = None  # switches, where the machine has them
        self._pulls: Any = None
        self._units: dict[str, str] = {}  # of efforts, by joint
        self._read = 0.0
        self._file: Path | None = None  # of a recording from the start
        self._whole, self._recording = (ViewRecording(self.server, dark=dark) for _ in range(2))

    @property
    def address(self) -> str:
        """Return where a browser finds it: whoever has the address gets in."""
        host = 'localhost' if self._host in ('0.0.0.0', '::') else self._host
        host = f'[{host}]' if ':' in host else host
        return f'http://{host}:{self.server.get_port()}/{TOKEN}/'

    @property
    def viewers(self) -> int:
        """Return how many browsers look."""
        return len(self.server.get_clients())

    def adopt(self, machine: Machine, home: Array, description: Description | None = None) -> None:
        """
        Show another machine; home (4, 4), m, of a platform, description of a robot.

        Its meshes may take a while; nothing is shown meanwhile.
        """
        with self._adopting:
            self._adopt(machine, home, description)

    def _adopt(self, machine: Machine, home: Array, description: Description | None) -> None:
        server = self.server
        self._end_waiting()
        server.scene.reset()
        server.gui.reset()
        server.scene.set_up_direction('+z')
        self._moving = self._pulls = self._what_if = None
        self._units = {}
        tabs = server.gui.add_tab_group()
        with tabs.add_tab('Live'):
            self._text = server.gui.add_markdown('*nothing heard yet*')
            if isinstance(machine, Model):
                size, middle = self._adopt_tree(server, machine, description)
            else:
                self._scene = PlatformScene(server.scene, machine, home, self._path_time)
                size, middle = 4.0 * machine.characteristic_length, 0.5 * home[:3, 3]
            numbers = () if isinstance(machine, Model) else OF_PLATFORM
            self._plots = Plots(server.gui, numbers, self._history)
        what_if = tabs.add_tab('What if')
        with tabs.add_tab('Record'):
            self._recording.add_controls()
        server.gui.add_button('Light or dark').on_click(self._change_look)
        server.scene.add_grid('/Grid', 5.0 * size, 5.0 * size, cell_size=0.1, cell_color=GRID,
                              section_color=GRID)
        self._size, self._found = size, False
        self._aim(middle)
        self._filling = Thread(target=self._fill, args=(what_if, machine, home), daemon=True)
        self._filling.start()

    def _end_waiting(self) -> None:
        """End work under way for the machine before."""
        if self._waiting is not None:
            self._waiting.end()
            self._waiting = None
        if self._filling.is_alive():
            self._filling.join()

    def _change_look(self, event: viser.GuiEvent[Any]) -> None:
        """Turn the look of the one browser in which the button was clicked."""
        client = event.client
        if client is not None:
            dark = not self._chosen.get(client.client_id, self._dark)
            self._chosen[client.client_id] = dark
            client.gui.configure_theme(dark_mode=dark)

    def _adopt_tree(self, server: viser.ViserServer, model: Model,
                    description: Description | None) -> tuple[float, Array]:
        """Make the scene of a tree and its switches; return its size, m, and its middle (3,)."""
        self._scene = scene = TreeScene(server.scene, model, self._path_time, description)
        self._units = scene.units
        if scene.floats:
            self._moving = server.gui.add_checkbox('Camera moves with it', initial_value=True)
        if model.closures:
            self._pulls = server.gui.add_checkbox('Loop forces at rest', initial_value=False)
            self._pulls.on_update(lambda _: Thread(target=self._prepare_pulls, args=(
                scene, model), daemon=True).start())
        if scene.faults:
            with server.gui.add_folder(f'{len(scene.faults)} shapes are not shown: boxes instead',
                                       expand_by_default=False):
                server.gui.add_markdown('\n'.join(
                    f'- {_wrapped(fault)}' for fault in scene.faults[:MAX_SHOWN_LINES]))
        return 1.3 * scene.size, scene.middle

    def _prepare_pulls(self, scene: TreeScene, model: Model) -> None:
        """Let a scene draw the forces of its loops, or no more."""
        if not (self._pulls and self._pulls.value):
            scene.looped = None
            return
        looped, rest = ConstrainedDynamics(model), np.zeros(model.nv)
        with suppress(LiedynError):  # it is open; the pictures try again
            looped.inverse(scene.q.copy(), rest, rest)
        scene.looped = looped

    @property
    def what_if(self) -> PlatformWhatIf | TreeWhatIf | None:
        """Return the controls of the tab, once they are there."""
        if self._filling.is_alive():
            self._filling.join()
        return self._what_if

    def _fill(self, tab: viser.GuiTabHandle, machine: Machine, home: Array) -> None:
        """Fill the tab of what-if, after the machine is shown."""
        with tab:
            waiting = Waiting(self.server.gui, 'this tab comes in a moment')
            try:
                self._what_if = self._add_what_if(machine, home)
            except LiedynError as error:
                waiting.end(str(error))
                return
        waiting.end()

    def _add_what_if(self, machine: Machine, home: Array) -> PlatformWhatIf | TreeWhatIf:
        if not isinstance(machine, Model):
            return PlatformWhatIf(self.server, machine, home)
        assert isinstance(self._scene, TreeScene)
        return TreeWhatIf(
            self.server, machine, self._scene.shapes, partial(_state_of, self._scene))

    def _aim(self, middle: Array) -> None:
        """Look at a point (3,), m, in browsers that are open and in later ones."""
        self._aimed = middle
        for camera in self._cameras():
            camera.position = middle + self._size * _DIRECTION
            camera.look_at = middle
        for client in self.server.get_clients().values():
            self._stand_back(client)

    def _stand_back(self, client: viser.ClientHandle) -> None:
        """
        Let a browser on a screen that stands, as a phone's does, see the whole machine.

        As it connects, its own camera is not yet where the first one is.
        """
        first, away = self.server.initial_camera, _NARROW / client.camera.aspect
        if away > 1.0:
            look_at = np.asarray(first.look_at)
            client.camera.position = look_at + away * (np.asarray(first.position) - look_at)
            client.camera.look_at = look_at

    def _cameras(self) -> list[Any]:
        """Return the camera of later browsers and those of open ones."""
        return [self.server.initial_camera, *(
            client.camera for client in self.server.get_clients().values())]

    def _move_cameras(self, scene: TreeScene) -> None:
        """Go with a floating machine, by steps that are seen; a person may turn each camera."""
        middle = scene.middle
        if not self._found:
            self._found = True  # it may be far from where the scene began
            self._aim(middle)
        elif self._moving and self._moving.value:
            step = middle - self._aimed
            if np.linalg.norm(step) > CAMERA_STEP * self._size:
                self._aimed = middle
                for camera in self._cameras():
                    target = camera.look_at + step
                    camera.position = camera.position + step
                    camera.look_at = target

    def show(self, seen: ViewInput, now: float | None = None) -> None:
        """Show the machine as heard, now, or at a time of a recording that is written, s."""
        if self._scene is None or not self._adopting.acquire(blocking=False):
            return
        try:
            self._show(seen, time.monotonic() if now is None else now)
        finally:
            self._adopting.release()

    def _show(self, seen: ViewInput, now: float) -> None:
        assert self._scene is not None
        if isinstance(self._scene, TreeScene):
            seen = self._scene.own(seen)
        with self.server.atomic():
            self._scene.show(seen, now)
        if isinstance(self._scene, TreeScene) and seen.pose is not None:
            self._move_cameras(self._scene)
        self._recording.step(now)
        self._whole.step(now)
        if seen.solved is not None:
            error = 0.0
            if seen.pose is not None and seen.true_pose is not None:
                error = float(abs(seen.pose[:3, 3] - seen.true_pose[:3, 3]).max())
            solved = seen.solved
            values = (solved.smallest_singular_value, solved.residual, solved.iterations,
                      solved.age, error)
            self._plots.add(now, values if seen.tracks else (np.nan,) * len(values))
        if now - self._read >= 1.0 / TEXT_RATE:
            self._read = now
            self._text.content = describe(seen, self._units)

    def record_to(self, path: Path) -> None:
        """Record the pictures from now on, and write them as HTML to a file at the end."""
        self._file = path
        self._whole.start()

    def close(self) -> None:
        """Write the recording that was asked for, and end the server."""
        if self._file is not None:
            self._whole.save(self._file)
        self._end_waiting()
        self.server.stop()


_DIRECTION = np.array([1.0, 0.8, 0.6])
_NARROW = 0.75  # width over height of a picture, below which a camera stands farther away


def _state_of(scene: TreeScene) -> Array:
    return scene.q.copy()


def describe(seen: ViewInput, units: Mapping[str, str] | None = None) -> str:
    """Return, in Markdown, what a person reads of what was heard; units of efforts by joint."""
    units = {} if units is None else units
    lines = []
    if seen.fault:
        lines.append(f'**No pose:** {_wrapped(seen.fault)}')
    lines += [f'- **{_wrapped(warning)}**' for warning in seen.warnings[:MAX_SHOWN_LINES]]
    if not lines and seen.tracks:
        lines.append('Tracking, no warning.')
    if seen.quiet:
        lines.append(f'- *{as_text(_silence(seen.quiet))}*')
    solved = seen.solved
    if solved is not None:
        lines.append(f'\nDistance to singularity {solved.smallest_singular_value:.3f}, '
                     f'age {1e3 * solved.age:.2f} ms, {solved.iterations} iterations. '
                     f'Branch: {solved.branch_source.name}.')
    if seen.pose is not None:
        x, y, z = (1e3 * seen.pose[:3, 3]).tolist()
        lines.append(f'\nPosition {x:.2f}, {y:.2f}, {z:.2f} mm.')
    if seen.efforts:
        lines += ['\n| joint | effort |', '| --- | --- |']
        lines += [f'| {as_text(name)} | {value:.3g} {units.get(name, "")} |'
                  for name, value in islice(seen.efforts.items(), MAX_SHOWN_LINES)]
        if len(seen.efforts) > MAX_SHOWN_LINES:
            lines.append(f'\n{len(seen.efforts) - MAX_SHOWN_LINES} more are not shown.')
    return '\n'.join(lines) or '*nothing heard yet*'


def _wrapped(text: str) -> str:
    """Return a text of others as Markdown; a line may end within its paths and names."""
    return re.sub(r'([/_])(?=\w)', '\\1\u200b', as_text(text))


def _silence(quiet: Mapping[str, float]) -> str:
    return 'no message ' + ', '.join(
        f'on {topic} for {seconds:.0f} s' for topic, seconds in quiet.items()
    ) + f'; the last {"are" if len(quiet) > 1 else "is"} shown'


def write_recording(path: Path, machine: Machine, shown: Iterable[tuple[float, ViewInput]],
                    home: Array | None = None, description: Description | None = None) -> None:
    """
    Write pictures at rising times, s, as a page that plays without a network.

    Of more than 30 pictures a second some are left out, and it ends after 300 s. home (4, 4), m,
    is that of a platform.
    """
    page = LivePage('127.0.0.1', RECORDING_PORT, MAX_DURATION, 10.0)
    try:
        page.adopt(machine, np.eye(4) if home is None else home, description)
        page.record_to(path)
        first = due = None
        for now, seen in shown:
            if first is None or due is None:
                first = due = now
            if now - first > MAX_DURATION:
                break
            if now >= due - 1e-9:
                due = max(due + 1.0 / REPLAY_RATE, now)
                page.show(seen, now)
    finally:
        page.close()
