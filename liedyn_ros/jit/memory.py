# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where the arrays of a kernel's call lie: whether two share memory, and tables within one."""

from typing import Any

from liedyn_ros.jit.compiler import arrays, errors, intrinsic, types
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.index_checks import check_index


@intrinsic
def address(typing: Any, array: Any) -> Any:
    """Return the address of the first entry of an array."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.intp))

    return types.intp(array), generate


@intrinsic
def rows_of(typing: Any, array: Any, first: Any, rows: Any, width: Any) -> Any:
    """
    Return a table (rows, width) of the entries of a contiguous array from one on.

    Only the mode of `index_checks` checks its end. Numba's reshape would call a function of C,
    which takes as long as a small link.
    """
    if array.layout != 'C':
        raise errors.TypingError(f'expected a contiguous array, got {array}')
    table = types.Array(array.dtype, 2, 'C')

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        old, new = (context.make_array(kind)(context, builder, *given) for kind, given in (
            (sig.args[0], args[:1]), (table, ())))
        end = builder.add(args[1], builder.mul(args[2], args[3]))
        after = builder.add(old.nitems, old.nitems.type(1))
        check_index(context, builder, end, after, 0)
        arrays.populate_array(
            new, data=builder.gep(old.data, [args[1]]), shape=args[2:], meminfo=None,
            strides=[builder.mul(args[3], old.itemsize), old.itemsize], itemsize=old.itemsize)
        return new._getvalue()

    return table(array, types.intp, types.intp, types.intp), generate


@inlined
def overlap(x: Any, y: Any) -> Any:
    """Return whether two contiguous arrays of 8-byte numbers share memory."""
    start_x, start_y = address(x), address(y)
    return start_x < start_y + 8 * y.size and start_y < start_x + 8 * x.size
