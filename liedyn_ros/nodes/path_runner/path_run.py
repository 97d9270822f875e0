# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A run along a path as messages: a command and a status for each cycle."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event

from liedyn_interfaces.msg import RetimingStatus
import numpy as np
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from liedyn_ros.common.errors import LimitError
from liedyn_ros.nodes.dynamics.retiming.request import LIMIT_FIELDS, write_base, write_joints
from liedyn_ros.retiming import (
    MotionLimits, OnlineScaling, Retimed, ScaledInstant, ScalingStatus, speed_for_lag)
from liedyn_ros.ros.messages.tree_messages import TreeMessages


class PathRun:
    """A planned run that goes on by a cycle at a time, and waits for joints that lag."""

    def __init__(self, run: Retimed, messages: TreeMessages, names: list[str]) -> None:
        """Take a run, and the joints of its commands."""
        self.scaling = OnlineScaling(run)
        self._messages, self._names = messages, names
        self.joints, self.base = JointTrajectory(), MultiDOFJointTrajectory()
        self.ended = self.stopping = False  # stopping: for good, as it was cancelled
        self.over = Event()  # at its end, or at rest for good
        self.status = RetimingStatus()
        self._place = 0.0, 0.0, 0.0, 0.0
        self._write(0.0, self._place)

    def use(self, limits: MotionLimits) -> None:
        """Take limits that hold from now on; raises what OnlineScaling.use raises."""
        self.scaling.use(limits)

    def lag(self, positions: Mapping[str, float]) -> float:
        """Return the largest distance of a joint that is heard from its command, rad or m."""
        commanded = zip(self.joints.joint_names, self.joints.points[0].positions)
        return max((abs(positions[name] - value) for name, value in commanded
                    if name in positions), default=0.0)

    def require_near(self, positions: Mapping[str, float], largest: float) -> None:
        """Raise LimitError naming the first joint that is not at the begin of the path."""
        for name, value in zip(self.joints.joint_names, self.joints.points[0].positions):
            if abs(positions.get(name, value) - value) > largest:
                raise LimitError(f'trajectory.points[0]: expected the joints within {largest:g} '
                                 f'of it, got {name} at {positions[name]:.6g}, not {value:.6g}')

    def step(self, cycle: float, speed: float, lag: float, bounds: tuple[float, float]
             ) -> RetimingStatus:
        """Go on by a cycle (s) at a share of the plan's speed, less where the joints lag."""
        tolerated, largest = bounds
        asked = 0.0 if self.stopping else min(
            speed, speed_for_lag(lag, min(tolerated, 0.999 * largest), largest))
        instant = self.scaling.step(cycle, asked)
        self.ended = instant.status is ScalingStatus.ENDED and not any(instant.place[1:])
        self._write(cycle, instant.place)
        if self.ended or (self.stopping and not any(instant.place[1:])):
            self.over.set()
        self.status = self._status(instant, asked, lag)
        return self.status

    @property
    def standing(self) -> dict[str, float]:
        """Return the positions of the last command by name."""
        return dict(zip(self.joints.joint_names, self.joints.points[0].positions))

    def _write(self, cycle: float, place: tuple[float, ...]) -> None:
        """Write the command of a place, one cycle ahead."""
        run = self.scaling.run
        at = run.passed(np.array([cycle]), *np.array(place)[:, None])
        write_joints(run.dynamics, self._messages, self._names, at, self.joints)
        write_base(self._messages, at, self.base)

    def _status(self, instant: ScaledInstant, asked: float, lag: float) -> RetimingStatus:
        limit = instant.held_by
        return RetimingStatus(
            status=int(instant.status), planned_time=instant.planned_time,
            duration=self.scaling.run.duration, speed=instant.share[0], speed_asked=asked,
            lag=lag, used=instant.used, expected=min(instant.expected, 1e9),
            held_by='' if limit is None else f'{LIMIT_FIELDS.get(limit[0], limit[0])} {limit[1]}')
