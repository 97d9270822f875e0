# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Lanes as a type of numba: numbers side by side, and their operators."""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from liedyn_ros.jit.simd import in_each_lane, LANES, QUAD

NUMBER = ir.DoubleType()


class Lanes(types.Type):
    """Float64 side by side: eight, as of eight states, or four."""

    def __init__(self, count: int) -> None:
        """Name the type."""
        super().__init__(name=f'Lanes({count})')
        self.vector: Any = ir.VectorType(NUMBER, count)


lanes, quad = Lanes(LANES), Lanes(QUAD)
VECTOR = lanes.vector


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """Lanes are an LLVM vector."""

    def __init__(self, manager: Any, of: Any) -> None:
        """Name the LLVM type."""
        super().__init__(manager, of, of.vector)


def _define(function: Any, instruction: str) -> None:
    """Give Lanes a binary operator."""
    cases_of = {(a, b): of for of in (lanes, quad)
                for a, b in ((of, of), (of, types.float64), (types.float64, of))}

    class Operator(ConcreteTemplate):
        cases = tuple(signature(of, *pair) for pair, of in cases_of.items())

    infer_global(function)(Operator)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (in_each_lane(builder, x, sig.return_type.vector.count) for x in args)
        return getattr(builder, instruction)(a, b)

    for pair in cases_of:
        lower_builtin(function, *pair)(lower)


_define(operator.add, 'fadd')
_define(operator.sub, 'fsub')
_define(operator.mul, 'fmul')
_define(operator.truediv, 'fdiv')


class Negative(ConcreteTemplate):
    """The sign turned."""

    cases = (signature(lanes, lanes), signature(quad, quad))


infer_global(operator.neg)(Negative)


@lower_builtin(operator.neg, lanes)
@lower_builtin(operator.neg, quad)
def _lower_neg(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])
