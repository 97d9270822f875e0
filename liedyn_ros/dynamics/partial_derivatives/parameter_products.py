# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""JVP and VJP of trees by all parameters: the kernels, bound to the tables of one model."""


import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.partial_derivatives.kernels import (
    parameter_products, parameters as kernels)
from liedyn_ros.dynamics.partial_derivatives.many_states import ScratchBuffers
from liedyn_ros.dynamics.partial_derivatives.parameters import shapes_of
from liedyn_ros.dynamics.tree.constants import Arguments, Constants
from liedyn_ros.jit.bound_kernel import CheckedKernel
from liedyn_ros.jit.simd import LANES
from liedyn_ros.model import Model
from liedyn_ros.model.expansion import LinkTable
from liedyn_ros.model.kernels import kinds
from liedyn_ros.model.parts.body import stacked_parameters

_ROWS = {'inverse': parameter_products.inverse_parameter_rows,
         'forward': parameter_products.forward_parameter_rows}
_KERNELS = {  # the state, the direction, the code of success, product and gradient
    'inverse': ('q v a external', 'dq dv da', True, parameter_products.inverse_parameter_product,
                parameter_products.inverse_parameter_product_transposed),
    'forward': ('q v tau external', 'dq dv dtau', DONE,
                parameter_products.forward_parameter_product,
                parameter_products.forward_parameter_product_transposed),
    'hybrid': ('q v prescribed a tau external', 'dq dv given', DONE,
               parameter_products.hybrid_product, parameter_products.hybrid_product_transposed)}


class ParameterProducts:
    """
    The kernels of inverse, forward or hybrid dynamics for the JVP and VJP by all parameters.

    product takes the state, the direction, the change of all parameters, and the result. gradient
    takes the state, y, the rows of the result, and the gradient by parameters, which it writes.
    rows, of inverse and forward dynamics, takes y and a gradient as scratch buffers, where the
    part of bodies begins in it, and the result.
    Parameters are the vectors of vector_of with these shapes. bodies is the table of
    kernels.parameters that they read.

    >>> isinstance(robot.inverse.partial_derivatives.parameter_kernels, ParameterProducts)
    True
    """

    def __init__(self, constants: Constants, dynamics: str) -> None:
        """Bind the kernels of 'inverse', 'forward' or 'hybrid' to scratch buffers."""
        self.shapes = shapes_of(constants.model)
        state, direction, done, product, gradient = _KERNELS[dynamics]
        tables = constants.table, scratch_of(constants)
        shape = table_of_bodies(constants.model).shape
        self.bodies = tables[1][:shape[0] * shape[1]].reshape(shape)
        self.product = CheckedKernel(Arguments(
            constants.model, f'{state} {direction} parameters', done=done), product, *tables)
        self.gradient = CheckedKernel(
            Arguments(constants.model, f'{state} y', done=done), gradient, *tables)
        if dynamics in _ROWS:
            self.rows = CheckedKernel(
                Arguments(constants.model, f'{state} y', done=done), _ROWS[dynamics], *tables)


def scratch_of(constants: Constants) -> Array:
    """Return the scratch buffers of kernels.parameter_products, one after the other."""
    tables, bodies = ScratchBuffers(constants), table_of_bodies(constants.model)
    parts = bodies, tables.products, tables.data, np.array([float(constants.dissipation)])
    ends = np.cumsum([part.size for part in parts])
    scratch = on_lines(ends[-1])
    for part, place in zip(parts, np.split(scratch, ends[:-1])):
        place[:] = part.ravel()
    return scratch


def on_lines(size: int) -> Array:
    """Return zeros that begin with a line of the cache, so that no eight of them cross two."""
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
    table.view(np.int64)[kernels.FIRST_LINK, b] = first + 1
    turn: Array = links.body_placement[b, :9].reshape(3, 3)
    i = links.body_link[b]
    while i != links.parent[first]:
        turn, i = links.placement[i, :9].reshape(3, 3) @ turn, links.parent[i]
    table[kernels.JOINT_POSE:kernels.JOINT_POSE + 9, b] = turn.ravel()
    table[kernels.JOINT_POSE + 9:kernels.JOINT_POSE + 12, b] = links.placement[first, 9:]
    kind = links.kind[first]
    has_axis = kinds.NV_OF_KIND[kind] == 1
    table[kernels.HAS_AXIS, b] = has_axis
    table[kernels.HAS_PITCH, b] = has_axis and bool(
        kinds.TURNS_OF_KIND[kind] and kinds.MOVES_OF_KIND[kind])
