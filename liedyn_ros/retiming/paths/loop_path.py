# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Paths of machines with closed loops, from those of their actuated joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained import (
    complete_acceleration, complete_velocity, ConstrainedDynamics, LoopTracker)
from liedyn_ros.retiming.paths.path import PathSamples, spline


class LoopPath:
    """
    A quintic spline through waypoints (K, n) of n joints; the others follow the loops.

    measured names these joints, the actuated ones by default; start (nq,) chooses the assembly
    mode. Raises what LoopTracker raises, and LimitError as SplinePath does.
    """

    def __init__(self, dynamics: ConstrainedDynamics, waypoints: ArrayLike,
                 measured: Sequence[str] | None = None, start: ArrayLike | None = None,
                 budget: Budget | None = None) -> None:
        """Fit the spline; budget counts the samples."""
        self._budget = budget or Budget()
        model = dynamics.model
        self.measured = tuple(measured or (joint.name for joint in model.joint_list
                                           if model.actuated[joint.v_slice].any()))
        self._dynamics, self._start = dynamics, start
        self.length, self._of = spline(
            as_array('waypoints', waypoints, (-1, len(self.measured))))
        self._places = [model.joint(name).vi for name in self.measured]
        self._known = np.isin(np.arange(model.nv), self._places)

    def __call__(self, s: Array) -> PathSamples:
        """Return the samples at s (K,), which rises."""
        q, v, a, jerk = (derivative(s) for derivative in self._of)
        samples = []
        tracker = LoopTracker(self._dynamics, self.measured, start=self._start)
        given = np.zeros((3, self._dynamics.model.nv))
        for k in range(len(s)):
            self._budget.spend(0.0)
            place = tracker.update(q[k]).q
            given[:, self._places] = v[k], a[k], jerk[k]
            speed = complete_velocity(self._dynamics, place, given[0], self._known)
            samples.append((place, speed, *complete_acceleration(
                self._dynamics, place, speed, given[1:], self._known)))
        return PathSamples(*map(np.array, zip(*samples)))
