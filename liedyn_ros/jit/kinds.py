# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Kinds of arguments by which Python calls a kernel: the annotations that make a kernel an entry.

A kernel whose arguments are annotated by these is built for Python; one without is for kernels
alone. `NUMBER`, `WHOLE`, `TRUTH` and `COMPLEX` are a float, a whole number, a truth value and a
complex number. The others are contiguous arrays of these, and tuples. A class of named tuples with
such fields is a kind, too, and so is `X | None`. calls.c reads the kinds as `text_of` has them.
"""

from types import NoneType, UnionType
from typing import Any, ForwardRef, get_args, TYPE_CHECKING

if TYPE_CHECKING:  # numba infers the types within a kernel
    from typing import TypeAlias
    NUMBER: TypeAlias = Any
    WHOLE: TypeAlias = Any
    TRUTH: TypeAlias = Any
    VECTOR: TypeAlias = Any
    MATRIX: TypeAlias = Any
    CUBE: TypeAlias = Any
    ARRAY4: TypeAlias = Any
    INTEGERS: TypeAlias = Any
    INTEGER_ROWS: TypeAlias = Any
    TRUTHS: TypeAlias = Any
    COMPLEX: TypeAlias = Any
    COMPLEX_VECTOR: TypeAlias = Any
    COMPLEX_MATRIX: TypeAlias = Any
    METHOD: TypeAlias = Any
    RATE_JACOBIANS: TypeAlias = Any
    TRIPLE: TypeAlias = Any
    ROTATION: TypeAlias = Any
    SOLVED: TypeAlias = Any
    FITTED: TypeAlias = Any
else:
    NUMBER, WHOLE, TRUTH = 'd', 'q', 'b'
    VECTOR, MATRIX, CUBE, ARRAY4 = 'd1', 'd2', 'd3', 'd4'
    INTEGERS, INTEGER_ROWS, TRUTHS = 'q1', 'q2', 'b1'
    COMPLEX, COMPLEX_VECTOR, COMPLEX_MATRIX = 'z', 'z1', 'z2'
    TRIPLE, ROTATION = f'({3 * NUMBER})', f'({9 * NUMBER})'
    METHOD = f'({3 * WHOLE}{NUMBER}{WHOLE}{3 * NUMBER})'  # of the solver of platforms
    SOLVED = f'({2 * WHOLE}{2 * NUMBER})'  # status, iterations, residual, smallest singular value
    FITTED = f'({2 * WHOLE}{NUMBER})'  # the first three of these, of more than six legs
    RATE_JACOBIANS = f'({2 * CUBE}{ARRAY4})'  # by q, v and the derivatives of a


def choices_of(annotation: Any) -> tuple[Any, ...]:
    """Return the kinds that an annotation allows: a kind, or one and None."""
    return get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)


def text_of(kind: Any) -> str:
    """Return the text of a kind."""
    if isinstance(kind, ForwardRef):
        return kind.__forward_arg__
    if kind is NoneType:
        return 'n'
    return kind if isinstance(kind, str) else f'({"".join(map(text_of, fields_of(kind)))})'


def fields_of(named: Any) -> tuple[Any, ...]:
    """Return the kinds of the fields of a class of named tuples."""
    return tuple(named.__annotations__.values())
