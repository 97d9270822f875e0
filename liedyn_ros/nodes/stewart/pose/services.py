# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The services of the pose node: poses once, all of them, ahead; proofs of paths; reset."""

from collections.abc import Callable, Sequence
import math
import time

from geometry_msgs.msg import Point, Pose, PoseStamped, Vector3
from liedyn_interfaces.msg import StewartStatus
from liedyn_interfaces.srv import (
    AssemblyModes, PredictStewartPose, ProveStewartPath, SolveStewartPose,
    StewartInverseKinematics)
from std_srvs.srv import Trigger

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, StampError
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.pose.outputs import fill
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import (
    ForceLimits, leg_lengths, LevenbergMarquardt, MonitoredTracker, MotionEstimator, PathProver,
    PoseCertifier, PoseSolver, Solution, SpeedLimits, Start)
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.reports.health import (
    certificate_fields, certificate_of, describe, length_fields, outcome_fields, refusal_fields)
from liedyn_ros.stewart.tracking.prediction import in_fixed_axes
from liedyn_ros.stewart.tracking.start_modes import StartModes

MOST_SIZES = 1000.0 ** 0.5  # of the platform; a position further off is nearer to mm than m


class StewartServices:
    """Answers every request: success, or a message that names the fault."""

    def __init__(
            self, node: ManagedNode, stream: Stream, platform: Platform,
            method: LevenbergMarquardt, singularity_warning: float,
            certifier: PoseCertifier | None, reset: Callable[[], None],
            confirm: Callable[[], None]) -> None:
        """
        Open the services on a stream.

        A pose whose smallest singular value is at most singularity_warning is near a singularity.
        certifier: another object than that of `status`, since services run beside the stream.
        reset restarts the tracking from home. confirm takes the last pose for the right one; it
        raises LiedynError where there is none.
        """
        self._solver = PoseSolver(platform.geometry, method)
        self._certifier = certifier
        self._meter = PlatformMeter(platform.geometry, singularity_warning)
        self._node, self._platform, self._reset, self._confirm = node, platform, reset, confirm
        stream.open_service(Trigger, '~/confirm', self._take_for_right)
        stream.open_service(SolveStewartPose, '~/solve', self._solve)
        stream.open_service(StewartInverseKinematics, '~/inverse_kinematics', self._invert)
        stream.open_service(Trigger, '~/reset', self._start_over)

    def _solve(
            self, request: SolveStewartPose.Request,
            response: SolveStewartPose.Response) -> None:
        fill(response.status, refusal_fields(''))  # unless it is solved
        lengths, guess, start = self._lengths(request), self._platform.home, Start.HOME
        if request.use_guess:
            guess, start = self._pose('guess', request.guess), Start.GUESS
        begin = time.perf_counter()
        solution = self._solver.solve(lengths, guess)
        seconds = time.perf_counter() - begin
        fill(response.status, outcome_fields(solution, int(start), seconds))
        fill(response.status, length_fields(lengths))
        fill(response.status, certificate_fields(
            certificate_of(self._certifier, solution, lengths)))
        response.pose.header.frame_id = self._platform.base_frame
        response.pose.header.stamp = self._node.get_clock().now().to_msg()
        response.status.header = response.pose.header
        if solution.converged:
            conversions.to_pose(solution.pose, response.pose.pose)
            self._judge(response.status, solution)
        response.success, response.message = solution.converged, describe(solution)

    def _judge(self, status: StewartStatus, solution: Solution) -> None:
        """Write the warnings of a pose without a motion before it."""
        state = self._meter.measure(solution.pose)
        status.flags = int(state.flags)
        status.determinant_sign = 0 if solution.fit is not None else state.determinant_sign
        status.exceeded_limits = state.exceeded_limits()

    def _invert(
            self, request: StewartInverseKinematics.Request,
            response: StewartInverseKinematics.Response) -> None:
        geometry, pose = self._platform.geometry, self._pose('pose', request.pose)
        home = math.hypot(*self._platform.home[:3, 3])
        most = MOST_SIZES * (geometry.characteristic_length + home)
        if (away := math.hypot(*pose[:3, 3])) > most:
            raise LimitError(f'pose: expected a position near the platform, within {most:.3g} m, '
                             f'got {away:.3g} m: is it in mm?', got=away)
        try:
            lengths = leg_lengths(geometry, pose)
        except LimitError as error:
            raise LimitError(f'{error}; positions are in m, quaternions x, y, z, w') from error
        response.leg_names = list(geometry.leg_names)
        response.lengths = lengths.tolist()
        response.within_limits = geometry.within_limits(lengths).tolist()
        response.actuator_names = list(self._platform.actuators.names)
        response.actuator_positions = self._platform.actuators.positions(lengths).tolist()
        response.success = True

    def _lengths(self, request: SolveStewartPose.Request) -> Array:
        """Return the lengths of a request, given by the legs or by their actuators."""
        by_legs = bool(request.leg_names or request.lengths)
        by_actuators = bool(request.actuator_names or request.actuator_positions)
        if by_legs and by_actuators:
            raise LiedynError('request: expected leg lengths or actuator positions, got both')
        if by_actuators:
            return self._platform.lengths_of_actuators(
                request.actuator_names, request.actuator_positions)
        return self._platform.lengths_of(request.leg_names, request.lengths)

    def _pose(self, name: str, message: PoseStamped) -> Array:
        """Return a pose (4, 4) in the base frame; an empty frame id stands for it."""
        self._platform.require_base_frame(name, message.header)
        return conversions.from_pose(message.pose)

    def _start_over(self, _: Trigger.Request, response: Trigger.Response) -> None:
        self._reset()
        response.success, response.message = True, 'the next sample starts from home'

    def _take_for_right(self, _: Trigger.Request, response: Trigger.Response) -> None:
        self._confirm()
        response.success, response.message = True, 'the last pose is taken for the right one'


START_CHECK_RATE = 2.0  # Hz, of looking whether a start is to be weighed


class StewartModes:
    """Answers `~/assembly_modes`, and weighs each start of the tracking by all its poses."""

    def __init__(
            self, node: ManagedNode, stream: Stream, platform: Platform,
            tracker: MonitoredTracker) -> None:
        """Open the service on a stream of those that take long."""
        self._node, self._platform, self._tracker = node, platform, tracker
        self._modes = StartModes(platform.geometry)
        stream.open_timer(START_CHECK_RATE, self._weigh)
        stream.open_service(AssemblyModes, '~/assembly_modes', self._find)

    def _weigh(self) -> None:
        self._modes.weigh(self._tracker, self._node.lock)

    def _find(self, request: AssemblyModes.Request, response: AssemblyModes.Response) -> None:
        lengths = self._platform.lengths_of(request.leg_names, request.lengths)
        begin = time.perf_counter()
        found = self._modes.solver.solve(lengths)
        response.solve_time, response.complete = time.perf_counter() - begin, found.complete
        response.message = '; '.join(filter(None, (
            found.defect or found.reason, found.of_other_machines)))
        response.complex_solutions = found.complex_solutions
        response.poses.header.frame_id = self._platform.base_frame
        response.poses.header.stamp = self._node.get_clock().now().to_msg()
        response.poses.poses = [Pose() for _ in found.modes]
        for mode, pose in zip(found.modes, response.poses.poses):
            conversions.to_pose(mode.pose, pose)
        response.height = [mode.height for mode in found.modes]
        response.determinant_sign = [mode.determinant_sign for mode in found.modes]
        response.smallest_singular_value = [
            mode.smallest_singular_value for mode in found.modes]
        response.success = True


MAX_PREDICTION_TIME = 1.0  # s from the last pose; no motion predicts further


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
        if abs(seconds) > MAX_PREDICTION_TIME:
            raise StampError(f'stamp: expected within {MAX_PREDICTION_TIME:g} s of the last pose, '
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


MAX_PATH_POSES = 10_000  # of a path


class StewartPaths:
    """Answers `~/prove_path`."""

    def __init__(self, node: ManagedNode, stream: Stream, platform: Platform) -> None:
        """Open the service on a stream of those that take long."""
        self._node, self._platform = node, platform
        stream.open_service(ProveStewartPath, '~/prove_path', self._prove)

    def _prove(
            self, request: ProveStewartPath.Request,
            response: ProveStewartPath.Response) -> None:
        self._platform.require_base_frame('path', request.path.header)
        if len(request.path.poses) > MAX_PATH_POSES:
            raise LimitError(f'path: expected at most {MAX_PATH_POSES} poses, got '
                             f'{len(request.path.poses)}')
        poses = conversions.from_poses(request.path.poses)
        prover = PathProver(self._platform.geometry, request.threshold)
        begin = time.perf_counter()
        proof = prover.prove(poses, request.tube_angle, request.tube_radius,
                             speeds_of(request), forces_of(request))
        response.solve_time, response.message = time.perf_counter() - begin, proof.reason
        if not proof.proved:
            response.begin, response.end = proof.begin, proof.end
        if math.isfinite(proof.smallest_singular_value):  # else nothing was proved
            response.smallest_singular_value = proof.smallest_singular_value
        response.speeds, response.forces = proof.speeds, proof.forces
        response.proved, response.success = proof.proved, True


def speeds_of(request: ProveStewartPath.Request) -> SpeedLimits | None:
    """Return the limits of speeds; None where there are none. Raises LimitError."""
    if not len(request.speed_limits):
        if len(request.durations) or request.angular_speed_bound or request.linear_speed_bound:
            raise LimitError('speed_limits: expected one or six with durations or bounds of '
                             'speeds, got none')
        return None
    return SpeedLimits(
        limits=one_or_all(request.speed_limits),
        durations=one_or_all(request.durations) if len(request.durations) else math.inf,
        angular=request.angular_speed_bound, linear=request.linear_speed_bound)


def forces_of(request: ProveStewartPath.Request) -> ForceLimits | None:
    """Return the limits of forces; None where there are none. Raises LimitError."""
    if not len(request.force_limits):
        if (request.force != Vector3() or request.force_point != Point()
                or request.force_bound or request.moment_bound):
            raise LimitError('force_limits: expected one or six with a load, got none')
        return None
    force, point = request.force, request.force_point
    return ForceLimits(
        limits=one_or_all(request.force_limits), force=(force.x, force.y, force.z),
        point=(point.x, point.y, point.z), further_force=request.force_bound,
        further_moment=request.moment_bound)


def one_or_all(numbers: Sequence[float]) -> float | list[float]:
    """Return the one number that a list has, which is for all, or the list."""
    return float(numbers[0]) if len(numbers) == 1 else list(numbers)
