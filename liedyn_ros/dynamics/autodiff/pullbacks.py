# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Functions of many states, each with its pullback: the gradient of weights times its result.

A gradient by a configuration has as many numbers as the configuration. Of all vectors whose
product with each motion of q is the derivative along it, it is the smallest (13.57).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, require_kind
from liedyn_ros.common.errors import LiedynError, ShapeError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.lie import so3
from liedyn_ros.model.configuration import difference_derivatives, retraction_derivatives
from liedyn_ros.model.expansion import LinkTable
from liedyn_ros.model.kernels import kinds
from liedyn_ros.model.model import Model


class Pullback(NamedTuple):
    """
    A function of arrays (K, n), a state a row, and its pullback.

    sizes are the n of the arguments. value(*arguments) is (K, width). pull(*arguments, y) are the
    gradients of the sum of y times value by each argument, of its shape.
    """

    sizes: tuple[int, ...]
    width: int
    value: Callable[..., Array]
    pull: Callable[..., tuple[Array, ...]]


class DynamicsFunctions:
    """
    Functions of a library's arrays; `dynamics` is that of their tree or machine with loops.

    >>> JaxFunctions(robot).forward(q, v, tau).shape  # doctest: +SKIP
    (6,)
    """

    def __init__(self, dynamics: Dynamics | ConstrainedDynamics, prescribed: ArrayLike | None,
                 array_of: Callable[[Any], Any], broadcast: Callable[..., Any],
                 function: Callable[[Pullback], Any]) -> None:
        """Take the dynamics, what hybrid prescribes, and a library's calls."""
        if not isinstance(dynamics, Dynamics):
            require_kind(
                'dynamics', dynamics, ConstrainedDynamics, 'or a Dynamics, as load returns')
        self.dynamics = dynamics
        self._functions = {
            name: _aligned(each, function(each), array_of, broadcast)
            for name, each in pullbacks(dynamics, prescribed).items()}

    def inverse(self, q: Any, v: Any, a: Any) -> Any:
        """
        Return joint forces.

        Args:
            q: configurations (..., nq), an array of jax or torch; rad and m.
            v: velocities (..., nv); rad/s and m/s.
            a: accelerations (..., nv); rad/s^2 and m/s^2.

        Returns:
            tau (..., nv); N m and N.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> import torch  # doctest: +SKIP
        >>> from liedyn_ros.dynamics.autodiff import TorchFunctions  # doctest: +SKIP
        >>> functions = TorchFunctions(robot)  # doctest: +SKIP
        >>> tuple(functions.inverse(*map(torch.tensor, (q, v, a))).shape)  # doctest: +SKIP
        (6,)
        """
        return self._functions['inverse'](q, v, a)

    def forward(self, q: Any, v: Any, tau: Any) -> Any:
        """
        Return accelerations.

        Args:
            q: configurations (..., nq), an array of jax or torch; rad and m.
            v: velocities (..., nv); rad/s and m/s.
            tau: joint forces (..., nv); N m and N.

        Returns:
            a (..., nv); rad/s^2 and m/s^2.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> import torch  # doctest: +SKIP
        >>> from liedyn_ros.dynamics.autodiff import TorchFunctions  # doctest: +SKIP
        >>> functions = TorchFunctions(robot)  # doctest: +SKIP
        >>> tuple(functions.forward(*map(torch.tensor, (q, v, tau))).shape)  # doctest: +SKIP
        (6,)
        """
        return self._functions['forward'](q, v, tau)

    def hybrid(self, q: Any, v: Any, a: Any, tau: Any) -> Any:
        """
        Return joint forces where accelerations are prescribed, and accelerations elsewhere.

        The machine has closed loops.

        Args:
            q: closed configurations (..., nq), an array of jax or torch; rad and m.
            v: velocities (..., nv); rad/s and m/s.
            a: (..., nv), read where it is prescribed; rad/s^2 and m/s^2.
            tau: (..., nv), read elsewhere; N m and N.

        Returns:
            (..., nv).

        Raises:
            LiedynError: for a tree.

        >>> import torch  # doctest: +SKIP
        >>> from liedyn_ros.dynamics.autodiff import TorchFunctions  # doctest: +SKIP
        >>> loops = TorchFunctions(linkage, prescribed=linkage.model.actuated)  # doctest: +SKIP
        >>> given = map(torch.tensor, (closed, rest, rest, rest))  # doctest: +SKIP
        >>> tuple(loops.hybrid(*given).shape)  # doctest: +SKIP
        (3,)
        """
        if 'hybrid' not in self._functions:
            raise LiedynError('hybrid: expected a ConstrainedDynamics, got the Dynamics of a tree')
        return self._functions['hybrid'](q, v, a, tau)

    def integrate(self, q: Any, dv: Any) -> Any:
        """
        Return configurations after displacements, q (+) dv.

        Args:
            q: configurations (..., nq), an array of jax or torch; rad and m.
            dv: displacements (..., nv); rad and m.

        Returns:
            q (..., nq).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> import torch  # doctest: +SKIP
        >>> from liedyn_ros.dynamics.autodiff import TorchFunctions  # doctest: +SKIP
        >>> functions = TorchFunctions(robot)  # doctest: +SKIP
        >>> tuple(functions.integrate(torch.tensor(q), torch.tensor(v)).shape)  # doctest: +SKIP
        (6,)
        """
        return self._functions['integrate'](q, dv)

    def difference(self, q0: Any, q1: Any) -> Any:
        """
        Return the displacement dv with q0 (+) dv = q1.

        Args:
            q0: configurations (..., nq), an array of jax or torch; rad and m.
            q1: configurations (..., nq); rad and m.

        Returns:
            dv (..., nv).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> import torch  # doctest: +SKIP
        >>> from liedyn_ros.dynamics.autodiff import TorchFunctions  # doctest: +SKIP
        >>> functions = TorchFunctions(robot)  # doctest: +SKIP
        >>> tuple(functions.difference(torch.tensor(q), torch.tensor(q)).shape)  # doctest: +SKIP
        (6,)
        """
        return self._functions['difference'](q0, q1)


def _aligned(of: Pullback, function: Callable[..., Any], array_of: Callable[[Any], Any],
             broadcast: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose arrays are of reals, of the sizes, and broadcast to each other."""
    def call(*given: Any) -> Any:
        arrays = [1.0 * array_of(each) for each in given]  # whole numbers become reals
        for k, (each, size) in enumerate(zip(arrays, of.sizes)):
            if tuple(each.shape[-1:]) != (size,) or 'complex' in str(each.dtype):
                raise ShapeError(f'argument {k}: expected real numbers (..., {size}), got '
                                 f'{each.dtype} {tuple(each.shape)}', expected=size,
                                 got=tuple(each.shape))
        shapes = [tuple(each.shape[:-1]) for each in arrays]
        try:
            leading = np.broadcast_shapes(*shapes)
        except ValueError as error:
            raise ShapeError('arguments: expected leading axes that broadcast to each other, got '
                             f'{shapes}', got=shapes) from error
        return function(*(broadcast(each, (*leading, size))
                          for each, size in zip(arrays, of.sizes)))

    return call


def pullbacks(dynamics: Dynamics | ConstrainedDynamics, prescribed: ArrayLike | None = None
              ) -> dict[str, Pullback]:
    """
    Return pullbacks of inverse and forward dynamics, integrate and difference, by name.

    Of closed loops there is hybrid too; prescribed names joints, or is a mask (nv,).
    """
    links, nv = dynamics.model.link_table, dynamics.model.nv
    inverse, forward = dynamics.inverse, dynamics.forward

    def pull_inverse(q: Array, v: Array, a: Array, y: Array) -> tuple[Array, ...]:
        by = inverse.partial_derivatives.gradient_batch(q, v, a, y)
        return to_configuration(links, q, by.by_q), by.by_v, by.by_a

    def pull_forward(q: Array, v: Array, tau: Array, y: Array) -> tuple[Array, ...]:
        by = forward.partial_derivatives.gradient_batch(q, v, tau, y)
        return to_configuration(links, q, by.by_q), by.by_v, by.by_tau

    found = _of_motions(dynamics.model)
    sizes = dynamics.model.nq, nv, nv
    found['inverse'] = Pullback(
        sizes, nv, lambda *given: np.asarray(inverse.batch(*given)), pull_inverse)
    found['forward'] = Pullback(
        sizes, nv, lambda *given: np.asarray(forward.batch(*given)), pull_forward)
    if isinstance(dynamics, ConstrainedDynamics):
        known = dynamics.names.mask('prescribed', () if prescribed is None else prescribed)
        found['hybrid'] = _of_hybrid(dynamics, known)
    elif prescribed is not None:
        raise LiedynError('prescribed: expected a ConstrainedDynamics, got the Dynamics of a tree')
    return found


def _of_hybrid(dynamics: ConstrainedDynamics, known: NDArray[np.bool_]) -> Pullback:
    """Return the pullback of hybrid dynamics; known (nv,): those prescribed."""
    links, hybrid = dynamics.model.link_table, dynamics.hybrid

    def unknowns(q: Array, v: Array, a: Array, tau: Array) -> Array:
        found = hybrid.batch(q, v, known, a, tau)
        return np.where(known, found.tau, found.a)

    def pull_hybrid(q: Array, v: Array, a: Array, tau: Array, y: Array) -> tuple[Array, ...]:
        by = hybrid.partial_derivatives.gradient_batch(q, v, known, a, tau, y)
        return (to_configuration(links, q, by.by_q), by.by_v, np.where(known, by.by_given, 0.0),
                np.where(known, 0.0, by.by_given))

    nv = dynamics.model.nv
    return Pullback((dynamics.model.nq, nv, nv, nv), nv, unknowns, pull_hybrid)


def _of_motions(model: Model) -> dict[str, Pullback]:
    """Return the pullbacks of integrate and difference."""
    links = model.link_table

    def difference(q0: Array, q1: Array) -> Array:
        return np.array([model.difference(*each) for each in zip(q0, q1)]).reshape(-1, model.nv)

    def pull_integrate(q: Array, dv: Array, y: Array) -> tuple[Array, ...]:
        weights = to_tangent(links, model.integrate_batch(q, dv), y)
        by_q, by_dv = _weigh((retraction_derivatives(links, each) for each in dv), weights)
        return to_configuration(links, q, by_q), by_dv

    def pull_difference(q0: Array, q1: Array, y: Array) -> tuple[Array, ...]:
        by_q0, by_q1 = _weigh(
            (difference_derivatives(links, each) for each in difference(q0, q1)), y)
        return to_configuration(links, q0, by_q0), to_configuration(links, q1, by_q1)

    nq, nv = model.nq, model.nv
    return {'integrate': Pullback((nq, nv), nq, model.integrate_batch, pull_integrate),
            'difference': Pullback((nq, nq), nv, difference, pull_difference)}


def _weigh(matrices: Any, weights: Array) -> tuple[Array, Array]:
    """Return the products of rows of weights with the two matrices of each state."""
    first, second = np.empty_like(weights), np.empty_like(weights)
    for s, (one, other) in enumerate(matrices):
        first[s], second[s] = weights[s] @ one, weights[s] @ other
    return first, second


def to_configuration(links: LinkTable, q: Array, by: Array) -> Array:
    """Return gradients (K, nq) by configurations of those (K, nv) along their tangents."""
    result = np.zeros_like(q)
    for kind, qi, vi in zip(links.kind, links.qi, links.vi):
        at = qi + kinds.NQ_OF_KIND[kind] - 4
        if at < qi:
            result[:, qi] = by[:, vi]
        else:
            result[:, at:at + 4] = 4.0 * np.einsum(
                'kij,kj->ki', _rates(q[:, at:at + 4]), by[:, vi:vi + 3])
            if at > qi:
                result[:, qi:qi + 3] = np.einsum(
                    'kij,kj->ki', so3.from_quaternion(q[:, at:at + 4]), by[:, vi + 3:vi + 6])
    return result


def to_tangent(links: LinkTable, q: Array, by: Array) -> Array:
    """Return gradients (K, nv) along the tangents of configurations of those (K, nq) by them."""
    result = np.zeros((len(q), links.nv))
    for kind, qi, vi in zip(links.kind, links.qi, links.vi):
        at = qi + kinds.NQ_OF_KIND[kind] - 4
        if at < qi:
            result[:, vi] = by[:, qi]
        else:
            result[:, vi:vi + 3] = np.einsum(
                'kij,ki->kj', _rates(q[:, at:at + 4]), by[:, at:at + 4])
            if at > qi:
                result[:, vi + 3:vi + 6] = np.einsum(
                    'kij,ki->kj', so3.from_quaternion(q[:, at:at + 4]), by[:, qi:qi + 3])
    return result


def _rates(quaternions: Array) -> NDArray[np.float64]:
    """Return the rates (K, 4, 3) of quaternions x, y, z, w by body angular velocities."""
    x, y, z, w = 0.5 * quaternions.T
    return np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]).transpose(2, 0, 1)
