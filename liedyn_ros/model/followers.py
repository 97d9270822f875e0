# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The joints whose motion couplings decide, such as mimic joints, from that of their leaders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, listed
from liedyn_ros.common.errors import NameSetError
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.joints import JOINT_TYPES


class Followers:
    """
    Joints of one coordinate that couplings decide: x = gains y + offsets of those that lead.

    names are those of followers; none where a joint has two couplings, or couplings go round.
    unless is the option by which joint states may leave them out, empty where they may.
    """

    def __init__(self, model: Model, unless: str = '') -> None:
        """Solve the couplings for the joints that follow, also those of other followers."""
        joints = {joint.name: joint for joint in model.joint_list
                  if JOINT_TYPES[joint.type_name].nv == 1}
        self._unless = unless
        rows = {each.joint: each for each in model.couplings
                if {each.joint, *dict(each.terms)} <= set(joints)}
        chains = np.eye(len(rows))
        leaders = list(dict.fromkeys(
            name for each in rows.values() for name, _ in each.terms if name not in rows))
        direct, places = np.zeros((len(rows), len(leaders))), list(rows)
        for row, each in enumerate(rows.values()):
            for name, factor in each.terms:
                if name in rows:
                    chains[row, places.index(name)] -= factor
                else:
                    direct[row, leaders.index(name)] += factor
        decided = 0 < len(rows) == len(model.couplings) and (
            np.linalg.matrix_rank(chains) == len(rows))
        self.names = tuple(rows) if decided else ()
        if not self.names:
            return
        self._leaders, self._gains = tuple(leaders), np.linalg.solve(chains, direct)
        self._offsets = np.linalg.solve(chains, [each.offset for each in rows.values()])
        (self._to_q, self._from_q), (self._to_v, self._from_v) = (
            [[getattr(joints[name], at) for name in some] for some in (self.names, leaders)]
            for at in ('qi', 'vi'))

    def positions(self, q: Array) -> Array:
        """Return q (nq,) with the followers where the others put them; rad and m."""
        if self.names:
            q = q.copy()
            q[self._to_q] = self._gains @ q[self._from_q] + self._offsets
        return q

    def rates(self, v: Array) -> Array:
        """Return v (..., nv), or accelerations, with those of the followers."""
        if self.names:
            v = v.copy()
            v[..., self._to_v] = v[..., self._from_v] @ self._gains.T
        return v

    def extend(self, names: Sequence[str], position: ArrayLike, velocity: ArrayLike,
               effort: ArrayLike) -> tuple[Sequence[str], ArrayLike, ArrayLike, ArrayLike]:
        """
        Return the numbers of a joint state, with the followers that it does not name.

        Their efforts are zero, as they are passive. Without all that lead nothing is added. Raises
        ShapeError for another count of numbers than of names, NameSetError where they are needed.
        """
        given = {name: place for place, name in enumerate(names)}
        absent = [name not in given for name in self.names]
        if not any(absent) or not given.keys() >= set(self._leaders):
            return names, position, velocity, effort
        added = [name for name, missing in zip(self.names, absent) if missing]
        if self._unless:
            raise NameSetError(
                f'joint names: expected {listed(added)} too, got {listed(list(names))}; joints '
                f'that follow others may be left out with {self._unless}', names=tuple(added))
        x, v, tau = (as_array(what, each, (len(names),)) for what, each in (
            ('position', position), ('velocity', velocity), ('effort', effort)))
        at, gains = [given[name] for name in self._leaders], self._gains[absent]
        return ([*names, *added], np.append(x, gains @ x[at] + self._offsets[absent]),
                np.append(v, gains @ v[at]), np.append(tau, np.zeros(len(added))))
