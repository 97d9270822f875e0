# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Inverse, forward and hybrid dynamics of a model with closed loops and couplings."""

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cached_property
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_numbers, require_finite
from liedyn_ros.common.errors import LiedynError, LimitError, ModelError, ShapeError
from liedyn_ros.dynamics.constrained.constraint_function import ConstraintFunction
from liedyn_ros.dynamics.constrained.constraints import Constraints
from liedyn_ros.dynamics.constrained.kernels import solver
from liedyn_ros.dynamics.constrained.kernels.tables import DEFECT, QUALITY, RANK, REPORT_WIDTH
from liedyn_ros.dynamics.constrained.mobility import Mobility, mobility
from liedyn_ros.dynamics.inputs import mask, stop
from liedyn_ros.dynamics.time_derivatives.orders import MAX_ORDER
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import Model

NEAR_SINGULAR = 1e-4  # smallest pivot of the independent constraints over the largest
CONSISTENT = 1e-6  # part of a constraint, over its size, that may stay open
LEAST_TORQUE, LEAST_FORCE = 'least_torque', 'least_force'


class ConstraintStatus(Enum):
    """
    What the constraints are like at a state.

    REGULAR: all independent. REDUNDANT: some depend on others, as they always do in this
    mechanism. NEAR_SINGULAR: independent, but hardly; forces are large. SINGULAR: fewer are
    independent than elsewhere. INCONSISTENT: no acceleration satisfies them all.
    """

    REGULAR = 'regular'
    REDUNDANT = 'redundant'
    NEAR_SINGULAR = 'near_singular'
    SINGULAR = 'singular'
    INCONSISTENT = 'inconsistent'


class ConstrainedSolution(NamedTuple):
    """
    The motion and the forces of a state, and of as many time derivatives as were given.

    a and tau (nv,). multipliers (m,), one for each constraint in the order of constraint_names.
    wrenches (C, 6), moment before force, that each closure applies to its body_b, in frame_b. With
    derivatives each has an axis of order + 1 before these. rank is that of the constraints,
    quality their smallest independent part over the largest, in 0 to 1.
    """

    a: Array
    tau: Array
    multipliers: Array
    wrenches: Array
    rank: int
    quality: float
    status: ConstraintStatus


class ConstrainedDynamics(Constraints):
    """
    The dynamics M(q) a + b(q, v) = tau + A^T lam, A v = 0, of a model with closures and couplings.

    Arrays are as for Dynamics. Where a method takes derivatives the array may be (nv,), or
    (order + 1, nv) with a row for each order. The result then has them too. external are wrenches
    (B, 6) on bodies, or (order + 1, B, 6). The state must be closed: assembly.assemble and
    assembly.project make it so. Each object works in its own tables: use one per thread.

    functions are further constraints, for which order 0 alone is known.

    All methods raise ShapeError, NotFiniteError, NotInGroupError, and LimitError for an order
    above 30. They raise SingularError naming a coordinate that moves no inertia, and LiedynError
    for a state that is not closed.
    """

    def __init__(self, model: Model, *, dissipation: bool = True,
                 functions: Sequence[ConstraintFunction] = ()) -> None:
        """Lay out the tables of a model."""
        super().__init__(model, dissipation=dissipation, functions=functions)
        self._none = np.zeros(model.nv, dtype=np.bool_)
        self._all = np.ones(model.nv, dtype=np.bool_)
        self._nothing, self._unweighted = np.zeros(0, dtype=np.int64), np.zeros(0)
        self._bind()

    def _bind(self) -> None:
        """Bind the kernels to the tables, which are new where there is room for more orders."""
        super()._bind()
        data = self._data
        self._kernel = BoundKernel(
            solver.solve, data.machine, data.motion, data.by_row, data.by_column, data.space)

    @cached_property
    def mobility(self) -> Mobility:
        """Return what the constraints leave free where the machine is not singular."""
        return mobility(self)

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *,
                external: ArrayLike | None = None, closed: bool = True) -> ConstrainedSolution:
        """
        Return the accelerations under joint forces, which are unique (Kim 67 to 69).

        closed False accepts a state off the constraints, as in the stages of an integrator. The
        accelerations then keep A v as it is.
        """
        return self._solve(q, v, self._none, None, tau, external, closed)

    def hybrid(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
               tau: ArrayLike, *, external: ArrayLike | None = None) -> ConstrainedSolution:
        """
        Return the motion where some accelerations are given and the other forces (Kim 70 to 80).

        prescribed (nv,) is True where a is read; tau is read elsewhere. The status is
        INCONSISTENT where what is prescribed breaks a loop. Where it decides more than can move,
        constraint forces are those of least norm.
        """
        return self._solve(
            q, v, mask('prescribed', prescribed, self.model.nv), a, tau, external, True)

    def inverse(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *,
                tau: ArrayLike | None = None, actuated: ArrayLike | None = None,
                redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
                external: ArrayLike | None = None) -> ConstrainedSolution:
        """
        Return the joint forces of a motion that the constraints allow (Kim 57 to 66).

        actuated (nv,) is by default the model's; tau holds the forces of passive joints, by
        default zero. If there are more actuators than needed, least_torque takes the least sum of
        w tau^2 over them. least_force takes the least sum of w lam^2 over the constraints. weights
        are (nv,) or (m,), by default 1. They carry units: moments against forces.

        Raises LiedynError for a motion that breaks a loop, and where the actuators are too few,
        naming what they leave free.
        """
        driven = self.model.actuated if actuated is None else mask(
            'actuated', actuated, self.model.nv)
        if redundancy not in (LEAST_TORQUE, LEAST_FORCE):
            raise LiedynError(f'redundancy: expected {LEAST_TORQUE} or {LEAST_FORCE}, '
                              f'got {redundancy!r}')
        q, v = self._state(q, v, True)
        a, single = self._orders('a', a, self._all)
        result = self._room(len(a))
        if tau is not None:
            result['tau'][:] = self._like('tau', tau, a, single, self._all)
        passive, report = np.flatnonzero(~driven), np.zeros(REPORT_WIDTH)
        if redundancy == LEAST_FORCE or len(passive) == self.m:
            weight = 1.0 / np.sqrt(_weights(weights if redundancy == LEAST_FORCE else None,
                                            self.m))
            task = solver.LEAST_FORCE, self._none, passive, weight
        else:
            weight = 1.0 / _weights(weights, self.model.nv)
            task = solver.LEAST_TORQUE, self._all, np.flatnonzero(driven), weight
        code = self._kernel(*task, self._press(external, len(a), single), q, v, a,
                            *result.values(), report)
        if code == solver.UNMOVED:
            self._refuse_actuators(q, driven)
        self._check(code, q, v=v, a=a)
        if report[DEFECT] > CONSISTENT:
            raise LiedynError(f'a: expected a motion that the constraints allow, got one that '
                              f'leaves {report[DEFECT]:.3g} of them open. assembly.complete '
                              'finds it from the accelerations of the actuated joints')
        return self._solution(a, result, report, single)

    def _state(self, q: ArrayLike, v: ArrayLike, closed: bool) -> tuple[Array, Array]:
        q = self.model.check_configuration(q)
        v = as_array('v', v, (self.model.nv,))
        if closed:
            self._require_closed(q, v)
        if self.functions:
            self._data.write_functions(
                np.concatenate([f.at(q, self.model.nv)[1] for f in self.functions]),
                np.concatenate([f.bias_at(q, v) for f in self.functions]))
        return q, v

    def _solve(self, q: ArrayLike, v: ArrayLike, prescribed: NDArray[np.bool_],
               a: ArrayLike | None, tau: ArrayLike, external: ArrayLike | None,
               closed: bool) -> ConstrainedSolution:
        """Solve; a None says that nothing is prescribed."""
        q, v = self._state(q, v, closed)
        free = self._all if a is None else ~prescribed
        if a is None:
            given, single = self._orders('tau', tau, free)
            a, result = np.zeros_like(given), self._room(len(given))
            result['tau'][:] = given
        else:
            a, single = self._orders('a', a, prescribed)
            result = self._room(len(a))
            result['tau'][:] = self._like('tau', tau, a, single, free)
        report = np.zeros(REPORT_WIDTH)
        code = self._kernel(
            solver.HYBRID, free, self._nothing, self._unweighted,
            self._press(external, len(a), single), q, v, a, *result.values(), report)
        self._check(code, q, v=v, tau=result['tau'])
        return self._solution(a, result, report, single, unprescribed=bool(free.all()))

    def _solution(self, a: Array, result: Mapping[str, Array], report: Array, single: bool,
                  unprescribed: bool = False) -> ConstrainedSolution:
        of_order = 0 if single else slice(None)
        rank, quality = int(report[RANK]), float(report[QUALITY])
        status = ConstraintStatus.REGULAR if rank == self.m else ConstraintStatus.REDUNDANT
        if report[DEFECT] > CONSISTENT:
            status = ConstraintStatus.INCONSISTENT
        elif unprescribed and rank < self.m and rank < self.mobility.rank:
            status = ConstraintStatus.SINGULAR
        elif quality < NEAR_SINGULAR and self.m:
            status = ConstraintStatus.NEAR_SINGULAR
        return ConstrainedSolution(
            a[of_order], result['tau'][of_order], result['multipliers'][of_order],
            result['wrenches'][of_order], rank, quality, status)

    def _orders(self, name: str, value: ArrayLike, read: NDArray[np.bool_]
                ) -> tuple[Array, bool]:
        """Return derivatives (order + 1, nv), zero where not read, and whether they were one."""
        array = as_numbers(name, value)
        rows = np.atleast_2d(array)
        if array.ndim not in (1, 2) or rows.shape[1] != self.model.nv or not len(rows):
            raise ShapeError(f'{name}: expected shape {(self.model.nv,)}, or a row for each order '
                             f'of differentiation, got {array.shape}')
        order = len(rows) - 1
        if order > MAX_ORDER:
            raise LimitError(f'{name}: expected orders 0 to {MAX_ORDER}, got {order}')
        if order > 0 and self.functions:
            raise LimitError(
                f'{name}: expected order 0 alone, as the derivatives of the constraint functions '
                f'{[function.name for function in self.functions]} are not known beyond bias, '
                f'got {order}')
        if order > self._data.order:
            self._data.make_room(order)
            self._bind()
        rows = rows.copy() if read is self._all else np.where(read, rows, 0.0)
        return require_finite(name, rows), array.ndim == 1

    def _like(self, name: str, value: ArrayLike, a: Array, single: bool,
              read: NDArray[np.bool_]) -> Array:
        """Return derivatives as many as those of a, zero where they are not read."""
        array, shape = as_numbers(name, value), (self.model.nv,) if single else a.shape
        if array.shape != shape:
            raise ShapeError(f'{name}: expected shape {shape}, got {array.shape}')
        return require_finite(name, np.where(read, array.reshape(a.shape), 0.0))

    def _room(self, orders: int) -> dict[str, Array]:
        return {'tau': np.zeros((orders, self.model.nv)),
                'multipliers': np.zeros((orders, self.m)),
                'wrenches': np.zeros((orders, len(self.model.closures), 6))}

    def _press(self, external: ArrayLike | None, orders: int, single: bool) -> Array:
        """Return Taylor coefficients (B, orders, 6) of wrenches, of no bodies where none are."""
        core = (len(self.model.bodies), 6)
        if external is None:
            return np.zeros((0, orders, 6))
        wrenches = as_array('external', external, core if single else (orders, *core))
        factorials = np.array([math.factorial(k) for k in range(orders)])
        series = wrenches.reshape(orders, *core) / factorials[:, None, None]
        return np.ascontiguousarray(series.transpose(1, 0, 2))

    def _check(self, code: int, q: Array, **vectors: Array) -> None:
        if code != solver.DONE:
            stop(self.model, code, '', q, **vectors)

    def _refuse_actuators(self, q: Array, driven: NDArray[np.bool_]) -> None:
        rows = self.jacobian(q)[:, ~driven]
        _, sizes, free = np.linalg.svd(rows)
        rank = int((sizes > 1e-8 * max(sizes.max(initial=0.0), 1e-300)).sum())
        moves = np.abs(free[rank:]).max(axis=0, initial=0.0) > 1e-6
        names = [name for name, passive in zip(self.model.coordinate_names, ~driven) if passive]
        raise ModelError(f'actuated: expected actuators that decide the motion, got '
                         f'{int(driven.sum())}, which leave {len(names) - rank} freedom of '
                         f'{[name for name, moving in zip(names, moves) if moving]}')


def _weights(weights: ArrayLike | None, size: int) -> Array:
    if weights is None:
        return np.ones(size)
    array = as_array('weights', weights, (size,))
    if not (array > 0.0).all():
        raise LimitError(f'weights: expected numbers above 0, got {array.tolist()}')
    return array
