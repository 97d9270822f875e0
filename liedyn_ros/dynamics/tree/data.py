# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Scratch tables of kernels that go from link to link."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.time_derivatives.kernels import series
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.kernels.tables import State, Tree


class Data:
    """Table of one state, and of its time derivatives; undefined between calls."""

    def __init__(self, constants: Constants) -> None:
        """Allocate the tables."""
        self.constants = constants
        self.table = State.table(constants.rows)
        self.series: Array = np.zeros((0, series.SERIES_TABLE_WIDTH))
        # An upward acceleration of the ground stands for gravity. (3.0)
        ground, gravity = self.table[0], Tree.of(constants.table[0], 'gravity')
        State.of(ground, 'acceleration')[3:] = -gravity
        State.of(ground, 'pose')[[0, 4, 8]] = State.of(ground, 'ground_pose')[[0, 4, 8]] = 1.0

    def series_buffer(self, order: int) -> Array:
        """Return a scratch buffer for time derivatives to an order: rows of links and orders."""
        buffer, rows = self.series, self.constants.links * (order + 2)
        if len(buffer) < rows:  # another thread may put a shorter one in its place meanwhile
            buffer = self.series = np.zeros((rows, series.SERIES_TABLE_WIDTH))
        return buffer
