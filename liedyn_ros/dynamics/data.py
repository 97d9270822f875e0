# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The tables of one model on which kernels work."""

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.kernels import rows
from liedyn_ros.dynamics.kernels.kinematics import apply_wrenches
from liedyn_ros.model.link_table import Indices, LinkTable


class Workspace:
    """
    Constants of a model and room for results, as the tables of kernels.rows; for one thread.

    topology (N + 1, 4), links (N + 1, WIDTH), coordinates (nv, COORDINATE_WIDTH); body_row (B,)
    and body_placement (B, 12) as in kernels.bodies. Without dissipation, damping and Coulomb
    friction are zero.
    """

    topology: Indices
    links: Array
    coordinates: Array
    body_row: Indices
    body_placement: Array

    def __init__(self, table: LinkTable, dissipation: bool = True) -> None:
        """Fill in the constants."""
        count = table.N + 1
        self.topology = np.zeros((count, 4), dtype=np.int64)
        self.topology[0, [rows.QI, rows.VI]] = table.nq, table.nv
        self.topology[1:, rows.KIND] = table.kind
        self.topology[1:, rows.PARENT] = table.parent + 1
        self.topology[1:, rows.QI] = table.qi
        self.topology[1:, rows.VI] = table.vi
        self.links = np.zeros((count, rows.WIDTH))
        self.links[1:, rows.PLACEMENT:rows.PLACEMENT + 12] = table.placement
        self.links[1:, rows.INERTIA:rows.INERTIA + 10] = table.inertia
        self.links[1:, rows.PITCH] = table.pitch
        # An upward acceleration of the ground stands for gravity. (3.0)
        self.links[0, rows.ACCELERATION + 3:rows.ACCELERATION + 6] = -table.gravity
        self.links[0, rows.GROUND_POSE:rows.GROUND_POSE + 9] = np.eye(3).ravel()
        self.coordinates = np.zeros((table.nv, rows.COORDINATE_WIDTH))
        if dissipation:
            self.coordinates[:, rows.DAMPING] = table.damping
            self.coordinates[:, rows.FRICTION] = table.friction
        self.body_row = table.body_link + 1
        self.body_placement = table.body_placement.copy()

    def prescribe(self, mask: NDArray[np.bool_] | bool) -> None:
        """Mark the velocity coordinates whose acceleration is given."""
        self.coordinates[:, rows.PRESCRIBED] = mask

    def apply_wrenches(self, external: Array) -> bool:
        """Apply wrenches (B, 6) until they are cleared; return whether they are finite."""
        return bool(apply_wrenches(self.links, self.body_row, self.body_placement, external))

    def clear_wrenches(self) -> None:
        """Remove the applied wrenches."""
        self.links[:, rows.EXTERNAL:rows.EXTERNAL + 6] = 0.0
