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

"""The joints of a model by name, in whatever order a caller lists them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.checks import order_of
from liedyn_ros.errors import NameSetError
from liedyn_ros.model import Joint, JOINT_TYPES, Model
from liedyn_ros.model.kinds import FREE

Indices = NDArray[np.int64]

REMEMBERED = 64  # lists of names; a caller repeats its own
LISTED = 1000  # names that a message repeats at most


class JointOrder(NamedTuple):
    """Where the numbers of listed joints, one joint after the other, stand in q and in v."""

    q: Indices
    v: Indices


class JointNames:
    """
    The names by which a caller speaks of the joints of a model.

    base is the floating base, the free joint that stands on the ground and holds the first
    coordinates, or None; base_body is the body that it frees, or ''. others are all other joints
    that move, in the model's order.
    """

    def __init__(self, model: Model) -> None:
        """Tell the base from the other joints."""
        moving = [joint for joint in model.joint_list if JOINT_TYPES[joint.type_name].nv]
        layout = model.layout
        floating = layout.N > 0 and bool(layout.kind[0] == FREE and layout.parent[0] < 0)
        self.base: Joint | None = moving[0] if floating else None
        self.base_body = moving[0].child if floating else ''
        self.others = {joint.name: joint for joint in moving[floating:]}
        self._coordinates = {name: slice(i, i + 1) for i, name in enumerate(
            model.coordinate_names)} | {n: joint.v_slice for n, joint in self.others.items()}
        if self.base is not None:  # its body stands for it, whatever else has that name
            self._coordinates[self.base_body] = self.base.v_slice
        self._nv = model.nv
        # Found again by the tuple of names; an error is not remembered.
        self.order = lru_cache(REMEMBERED)(self._order)
        self.prescribed = lru_cache(REMEMBERED)(self._prescribed)

    def _order(self, names: tuple[str, ...]) -> JointOrder:
        """Return the places of the joints named; raise NameSetError unless each is, once."""
        if len(names) > len(self.others) + LISTED:
            raise NameSetError(
                f'joint_names: expected {len(self.others)} names, got {len(names)}')
        order_of('joint_names', tuple(self.others), names)
        joints = [self.others[name] for name in names]
        return JointOrder(_indices([joint.q_slice for joint in joints]),
                          _indices([joint.v_slice for joint in joints]))

    def _prescribed(self, names: tuple[str, ...]) -> NDArray[np.bool_]:
        """
        Return which velocity coordinates (nv,) are named.

        A joint's name stands for all of its coordinates, the base body's for those of the base.
        Raises NameSetError for an unknown name and for a coordinate that is named twice.
        """
        mask = np.zeros(self._nv, dtype=np.bool_)
        for name in names:
            place = self._coordinates.get(name)
            if place is None:
                raise NameSetError(
                    f'prescribed: expected names of {list(self._coordinates)}, got {name!r}')
            if mask[place].any():
                raise NameSetError(
                    f'prescribed: expected each coordinate once, got {name!r} again')
            mask[place] = True
        mask.setflags(write=False)
        return mask


def _indices(places: Sequence[slice]) -> Indices:
    return np.array([i for place in places for i in range(place.start, place.stop)], np.int64)
