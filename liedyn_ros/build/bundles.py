# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bundles as a type of numba: a pointer, whose attributes are arrays."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import lower_getattr_generic, models, register_model
from numba.np.arrayobj import populate_array

from liedyn_ros.build.kinds import type_of
from liedyn_ros.jit.bundle import HEADER

_WORD = ir.IntType(64)


class BundleType(types.Type):
    """The type of a bundle in a kernel: arrays by name."""

    def __init__(self, name: str, fields: tuple[tuple[str, Any], ...]) -> None:
        """Name the type and its arrays, or the types of the bundles that it holds."""
        parts = ', '.join(f'{field}: {_described(kind)}' for field, kind in fields)
        super().__init__(name=f'{name}({parts})')
        self.fields = fields
        self.places = {field: place for place, (field, _) in enumerate(fields)}


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
        at = builder.gep(flat, [_WORD(HEADER * place + k)])
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


def _type_at(of: Any, place: int) -> Any:
    kind = of.fields[place][1]
    return kind if isinstance(kind, BundleType) else type_of(kind)


def _described(kind: Any) -> str:
    return kind.name if isinstance(kind, BundleType) else str(kind)
