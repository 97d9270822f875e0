# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of K states of machines with closed loops, shared by all cores."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained.partial_derivatives.batches import LoopBatches
from liedyn_ros.dynamics.constrained.partial_derivatives.jacobians import HybridLoopJacobians
from liedyn_ros.dynamics.constrained.partial_derivatives.products import LoopProducts
from liedyn_ros.dynamics.constrained.solver.inputs import States
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.constrained.solver.tasks import Mask, Task
from liedyn_ros.dynamics.partial_derivatives.many_states import of_state, PartialDerivatives

Known = tuple[Task, Mask, States]  # a task, its coordinates that are prescribed or driven


class ManyLoopStates(PartialDerivatives):
    """
    Derivatives of many states by kernels on all cores, with the bits of the single call.

    Python runs it for states near singular ones, with constraint functions, and with the options
    closed, tau and z.

    >>> linkage.inverse.partial_derivatives.batch([closed], [rest], [rest]).by_q.shape
    (1, 3, 3)
    """

    _inverse = False

    def __init__(self, solver: Solver) -> None:
        """Take the solver."""
        self._solver, self._model, self.lock = solver, solver.model, solver.lock

    def _of_states(self, call: Callable[..., Any], given: list[Any], external: Array | None,
                   options: dict[str, Any]) -> Any:
        weights = given[-1:] if call.__name__ == 'gradient' else []
        known = self._known(given[:len(given) - len(weights)], external, options)
        if known is None or (weights and weights[0].shape != (
                len(given[0]), self._solver.model.nv)):
            return super()._of_states(call, given, external, options)
        found, good = self._all_gradients(*known, *weights) if weights else (
            self._all_jacobians(*known))
        for s in np.flatnonzero(~good):  # by single calls
            for whole, part in zip(found, of_state(call, int(s), given, external, options)):
                whole[s] = part
        return found

    def _plan(self, given: list[Any], external: Array | None, options: dict[str, Any]
              ) -> Known | None:
        """Return task, mask and states, or None for options that are of single calls."""
        raise NotImplementedError

    def _all_jacobians(self, task: Task, mask: Mask, states: States) -> tuple[Any, Mask]:
        """Return the Jacobians of K states, and which are good."""
        raise NotImplementedError

    def _all_gradients(self, task: Task, mask: Mask, states: States, y: Array
                       ) -> tuple[Any, Mask]:
        """Return the gradients of K states, and which are good."""
        raise NotImplementedError

    def _of_gravity(self, states: States) -> Array:
        """Return how forces of the tree vary with gravity (K, nv, 3)."""
        rest = np.zeros_like(states.v)
        tree = self._solver.constraints.tree.inverse.partial_derivatives
        return tree.batch(states.q, rest, rest).by_gravity

    @cached_property
    def _jacobians(self) -> Any:
        return HybridLoopJacobians(self._solver)

    @cached_property
    def _products(self) -> LoopProducts:
        return LoopProducts(self._solver)

    @cached_property
    def _batches(self) -> LoopBatches:
        return LoopBatches(self._solver, self._inverse)

    def _known(self, given: list[Any], external: Array | None, options: dict[str, Any]
               ) -> Known | None:
        if self._solver.constraints.functions:
            return None
        try:
            known = self._plan(given, external, options)
        except (LiedynError, TypeError, ValueError):  # the single call says what is wrong
            return None
        return known if known is not None and known[2].single else None
