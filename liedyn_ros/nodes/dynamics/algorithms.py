# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The algorithms of a dynamics server: of the tree alone, or of the tree with its loops closed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
import math
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    ConstrainedDynamics, ConstrainedSolution, ConstraintStatus, Mobility)
from liedyn_ros.model import Model
from liedyn_ros.nodes.dynamics.inputs import RequestInputs


class Result(NamedTuple):
    """
    Accelerations and efforts; for a model with loops, the wrenches of its closures.

    wrenches are (C, 6), or (order + 1, C, 6) with time derivatives. errors (order + 1,) are
    estimates for the orders, relative to their largest entries, where they are requested.
    """

    a: Array
    tau: Array
    wrenches: Array | None = None
    status: ConstraintStatus | None = None
    errors: Array | None = None


Compute = Callable[[RequestInputs], Result]


class Algorithms(Protocol):
    """The three algorithms on the inputs of a query; they raise LiedynError."""

    def inverse(self, x: RequestInputs) -> Result:
        """Find the efforts."""

    def forward(self, x: RequestInputs) -> Result:
        """Find the accelerations."""

    def hybrid(self, x: RequestInputs) -> Result:
        """Find the efforts of prescribed coordinates and the accelerations of the others."""

    def mobility(self) -> Mobility:
        """Return the mobility under the constraints."""


class TreeAlgorithms:
    """The dynamics of a tree without the closures of its loops."""

    def __init__(self, dynamics: Dynamics) -> None:
        """Take the dynamics."""
        self._dynamics = dynamics

    def inverse(self, x: RequestInputs) -> Result:
        """Find the efforts."""
        if x.a.ndim == 1:
            return Result(x.a, self._dynamics.inverse(x.q, x.v, x.a, x.external))
        return Result(x.a, self._dynamics.inverse.time_derivatives(x.q, x.v, x.a, x.external))

    def forward(self, x: RequestInputs) -> Result:
        """Find the accelerations."""
        if x.tau.ndim == 1:
            a = self._dynamics.forward(x.q, x.v, x.tau, x.external)
        else:
            a = self._dynamics.forward.time_derivatives(
                x.q, x.v, x.tau, x.external, max_error=math.inf)
        return self._with_errors(x, a, x.tau)

    def hybrid(self, x: RequestInputs) -> Result:
        """Find the efforts of prescribed coordinates and the accelerations of the others."""
        hybrid = self._dynamics.hybrid
        compute = (hybrid if x.a.ndim == 1
                   else partial(hybrid.time_derivatives, max_error=math.inf))
        return self._with_errors(x, *compute(x.q, x.v, x.prescribed, x.a, x.tau, x.external))

    def _with_errors(self, x: RequestInputs, a: Array, tau: Array) -> Result:
        if not x.with_errors:
            return Result(a, tau)
        rows = np.atleast_2d(a)
        external = None if x.external is None else x.external.reshape(len(rows), -1, 6)
        return Result(a, tau, errors=self._dynamics.hybrid.estimate_error(
            x.q, x.v, x.prescribed, rows, np.atleast_2d(tau), external))

    def mobility(self) -> Mobility:
        """Return that all coordinates are free."""
        return Mobility(self._dynamics.model.nv, 0, ())


class LoopAlgorithms:
    """The dynamics of a model whose closures and couplings are held."""

    def __init__(self, model: Model, *, dissipation: bool) -> None:
        """Lay out the tables."""
        self._dynamics = ConstrainedDynamics(model, dissipation=dissipation)
        self._dissipation = dissipation
        self._lock = Lock()  # the tables serve one thread at a time

    def inverse(self, x: RequestInputs) -> Result:
        """Find the efforts of the actuators."""
        with self.held() as dynamics:
            return _result(dynamics.inverse(
                x.q, x.v, x.a, redundancy=x.redundancy, external=x.external).solution)

    def forward(self, x: RequestInputs) -> Result:
        """Find the accelerations."""
        with self.held() as dynamics:
            return _result(dynamics.forward(x.q, x.v, x.tau, external=x.external).solution)

    def hybrid(self, x: RequestInputs) -> Result:
        """Find the efforts of prescribed coordinates and the accelerations of the others."""
        with self.held() as dynamics:
            return _result(dynamics.hybrid(
                x.q, x.v, x.prescribed, x.a, x.tau, external=x.external).solution)

    def mobility(self) -> Mobility:
        """Return the mobility under the constraints."""
        with self.held() as dynamics:
            return dynamics.mobility

    def another(self) -> ConstrainedDynamics:
        """Return dynamics with tables of their own, for work that would hold the others long."""
        return ConstrainedDynamics(self._dynamics.model, dissipation=self._dissipation)

    @contextmanager
    def held(self) -> Iterator[ConstrainedDynamics]:
        """Hold the dynamics for a thread."""
        with self._lock:
            yield self._dynamics


def _result(solution: ConstrainedSolution) -> Result:
    return Result(solution.a, solution.tau, solution.wrenches, solution.status)
