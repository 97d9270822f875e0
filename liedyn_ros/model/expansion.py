# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model as flat arrays, and the expansion of its joints into these elementary links."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import se3, so3
from liedyn_ros.model.kernels import kinds
from liedyn_ros.model.kernels.kinds import MOVES_OF_KIND, NQ_OF_KIND, NV_OF_KIND
from liedyn_ros.model.parts.body import Body, stacked_parameters, Visual
from liedyn_ros.model.parts.joints import Joint, JOINT_TYPES

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LinkTable:
    """
    The links of a tree in topological order, as read-only arrays.

    Every joint is a chain of N elementary links (kernels.kinds), each with its axis on the z of
    its own frame. The pose of a link in its parent is placement * J(q). J is a rotation about z, a
    translation along z, a screw about z, an element of SO(3) or one of SE(3). The links inside a
    joint of several degrees of freedom are massless; bodies behind fixed joints are merged into
    the link that carries them.

    kind, parent, qi, vi are (N,): kind of link, parent link (-1 for the ground), first index in q
    and in v. placement is (N, 12): rotation row by row, then translation (m). inertia is (N, 10):
    m (kg), h = m c (kg m), Ixx, Ixy, Ixz, Iyy, Iyz, Izz (kg m^2) about the link origin. pitch is
    (N,), m/rad. damping and friction are (nv,): N m s/rad or N s/m, and N m or N. stiffness, rest
    and armature are (nv,), as Joint has them. stops is (nv, 4): stiffness, width, lower and upper
    limit, zeros for none. gravity is (3,), m/s^2. nq and nv are sizes of q and v. body_link is
    (B,), -1 for a body fixed to the ground, and body_placement (B, 12) is the constant pose of the
    body in that link.

    >>> model.link_table.inertia.shape
    (6, 10)
    """

    kind: Indices
    parent: Indices
    qi: Indices
    vi: Indices
    placement: Array
    inertia: Array
    pitch: Array
    damping: Array
    friction: Array
    stiffness: Array
    rest: Array
    armature: Array
    stops: Array
    gravity: Array
    body_link: Indices
    body_placement: Array
    nq: int
    nv: int

    def __post_init__(self) -> None:
        """Make every array read-only."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @cached_property
    def quaternions(self) -> tuple[int, ...]:
        """Return the index in q of each quaternion."""
        return tuple(int(at) + NQ_OF_KIND[kind] - 4 for kind, at in zip(self.kind, self.qi)
                     if NQ_OF_KIND[kind] > NV_OF_KIND[kind])

    @cached_property
    def free(self) -> Indices:
        """Return the links of free joints."""
        return np.flatnonzero([MOVES_OF_KIND[kind] == 3 for kind in self.kind])

    @property
    def groups(self) -> tuple[tuple[Any, slice], ...]:
        """Return the group, lie.so3 or lie.se3, of each joint with one, and its coordinates."""
        return tuple((so3 if NV_OF_KIND[kind] == 3 else se3, slice(at, at + NV_OF_KIND[kind]))
                     for kind, at in zip(self.kind, self.vi) if NV_OF_KIND[kind] > 1)

    @cached_property
    def position_at(self) -> Indices:
        """Return for each coordinate (nv,) its index in q, 0 for those of spherical and free."""
        counts = [NV_OF_KIND[int(kind)] for kind in self.kind]
        return np.array([at if count == 1 else 0 for count, at in zip(counts, self.qi)
                         for _ in range(count)], dtype=np.int64)

    @property
    def N(self) -> int:
        """Return the number of links."""
        return len(self.kind)


DIGEST_DIGITS = 16


def digest_of(parts: Any) -> str:
    """Return hexadecimal digits of nested parts: names and numbers, not what is only seen."""
    found = sha256()
    for piece in _pieces(parts):
        found.update(piece)
        found.update(b'\0')
    return found.hexdigest()[:DIGEST_DIGITS]


def _pieces(part: Any) -> Iterator[bytes]:
    if isinstance(part, Visual):
        return
    if is_dataclass(part):
        for field in fields(part):
            yield field.name.encode()
            yield from _pieces(getattr(part, field.name))
    elif isinstance(part, np.ndarray):
        yield repr(part.shape).encode()
        yield (part + 0).astype('<f8').tobytes()  # -0.0 is 0.0
    elif isinstance(part, (tuple, list)):
        yield str(len(part)).encode()
        for each in part:
            yield from _pieces(each)
    else:
        yield repr(part + 0.0 if isinstance(part, float) else part).encode()


# Columns of the joint's axis frame, cyclic, so that the named axis comes last.
_COLUMNS = {'x': (1, 2, 0), 'y': (2, 0, 1), 'z': (0, 1, 2)}


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
    with np.errstate(over='ignore', invalid='ignore'):  # overflows are refused below
        table = _expand(bodies, joints, gravity)
    finite = np.isfinite(table.body_placement).all(axis=1)
    finite &= np.append(np.isfinite(table.inertia).all(axis=1), True)[table.body_link]
    if not finite.all():
        name = bodies[int(finite.argmin())].name
        raise LimitError(f'body {name}: expected placements and masses whose products are finite, '
                         'got larger numbers')
    return table


def _expand(bodies: Sequence[Body], joints: Sequence[Joint], gravity: Array) -> LinkTable:
    links = _Links(bodies, joints)
    placement, pose_link_body = _poses(joints, links)
    inertia = np.zeros((len(links.kind), 10))
    moved = [(i, body.inertia) for i, body in enumerate(bodies)
             if body.inertia is not None and links.body_link[i] >= 0]
    carried = [i for i, _ in moved]
    body_link = _indices(links.body_link)
    np.add.at(inertia, body_link[carried], stacked_parameters(
        [body_inertia for _, body_inertia in moved], pose_link_body[carried]))
    return LinkTable(
        kind=_indices(links.kind), parent=_indices(links.parent),
        qi=_indices(links.qi), vi=_indices(links.vi),
        placement=_rows(placement), inertia=inertia, pitch=np.array(links.pitch),
        damping=_join([joint.damping for joint in joints]),
        friction=_join([joint.friction for joint in joints]),
        stiffness=_join([joint.stiffness for joint in joints]),
        rest=_join([joint.rest for joint in joints]),
        armature=_join([joint.armature for joint in joints]), stops=_stops(joints),
        gravity=gravity.copy(), body_link=body_link, body_placement=_rows(pose_link_body),
        nq=sum(kinds.NQ_OF_KIND[kind] for kind in links.kind),
        nv=sum(kinds.NV_OF_KIND[kind] for kind in links.kind))


class _Links:
    """
    Columns of a link table other than poses, and the data from which poses are computed.

    joint (N,) is the joint of each link. columns (N, 3) are the columns of that joint's axis frame
    that are the link's axes. body_link (B,) is the link that carries each body, -1 for the ground,
    and parent_body (B,) the body that its joint stands on.
    """

    def __init__(self, bodies: Sequence[Body], joints: Sequence[Joint]) -> None:
        """Lay out the links of all joints."""
        self.kind: list[int] = []
        self.parent: list[int] = []
        self.qi: list[int] = []
        self.vi: list[int] = []
        self.pitch: list[float] = []
        self.joint: list[int] = []
        self.columns: list[tuple[int, int, int]] = []
        self.body_link: list[int] = []
        self.parent_body: list[int] = []
        index: dict[str | None, int] = {None: -1}
        for i, (body, joint) in enumerate(zip(bodies, joints)):
            index[body.name] = i
            on = index[joint.parent]
            self.parent_body.append(on)
            link, qi, vi = self.body_link[on] if on >= 0 else -1, joint.qi, joint.vi
            for kind, axis in JOINT_TYPES[joint.type_name].links:
                self.kind.append(kind)
                self.parent.append(link)
                self.qi.append(qi)
                self.vi.append(vi)
                self.pitch.append(joint.pitch)
                self.joint.append(i)
                self.columns.append(_COLUMNS[axis])
                link = len(self.kind) - 1
                qi, vi = qi + kinds.NQ_OF_KIND[kind], vi + kinds.NV_OF_KIND[kind]
            self.body_link.append(link)


def _poses(joints: Sequence[Joint], links: _Links) -> tuple[Array, Array]:
    """Return the placements (N, 4, 4) of links in their parents, of bodies (B, 4, 4) in links."""
    owner, parent_body = _indices(links.joint), _indices(links.parent_body)
    body_link = _indices(links.body_link)
    rotation = np.zeros((len(owner), 4, 4))  # from the joint's frame to the link's
    rotation[:, 3, 3] = 1.0
    rotation[:, :3, :3] = np.take_along_axis(
        _axis_frames(joints)[owner], np.array(links.columns, int).reshape(-1, 1, 3), axis=2)
    back = rotation.transpose(0, 2, 1)
    placed = np.array([joint.placement for joint in joints]).reshape(-1, 4, 4)
    body = np.empty((len(joints) + 1, 4, 4))
    body[:] = np.eye(4)  # the last is the ground
    first = np.append(True, np.diff(owner) > 0)[:len(owner)]  # of the links of a joint
    moves = np.zeros(len(joints), bool)
    moves[owner] = True
    # At q = 0 the frame of a joint is that of the body which it moves.
    body[:-1][moves] = back[body_link[moves]]
    for i in np.flatnonzero(~moves).tolist():
        body[i] = body[links.parent_body[i]] @ joints[i].placement
    before = np.empty_like(rotation)  # pose of the joint's frame in the parent link
    before[first] = (body[parent_body] @ placed)[owner[first]]
    before[~first] = back[:-1][~first[1:]]
    return before @ rotation, body[:-1]


def _axis_frames(joints: Sequence[Joint]) -> Array:
    """Return the rotations (n, 3, 3) whose z and x axes are the two axes of each joint."""
    z = np.array([joint.axis for joint in joints]).reshape(-1, 3)
    x = np.array([joint.second_axis for joint in joints]).reshape(-1, 3)
    return np.stack((x, np.cross(z, x), z), axis=2)


def _rows(poses: Sequence[Array] | Array) -> Array:
    """Return each pose (4, 4) as a row: the rotation row by row, then the translation."""
    stack = np.asarray(poses, dtype=np.float64).reshape(-1, 4, 4)
    return np.concatenate((stack[:, :3, :3].reshape(-1, 9), stack[:, :3, 3]), axis=1)


def _join(parts: Sequence[Array]) -> Array:
    return np.concatenate([np.empty(0), *parts])


def _stops(joints: Sequence[Joint]) -> Array:
    """Return stiffness, width, lower and upper limit of the end stops (nv, 4)."""
    columns = [_join(parts) for parts in zip(*(
        (joint.stop_stiffness, joint.stop_width, joint.limits.lower, joint.limits.upper)
        for joint in joints))] or [np.empty(0)] * 4
    stops = np.stack(columns, axis=1)
    return np.where(stops[:, :1] > 0.0, stops, 0.0)


def _indices(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)
