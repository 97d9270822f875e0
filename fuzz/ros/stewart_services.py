# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Requests to the services of stewart_pose, by its handlers."""

from collections.abc import Iterator
from typing import Any

from fuzz.ros.stand_ins import answered, FakeNode, FakeStream
from fuzz.target import Run, Target
from geometry_msgs.msg import Pose, PoseStamped
from liedyn_interfaces.srv import (
    AssemblyModes, PredictStewartPose, ProveStewartPath, SolveStewartPose,
    StewartInverseKinematics)
from rclpy.serialization import serialize_message

from liedyn_ros.nodes.stewart.parameters import POSE_PARAMETERS
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.pose.services import (
    StewartModes, StewartPaths, StewartPrediction, StewartServices)
from liedyn_ros.stewart import leg_lengths, MonitoredTracker, MotionEstimator
from liedyn_ros.stewart.reports.health import certifier_of
from liedyn_ros.stewart.tracking.monitor_config import config_of, method_of

DEFAULTS: dict[str, Any] = {parameter.name: parameter.default for parameter in POSE_PARAMETERS}


def make() -> Run:
    """Return what asks about the platform at home."""
    node: Any = FakeNode()
    stream, platform = FakeStream(), Platform.from_parameters(DEFAULTS, False)  # type: ignore
    method, config = method_of(DEFAULTS), config_of(DEFAULTS, None)
    tracker = MonitoredTracker(platform.geometry, platform.home, method, config)
    for stamp_ns in (1_000_000_000, 1_010_000_000):  # a motion needs two
        tracker.track(stamp_ns, leg_lengths(platform.geometry, platform.home))
    StewartServices(node, stream, platform, method, config.singularity_warning,
                    certifier_of(DEFAULTS, platform.geometry), lambda: None, lambda: None)
    StewartPrediction(stream, platform, MotionEstimator(platform.geometry, 0.0), tracker)
    StewartModes(node, stream, platform, tracker)
    StewartPaths(node, stream, platform)
    return lambda data: answered(stream.callbacks, data)


def seeds() -> Iterator[bytes]:
    """Return a good request of each service, in the order of their names."""
    platform = Platform.from_parameters(DEFAULTS, False)  # type: ignore
    lengths = leg_lengths(platform.geometry, platform.home).tolist()
    home, path = PoseStamped(), ProveStewartPath.Request(tube_angle=0.01, tube_radius=0.001)
    home.pose.position.z, home.pose.orientation.w = 0.5, 1.0
    for x in (0.0, 0.01):
        path.path.poses.append(Pose(orientation=home.pose.orientation))
        path.path.poses[-1].position.x, path.path.poses[-1].position.z = x, 0.5
    for k, request in enumerate((
            AssemblyModes.Request(lengths=lengths), None,
            StewartInverseKinematics.Request(pose=home), PredictStewartPose.Request(), path, None,
            SolveStewartPose.Request(lengths=lengths, use_guess=True, guess=home))):
        if request is not None:  # ~/confirm and ~/reset have nothing to say
            yield bytes((k,)) + serialize_message(request)


TARGET = Target(make, seeds)
