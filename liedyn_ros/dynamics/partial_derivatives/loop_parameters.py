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

"""Products by parameters of machines with closed loops: what their kernels take besides."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.kernels.tables import DATA_WIDTH
from liedyn_ros.dynamics.partial_derivatives.kernels import loop_parameters as kernels
from liedyn_ros.dynamics.partial_derivatives.kernels.closure_rows import FIELD
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import PART_WIDTH
from liedyn_ros.dynamics.partial_derivatives.parameter_products import carried_bodies
from liedyn_ros.dynamics.partial_derivatives.parameters import (
    Parameters, require_parameters, shapes_of)
from liedyn_ros.model import Model


class LoopParameters:
    """
    Parameters as a change or as a gradient, around a kernel that follows a call of the dynamics.

    extra is what that kernel takes, None where no parameters are asked. Raises LiedynError
    or ShapeError for parameters of another kind or model.
    """

    def __init__(self, dynamics: ConstrainedDynamics, q: ArrayLike, external: ArrayLike | None,
                 parameters: Parameters | None) -> None:
        """Check them, and make room."""
        self._dynamics, self._parameters = dynamics, parameters
        self.extra: kernels.Extra | None = None
        if parameters is None:
            return
        model, bodies = dynamics.model, len(dynamics.model.bodies)
        require_parameters(parameters, model, shapes_of(model))
        self._links, self._shifts = model.link_table.N + 1, np.empty((bodies, 6))
        self._external = np.empty((0, 6)) if external is None else np.array(
            as_array('external', external, (bodies, 6)))
        self.extra = kernels.Extra(
            np.empty((self._links, PART_WIDTH)), np.empty((2 * len(model.closures), 6)),
            parameters.of_closures, parameters.of_coordinates,
            np.array(model.check_configuration(q)), float(dynamics.tree.constants.dissipation))

    def prepare(self) -> kernels.Extra | None:
        """Return what links and frames feel of the change, the dynamics having been called."""
        if self._parameters is not None:
            as_array('parameters', self._parameters.vector, self._parameters.vector.shape)
            kernels.prepare(
                *self._tables(), *_placed(self._dynamics.model), self._external, self._shifts,
                self.extra, self._parameters.ground, self._parameters.of_bodies)
        return self.extra

    def finish(self, table: Array, sign: float, weights: Array) -> None:
        """Write the gradient, whose kernel has been called; weights (nv,) are those of forces."""
        if self._parameters is not None:
            kernels.finish(
                *self._tables(), table, FIELD, *_placed(self._dynamics.model), self._external,
                np.empty((self._links, DATA_WIDTH)), self._shifts, self.extra, sign, weights,
                self._parameters.ground, self._parameters.of_bodies)
            as_array('gradient', self._parameters.vector, self._parameters.vector.shape)

    def _tables(self) -> tuple[Array, Array]:
        return self._dynamics.tree.constants.table, self._dynamics.data.words


@lru_cache(maxsize=16)
def _placed(model: Model) -> tuple[NDArray[np.int64], Array, NDArray[np.int64]]:
    """Return joints and inertias of bodies, and the bodies of frames (2 C,), -1 for the ground."""
    sides = [closure.body_b for closure in model.closures]
    sides += [closure.body_a for closure in model.closures]
    return *carried_bodies(model), np.array(
        [-1 if body is None else model.body_index(body) for body in sides], dtype=np.int64)
