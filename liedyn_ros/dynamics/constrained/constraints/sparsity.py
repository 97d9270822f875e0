# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sparsity: the coordinates and constraints of a model that involve each other."""

from collections.abc import Sequence

import numpy as np

from liedyn_ros.jit.simd import LANES
from liedyn_ros.model import Model
from liedyn_ros.model.expansion import Indices
from liedyn_ros.model.kernels.kinds import NV_OF_KIND


class Sparsity:
    """
    The sparsity pattern of the coordinates (nv,) and constraints (m,) of a model.

    ancestors[k] are the coordinates before k on the way to the ground, from there on. ends[i] is
    the last coordinate of link i, -1 for the ground, which comes last.
    """

    def __init__(self, model: Model) -> None:
        """Walk the tree of a model."""
        table = model.link_table
        self.ancestors: list[list[int]] = []
        self.ends: list[int] = []
        for i in range(table.N):
            behind = self.chain(self.ends[table.parent[i]] if table.parent[i] >= 0 else -1)
            for k in range(table.vi[i], table.vi[i] + NV_OF_KIND[table.kind[i]]):
                self.ancestors.append(behind)
                behind = [*behind, k]
            self.ends.append(len(self.ancestors) - 1 if behind else -1)
        self.ends.append(-1)

    def groups(self, involved: Sequence[Sequence[int]]) -> tuple[Indices, Indices]:
        """
        Return the group of each coordinate (nv,), and of each constraint (m,).

        involved has the coordinates of each constraint. A group is a set of branches on the ground
        that constraints join. A constraint of no coordinate has a group of its own.
        """
        group = np.array([self.chain(k)[0] for k in range(len(self.ancestors))], dtype=np.int64)
        for columns in involved:
            if len(columns):
                linked = group[columns]
                group[(group[:, None] == linked).any(axis=1)] = linked.min()
        roots, numbers = np.unique(group, return_inverse=True)
        return numbers, np.array([numbers[columns[0]] if len(columns) else len(roots) + r
                                  for r, columns in enumerate(involved)], dtype=np.int64)

    def fill_groups(self, group: Indices) -> None:
        """Count all coordinates of its group before k as ancestors, for a matrix dense there."""
        self.ancestors = [np.flatnonzero(group[:k] == group[k]).tolist()
                          for k in range(len(group))]

    @property
    def depth(self) -> int:
        """Return the number of coordinates of the longest way to the ground."""
        return max((len(each) + 1 for each in self.ancestors), default=0)

    def chain(self, k: int) -> list[int]:
        """Return coordinate k and those before it, from the ground on; none for -1."""
        return [*self.ancestors[k], k] if k >= 0 else []

    def chained(self) -> list[list[int]]:
        """Return for each LANES coordinates those that are one of them, or have one before."""
        return [[k for k in range(c, len(self.ancestors))
                 if any(c <= j < c + LANES for j in self.chain(k))]
                for c in range(0, len(self.ancestors), LANES)]

    def path(self, a: int, b: int) -> tuple[list[int], list[float]]:
        """Return the coordinates that move link b against link a, with their signs."""
        behind_a, behind_b = self.chain(self.ends[a]), self.chain(self.ends[b])
        signs = {j: 1.0 for j in behind_b if j not in behind_a}
        signs |= {j: -1.0 for j in behind_a if j not in behind_b}
        columns = sorted(signs)
        return columns, [signs[j] for j in columns]

    def support(self, columns: Sequence[int]) -> list[int]:
        """Return coordinates and their ancestors, in order."""
        return sorted({j for k in columns for j in (*self.ancestors[k], k)})

    def reach(self, supports: Sequence[Sequence[int]]) -> list[int]:
        """Return first and last constraint (2 nv,), in steps of LANES, at each coordinate."""
        found: list[int] = []
        for k in range(len(self.ancestors)):
            found += hull([r for r, support in enumerate(supports) if k in support])
        return found


def spans(group: Indices) -> list[int]:
    """Return first and last (2 m,) of the constraints in the group of each."""
    hulls = {g: hull(np.flatnonzero(group == g).tolist()) for g in set(group.tolist())}
    return [end for g in group.tolist() for end in hulls[g]]


def hull(rows: Sequence[int]) -> list[int]:
    """Return the first of some indices and the end of the last, in steps of LANES."""
    return [min(rows) // LANES * LANES, padded(max(rows) + 1)] if rows else [0, 0]


def padded(size: int) -> int:
    """Return the next multiple of LANES."""
    return -(-size // LANES) * LANES
