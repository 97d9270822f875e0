# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The service that predicts the pose at a time near the last leg lengths."""


from liedyn_interfaces.srv import PredictStewartPose

from liedyn_ros.common.errors import LiedynError, StampError
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import in_fixed_axes, MonitoredTracker, MotionEstimator

MAX_TIME = 1.0  # s from the last pose; no motion predicts further


class StewartPrediction:
    """Answers `~/predict`: the last pose and its motion, with covariance if the noise is known."""

    def __init__(
            self, stream: Stream, platform: Platform, estimator: MotionEstimator,
            tracker: MonitoredTracker) -> None:
        """Open the service on a stream. tracker: its last good pose is predicted."""
        self._platform, self._tracker, self._estimator = platform, tracker, estimator
        stream.open_service(PredictStewartPose, '~/predict', self._predict)

    def _predict(
            self, request: PredictStewartPose.Request,
            response: PredictStewartPose.Response) -> None:
        last = self._tracker.last
        if last is None:
            raise LiedynError('tracking: expected a pose, got none yet')
        stamp_ns = conversions.nanoseconds(request.stamp) or last.stamp_ns
        seconds = 1e-9 * (stamp_ns - last.stamp_ns)
        if abs(seconds) > MAX_TIME:
            raise StampError(f'stamp: expected within {MAX_TIME:g} s of the last pose, '
                             f'got {seconds:+.3f} s')
        motion = self._estimator.predict(last, seconds)
        response.pose.header.stamp = conversions.stamp_of(stamp_ns)
        response.pose.header.frame_id = self._platform.base_frame
        conversions.to_pose(motion.pose, response.pose.pose.pose)
        if motion.pose_covariance is not None:
            response.pose.pose.covariance = in_fixed_axes(
                motion.pose_covariance, motion.pose).ravel()
        conversions.to_twist(motion.twist, response.twist)
        response.success = True
