# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Dynamics as functions of jax, with gradients, under jit and vmap."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.extras import require_module
from liedyn_ros.dynamics.autodiff.pullbacks import DynamicsFunctions, Pullback
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.dynamics import Dynamics


class JaxFunctions(DynamicsFunctions):
    """
    inverse(q, v, a), forward(q, v, tau), integrate(q, dv) and difference(q0, q1) on arrays of jax.

    Arrays are (n,) or (..., n); leading axes broadcast. jit, vmap and grad take them; vmap runs
    its states on all cores. The work is done in float64 outside of jax; the result has the type
    of the first argument, so enable jax_enable_x64. Gradients by q have nq numbers, those of
    quaternions being perpendicular to them. Second derivatives are missing. With forward_mode,
    jvp and jacfwd take them too; each derivative then costs a gradient for each of its numbers.
    Closed loops have hybrid(q, v, a, tau) too, and take states on the constraints, which float32
    hardly keeps. Raises ModuleNotFoundError without jax.

    >>> import jax  # doctest: +SKIP
    >>> functions = JaxFunctions(robot)  # doctest: +SKIP
    >>> jax.grad(lambda q: functions.inverse(q, v, a).sum())(q).shape  # doctest: +SKIP
    (6,)
    """

    def __init__(self, dynamics: Dynamics | ConstrainedDynamics, *,
                 prescribed: ArrayLike | None = None, forward_mode: bool = False) -> None:
        """
        Take the dynamics of a tree, or of closed loops and what their hybrid prescribes.

        Args:
            dynamics: of a tree, or of closed loops.
            prescribed: mask (nv,) of the accelerations that hybrid of loops prescribes.
            forward_mode: whether jvp and jacfwd take the functions.
        """
        require_module('jax', "install it with 'pip install jax'")
        numpy = import_module('jax.numpy')
        super().__init__(dynamics, prescribed, numpy.asarray, numpy.broadcast_to,
                         _differentiable if forward_mode else _function)


def _rows(*arrays: Any) -> list[Array]:
    """Return arrays (K, n) of arrays whose leading axes broadcast."""
    leading = np.broadcast_shapes(*(np.shape(array)[:-1] for array in arrays))
    return [np.ascontiguousarray(np.broadcast_to(
        array, (*leading, np.shape(array)[-1])), dtype=np.float64).reshape(-1, np.shape(array)[-1])
        for array in arrays]


def _called(function: Callable[..., Any], shapes: Any, *arrays: Any) -> Any:
    """Return the results of a function of rows, called by jax at run time."""
    import jax

    def call(*given: Any) -> Any:
        leading = np.broadcast_shapes(*(np.shape(each)[:-1] for each in given))
        found = function(*_rows(*given))
        parts = found if isinstance(found, tuple) else (found,)
        wanted = jax.tree.leaves(shapes)
        shaped = tuple(part.reshape(*leading, part.shape[-1]).astype(one.dtype)
                       for part, one in zip(parts, wanted))
        return shaped if isinstance(found, tuple) else shaped[0]

    return jax.pure_callback(call, shapes, *arrays, vmap_method='expand_dims')


def _function(of: Pullback) -> Any:
    """Return a function of jax that calls value and pull."""
    import jax

    @jax.custom_vjp
    def function(*arrays: Any) -> Any:
        shape = jax.ShapeDtypeStruct((*arrays[0].shape[:-1], of.width), arrays[0].dtype)
        return _called(of.value, shape, *arrays)

    def ahead(*arrays: Any) -> Any:
        return function(*arrays), arrays

    def back(arrays: Any, weights: Any) -> Any:
        shapes = tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays)
        return _called(of.pull, shapes, *arrays, weights)

    function.defvjp(ahead, back)
    return function


def _differentiable(of: Pullback) -> Any:
    """Return a function of jax that has Jacobians, which both modes multiply with."""
    import jax

    @jax.custom_jvp
    def function(*arrays: Any) -> Any:
        shape = jax.ShapeDtypeStruct((*arrays[0].shape[:-1], of.width), arrays[0].dtype)
        return _called(of.value, shape, *arrays)

    def jacobians(*arrays: Array) -> tuple[Array, ...]:
        """Return rows (K, width n) of the Jacobians by each argument."""
        many = [np.repeat(each, of.width, axis=0) for each in arrays]
        weights = np.tile(np.eye(of.width), (len(arrays[0]), 1))
        return tuple(each.reshape(len(arrays[0]), -1) for each in of.pull(*many, weights))

    @function.defjvp
    def ahead(arrays: Any, changes: Any) -> Any:
        shapes = tuple(jax.ShapeDtypeStruct(
            (*each.shape[:-1], of.width * each.shape[-1]), each.dtype) for each in arrays)
        found = _called(jacobians, shapes, *arrays)
        products = [(by.reshape(*each.shape[:-1], of.width, each.shape[-1])
                     @ change[..., None])[..., 0]
                    for by, each, change in zip(found, arrays, changes)]
        return function(*arrays), sum(products[1:], products[0])

    return function
