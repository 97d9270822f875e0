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

"""Expands the joints of a model into the elementary links of a link table."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.model.body import Body
from liedyn_ros.model.geometry import axis_frame
from liedyn_ros.model.inertia import stacked_parameters
from liedyn_ros.model.joints import Joint, JOINT_TYPES
from liedyn_ros.model.kernels import kinds
from liedyn_ros.model.link_table import LinkTable

# Columns of the joint's axis frame, cyclic, so that the named axis comes last.
_COLUMNS = {'x': [1, 2, 0], 'y': [2, 0, 1]}


def numbered(joints: Sequence[Joint]) -> tuple[Joint, ...]:
    """Return the joints with their first indices in q and v."""
    result, q, v = [], 0, 0
    for joint in joints:
        spec = JOINT_TYPES[joint.type_name]
        result.append(joint.numbered(q, v))
        q, v = q + spec.nq, v + spec.nv
    return tuple(result)


def expand(bodies: Sequence[Body], joints: Sequence[Joint], gravity: Array) -> LinkTable:
    """
    Return the link table of numbered joints, parents first; joint i moves body i.

    Raises LimitError naming the body whose numbers are too large to compute with.
    """
    with np.errstate(over='ignore', invalid='ignore'):  # what overflows is refused
        table = _expand(bodies, joints, gravity)
    finite = np.isfinite(table.body_placement).all(axis=1)
    finite &= np.append(np.isfinite(table.inertia).all(axis=1), True)[table.body_link]
    if not finite.all():
        name = bodies[int(finite.argmin())].name
        raise LimitError(f'body {name}: expected placements and masses whose products are finite, '
                         'got larger numbers')
    return table


def _expand(bodies: Sequence[Body], joints: Sequence[Joint], gravity: Array) -> LinkTable:
    links = _Links()
    place: dict[str | None, tuple[int, Array]] = {None: (-1, np.eye(4))}  # link and pose in it
    for body, joint in zip(bodies, joints):
        parent, pose_link_parent = place[joint.parent]
        place[body.name] = links.add(joint, parent, pose_link_parent @ joint.placement)
    placed = [place[body.name] for body in bodies]
    body_link = _indices([link for link, _ in placed])
    poses = np.array([pose for _, pose in placed]).reshape(-1, 4, 4)
    inertia = np.zeros((len(links.kind), 10))
    moved = [(i, body.inertia) for i, body in enumerate(bodies)
             if body.inertia is not None and body_link[i] >= 0]
    carried = [i for i, _ in moved]
    np.add.at(inertia, body_link[carried], stacked_parameters(
        [body_inertia for _, body_inertia in moved], poses[carried]))
    return LinkTable(
        kind=_indices(links.kind), parent=_indices(links.parent),
        qi=_indices(links.qi), vi=_indices(links.vi),
        placement=_rows(links.placement), inertia=inertia, pitch=np.array(links.pitch),
        damping=_join([joint.damping for joint in joints]),
        friction=_join([joint.friction for joint in joints]),
        gravity=gravity.copy(), body_link=body_link, body_placement=_rows(poses),
        nq=sum(kinds.NQ[kind] for kind in links.kind),
        nv=sum(kinds.NV[kind] for kind in links.kind))


class _Links:
    """The columns of a link table while they grow."""

    def __init__(self) -> None:
        """Start without links."""
        self.kind: list[int] = []
        self.parent: list[int] = []
        self.qi: list[int] = []
        self.vi: list[int] = []
        self.placement: list[Array] = []
        self.pitch: list[float] = []

    def add(self, joint: Joint, parent: int, placement: Array) -> tuple[int, Array]:
        """
        Append the links of a joint whose frame has a placement in the parent link.

        Return the link that carries the body and the pose of the body in it.
        """
        frame = axis_frame(joint.axis, joint.second_axis)
        qi, vi = joint.qi, joint.vi
        for kind, axis in JOINT_TYPES[joint.type_name].links:
            pose_joint_link = np.eye(4)
            pose_joint_link[:3, :3] = frame if axis == 'z' else frame[:, _COLUMNS[axis]]
            self.kind.append(kind)
            self.parent.append(parent)
            self.qi.append(qi)
            self.vi.append(vi)
            self.placement.append(placement @ pose_joint_link)
            self.pitch.append(joint.pitch)
            parent, qi, vi = len(self.kind) - 1, qi + kinds.NQ[kind], vi + kinds.NV[kind]
            placement = pose_joint_link.T  # the inverse of a rotation: back to the joint frame
        return parent, placement  # at q = 0 the joint frame is the frame of the body


def _rows(poses: Sequence[Array] | Array) -> Array:
    """Return each pose (4, 4) as a row: the rotation row by row, then the translation."""
    stack = np.asarray(poses, dtype=np.float64).reshape(-1, 4, 4)
    return np.concatenate((stack[:, :3, :3].reshape(-1, 9), stack[:, :3, 3]), axis=1)


def _join(parts: Sequence[Array]) -> Array:
    return np.concatenate([np.empty(0), *parts])


def _indices(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)
