# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Task space: how frames of a robot move under forces at them, of trees and of closed loops.

What matters of a machine is its response P to joint forces, a = P tau + a0: M^-1 of a tree, or
N (N^T M N)^-1 N^T of loops whose free motions are N. All follows from it (12.66), (Khatib 1987).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, unknown_name
from liedyn_ros.common.errors import LimitError, ModelError
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.constrained.constraints.rank import independent_coordinates
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.inverse_kinematics import (
    ORIENTATION, POINT, POSE)
from liedyn_ros.dynamics.constrained.kernels.task_mobility import (
    invert_on_range, loop_mobility, tree_mobility)
from liedyn_ros.dynamics.constrained.minimal_coordinates import MinimalCoordinates
from liedyn_ros.dynamics.constrained.minimal_motions import (
    all_motions, least_efforts, reduced_mass)
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.frames import LOCAL_WORLD_ALIGNED
from liedyn_ros.dynamics.tree.constants import NO_WRENCHES
from liedyn_ros.dynamics.tree.inputs import kernel_array
from liedyn_ros.dynamics.tree.names import Names

_ROWS = {POSE: slice(0, 6), POINT: slice(3, 6), ORIENTATION: slice(0, 3)}


class TaskDynamics(NamedTuple):
    """
    inertia Lambda (t, t) and bias (t,) of the tasks: force = inertia acceleration + bias.

    Numbers of a task are angular before linear, along the axes of the ground: rad/s^2 and m/s^2,
    N m and N. jacobian J (t, nv) has J v their velocities, and J a + drift their accelerations, of
    the origins of frames. inverse (nv, t) is the dynamically consistent one: the velocities of
    least kinetic energy. null (nv, nv) leaves of velocities what moves no task. Its transpose
    leaves of joint forces what accelerates none. response (nv, nv) has accelerations of joint
    forces. motions (nv, f) are the free ones of loops. rank is less than t where tasks depend on
    each other or are singular: inertia is then that of the directions that can move. names are
    those of coordinates.

    >>> TaskSpace(robot, 'tool')(q + 0.5, v).rank
    6
    """

    inertia: Array
    bias: Array
    jacobian: Array
    drift: Array
    inverse: Array
    null: Array
    response: Array
    motions: Array
    rank: int
    names: Names

    def force(self, acceleration: ArrayLike) -> Array:
        """
        Return the force of the tasks.

        Args:
            acceleration: desired (t,); rad/s^2 and m/s^2.

        Returns:
            (t,); N m and N.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> TaskSpace(robot, 'tool')(q + 0.5, v).force(np.zeros(6)).shape
        (6,)
        """
        wanted = as_array('acceleration', acceleration, self.bias.shape)
        return np.asarray(self.inertia @ wanted + self.bias)

    def efforts(self, acceleration: ArrayLike, others: ArrayLike | None = None,
                actuated: ArrayLike | None = None) -> Array:
        """
        Return the joint forces for accelerations of the tasks.

        Args:
            acceleration: desired (t,); rad/s^2 and m/s^2.
            others: joint forces (nv,) of a lower priority, such as those of a posture; what would
                disturb the tasks is left out.
            actuated: names of joints, or a mask (nv,): passive coordinates then have none, where
                loops or the tree let the others do it. Of MinimalCoordinates it leads to forces
                (nv,) of these joints.

        Returns:
            tau (nv,); N m and N.

        Raises:
            ModelError: where actuators cannot have them.

        >>> TaskSpace(robot, 'tool')(q + 0.5, v).efforts(np.zeros(6)).shape
        (6,)
        """
        nv = len(self.null)
        tau = self.jacobian.T @ self.force(acceleration)
        if others is not None:
            tau = tau + self.null.T @ as_array('others', others, (nv,))
        if actuated is None:
            return np.asarray(tau)
        return least_efforts(
            self.motions, self.names.mask('actuated', actuated),
            self.motions.T @ tau if nv == len(self.motions) else tau)


class TaskSpace:
    """
    The task-space dynamics of frames of a robot: called with a state.

    robot is a Dynamics, a ConstrainedDynamics, or its MinimalCoordinates: then f takes the place
    of nv. frames are names, or what counts of each: POSE, POINT or ORIENTATION. Raises ModelError
    for an unknown name. The C library's task_space and loops_task_space have the same bits, of
    motors that decide the motion.

    >>> TaskSpace(robot, {'tool': 'point'})(q + 0.5, v).inertia.shape
    (3, 3)
    """

    def __init__(self, robot: Dynamics | ConstrainedDynamics | MinimalCoordinates,
                 frames: Mapping[str, str] | Sequence[str] | str) -> None:
        """
        Take a robot and its frames.

        Args:
            robot: a Dynamics, a ConstrainedDynamics or its MinimalCoordinates.
            frames: names, or what counts by name: POSE, POINT or ORIENTATION.

        Raises:
            ModelError: for an unknown frame.
        """
        self._least = None if isinstance(
            robot, Dynamics | MinimalCoordinates) else MinimalCoordinates(robot)
        self.robot = robot
        self._names = Names((robot.dynamics if isinstance(
            robot, MinimalCoordinates) else robot).model)
        if self._least is not None and self._least.held.any():  # rods do spin under forces
            self._least = MinimalCoordinates(
                self._least.dynamics, self._least.known | self._least.held)
        self.frames = ({frames: POSE} if isinstance(frames, str) else dict(frames) if isinstance(
            frames, Mapping) else dict.fromkeys(frames, POSE))
        for name, kind in self.frames.items():
            robot.model.frame_index(name)
            if kind not in _ROWS:
                raise unknown_name(ModelError, f'frame {name}', _ROWS, kind, 'a kind')

    def __call__(self, q: ArrayLike, v: ArrayLike, external: ArrayLike | None = None
                 ) -> TaskDynamics:
        """
        Return inertia, bias and inverses of the tasks at a state.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.

        Returns:
            see TaskDynamics.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> TaskSpace(robot, 'tool')(q + 0.5, v).inertia.shape
        (6, 6)
        """
        robot, motions = self.robot, np.eye(self.robot.model.nv)
        allowed = motions
        if isinstance(robot, MinimalCoordinates):
            (motions, bent), v = robot.motions_and_rate(q, v), as_array('v', v, (robot.model.nv,))
            jacobian, rates = self._rows(robot.dynamics, q, motions @ v)
            jacobian, rates = jacobian @ motions, rates + jacobian @ bent @ v
            response = np.asarray(np.linalg.inv(robot.mass_matrix(q)), np.float64)
            free = -response @ robot.bias(q, v, external)
            mobility = jacobian @ response @ jacobian.T
        else:
            jacobian, rates = self._rows(robot, q, v)
            if isinstance(robot, Dynamics):
                response = robot.inverse_mass_matrix(q)
                free, mobility = _of_tree(robot, q, v, external, jacobian)
            elif self._least is not None:
                free = np.asarray(robot.forward(q, v, np.zeros(len(motions)), external))
                response, motions, mobility = _of_loops(self._least, q, jacobian)
                allowed = motions @ np.linalg.pinv(motions)
        inertia, rank = _inverse(mobility)
        inverse = response @ jacobian.T @ inertia
        return TaskDynamics(
            inertia, -inertia @ (jacobian @ free + rates), jacobian, rates, inverse,
            (np.eye(len(inverse)) - inverse @ jacobian) @ allowed, response, motions, rank,
            self._names)

    def _rows(self, robot: Dynamics | ConstrainedDynamics, q: ArrayLike, v: ArrayLike
              ) -> tuple[Array, Array]:
        """Return the Jacobian (t, nv) of the tasks, and the drift (t,) of its velocities."""
        frames, axes = robot.frames, LOCAL_WORLD_ALIGNED
        return (np.vstack([frames.jacobian(q, name, axes)[_ROWS[kind]]
                           for name, kind in self.frames.items()]),
                np.concatenate([(frames.jacobian_rate(q, v, name, axes) @ np.asarray(v))[
                    _ROWS[kind]] for name, kind in self.frames.items()]))


def _of_loops(least: MinimalCoordinates, q: ArrayLike, jacobian: Array
              ) -> tuple[Array, Array, Array]:
    """Return response (nv, nv), free motions (nv, f), and the mobility of tasks (t, t)."""
    nv = len(least.known)
    try:
        motions = all_motions(least, q, np.zeros(nv))[0]
    except ModelError:  # others decide the motion here, as at a dead centre of the motors
        dynamics, names = least.dynamics, np.array(least.dynamics.model.coordinate_names)
        least = MinimalCoordinates(dynamics, names[independent_coordinates(
            dynamics, q, dynamics.model.leading)].tolist())
        motions = all_motions(least, q, np.zeros(nv))[0]
    found = []
    for rows in (np.eye(nv), jacobian):
        mass, response = reduced_mass(least, q, motions), np.empty_like(rows)
        mobility = np.empty((len(rows), len(rows)))
        if not loop_mobility(mass, motions, rows, np.empty((nv, nv)), response, mobility):
            raise LimitError('q: expected one whose mobility is finite, got one that is not')
        found.append(mobility)
    return found[0], motions[:, least.known], found[1]


def _of_tree(robot: Dynamics, q: ArrayLike, v: ArrayLike, external: ArrayLike | None,
             jacobian: Array) -> tuple[Array, Array]:
    """Return accelerations without joint forces (nv,), and the mobility of tasks (t, t)."""
    (t, nv), bodies = jacobian.shape, len(robot.model.bodies)
    wrenches = NO_WRENCHES if external is None else kernel_array('external', external, (bodies, 6))
    a, tau, mobility = np.empty(nv), np.zeros(nv), np.empty((t, t))
    if tree_mobility(
            robot.constants.table, robot.data.table, robot.model.check_configuration(q),
            as_array('v', v, (nv,)), tau, wrenches, jacobian, a, np.empty((t, nv)),
            mobility) != DONE:
        robot.forward(q, v, tau, external)  # which says what is wrong
        as_array('mobility', mobility, mobility.shape)
    return a, mobility


def _inverse(mobility: Array) -> tuple[Array, int]:
    """Return the inverse of a symmetric matrix on its range, and its rank; units play no part."""
    t, inertia = len(mobility), np.empty_like(mobility)
    rank = invert_on_range(mobility, np.empty((t, t)), np.empty(t), inertia)
    return inertia, int(rank)
