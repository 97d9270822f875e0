# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Arrays into and out of kernels, each compiled for one type of array, and numbers of orders."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import (
    Array, as_array, as_numbers, require_finite, require_no_mask, wrong_shape)
from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError, SingularError
from liedyn_ros.dynamics.algorithms.kernels.aba import REFUSED
from liedyn_ros.dynamics.time_derivatives.kernels.series import MAX_ORDER as MAX_ORDER
from liedyn_ros.model import configuration, Model

_FLOAT64, _BOOL = np.dtype(np.float64), np.dtype(np.bool_)


def kernel_array(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """
    Return an array that a kernel can read, the given one if it is of the right kind.

    Its numbers are for the kernel to check. Raises ShapeError or LiedynError.
    """
    if (type(value) is np.ndarray and value.dtype is _FLOAT64 and value.shape == shape
            and value.flags.carray):
        return value
    return np.array(as_array(name, value, shape))  # a copy: another layout is another type


def states_of(model: Model, q: ArrayLike) -> Array:
    """Return configurations (K, nq), a state a row, with quaternions of unit length."""
    given = as_numbers('q', q)
    if given.ndim != 2:
        raise ShapeError(f'q: expected shape (K, {model.nq}), a state a row, got {given.shape}',
                         names=('q',), expected=(-1, model.nq), got=given.shape)
    return configuration.with_unit_quaternions(
        model.link_table, kernel_array('q', given, (len(given), model.nq)))


def time_derivatives_of(
        name: str, value: ArrayLike, shape: tuple[int, ...], take: Any = kernel_array) -> Array:
    """Return an array with a row for each order, or raise ShapeError or LiedynError."""
    try:
        return take(name, value, shape)
    except ShapeError as error:
        given = np.shape(value)
        if len(given) == len(shape) and given[0] != shape[0] and given[1:] == shape[1:]:
            raise ShapeError(
                f'{name}: expected time derivatives 0 to {shape[0] - 1}, one a row, shape '
                f'{shape}, got {given[0]} rows',
                names=(name,), expected=shape, got=given) from error
        raise


def mask(name: str, value: ArrayLike, size: int) -> NDArray[np.bool_]:
    """Return a checked mask of bool, (size,), or raise ShapeError or LiedynError."""
    if type(value) is not np.ndarray:
        require_no_mask(name, value)
    array = np.asarray(value)
    if array.dtype is not _BOOL:
        raise LiedynError(f'{name}: expected an array of bool, got {array.dtype}',
                          names=(name,), got=str(array.dtype))
    if array.shape != (size,):
        raise wrong_shape(name, (size,), array)
    return array.copy()  # another layout, or a read-only one, is another type to kernels


def copied(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """
    Return a copy, finite or not, for a kernel to complete and to check.

    Raises ShapeError or LiedynError.
    """
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and value.shape == shape:
        return value.copy()
    array = as_numbers(name, value)
    if array.shape != shape:
        raise wrong_shape(name, shape, array)
    return array.copy()


def refuse(model: Model, suffix: str, q: Array, **inputs: Array) -> NoReturn:
    """Raise the error of input that a kernel refused; a suffix names the state of a batch."""
    for name, value in inputs.items():
        require_finite(name + suffix, value)
    configuration.check('q' + suffix, model.link_table, q)
    raise LimitError(f'{", ".join(("q", *inputs))}{suffix}: expected numbers whose results are '
                     'finite, got larger ones', names=('q', *inputs))


def raise_refusal(model: Model, code: int, suffix: str, q: Array, **inputs: Array) -> NoReturn:
    """Raise the error for the code with which hybrid dynamics has ended."""
    if code == REFUSED:
        refuse(model, suffix, q, **inputs)
    name = model.coordinate_names[code - 1]
    raise SingularError(f'{name}{suffix}: expected an inertia of its own, since its force is '
                        'given; got a massless body, or a motion that other joints make too',
                        names=(name,), indices=(code - 1,))


def known(prescribed: NDArray[np.bool_], a: Array, tau: Array) -> dict[str, Array]:
    """Return the accelerations and forces that hybrid dynamics reads, by their names."""
    return {'a': np.where(prescribed, a, 0.0), 'tau': np.where(prescribed, 0.0, tau)}


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


def order_of_rows(name: str, value: ArrayLike, axis: int, nv: int | None = None) -> int:
    """Return the order that rows (nv,) along an axis reach, or raise ShapeError or LimitError."""
    shape = value.shape if isinstance(value, np.ndarray) else np.shape(
        np.asarray(value, dtype=object))
    if len(shape) == axis + 2 and shape[-1] != nv == shape[axis]:
        raise ShapeError(f'{name}: expected a row for each order, shape '
                         f'{(*shape[:axis], "r + 1", nv)}, got {shape}: transposed?',
                         names=(name,), expected=(*shape[:axis], -1, nv), got=shape)
    if len(shape) == axis + 2 and 0 < shape[axis] <= MAX_ORDER + 1:
        return shape[axis] - 1
    if len(shape) != axis + 2 or shape[axis] == 0:
        wanted = ('(r + 1, nv)', '(K, r + 1, nv)')[axis]
        raise ShapeError(f'{name}: expected a row for each order, shape {wanted}, got {shape}',
                         names=(name,), got=shape)
    raise LimitError(f'{name}: expected {MAX_ORDER + 1} rows at most, up to order '
                     f'{MAX_ORDER}, got {shape[axis]}',
                     names=(name,), expected=(1, MAX_ORDER + 1), got=shape[axis])
