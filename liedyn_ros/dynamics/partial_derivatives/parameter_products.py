# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Products by parameters of trees: the kernels, bound to the tables of one model."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, require_finite
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.partial_derivatives.kernels import (
    hybrid_products, parameter_products, parameters as kernels)
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters, shapes_of, vector_of
from liedyn_ros.dynamics.partial_derivatives.tables import PartialTables
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.inputs import borrowed, copied, known, refuse, stop
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.jit.simd import LANES
from liedyn_ros.model import Model
from liedyn_ros.model.inertia import stacked_parameters
from liedyn_ros.model.kernels import kinds
from liedyn_ros.model.link_table import LinkTable

Rates = tuple[ArrayLike, ArrayLike, ArrayLike]  # dq, dv and what is given besides
Mask = NDArray[np.bool_]


class ParameterProducts:
    """
    Products of inverse, forward and hybrid dynamics with changes of parameters.

    Arrays are those of the calls; errors too, and LiedynError or ShapeError for parameters of
    another kind or model.
    """

    def __init__(self, constants: Constants) -> None:
        """Make room."""
        self._model, self._nv = constants.model, constants.model.nv
        self._shapes, self._no_wrenches = shapes_of(self._model), np.empty((0, 6))
        tables = constants.table, room_of(constants)
        self._inverse = BoundKernel(parameter_products.inverse_product, *tables)
        self._inverse_transposed = BoundKernel(
            parameter_products.inverse_product_transposed, *tables)
        self._forward = BoundKernel(parameter_products.forward_product, *tables)
        self._forward_transposed = BoundKernel(
            parameter_products.forward_product_transposed, *tables)
        self._hybrid = BoundKernel(hybrid_products.hybrid_product, *tables)
        self._hybrid_transposed = BoundKernel(hybrid_products.hybrid_product_transposed, *tables)

    def inverse_product(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                        external: ArrayLike | None, direction: Rates, change: Parameters) -> Array:
        """Return how tau varies along dq, dv, da and changes of parameters."""
        vector = vector_of(change, self._model, self._shapes)
        out, wrenches = np.empty(self._nv), self._no_wrenches if external is None else external
        if self._inverse.attempt(q, v, a, wrenches, *direction, vector, out):
            return out
        q, v, a, wrenches = self._state(q, v, a, external)
        rates = self._rates(('dq', 'dv', 'da'), direction)
        if not self._inverse(q, v, a, wrenches, *rates.values(), vector, out):
            require_finite('parameters', vector)
            refuse(self._model, '', q, v=v, a=a, **rates, external=wrenches)
        return out

    def inverse_gradient(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                         external: ArrayLike | None, y: ArrayLike, gradient: Parameters
                         ) -> tuple[Array, Array, Array]:
        """Return the gradient of y . tau by q, v and a, and write that by parameters."""
        vector = vector_of(gradient, self._model, self._shapes)
        by = np.empty((3, self._nv))
        wrenches = self._no_wrenches if external is None else external
        if self._inverse_transposed.attempt(q, v, a, wrenches, y, by, vector):
            return by[0], by[1], by[2]  # in half the time of an iteration
        q, v, a, wrenches = self._state(q, v, a, external)
        y = borrowed('y', y, (self._nv,))
        if not self._inverse_transposed(q, v, a, wrenches, y, by, vector):
            refuse(self._model, '', q, v=v, a=a, y=y, external=wrenches)
        return by[0], by[1], by[2]

    def forward_product(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                        external: ArrayLike | None, direction: Rates, change: Parameters) -> Array:
        """Return how a varies along dq, dv, dtau and changes of parameters."""
        vector = vector_of(change, self._model, self._shapes)
        out = np.empty((2, self._nv))
        wrenches = self._no_wrenches if external is None else external
        if self._forward.attempt(
                q, v, tau, wrenches, *direction, vector, out) == DONE:
            return out[1]
        q, v, tau, wrenches = self._state(q, v, tau, external, 'tau')
        rates = self._rates(('dq', 'dv', 'dtau'), direction)
        code = self._forward(q, v, tau, wrenches, *rates.values(), vector, out)
        if code != DONE:
            require_finite('parameters', vector)
            stop(self._model, code, '', q, v=v, tau=tau, **rates, external=wrenches)
        return out[1]

    def forward_gradient(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                         external: ArrayLike | None, y: ArrayLike, gradient: Parameters
                         ) -> tuple[Array, Array, Array, Array]:
        """Return a and the gradient by q, v and tau, and write that by parameters."""
        vector = vector_of(gradient, self._model, self._shapes)
        by = np.empty((4, self._nv))
        wrenches = self._no_wrenches if external is None else external
        if self._forward_transposed.attempt(
                q, v, tau, wrenches, y, by, vector) == DONE:
            return by[0], by[1], by[2], by[3]
        q, v, tau, wrenches = self._state(q, v, tau, external, 'tau')
        y = borrowed('y', y, (self._nv,))
        code = self._forward_transposed(q, v, tau, wrenches, y, by, vector)
        if code != DONE:
            stop(self._model, code, '', q, v=v, tau=tau, y=y, external=wrenches)
        return by[0], by[1], by[2], by[3]

    def hybrid_product(self, q: ArrayLike, v: ArrayLike, prescribed: Mask, a: Array,
                       tau: ArrayLike, external: ArrayLike | None, direction: Rates,
                       change: Parameters) -> tuple[Array, Array]:
        """Complete a, and return how a and tau vary along dq, dv and what is given besides."""
        vector = vector_of(change, self._model, self._shapes)
        tau, out = copied('tau', tau, (self._nv,)), np.empty((2, self._nv))
        wrenches = self._no_wrenches if external is None else external
        if self._hybrid.attempt(q, v, prescribed, a, tau, wrenches, *direction, vector,
                                out) == DONE:
            return out[0], out[1]
        q, v, a, wrenches = self._state(q, v, a, external)
        rates = self._rates(('dq', 'dv', 'given'), direction)
        code = self._hybrid(q, v, prescribed, a, tau, wrenches, *rates.values(), vector,
                            out)
        if code != DONE:
            require_finite('parameters', vector)
            stop(self._model, code, '', q, v=v, **known(prescribed, a, tau), **rates,
                 external=wrenches)
        return out[0], out[1]

    def hybrid_gradient(self, q: ArrayLike, v: ArrayLike, prescribed: Mask, a: Array,
                        tau: ArrayLike, external: ArrayLike | None, y: ArrayLike,
                        gradient: Parameters) -> tuple[Array, Array, Array, Array, Array]:
        """Return a, tau and the gradient by q, v and what is given; write that by parameters."""
        vector = vector_of(gradient, self._model, self._shapes)
        tau, by = copied('tau', tau, (self._nv,)), np.empty((5, self._nv))
        wrenches = self._no_wrenches if external is None else external
        if self._hybrid_transposed.attempt(
                q, v, prescribed, a, tau, wrenches, y, by, vector) == DONE:
            return a, tau, by[0], by[1], by[2]
        q, v, a, wrenches = self._state(q, v, a, external)
        y = borrowed('y', y, (self._nv,))
        code = self._hybrid_transposed(
            q, v, prescribed, a, tau, wrenches, y, by, vector)
        if code != DONE:
            stop(self._model, code, '', q, v=v, **known(prescribed, a, tau), y=y,
                 external=wrenches)
        return a, tau, by[0], by[1], by[2]

    def _state(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None,
               name: str = 'a') -> tuple[Array, Array, Array, Array]:
        wrenches = self._no_wrenches if external is None else borrowed(
            'external', external, (len(self._model.bodies), 6))
        return (borrowed('q', q, (self._model.nq,)), borrowed('v', v, (self._nv,)),
                borrowed(name, a, (self._nv,)), wrenches)

    def _rates(self, names: tuple[str, str, str], direction: Rates) -> dict[str, Array]:
        return {name: borrowed(name, x, (self._nv,)) for name, x in zip(names, direction)}


def room_of(constants: Constants) -> Array:
    """Return the tables that the kernels of kernels.parameter_products work on, one by one."""
    tables, bodies = PartialTables(constants), table_of_bodies(constants.model)
    parts = bodies, tables.products, tables.data, np.array([float(constants.dissipation)])
    ends = np.cumsum([part.size for part in parts])
    room = on_lines(ends[-1])
    for part, place in zip(parts, np.split(room, ends[:-1])):
        place[:] = part.ravel()
    return room


def on_lines(size: int) -> Array:
    """Return zeros that begin where a line of the cache does, so that no eight cross two."""
    zeros = np.zeros(size + LANES)
    first = -(zeros.ctypes.data // zeros.itemsize) % LANES
    return zeros[first:first + size]


def table_of_bodies(model: Model) -> Array:
    """Return the table of kernels.parameters, whose constants are those of a model."""
    links, index = model.link_table, {name: b for b, name in enumerate(model.bodies)}
    width = -(-max(len(index), 1) // LANES) * LANES
    table = np.zeros((kernels.TABLE_ROWS, width))
    whole, count = table.view(np.int64), len(index)
    whole[kernels.ON], whole[kernels.ITSELF] = width, np.minimum(range(width), count - 1)
    whole[kernels.LINK, :count] = links.body_link + 1
    for at in (kernels.BODY_POSE, kernels.JOINT_POSE):  # the latter of fixed joints
        table[at:at + 12, :count] = links.body_placement.T
    for b, joint in enumerate(model.joint_list):
        if joint.parent is not None:
            whole[kernels.ON, b] = index[joint.parent]
        if joint.v_slice.start != joint.v_slice.stop:
            _add_joint(links, table, b, int(np.flatnonzero(links.vi == joint.v_slice.start)[0]))
    poses = np.zeros((count, 4, 4))
    poses[:, :3, :3] = links.body_placement[:, :9].reshape(-1, 3, 3)
    poses[:, :3, 3], poses[:, 3, 3] = links.body_placement[:, 9:], 1.0
    heavy = [b for b, body in enumerate(model.body_list) if body.inertia is not None]
    table[kernels.OWN_INERTIA:kernels.OWN_INERTIA + 10, heavy] = stacked_parameters(
        [body.inertia for body in model.body_list if body.inertia is not None], poses[heavy]).T
    return table


def _add_joint(links: LinkTable, table: Array, b: int, first: int) -> None:
    """Write the joint of body b, which moves, with its first link."""
    table.view(np.int64)[kernels.FIRST, b] = first + 1
    turn: Array = links.body_placement[b, :9].reshape(3, 3)
    i = links.body_link[b]
    while i != links.parent[first]:
        turn, i = links.placement[i, :9].reshape(3, 3) @ turn, links.parent[i]
    table[kernels.JOINT_POSE:kernels.JOINT_POSE + 9, b] = turn.ravel()
    table[kernels.JOINT_POSE + 9:kernels.JOINT_POSE + 12, b] = links.placement[first, 9:]
    table[kernels.HAS_AXIS, b] = links.kind[first] < kinds.SPHERICAL
    table[kernels.HAS_PITCH, b] = links.kind[first] == kinds.HELICAL
