# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The results of a call for each link."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.time_derivatives.kernels import series
from liedyn_ros.dynamics.tree.constants import Constants, homogeneous
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.lie import se3, so3

_UPPER = np.triu_indices(3)
_CALLS = {
    tables.POSES: 'inverse, forward, mass_matrix or kinematics',
    tables.TWISTS: 'inverse, forward or hybrid',
    tables.ACCELERATIONS: 'inverse, forward or hybrid',
    tables.WRENCHES: 'inverse, forward or hybrid',
    tables.ARTICULATED_INERTIAS: 'forward or hybrid',
    tables.COMPOSITE_INERTIAS: 'mass_matrix'}


class Data:
    """
    The results of the last call it was given to: one state, by names of bodies.

    A Dynamics has its own, Dynamics.data, which its threads share; copies keep it from the next
    call. Every result is a copy; twists, accelerations, wrenches and inertias are in the frame of
    the body, about its origin. Copies and pickles have their own table.

    All methods raise ModelError for an unknown name, and LiedynError where the last call has not
    computed the result. Wrenches and inertias of bodies fixed to the ground raise LiedynError: no
    call computes the inertia of the ground.

    >>> _ = robot.inverse(q, v, a)
    >>> robot.data.pose('tool').shape
    (4, 4)
    """

    def __init__(self, constants: Constants) -> None:
        """
        Allocate the tables.

        Args:
            constants: of the model; a Dynamics has its data as `data`.
        """
        self.constants = constants
        self.table = np.zeros((constants.rows, tables.DATA_WIDTH))
        self.series: Array = np.zeros((0, series.SERIES_TABLE_WIDTH))
        # An upward acceleration of the ground stands for gravity. (3.0)
        gravity = constants.table[0, tables.GRAVITY:tables.GRAVITY + 3]
        self.table[0, tables.ACCELERATION + 3:tables.ACCELERATION + 6] = -gravity
        self.table[0, [tables.ROTATION, tables.ROTATION + 4, tables.ROTATION + 8]] = 1.0
        self.table[0, [tables.GROUND_POSE, tables.GROUND_POSE + 4, tables.GROUND_POSE + 8]] = 1.0

    def __repr__(self) -> str:
        """Return a line that names the model."""
        return f'<Data of {self.constants.model!r}>'

    def copy(self) -> 'Data':
        """
        Return data of the same constants with the same results.

        Returns:
            the copy, with a table of its own.

        >>> _ = robot.inverse(q, v, a)
        >>> np.array_equal(robot.data.copy().pose('tool'), robot.data.pose('tool'))
        True
        """
        other = Data(self.constants)
        other.table[:] = self.table
        return other

    def __copy__(self) -> 'Data':
        """Return a copy that later calls do not change."""
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> 'Data':
        """Return a copy; constants are shared, as they never change."""
        return self.copy()

    def series_buffer(self, order: int) -> Array:
        """
        Return a scratch buffer for the time derivatives of a state, undefined between calls.

        Args:
            order: of the derivatives.

        Returns:
            one row for each link and order.

        >>> len(robot.data.series_buffer(3)) >= robot.constants.links * 5
        True
        """
        buffer, rows = self.series, self.constants.links * (order + 2)
        if len(buffer) < rows:  # another thread may put a shorter one in its place meanwhile
            buffer = self.series = np.zeros((rows, series.SERIES_TABLE_WIDTH))
        return buffer

    def pose(self, body: str) -> Array:
        """
        Return the pose of a body in the ground.

        Args:
            body: name of a body.

        Returns:
            T_ground_body (4, 4); m.

        Raises:
            LiedynError: where the last call has not computed it, and for an unknown name.

        >>> _ = robot.inverse(q, v, a)
        >>> np.allclose(robot.data.pose('tool'), robot.frames.pose(q, 'tool'))
        True
        """
        return self._link_pose(self._row(body, tables.POSES)) @ self.constants.placement(body)

    def twist(self, body: str) -> Array:
        """
        Return the twist of a body in its frame.

        Args:
            body: name of a body.

        Returns:
            (6,), angular part first; rad/s and m/s.

        Raises:
            LiedynError: where the last call has not computed it, and for an unknown name.

        >>> _ = robot.inverse(q, v, a)
        >>> np.allclose(robot.data.twist('tool'), robot.frames.twist(q, v, 'tool'))
        True
        """
        return self._motion(body, tables.TWIST, tables.TWISTS)

    def acceleration(self, body: str) -> Array:
        """
        Return the derivative of the numbers of the body twist.

        Args:
            body: name of a body.

        Returns:
            (6,), angular part first; rad/s^2 and m/s^2.

        Raises:
            LiedynError: where the last call has not computed it, and for an unknown name.

        >>> _ = robot.inverse(q, v, a)
        >>> robot.data.acceleration('tool').shape
        (6,)
        """
        motion = self._motion(body, tables.ACCELERATION, tables.ACCELERATIONS)
        gravity = self.constants.table[0, tables.GRAVITY:tables.GRAVITY + 3]
        motion[3:] += self.pose(body)[:3, :3].T @ gravity  # (3.0)
        return motion

    def wrench(self, body: str) -> Array:
        """
        Return the wrench that the joint of a body transmits from its parent.

        A body behind fixed joints has that of the first joint before it that moves.

        Args:
            body: name of a body.

        Returns:
            (6,) in the frame of the body, moment (N m) before force (N).

        Raises:
            LiedynError: where the last call has not computed it, and for an unknown name.

        >>> _ = robot.inverse(q, v, a)
        >>> robot.data.wrench('tool').shape
        (6,)
        """
        row = self.table[self._moved(body, self._row(body, tables.WRENCHES))]
        if self._has(tables.ARTICULATED_INERTIAS):  # F = Ihat V' + Bhat (3.13)
            wrench = (_articulated(row) @ row[tables.ACCELERATION:tables.ACCELERATION + 6]
                      + row[tables.BIAS_WRENCH:tables.BIAS_WRENCH + 6])
        else:
            wrench = row[tables.WRENCH:tables.WRENCH + 6]
        return self._to_body(body).T @ wrench

    def inertia(self, body: str) -> Array:
        """
        Return the spatial inertia of all that is fixed to the link of a body.

        Args:
            body: name of a body.

        Returns:
            (6, 6) in the frame of the body; kg m^2, kg m and kg.

        Raises:
            LiedynError: for an unknown name.

        >>> robot.data.inertia('tool').shape
        (6, 6)
        """
        row = self._moved(body, self.constants.row(body))
        return self._in_body(body, rigid(self.constants.table[row], tables.INERTIA))

    def composite_inertia(self, body: str) -> Array:
        """
        Return the spatial inertia of the link of a body and all after it, as if welded.

        Args:
            body: name of a body.

        Returns:
            (6, 6) in the frame of the body; kg m^2, kg m and kg.

        Raises:
            LiedynError: where the last call has not computed it, and for an unknown name.

        >>> _ = robot.mass_matrix(q)
        >>> robot.data.composite_inertia('forearm').shape
        (6, 6)
        """
        row = self._moved(body, self._row(body, tables.COMPOSITE_INERTIAS))
        return self._in_body(body, rigid(self.table[row], tables.COMPOSITE))

    def articulated_inertia(self, body: str) -> Array:
        """
        Return the articulated inertia of the link of a body: what a force on it accelerates.

        Args:
            body: name of a body.

        Returns:
            (6, 6) in the frame of the body; kg m^2, kg m and kg.

        Raises:
            LiedynError: where the last call has not computed it, and for an unknown name.

        >>> _ = robot.forward(q, v, tau)
        >>> robot.data.articulated_inertia('forearm').shape
        (6, 6)
        """
        row = self._moved(body, self._row(body, tables.ARTICULATED_INERTIAS))
        return self._in_body(body, _articulated(self.table[row]))

    def _has(self, what: int) -> bool:
        return bool(int(self.table[0, tables.COMPUTED]) & what)

    def _row(self, body: str, what: int) -> int:
        row = self.constants.row(body)
        if not self._has(what):
            raise LiedynError(f'data of {body}: expected a successful call of {_CALLS[what]} '
                              'before, got another one or none')
        return row

    def _moved(self, body: str, row: int) -> int:
        """Return the row of a body, or raise LiedynError where it is fixed to the ground."""
        if row == 0:
            raise LiedynError(f'{body}: expected a body that a joint moves, got one that is fixed '
                              'to the ground')
        return row

    def _link_pose(self, i: int) -> Array:
        pose = np.eye(4)
        while i > 0:
            pose = homogeneous(self.table[i], tables.ROTATION) @ pose
            i = self.constants.parent(i)
        return pose

    def _motion(self, body: str, column: int, what: int) -> Array:
        row = self.table[self._row(body, what)]
        placement = self.constants.placement(body)
        return np.asarray(se3.adjoint(se3.inverse(placement)) @ row[column:column + 6])

    def _to_body(self, body: str) -> Array:
        """Return Ad of the pose of a body in its link."""
        return se3.adjoint(self.constants.placement(body))

    def _in_body(self, body: str, inertia: Array) -> Array:
        adjoint = self._to_body(body)
        return np.asarray(adjoint.T @ inertia @ adjoint)


def rigid(row: Array, column: int) -> Array:
    """Return the spatial inertia (6, 6) in ten columns of a row: m, h, J (1.17)."""
    result = np.zeros((6, 6))
    result[:3, :3] = _symmetric(row[column + 4:column + 10])
    result[:3, 3:] = so3.hat(row[column + 1:column + 4])
    result[3:, :3] = result[:3, 3:].T
    result[3:, 3:] = row[column] * np.eye(3)
    return result


def _articulated(row: Array) -> Array:
    numbers = row[tables.ARTICULATED:tables.ARTICULATED + 21]
    a, b, c = _symmetric(numbers[:6]), numbers[6:15].reshape(3, 3), _symmetric(numbers[15:])
    return np.block([[a, b], [b.T, c]])


def _symmetric(numbers: Array) -> Array:
    result = np.zeros((3, 3))
    result[_UPPER] = numbers
    return result + np.triu(result, 1).T
