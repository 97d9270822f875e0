# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The forms of an algorithm of closed loops whose arrays have an axis of orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from liedyn_ros.dynamics.algorithms.algorithm import Forms
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.tree.inputs import order_of_rows
from liedyn_ros.model import Model

Result = TypeVar('Result')


class WithOrders(Forms, Generic[Result]):
    """
    An algorithm whose call and batch take orders of _series, the argument at _place.

    >>> linkage.inverse.time_derivatives(closed, rest, np.zeros((2, 3))).shape
    (2, 3)
    """

    _solver: Solver
    _series, _place = 'a', 2

    @property
    def model(self) -> Model:
        """Return the model, with its closures where they are now."""
        return self._solver.model

    def time_derivatives(self, *arguments: Any, **options: Any) -> Result:
        call: Callable[..., Result] = self.__call__  # type: ignore[operator]
        return self._with_orders(call, 0, arguments, options)

    def time_derivatives_batch(self, *arguments: Any, **options: Any) -> Result:
        return self._with_orders(self.batch, 1, arguments, options)

    def _with_orders(self, call: Callable[..., Result], axis: int, arguments: tuple[Any, ...],
                     options: dict[str, Any]) -> Result:
        given = [*arguments[self._place:self._place + 1], options.get(self._series)]
        if given[0] is not None:  # without it the call says so
            order_of_rows(self._series, given[0], axis)
        return call(*arguments, **options)
