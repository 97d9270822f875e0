# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What if the joints were elsewhere: gravity torques of a tree, and loops that follow."""

from __future__ import annotations

from collections.abc import Callable
import math
from threading import Lock
from typing import Any

import numpy as np
import viser

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, LoopTracker
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.view.tree_scene import TreeFigure

GHOST = 0.45  # opacity


class TreeWhatIf:
    """
    A ghost moved by sliders. Nothing of it reaches the tracking.

    Of a machine with loops only the actuated joints have sliders; the rest follows.
    """

    def __init__(self, server: viser.ViserServer, model: Model,
                 present: Callable[[], Array]) -> None:
        """Add the controls to the tab that is open; present returns the machine's state (nq,)."""
        self._server, self._model, self._present = server, model, present
        self._lock = Lock()
        self._figure: TreeFigure | None = None
        self.q = model.neutral()
        self._looped = ConstrainedDynamics(model) if model.closures else None
        self._tracker: LoopTracker | None = None
        gui = server.gui
        gui.add_markdown('A ghost to try positions with.')
        shown = gui.add_checkbox('Show the ghost', initial_value=False)
        self._joints = [joint for joint in model.joint_list
                        if JOINT_TYPES[joint.type_name].nv == 1
                        and (self._looped is None or joint.actuated)]
        self.sliders: dict[str, Any] = {}
        for joint in self._joints:
            low, high = float(joint.limits.lower[0]), float(joint.limits.upper[0])
            low, high = (max(low, -math.pi), min(high, math.pi)) if low < high else (-1.0, 1.0)
            slider = gui.add_slider(
                joint.name, low, high, 1e-3 * (high - low), min(max(0.0, low), high))
            slider.on_update(self._follow)
            self.sliders[joint.name] = slider
        self._text = gui.add_markdown('')
        shown.on_update(lambda _: self.show(visible=shown.value))

    def show(self, *, visible: bool) -> None:
        """Show the ghost where the machine is now, or take it away."""
        with self._lock:
            if self._figure is not None:
                self._figure.root.remove()
                self._figure = None
            if not visible:
                return
            self.q = self._present()
            for joint in self._joints:
                slider = self.sliders[joint.name]
                slider.value = min(max(float(self.q[joint.qi]), slider.min), slider.max)
            self._figure = TreeFigure(self._server.scene, 'What if', self._model, GHOST)
            self._draw()

    def _follow(self, event: viser.GuiEvent[Any]) -> None:
        if event.client is not None:
            self.set_joints({name: slider.value for name, slider in self.sliders.items()})

    def set_joints(self, positions: dict[str, float]) -> None:
        """Move the ghost to positions of joints by name, rad or m; loops stay closed."""
        with self._lock:
            q = self.q.copy()
            for joint in self._joints:
                q[joint.qi] = positions[joint.name]
            try:
                self.q = q if self._looped is None else self._completed(self._looped, q)
            except LiedynError as error:
                self._text.content = f'**{error}**'
                return
            self._draw()

    def _completed(self, looped: ConstrainedDynamics, q: Array) -> Array:
        """Return the configuration that loops allow, of the positions of the actuated joints."""
        if self._tracker is None:
            self._tracker = LoopTracker(
                looped, [joint.name for joint in self._joints], start=self.q)
        return self._tracker.update([q[joint.qi] for joint in self._joints]).q

    def _draw(self) -> None:
        if self._figure is not None:
            self._figure.move(self.q)
        self._text.content = self.describe()

    def gravity_torques(self) -> Array:
        """Return the efforts (nv,) that hold the ghost at rest, N m or N."""
        rest = np.zeros(self._model.nv)
        if self._looped is not None:
            return np.array(self._looped.inverse(self.q, rest, rest).tau)
        if self._figure is None:
            return rest
        return self._figure.dynamics.gravity_vector(self.q)

    def describe(self) -> str:
        """Return, in Markdown, the efforts at rest and which of them exceed their limits."""
        try:
            torques = self.gravity_torques()
        except LiedynError as error:
            return f'**{error}**'
        lines = ['| coordinate | effort at rest | limit |', '| --- | --- | --- |']
        for name, torque, most in zip(
                self._model.coordinate_names, torques, self._model.limits.effort):
            over = '**' if abs(torque) > most else ''
            limit = f'{most:.3g}' if math.isfinite(most) else '-'
            lines.append(f'| {name} | {over}{torque:.3g}{over} | {limit} |')
        return '\n'.join(lines)
