# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The arrays that calls of partial derivatives write: new ones, or those of an earlier result."""

from typing import TypeVar

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, ShapeError
from liedyn_ros.dynamics.tree.inputs import output, require_own_memory

Shapes = tuple[tuple[int, ...], ...]
Result = TypeVar('Result', bound=tuple[Array, ...])


def room(kind: type[Result], shapes: Shapes, out: Result | None = None) -> Result:
    """
    Return out, or a named tuple of new arrays.

    The kernel checks the shapes of out; where it refuses, require_room tells what is wrong.
    """
    if out is not None:
        return out
    return tuple.__new__(kind, map(np.empty, shapes))  # in half the time of a named tuple's own


def require_room(kind: type[Result], shapes: Shapes, out: Result | None, **inputs: Array) -> None:
    """Raise LiedynError or ShapeError unless out has arrays of these shapes, each its own."""
    if out is None:
        return
    if type(out) is not kind:
        raise LiedynError(f'out: expected {kind.__name__}, got {type(out).__name__}')
    for k, (array, shape) in enumerate(zip(out, shapes)):
        require_own_memory(output(array, shape), **inputs)
        if any(np.may_share_memory(array, other) for other in out[:k]):
            raise ShapeError('out: expected arrays with their own memory, got two that share it')
