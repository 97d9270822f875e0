# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Poses of recorded leg states, by the objects of the pose node, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.recordings.bags.joint_state_layout import JointStateMessage
from liedyn_ros.stewart import (
    load_geometry, MonitoredPose, MonitoredTracker, MotionEstimator, PoseSolver, StewartGeometry)
from liedyn_ros.stewart.home import home_of, require_home
from liedyn_ros.stewart.input.actuators import actuators_of, LegActuators
from liedyn_ros.stewart.tracking.monitor_config import config_of, method_of
from liedyn_ros.stewart.tracking.prediction import in_fixed_axes
from liedyn_ros.stewart.tracking.start_modes import StartModes

NO_COVARIANCE = ('no covariance, as no sample came shortly before; pose_covariance of '
                 'liedyn_ros.stewart computes it for a single pose')
Reported = tuple[tuple[str, bytes], ...]  # topics, and messages of them as bytes


class ProcessedMessage(NamedTuple):
    """
    Result of one message: a pose with its covariance, or the reason for none.

    pose is None where it was refused, with the reason. covariance (6, 6) is that of REP 103, or
    None where none is known, with the reason. reported: what the node reports of it.
    """

    stamp_ns: int
    pose: MonitoredPose | None
    covariance: Array | None
    reason: str
    reported: Reported = ()


def tracker_of(settings: Mapping[str, Any]) -> MonitoredTracker:
    """Return the tracker of the pose node. Raises LiedynError for settings that it refuses."""
    (geometry, home), method = platform_of(settings), method_of(settings)
    require_home(geometry, settings, home, PoseSolver(geometry, method).solve)
    return MonitoredTracker(geometry, home, method, config_of(
        settings, None, len(geometry.leg_names)))


def processed(messages: Iterable[JointStateMessage], settings: Mapping[str, Any],
              tracker: MonitoredTracker) -> Iterator[ProcessedMessage]:
    """
    Yield the pose of each message, as the pose node tracks them.

    No message is passed over, and none is refused for its age. tracker is that of `tracker_of`.
    Raises LiedynError for settings that the node refuses.
    """
    geometry, _ = platform_of(settings)
    actuators = actuators_of(settings, geometry, settings['ignore_other_joints'])
    estimator, modes = MotionEstimator(geometry, settings['leg_rate_noise']), StartModes(geometry)
    for each in messages:
        try:
            yield _one(each, actuators, tracker, estimator, settings['use_leg_rates'])
            modes.weigh(tracker)
        except LiedynError as error:
            yield ProcessedMessage(each.stamp_ns, None, None, str(error))


def platform_of(settings: Mapping[str, Any]) -> tuple[StewartGeometry, Array]:
    """Return the geometry and the pose (4, 4), m, of home that settings name."""
    geometry = load_geometry(Path(settings['geometry_file'] or config_file(
        'stewart_geometry.yaml'))).readings
    home = home_of(geometry, settings)
    return replace(geometry, home=home), home


def _one(each: JointStateMessage, actuators: LegActuators, tracker: MonitoredTracker,
         estimator: MotionEstimator, use_rates: bool) -> ProcessedMessage:
    rates = None
    lengths = actuators.lengths(each.names, each.position)
    if use_rates and len(each.velocity):
        rates = actuators.rates(each.names, each.velocity, lengths)
    pose = tracker.track(each.stamp_ns, lengths, rates)
    if not pose.converged:
        return ProcessedMessage(each.stamp_ns, pose, None, pose.status.name.lower())
    covariance = estimator.pose_covariance(pose)
    if covariance is None:
        return ProcessedMessage(each.stamp_ns, pose, None, NO_COVARIANCE)
    return ProcessedMessage(each.stamp_ns, pose, in_fixed_axes(covariance, pose.pose), '')
