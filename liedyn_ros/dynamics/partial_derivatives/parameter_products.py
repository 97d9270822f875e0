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

"""Products by parameters of trees: the kernels, bound to the tables of one model."""

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array, require_finite
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constants import Constants
from liedyn_ros.dynamics.inputs import known, refuse, stop
from liedyn_ros.dynamics.kernels.aba import DONE
from liedyn_ros.dynamics.partial_derivatives.kernels import hybrid_products, parameter_products
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import (
    FIRST, GROUND, JOINT_WIDTH, ON, PART_WIDTH)
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.dynamics.partial_derivatives.tables import PartialTables
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import Model
from liedyn_ros.model.inertia import stacked_parameters

State = tuple[Array, Array, Array, Array]


class ParameterProducts:
    """
    Products of inverse and hybrid dynamics with changes of parameters.

    State is q, v, a and external wrenches as kernels take them. Forward dynamics is the hybrid one
    that prescribes nothing. Raises LiedynError for parameters of another kind or model.
    """

    def __init__(self, constants: Constants) -> None:
        """Make room."""
        self._model, self._nv = constants.model, constants.model.nv
        room, (joints, bodies) = PartialTables(constants), carried_bodies(constants.model)
        tables = (
            constants.table, room.data, room.products, np.zeros((constants.links, PART_WIDTH)),
            np.zeros((len(bodies), 6)), joints, bodies, float(constants.dissipation))
        self._inverse = BoundKernel(parameter_products.inverse_product, *tables)
        self._inverse_transposed = BoundKernel(
            parameter_products.inverse_product_transposed, *tables)
        self._hybrid = BoundKernel(hybrid_products.hybrid_product, *tables)
        self._hybrid_transposed = BoundKernel(hybrid_products.hybrid_product_transposed, *tables)

    def inverse_product(self, state: State, direction: tuple[Array, Array, Array],
                        change: Parameters) -> Array:
        """Return how tau varies along dq, dv, da and changes of parameters."""
        self._require(change)
        out = np.empty(self._nv)
        if not self._inverse(*state, *direction, *change.tables, out):
            self._require_finite(change)
            q, v, a, external = state
            dq, dv, da = direction
            refuse(self._model, '', q, v=v, a=a, dq=dq, dv=dv, da=da, external=external)
        return out

    def inverse_gradient(self, state: State, y: Array, gradient: Parameters
                         ) -> tuple[Array, Array, Array]:
        """Return the gradient of y . tau by q, v and a, and write that by parameters."""
        self._require(gradient)
        by_q, by_v, by_a = np.empty((3, self._nv))
        if not self._inverse_transposed(*state, y, by_q, by_v, by_a, *gradient.tables):
            q, v, a, external = state
            refuse(self._model, '', q, v=v, a=a, y=y, external=external)
        gradient.of_closures[:] = 0.0
        return by_q, by_v, by_a

    def hybrid_product(self, state: State, prescribed: NDArray[np.bool_], tau: Array,
                       direction: tuple[Array, Array, Array], change: Parameters | None
                       ) -> tuple[Array, Array]:
        """Return how a and tau vary along dq, dv, what is given and changes of parameters."""
        change = Parameters(self._model) if change is None else change
        self._require(change)
        (q, v, a, external), (dq, dv, given) = state, direction
        found, (da, dtau) = (a.copy(), tau.copy()), np.empty((2, self._nv))
        code = self._hybrid(q, v, prescribed, *found, external, dq, dv, given, *change.tables, da,
                            dtau)
        if code != DONE:
            self._require_finite(change)
            stop(self._model, code, '', q, v=v, **known(prescribed, a, tau), dq=dq, dv=dv,
                 given=given, external=external)
        return da, dtau

    def hybrid_gradient(self, state: State, prescribed: NDArray[np.bool_], tau: Array, y: Array,
                        gradient: Parameters | None) -> tuple[Array, Array, Array, Array, Array]:
        """Return a, tau and the gradient by q, v and what is given; write that by parameters."""
        gradient = Parameters(self._model) if gradient is None else gradient
        self._require(gradient)
        q, v, a, external = state
        found, (by_q, by_v, by_given, *room) = (a.copy(), tau.copy()), np.empty((5, self._nv))
        code = self._hybrid_transposed(q, v, prescribed, *found, external, y, by_q, by_v, by_given,
                                       *gradient.tables, *room)
        if code != DONE:
            stop(self._model, code, '', q, v=v, **known(prescribed, a, tau), y=y,
                 external=external)
        gradient.of_closures[:] = 0.0
        return *found, by_q, by_v, by_given

    def _require(self, parameters: Parameters) -> None:
        require_parameters(parameters, self._model)

    def _require_finite(self, change: Parameters) -> None:
        require_finite('parameters', change.vector)


def require_parameters(parameters: Parameters, model: Model) -> None:
    """Raise LiedynError or ShapeError unless these are the parameters of a model of this size."""
    if not isinstance(parameters, Parameters):
        raise LiedynError(f'parameters: expected Parameters, got {type(parameters).__name__}')
    parameters.require(model)


def carried_bodies(model: Model) -> tuple[NDArray[np.int64], Array]:
    """Return first links of joints and bodies before them, inertias (B, 10) in their links."""
    table, index = model.link_table, {name: b for b, name in enumerate(model.bodies)}
    joints = np.zeros((len(index), JOINT_WIDTH), dtype=np.int64)
    for b, joint in enumerate(model.joint_list):
        joints[b, ON] = GROUND if joint.parent is None else index[joint.parent]
        if joint.v_slice.start != joint.v_slice.stop:
            joints[b, FIRST] = 1 + int(np.flatnonzero(table.vi == joint.v_slice.start)[0])
    bodies, poses = np.zeros((len(index), 10)), np.zeros((len(index), 4, 4))
    poses[:, :3, :3] = table.body_placement[:, :9].reshape(-1, 3, 3)
    poses[:, :3, 3], poses[:, 3, 3] = table.body_placement[:, 9:], 1.0
    heavy = [b for b, body in enumerate(model.body_list) if body.inertia is not None]
    bodies[heavy] = stacked_parameters(
        [body.inertia for body in model.body_list if body.inertia is not None], poses[heavy])
    return joints, bodies
