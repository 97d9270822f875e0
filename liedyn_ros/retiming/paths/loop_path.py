# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Paths of machines with closed loops, from those of their actuated joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained import (
    complete_velocity, ConstrainedDynamics, LoopTracker, MinimalCoordinates)
from liedyn_ros.dynamics.constrained.minimal_motions import Completion
from liedyn_ros.retiming.paths.blended_path import rounded_shares
from liedyn_ros.retiming.paths.path import MovingEnd, PathSamples, require_no_ends, spline

BRANCH_PLACES = 100  # places along a path, from whose branch samples begin


class LoopPath:
    """
    A quintic spline through waypoints (K, n) of n joints; the others follow the loops.

    measured names these joints, the actuated ones by default; assembly (nq,) chooses the assembly
    mode at the begin, whose branch all places are on. With blend, rad or m, it has the lines and
    corners of BlendedPath. start and end (2, n) are those of SplinePath, of the same joints. Of
    MinimalCoordinates, samples have their rates alone, and measured are their joints.
    Raises what LoopTracker raises, and LimitError as SplinePath does.

    >>> LoopPath(linkage, [[1.0], [1.3]], ['crank_joint']).measured
    ('crank_joint',)
    """

    def __init__(self, dynamics: ConstrainedDynamics | MinimalCoordinates, waypoints: ArrayLike,
                 measured: Sequence[str] | None = None, assembly: ArrayLike | None = None,
                 budget: Budget | None = None, *, blend: float | None = None,
                 start: ArrayLike | None = None, end: ArrayLike | None = None) -> None:
        """
        Fit the spline, or lay out the lines; budget counts the samples.

        Args:
            dynamics: of the machine.
            waypoints: (K, n), rad and m, of the measured joints.
            measured: their names, the actuated ones by default.
            assembly: (nq,) that chooses the assembly mode.
            budget: of samples.
            blend: rad or m, as of BlendedPath; none for a spline.
            start: (2, n), v and a at the begin; at rest by default.
            end: (2, n), as start, at the end.
        """
        self._budget = budget or Budget()
        self._kept: Any = slice(None)
        if isinstance(dynamics, MinimalCoordinates):
            measured, self._kept = measured or dynamics.model.joints, dynamics.known
            dynamics = dynamics.dynamics
        model = dynamics.model
        self.measured = tuple(measured or (joint.name for joint in model.joint_list
                                           if model.actuated[joint.v_slice].any()))
        self._dynamics = dynamics
        points = as_array('waypoints', waypoints, (-1, len(self.measured)))
        self.start: MovingEnd | None = None
        self.end: MovingEnd | None = None
        self._of: Callable[[Array], Array]
        if blend is None:
            self.length, of, self.start, self.end = spline(points, start, end)
            self._of = lambda s: np.array([derivative(s) for derivative in of])
        else:
            require_no_ends(start, end)
            moves = np.diff(points, axis=0)
            self.length, shares = rounded_shares(moves, blend)
            self._of = lambda s: np.array([derivative(s) @ moves for derivative in shares]) \
                + points[0] * np.array([1.0, 0.0, 0.0, 0.0])[:, None, None]
        self._places = [model.joint(name).vi for name in self.measured]
        self._walker = LoopTracker(dynamics, self.measured, start=assembly)
        self._known = self._walker.known
        self._nodes: list[Array] = []
        self._lock = Lock()

    def __call__(self, s: Array) -> PathSamples:
        """
        Return the samples of the path, on its branch from its begin.

        Args:
            s: rising places (K,) from 0 to length; rad or m.

        Returns:
            q (K, nq), and three derivatives by s.

        Raises:
            LiedynError: naming a place that the loops do not reach.

        >>> LoopPath(linkage, [[1.0], [1.3]])(np.array([0.0, 0.1])).q.shape
        (2, 3)
        """
        q, v, a, jerk = self._of(s)
        samples, last, completion = [], int(s[0] / self.length *
                                            BRANCH_PLACES), Completion(self._dynamics)
        tracker = LoopTracker(self._dynamics, self.measured, start=self._node(last))
        given = np.zeros((3, self._dynamics.model.nv))
        for k in range(len(s)):
            self._budget.spend(0.0)
            node = int(s[k] / self.length * BRANCH_PLACES)
            for between in range(last + 1, node):  # of samples far apart
                tracker.update(self._of(np.array([self._s_of(between)]))[0, 0])
            last, state = node, tracker.update(q[k], v[k], ahead=False)
            given[:, self._places] = v[k], a[k], jerk[k]
            speed = complete_velocity(self._dynamics, state.q, given[0], self._known) \
                if state.redundant or state.v is None else state.v  # which redundant joints fit
            samples.append((state.q, speed, *completion.complete(
                'a', state.q, speed, given[1:], self._known)))
        at, *rates = map(np.array, zip(*samples))
        return PathSamples(at, *(each[:, self._kept] for each in rates))

    def _node(self, at: int) -> Array:
        """Return the configuration (nq,) at a node, followed from the begin of the path."""
        with self._lock:
            while len(self._nodes) <= at:
                self._budget.spend(0.0)
                s = np.array([self._s_of(len(self._nodes))])
                self._nodes.append(self._walker.update(self._of(s)[0, 0]).q)
            return self._nodes[at]

    def _s_of(self, node: int) -> float:
        """Return s of a node."""
        return min(node / BRANCH_PLACES, 1.0) * self.length
