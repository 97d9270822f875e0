# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The constraints of a model: its closures and couplings, at positions and velocities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
import math

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained.constraints.function import ConstraintFunction
from liedyn_ros.dynamics.constrained.constraints.singular_mass import typical_inertia
from liedyn_ros.dynamics.constrained.constraints.size import machine_size, translates
from liedyn_ros.dynamics.constrained.constraints.tables import (
    ConstrainedData, exclusive, TableLock)
from liedyn_ros.dynamics.constrained.kernels.position import (
    closure_residuals, write_constraint_sizes)
from liedyn_ros.dynamics.constrained.kernels.tolerances import CLOSED_STATE
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.frames import Frames
from liedyn_ros.dynamics.partial_derivatives.parameter_products import table_of_bodies
from liedyn_ros.dynamics.tree.inputs import MAX_ORDER, refuse
from liedyn_ros.dynamics.tree.names import Names
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import Model

_FACTORIALS = np.array([math.factorial(k) for k in range(MAX_ORDER + 1)], dtype=np.float64)
_ROW_NAMES = ('moment_x', 'moment_y', 'moment_z', 'force_x', 'force_y', 'force_z', 'screw',
              'moment_cross', 'across_x', 'across_y', 'across_z', 'along_rod')


class Constraints:
    """
    The m constraints f(q) = 0 and A v = 0 of a model, and of functions of a user after these.

    tree is the dynamics without them, names finds coordinates by name. row_sizes (m,) are what a
    residual is compared with: 1 rad, and 1 m or the size of a smaller machine. All methods raise
    ShapeError, NotFiniteError or NotInGroupError. Threads may share an object; one of them works
    in its tables at a time.

    >>> len(linkage.constraint_names) == linkage.m
    True
    """

    def __init__(self, model: Model, *, dissipation: bool = True,
                 functions: Sequence[ConstraintFunction] = ()) -> None:
        """Lay out the tables of a model."""
        import_module('scipy.linalg')  # of rank.py: no call of a stream is to wait for it
        self.functions, self.lock = tuple(functions), TableLock()
        self.tree, self.names = Dynamics(model, dissipation=dissipation), Names(model)
        self.data = ConstrainedData(
            model, dissipation, sum(function.rows for function in self.functions),
            typical_inertia(self.tree))
        self.m, self.row_sizes = self.data.m, self.data.row_sizes
        self._nearest = np.full(len(model.closures), math.nan)
        self._bind()

    @property
    def model(self) -> Model:
        """Return the model, with its closures where they are now."""
        return self.tree.model

    def _bind(self) -> None:
        """Bind the kernels to the tables, which are new if they had to grow."""
        self._residual = BoundKernel(closure_residuals, self.data.workspace)
        self._sizes = BoundKernel(write_constraint_sizes, self.data.workspace)

    @exclusive
    def reserve(self, order: int) -> bool:
        """
        Allocate tables for time derivatives to an order, ahead of the first call.

        Args:
            order: of the derivatives.

        Returns:
            whether they are new.

        >>> linkage.reserve(0)
        False
        """
        if order <= self.data.order:
            return False
        self.data.reserve(order)
        self._bind()
        return True

    def write_functions(self, q: Array, v: Array) -> Array:
        """
        Write rows and bias of functions at a state into the tables.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.

        Returns:
            the residuals (k,) of the functions.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> row = np.eye(1, 6) - np.eye(1, 6, 1)
        >>> even = ConstraintFunction('even', 1, lambda q: row @ q, lambda q: row,
        ...                           bias=lambda q, v: [0.0])
        >>> held = ld.ConstrainedDynamics(model, functions=[even])
        >>> held.write_functions(q, v)
        array([0.])
        """
        table, at = self.model.link_table, [f.at(q, self.model.nv) for f in self.functions]
        self.data.write_functions(
            np.concatenate([rows for _, rows in at]),
            np.concatenate([f.bias_at(table, q, v) for f in self.functions]))
        return np.concatenate([residual for residual, _ in at])

    def write_function_series(self, q: Array, motion: Array) -> None:
        """
        Write how the rows of functions change along a motion.

        Args:
            q: configuration (nq,); rad and m.
            motion: v and its derivatives (K, nv).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> row = np.eye(1, 6) - np.eye(1, 6, 1)
        >>> even = ConstraintFunction('even', 1, lambda q: row @ q, lambda q: row,
        ...                           bias=lambda q, v: [0.0])
        >>> held = ld.ConstrainedDynamics(model, functions=[even])
        >>> _ = held.reserve(1)
        >>> held.write_function_series(q, v[None])
        """
        rate = motion / _FACTORIALS[:len(motion), None]
        table = self.model.link_table
        self.data.write_function_series(np.concatenate(
            [f.series_along(table, q, rate) for f in self.functions], axis=1))

    @property
    def frames(self) -> Frames:
        """Return the poses, twists, accelerations and Jacobians of frames: call its methods."""
        return self.tree.frames

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """Return a name for each constraint, e.g. 'knee_loop/force_x', functions last."""
        rows = [f'{closure.name}/{_ROW_NAMES[kind]}' for closure in self.model.closures
                for kind in closure.row_kinds]
        return (*rows, *('='.join((each.joint, *(leader for leader, _ in each.terms)))
                         for each in self.model.couplings),
                *(name for function in self.functions for name in function.row_names))

    def residual(self, q: ArrayLike) -> Array:
        """
        Return how far each constraint is open (12.2).

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            (m,); rad and m.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> bool(np.abs(linkage.residual(closed)).max() < 1e-9)
        True
        """
        return self.residual_and_jacobian(q)[0]

    def jacobian(self, q: ArrayLike) -> Array:
        """
        Return the Jacobian A of the constraints: A v = 0 (12.1).

        Args:
            q: closed configuration (nq,); rad and m.

        Returns:
            A (m, nv).

        Raises:
            LiedynError: for a state that is wrong or open.

        >>> linkage.jacobian(closed).shape
        (5, 3)
        """
        return self.residual_and_jacobian(q)[1]

    def residual_and_jacobian(self, q: ArrayLike) -> tuple[Array, Array]:
        """
        Return how far each constraint is open and its derivative, also off the closed set.

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            (m,), rad and m, and (m, nv).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> linkage.residual_and_jacobian(closed)[1].shape
        (5, 3)
        """
        return self.residual_and_jacobian_at(self.model.check_configuration(q))

    @exclusive
    def residual_and_jacobian_at(self, q: Array) -> tuple[Array, Array]:
        """
        Return residual and Jacobian at a configuration that has been checked.

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            (m,), rad and m, and (m, nv).

        >>> linkage.residual_and_jacobian_at(closed)[0].shape
        (5,)
        """
        f, rows = np.empty(self.m), np.empty((self.m, self.model.nv))
        if not self._residual.call(q, self._nearest.copy(), f, rows):
            refuse(self.model, '', q)
        first = self.m
        for function in reversed(self.functions):
            own = slice(first - function.rows, first)
            f[own], rows[own] = function.at(q, self.model.nv)
            first = own.start
        return f, rows

    @exclusive
    def rows_and_sizes(self, q: Array) -> tuple[Array, Array]:
        """
        Return the Jacobian and the most that its entries can be, without units at the coordinates.

        A rotation counts by the angle, a translation by the size of the machine (12.59).

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            both (m, nv).

        >>> linkage.rows_and_sizes(closed)[1].shape
        (5, 3)
        """
        rows, sizes = self.jacobian(q), np.empty((self.m, self.model.nv))
        self._sizes.call(q, sizes)
        first = self.m - sum(function.rows for function in self.functions)
        sizes[first:] = np.abs(rows[first:])
        return rows * self._reach, sizes * self._reach

    @cached_property
    def _reach(self) -> Array:
        return np.where(translates(self.model), machine_size(self.model), 1.0)

    @cached_property
    def parameter_bodies(self) -> Array:
        """Return the table of bodies that derivatives by parameters read."""
        return table_of_bodies(self.model)

    def largest(self, residual: Array) -> float:
        """
        Return the largest of residuals, compared with the sizes of the rows.

        Args:
            residual: (m,); rad and m.

        Returns:
            the number, without unit.

        >>> linkage.largest(np.zeros(linkage.m))
        0.0
        """
        return float((np.abs(residual) / self.row_sizes).max(initial=0.0))

    def require_closed(self, q: ArrayLike, v: ArrayLike) -> None:
        """
        Raise the error of a state that is not on the constraints.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.

        Raises:
            LiedynError: naming the constraints that it leaves open.

        >>> linkage.require_closed(closed, rest)
        """
        self.require_closed_state(
            self.model.check_configuration(q), as_array('v', v, (self.model.nv,)))

    def require_closed_state(self, q: Array, v: Array, suffix: str = '') -> None:
        """
        Raise the error of a checked state that is not on the constraints.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            suffix: of the name of a state in a batch.

        Raises:
            LiedynError: naming the constraints that it leaves open.

        >>> linkage.require_closed_state(closed, rest)
        """
        f, rows = self.residual_and_jacobian_at(q)
        speed = rows @ v
        closed = CLOSED_STATE * self.row_sizes
        limit = closed + CLOSED_STATE * (np.abs(rows) @ np.abs(v))
        for name, value, bound, way in (
                ('q', f, closed, 'assemble closes it'),
                ('v', speed, limit, 'project or complete_velocity makes one; forward takes it '
                 'with closed=False or project=True')):
            wide = np.abs(value) > bound
            if wide.any():
                names = [each for each, bad in zip(self.constraint_names, wide) if bad]
                raise LiedynError(f'{name}{suffix}: expected a state on the constraints, got '
                                  f'{names} open by {np.abs(value)[wide].max():.3g}; {way}',
                                  names=names, expected=0.0, got=float(np.abs(value)[wide].max()))
