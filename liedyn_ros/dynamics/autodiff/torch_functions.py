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

from liedyn_ros.common.extras import require_module
from liedyn_ros.dynamics.autodiff.pullbacks import DynamicsFunctions, Pullback
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.dynamics import Dynamics


class TorchFunctions(DynamicsFunctions):
    """
    inverse(q, v, a), forward(q, v, tau), integrate(q, dv) and difference(q0, q1) on tensors.

    Tensors are (n,) or (..., n); leading axes broadcast; the result has their type and device.
    The work is done in float64 on the processor. Gradients by q have nq numbers, those of
    quaternions being perpendicular to them: torch's own steps then leave unit length, integrate
    keeps it. Gradients have no derivatives. Closed loops have hybrid(q, v, a, tau) too, and take
    states on the constraints. Raises ModuleNotFoundError without torch, and the errors of the
    calls of the dynamics.

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
    from torch.autograd.function import once_differentiable

    def rows(tensor: Any) -> Any:
        array = tensor.detach().cpu().to(torch.float64).numpy()
        return np.ascontiguousarray(array.reshape(-1, array.shape[-1]))

    class Function(torch.autograd.Function):
        """The function and its pullback."""

        @staticmethod
        def forward(context: Any, *tensors: Any) -> Any:
            """Return the value at (K, n)."""
            context.save_for_backward(*tensors)
            first = tensors[0]
            value = torch.from_numpy(of.value(*map(rows, tensors)))
            return value.reshape(*first.shape[:-1], of.width).to(first)

        @staticmethod
        @once_differentiable
        def backward(context: Any, weights: Any) -> Any:
            """Return the gradients by all arguments."""
            tensors = context.saved_tensors
            found = of.pull(*map(rows, tensors), rows(weights))
            return tuple(torch.from_numpy(each).reshape(tensor.shape).to(tensor)
                         for each, tensor in zip(found, tensors))

    return Function.apply
