# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives of many states of a machine with closed loops, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import as_array
from liedyn_ros.common.errors import LiedynError, ShapeError


class ManyStates:
    """
    Calls of an algorithm's derivatives for K states, a state a row.

    Arguments are those of the single call with an axis of states first. Masks, such as what is
    prescribed, and options are the same for all. Results have that axis first too. Python
    runs the states in turn. Raises the errors of the single call, with the state before them, and
    ShapeError for another number of rows.
    """

    def batch(self, *arguments: Any, external: ArrayLike | None = None, **options: Any) -> Any:
        """Return the Jacobians of K states; external is (K, B, 6)."""
        call: Callable[..., Any] = self.__call__  # type: ignore[operator]
        return of_states(call, arguments, external, options)

    def gradient_batch(self, *arguments: Any, external: ArrayLike | None = None,
                       **options: Any) -> Any:
        """Return the gradients of K states, y (K, nv) being the last argument."""
        call: Callable[..., Any] = self.gradient  # type: ignore[attr-defined]
        return of_states(call, arguments, external, options)


def of_states(call: Callable[..., Any], arguments: tuple[Any, ...], external: ArrayLike | None,
              options: dict[str, Any]) -> Any:
    """Return the results of a call for each row of arguments, stacked."""
    given = [each if _is_mask(each) else as_array(f'argument {i}', each, (-1, -1))
             for i, each in enumerate(arguments)]
    wrenches = None if external is None else as_array('external', external, (-1, -1, 6))
    rows = {len(each) for each in (*given, *([] if wrenches is None else [wrenches]))
            if isinstance(each, np.ndarray) and each.ndim > 1}
    if len(rows) != 1:
        raise ShapeError(f'arguments: expected as many states in each, got {sorted(rows)}')
    found = []
    for s in range(rows.pop()):
        try:
            found.append(call(*(each if _is_mask(each) else each[s] for each in given), **options,
                              external=None if wrenches is None else wrenches[s]))
        except LiedynError as error:
            error.args = (f'[{s}] {error}',)
            raise
    return type(found[0])(*map(np.array, zip(*found)))


def _is_mask(value: Any) -> bool:
    """Return whether an argument says which coordinates are meant, by a mask or names."""
    return np.asarray(value).ndim == 1
