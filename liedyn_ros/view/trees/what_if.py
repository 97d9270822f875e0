# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sliders for other joint positions: gravity torques of a tree, and loops that follow."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import math
from threading import Lock
from typing import Any

import numpy as np
from scipy.linalg import null_space
import viser

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import as_text
from liedyn_ros.dynamics import Dynamics, LOCAL_WORLD_ALIGNED
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, LoopTracker
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.model.followers import Followers
from liedyn_ros.view.plots import add_slider, move_slider, value_of
from liedyn_ros.view.shapes import ellipsoid
from liedyn_ros.view.trees.scene import Shapes, size_of, TreeFigure, units_of

GHOST_OPACITY = 0.45  # opacity
NO_BODY = 'none'  # no body has its mass ellipsoid shown
MASS_COLOR = (40, 160, 90)
ELLIPSOID_SIZE = 0.25  # of the machine's size: the longest half axis of the mass ellipsoid
LEAST_MOBILITY = 1e-9  # 1/kg; less is no motion
RANK_SHARE = 1e-9  # singular values of loops below this share of the largest are zero


class TreeWhatIf:
    """
    A ghost moved by sliders. Nothing of it reaches the tracking.

    Mimic joints follow; with loops only the actuated joints have sliders, and the rest follows.
    """

    def __init__(self, server: viser.ViserServer, model: Model, shapes: Shapes,
                 present: Callable[[], Array]) -> None:
        """
        Add the controls to the tab that is open.

        shapes are those of the figure; present returns the machine's state (nq,).
        """
        self._server, self._model, self._present = server, model, present
        self._shapes = shapes
        self._lock = Lock()
        self._figure: TreeFigure | None = None
        self.q = model.neutral()
        self._followers = Followers(model)
        self._looped = (ConstrainedDynamics(model) if model.closures or self._followers.names
                        else None)
        self._tree = Dynamics(model) if self._looped is None else self._looped.tree
        self._tracker: LoopTracker | None = None
        gui = server.gui
        gui.add_markdown('A ghost to try positions with.')
        shown = gui.add_checkbox('Show the ghost', initial_value=False)
        self._joints = [joint for joint in model.joint_list
                        if JOINT_TYPES[joint.type_name].nv == 1
                        and joint.name not in self._followers.names
                        and (joint.actuated or not model.closures)]
        self.sliders: dict[str, Any] = {}
        for joint in self._joints:
            low, high = float(joint.limits.lower[0]), float(joint.limits.upper[0])
            low, high = (max(low, -math.pi), min(high, math.pi)) if low < high else (-1.0, 1.0)
            slider = add_slider(gui, joint.name, low, high, 0.0)
            slider.on_update(self._follow)
            self.sliders[joint.name] = slider
        self._add_mass_ellipsoid()
        self._text = gui.add_markdown('')
        shown.on_update(lambda _: self.show(visible=shown.value))

    def _add_mass_ellipsoid(self) -> None:
        """Add the choice of the body whose mass ellipsoid is shown."""
        leaves = self._leaves()
        self.body = self._server.gui.add_dropdown('Mass ellipsoid of', (NO_BODY, *leaves))
        self.body.on_update(lambda _: self._redraw())
        self._ellipsoid = self._server.scene.add_icosphere(
            '/What if/mass ellipsoid', 1.0, MASS_COLOR, opacity=0.35, visible=False)

    @property
    def _body(self) -> str:
        """Return the body that is chosen, NO_BODY for a name that a browser made up."""
        chosen = str(self.body.value)
        return chosen if chosen in self._model.bodies else NO_BODY

    def _leaves(self) -> list[str]:
        """Return the bodies, those that carry no other first, as ends are asked of most."""
        parents = {joint.parent for joint in self._model.joint_list}
        return sorted(self._model.bodies, key=lambda name: name in parents)

    def _redraw(self) -> None:
        with self._lock:
            if self._figure is not None:
                self._draw()

    def show(self, *, visible: bool) -> None:
        """Show the ghost where the machine is now, or take it away."""
        with self._lock:
            if self._figure is not None:
                self._figure.root.remove()
                self._figure = None
            self._ellipsoid.visible = False
            if not visible:
                return
            self.q = self._closed(self._present())
            for joint in self._joints:
                move_slider(self.sliders[joint.name], float(self.q[joint.qi]))
            self._figure = TreeFigure(self._server.scene, 'What if', self._model,
                                      self._shapes, GHOST_OPACITY)
            self._draw()

    def _closed(self, q: Array) -> Array:
        """Return the closed configuration near one (nq,), which it stays where there is none."""
        q = self._followers.positions(q)
        with suppress(LiedynError):
            return q if self._looped is None else assemble(self._looped, q)
        return q

    def _follow(self, event: viser.GuiEvent[Any]) -> None:
        if event.client is not None:
            self.set_joints({name: value_of(slider) for name, slider in self.sliders.items()})

    def set_joints(self, positions: dict[str, float]) -> None:
        """Move the ghost to positions of joints by name, rad or m; loops stay closed."""
        with self._lock:
            q = self.q.copy()
            for joint in self._joints:
                q[joint.qi] = positions[joint.name]
            q = self._followers.positions(q)
            try:
                self.q = q if self._looped is None else self._completed(self._looped, q)
            except LiedynError as error:
                self._text.content = f'**{as_text(error)}**'
                return
            self._draw()

    def _completed(self, looped: ConstrainedDynamics, q: Array) -> Array:
        """Return the configuration that loops allow, of the positions of the actuated joints."""
        if not self._model.closures:
            return q
        if self._tracker is None:
            self._tracker = LoopTracker(
                looped, [joint.name for joint in self._joints], start=self.q)
        return self._tracker.update([q[joint.qi] for joint in self._joints]).q

    def _draw(self) -> None:
        if self._figure is not None:
            self._figure.move(self.q)
            self._place_ellipsoid(self._figure)
        self._text.content = self.describe()

    def mobility(self, body: str) -> Array:
        """
        Return the acceleration of a body's origin by a force there, (3, 3), 1/kg, at rest.

        Loops stay closed. Its inverse is the mass that a push meets.
        """
        columns = self._tree.frames.jacobian(self.q, body, LOCAL_WORLD_ALIGNED)[3:]
        free = np.eye(self._model.nv)
        if self._looped is not None:
            free = null_space(self._looped.jacobian(self.q), rcond=RANK_SHARE)
        matrix = free.T @ self._tree.mass_matrix(self.q) @ free
        return np.array(columns @ free @ np.linalg.pinv(matrix) @ (columns @ free).T)

    def _place_ellipsoid(self, figure: TreeFigure) -> None:
        body = self._body
        self._ellipsoid.visible = body != NO_BODY
        if body == NO_BODY:
            return
        mobility = self.mobility(body)
        largest = float(np.linalg.norm(mobility, 2))
        scale = (ELLIPSOID_SIZE * size_of(figure.poses)) ** 2 / max(largest, 1e-12)
        ellipsoid(self._ellipsoid, figure.poses[self._model.body_index(body)][:3, 3],
                  scale * mobility, 1.0)

    def gravity_torques(self) -> Array:
        """Return the efforts (nv,) that hold the ghost at rest, N m or N."""
        rest = np.zeros(self._model.nv)
        if self._looped is not None:
            return np.array(self._looped.inverse(self.q, rest, rest).tau)
        return self._tree.gravity_vector(self.q)

    def describe(self) -> str:
        """Return, in Markdown, the efforts at rest and which of them exceed their limits."""
        try:
            torques = self.gravity_torques()
        except LiedynError as error:
            return f'**{as_text(error)}**'
        lines = ['| coordinate | effort at rest | limit |', '| --- | --- | --- |']
        for name, unit, torque, most in zip(self._model.coordinate_names, units_of(self._model),
                                            torques, self._model.limits.effort):
            over = '**' if abs(torque) > most else ''
            limit = f'{most:.3g}' if math.isfinite(most) else '-'
            lines.append(f'| {as_text(name)} | {over}{torque + 0.0:.3g} {unit}{over} | {limit} |')
        if self._body != NO_BODY:
            felt = ', '.join(f'{1.0 / each:.3g}' if each > LEAST_MOBILITY else 'infinite'
                             for each in np.linalg.eigvalsh(self.mobility(self._body))[::-1])
            lines.append(f'\nA push on {as_text(self._body)} meets {felt} kg along the axes.')
        return '\n'.join(lines)
