# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Between the messages that describe a tree and the arrays of one model."""

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from geometry_msgs.msg import Pose
from liedyn_interfaces.msg import (
    BodyWrench, DynamicsQuery, TreeAcceleration, TreeEffort, TreeState)
import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, ModelError, NameSetError, ShapeError
from liedyn_ros.dynamics import FloatingBase, JointOrder, MAX_ORDER, Names
from liedyn_ros.model import Model
from liedyn_ros.model.followers import Followers
from liedyn_ros.ros.messages import conversions

MAX_WRENCHES = 10_000  # of a query, as DynamicsQuery.msg says
HOLD_COUPLINGS = 'hold_couplings:=true'  # the parameter of nodes


class TreeMessages:
    """
    Reads and writes the messages of one model.

    A reader checks names and sizes, raising LiedynError; Dynamics checks the numbers.
    """

    def __init__(self, model: Model, *, held: bool = False) -> None:
        """Take the model; held: couplings hold, and joints that follow may be left out."""
        self._followers = Followers(model, '' if held else HOLD_COUPLINGS)
        self.model, self.names = model, Names(model)
        self.base = None if self.names.base is None else FloatingBase(model)
        self.floating = self.base is not None
        self._placed = self.base is not None and not np.array_equal(
            self.base.pose_world_joint, np.eye(4))

    def read_state(self, message: TreeState) -> tuple[Array, Array, JointOrder]:
        """Return q (nq,), v (nv,), and the order in which the joints are listed."""
        self._require_frame(message.child_frame_id)
        names, positions, velocities, count = (
            message.joint_names, message.positions, message.velocities, len(message.joint_names))
        if self._followers.names:
            still = np.zeros(count)
            names, positions, velocities, _ = self._followers.extend(
                names, positions, velocities if velocities else still, still)
        order = self.names.order(names)
        q, v = np.empty(self.model.nq), np.empty(self.model.nv)
        q[order.q] = _sized('positions', positions, order.q)
        v[order.v] = _sized('velocities', velocities, order.v) if len(velocities) else 0.0
        if count < len(names):  # joints of one coordinate, as these behind them
            order = JointOrder(order.q[:count - len(names)], order.v[:count - len(names)])
        if self.base is not None:
            q[:7] = self._read_base(self.base, message.base_pose)
            v[:6] = conversions.from_twist(message.base_twist)
        return q, v, order

    def read_base(self, message: TreeState) -> tuple[Array, Array]:
        """Return the pose (4, 4) and the body twist (6,) of the floating base alone."""
        self._require_frame(message.child_frame_id)
        try:
            pose = conversions.from_pose(message.base_pose)
        except LiedynError as error:
            raise type(error)(f'base_pose: {error}') from error
        return pose, np.array(conversions.from_twist(message.base_twist))

    def read_accelerations(
            self, messages: Sequence[TreeAcceleration], order: JointOrder, entries: int) -> Array:
        """Return a (nv,) of the only entry, or (entries, nv) of several."""
        a = self._read_rates('accelerations', messages, order, entries, conversions.from_twist)
        short = len(order.v) < self.model.nv - (6 if self.floating else 0)
        return self._followers.rates(a) if short else a

    def read_efforts(
            self, messages: Sequence[TreeEffort], order: JointOrder, entries: int) -> Array:
        """Return tau (nv,) of the only entry, or (entries, nv) of several."""
        return self._read_rates('efforts', messages, order, entries, conversions.from_wrench)

    def read_external(self, messages: Sequence[BodyWrench], entries: int) -> Array | None:
        """Return wrenches (B, 6) on all bodies, (entries, B, 6) of several, None without any."""
        if not messages:
            return None
        require_few_wrenches(messages)
        wrenches: dict[str, Array] = {}
        with np.errstate(all='ignore'):  # sums that are not finite are refused below
            for i, message in enumerate(messages):
                try:
                    self.model.body_index(message.body)
                except ModelError as error:
                    raise ModelError(f'external[{i}].{error}') from error
                if message.order >= entries:
                    raise LimitError(f'external[{i}].order: expected {entries - 1} at most of the '
                                     f'wrench on {message.body!r}, got {message.order}')
                rows = wrenches.setdefault(message.body, np.zeros((entries, 6)))
                rows[message.order] += conversions.from_wrench(message.wrench)
        return self.names.wrenches(wrenches, None if entries == 1 else entries - 1)

    def to_state(self, q: Array, v: Array, message: TreeState) -> None:
        """Write a state, the joints in the model's order."""
        order = self.names.order(list(self.names.others))
        message.child_frame_id = self.names.base_body
        message.joint_names = list(self.names.others)
        message.positions, message.velocities = doubles(q[order.q]), doubles(v[order.v])
        if self.base is not None:
            conversions.to_pose(self.base.pose(q), message.base_pose)
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

    def _read_base(self, base: FloatingBase, message: Pose) -> Sequence[float] | Array:
        """Return the seven numbers of the base in q."""
        if self._placed:
            try:
                return base.coordinates(conversions.from_pose(message))
            except LiedynError as error:
                raise type(error)(f'base_pose: {error}') from error
        p, r = message.position, message.orientation
        return p.x, p.y, p.z, r.x, r.y, r.z, r.w

    def _read_rates(
            self, name: str, messages: Sequence[Any], order: JointOrder, entries: int,
            read_base: Callable[[Any], tuple[float, ...]]) -> Array:
        if len(messages) != entries:
            raise ShapeError(f'{name}: expected {entries} entries, got {len(messages)}')
        rates = np.zeros((len(messages), self.model.nv))
        for k, (message, row) in enumerate(zip(messages, rates)):
            row[order.v] = _sized(f'{name}[{k}].joints', message.joints, order.v)
            if self.floating:
                row[:6] = read_base(message.base)
        return rates[0] if entries == 1 else rates


def require_few_wrenches(messages: Sequence[BodyWrench]) -> None:
    """Raise LimitError beyond the bound of the message, which Fast DDS checks in writing alone."""
    if len(messages) > MAX_WRENCHES:
        raise LimitError(f'external: expected {MAX_WRENCHES} wrenches at most, got '
                         f'{len(messages)}')


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
        if size > MAX_ORDER + 1:
            raise LimitError(f'{name}: expected {MAX_ORDER + 1} entries at most, up to order '
                             f'{MAX_ORDER}, got {size}')
        if wanted:
            sizes[name] = size
    if len(set(sizes.values())) > 1:
        raise ShapeError(f'accelerations and efforts: expected as many of both, got '
                         f'{sizes["accelerations"]} and {sizes["efforts"]}')
    return max(sizes.values())


def _sized(name: str, values: Sequence[float], places: NDArray[np.int64]) -> Sequence[float]:
    if len(values) != len(places):
        raise ShapeError(f'{name}: expected {len(places)} numbers for the joints named, '
                         f'got {len(values)}')
    return values


def doubles(values: Array) -> 'array[float]':
    """Return numbers as messages hold them, without checking each element."""
    return array('d', values.tobytes())
