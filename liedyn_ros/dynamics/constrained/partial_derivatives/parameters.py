# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Products by parameters of machines with closed loops: what their kernels take besides."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.while_it_lives import while_it_lives
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.parameters import Extra
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import PART_WIDTH
from liedyn_ros.dynamics.partial_derivatives.parameter_products import table_of_bodies
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters, shapes_of, vector_of
from liedyn_ros.dynamics.tree.inputs import borrowed
from liedyn_ros.dynamics.tree.kernels.tables import DATA_WIDTH

_NO_WRENCHES = np.empty((0, 6))


def extra_of(dynamics: ConstrainedDynamics, q: ArrayLike, external: ArrayLike | None,
             parameters: Parameters | None) -> Extra | None:
    """
    Return what kernels of products take of parameters, None where none are asked.

    Raises LiedynError or ShapeError for parameters of another kind or model.
    """
    if parameters is None:
        return None
    model = dynamics.model
    vector = vector_of(parameters, model, shapes_of(model))
    wrenches = _NO_WRENCHES if external is None else borrowed(
        'external', external, (len(model.bodies), 6))
    return Extra(
        *_room(dynamics), parameters.ground, parameters.of_coordinates, parameters.of_bodies,
        parameters.of_closures, vector, borrowed('q', q, (model.nq,)), wrenches,
        float(dynamics.tree.constants.dissipation))


@while_it_lives
def _room(dynamics: ConstrainedDynamics) -> tuple[Array, Array, Array, NDArray[np.int64], Array]:
    """Return the first five of Extra, whose content belongs to nobody after a call."""
    model = dynamics.model
    sides = [closure.body_b for closure in model.closures]
    sides += [closure.body_a for closure in model.closures]
    bodies = np.array([-1 if body is None else model.body_index(body) for body in sides],
                      dtype=np.int64)
    links = model.link_table.N + 1
    return (np.zeros((links, PART_WIDTH)), table_of_bodies(model), np.zeros((len(sides), 6)),
            bodies, np.zeros((links, DATA_WIDTH)))
