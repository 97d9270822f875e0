# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Between the messages that describe a tree and the arrays of one model."""

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from geometry_msgs.msg import Pose
from liedyn_interfaces.msg import (
    BodyWrench, DynamicsQuery, TreeAcceleration, TreeEffort, TreeState)
import numpy as np

from liedyn_ros.checks import Array
from liedyn_ros.dynamics.higher_order import LARGEST_ORDER
from liedyn_ros.dynamics.names import Indices, JointNames, JointOrder
from liedyn_ros.errors import LimitError, NameSetError, ShapeError
from liedyn_ros.lie import se3
from liedyn_ros.lie.derivatives import BODY, SPATIAL, Twists
from liedyn_ros.model import Model
from liedyn_ros.nodes import conversions


class TreeMessages:
    """
    Reads and writes the messages of one model.

    A reader checks names and sizes, raising LiedynError; Dynamics checks the numbers.
    """

    def __init__(self, model: Model) -> None:
        """Take the model."""
        self.model, self.names = model, JointNames(model)
        self.floating = self.names.base is not None
        self._pose_world_joint = np.eye(4)  # of the joint that frees the base
        if self.floating:
            placement = model.layout.placement[0]
            self._pose_world_joint[:3] = np.column_stack((placement[:9].reshape(3, 3),
                                                          placement[9:]))
        self._placed = bool((self._pose_world_joint != np.eye(4)).any())

    def read_state(self, message: TreeState) -> tuple[Array, Array, JointOrder]:
        """Return q (nq,), v (nv,), and the order in which the joints are listed."""
        self._require_frame(message.child_frame_id)
        order = self.names.order(tuple(message.joint_names))
        q, v = np.empty(self.model.nq), np.empty(self.model.nv)
        q[order.q] = _sized('positions', message.positions, order.q)
        v[order.v] = _sized('velocities', message.velocities, order.v)
        if self.floating:
            q[:7] = self._read_base(message.base_pose)
            v[:6] = conversions.from_twist(message.base_twist)
        return q, v, order

    def read_accelerations(
            self, messages: Sequence[TreeAcceleration], order: JointOrder, entries: int) -> Array:
        """Return a (nv,) of the only entry, or (entries, nv) of several."""
        return self._read_rates('accelerations', messages, order, entries, conversions.from_twist)

    def read_efforts(
            self, messages: Sequence[TreeEffort], order: JointOrder, entries: int) -> Array:
        """Return tau (nv,) of the only entry, or (entries, nv) of several."""
        return self._read_rates('efforts', messages, order, entries, conversions.from_wrench)

    def read_external(self, messages: Sequence[BodyWrench], entries: int) -> Array | None:
        """Return wrenches (B, 6) on all bodies, (entries, B, 6) of several, None without any."""
        if not messages:
            return None
        external = np.zeros((entries, len(self.model.bodies), 6))
        with np.errstate(all='ignore'):  # sums that are not finite are refused by Dynamics
            for message in messages:
                if message.order >= entries:
                    raise LimitError(f'external: expected order {entries - 1} at most of the '
                                     f'wrench on {message.body!r}, got {message.order}')
                external[message.order, self.model.body_index(message.body)] += (
                    conversions.from_wrench(message.wrench))
        return external[0] if entries == 1 else external

    def to_body(self, q: Array, v: Array, a: Array) -> Array:
        """Return a (nv,) or (r + 1, nv) whose base rows were those of the spatial twist."""
        return self._seen_from(BODY, q, v, a)

    def to_spatial(self, q: Array, v: Array, a: Array) -> Array:
        """Return a (nv,) or (r + 1, nv) with base rows that are those of the spatial twist."""
        return self._seen_from(SPATIAL, q, v, a)

    def to_state(self, q: Array, v: Array, message: TreeState) -> None:
        """Write a state, the joints in the model's order."""
        order = self.names.order(tuple(self.names.others))
        message.child_frame_id = self.names.base_body
        message.joint_names = list(self.names.others)
        message.positions, message.velocities = doubles(q[order.q]), doubles(v[order.v])
        if self.floating:
            conversions.to_pose(self._pose_world_base(q), message.base_pose)
            conversions.to_twist(v[:6], message.base_twist)

    def to_acceleration(self, a: Array, order: JointOrder) -> TreeAcceleration:
        """Return accelerations (nv,) as a message."""
        message = TreeAcceleration()
        message.joints = doubles(a[order.v])
        if self.floating:
            conversions.to_twist(a[:6], message.base)
        return message

    def to_effort(self, tau: Array, order: JointOrder) -> TreeEffort:
        """Return efforts (nv,) as a message."""
        message = TreeEffort()
        message.joints = doubles(tau[order.v])
        if self.floating:
            conversions.to_wrench(tau[:6], message.base)
        return message

    def _require_frame(self, frame: str) -> None:
        if frame != self.names.base_body:
            raise NameSetError(
                f'child_frame_id: expected {self.names.base_body!r}, the floating base in whose '
                f'frame base_twist is, got {frame!r}' if self.floating else
                f'child_frame_id: expected none, as the base is fixed, got {frame!r}')

    def _read_base(self, message: Pose) -> tuple[float, ...]:
        """Return the seven numbers of the base in q."""
        if self._placed:
            pose_joint_base = se3.inverse(self._pose_world_joint) @ conversions.from_pose(message)
            message = Pose()
            conversions.to_pose(pose_joint_base, message)
        p, r = message.position, message.orientation
        return p.x, p.y, p.z, r.x, r.y, r.z, r.w

    def _pose_world_base(self, q: Array) -> Array:
        pose_joint_base = conversions.from_position_quaternion(q[:3].tolist(), q[3:7].tolist())
        return self._pose_world_joint @ pose_joint_base

    def _read_rates(
            self, name: str, messages: Sequence[Any], order: JointOrder, entries: int,
            read_base: Callable[[Any], tuple[float, ...]]) -> Array:
        if len(messages) != entries:
            raise ShapeError(f'{name}: expected {entries} entries, got {len(messages)}')
        rates = np.empty((len(messages), self.model.nv))
        for k, (message, row) in enumerate(zip(messages, rates)):
            row[order.v] = _sized(f'{name}[{k}].joints', message.joints, order.v)
            if self.floating:
                row[:6] = read_base(message.base)
        return rates[0] if entries == 1 else rates

    def _seen_from(self, frame: str, q: Array, v: Array, a: Array) -> Array:
        """Return a with its base rows, those of the other frame's twist, converted."""
        other, result = SPATIAL if frame == BODY else BODY, np.array(a)
        rows = result.reshape(-1, len(v))
        with np.errstate(all='ignore'):  # what is not finite then is refused by Twists
            pose = self._pose_world_base(q)
            twist = Twists(pose, v[None, :6], BODY).to(other).derivatives
            motion = Twists(pose, np.vstack([twist, rows[:, :6]]), other).to(frame)
        rows[:, :6] = motion.derivatives[1:]
        return result


def count_entries(query: DynamicsQuery, *, accelerations: bool, efforts: bool) -> int:
    """
    Return how many entries, one for each order, a query has of accelerations, efforts or both.

    Raises ShapeError, or LimitError for an order that is too high.
    """
    sizes = {}
    for name, wanted in (('accelerations', accelerations), ('efforts', efforts)):
        size = len(getattr(query, name))
        if not wanted and size:
            raise ShapeError(
                f'{name}: expected none, as they are what is asked for, got {size}')
        if wanted and not size:
            raise ShapeError(f'{name}: expected an entry for each order from 0 on, got none')
        if size > LARGEST_ORDER + 1:
            raise LimitError(f'{name}: expected {LARGEST_ORDER + 1} entries at most, up to order '
                             f'{LARGEST_ORDER}, got {size}')
        if wanted:
            sizes[name] = size
    if len(set(sizes.values())) > 1:
        raise ShapeError(f'accelerations and efforts: expected as many of both, got '
                         f'{sizes["accelerations"]} and {sizes["efforts"]}')
    return max(sizes.values())


def _sized(name: str, values: Sequence[float], places: Indices) -> Sequence[float]:
    if len(values) != len(places):
        raise ShapeError(f'{name}: expected {len(places)} numbers for the joints named, '
                         f'got {len(values)}')
    return values


def doubles(values: Array) -> 'array[float]':
    """Return numbers as messages hold them, without a look at each."""
    return array('d', values.tobytes())
