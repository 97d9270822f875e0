# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An aerial manipulator: a free base with rotors, joints of one degree of freedom, their lags."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError, ModelError
from liedyn_ros.control.actuators import bounded, lead
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.linear_algebra.bounded_least_squares import within_bounds
from liedyn_ros.model import Model, RotorAllocation, RotorCommand
from liedyn_ros.model.parts.rotors import SECOND_WEIGHT

_WIDTH = 1e-9  # between bounds of a torque, as a share of its limit: the solver needs one
FREE_BASE = slice(0, 6)  # the free base in v, a and tau
JOINTS = slice(6, None)


@dataclass(frozen=True)
class Command:
    """
    Commands of the actuators, within their limits.

    rotors: speeds and their wrench. torques: (n,), N m or N, in the order of
    AerialManipulator.joints. at_limit: names of the rotors at a limit, and of joints whose torque
    differs from the desired.

    >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
    >>> machine.stopped().torques.shape == (len(machine.joints),)
    True
    """

    rotors: RotorCommand
    torques: Array
    at_limit: tuple[str, ...]


class AerialManipulator:
    """
    A model whose first joint is free: its base carries the rotors, its other joints move the arms.

    base is the name of the base body, rotors and joints are the names of the actuators. The
    vectors v, a and tau of the model begin with the base: its twist, its derivative, its wrench,
    all in the base frame. One number for each joint follows.

    >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
    >>> len(machine.rotors), len(machine.joints)
    (6, 6)
    """

    def __init__(self, model: Model) -> None:
        """
        Check the model.

        Args:
            model: a Model whose first joint is free and whose rotors are on its base.

        Raises:
            ModelError: naming the part that does not fit.
        """
        first, *others = model.joint_list
        if first.type_name != 'free':
            raise ModelError(f'joint {first.name}: expected a free joint first, '
                             f'got type {first.type_name}')
        if (first.placement != np.eye(4)).any():
            raise ModelError(f'joint {first.name}: expected no placement, so that it moves the '
                             f'base from the origin, got {first.placement.tolist()}')
        for joint in others:
            if joint.v_slice.stop - joint.v_slice.start > 1:
                raise ModelError(f'joint {joint.name}: expected one degree of freedom, '
                                 f'got type {joint.type_name}')
        self.model = model
        self.allocation = RotorAllocation(model.rotors)
        self.base, self.rotors = first.child, self.allocation.names
        if model.rotors[0].body != self.base:
            raise ModelError(f'rotors: expected on body {self.base}, got {model.rotors[0].body}')
        self.joints = tuple(joint.name for joint in others if joint.type_name != 'fixed')
        self.dynamics = Dynamics(model)
        self._effort = model.limits.effort[JOINTS]
        # Commands as shares of what an actuator can give, and the forces (nv,) of a whole one.
        self._scale = np.where(np.isfinite(self._effort), self._effort, 1.0)
        n = len(self.rotors)
        self._actuation = np.zeros((model.nv, n + len(self.joints)))
        self._actuation[FREE_BASE, :n] = self.allocation.share_matrix
        self._actuation[JOINTS, n:] = np.diag(self._scale)
        # What is kept first: attitude; thrust; then yaw, reach and arms, as m/s^2 at the rotors.
        length = self.allocation.length
        kept = np.full(model.nv, SECOND_WEIGHT**2 * length)
        kept[:6] = (length, length, SECOND_WEIGHT**2 * length, SECOND_WEIGHT**2, SECOND_WEIGHT**2,
                    SECOND_WEIGHT)
        self._order = np.argsort(-kept, kind='stable')
        self._kept = kept[self._order, None]

    def require_torques(self, torques: ArrayLike) -> Array:
        """
        Return joint torques, or raise the error of wrong ones.

        Args:
            torques: (n,); N m or N.

        Returns:
            (n,).

        Raises:
            LimitError: naming a joint whose effort is beyond its limit.
            LiedynError: for another shape, or a number that is not finite.

        >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
        >>> machine.require_torques(np.zeros(len(machine.joints))).any().item()
        False
        """
        torques = as_array('torques', torques, (len(self.joints),))
        beyond = np.abs(torques) > self._effort
        if beyond.any():
            k = int(beyond.argmax())
            name, torque, limit = self.joints[k], torques[k], self._effort[k]
            raise LimitError(f'effort of {name}: expected {-limit:g} to {limit:g} N m, '
                             f'got {torque:g}', names=(name,), expected=(-limit, limit),
                             got=float(torque))
        return torques

    def command(self, tau: ArrayLike, q: ArrayLike) -> Command:
        """
        Return the command that gives forces tau (nv,) at a configuration q (nq,).

        Torques are clipped. Where the rotors do not reach the wrench, the command is the one of
        the nearest accelerations: those of roll and pitch first, then that along the base's z
        axis, then yaw, the two other axes and the joints. Arms then give way: their torques are
        between those wanted and those that hold them.

        Args:
            tau: desired (nv,): wrench on the base in its frame, then forces of the joints; N m and
                N.
            q: configuration (nq,); rad and m.

        Returns:
            rotor speeds and joint torques, within their limits.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
        >>> hover, still = machine.model.neutral(), np.zeros(machine.model.nv)
        >>> machine.command(machine.dynamics.inverse(hover, still, still), hover).at_limit
        ()
        """
        tau = as_array('tau', tau, (self.model.nv,))
        wrench, wanted = tau[FREE_BASE], tau[JOINTS]
        shares, torques = self.allocation.shares(wrench), bounded(wanted, self._effort)
        rotors = self.allocation.at_shares(shares, wrench) if (
            self.allocation.within(shares)) else None
        if rotors is None or not rotors.reached:
            rotors, torques = self._nearest(tau, torques, q)
        weak = [name for name, off in zip(self.joints, (wanted != torques).tolist()) if off]
        return Command(rotors, torques, (*rotors.at_limit, *weak))

    def stopped(self) -> Command:
        """
        Return the command of rotors at their least speeds, and joints without torque.

        Returns:
            the command.

        >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
        >>> machine.stopped().torques.any().item()
        False
        """
        return Command(self.allocation.at_shares(self.allocation.share_limits[0], np.zeros(6)),
                       np.zeros(len(self.joints)), self.rotors)

    def _nearest(self, tau: Array, torques: Array, q: ArrayLike) -> tuple[RotorCommand, Array]:
        """Return the rotors' command and the torques of the nearest accelerations."""
        still, rotors = np.zeros(self.model.nv), len(self.rotors)
        ends = np.clip((torques, self.dynamics.inverse(q, still, still)[JOINTS]),
                       -self._effort, self._effort) / self._scale
        lower, upper = self.allocation.share_limits
        mobility = self._kept * self.dynamics.inverse_mass_matrix(q)[self._order]
        found = within_bounds(
            mobility @ self._actuation, mobility @ tau,
            np.concatenate((lower, ends.min(axis=0) - _WIDTH)),
            np.concatenate((upper, ends.max(axis=0) + _WIDTH)),
            np.concatenate((self.allocation.shares(tau[FREE_BASE]), tau[JOINTS] / self._scale)))
        return (self.allocation.at_shares(found[:rotors], tau[FREE_BASE]),
                self._scale * np.clip(found[rotors:], ends.min(axis=0), ends.max(axis=0)))

    def authority(self, q: ArrayLike) -> Array:
        """
        Return the accelerations that each coordinate alone can have both ways at rest.

        They are what the rotors and joints leave beyond the weight.

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            (nv,); rad/s^2 and m/s^2.

        Raises:
            LimitError: naming the actuators that cannot carry the weight.
            LiedynError: for a wrong configuration.

        >>> machine = AerialManipulator(ld.load_model(config_file('aerial_manipulator.yaml')))
        >>> (machine.authority(machine.model.neutral()) > 0.0).all().item()
        True
        """
        still = np.zeros(self.model.nv)
        weight = self.dynamics.inverse(q, still, still)
        at_rest = self.command(weight, q)
        if not at_rest.rotors.reached or (at_rest.torques != weight[JOINTS]).any():
            raise LimitError(
                f'weight: expected actuators that carry the vehicle, got {at_rest.at_limit} '
                'at a limit: lower its masses, or raise the limits', names=at_rest.at_limit)
        forces = self.dynamics.mass_matrix(q)  # of an acceleration of 1, a column each
        lower, upper = (np.concatenate((share, sign * self._effort / self._scale)) for sign, share
                        in zip((-1.0, 1.0), self.allocation.share_limits))
        most = np.empty(self.model.nv)
        for k, force in enumerate(forces.T):
            rest, push = (
                np.concatenate((self.allocation.shares(f[FREE_BASE]), f[JOINTS] / self._scale))
                for f in (weight, force))
            room = np.minimum(rest - lower, upper - rest)
            with np.errstate(divide='ignore', invalid='ignore'):
                most[k] = np.nanmin(np.where(push != 0.0, room / np.abs(push), np.inf))
        return most


@dataclass(frozen=True)
class Lags:
    """
    The time constants of a vehicle's actuators, s: force' = (command - force) / lag (8.6).

    rotors: of the thrusts, which are proportional to the squares of the speeds. All rotors have
    the same constant, so their wrench has it too. joints: of the torques. 0 for none. Raises
    LimitError.
    """

    rotors: float = 0.0
    joints: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, value in vars(self).items():
            if not 0.0 <= value < np.inf:
                raise LimitError(f'lag of {name}: expected a number of s from 0, got {value}')

    def of(self, size: int) -> Array:
        """Return the time constant of each of the forces (nv,) of an AerialManipulator, s."""
        lags = np.empty(size)
        lags[FREE_BASE], lags[JOINTS] = self.rotors, self.joints
        return lags

    def lead(self, tau: Array) -> Array:
        """Return the commands that produce forces: tau (2, nv) are the forces and their rates."""
        return lead(tau, self.of(tau.shape[1]))
