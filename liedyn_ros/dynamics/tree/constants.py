# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The constants of a model, as kernels read them."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.model import Frame, Model


class Constants:
    """
    The constants of a model in one table (kernels.tables) that nothing changes.

    Threads, and any number of Data, share it. Without dissipation, damping and Coulomb friction
    are zero. All that has a mass in it is mass_unit times the number in SI units. view is
    read-only; kernels are given table itself, the same memory, as numba takes longer to call with
    an array that is marked as read-only.
    """

    table: Array
    view: Array

    def __init__(self, model: Model, dissipation: bool = True, mass_unit: float = 1.0) -> None:
        """Lay out the table of a model."""
        self.model, self.dissipation, self._mass_unit = model, dissipation, mass_unit
        links, bodies = model.link_table, len(model.bodies)
        self.links, self.rows = links.N + 1, links.N + 1 + links.nv  # rows of data
        self.table = np.zeros((self.rows + len(model.frames), tables.MODEL_WIDTH))
        whole = self.table.view(np.int64)
        whole[0, [tables.LINKS, tables.NQ, tables.NV, tables.BODIES]] = (
            self.links, links.nq, links.nv, bodies)
        self.table[0, tables.GRAVITY:tables.GRAVITY + 3] = links.gravity
        link, body = slice(1, self.links), slice(self.rows, self.rows + bodies)
        whole[link, tables.KIND] = links.kind
        whole[link, tables.PARENT] = links.parent + 1
        whole[link, tables.QI] = links.qi
        whole[link, tables.VI] = links.vi
        self.table[link, tables.PLACEMENT:tables.PLACEMENT + 12] = links.placement
        self.table[link, tables.INERTIA:tables.INERTIA + 10] = mass_unit * links.inertia
        self.table[link, tables.PITCH] = links.pitch
        if dissipation:
            self.table[self.links:self.rows, tables.DAMPING] = mass_unit * links.damping
            self.table[self.links:self.rows, tables.FRICTION] = mass_unit * links.friction
        coordinate = slice(self.links, self.rows)
        self.table[coordinate, tables.STIFFNESS] = mass_unit * links.stiffness
        self.table[coordinate, tables.REST] = links.rest
        self.table[coordinate, tables.ARMATURE] = mass_unit * links.armature
        stops = np.clip(links.stops, -tables.FAR, tables.FAR)
        stops[:, 0] *= mass_unit
        self.table[coordinate, tables.STOP_STIFFNESS:tables.STOP_UPPER + 1] = stops
        whole[coordinate, tables.POSITION_AT] = links.position_at
        whole[0, tables.LOADED_JOINTS] = (
            links.stiffness.any() or links.armature.any() or links.stops.any())
        whole[body, tables.CARRIER] = links.body_link + 1
        self.table[body, tables.PLACEMENT:tables.PLACEMENT + 12] = links.body_placement
        for row, frame in enumerate(model.frame_list, self.rows + bodies):
            self._place_frame(row, frame)
        self.view = self.table.view()
        self.view.setflags(write=False)

    def _place_frame(self, row: int, frame: Frame) -> None:
        """Write the row of a frame that is not a body's."""
        placement = frame.placement
        if frame.body is not None:
            self.table.view(np.int64)[row, tables.CARRIER] = self.row(frame.body)
            placement = self.placement(frame.body) @ placement
        self.table[row, tables.PLACEMENT:tables.PLACEMENT + 9] = placement[:3, :3].ravel()
        self.table[row, tables.PLACEMENT + 9:tables.PLACEMENT + 12] = placement[:3, 3]

    def __reduce__(self) -> tuple[type['Constants'], tuple[Model, bool, float]]:
        """Copy, or pickle, by laying them out again."""
        return Constants, (self.model, self.dissipation, self._mass_unit)

    @property
    def damping(self) -> Array:
        """Return the damping of the velocity coordinates (nv,), N m s/rad or N s/m."""
        return self.view[self.links:self.rows, tables.DAMPING]

    @property
    def friction(self) -> Array:
        """Return the Coulomb friction of the velocity coordinates (nv,), N m or N."""
        return self.view[self.links:self.rows, tables.FRICTION]

    def row(self, frame: str) -> int:
        """Return the row of the link that carries a frame, 0 for the ground, or ModelError."""
        row = self.rows + self.model.frame_index(frame)
        return int(self.table.view(np.int64)[row, tables.CARRIER])

    def placement(self, frame: str) -> Array:
        """Return the constant pose (4, 4) of a frame in the link that carries it."""
        return homogeneous(
            self.table[self.rows + self.model.frame_index(frame)], tables.PLACEMENT)

    def parent(self, row: int) -> int:
        """Return the row of the parent of a link."""
        return int(self.table.view(np.int64)[row, tables.PARENT])


def homogeneous(row: Array, column: int) -> Array:
    """Return the pose (4, 4) in twelve columns of a row: rotation row by row, translation."""
    pose = np.eye(4)
    pose[:3, :3] = row[column:column + 9].reshape(3, 3)
    pose[:3, 3] = row[column + 9:column + 12]
    return pose
