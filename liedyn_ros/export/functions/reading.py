# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Functions of the C library that open a model file and prepare a work area, on pointers.

constants are those of a model, work is a work area (kernels/work.py).
"""

from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.dynamics.tree.kernels.tables import Link, State, Tree
from liedyn_ros.export.kernels import work as area
from liedyn_ros.export.kernels.arrays import is_tree
from liedyn_ros.jit.pointers import after, COUNT, NUMBERS, table, vector, WHOLES
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.model.kernels.configuration import is_unit
from liedyn_ros.model.kernels.kinds import NQ_OF_KIND, NV_OF_KIND


def work_size(constants: NUMBERS, order: COUNT) -> COUNT:
    """Return the size of a work area for derivatives to an order, in numbers of eight bytes."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    return area.shared_at(model) + max(area.shared_size(model, order), area.part_size(model))


def prepare(constants: NUMBERS, work: NUMBERS) -> COUNT:
    """Write the constants of all calls into a work area."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    data = table(work, area.data_rows(model), tables.DATA_WIDTH)
    data[:] = 0.0
    ground = State(data, 0)
    # An upward acceleration of the ground stands for gravity. (3.0)
    ground.acceleration = vec3.ZERO, vec3.neg(Tree(model, 0).gravity)
    ground.pose = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), vec3.ZERO
    ground.ground_pose = ground.pose
    vector(after(work, area.zeros_at(model)), area.nv(model))[:] = 0.0
    return DONE


def accepts(constants: NUMBERS, count: COUNT, rows: COUNT, links: WHOLES, links_count: COUNT,
            coordinates: COUNT, frames: COUNT) -> COUNT:
    """Return 0 where constants (rows, width) and links (3, N) are those of a tree."""
    if not (1 <= rows <= count and count == rows * tables.MODEL_WIDTH):
        return 1
    model = table(constants, rows, tables.MODEL_WIDTH)
    if not is_tree(model, rows, coordinates, frames):
        return 1
    number = area.links(model) - 1
    if links_count != 3 * number:
        return 1
    of = table(links, 3, number)
    for i in range(number):
        link = Link(model, i + 1)
        if not (of[0, i] == link.kind and of[1, i] == link.qi and of[2, i] == link.vi):
            return 1
    return 0


def not_unit(constants: NUMBERS, q: NUMBERS) -> COUNT:
    """Return where the coordinates of the first link with no unit quaternion begin, or -1."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    configuration = vector(q, area.nq(model))
    for i in range(1, area.links(model)):
        link = Link(model, i)
        kind, at = link.kind, link.qi
        if not is_unit(kind, configuration, at):
            return at + NQ_OF_KIND[kind] - 4
    return -1


def neutral(constants: NUMBERS, q: NUMBERS) -> COUNT:
    """Write the configuration (nq,) of zeros and unit quaternions."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    configuration = vector(q, area.nq(model))
    configuration[:] = 0.0
    for i in range(1, area.links(model)):
        link = Link(model, i)
        kind, at = link.kind, link.qi
        if NQ_OF_KIND[kind] > NV_OF_KIND[kind]:
            configuration[at + NQ_OF_KIND[kind] - 1] = 1.0
    return 0
