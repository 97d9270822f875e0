# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The parts of a work area of a tree, one after the other, each at the beginning of a cache line.

First data, then zeros (nv,), then what calls share: series, or scratch buffers of one call. All
sizes are in numbers of eight bytes. Partial derivatives share links, columns, variations, gravity
(nv, 3), before (nv,), factors and sides, as in partial_derivatives/many_states.py. Products begin
at the same place as links.
"""

from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, REFUSED
from liedyn_ros.dynamics.algorithms.kernels.coriolis import BLOCK_WIDTH
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    COLUMN_WIDTH, LINK_WIDTH)
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import PRODUCT_WIDTH
from liedyn_ros.dynamics.partial_derivatives.kernels.second import SECOND_WIDTH
from liedyn_ros.dynamics.time_derivatives.kernels.series import SERIES_TABLE_WIDTH
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.dynamics.tree.kernels.tables import Link, Tree
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.pointers import LINE
from liedyn_ros.jit.simd import LANES
from liedyn_ros.model.kernels.kinds import NV_OF_KIND


@inlined
def rounded(size):
    """Return the next multiple of a cache line."""
    return (size + LINE - 1) // LINE * LINE


@inlined
def nq(model):
    """Return the number of configuration coordinates."""
    return Tree(model, 0).nq


@inlined
def nv(model):
    """Return the number of velocity coordinates."""
    return Tree(model, 0).nv


@inlined
def bodies(model):
    """Return the number of named bodies."""
    return Tree(model, 0).bodies


@inlined
def links(model):
    """Return the number of links, the ground among them."""
    return Tree(model, 0).links


@inlined
def data_rows(model):
    """Return the number of rows of data."""
    return links(model) + nv(model)


@inlined
def series_rows(model, order):
    """Return the number of rows of series up to an order."""
    return links(model) * (order + 2)


@inlined
def zeros_at(model):
    """Return where the zeros begin."""
    return rounded(data_rows(model) * tables.DATA_WIDTH)


@inlined
def shared_at(model):
    """Return where the part begins that calls share."""
    return zeros_at(model) + rounded(nv(model))


@inlined
def shared_size(model, order):
    """Return the size of the part that calls share."""
    return rounded(max(series_rows(model, order) * SERIES_TABLE_WIDTH, links(model) * BLOCK_WIDTH,
                       6 * nv(model)))


@inlined
def columns_at(model):
    """Return where columns begin."""
    return rounded(links(model) * max(LINK_WIDTH, PRODUCT_WIDTH))


@inlined
def variations_at(model):
    """Return where variations begin."""
    return columns_at(model) + rounded(nv(model) * COLUMN_WIDTH)


@inlined
def gravity_at(model):
    """Return where the derivatives by gravity begin."""
    return variations_at(model) + rounded(links(model) * SECOND_WIDTH)


@inlined
def before_at(model):
    """Return where the coordinates before each begin."""
    return gravity_at(model) + rounded(3 * nv(model))


@inlined
def factors_at(model):
    """Return where factors begin."""
    return before_at(model) + rounded(nv(model))


@inlined
def sides_at(model):
    """Return where sides begin."""
    return factors_at(model) + rounded(nv(model) * factors_width(nv(model)))


@inlined
def factors_width(n):
    """Return how many columns factors have: n, filled up to a multiple of LANES."""
    return (n + LANES - 1) // LANES * LANES


@inlined
def sides_width(n):
    """Return how many columns sides have: 2 n + 3 and n, filled up to multiples of LANES."""
    return (2 * n + 3 + LANES - 1) // LANES * LANES + factors_width(n)


@inlined
def part_size(model):
    """Return the size of the whole part."""
    return sides_at(model) + rounded(nv(model) * sides_width(nv(model)))


@inlined
def code_of(good):
    """Return the code of a kernel that returns whether all is good."""
    return DONE if good else REFUSED


@inlined
def zero_rates(model):
    """Return place and length of rates of zero."""
    return zeros_at(model), nv(model)


@inlined
def data(model):
    """Return place, rows and width of the data of a call."""
    return 0, data_rows(model), tables.DATA_WIDTH


@inlined
def series(model, order):
    """Return place, rows and width of the time series of links, to an order."""
    return shared_at(model), series_rows(model, order), SERIES_TABLE_WIDTH


@inlined
def blocks(model):
    """Return place, rows and width of the scratch buffer of the Coriolis matrix."""
    return shared_at(model), links(model), BLOCK_WIDTH


@inlined
def jacobian(model):
    """Return place, rows and width of the scratch buffer of the rate of a Jacobian."""
    return shared_at(model), 6, nv(model)


@inlined
def changes(model):
    """Return place, rows and width of the changes of links along a direction."""
    return shared_at(model), links(model), PRODUCT_WIDTH


@inlined
def link_rows(model):
    """Return place, rows and width of links in the common frame."""
    return shared_at(model), links(model), LINK_WIDTH


@inlined
def column_rows(model):
    """Return place, rows and width of columns of coordinates in the common frame."""
    return shared_at(model) + columns_at(model), nv(model), COLUMN_WIDTH


@inlined
def variations(model):
    """Return place, rows and width of the variations of links."""
    return shared_at(model) + variations_at(model), links(model), SECOND_WIDTH


@inlined
def by_gravity(model):
    """Return place, rows and width of the derivatives by gravity."""
    return shared_at(model) + gravity_at(model), nv(model), 3


@inlined
def factor_rows(model):
    """Return place, rows and width of the factors of M."""
    return shared_at(model) + factors_at(model), nv(model), factors_width(nv(model))


@inlined
def sides(model):
    """Return place, rows and width of the right sides to solve for."""
    return shared_at(model) + sides_at(model), nv(model), sides_width(nv(model))


@inlined
def keep_ground(changes):
    """Write changes of the ground, which stands still."""
    for k in range(PRODUCT_WIDTH):
        changes[0, k] = 0.0


@inlined
def write_before(model, before):
    """Write the coordinate before each on its path, -1 for none."""
    for i in range(1, links(model)):
        link = Link(model, i)
        at, parent = link.vi, link.parent
        for k in range(NV_OF_KIND[link.kind]):
            before[at + k] = at + k - 1
        if parent == 0:
            before[at] = -1
        else:
            parent_link = Link(model, parent)
            before[at] = (parent_link.vi + NV_OF_KIND[parent_link.kind] - 1)
