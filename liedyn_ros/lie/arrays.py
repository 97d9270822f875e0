# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Common parts of the array functions of so3 and se3: loop kernels, checks of input."""

from collections.abc import Callable
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, NotInGroupError, ShapeError
from liedyn_ros.lie.kernels.so3 import TOLERANCE

UNIT_MATRIX = np.eye(3)
_AHEAD, _BEHIND = [7, 2, 3], [5, 6, 1]  # places of w and of -w in [w], row by row


def run(loop: Callable[..., Any], value: Array, core: int, result: tuple[int, ...]) -> Array:
    """
    Return the result of a loop kernel for each element of a batch.

    The last `core` axes of the value are one element, the others the batch. Each element of the
    batch becomes an array of the result's shape.
    """
    # One compiled version serves all: read-only or unaligned arrays, which are other types to
    # numba, are copied.
    if not value.flags.carray:
        value = np.require(value, requirements=['C', 'A', 'W'])
    out = np.empty(value.shape[:value.ndim - core] + result)
    loop(value.reshape(-1), out.reshape(-1))
    return out


def skew(w: Array) -> Array:
    """Return [w] (..., 3, 3) of numbers (..., 3) that have been checked, with [w] x = w x x."""
    if w.ndim == 1:
        x, y, z = w.tolist()  # plain numbers take a third
        return np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))
    flat = np.zeros((*w.shape[:-1], 9))  # row by row
    flat[..., _AHEAD], flat[..., _BEHIND] = w, -w
    return flat.reshape((*w.shape, 3))


def largest(matrices: Array) -> Array:
    """Return the largest absolute entry of each matrix of a batch."""
    return np.asarray(np.abs(matrices).max(axis=(-2, -1)))


def is_rotation(
        xx: float, xy: float, xz: float, yx: float, yy: float, yz: float, zx: float, zy: float,
        zz: float) -> bool:
    """Return whether so3.require_rotation accepts one matrix; plain numbers take a tenth."""
    return (max(abs(xx * xx + yx * yx + zx * zx - 1.0), abs(xy * xy + yy * yy + zy * zy - 1.0),
                abs(xz * xz + yz * yz + zz * zz - 1.0), abs(xx * xy + yx * yy + zx * zy),
                abs(xx * xz + yx * yz + zx * zz), abs(xy * xz + yy * yz + zy * zz)) <= TOLERANCE
            and xx * (yy * zz - yz * zy) > xy * (yx * zz - yz * zx) - xz * (yx * zy - yy * zx))


def are_rotations(r: Array) -> bool:
    """Return whether so3.require_rotation accepts all of a batch; LAPACK takes twice as long."""
    difference = np.swapaxes(r, -1, -2) @ r
    difference -= UNIT_MATRIX
    if not np.abs(difference, out=difference).max(initial=0.0) <= TOLERANCE:
        return False
    xx, xy, xz, yx, yy, yz, zx, zy, zz = r.reshape(-1, 9).T
    determinant = xx * (yy * zz - yz * zy) - xy * (yx * zz - yz * zx) + xz * (yx * zy - yy * zx)
    return bool(determinant.min(initial=1.0) > 0.0)


def require(name: str, fits: Any, expected: str, got: Any,
            error: type[LiedynError] = NotInGroupError) -> None:
    """Raise an error that names the first element of a batch that does not fit."""
    if not np.all(fits):
        where = tuple(int(i) for i in np.argwhere(np.logical_not(fits))[0])
        index = f'[{", ".join(map(str, where))}]' if where else ''
        value = float(np.asarray(got)[where])
        raise error(f'{name}{index}: expected {expected}, got {value:.7g}',
                    names=(name,), expected=expected, got=value, indices=where)


def require_broadcast(**leading: tuple[int, ...]) -> tuple[int, ...]:
    """Return the common shape of the leading axes of named inputs, or raise ShapeError."""
    try:
        return np.broadcast_shapes(*leading.values())
    except ValueError as error:
        raise ShapeError(f'{" and ".join(leading)}: expected leading axes that broadcast, '
                         f'got {" and ".join(map(str, leading.values()))}',
                         names=leading, got=tuple(leading.values())) from error
