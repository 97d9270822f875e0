# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of machines with closed loops by their kinematic parameters (13.26), (13.20).

A parameter displaces the bodies behind it, as a locked joint there would, and with them the frames
of closures. The length of a link between two joints is the placement of the second; by_placement
has it. by_length has rod closures alone. Constraint functions are of the coordinates alone, and do
not vary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.gradients import gap_gradient
from liedyn_ros.dynamics.constrained.partial_derivatives.products import buffers, ParameterBuffers
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.lie import se3
from liedyn_ros.model.kernels.kinds import FORCE_Z


Pull = Callable[[Array, Array], object]  # of y (nv,) and z (m,)


class LoopKinematicJacobians(NamedTuple):
    """
    The partial derivatives of a quantity (k,) by the kinematics of J joints and C closures.

    by_placement (k, J, 6), by_axis (k, J, 3) and by_pitch (k, J) are as in KinematicJacobians.
    by_frame_a and by_frame_b (k, C, 6): by a twist xi, angular first, in a frame of a closure,
    which replaces frame by frame exp(xi); rad and m. by_closure_pitch (k, C): of helical closures,
    m/rad. by_length (k, C): of rods, m. Zero for other closures. q, v and other input stay the
    same numbers, so that a parameter alone may open loops; see kinematic_gaps.

    >>> by = linkage.inverse.partial_derivatives.by_kinematics(closed, rest, rest).tau
    >>> by.by_placement.shape, by.by_frame_a.shape
    ((3, 3, 6), (3, 1, 6))
    """

    by_placement: Array
    by_axis: Array
    by_pitch: Array
    by_frame_a: Array
    by_frame_b: Array
    by_closure_pitch: Array
    by_length: Array


class KinematicGaps(NamedTuple):
    """
    Jacobians of positions, residual(q), and velocities, jacobian(q) @ v, of opened loops too.

    position and velocity have m rows; those that a tolerance leaves out count as closed.

    >>> kinematic_gaps(linkage, closed, rest).position.by_frame_b.shape
    (5, 1, 6)
    """

    position: LoopKinematicJacobians
    velocity: LoopKinematicJacobians


def kinematic_gaps(constraints: Constraints, q: ArrayLike, v: ArrayLike) -> KinematicGaps:
    """
    Return by how much kinematic parameters open the constraints of a closed state.

    A displacement dq with A dq = -position dp closes them again: the derivative of an assembly,
    for the calibration of a machine with closed loops.

    Args:
        constraints: a ConstrainedDynamics.
        q: closed configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.

    Returns:
        derivatives of residual(q) and of jacobian(q) @ v, (m, ...).

    Raises:
        LiedynError: for an open state.

    >>> kinematic_gaps(linkage, closed, rest).position.by_frame_a.shape
    (5, 1, 6)
    """
    model, m = constraints.model, constraints.m
    q, v = model.check_configuration(q), as_array('v', v, (model.nv,))
    if not v.any():  # at rest nothing turns
        position = LoopKinematicJacobians(*(
            each[0] for each in position_gaps(constraints, q[None])))
        return KinematicGaps(position, LoopKinematicJacobians(*map(np.zeros_like, position)))
    constraints.require_closed_state(q, v)
    write = _gap_gradients(constraints)

    def begin(by: Parameters) -> Pull:
        return lambda y, z: write(by, q, v, y, z)

    position, velocity = gradients(constraints, (m, m), begin)
    turned = turned_gaps(constraints, q, v)
    return KinematicGaps(position, LoopKinematicJacobians(*(
        rate + np.tensordot(turned, gap, 1) for rate, gap in zip(velocity, position))))


def position_gaps(constraints: Constraints, q: Array) -> LoopKinematicJacobians:
    """Return the first of kinematic_gaps at closed configurations (n, nq): (n, m, ...) each."""
    model, by, units = constraints.model, Parameters(constraints.model), np.eye(constraints.m)
    write, parts = _gap_gradients(constraints), _kinematic(by)
    rest, rates = np.zeros(model.nv), np.zeros(constraints.m)
    result = LoopKinematicJacobians(*(
        np.empty((len(q), constraints.m, *part.shape)) for part in parts))
    for k, each in enumerate(q):
        constraints.require_closed(each, rest)
        for i, unit in enumerate(units):
            write(by, each, rest, unit, rates)
            for whole, part in zip(result, parts):
                whole[k, i] = part
    return result


def _gap_gradients(constraints: Constraints) -> Callable[..., None]:
    """Return a writer of the gradient of y . gap + z . rate at a state into parameters."""
    nv, m, links = constraints.model.nv, constraints.m, constraints.model.link_table.N
    tables, scratch = ParameterBuffers(constraints), buffers(nv, m, links)
    free, rest, out = np.zeros(nv, dtype=bool), np.zeros((1, nv)), np.empty((3, nv))
    no_wrenches = np.zeros((0, 1, 6))

    def write(by: Parameters, q: Array, v: Array, y: Array, z: Array) -> None:
        gap_gradient(constraints.data.workspace, scratch, tables.arrays(q, None, by), free, q, v,
                     rest, no_wrenches, y, z, out)

    return write


def turned_gaps(constraints: Constraints, q: Array, v: Array) -> Array:
    """
    Return G (m, m): where the loops are open by f, f' = Phi^T V_rel + G f to first order (12.56).

    Frame b turns and moves against frame a while its gap is seen from one of them.
    """
    model, result = constraints.model, np.zeros((constraints.m, constraints.m))
    poses, twists, _ = constraints.tree.kinematics(q, v)
    first = 0
    for closure in model.closures:
        rows = [(first + i, kind) for i, kind in enumerate(closure.row_kinds)
                if kind <= FORCE_Z]
        moves = np.zeros((2, 6))  # of each frame, in the frame
        ends = [closure.frame_a, closure.frame_b]
        for k, body in enumerate((closure.body_a, closure.body_b)):
            if body is not None:
                at = model.body_index(body)
                moves[k] = se3.adjoint(se3.inverse(ends[k])) @ twists[at]
                ends[k] = poses[at] @ ends[k]
        relative = moves[1] - se3.adjoint(se3.inverse(ends[1]) @ ends[0]) @ moves[0]
        turning = -se3.ad(relative)
        for row, kind in rows:
            for column, other in rows:
                result[row, column] = turning[kind, other]
        first += closure.rows
    return result


def kinematic_jacobians(constraints: Constraints, begin: Callable[[Parameters], Pull]
                        ) -> tuple[LoopKinematicJacobians, LoopKinematicJacobians]:
    """
    Return the Jacobians of x (nv,) and of the multipliers (m,) by parameters; see gradients.

    begin solves the dynamics. All n + m VJPs are of that solution.
    """
    return gradients(constraints, (constraints.model.nv, constraints.m), begin)


def gradients(constraints: Constraints, sizes: tuple[int, int],
              begin: Callable[[Parameters], Pull]
              ) -> tuple[LoopKinematicJacobians, LoopKinematicJacobians]:
    """
    Return the Jacobians of x and z.

    begin returns a function that writes the gradient of y . x + w . z into the parameters.
    """
    by, (n, m) = Parameters(constraints.model), sizes
    pull = begin(by)
    parts = _kinematic(by)
    result = LoopKinematicJacobians(*(np.empty((n + m, *part.shape)) for part in parts))
    for k, unit in enumerate(np.eye(n + m)):
        pull(unit[:n], unit[n:])
        for whole, part in zip(result, parts):
            whole[k] = part
    return (LoopKinematicJacobians(*(whole[:n] for whole in result)),
            LoopKinematicJacobians(*(whole[n:] for whole in result)))


def _kinematic(by: Parameters) -> LoopKinematicJacobians:
    """Return the parts of parameters that are kinematic."""
    return LoopKinematicJacobians(by.placement, by.axis, by.pitch, by.frame_a, by.frame_b,
                                  by.closure_pitch, by.length)


def rows_of(jacobians: LoopKinematicJacobians, kept: NDArray[np.bool_]) -> LoopKinematicJacobians:
    """Return the Jacobians with zero rows where they are not kept."""
    return LoopKinematicJacobians(*(
        np.where(kept.reshape(-1, *(1,) * (each.ndim - 1)), each, 0.0) for each in jacobians))
