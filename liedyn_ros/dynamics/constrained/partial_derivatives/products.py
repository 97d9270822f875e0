# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Products of the Jacobians of machines with closed loops with vectors, from either side.

Each follows a call of the dynamics, and solves its system once more with the factors in its
tables. So the cost does not grow with the number of derivatives. Constraint functions need a
jacobian_series; products take seven of these, gradients four for each coordinate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, require_finite
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import FunctionRows
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    FunctionWeights, VARIATION_WIDTH)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.gradients import (
    adjoint_pass, constrained_gradient)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.parameters import ParameterArrays
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.products import (
    constrained_product, PRODUCT, WORK_ROWS)
from liedyn_ros.dynamics.constrained.solver.inputs import Task
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import PRODUCT_WIDTH
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters, shapes_of, vector_of
from liedyn_ros.dynamics.tree.inputs import kernel_array
from liedyn_ros.dynamics.tree.kernels.tables import DATA_WIDTH


class ParameterBuffers:
    """The scratch buffers of one machine for ParameterArrays, undefined between calls."""

    def __init__(self, constraints: Constraints) -> None:
        """Allocate the buffers."""
        self._model = model = constraints.model
        self._dissipation = float(constraints.tree.constants.dissipation)
        self._no_wrenches = np.empty((0, 6))
        sides = [closure.body_b for closure in model.closures]
        sides += [closure.body_a for closure in model.closures]
        bodies = np.array([-1 if body is None else model.body_index(body) for body in sides],
                          dtype=np.int64)
        links = model.link_table.N + 1
        # Kernels of parameters know the width of their table, which is that of products.
        self._buffers = (np.zeros((links, PRODUCT_WIDTH)), constraints.parameter_bodies,
                         np.zeros((len(sides), 6)), bodies, np.zeros((links, DATA_WIDTH)))

    def arrays(self, q: ArrayLike, external: ArrayLike | None, parameters: Parameters
               ) -> ParameterArrays:
        """Return the arrays of kernels, or raise LiedynError or ShapeError for another model."""
        model = self._model
        vector = vector_of(parameters, model, shapes_of(model))
        wrenches = self._no_wrenches if external is None else kernel_array(
            'external', external, (len(model.bodies), 6))
        return ParameterArrays(
            *self._buffers, parameters.ground, parameters.of_coordinates, parameters.of_bodies,
            parameters.of_closures, vector, kernel_array('q', q, (model.nq,)), wrenches,
            self._dissipation)


MotionArrays = tuple[ArrayLike, ArrayLike, ArrayLike]  # q, v and a


class ConstrainedProduct(NamedTuple):
    """How a and tau (nv,) and the multipliers (m,) change along a direction."""

    a: Array
    tau: Array
    multipliers: Array


class LoopProducts:
    """The kernels of products and gradients, after calls of one solver, with scratch buffers."""

    def __init__(self, solver: Solver) -> None:
        """Allocate the buffers."""
        self._constraints = solver.constraints
        self._nv, self._m = solver.model.nv, solver.constraints.m
        self._buffers = buffers(self._nv, self._m, solver.model.link_table.N)

    def parameter_arrays(self, q: ArrayLike, external: ArrayLike | None,
                         parameters: Parameters | None) -> ParameterArrays | None:
        """
        Return the parameters as kernels take them, None for none.

        Raises LiedynError or ShapeError for parameters of another kind or model.
        """
        return None if parameters is None else self._parameters.arrays(q, external, parameters)

    def product(self, task: Task, motion: MotionArrays, rates: tuple[ArrayLike, ...],
                arrays: ParameterArrays | None) -> ConstrainedProduct:
        """Return the product with rates dq, dv, da, dtau (nv,) after a call of the dynamics."""
        n = self._nv
        given = dict(zip(('dq', 'dv', 'da', 'dtau'), rates))
        direction = [kernel_array(name, x, (n,)) for name, x in given.items()]
        out, functions = np.empty(2 * n + self._m), None
        if self._constraints.functions:
            rows, v, a = self._functions(motion)
            functions = rows.change(v, a, *(as_array(name, given[name], (n,))
                                            for name in ('dq', 'dv')))
        if not constrained_product(self._constraints.data.workspace, task.table, self._buffers,
                                   arrays, functions, *direction, out):
            for name, x in zip(given, direction):
                as_array(name, x, (n,))
            _require_finite('parameters', arrays)
            as_array('product', out, out.shape)
        return ConstrainedProduct(out[:n], out[n:2 * n], out[2 * n:])

    def gradient(self, task: Task, motion: MotionArrays, y: ArrayLike, z: ArrayLike | None,
                 arrays: ParameterArrays | None) -> Array:
        """Return the gradient by q, v, a and the weights of forces, as pull has them."""
        if not self._constraints.functions:
            return self.pull(task, y, z, arrays)
        rows, v, a = self._functions(motion)
        return self.pull(task, y, z, arrays, rows.weights(v, a))

    def rows(self, task: Task, arrays: ParameterArrays | None
             ) -> Callable[[Array, Array], object]:
        """Return a function that pulls y and z after a call of the dynamics, and then others."""
        kernels = chain([constrained_gradient], repeat(adjoint_pass))
        return lambda y, z: self.pull(task, y, z, arrays, kernel=next(kernels))

    def pull(self, task: Task, y: ArrayLike, z: ArrayLike | None, arrays: ParameterArrays | None,
             functions: FunctionWeights | None = None,
             kernel: Callable[..., bool] = constrained_gradient) -> Array:
        """
        Return y^T and z^T times the derivatives by q, v, a and forces (4, nv), after a call.

        Only those by q and v need functions: parameters do not change constraint functions.
        adjoint_pass follows a gradient of the same solution.
        """
        n, m = self._nv, self._m
        y = kernel_array('y', y, (n,))
        z = np.zeros(m) if z is None else kernel_array('z', z, (m,))
        by = np.empty((4, n))
        if not kernel(self._constraints.data.workspace, task.table, self._buffers, arrays,
                      functions, y, z, by):
            as_array('y', y, (n,))
            as_array('z', z, (m,))
            as_array('gradient', by, by.shape)
            _require_finite('gradient', arrays)
        return by

    @cached_property
    def _parameters(self) -> ParameterBuffers:
        return ParameterBuffers(self._constraints)

    def _functions(self, motion: MotionArrays) -> tuple[FunctionRows, Array, Array]:
        """Return the functions at a motion, its velocity and its acceleration."""
        q, *rates = motion
        v, a = (as_array(name, x, (self._nv,)) for name, x in zip(('v', 'a'), rates))
        return FunctionRows(
            self._constraints, self._constraints.model.check_configuration(q)), v, a


def buffers(nv: int, m: int, links: int) -> Array:
    """Return the scratch buffers of the kernels, undefined between calls."""
    return PRODUCT.pack(variations=np.zeros((links + 1, VARIATION_WIDTH)),
                        work=np.zeros((WORK_ROWS, max(nv, m))))


def _require_finite(name: str, arrays: ParameterArrays | None) -> None:
    if arrays is not None:
        require_finite(name, arrays.vector)
