# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of frames along a path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.retiming.limits import FrameLimits
from liedyn_ros.retiming.machine import Machine
from liedyn_ros.retiming.paths.path import PathSamples


class FrameMotion(NamedTuple):
    """
    Twist along pdot and acceleration along pddot + across pdot^2 of a frame (15.15).

    along and across (K, 6) are angular first, in the axes of the frame, of the point of limits.
    """

    limits: FrameLimits
    along: Array
    across: Array


def frame_motion(dynamics: Machine, path: PathSamples, limits: FrameLimits) -> FrameMotion:
    """Return the motion of a frame at the places of a path; raises ModelError if unknown."""
    tree: Dynamics = dynamics.tree if isinstance(dynamics, ConstrainedDynamics) else dynamics
    along = np.array([tree.frames.twist(q, v, limits.frame) for q, v in zip(path.q, path.v)])
    across = np.array([
        tree.frames.acceleration(q, v, a, limits.frame, classical=True)
        for q, v, a in zip(path.q, path.v, path.a)])
    point = np.asarray(limits.point)
    turn = along[:, :3]
    across[:, 3:] += np.cross(across[:, :3], point) + np.cross(turn, np.cross(turn, point))
    along[:, 3:] += np.cross(turn, point)
    return FrameMotion(limits, along, across)
