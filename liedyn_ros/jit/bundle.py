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

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_getattr_generic, models, register_model
from numba.np.arrayobj import populate_array
import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.errors import NameSetError, ShapeError

INTEGERS, VECTOR, MATRIX, CUBE = (types.int64, 1), (types.float64, 1), (types.float64, 2), (
    types.float64, 3)
_HEADER = 4  # numbers in front, for each array: its begin, and three lengths
_LINE = 8  # numbers in a cache line; each array begins with a line
_WORD = ir.IntType(64)


class BundleType(types.Type):
    """The type of a bundle in a kernel: arrays by name."""

    def __init__(self, name: str, fields: tuple[tuple[str, Any], ...]) -> None:
        """Name the type and its arrays, or the types of the bundles that it holds."""
        parts = ', '.join(f'{field}: {_described(kind)}' for field, kind in fields)
        super().__init__(name=f'{name}({parts})')
        self.fields = fields
        self.places = {field: place for place, (field, _) in enumerate(fields)}


class Bundle:
    """The names and kinds of the arrays of a bundle; `view` is for kernels."""

    def __init__(self, name: str, **kinds: Any) -> None:
        """Name the bundle and its arrays: INTEGERS, VECTOR, MATRIX, CUBE, or another Bundle."""
        self._name = name
        self._kinds = {field: VECTOR if isinstance(kind, Bundle) else kind
                       for field, kind in kinds.items()}
        seen = BundleType(name, tuple(
            (field, kind.seen if isinstance(kind, Bundle) else kind)
            for field, kind in kinds.items()))
        self.seen: BundleType = seen

        @intrinsic
        def view(typing: Any, flat: Any) -> Any:
            if not (isinstance(flat, types.Array) and flat.dtype == types.float64
                    and flat.ndim == 1 and flat.layout == 'C'):
                raise TypingError(f'{name}: expected the flat array of a bundle, contiguous, of '
                                  f'float64, got {flat}')

            def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                return context.make_array(sig.args[0])(context, builder, args[0]).data

            return seen(flat), generate

        self.view = view

    def pack(self, **arrays: Any) -> NDArray[np.float64]:
        """
        Return the flat array of all arrays, each by its name.

        Raises NameSetError where names differ from the bundle's, ShapeError for an array with
        another number of dimensions than its kind.
        """
        if arrays.keys() != self._kinds.keys():
            raise NameSetError(f'{self._name}: expected {sorted(self._kinds)}, '
                               f'got {sorted(arrays)}')
        header, entries = np.ones((len(self._kinds), _HEADER), dtype=np.int64), []
        at = _aligned(header.size)
        for row, (name, (dtype, ndim)) in zip(header, self._kinds.items()):
            array = np.asarray(arrays[name], dtype=np.dtype(str(dtype)), order='C')
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
        dtype, ndim = self._kinds[name]
        header = flat[_HEADER * place:_HEADER * (place + 1)].view(np.int64)
        shape = header[1:1 + ndim]
        entries = flat[header[0]:header[0] + int(np.prod(shape))]
        return entries.view(np.dtype(str(dtype))).reshape(shape)


@register_model(BundleType)
class _BundleModel(models.PrimitiveModel):
    """A bundle is a pointer to its first word."""

    def __init__(self, manager: Any, of: Any) -> None:
        """Name the LLVM type."""
        super().__init__(manager, of, ir.DoubleType().as_pointer())


@infer_getattr
class _Arrays(AttributeTemplate):
    """The arrays are attributes."""

    key = BundleType

    def generic_resolve(self, of: Any, name: str) -> Any:
        """Return the type of an array, or of a bundle."""
        place = of.places.get(name)
        return None if place is None else _type_at(of, place)


@lower_getattr_generic(BundleType)
def _get(context: Any, builder: Any, of: Any, flat: Any, name: str) -> Any:
    place = of.places[name]
    array_type = _type_at(of, place)

    def word(k: int) -> Any:
        at = builder.gep(flat, [_WORD(_HEADER * place + k)])
        value = builder.load(builder.bitcast(at, _WORD.as_pointer()), align=8)
        # No kernel writes a header, so LLVM may read it once, before a loop.
        value.set_metadata('invariant.load', builder.module.add_metadata([]))
        return value

    if isinstance(array_type, BundleType):
        return builder.gep(flat, [word(0)])
    array = context.make_array(array_type)(context, builder)
    shape = [word(1 + axis) for axis in range(array_type.ndim)]
    strides = [_WORD(8)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    populate_array(
        array, data=builder.bitcast(builder.gep(flat, [word(0)]), array.data.type),
        shape=shape, strides=strides, itemsize=_WORD(8), meminfo=None)
    return array._getvalue()


def _aligned(at: int) -> int:
    """Return the next multiple of _LINE."""
    return -(-at // _LINE) * _LINE


def _type_at(of: Any, place: int) -> Any:
    kind = of.fields[place][1]
    return kind if isinstance(kind, BundleType) else types.Array(*kind, 'C')


def _described(kind: Any) -> str:
    return kind.name if isinstance(kind, BundleType) else f'{kind[0]}[{kind[1]}]'
