# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model as flat arrays, the form in which kernels read it."""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.model.kernels.kinds import FREE, NV_OF_KIND, SPHERICAL

Indices = NDArray[np.int64]
QUATERNION_AT = {SPHERICAL: 0, FREE: 3}  # where it starts in the configuration of a link


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
        return tuple(int(at) + QUATERNION_AT[int(kind)]
                     for kind, at in zip(self.kind, self.qi) if int(kind) in QUATERNION_AT)

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
