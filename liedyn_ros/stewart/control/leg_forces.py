# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg forces within limits, which fall before the legs cease to hold the platform."""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control import lead
from liedyn_ros.stewart.dynamics.dynamics import StewartDynamics
from liedyn_ros.stewart.simulation.trajectory import SmoothTrajectory

SAMPLES, PERIODS = 200, 10.0  # of the reference, whose forces are looked at


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
        end = trajectory.rise_time + (PERIODS / moving.min() if moving.size else 0.0)
        forces, push, held = [], [], []
        for t in np.linspace(0.0, end, SAMPLES if moving.size else 1):
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
