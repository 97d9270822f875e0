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

"""Time derivatives of inverse, forward and hybrid dynamics to any order."""

from collections.abc import Callable
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, require_finite
from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError
from liedyn_ros.dynamics.data import Workspace
from liedyn_ros.dynamics.inputs import borrowed, copied, known, mask, refuse, stop
from liedyn_ros.dynamics.kernels.hybrid import DONE
from liedyn_ros.dynamics.time_derivatives.kernels import table
from liedyn_ros.dynamics.time_derivatives.kernels.border import apply_wrenches
from liedyn_ros.dynamics.time_derivatives.kernels.forward import hybrid_series
from liedyn_ros.dynamics.time_derivatives.kernels.inverse import inverse_series
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import Model

LARGEST_ORDER = 30


class HigherOrder:
    """
    What Dynamics says of derivatives, done.

    It works in the workspace of a Dynamics and in tables of its own, which grow with the order.
    """

    def __init__(self, model: Model, space: Workspace) -> None:
        """Start without tables."""
        self.model = model
        self._space = space
        self._nq, self._nv = model.nq, model.nv
        self._largest = -1  # order for which there is room

    def inverse(self, q: ArrayLike, motion: ArrayLike, order: int,
                external: ArrayLike | None) -> Array:
        """Return the joint forces (order + 1, nv) of a motion (order + 2, nv)."""
        if type(order) is not int or not 0 <= order <= self._largest:
            order = self._prepared(order)
        tau = np.empty((order + 1, self._nv))
        if external is None and self._inverse.attempt(q, motion, tau):
            return tau
        q = borrowed('q', q, (self._nq,))
        motion = derivatives('motion', motion, order + 2, self._nv)
        if not self._run(self._inverse, order, external, q, motion, tau):
            refuse(self.model, '', q, motion=motion)
        return tau

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, order: int,
                external: ArrayLike | None) -> Array:
        """Return the accelerations (order + 1, nv) under joint forces (order + 1, nv)."""
        if type(order) is not int or not 0 <= order <= self._largest:
            order = self._prepared(order)
        a = np.empty((order + 1, self._nv))
        if external is None and self._hybrid.attempt(q, v, a, tau) == DONE:
            return a
        q, v = borrowed('q', q, (self._nq,)), borrowed('v', v, (self._nv,))
        tau = derivatives('tau', tau, order + 1, self._nv)
        code = self._run(self._hybrid, order, external, q, v, a, tau)
        if code != DONE:
            stop(self.model, code, '', q, v=v, tau=tau)
        return a

    def hybrid(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
               tau: ArrayLike, order: int, external: ArrayLike | None) -> tuple[Array, Array]:
        """Return all accelerations and all joint forces, each (order + 1, nv)."""
        if type(order) is not int or not 0 <= order <= self._largest:
            order = self._prepared(order)
        given = mask('prescribed', prescribed, self._nv)
        q, v = borrowed('q', q, (self._nq,)), borrowed('v', v, (self._nv,))
        a = derivatives('a', a, order + 1, self._nv, copied)
        tau = derivatives('tau', tau, order + 1, self._nv, copied)
        self._space.prescribe(given)
        try:
            code = self._run(self._hybrid, order, external, q, v, a, tau)
        finally:
            self._space.prescribe(False)
        if code != DONE:
            stop(self.model, code, '', q, v=v, **known(given, a, tau))
        return a, tau

    def _run(self, kernel: BoundKernel, order: int, external: ArrayLike | None,
             *arguments: Array) -> Any:
        space = self._space
        if external is None:
            return kernel(*arguments)
        wrenches = borrowed('external', external, (order + 1, len(self.model.bodies), 6))
        try:
            space.apply_wrenches(wrenches[0])
            if not apply_wrenches(self._series, space.body_row, space.body_placement, wrenches,
                                  order + 2):
                require_finite('external', wrenches)
            return kernel(*arguments)
        finally:
            space.clear_wrenches()
            self._series[:, table.EXTERNAL:table.EXTERNAL + 6] = 0.0

    def _prepared(self, order: int) -> int:
        """Return an order for which the tables have room, or raise as require_order does."""
        order = require_order(order)
        if order > self._largest:
            self._make_room(order)
        return order

    def _make_room(self, order: int) -> None:
        """Make tables for coefficients of everything up to an order."""
        space, size = self._space, order + 2
        self._series = np.zeros((len(space.links) * size, table.WIDTH))
        rates = np.zeros((self._nv * size, table.RATES_WIDTH))
        tables = space.topology, space.links, space.coordinates, self._series, rates
        self._inverse = BoundKernel(inverse_series, *tables)
        self._hybrid = BoundKernel(hybrid_series, *tables)
        self._largest = order


def require_order(order: int) -> int:
    """Return an order of differentiation, or raise LiedynError or LimitError."""
    if type(order) is int and 0 <= order <= LARGEST_ORDER:
        return order
    try:
        order = operator.index(order)
    except TypeError as error:
        raise LiedynError(f'order: expected a whole number, got {order!r}') from error
    if not 0 <= order <= LARGEST_ORDER:
        raise LimitError(f'order: expected 0 to {LARGEST_ORDER}, got {order}')
    return order


def derivatives(name: str, value: ArrayLike, rows: int, nv: int,
                take: Callable[..., Array] = borrowed) -> Array:
    """Return an array with a row for each order, or raise ShapeError or LiedynError."""
    try:
        return take(name, value, (rows, nv))
    except ShapeError as error:
        given = np.shape(value)
        if len(given) == 2 and given[0] < rows:
            raise ShapeError(
                f'{name}: expected derivatives 0 to {rows - 1}, one a row, shape {(rows, nv)}, '
                f'got {given[0]} rows') from error
        raise
