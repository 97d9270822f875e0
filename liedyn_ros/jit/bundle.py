# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Many arrays as one argument: kernels take a bundle of arrays as one pointer.

Numba passes an array as seven numbers or more, through every call. A tuple of twenty arrays takes
longer to compile than the work on them. A bundle is one flat float64 array: for each of its arrays
where it begins and its shape, as whole numbers, then their entries. In a kernel, `view` of that
array has the arrays as attributes. Whole numbers stand among the floats as int64 bits. A bundle
may hold others, by their flat arrays: an attribute of its view is then their view.

A view is a pointer without a reference: its memory lives as long as the kernel's argument. So a
view stays in the kernel that made it, and the array is not resized or freed meanwhile.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.errors import NameSetError, ShapeError
from liedyn_ros.jit.decorators import bundle_types, errors, intrinsic, types
from liedyn_ros.jit.kinds import VECTOR

HEADER = 4  # numbers in front, for each array: its begin, and three lengths
_LINE = 8  # numbers in a cache line; each array begins with a line
_DTYPES = {'d': np.dtype(np.float64), 'q': np.dtype(np.int64)}


class Bundle:
    """The names and kinds of the arrays of a bundle; `view` is for kernels."""

    def __init__(self, name: str, **kinds: Any) -> None:
        """Name the bundle and its arrays: INTEGERS, VECTOR, MATRIX, CUBE, or another Bundle."""
        self._name = name
        self._kinds = {field: VECTOR if isinstance(kind, Bundle) else kind
                       for field, kind in kinds.items()}
        self._given = kinds

        @intrinsic
        def view(typing: Any, flat: Any) -> Any:
            if not (isinstance(flat, types.Array) and flat.dtype == types.float64
                    and flat.ndim == 1 and flat.layout == 'C'):
                raise errors.TypingError(
                    f'{name}: expected the flat array of a bundle, contiguous, of float64, '
                    f'got {flat}')

            def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                return context.make_array(sig.args[0])(context, builder, args[0]).data

            return self.seen(flat), generate

        self.view = view

    @property
    def axes(self) -> tuple[int, ...]:
        """Return the number of axes of each array; a bundle in a bundle is a vector."""
        return tuple(int(kind[1]) for kind in self._kinds.values())

    def place(self, name: str) -> int:
        """Return the place of an array in the header."""
        return list(self._kinds).index(name)

    @property
    def description(self) -> str:
        """Return the name, and the names and kinds of the arrays."""
        parts = ', '.join(
            f'{name}: {kind.description if isinstance(kind, Bundle) else kind}'
            for name, kind in self._given.items())
        return f'{self._name}({parts})'

    @cached_property
    def seen(self) -> Any:
        """Return the type of a view, for the compiler."""
        return bundle_types.BundleType(self._name, tuple(
            (field, kind.seen if isinstance(kind, Bundle) else kind)
            for field, kind in self._given.items()))

    def pack(self, **arrays: Any) -> NDArray[np.float64]:
        """
        Return the flat array of all arrays, each by its name.

        Raises NameSetError where names differ from the bundle's, ShapeError for an array with
        another number of dimensions than its kind.
        """
        if arrays.keys() != self._kinds.keys():
            raise NameSetError(f'{self._name}: expected {sorted(self._kinds)}, '
                               f'got {sorted(arrays)}')
        header, entries = np.ones((len(self._kinds), HEADER), dtype=np.int64), []
        at = _aligned(header.size)
        for row, (name, (letter, axes)) in zip(header, self._kinds.items()):
            array, ndim = np.asarray(arrays[name], dtype=_DTYPES[letter], order='C'), int(axes)
            if array.ndim != ndim:
                raise ShapeError(f'{name}: expected {ndim} dimensions, got shape {array.shape}')
            row[0], row[1:1 + ndim] = at, array.shape
            entries.append(array.ravel().view(np.float64))
            at = _aligned(at + array.size)
        buffer = np.zeros(at + _LINE)
        flat = buffer[-buffer.ctypes.data // buffer.itemsize % _LINE:][:at]
        flat[:header.size] = header.ravel().view(np.float64)
        for row, values in zip(header, entries):
            flat[row[0]:row[0] + values.size] = values
        return flat

    def array(self, flat: NDArray[np.float64], name: str) -> NDArray[Any]:
        """Return one array of a flat array that `pack` returned, in the same memory."""
        place = list(self._kinds).index(name)
        dtype, ndim = _DTYPES[self._kinds[name][0]], int(self._kinds[name][1])
        header = flat[HEADER * place:HEADER * (place + 1)].view(np.int64)
        shape = header[1:1 + ndim]
        entries = flat[header[0]:header[0] + int(np.prod(shape))]
        return entries.view(dtype).reshape(shape)


def _aligned(at: int) -> int:
    """Return the next multiple of _LINE."""
    return -(-at // _LINE) * _LINE
