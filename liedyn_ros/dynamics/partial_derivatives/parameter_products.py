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
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, require_finite
from liedyn_ros.dynamics.constants import Constants
from liedyn_ros.dynamics.inputs import borrowed, copied, known, refuse, stop
from liedyn_ros.dynamics.kernels.aba import DONE
from liedyn_ros.dynamics.partial_derivatives.kernels import hybrid_products, parameter_products
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import (
    FIRST, GROUND, JOINT_WIDTH, ON, PART_WIDTH)
from liedyn_ros.dynamics.partial_derivatives.parameters import (
    Parameters, require_parameters, shapes_of)
from liedyn_ros.dynamics.partial_derivatives.tables import PartialTables
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import Model
from liedyn_ros.model.inertia import stacked_parameters

Rates = tuple[ArrayLike, ArrayLike, ArrayLike]  # dq, dv and what is given besides
Mask = NDArray[np.bool_]


class ParameterProducts:
    """
    Products of inverse and hybrid dynamics with changes of parameters.

    Forward dynamics is the hybrid one that prescribes nothing. Arrays are those of the calls;
    errors too, and LiedynError or ShapeError for parameters of another kind or model.
    """

    def __init__(self, constants: Constants) -> None:
        """Make room."""
        self._model, self._nv = constants.model, constants.model.nv
        self._shapes, self._no_wrenches = shapes_of(self._model), np.empty((0, 6))
        room, (joints, bodies) = PartialTables(constants), carried_bodies(constants.model)
        tables = (
            constants.table, room.data, room.products, np.zeros((constants.links, PART_WIDTH)),
            np.zeros((len(bodies), 6)), joints, bodies, float(constants.dissipation))
        self._inverse = BoundKernel(parameter_products.inverse_product, *tables)
        self._inverse_transposed = BoundKernel(
            parameter_products.inverse_product_transposed, *tables)
        self._hybrid = BoundKernel(hybrid_products.hybrid_product, *tables)
        self._hybrid_transposed = BoundKernel(hybrid_products.hybrid_product_transposed, *tables)

    def inverse_product(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                        external: ArrayLike | None, direction: Rates, change: Parameters) -> Array:
        """Return how tau varies along dq, dv, da and changes of parameters."""
        require_parameters(change, self._model, self._shapes)
        out, wrenches = np.empty(self._nv), self._no_wrenches if external is None else external
        if self._inverse.attempt(q, v, a, wrenches, *direction, *change.of_tree, out):
            return out
        q, v, a, wrenches = self._state(q, v, a, external)
        rates = self._rates(('dq', 'dv', 'da'), direction)
        if not self._inverse(q, v, a, wrenches, *rates.values(), *change.of_tree, out):
            require_finite('parameters', change.vector)
            refuse(self._model, '', q, v=v, a=a, **rates, external=wrenches)
        return out

    def inverse_gradient(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                         external: ArrayLike | None, y: ArrayLike, gradient: Parameters
                         ) -> tuple[Array, Array, Array]:
        """Return the gradient of y . tau by q, v and a, and write that by parameters."""
        require_parameters(gradient, self._model, self._shapes)
        by_q, by_v, by_a = np.empty((3, self._nv))
        wrenches = self._no_wrenches if external is None else external
        gradient.of_closures[:] = 0.0
        if self._inverse_transposed.attempt(
                q, v, a, wrenches, y, by_q, by_v, by_a, *gradient.of_tree):
            return by_q, by_v, by_a
        q, v, a, wrenches = self._state(q, v, a, external)
        y = borrowed('y', y, (self._nv,))
        if not self._inverse_transposed(
                q, v, a, wrenches, y, by_q, by_v, by_a, *gradient.of_tree):
            refuse(self._model, '', q, v=v, a=a, y=y, external=wrenches)
        return by_q, by_v, by_a

    def hybrid_product(self, q: ArrayLike, v: ArrayLike, prescribed: Mask, a: Array,
                       tau: ArrayLike, external: ArrayLike | None, direction: Rates,
                       names: tuple[str, str, str], change: Parameters) -> tuple[Array, Array]:
        """Complete a, and return how a and tau vary along a direction, whose parts have names."""
        require_parameters(change, self._model, self._shapes)
        tau, (da, dtau) = copied('tau', tau, (self._nv,)), np.empty((2, self._nv))
        wrenches, out = self._no_wrenches if external is None else external, (da, dtau)
        if self._hybrid.attempt(q, v, prescribed, a, tau, wrenches, *direction, *change.of_tree,
                                *out) == DONE:
            return out
        q, v, a, wrenches = self._state(q, v, a, external)
        rates = self._rates(names, direction)
        code = self._hybrid(q, v, prescribed, a, tau, wrenches, *rates.values(), *change.of_tree,
                            *out)
        if code != DONE:
            require_finite('parameters', change.vector)
            stop(self._model, code, '', q, v=v, **known(prescribed, a, tau), **rates,
                 external=wrenches)
        return out

    def hybrid_gradient(self, q: ArrayLike, v: ArrayLike, prescribed: Mask, a: Array,
                        tau: ArrayLike, external: ArrayLike | None, y: ArrayLike,
                        gradient: Parameters) -> tuple[Array, Array, Array, Array, Array]:
        """Return a, tau and the gradient by q, v and what is given; write that by parameters."""
        require_parameters(gradient, self._model, self._shapes)
        tau, (by_q, by_v, by_given, *room) = copied('tau', tau, (self._nv,)), np.empty(
            (5, self._nv))
        wrenches = self._no_wrenches if external is None else external
        out = by_q, by_v, by_given, *gradient.of_tree, *room
        gradient.of_closures[:] = 0.0
        if self._hybrid_transposed.attempt(q, v, prescribed, a, tau, wrenches, y, *out) == DONE:
            return a, tau, by_q, by_v, by_given
        q, v, a, wrenches = self._state(q, v, a, external)
        y = borrowed('y', y, (self._nv,))
        code = self._hybrid_transposed(q, v, prescribed, a, tau, wrenches, y, *out)
        if code != DONE:
            stop(self._model, code, '', q, v=v, **known(prescribed, a, tau), y=y,
                 external=wrenches)
        return a, tau, by_q, by_v, by_given

    def _state(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None
               ) -> tuple[Array, Array, Array, Array]:
        wrenches = self._no_wrenches if external is None else borrowed(
            'external', external, (len(self._model.bodies), 6))
        return (borrowed('q', q, (self._model.nq,)), borrowed('v', v, (self._nv,)),
                borrowed('a', a, (self._nv,)), wrenches)

    def _rates(self, names: tuple[str, str, str], direction: Rates) -> dict[str, Array]:
        return {name: borrowed(name, x, (self._nv,)) for name, x in zip(names, direction)}


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
