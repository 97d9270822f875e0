# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The topics of a view, taken as often as it draws, the newest of each."""

import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from liedyn_interfaces.msg import LoopStatus, StewartStatus
from nav_msgs.msg import Odometry
import numpy as np
from sensor_msgs.msg import JointState

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.ros.messages.conversions import from_pose
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.ros.streams.stream import UnservedCallbackGroup
from liedyn_ros.stewart import BranchSource, Flag
from liedyn_ros.stewart.reports.health import LEG_FLAGS, SINGULARITY
from liedyn_ros.view_state import SolvedPose, ViewInput

WARNING_TIME = 3.0  # s; for so long a warning is shown, as one sample's would not be seen
# s without a message of a topic that had some, before a page says so. A robot that tells its
# joints once a second may miss four. Of a slower one, or a bag that pauses, the sentence is true.
QUIET_TIME = 5.0
REPORTS_DEPTH = 20  # messages of all nodes between two pictures
STATUS_DEPTH = 200  # messages between two pictures, none of whose flags is lost
FLAG_SENTENCES = {**SINGULARITY, **LEG_FLAGS,
                  Flag.RESTARTED: 'solved from home: there was no pose before',
                  Flag.PARAMETER_TOO_SMALL: (
                      'measurements contradict leg_noise or leg_acceleration')}


class _Topic:
    """One subscription whose messages nobody takes but `newest` and `take_all`."""

    def __init__(self, node: ManagedNode, message_type: Any, topic: str, depth: int = 1) -> None:
        # Best effort: a publisher never waits for a view.
        self._handle = node.open_subscription(
            message_type, topic, lambda message: None, sensor_data(depth),
            callback_group=UnservedCallbackGroup()).handle
        self._type, self._depth, self._last = message_type, depth, None
        self.name, self._heard = topic, 0.0
        self.taken = 0  # messages

    def take_all(self) -> list[Any]:
        """Return the messages that wait, the newest last."""
        taken: list[Any] = []
        while len(taken) < self._depth:
            one = self._handle.take_message(self._type, False)
            if one is None:
                break
            taken.append(one[0])
        if taken:
            self.taken, self._heard = self.taken + len(taken), time.monotonic()
        return taken

    @property
    def silence(self) -> float:
        """Return for how long nothing came, s; 0 before the first message."""
        return time.monotonic() - self._heard if self.taken else 0.0

    @property
    def newest(self) -> Any:
        """Return the last message that came, None before the first."""
        taken = self.take_all()
        if taken:
            self._last = taken[-1]
        return self._last


class ViewTopics:
    """Topics of a view of one machine; they are relative, so a namespace moves them."""

    def __init__(self, node: ManagedNode) -> None:
        """Open the subscriptions; the node closes them."""
        self._opened: list[_Topic] = []
        self._open(node)
        self._reports = _Topic(node, DiagnosticArray, '/diagnostics', REPORTS_DEPTH)
        self._until: dict[str, float] = {}  # when a warning ends, by its sentence
        self._fault = ''

    @property
    def taken(self) -> int:
        """Return how many messages were taken."""
        return sum(topic.taken for topic in self._opened)

    def _open(self, node: ManagedNode) -> None:
        raise NotImplementedError

    def _listen(self, node: ManagedNode, message_type: Any, topic: str, depth: int = 1) -> _Topic:
        self._opened.append(_Topic(node, message_type, topic, depth))
        return self._opened[-1]

    def look(self) -> ViewInput:
        """Take the messages that wait, and return the picture's numbers."""
        raise NotImplementedError

    def _quiet(self) -> dict[str, float]:
        return {topic.name: topic.silence for topic in self._opened if topic.silence > QUIET_TIME}

    def _warn(self, sentence: str) -> None:
        self._until[sentence] = time.monotonic() + WARNING_TIME

    def _warnings(self) -> tuple[str, ...]:
        now = time.monotonic()
        self._until = {each: until for each, until in self._until.items() if until > now}
        return tuple(self._until)


class TreeTopics(ViewTopics):
    """The topics of a tree or of a machine with loops."""

    def _open(self, node: ManagedNode) -> None:
        self._joints = self._listen(node, JointState, 'joint_states')
        self._loops = self._listen(node, LoopStatus, 'loop_state_publisher/status', STATUS_DEPTH)
        self._base = self._listen(node, Odometry, 'odometry')
        self._rotors = self._listen(node, JointState, 'rotor_speeds')

    def look(self) -> ViewInput:
        """Take the messages that wait, and return the picture's numbers."""
        for status in self._loops.take_all():
            self._fault = status.message
            if status.near_singularity:
                self._warn('the loops are near a singularity')
        joints, base, rotors = (
            each.newest for each in (self._joints, self._base, self._rotors))
        return ViewInput(
            pose=None if base is None else _safe_pose(base.pose.pose),
            positions={} if joints is None else _by_name(joints.name, joints.position),
            efforts={} if joints is None else _by_name(joints.name, joints.effort),
            rotor_speeds={} if rotors is None else _by_name(rotors.name, rotors.velocity),
            warnings=self._warnings(), fault=self._fault,
            quiet=self._quiet())


class PlatformTopics(ViewTopics):
    """The topics of a platform."""

    def _open(self, node: ManagedNode) -> None:
        self._pose = self._listen(node, PoseStamped, 'pose')
        self._covariance = self._listen(node, PoseWithCovarianceStamped, 'pose_with_covariance')
        self._reference = self._listen(node, PoseStamped, 'reference')
        self._true_pose = self._listen(node, PoseStamped, 'true_pose')
        self._status = self._listen(node, StewartStatus, 'status', STATUS_DEPTH)
        self._solved: SolvedPose | None = None

    def look(self) -> ViewInput:
        """Take the messages that wait, and return the picture's numbers."""
        for status in self._status.take_all():
            self._note(status)
        covariance = self._covariance.newest
        return ViewInput(
            pose=_pose(self._pose.newest), reference=_pose(self._reference.newest),
            true_pose=_pose(self._true_pose.newest),
            covariance=None if covariance is None else np.reshape(
                covariance.pose.covariance, (6, 6))[:3, :3],
            solved=self._solved, warnings=self._warnings(), fault=self._fault,
            quiet=self._quiet())

    def _note(self, status: StewartStatus) -> None:
        self._fault = status.message
        if status.status == StewartStatus.REJECTED:
            return
        self._solved = SolvedPose(
            np.concatenate((status.length, status.further_lengths)),
            status.smallest_singular_value, status.residual, status.iterations, status.age,
            status.time_to_singularity, BranchSource(status.branch_source))
        if not status.flags:
            return
        legs = f' ({", ".join(status.suspected_legs)})' if status.suspected_legs else ''
        for flag, sentence in FLAG_SENTENCES.items():
            if status.flags & flag:
                self._warn(sentence + (legs if flag in LEG_FLAGS else ''))
        for limit in status.exceeded_limits:
            self._warn(f'beyond its limit: {limit}')


def _pose(message: PoseStamped | None) -> Array | None:
    return None if message is None else _safe_pose(message.pose)


def _safe_pose(message: Any) -> Array | None:
    """Return a pose, None where its numbers are none: a view shows what it can."""
    try:
        pose: Array = from_pose(message)
    except LiedynError:
        return None
    return pose


def _by_name(names: list[str], values: Any) -> dict[str, float]:
    """Return the finite values by name; fields that a message leaves out are empty."""
    return {name: float(value) for name, value in zip(names, values) if np.isfinite(value)}
