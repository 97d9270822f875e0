# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Products of the Jacobians of machines with closed loops with vectors, from either side.

Each runs the dynamics, and solves its system once more with the factors that it has left. So the
cost does not grow with the number of derivatives. Constraint functions need a jacobian_series;
products take seven of these, gradients four for each coordinate.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, require_finite
from liedyn_ros.common.while_it_lives import while_it_lives
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, ConstraintStatus, LEAST_TORQUE
from liedyn_ros.dynamics.constrained.kernels import solver as kernels
from liedyn_ros.dynamics.constrained.partial_derivatives.function_rows import (
    FunctionRows, require_series)
from liedyn_ros.dynamics.constrained.partial_derivatives.hybrid import require_solved
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    VARIATION_WIDTH)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.parameters import Extra
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.products import (
    constrained_gradient as gradient_kernel, constrained_product as product_kernel, PRODUCT,
    WORK_ROWS)
from liedyn_ros.dynamics.constrained.partial_derivatives.parameters import extra_of
from liedyn_ros.dynamics.constrained.partial_derivatives.systems import refuse_rank
from liedyn_ros.dynamics.constrained.solver.solver import Task, task_of
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.dynamics.tree.inputs import borrowed, copied, mask

Motion = tuple[ArrayLike, ArrayLike, ArrayLike]  # q, v and a


class ConstrainedProduct(NamedTuple):
    """How a and tau (nv,) and the multipliers (m,) change along a direction."""

    a: Array
    tau: Array
    multipliers: Array


class ConstrainedGradient(NamedTuple):
    """The partial derivatives of y . a + z . multipliers, each (nv,)."""

    by_q: Array
    by_v: Array
    by_tau: Array


class ConstrainedInverseGradient(NamedTuple):
    """The partial derivatives of y . tau + z . multipliers, each (nv,)."""

    by_q: Array
    by_v: Array
    by_a: Array
    by_tau: Array


class ConstrainedHybridGradient(NamedTuple):
    """The partial derivatives of y . x + z . multipliers, each (nv,), x being what is found."""

    by_q: Array
    by_v: Array
    by_given: Array


def constrained_product(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dq: ArrayLike,
        dv: ArrayLike, dtau: ArrayLike, external: ArrayLike | None = None, *,
        parameters: Parameters | None = None) -> ConstrainedProduct:
    """
    Return by_q dq + by_v dv + by_tau dtau of constrained_partial_derivatives.

    parameters are changes of all that the model and external say, and count as well.

    Where constraints are redundant, the multipliers stay those of least norm. Raises what
    constrained_partial_derivatives raises.
    """
    rest = np.zeros(dynamics.model.nv)
    extra = extra_of(dynamics, q, external, parameters)
    motion = q, v, _forward(dynamics, q, v, tau, external)
    return _product(dynamics, dynamics.forward.task, motion, dq, dv, rest, dtau, extra)


def constrained_gradient(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike, y: ArrayLike,
        external: ArrayLike | None = None, *, z: ArrayLike | None = None,
        parameters: Parameters | None = None) -> ConstrainedGradient:
    """
    Return the gradient of y . a + z . multipliers at a state on the constraints.

    y is (nv,), z (m,), by default zero. The gradient by parameters is written into these. Raises
    what constrained_partial_derivatives raises.
    """
    extra = extra_of(dynamics, q, external, parameters)
    motion = q, v, _forward(dynamics, q, v, tau, external)
    by_q, by_v, _, by_tau = _gradient(dynamics, dynamics.forward.task, motion, y, z, extra)
    return ConstrainedGradient(by_q, by_v, by_tau)


def constrained_inverse_product(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike, dq: ArrayLike,
        dv: ArrayLike, da: ArrayLike, *, dtau: ArrayLike | None = None,
        tau: ArrayLike | None = None, actuated: ArrayLike | None = None,
        redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
        external: ArrayLike | None = None, parameters: Parameters | None = None
        ) -> ConstrainedProduct:
    """
    Return by_q dq + by_v dv + by_a da + by_tau dtau of constrained_inverse_partial_derivatives.

    parameters are changes of all that the model and external say, and count as well. dtau (nv,),
    by default zero, is read where joints are passive. The multipliers of redundant constraints
    stay those of least norm. Raises what that function raises.
    """
    extra = extra_of(dynamics, q, external, parameters)
    passive, task = _inverse(
        dynamics, q, v, a, tau, actuated, redundancy, weights, external)
    given = np.zeros(len(passive)) if dtau is None else as_array('dtau', dtau, passive.shape)
    return _product(dynamics, task, (q, v, a), dq, dv, da, np.where(passive, given, 0.0), extra)


def constrained_inverse_gradient(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, *,
        z: ArrayLike | None = None, tau: ArrayLike | None = None,
        actuated: ArrayLike | None = None, redundancy: str = LEAST_TORQUE,
        weights: ArrayLike | None = None, external: ArrayLike | None = None,
        parameters: Parameters | None = None) -> ConstrainedInverseGradient:
    """
    Return the gradient of y . tau + z . multipliers at a motion on the constraints.

    y is (nv,), z (m,), by default zero. The gradient by parameters is written into these. by_tau
    is zero where joints are actuated. Raises what constrained_inverse_partial_derivatives raises.
    """
    extra = extra_of(dynamics, q, external, parameters)
    passive, task = _inverse(
        dynamics, q, v, a, tau, actuated, redundancy, weights, external)
    by_q, by_v, by_a, by_forces = _gradient(dynamics, task, (q, v, a), y, z, extra)
    return ConstrainedInverseGradient(
        by_q, by_v, by_a, np.where(passive, np.asarray(y) - by_forces, 0.0))


def constrained_hybrid_product(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike,
        a: ArrayLike, tau: ArrayLike, dq: ArrayLike, dv: ArrayLike, given: ArrayLike,
        external: ArrayLike | None = None, *, parameters: Parameters | None = None
        ) -> ConstrainedProduct:
    """
    Return by_q dq + by_v dv + by_given given of constrained_hybrid_partial_derivatives.

    given (nv,) is the change of the acceleration where it is prescribed, of the force elsewhere.
    parameters are changes of all that the model and external say, and count as well. Raises what
    that function raises.
    """
    extra = extra_of(dynamics, q, external, parameters)
    known, found = _hybrid(dynamics, q, v, prescribed, a, tau, external)
    given = as_array('given', given, known.shape)
    task = task_of(kernels.HYBRID, (~known).tobytes())
    return _product(dynamics, task, (q, v, found), dq, dv, np.where(known, given, 0.0),
                    np.where(known, 0.0, given), extra)


def constrained_hybrid_gradient(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike,
        a: ArrayLike, tau: ArrayLike, y: ArrayLike, external: ArrayLike | None = None, *,
        z: ArrayLike | None = None, parameters: Parameters | None = None
        ) -> ConstrainedHybridGradient:
    """
    Return the gradient of y . x + z . multipliers, x being tau where a is prescribed, else a.

    y is (nv,), z (m,), by default zero. The gradient by parameters is written into these. Raises
    what constrained_hybrid_partial_derivatives raises.
    """
    extra = extra_of(dynamics, q, external, parameters)
    known, found = _hybrid(dynamics, q, v, prescribed, a, tau, external)
    task = task_of(kernels.HYBRID, (~known).tobytes())
    by_q, by_v, by_a, by_tau = _gradient(dynamics, task, (q, v, found), y, z, extra)
    return ConstrainedHybridGradient(by_q, by_v, np.where(known, by_a, by_tau))


def _forward(dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
             external: ArrayLike | None) -> Array:
    """Run forward dynamics at order zero, which leaves its factors; return a."""
    if type(tau) is not np.ndarray or tau.shape != (dynamics.model.nv,):
        tau = as_array('tau', tau, (dynamics.model.nv,))
    _begin(dynamics)
    found = dynamics.forward(q, v, tau, external=external)
    if found.status is ConstraintStatus.SINGULAR:
        refuse_rank(dynamics, found.rank)
    return found.a


def _inverse(dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike,
             tau: ArrayLike | None, actuated: ArrayLike | None, redundancy: str,
             weights: ArrayLike | None, external: ArrayLike | None
             ) -> tuple[NDArray[np.bool_], Task]:
    """Run inverse dynamics at order zero; return which joints are passive, and the task."""
    if type(a) is not np.ndarray or a.shape != (dynamics.model.nv,):
        a = as_array('a', a, (dynamics.model.nv,))
    _begin(dynamics)
    found = dynamics.inverse(q, v, a, tau=tau, actuated=actuated, redundancy=redundancy,
                             weights=weights, external=external)
    driven = dynamics.model.actuated if actuated is None else np.asarray(actuated)
    task = dynamics.inverse.task(driven, redundancy, weights)
    if task.kind == kernels.LEAST_TORQUE and found.rank < dynamics.mobility.rank:
        refuse_rank(dynamics, found.rank)
    return ~driven, task


def _hybrid(dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike,
            a: ArrayLike, tau: ArrayLike, external: ArrayLike | None
            ) -> tuple[NDArray[np.bool_], Array]:
    """Run hybrid dynamics at order zero; return which accelerations are prescribed, and all."""
    known = mask('prescribed', prescribed, dynamics.model.nv)
    shape = known.shape
    a, tau = copied('a', a, shape), copied('tau', tau, shape)
    _begin(dynamics)
    found = dynamics.hybrid(q, v, known, a, tau, external=external)
    require_solved(found)
    return known, found.a


def _begin(dynamics: ConstrainedDynamics) -> None:
    """Check functions, and find the mobility, which works in the tables that factors stay in."""
    if dynamics.functions:
        require_series(dynamics)
    _ = dynamics.mobility


def _product(dynamics: ConstrainedDynamics, task: Task, motion: Motion, dq: ArrayLike,
             dv: ArrayLike, da: ArrayLike, dtau: ArrayLike, extra: Extra | None
             ) -> ConstrainedProduct:
    """Return the product after a call of the dynamics."""
    n = dynamics.model.nv
    given = {'dq': dq, 'dv': dv, 'da': da, 'dtau': dtau}
    direction = [borrowed(name, x, (n,)) for name, x in given.items()]
    out, functions = np.empty(2 * n + dynamics.m), None
    if dynamics.functions:
        rows, v, a = _functions(dynamics, motion)
        functions = rows.change(v, a, as_array('dq', dq, (n,)), as_array('dv', dv, (n,)))
    if not product_kernel(dynamics.data.words, task.words, _room(dynamics), extra, functions,
                          *direction, out):
        for name, x in zip(given, direction):
            as_array(name, x, (n,))
        _require_finite('parameters', extra)
        as_array('product', out, out.shape)
    return ConstrainedProduct(out[:n], out[n:2 * n], out[2 * n:])


def _gradient(dynamics: ConstrainedDynamics, task: Task, motion: Motion, y: ArrayLike,
              z: ArrayLike | None, extra: Extra | None) -> Array:
    """Return the gradient by q, v, a and the weights of forces after a call of the dynamics."""
    n, m, room = dynamics.model.nv, dynamics.m, _room(dynamics)
    y = borrowed('y', y, (n,))
    z = np.zeros(m) if z is None else borrowed('z', z, (m,))
    by, functions = np.empty((4, n)), None
    if dynamics.functions:
        rows, v, a = _functions(dynamics, motion)
        functions = rows.weights(v, a)
    if not gradient_kernel(dynamics.data.words, task.words, room, extra, functions, y, z, by):
        as_array('y', y, (n,))
        as_array('z', z, (m,))
        as_array('gradient', by, by.shape)
        _require_finite('gradient', extra)
    return by


def _functions(dynamics: ConstrainedDynamics, motion: Motion) -> tuple[FunctionRows, Array, Array]:
    """Return the functions at a motion, its velocity and its acceleration."""
    q, *rates = motion
    v, a = (as_array(name, x, (dynamics.model.nv,)) for name, x in zip(('v', 'a'), rates))
    return FunctionRows(dynamics, dynamics.model.check_configuration(q)), v, a


def _require_finite(name: str, extra: Extra | None) -> None:
    if extra is not None:
        require_finite(name, extra.vector)


@while_it_lives
def _room(dynamics: ConstrainedDynamics) -> Array:
    """Return the room of the kernels, whose content belongs to nobody after a call."""
    model = dynamics.model
    return PRODUCT.pack(variations=np.zeros((model.link_table.N + 1, VARIATION_WIDTH)),
                        work=np.zeros((WORK_ROWS, max(model.nv, dynamics.m))))
