# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sliders for other platform poses: leg lengths, limits, forces, ghosts of assembly modes."""

from __future__ import annotations

from threading import Lock, Thread
from typing import Any

import numpy as np
import viser

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import as_text
from liedyn_ros.lie import se3, so3
from liedyn_ros.stewart import (
    AssemblyModeSolver, leg_lengths, length_jacobian, PoseSolver, StewartDynamics)
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.view.platforms.scene import PlatformFigure
from liedyn_ros.view.plots import add_slider, move_slider, value_of
from liedyn_ros.view.shapes import place

# Opacity of what is asked, and of other poses of its leg lengths
GHOST_OPACITIES, MODE = 0.45, 0.25
# Sizes of the platform that a ghost goes; of a quaternion that is none
MAX_GHOST_DISTANCE, ZERO_QUATERNION = 1000.0, 1e-12
TRAVEL = 0.5  # share of a length at home that a slider spans where the leg has no limit


class PlatformWhatIf:
    """
    A ghost that is dragged, or moved by its legs. Nothing of it reaches the tracking.

    Seven legs and more hold it by least squares. Forces are those of six.
    """

    def __init__(self, server: viser.ViserServer, geometry: StewartGeometry, home: Array) -> None:
        """Add the controls to the tab that is open; the ghost stands at home (4, 4), m."""
        self._server, self._geometry, self._home = server, geometry, home
        self._lock = Lock()  # of the solvers, which have tables of their own
        self._solver, self._meter = PoseSolver(geometry), PlatformMeter(geometry)
        self._dynamics = (None if geometry.masses is None or geometry.redundant
                          else StewartDynamics(geometry))
        self.pose, self.lengths = home, leg_lengths(geometry, home)
        self._figure: PlatformFigure | None = None
        self._modes: list[PlatformFigure] = []
        gui = server.gui
        gui.add_markdown('A ghost to try poses with. Drag it in the scene, or set its legs.')
        shown = gui.add_checkbox('Show the ghost', initial_value=False)
        self.sliders = self._add_sliders(gui)
        self._text = gui.add_markdown('')
        button = gui.add_button('Find all assembly modes of these lengths')
        button.on_click(lambda _: Thread(target=self.find_modes, daemon=True).start())
        self._modes_text = gui.add_markdown('')
        self.gizmo = server.scene.add_transform_controls(
            '/What if/drag', 2.0 * geometry.characteristic_length, visible=False)
        place(self.gizmo, home)
        shown.on_update(lambda _: self.show(visible=shown.value))
        far = MAX_GHOST_DISTANCE * geometry.characteristic_length  # of what a browser sends
        self.gizmo.on_update(lambda _: self.drag(
            np.clip(self.gizmo.position, -far, far), np.array(self.gizmo.wxyz)))
        self._tell()

    def _add_sliders(self, gui: viser.GuiApi) -> list[Any]:
        limits = np.array(self._geometry.length_limits)
        free = ~np.isfinite(limits[:, 1])
        limits[free, 1] = (1.0 + TRAVEL) * self.lengths[free]
        low = np.minimum(limits[:, 0], self.lengths)
        high = np.maximum(limits[:, 1], self.lengths)
        sliders = []
        for name, least, most, value in zip(
                self._geometry.leg_names, low.tolist(), high.tolist(), self.lengths.tolist()):
            slider = add_slider(gui, name, least, most, value)
            slider.on_update(self._set_legs)
            sliders.append(slider)
        return sliders

    def show(self, *, visible: bool) -> None:
        """Show the ghost or take it away, its assembly modes with it."""
        with self._lock:
            self._clear_modes()
            if self._figure is not None:
                self._figure.remove()
            self._figure = PlatformFigure(
                self._server.scene, 'What if/ghost', self._geometry, self._home,
                GHOST_OPACITIES) if visible else None
            self.gizmo.visible = visible
            self._draw()

    def drag(self, position: Array, quaternion: Array) -> None:
        """Move the ghost to a position (3,), m, and a quaternion w, x, y, z."""
        with self._lock:
            try:
                pose = se3.from_rotation_translation(so3.from_quaternion(np.roll(
                    quaternion / max(float(np.linalg.norm(quaternion)), ZERO_QUATERNION), -1)),
                                                     position)
                self.lengths = leg_lengths(self._geometry, pose)
            except LiedynError as error:
                self._text.content = f'**{as_text(error)}**'
                return
            self.pose = pose
            self._set_sliders()
            self._draw()

    def _set_sliders(self) -> None:
        for slider, length in zip(self.sliders, self.lengths.tolist()):
            move_slider(slider, length)

    def _set_legs(self, event: viser.GuiEvent[Any]) -> None:
        """Move the ghost by its legs, if a person has moved a slider; others round no length."""
        if event.client is not None:
            asked = np.array([value_of(slider) for slider in self.sliders])
            steps = np.array([slider.step for slider in self.sliders])
            self.set_legs(np.where(
                np.abs(asked - self.lengths) <= 0.51 * steps, self.lengths, asked))

    def set_legs(self, lengths: Array) -> None:
        """Move the ghost to the pose of leg lengths (n,) near its present one, if there is one."""
        with self._lock:
            try:
                solution = self._solver.solve(lengths, self.pose)
            except LiedynError as error:
                self._text.content = f'**{as_text(error)}**'
                return
            if not solution.converged:
                self._text.content = '**No pose near this one has these leg lengths.**'
                return
            self.pose, self.lengths = solution.pose, np.array(lengths)
            if self._geometry.redundant:  # no pose has any lengths of more than six legs
                self.lengths = leg_lengths(self._geometry, self.pose)
                self._set_sliders()
            place(self.gizmo, self.pose)
            self._draw()

    def _draw(self) -> None:
        self._clear_modes()
        if self._figure is not None:
            self._figure.move(self.pose, self.lengths)
        self._tell()

    def _clear_modes(self) -> None:
        for mode in self._modes:
            mode.remove()
        self._modes, self._modes_text.content = [], ''

    def _tell(self) -> None:
        self._text.content = self.describe()

    def describe(self) -> str:
        """Return, in Markdown, lengths, forces, singular value and limits of the ghost's pose."""
        forces = self._forces()
        geometry = self._geometry
        lines = ['| leg | length | force at rest |', '| --- | --- | --- |']
        lines += [f'| {as_text(name)} | {length:.4f} {leg.unit} | {force} |'
                  for name, length, leg, force in zip(
                      geometry.leg_names, self.lengths, geometry.leg_types, forces)]
        units = np.array([geometry.characteristic_length] * 3 + [1.0] * 3)
        values = np.linalg.svd(length_jacobian(geometry, self.pose) / units, compute_uv=False)
        sign, limits = self._judged()
        lines += ['', f'Singular values {", ".join(f"{value:.4f}" for value in values[:-1])}.',
                  f'Smallest singular value {values[-1]:.4f}{sign}.']
        return '\n'.join(lines + [f'- **beyond its limit: {as_text(limit)}**' for limit in limits])

    def _judged(self) -> tuple[str, list[str]]:
        """Return the determinant's sign, to be read, of six legs, and the limits exceeded."""
        state = self._meter.measure(self.pose)
        sign = 'positive' if state.determinant_sign > 0 else 'negative'
        return '' if self._geometry.redundant else f', determinant {sign}', state.exceeded_limits()

    def _forces(self) -> list[str]:
        """Return the drive forces that hold the platform at rest, to be read."""
        if self._dynamics is None:
            return ['no masses'] * len(self.lengths)
        try:
            motion = self._dynamics.inverse(self.pose, np.zeros(6), np.zeros(6))
        except LiedynError:
            return ['singular'] * len(self.lengths)
        return [f'{force:.2f} {"N m" if leg.unit == "rad" else "N"}' for force, leg in zip(
            motion.forces.tolist(), self._geometry.leg_types)]

    def find_modes(self) -> None:
        """Show every other pose of the ghost's leg lengths; a new machine takes seconds."""
        self._modes_text.content = '*searching; the first time takes longer*'
        lengths = self.lengths.copy()
        try:
            found = AssemblyModeSolver(self._geometry).solve(lengths)
        except LiedynError as error:
            self._modes_text.content = f'**{as_text(error)}**'
            return
        with self._lock:
            if not np.array_equal(lengths, self.lengths):  # moved meanwhile
                self._modes_text.content = ''
                return
            self._clear_modes()
            self._modes = [PlatformFigure(
                self._server.scene, f'What if/assembly modes/{k + 1}', self._geometry, self._home,
                MODE) for k in range(len(found.modes))]
            for figure, mode in zip(self._modes, found.modes):
                figure.move(mode.pose, lengths)
            defect = f' {as_text(found.defect)}' if found.defect else ''
            self._modes_text.content = f'{len(found.modes)} assembly modes.{defect}'
