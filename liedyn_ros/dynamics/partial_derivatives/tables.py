# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The arrays of partial derivatives: scratch buffers of the kernels, and results."""

from typing import TypeVar

import numpy as np

from liedyn_ros.common.checks import Array, output
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels import table
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import PRODUCT_WIDTH
from liedyn_ros.dynamics.partial_derivatives.kernels.second import SECOND_WIDTH
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.jit.simd import LANES
from liedyn_ros.model.kernels import kinds


Shapes = tuple[tuple[int, ...], ...]
Result = TypeVar('Result', bound=tuple[Array, ...])


class ScratchBuffers:
    """
    Scratch buffers of one model; undefined between calls.

    data is that of the dynamics. links, columns, products, variations and factors are as in
    kernels.table, kernels.products, kernels.second and kernels.factorization. sides holds 2 nv + 3
    columns, then nv more. Both, and the rows of factors, are filled up to multiples of LANES.
    before (nv,) is the coordinate before each on its path, -1 for none.
    """

    def __init__(self, constants: Constants) -> None:
        """Allocate the buffers."""
        links = constants.model.link_table
        self.data = Data(constants).table
        self.links = np.zeros((constants.links, table.LINK_WIDTH))
        self.columns = np.zeros((links.nv, table.COLUMN_WIDTH))
        self.products = np.zeros((constants.links, PRODUCT_WIDTH))
        self.variations = np.zeros((constants.links, SECOND_WIDTH))
        self.factors = np.zeros((links.nv, -(-links.nv // LANES) * LANES))
        self.sides = np.zeros((links.nv, sum(
            -(-columns // LANES) * LANES for columns in (2 * links.nv + 3, links.nv))))
        self.before = np.arange(links.nv) - 1
        for i in range(links.N):
            parent = links.parent[i]
            self.before[links.vi[i]] = -1 if parent < 0 else (
                links.vi[parent] + kinds.NV_OF_KIND[links.kind[parent]] - 1)


def results(kind: type[Result], shapes: Shapes, out: Result | None = None) -> Result:
    """Return out, or a named tuple of new arrays; raise LiedynError for an out of another kind."""
    if out is None:
        return tuple.__new__(kind, map(np.empty, shapes))  # half the time of the type's own call
    if type(out) is not kind:
        raise LiedynError(f'out: expected {kind.__name__}, got {type(out).__name__}')
    return out


def written(found: Result, out: Result | None) -> Result:
    """Return a result, in an out of its kind if given; raise LiedynError for another."""
    if out is None:
        return found
    for whole, part in zip(results(type(found), (), out), found):
        output(whole, part.shape)[...] = part
    return out
