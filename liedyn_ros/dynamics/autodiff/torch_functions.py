# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Dynamics as functions of torch, with gradients in its backward passes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.extras import require_module
from liedyn_ros.dynamics.autodiff.pullbacks import DynamicsFunctions, Pullback
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.dynamics import Dynamics


class TorchFunctions(DynamicsFunctions):
    """
    inverse(q, v, a), forward(q, v, tau), integrate(q, dv) and difference(q0, q1) on tensors.

    Tensors are (n,) or (..., n); leading axes broadcast; the result has the type and device of the
    first. vmap, grad, vjp and jacrev of torch.func take the functions. The work is done in float64
    on the processor. Gradients by q have nq numbers, those of quaternions being perpendicular to
    them: torch's own steps then leave unit length, integrate keeps it. Derivatives of gradients
    are refused. Closed loops have hybrid(q, v, a, tau) too, and take states on the constraints.
    Raises ModuleNotFoundError without torch, and the errors of the calls of the dynamics.

    >>> import torch  # doctest: +SKIP
    >>> at = torch.tensor(q, requires_grad=True)  # doctest: +SKIP
    >>> given = map(torch.tensor, (v, a))  # doctest: +SKIP
    >>> TorchFunctions(robot).inverse(at, *given).sum().backward()  # doctest: +SKIP
    """

    def __init__(self, dynamics: Dynamics | ConstrainedDynamics, *,
                 prescribed: ArrayLike | None = None) -> None:
        """
        Take the dynamics of a tree, or of closed loops and what their hybrid prescribes.

        Args:
            dynamics: of a tree, or of closed loops.
            prescribed: mask (nv,) of the accelerations that hybrid of loops prescribes.
        """
        require_module('torch', "install it as on pytorch.org, or 'pip install torch'")
        torch = import_module('torch')
        super().__init__(dynamics, prescribed, torch.as_tensor, torch.broadcast_to, _function)


def _function(of: Pullback) -> Any:
    """Return a function of torch that calls value and pull."""
    import torch

    def rows(tensor: Any) -> Any:
        array = tensor.detach().cpu().to(torch.float64).numpy()
        return np.ascontiguousarray(array.reshape(-1, array.shape[-1]))

    class Gradient(torch.autograd.Function):
        """The gradients by all arguments, as a function of them and of weights."""

        @staticmethod
        def forward(*tensors: Any) -> Any:
            """Return the gradients; weights come last."""
            return tuple(torch.from_numpy(each).reshape(tensor.shape).to(tensor)
                         for each, tensor in zip(of.pull(*map(rows, tensors)), tensors))

        @staticmethod
        def setup_context(context: Any, inputs: Any, output: Any) -> None:
            """Keep nothing."""

        @staticmethod
        def backward(context: Any, *weights: Any) -> Any:
            """Refuse second derivatives."""
            raise LiedynError('gradient: expected first derivatives of dynamics, got a second '
                              'one: take partial_derivatives.second_derivatives')

        @staticmethod
        def vmap(info: Any, axes: Any, *tensors: Any) -> Any:
            """Return the gradients of many."""
            return _mapped(Gradient, info, axes, tensors), (0,) * (len(tensors) - 1)

    class Function(torch.autograd.Function):
        """The function and its pullback."""

        @staticmethod
        def forward(*tensors: Any) -> Any:
            """Return the value at (..., n)."""
            first = tensors[0]
            value = torch.from_numpy(of.value(*map(rows, tensors)))
            return value.reshape(*first.shape[:-1], of.width).to(first)

        @staticmethod
        def setup_context(context: Any, inputs: Any, output: Any) -> None:
            """Keep the arguments."""
            context.save_for_backward(*inputs)

        @staticmethod
        def backward(context: Any, weights: Any) -> Any:
            """Return the gradients by all arguments."""
            return Gradient.apply(*context.saved_tensors, weights)

        @staticmethod
        def vmap(info: Any, axes: Any, *tensors: Any) -> Any:
            """Return the values of many."""
            return _mapped(Function, info, axes, tensors), 0

    return Function.apply


def _mapped(function: Any, info: Any, axes: Any, tensors: Any) -> Any:
    """Return a function of tensors, each along the axis over which torch maps it, or repeated."""
    return function.apply(*(
        tensor.expand(info.batch_size, *tensor.shape) if axis is None else
        tensor.movedim(axis, 0) for axis, tensor in zip(axes, tensors)))
