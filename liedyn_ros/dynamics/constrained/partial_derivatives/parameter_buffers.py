# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parameters of machines with closed loops, as the kernels of products and gradients take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.parameters import ParameterArrays
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import PRODUCT_WIDTH
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters, shapes_of, vector_of
from liedyn_ros.dynamics.tree.inputs import kernel_array
from liedyn_ros.dynamics.tree.kernels.tables import DATA_WIDTH


class ParameterBuffers:
    """The scratch buffers of one machine for ParameterArrays, undefined between calls."""

    def __init__(self, constraints: Constraints) -> None:
        """Allocate the buffers."""
        self._model = model = constraints.model
        self._dissipation = float(constraints.tree.constants.dissipation)
        self._no_wrenches = np.empty((0, 6))
        sides = [closure.body_b for closure in model.closures]
        sides += [closure.body_a for closure in model.closures]
        bodies = np.array([-1 if body is None else model.body_index(body) for body in sides],
                          dtype=np.int64)
        links = model.link_table.N + 1
        # Kernels of parameters know the width of their table, which is that of products.
        self._buffers = (np.zeros((links, PRODUCT_WIDTH)), constraints.parameter_bodies,
                         np.zeros((len(sides), 6)), bodies, np.zeros((links, DATA_WIDTH)))

    def arrays(self, q: ArrayLike, external: ArrayLike | None, parameters: Parameters
               ) -> ParameterArrays:
        """Return the arrays of kernels, or raise LiedynError or ShapeError for another model."""
        model = self._model
        vector = vector_of(parameters, model, shapes_of(model))
        wrenches = self._no_wrenches if external is None else kernel_array(
            'external', external, (len(model.bodies), 6))
        return ParameterArrays(
            *self._buffers, parameters.ground, parameters.of_coordinates, parameters.of_bodies,
            parameters.of_closures, vector, kernel_array('q', q, (model.nq,)), wrenches,
            self._dissipation)
