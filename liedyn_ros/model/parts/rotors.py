# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Propellers: rotor speeds to the wrench on their body, and back within the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_number, as_numbers, wrong_shape
from liedyn_ros.common.errors import LimitError, ModelError, ShapeError
from liedyn_ros.linear_algebra.bounded_least_squares import within_bounds
from liedyn_ros.model.parts.body import Visual
from liedyn_ros.model.parts.geometry import checked_pose

# Share of the rotors' largest wrench within which a wrench counts as reached.
_REACHED = 1e-9
# Weight of what comes second over the first, which loses the square of it to the second.
SECOND_WEIGHT = 1e-3


@dataclass(frozen=True, eq=False, init=False)
class Rotor:
    """
    A propeller that pushes along the z axis of its frame with a force k_f speed^2 (8.2).

    name stands in commands. placement (4, 4) is the pose of the rotor frame in its body.
    force_coefficient k_f in N s^2/rad^2, moment_coefficient k_m in N m s^2/rad^2, spin +1 or -1
    about z: the drag moment is -spin k_m speed^2. min_speed and max_speed in rad/s. visuals are in
    the rotor frame.

    >>> fan = Rotor('fan', 'tool', np.eye(4), force_coefficient=2.0, moment_coefficient=0.5,
    ...             spin=1, max_speed=10.0)
    >>> fan.min_speed
    0.0
    """

    name: str
    body: str
    placement: Array
    force_coefficient: float
    moment_coefficient: float
    spin: int
    min_speed: float
    max_speed: float
    visuals: tuple[Visual, ...]

    def __init__(self, name: str, body: str, placement: ArrayLike, *, force_coefficient: float,
                 moment_coefficient: float, spin: int, max_speed: float, min_speed: float = 0.0,
                 visuals: Sequence[Visual] = ()) -> None:
        """
        Check the numbers.

        Args:
            name: in commands.
            body: that carries it.
            placement: (4, 4) of the rotor's frame in the body.
            force_coefficient: N s^2/rad^2.
            moment_coefficient: N m s^2/rad^2.
            spin: +1 or -1 about z.
            max_speed: rad/s.
            min_speed: rad/s.
            visuals: in the rotor's frame.

        Raises:
            ModelError, LimitError, NotFiniteError, NotInGroupError.
        """
        if spin not in (1, -1):
            raise ModelError(f'rotor {name}: expected a spin of 1 or -1, got {spin}')
        numbers = {'force_coefficient': force_coefficient,
                   'moment_coefficient': moment_coefficient,
                   'min_speed': min_speed, 'max_speed': max_speed}
        for label, value in numbers.items():
            number = as_number(f'rotor {name}: {label}', value)
            if number < 0.0:
                raise LimitError(f'rotor {name}: expected {label} of at least 0, got {number}')
            object.__setattr__(self, label, number)
        if not self.min_speed < self.max_speed:
            raise LimitError(f'rotor {name}: expected min_speed < max_speed, '
                             f'got {min_speed} and {max_speed}')
        placement = checked_pose(f'rotor {name}: placement', placement)
        for label, given in (('name', name), ('body', body), ('placement', placement),
                             ('spin', int(spin)), ('visuals', tuple(visuals))):
            object.__setattr__(self, label, given)

    def wrench_per_square_speed(self) -> Array:
        """
        Return the wrench on the body, about its origin, of a speed of 1 rad/s (8.3).

        Returns:
            (6,), moment (N m) before force (N), in the frame of the body.

        >>> fan = Rotor('fan', 'tool', np.eye(4), force_coefficient=2.0, moment_coefficient=0.5,
        ...             spin=1, max_speed=10.0)
        >>> fan.wrench_per_square_speed()
        array([ 0. ,  0. , -0.5,  0. ,  0. ,  2. ])
        """
        force = self.force_coefficient * self.placement[:3, 2]
        drag = -self.spin * self.moment_coefficient * self.placement[:3, 2]
        return np.concatenate((drag + np.cross(self.placement[:3, 3], force), force))


@dataclass(frozen=True, eq=False)
class RotorCommand:
    """
    Speeds for a desired wrench.

    speeds (n,) rad/s. wrench (6,) is their wrench, error (6,) the desired wrench minus it. reached
    is whether the error is zero up to rounding. at_limit names the rotors at a bound of their
    speed.

    >>> drone = ld.load_model(config_file('aerial_manipulator.yaml'))
    >>> RotorAllocation(drone.rotors).speeds([0.0, 0.0, 0.0, 0.0, 0.0, 1e6]).reached
    False
    """

    speeds: Array
    wrench: Array
    error: Array
    reached: bool
    at_limit: tuple[str, ...]


class RotorAllocation:
    """
    The map between the speeds of the rotors of one body and their wrench (m, f) on it.

    matrix (6, n) is B of wrench = B speed^2 (8.3), in the frame of the body, about its origin.

    >>> drone = ld.load_model(config_file('aerial_manipulator.yaml'))
    >>> RotorAllocation(drone.rotors).matrix.shape
    (6, 6)
    """

    def __init__(self, rotors: Sequence[Rotor], length: float | None = None) -> None:
        """
        Take all rotors of one body.

        Args:
            rotors: all of one body.
            length: m, makes forces comparable to moments where a wrench is out of reach; by
              default the root mean square distance of the rotors from the body's origin.

        Raises:
            ModelError: without rotors, with rotors of two bodies, or without a length above 0.
        """
        bodies = sorted({rotor.body for rotor in rotors})
        if len(bodies) != 1:
            raise ModelError(f'rotors: expected some, all on one body, got bodies {bodies}')
        self.names = tuple(rotor.name for rotor in rotors)
        self.matrix = np.column_stack([rotor.wrench_per_square_speed() for rotor in rotors])
        self.matrix.setflags(write=False)
        positions = np.array([rotor.placement[:3, 3] for rotor in rotors])
        spread = float(np.sqrt((positions**2).sum(axis=1).mean()))
        self.length = spread if length is None else as_number('length', length)
        if self.length <= 0.0:
            raise ModelError(f'length: expected more than 0 m, got {self.length}')
        self._min_speed = np.array([rotor.min_speed for rotor in rotors])
        self._max_speed = np.array([rotor.max_speed for rotor in rotors])
        # In squares of speed over their maximum and in N m, all numbers are of one size.
        self._weight = np.array([1.0] * 3 + [self.length] * 3)
        self._scaled = self._weight[:, None] * self.matrix * self._max_speed**2
        self._lower = (self._min_speed / self._max_speed)**2
        self._reached = _REACHED * float(np.abs(self._scaled).max())
        self._inverse = np.linalg.pinv(self._scaled)
        # Attitude first: no vehicle stays aloft without it. Then thrust, then yaw and reach.
        self._order = [0, 1, 5, 2, 3, 4]
        self._priority = np.array(
            [1.0, 1.0, SECOND_WEIGHT, SECOND_WEIGHT**2, SECOND_WEIGHT**2, SECOND_WEIGHT**2])

    def wrench(self, speeds: ArrayLike) -> Array:
        """
        Return the wrench of speeds.

        Args:
            speeds: (n,), rad/s.

        Returns:
            (6,), moment (N m) before force (N), in the frame of the body, about its origin.

        Raises:
            LimitError: naming a rotor whose speed is out of bounds.

        >>> drone = ld.load_model(config_file('aerial_manipulator.yaml'))
        >>> RotorAllocation(drone.rotors).wrench([400.0] * len(drone.rotors)).shape
        (6,)
        """
        speeds = as_array('speeds', speeds, (len(self.names),))
        outside = (speeds < self._min_speed) | (speeds > self._max_speed)
        if outside.any():
            i = int(outside.argmax())
            raise LimitError(f'speed of rotor {self.names[i]}: expected {self._min_speed[i]} to '
                             f'{self._max_speed[i]} rad/s, got {speeds[i]}')
        return self.matrix @ (speeds * speeds)

    def speeds(self, wrench: ArrayLike) -> RotorCommand:
        """
        Return the speeds that give a wrench (6,), or what of it is within the limits.

        Out of reach, the moments about x and y are kept first, then the force along z. The moment
        about z and the forces along x and y are the nearest that these leave: of the least |(m_z,
        length f_x, length f_y)| of their error. Where several speeds give the wrench, these have
        the least sum of (speed / max_speed)^4, unless a limit binds them.

        Args:
            wrench: desired (6,), moment (N m) before force (N), in the frame of the body, about
                its origin.

        Returns:
            the speeds, their wrench, its error, and the rotors at a bound.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> drone = ld.load_model(config_file('aerial_manipulator.yaml'))
        >>> RotorAllocation(drone.rotors).speeds([0.0, 0.0, 0.0, 0.0, 0.0, 20.0]).reached
        True
        """
        wanted = as_array('wrench', wrench, (6,))
        share = self.shares(wanted)
        command = self.at_shares(share, wanted) if self.within(share) else None
        if command is None or not command.reached:
            first = self._priority[:, None] * self._scaled[self._order]
            command = self.at_shares(within_bounds(
                first, self._priority * (self._weight * wanted)[self._order], *self.share_limits,
                share), wanted)
        return command

    def shares(self, wrench: Array) -> Array:
        """
        Return the squares of the relative speeds that a wrench takes, whatever the limits.

        Args:
            wrench: (6,), moment (N m) before force (N), in the frame of the body, about its
                origin.

        Returns:
            (speed / max_speed)^2 (n,), least in the sum of their squares.

        >>> drone = ld.load_model(config_file('aerial_manipulator.yaml'))
        >>> allocation = RotorAllocation(drone.rotors)
        >>> allocation.within(allocation.shares(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 20.0])))
        True
        """
        return self._inverse @ (self._weight * wrench)

    def within(self, shares: ArrayLike) -> bool:
        """
        Return whether shares of the squared speeds are within the limits.

        Args:
            shares: (speed / max_speed)^2 (n,).

        Returns:
            whether all are.

        Raises:
            ShapeError: for shares of another number of rotors.

        >>> drone = ld.load_model(config_file('aerial_manipulator.yaml'))
        >>> RotorAllocation(drone.rotors).within(np.full(len(drone.rotors), 1.5))
        False
        """
        shares = as_numbers('shares', shares)
        if shares.shape != self._lower.shape:
            raise wrong_shape('shares', self._lower.shape, shares)
        return all(low <= share <= 1.0 for share, low in zip(
            shares.tolist(), self._lower.tolist()))

    @property
    def share_matrix(self) -> Array:
        """Return the matrix (6, n) from shares of the squared speeds to the wrench."""
        return self.matrix * self._max_speed**2

    @property
    def share_limits(self) -> tuple[Array, Array]:
        """Return the least and the greatest of the shares, (n,) each."""
        return self._lower, np.ones_like(self._lower)

    def at_shares(self, shares: Array, wanted: Array) -> RotorCommand:
        """
        Return the command of shares of the squared speeds.

        Args:
            shares: (speed / max_speed)^2 (n,); those beyond the limits are set to them.
            wanted: desired wrench (6,), with which the command is compared; N m and N.

        Returns:
            the command, with its error from the desired wrench.

        >>> drone = ld.load_model(config_file('aerial_manipulator.yaml'))
        >>> allocation = RotorAllocation(drone.rotors)
        >>> bool(allocation.at_shares(np.full(len(drone.rotors), 0.5), np.zeros(6)).reached)
        False
        """
        speeds = self._max_speed * np.sqrt(np.minimum(np.maximum(shares, self._lower), 1.0))
        speeds = np.minimum(np.maximum(speeds, self._min_speed), self._max_speed)
        given = self.matrix @ (speeds * speeds)
        error = wanted - given
        ends = zip(self.names, speeds.tolist(), self._min_speed.tolist(), self._max_speed.tolist())
        return RotorCommand(
            speeds, given, error,
            max(map(abs, (self._weight * error).tolist())) <= self._reached,
            tuple(name for name, speed, least, most in ends if speed in (least, most)))

    def speed_time_derivatives(self, wrench: ArrayLike) -> Array:
        """
        Return the speeds of a wrench and their time derivatives, as speeds has them.

        Args:
            wrench: desired one and its derivatives (r + 1, 6), in the frame of the body; N m, N
                and s.

        Returns:
            (r + 1, n); rad/s and s.

        Raises:
            LimitError: naming the rotors where the speeds have no derivative: where the wrench is
                out of reach or needs a speed at a bound.
            LiedynError: for another shape, or a number that is not finite.

        >>> drone, hover = ld.load_model(config_file('aerial_manipulator.yaml')), np.zeros((2, 6))
        >>> hover[0, 5] = 20.0
        >>> RotorAllocation(drone.rotors).speed_time_derivatives(hover)[1].round(9).any().item()
        False
        """
        wanted = as_array('wrench', wrench, (-1, 6))
        if len(wanted) == 0:
            raise ShapeError('wrench: expected a row for each order, shape (r + 1, 6), got none')
        now = self.speeds(wanted[0])
        if not now.reached or now.at_limit:
            raise LimitError(
                'wrench: expected one within the limits of the rotors, got one '
                + (f'that takes {", ".join(now.at_limit)} to a bound' if now.at_limit
                   else f'out of reach by {now.error.tolist()}'))
        scale = np.array([float(factorial(k)) for k in range(len(wanted))])[:, None]
        square = (wanted / scale * self._weight) @ self._inverse.T * self._max_speed**2
        speed = np.zeros_like(square)
        speed[0] = now.speeds
        for k in range(1, len(speed)):  # of speed speed = square
            inner = sum((speed[j] * speed[k - j] for j in range(1, k)), np.zeros(len(now.speeds)))
            speed[k] = (square[k] - inner) / (2.0 * speed[0])
        return speed * scale
