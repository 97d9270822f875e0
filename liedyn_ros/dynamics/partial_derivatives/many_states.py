# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of dynamics, and of K states: by kernels on all cores, by Python where none do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, output
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.batch.pool import BatchPool
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels import table
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import PRODUCT_WIDTH
from liedyn_ros.dynamics.partial_derivatives.kernels.second import SECOND_WIDTH
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import kernel_array, raise_refusal, states_of
from liedyn_ros.jit.simd import LANES
from liedyn_ros.model import Model
from liedyn_ros.model.kernels import kinds

Shapes = tuple[tuple[int, ...], ...]
Result = TypeVar('Result', bound=tuple[Array, ...])


class ScratchBuffers:
    """
    Scratch buffers of one model; undefined between calls.

    data is that of the dynamics. links, columns, products, variations and factors are as in
    kernels.table, kernels.products, kernels.second and kernels.factorization. sides holds 2 nv + 3
    columns, then nv more. Both, and the rows of factors, are filled up to multiples of LANES.
    before (nv,) is the coordinate before each on its path, -1 for none.
    """

    def __init__(self, constants: Constants) -> None:
        """Allocate the buffers."""
        links = constants.model.link_table
        self.data = Data(constants).table
        self.links = np.zeros((constants.links, table.LINK_WIDTH))
        self.columns = np.zeros((links.nv, table.COLUMN_WIDTH))
        self.products = np.zeros((constants.links, PRODUCT_WIDTH))
        self.variations = np.zeros((constants.links, SECOND_WIDTH))
        self.factors = np.zeros((links.nv, -(-links.nv // LANES) * LANES))
        self.sides = np.zeros((links.nv, sum(
            -(-columns // LANES) * LANES for columns in (2 * links.nv + 3, links.nv))))
        self.before = np.arange(links.nv) - 1
        for i in range(links.N):
            parent = links.parent[i]
            self.before[links.vi[i]] = -1 if parent < 0 else (
                links.vi[parent] + kinds.NV_OF_KIND[links.kind[parent]] - 1)


def results(kind: type[Result], shapes: Shapes, out: Result | None = None) -> Result:
    """Return out, or a named tuple of new arrays; raise LiedynError for an out of another kind."""
    if out is None:
        return tuple.__new__(kind, map(np.empty, shapes))  # half the time of the type's own call
    if type(out) is not kind:
        raise LiedynError(f'out: expected {kind.__name__}, got {type(out).__name__}')
    return out


def written(found: Result, out: Result | None) -> Result:
    """Return a result, in an out of its kind if given; raise LiedynError for another."""
    if out is None:
        return found
    for whole, part in zip(results(type(found), (), out), found):
        output(whole, part.shape)[...] = part
    return out


class PartialDerivatives:
    """
    Derivatives of inverse, forward or hybrid dynamics, of a tree or of closed loops.

    Called as dynamics.inverse.partial_derivatives, with the arguments of dynamics.inverse, and the
    others alike. External wrenches (B, 6) stay the same in the frames of their bodies. Damping
    counts; the jump of Coulomb friction has no derivative. Multipliers are those of loops.

    In a batch arguments have an axis of states first, and so have results. Masks, such as what is
    prescribed, and options are the same for all. Raises the errors of the single call, with the
    state before them, and ShapeError for another number of rows.

    >>> robot.hybrid.partial_derivatives.batch([q], [v], ['elbow'], [a], [tau]).a_by_q.shape
    (1, 6, 6)
    """

    _model: Model

    def __repr__(self) -> str:
        """Return the kind of dynamics, and the model."""
        return f'<{type(self).__name__} of {self._model!r}>'

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the Jacobians, beside the result of the algorithm and the multipliers.

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: of hybrid dynamics: names of joints or coordinates, or a mask (nv,), of
                those whose acceleration is given; tau gives the force of the others.
            a: of inverse and hybrid dynamics: acceleration (nv,); rad/s^2 and m/s^2.
            tau: of forward and hybrid dynamics: joint forces (nv,); N m and N.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            out: an earlier result, to be written again; by default a new one.
            closed: of loops: whether the state must be on the constraints; else the velocity stays
                off them as it is.
            options: of inverse dynamics of loops: tau, actuated, redundancy and weights.

        Returns:
            an object of Jacobians (nv, nv), of the multipliers (m, nv): its class tells them.

        Raises:
            SingularError: naming a coordinate that moves no inertia, and where the rank of the
                constraints drops.
            LiedynError: for a state that is wrong or open.
            ShapeError: for an out of another model, or one that shares memory with an input.

        >>> robot.forward.partial_derivatives(q, v, tau).by_q.shape
        (6, 6)
        """
        raise NotImplementedError

    def product(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the change of the result along a direction, the JVP by_q dq + by_v dv + ...

        It takes O(n) of a tree and O(n + n m) of loops.

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: of hybrid dynamics: names of joints or coordinates, or a mask (nv,), of
                those whose acceleration is given; tau gives the force of the others.
            a: of inverse and hybrid dynamics: acceleration (nv,); rad/s^2 and m/s^2.
            tau: of forward and hybrid dynamics: joint forces (nv,); N m and N.
            dq: change of q (nv,), along the tangents of model.integrate; rad and m.
            dv: change of v (nv,).
            da: of inverse dynamics: change of a (nv,).
            dtau: of forward dynamics: change of tau (nv,); of inverse dynamics of loops: that of
                the forces of passive joints, by default zero.
            given: of hybrid dynamics: change (nv,) of the prescribed accelerations and of the
                other forces.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            parameters: change of parameters of model and wrenches, which counts as well.
            options: of inverse dynamics of loops: tau, actuated, redundancy and weights.

        Returns:
            (nv,), of hybrid dynamics a and tau (nv,); of loops an array with the changes of a, tau
            (nv,) and multipliers (m,) as attributes.

        Raises:
            SingularError: naming a coordinate that moves no inertia, and where the rank of the
                constraints drops.
            LiedynError: for a state that is wrong or open.

        >>> found = robot.inverse.partial_derivatives.product(q, v, a, v, v, v)
        >>> at = robot.inverse.partial_derivatives(q, v, a)
        >>> np.allclose(found, (at.by_q + at.by_v + at.by_a) @ v)
        True
        """
        raise NotImplementedError

    def gradient(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the gradient of y . x + z . multipliers, x being the result: the VJP.

        It takes O(n) of a tree and O(n + n m) of loops. x of hybrid dynamics is tau where a is
        prescribed, and a elsewhere.

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: of hybrid dynamics: names of joints or coordinates, or a mask (nv,), of
                those whose acceleration is given; tau gives the force of the others.
            a: of inverse and hybrid dynamics: acceleration (nv,); rad/s^2 and m/s^2.
            tau: of forward and hybrid dynamics: joint forces (nv,); N m and N.
            y: weights (nv,) of the result.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            z: of loops: weights (m,) of the multipliers, by default zero.
            parameters: takes the gradient by parameters of model and wrenches.
            closed: of loops: whether the state must be on the constraints; else the velocity stays
                off them as it is.
            options: of inverse dynamics of loops: tau, actuated, redundancy and weights.

        Returns:
            a of forward, a and tau of hybrid dynamics, and gradients by all, each (nv,).

        Raises:
            SingularError: naming a coordinate that moves no inertia, and where the rank of the
                constraints drops.
            LiedynError: for a state that is wrong or open.

        >>> found = robot.forward.partial_derivatives.gradient(q, v, tau, v)
        >>> np.allclose(found.by_q, v @ robot.forward.partial_derivatives(q, v, tau).by_q)
        True
        """
        raise NotImplementedError

    def batch(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the Jacobians of K states.

        Args:
            q: configurations (K, nq), of loops closed ones; rad and m.
            v: velocities (K, nv); rad/s and m/s.
            prescribed: of hybrid dynamics, one for all: names, or a mask (nv,).
            a: of inverse and hybrid dynamics: (K, nv); rad/s^2 and m/s^2.
            tau: of forward and hybrid dynamics: (K, nv); N m and N.
            external: wrenches (K, B, 6) on bodies; by default none.
            options: those of the call of one state, for all.

        Returns:
            the arrays of one state with a first axis of states.

        Raises:
            LiedynError: naming the first state that is wrong or open.

        >>> linkage.forward.partial_derivatives.batch([closed], [rest], [rest]).by_q.shape
        (1, 3, 3)
        """
        return self._of_states(self.__call__, *_parted(self.__call__, arguments, options))

    def gradient_batch(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the gradients of K states.

        Args:
            q: configurations (K, nq), of loops closed ones; rad and m.
            v: velocities (K, nv); rad/s and m/s.
            prescribed: of hybrid dynamics, one for all: names, or a mask (nv,).
            a: of inverse and hybrid dynamics: (K, nv); rad/s^2 and m/s^2.
            tau: of forward and hybrid dynamics: (K, nv); N m and N.
            y: weights (K, nv) of the result.
            external: wrenches (K, B, 6) on bodies; by default none.
            options: those of the call of one state, for all.

        Returns:
            the arrays of one state with a first axis of states.

        Raises:
            LiedynError: naming the first state that is wrong or open.

        >>> derive = linkage.forward.partial_derivatives
        >>> derive.gradient_batch([closed], [rest], [rest], [rest]).by_q.shape
        (1, 3)
        """
        return self._of_states(self.gradient, *_parted(self.gradient, arguments, options))

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


class StatePool:
    """Runs a kernel of kernels.states on K states, each thread with scratch buffers of its own."""

    def __init__(self, constants: Constants, buffers: Callable[[ScratchBuffers], tuple[Any, ...]]
                 ) -> None:
        """Take the constants, and which of the scratch buffers a kernel works on."""
        self._constants, self._buffers = constants, buffers
        self._pool = BatchPool(partial(ScratchBuffers, constants))

    def run(self, kernel: Callable[..., tuple[int, int]], kind: type[Any], shapes: Shapes,
            external: ArrayLike | None, q: ArrayLike, **given: ArrayLike) -> Any:
        """
        Return a named tuple of arrays of these shapes, with a first axis of states.

        given are (K, nv) each, in the order of the kernel; y comes behind external. Raises the
        errors of one state, with the state.
        """
        model, q = self._constants.model, states_of(self._constants.model, q)
        taken = {name: kernel_array(name, value, (len(q), model.nv))
                 for name, value in given.items()}
        wrenches = np.empty((len(q), 0, 6)) if external is None else kernel_array(
            'external', external, (len(q), len(model.bodies), 6))
        weights = [taken.pop('y')] if 'y' in taken else []
        result = results(kind, tuple((len(q), *shape) for shape in shapes))

        def task(scratch: ScratchBuffers, *arrays: Array) -> tuple[int, int]:
            return kernel(self._constants.table, *self._buffers(scratch), *arrays)

        s, code = self._pool.run(task, (q, *taken.values(), wrenches, *weights, *result))
        if code != DONE:
            inputs = {**taken, **({'y': weights[0]} if weights else {}),
                      **({} if external is None else {'external': wrenches})}
            raise_refusal(
                model, code, f'[{s}]', q[s], **{name: x[s] for name, x in inputs.items()})
        return result
