# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of a platform under leg forces: by its dynamics, or by MuJoCo's."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import GeometryError, LimitError
from liedyn_ros.control import Drives, LaggedActuators
from liedyn_ros.control.actuators import COMMAND_TIMEOUT
from liedyn_ros.dynamics.mujoco_twin import MujocoTwin
from liedyn_ros.lie import se3, so3
from liedyn_ros.lie.kernels import batch
from liedyn_ros.lie.kernels.motion import move_pose
from liedyn_ros.linear_algebra.bounded_least_squares import within_bounds
from liedyn_ros.stewart.dynamics.closed_loop_model import model_state, platform_model
from liedyn_ros.stewart.dynamics.dynamics import StewartDynamics
from liedyn_ros.stewart.platform import kinematics
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.simulation.leg_simulation import LegSample


class PlatformSimulation:
    """
    The pose (4, 4) and the body twist (6,) of a platform at a time (s).

    Until its first command the platform is fixed, as by brakes, with drives that already bear its
    weight. A refused command changes nothing. A drive that has no command for `command_timeout`
    (s) closes its brake, which opens with the next one: dry friction within the leg's `force` of
    the geometry, else up to all the forces together that bear the weight at the start.

    >>> simulation = PlatformSimulation(geometry, home)
    >>> simulation.step()
    """

    command_timeout = COMMAND_TIMEOUT

    def __init__(self, geometry: StewartGeometry, pose_base_platform: ArrayLike,
                 dt: float = 1e-3, lag: float = 0.0, resolution: float = 0.0) -> None:
        """
        Start at rest, with steps dt and drives that lag by a time constant, s.

        Args:
            geometry: of a platform with masses.
            pose_base_platform: (4, 4), m, at the begin.
            dt: the step, s.
            lag: time constant of the drives, s.
            resolution: of the sensors of lengths, m; 0 for exact ones.

        Raises:
            GeometryError: without masses. NotInGroupError, SingularError. LimitError: for a
              number or a pose beyond its limits, or where no forces of more legs bear the weight.
        """
        if not 0.0 <= lag < np.inf:
            raise LimitError(f'lag: expected a number of s from 0, got {lag}')
        self.geometry, self.dt, self._steps = geometry, as_positive('dt', dt), 0
        self._resolution = resolution
        self.pose: Array = se3.require_pose('pose_base_platform', pose_base_platform, (4, 4))
        self.twist: Array = np.zeros(6)
        geometry.require_within_limits(kinematics.leg_lengths(geometry, self.pose))
        self._dynamics = StewartDynamics(geometry)
        self._command = self._dynamics.inverse(self.pose, self.twist, np.zeros(6)).forces
        self._given, self._drives = self._command, LaggedActuators(self._command, lag, dt)
        self._heard = -math.inf  # when the last command came, s
        self.drives = Drives.STANDING
        weight = float(np.abs(self._command).sum())
        self._brakes = np.where(np.isfinite(geometry.force_limits), geometry.force_limits,
                                (-weight, weight)).T
        self.load: Array | None = None  # wrench (6,) of the environment, in the platform's frame

    @property
    def time(self) -> float:
        """Return the time since the start, s."""
        return self._steps * self.dt

    @property
    def moves(self) -> bool:
        """Return whether a command has come."""
        return self._heard >= 0.0

    def command(self, forces: ArrayLike) -> None:
        """
        Take forces along the legs.

        Args:
            forces: (n,), positive where they push the platform away; N, N m of cranks.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> PlatformSimulation(geometry, home).command(np.zeros(6))
        """
        self._command = as_array('forces', forces, self._command.shape)
        self._heard = self.time

    def step(self) -> None:
        """
        Advance by dt, by the classical Runge-Kutta method on SE(3), with the mean of the forces.

        Where it raises, pose, twist and time are the last good ones; the forces of the drives are
        a step ahead.

        Raises:
            LimitError: where a leg has reached the end of its travel.
            NotFiniteError: where the motion diverged.
            SingularError: where the motion diverged.

        >>> simulation = PlatformSimulation(geometry, home)
        >>> simulation.step()
        >>> np.array_equal(simulation.pose, home)  # held in place until its first command
        True
        """
        if self.moves:
            silent = self.time - self._heard > self.command_timeout
            self.drives = Drives.BRAKED if silent else Drives.COMMANDED
            self._given = self._braked() if silent else self._drives.step(self._command)
            pose, twist = self._integrated(self._given)
            self.geometry.require_within_limits(kinematics.leg_lengths(self.geometry, pose))
            self.pose, self.twist = pose, twist
        self._steps += 1

    def sample(self) -> LegSample:
        """
        Return the readings of the legs' sensors, without noise.

        Returns:
            time (s), pose, twist, lengths and rates.

        >>> PlatformSimulation(geometry, home).sample().lengths.shape
        (6,)
        """
        read = self.geometry.readings
        lengths = kinematics.leg_lengths(read, self.pose)
        if self._resolution:
            lengths = self._resolution * np.round(lengths / self._resolution)
        return LegSample(self.time, self.pose, self.twist, lengths,
                         kinematics.leg_rates(read, self.pose, self.twist), False, self._given)

    def _braked(self) -> Array:
        """Return the forces (n,) of dry friction: those that stop the legs, as far as it can."""
        size = len(self._command)
        free, *pushed = (self._dynamics.forward(
            self.pose, self.twist, forces, external=self.load).acceleration
            for forces in np.vstack((np.zeros(size), np.eye(size))))
        gain, stop = np.column_stack(pushed) - free[:, None], -self.twist / self.dt - free
        forces: Array = np.linalg.lstsq(gain, stop)[0].astype(np.float64, copy=False)
        if ((forces < self._brakes[0]) | (forces > self._brakes[1])).any():
            forces = within_bounds(
                gain, stop, self._brakes[0], self._brakes[1], forces)
        return self._drives.step(forces)

    def _integrated(self, forces: Array) -> tuple[Array, Array]:
        """Return the state a step later, x the exponential coordinates of the displacement."""
        h, start, twist, forward = self.dt, self.pose, self.twist, self._dynamics.forward
        load = self.load

        def rates(share: float, dx: Array, at: Array) -> tuple[Array, Array]:
            pose = _moved(start, dx, share)
            return _slope(share * dx, at), forward(pose, at, forces, external=load).acceleration

        dx1, dv1 = twist, forward(start, twist, forces, external=load).acceleration
        dx2, dv2 = rates(0.5 * h, dx1, twist + 0.5 * h * dv1)
        dx3, dv3 = rates(0.5 * h, dx2, twist + 0.5 * h * dv2)
        dx4, dv4 = rates(h, dx3, twist + h * dv3)
        pose = _moved(start, dx1 + 2.0 * (dx2 + dx3) + dx4, h / 6.0)
        return pose, twist + h / 6.0 * (dv1 + 2.0 * (dv2 + dv3) + dv4)


class MujocoPlatformSimulation(PlatformSimulation):
    """
    The platform by MuJoCo: free legs and platform, held together by its soft constraints.

    friction: of the drives, N or N m, which our own dynamics leaves out.

    >>> MujocoPlatformSimulation(geometry, home).step()  # doctest: +SKIP
    """

    def __init__(self, geometry: StewartGeometry, pose_base_platform: ArrayLike,
                 dt: float = 1e-3, lag: float = 0.0, resolution: float = 0.0,
                 friction: float = 0.0) -> None:
        """
        Start at rest, as PlatformSimulation.

        Args:
            geometry: of a platform with masses.
            pose_base_platform: (4, 4), m, at the begin.
            dt: the step, s.
            lag: time constant of the drives, s.
            resolution: of the sensors of lengths, m.
            friction: of the drives, N or N m.

        Raises:
            the errors of PlatformSimulation, platform_model and MujocoTwin.
        """
        super().__init__(geometry, pose_base_platform, dt, lag, resolution)
        if geometry.redundant:
            raise GeometryError(f'{geometry.name}: expected six legs for MuJoCo, got '
                                f'{len(geometry.leg_names)}')
        model = platform_model(geometry)
        self._twin = MujocoTwin(model, dt, friction=dict.fromkeys(geometry.leg_names, friction))
        self._twin.set_state(*model_state(geometry, self.pose, self.twist))
        self._driven = [model.joint(name).vi for name in geometry.leg_names]

    def _integrated(self, forces: Array) -> tuple[Array, Array]:
        tau = np.zeros(self._twin.model.nv)
        tau[self._driven] = forces
        if self.load is not None:
            tau[:6] = self.load
        q, v = self._twin.step(tau)
        return se3.from_rotation_translation(so3.from_quaternion(q[3:7]), q[:3]), v[:6].copy()


def _moved(pose: Array, twist: Array, seconds: float) -> Array:
    moved = np.empty((4, 4))
    move_pose(pose, twist, seconds, moved)
    return moved


def _slope(x: Array, twist: Array) -> Array:
    """Return the rate (6,) of exponential coordinates x (6,) at a body twist (6,) (1.14)."""
    left = np.empty(18)
    batch.se3_left_jacobian_inverse(-x, left)
    blocks = left.reshape(6, 3)
    slope = blocks @ twist[:3]
    slope[3:] += blocks[:3] @ twist[3:]
    return np.asarray(slope)
