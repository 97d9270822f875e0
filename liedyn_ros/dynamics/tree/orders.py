# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How many time derivatives there are."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError
from liedyn_ros.dynamics.time_derivatives.kernels.series import MAX_ORDER as MAX_ORDER


def require_order(order: int) -> int:
    """Return an order of differentiation, or raise LiedynError or LimitError."""
    if type(order) is int and 0 <= order <= MAX_ORDER:
        return order
    try:
        order = operator.index(order)
    except TypeError as error:
        raise LiedynError(f'order: expected a whole number, got {order!r}') from error
    if not 0 <= order <= MAX_ORDER:
        raise LimitError(f'order: expected 0 to {MAX_ORDER}, got {order}',
                         names=('order',), expected=(0, MAX_ORDER), got=order)
    return order


def order_of_rows(name: str, value: ArrayLike, axis: int) -> int:
    """Return the order that the rows along an axis reach, or raise ShapeError or LimitError."""
    shape = value.shape if isinstance(value, np.ndarray) else np.shape(
        np.asarray(value, dtype=object))
    if len(shape) == axis + 2 and 0 < shape[axis] <= MAX_ORDER + 1:
        return shape[axis] - 1
    if len(shape) != axis + 2 or shape[axis] == 0:
        wanted = ('(r + 1, nv)', '(K, r + 1, nv)')[axis]
        raise ShapeError(f'{name}: expected a row for each order, shape {wanted}, got {shape}',
                         names=(name,), got=shape)
    raise LimitError(f'{name}: expected {MAX_ORDER + 1} rows at most, up to order '
                     f'{MAX_ORDER}, got {shape[axis]}',
                     names=(name,), expected=(1, MAX_ORDER + 1), got=shape[axis])
