# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg forces that track a motion within what legs can give, and commands of drives that lag."""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, SingularError
from liedyn_ros.control import Gains, ReferenceMotion, TrackingError
from liedyn_ros.control.actuators import lead
from liedyn_ros.control.feedback import RateFeedback
from liedyn_ros.control.follower import DesiredMotion, Follower, Phase
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia
from liedyn_ros.stewart.dynamics.dynamics import StewartDynamics
from liedyn_ros.stewart.simulation.trajectory import SmoothTrajectory
from liedyn_ros.stewart.solver.pose_solver import PoseSolver

CHECKED_SAMPLES, CHECKED_PERIODS = 200, 10.0  # of the reference, whose forces are looked at


class LegForceCommand(NamedTuple):
    """
    The command of a state.

    forces (n,), N, along the legs: the command to the drives. wanted (2, n): the forces that they
    should give, and their rates. error: the displacement of the platform from the reference and
    its rate. pose (4, 4): the reference. share and at_limit are those of GivenForces.
    """

    forces: Array
    wanted: Array
    error: TrackingError
    pose: Array
    share: float
    at_limit: tuple[str, ...]


class PlatformController(Follower[LegForceCommand]):
    """
    Computed acceleration on SE(3), and inverse dynamics to order one, within limits of forces.

    Feedback gives two time derivatives of the body twist that track the trajectory (8.10). Inverse
    dynamics gives the leg forces and their rates (12.43). A command leads these forces, so that
    drives with a lag of `lag` (s) produce them (8.8). LegForces says how they are bounded.

    `see` answers a state of a platform whose reference waits where it lags. Without poses `feel`
    answers leg lengths, and comes to rest by them. Without both `silent` comes to rest by dead
    reckoning until `stop_time`, from when on the forces are those that bear the weight there.
    Errors and desired accelerations are bounded by the legs' forces at home.

    >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
    >>> controller = PlatformController(StewartDynamics(geometry), motion)
    >>> controller.see(0.0, home, np.zeros(6)).forces.shape
    (6,)
    """

    stop_time = 0.5

    def __init__(self, dynamics: StewartDynamics, trajectory: SmoothTrajectory,
                 gains: Gains = Gains(), lag: float = 0.0) -> None:
        """
        Take the dynamics as it is known, which is this object's own from now on.

        Args:
            dynamics: as it is known; this object's own from now on.
            trajectory: the reference.
            gains: of the feedback.
            lag: time constant of the drives, s.
        """
        self._trajectory = trajectory
        self._solver = PoseSolver(dynamics.geometry.readings)
        self._legs = LegForces(dynamics, trajectory, gains.integral_limit, lag, _fastest(gains))
        body = _free_body()
        super().__init__(body, self._at, RateFeedback(
            body, gains, self._legs.authority(trajectory.home)))
        self.use(gains)

    def use(self, gains: Gains, lag: float | None = None) -> None:
        """
        Change the gains, and the lag that commands make up for; keep the integral.

        Args:
            gains: poles, rad/s.
            lag: of the drives, s; by default as it was.

        >>> from liedyn_ros.control import Gains
        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> PlatformController(StewartDynamics(geometry), motion).use(Gains(position=4.0))
        """
        super().use(gains)
        self._legs.use(gains.integral_limit, self._legs.lag if lag is None else lag,
                       _fastest(gains))

    @property
    def limits(self) -> Array:
        """Return the least and the greatest forces (2, n), N, N m of cranks."""
        return self._legs.limits

    def reset(self) -> None:
        """
        Forget the reference, the last pose, and the integral and the filter of the feedback.

        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> PlatformController(StewartDynamics(geometry), motion).reset()
        """
        super().reset()
        self._known: Array | None = None

    def command(self, t: float, dt: float, pose: Array, twist: Array) -> LegForceCommand:
        """
        Return the command at a time of the trajectory.

        Args:
            t: time of the trajectory; s.
            dt: time since the last call; s.
            pose: of the platform in the base (4, 4); m.
            twist: body twist (6,), angular part first; rad/s and m/s.

        Returns:
            forces (n,), and what bounds them.

        Raises:
            SingularError: where the legs do not hold the platform.
            LiedynError: for another shape, or a number that is not finite.

        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> controller = PlatformController(StewartDynamics(geometry), motion)
        >>> controller.command(0.0, 0.001, home, np.zeros(6)).forces.shape
        (6,)
        """
        self._path.place = t
        return self._give(self._want(t, _configuration(pose), twist, dt), pose)

    def see(self, time: float, pose: Array, twist: Array, age: float = 0.0) -> LegForceCommand:
        """
        Return the command of a state of the platform, whose reference waits where it lags.

        Args:
            time: s.
            pose: of the platform in the base (4, 4); m.
            twist: body twist (6,), angular part first; rad/s and m/s.
            age: of the state; s.

        Returns:
            forces (n,), and what bounds them.

        Raises:
            SingularError: where the legs do not hold the platform.
            LiedynError: for another shape, or a number that is not finite.

        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> controller = PlatformController(StewartDynamics(geometry), motion)
        >>> controller.see(0.0, home, np.zeros(6)).forces.shape
        (6,)
        """
        return self._answer(time, pose, twist, 1.0, age)

    def feel(self, time: float, lengths: Array) -> LegForceCommand | None:
        """
        Return the command of leg lengths without a pose: to rest.

        The pose is the one that these lengths have near the last known one, the twist the way from
        there.

        Args:
            time: s.
            lengths: (n,); m.

        Returns:
            forces (n,), and what bounds them; None where no pose is known yet, or that one is
            newer.

        Raises:
            SingularError: where no pose is found.

        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> controller = PlatformController(StewartDynamics(geometry), motion)
        >>> controller.feel(0.0, leg_lengths(geometry, home)) is None
        True
        """
        if self._known is None or time <= self._seen:
            return None
        found = self._solver.solve(lengths, self._known)
        if not found.converged:
            raise SingularError(f'lengths: expected a pose near the last, got none of {lengths}')
        twist = se3.log(se3.inverse(self._known) @ found.pose) / (time - self._seen)
        command = self._answer(time, found.pose, twist, 0.0)
        self.phase = Phase.FEELING
        return command

    def _answer(self, time: float, pose: Array, twist: Array, pace: float, age: float = 0.0
                ) -> LegForceCommand:
        wanted = self.take(time, _configuration(pose), twist, pace, age)
        self._known = pose
        command = self._give(wanted, pose)
        self.phase = Phase.BOUNDED if self.begun and command.at_limit else self.see_phase()
        return command

    def _own_command(self) -> LegForceCommand:
        wanted = self.last
        if wanted is None:
            raise LimitError('state: expected one before a command, got none')
        return self._give(wanted, _pose(wanted.q))

    def _stop(self) -> LegForceCommand:
        wanted = self._reckon(self.stop_time)
        push = self._turned(self._push, so3.from_quaternion(wanted.q[3:]).T)
        bear = np.stack((-push, np.zeros(6)))  # what the model lacks
        return self._give(wanted._replace(acceleration=bear, v=bear[1]), _pose(wanted.q))

    def _at(self, place: float) -> ReferenceMotion:
        return ReferenceMotion(
            _configuration(self._trajectory.pose(place)), *self._trajectory.derivatives(place))

    def _give(self, wanted: DesiredMotion, pose: Array) -> LegForceCommand:
        given = self._legs.give(pose, wanted.v, wanted.acceleration)
        self.short = given.short
        return LegForceCommand(given.forces, given.wanted, wanted.error, _pose(wanted.motion.q),
                               given.share, given.at_limit)


def _fastest(gains: Gains) -> float:
    return max(gains.rotation, gains.position)


def _free_body() -> Model:
    """Return the body of the feedback: a platform that moves freely."""
    builder = ModelBuilder('platform')
    builder.add_body('platform', SpatialInertia(1.0, np.zeros(3), np.eye(3)))
    builder.add_joint('platform_joint', 'free', None, 'platform')
    return builder.build()


def _configuration(pose: Array) -> Array:
    """Return position and quaternion (7,) of a pose."""
    return np.concatenate((pose[:3, 3], so3.to_quaternion(pose[:3, :3])))


def _pose(q: Array) -> Array:
    """Return the pose (4, 4) of position and quaternion (7,)."""
    return se3.from_rotation_translation(so3.from_quaternion(q[3:]), q[:3])


class GivenForces(NamedTuple):
    """
    The forces of a wanted acceleration: the command to the drives (n,), N, N m of cranks.

    wanted (2, n): what the acceleration takes, and its rates. share: of the limits that this pose
    allows, 1 where the legs hold the platform as well as on the reference, 0 where they do not.
    at_limit: the names of all drives where some force was bounded, else none. short: the
    acceleration (6,) that bounds take away.
    """

    forces: Array
    wanted: Array
    share: float
    at_limit: tuple[str, ...]
    short: Array


class LegForces:
    """
    Inverse dynamics within the limits of the drives.

    The limits are `force` of the geometry. Where a leg has none, it is what the reference takes,
    with `feedback` more acceleration in each coordinate, or gravity's where that is more, so legs
    bear their weight twice; and the lead of that. Where the legs hold the platform worse than
    anywhere on the reference, the limits are lower by that ratio: so they are 0 in a singular
    pose. What is beyond them is scaled back towards the weight.
    """

    def __init__(self, dynamics: StewartDynamics, trajectory: SmoothTrajectory, feedback: float,
                 lag: float, pole: float) -> None:
        """Look at the forces along the reference; feedback: its bound, rad/s^2 and m/s^2."""
        self._dynamics, self._names = dynamics, dynamics.geometry.leg_names
        moving = trajectory.frequencies[trajectory.frequencies > 0.0]
        end = trajectory.rise_time + (CHECKED_PERIODS / moving.min() if moving.size else 0.0)
        forces, push, held = [], [], []
        for t in np.linspace(0.0, end, CHECKED_SAMPLES if moving.size else 1):
            pose, (twist, a, _) = trajectory.pose(t), trajectory.derivatives(t)
            motion = dynamics.inverse(pose, twist, a)
            forces.append(motion.forces)
            held.append(1.0 if motion.inverse_condition_number is None
                        else motion.inverse_condition_number)
            push.append(sum(np.abs(dynamics.inverse(pose, twist, a + e).forces - motion.forces)
                            for e in np.eye(6)))
        self._range = np.array(forces), np.array(push)
        self._held = min(held)
        self.use(feedback, lag, pole)

    def use(self, feedback: float, lag: float, pole: float) -> None:
        """Change the acceleration of feedback, the lag (s) of drives and the pole (rad/s)."""
        self.lag = lag
        (forces, push), masses = self._range, self._dynamics.geometry.masses
        if masses is not None:
            feedback = max(feedback, float(np.linalg.norm(masses.gravity)))
        # The jerk of RateFeedback is at most 4 p (wanted - filtered), each within the bound.
        more = push * feedback * (1.0 + 8.0 * 4.0**(1.0 / 3.0) * pole * lag)
        given = self._dynamics.geometry.force_limits.T
        self.limits = np.where(np.isfinite(given), given, np.stack(
            ((forces - more).min(axis=0), (forces + more).max(axis=0))))

    def authority(self, pose: Array) -> Array:
        """
        Return the accelerations (6,) that each coordinate alone can have both ways at rest.

        Raises LimitError naming the legs that cannot bear the weight.
        """
        still = np.zeros(6)
        weight = self._dynamics.inverse(pose, still, still).forces
        room = np.minimum(weight - self.limits[0], self.limits[1] - weight)
        if not (room > 0.0).all():
            weak = tuple(name for name, left in zip(self._names, room) if not left > 0.0)
            raise LimitError(f'force: expected limits within which the legs bear the weight, got '
                             f'{weight.round(1).tolist()}', names=weak)
        with np.errstate(divide='ignore'):
            return np.array([(room / np.abs(
                self._dynamics.inverse(pose, still, e).forces - weight)).min() for e in np.eye(6)])

    def give(self, pose: Array, twist: Array, acceleration: Array) -> GivenForces:
        """
        Return the forces for an acceleration and its derivative (2, 6).

        Raises ShapeError, NotFiniteError, NotInGroupError, and SingularError where the legs do not
        hold the platform.
        """
        motion = self._dynamics.inverse(pose, twist, acceleration)
        held = motion.inverse_condition_number
        share = 1.0 if held is None else min(1.0, held / self._held)
        least, most = share * self.limits
        forces, still = lead(motion.forces, self.lag), np.zeros(6)
        if ((forces >= least) & (forces <= most)).all():
            return GivenForces(forces, motion.forces, share, (), still)
        weight = np.clip(self._dynamics.inverse(pose, still, still).forces, least, most)
        way = forces - weight
        with np.errstate(divide='ignore', invalid='ignore'):
            room = np.where(way > 0.0, most - weight, least - weight) / way
        part = min(1.0, float(np.nanmin(np.where(way != 0.0, room, np.nan))))
        given = np.clip(weight + part * way, least, most)
        bound = tuple(name for name, force, low, high in zip(self._names, forces, least, most)
                      if not low <= force <= high)
        made = self._dynamics.forward(pose, twist, given).acceleration
        return GivenForces(given, motion.forces, share, bound,
                           made - np.atleast_2d(motion.acceleration)[0])
