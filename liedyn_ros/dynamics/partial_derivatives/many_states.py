# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Calls of derivatives for K states, a state a row: by Python, unless kernels run them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError


class ManyStates:
    """
    Calls of an algorithm's derivatives for K states, a state a row.

    Arguments are those of the single call with an axis of states first. Masks, such as what is
    prescribed, and options are the same for all. Results have that axis first too. Raises the
    errors of the single call, with the state before them, and ShapeError for another number of
    rows.

    >>> robot.hybrid.partial_derivatives.batch([q], [v], ['elbow'], [a], [tau]).a_by_q.shape
    (1, 6, 6)
    """

    def batch(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the Jacobians of K states.

        Args:
            arguments: those of the call of one state, each with a first axis of K states.
            options: the same by name.

        Returns:
            the arrays of one state with a first axis of states.

        Raises:
            LiedynError: naming the first state that is wrong or open.

        >>> linkage.forward.partial_derivatives.batch([closed], [rest], [rest]).by_q.shape
        (1, 3, 3)
        """
        call: Callable[..., Any] = self.__call__  # type: ignore[operator]
        return self._of_states(call, *_parted(call, arguments, options))

    def gradient_batch(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the gradients of K states.

        Args:
            arguments: those of gradient, each with a first axis of K states.
            options: the same by name.

        Returns:
            the arrays of one state with a first axis of states.

        Raises:
            LiedynError: naming the first state that is wrong or open.

        >>> derive = linkage.forward.partial_derivatives
        >>> derive.gradient_batch([closed], [rest], [rest], [rest]).by_q.shape
        (1, 3)
        """
        call: Callable[..., Any] = self.gradient  # type: ignore[attr-defined]
        return self._of_states(call, *_parted(call, arguments, options))

    def _of_states(self, call: Callable[..., Any], given: list[Any], external: Array | None,
                   options: dict[str, Any]) -> Any:
        """Return the results of a call for each row of arguments, stacked."""
        count = next(len(each) for each in given if not _is_mask(each))
        found = [of_state(call, s, given, external, options) for s in range(count)]
        return type(found[0])(*map(np.array, zip(*found)))


def of_state(call: Callable[..., Any], s: int, given: list[Any], external: Array | None,
             options: dict[str, Any]) -> Any:
    """Return the result of a state; errors begin with it."""
    try:
        return call(*(each if _is_mask(each) else each[s] for each in given), **options,
                    external=None if external is None else external[s])
    except LiedynError as error:
        error.args = (f'[{s}] {error}',)
        raise


def _parted(call: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
            ) -> tuple[list[Any], Array | None, dict[str, Any]]:
    """
    Return a call's arguments as arrays, wrenches, and options of its names alone.

    Raises ShapeError for other than the rows of q, TypeError as the call itself does.
    """
    of = signature(call)
    bound = of.bind(*arguments, **options).arguments
    external = bound.pop('external', None)
    options = bound.pop('options', {}) | {
        name: bound.pop(name) for name, each in of.parameters.items()
        if each.kind is each.KEYWORD_ONLY and name in bound}
    count = len(as_array('q', bound['q'], (-1, -1)))
    given = [each if _is_mask(each) else as_array(name, each, (count, -1))
             for name, each in bound.items()]
    wrenches = None if external is None else as_array('external', external, (count, -1, 6))
    return given, wrenches, options


def _is_mask(value: Any) -> bool:
    """Return whether an argument says which coordinates are meant, by a mask or names."""
    return np.asarray(value).ndim == 1
