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
sizes are in numbers of eight bytes.
"""

from liedyn_ros.dynamics.algorithms.kernels.coriolis import BLOCKS
from liedyn_ros.dynamics.time_derivatives.kernels import series
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.pointers import after, given, LINE
from liedyn_ros.jit.simd import get_int


@inlined
def rounded(size):
    """Return the next multiple of a cache line."""
    return (size + LINE - 1) // LINE * LINE


@inlined
def nq(model):
    """Return the number of configuration coordinates."""
    return get_int(model, 0, tables.NQ)


@inlined
def nv(model):
    """Return the number of velocity coordinates."""
    return get_int(model, 0, tables.NV)


@inlined
def bodies(model):
    """Return the number of named bodies."""
    return get_int(model, 0, tables.BODIES)


@inlined
def links(model):
    """Return the number of links, the ground among them."""
    return get_int(model, 0, tables.LINKS)


@inlined
def data_rows(model):
    """Return the number of rows of data."""
    return links(model) + nv(model)


@inlined
def series_rows(model, order):
    """Return the number of rows of series up to an order."""
    return links(model) * (order + 2)


@inlined
def loaded(external, rows):
    """Return the number of rows of wrenches: none for NULL."""
    return rows if given(external) else 0


@inlined
def zero_rates(model, work):
    """Return the pointer to zeros (nv,)."""
    return after(work, zeros_at(model))


@inlined
def or_zeros(model, work, rates):
    """Return a pointer to rates (nv,), or to zeros for NULL."""
    return rates if given(rates) else after(work, zeros_at(model))


@inlined
def common(model, work):
    """Return the pointer to the part that calls share."""
    return after(work, shared_at(model))


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
    return rounded(max(series_rows(model, order) * series.WIDTH, links(model) * BLOCKS,
                       6 * nv(model)))
