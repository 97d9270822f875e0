# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Feedback on SE(3) and the joints: the acceleration that tracks a reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control.actuators import bounded
from liedyn_ros.lie import se3
from liedyn_ros.model import Model


GRAVITY = 9.81  # m/s^2; so strong is what a load as heavy as the machine does to it
FREE = slice(0, 6)  # the free base in velocities; the numbers after it are those of joints


class ReferenceMotion(NamedTuple):
    """A configuration q (nq,), its velocity v, acceleration a and jerk (nv,), with a free base."""

    q: Array
    v: Array
    a: Array
    jerk: Array


class TrackingError(NamedTuple):
    """
    The tracking error of a machine with a free base, in its base frame and joint by joint.

    error (nv,): log(T_ref^-1 T) of the base, rad and m, and differences of the joints. velocity
    (nv,) is that of the reference, in the base frame, and rate (nv,) the machine's
    velocity minus that. acceleration (nv,) and its derivative jerk (nv,) keep the rate as it is.
    """

    error: Array
    rate: Array
    velocity: Array
    acceleration: Array
    jerk: Array


@dataclass(frozen=True)
class Gains:
    """
    How fast errors vanish: each as (s + pole)^3, poles in rad/s.

    rotation, position and joints are the poles; a slower pole tolerates more delay of the loop:
    0.41 / pole from state to force, 0.33 / pole with RateFeedback. The third power comes from the
    integral, which removes the error of a wrong mass; integral_limit bounds its share, rad/s^2
    or m/s^2. Raises LimitError.
    """

    rotation: float = 6.0
    position: float = 5.0
    joints: float = 6.0
    integral_limit: float = 3.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, value in vars(self).items():
            if not 0.0 < value < np.inf:
                raise LimitError(f'gain {name}: expected a number above 0, got {value}')


def tracking_error(
        model: Model, reference: ReferenceMotion, q: ArrayLike, v: ArrayLike) -> TrackingError:
    """
    Return the errors of a state q, v of a model whose first joint is free.

    Raises ShapeError, NotFiniteError or NotInGroupError.
    """
    v = as_array('v', v, (model.nv,))
    error = model.difference(reference.q, q)
    motion = np.array(reference[1:])
    motion[:, FREE] = motion[:, FREE] @ se3.adjoint_of_exp(-error[FREE]).T  # Ad of T^-1 T_ref
    velocity, acceleration, jerk = motion
    rate = v - velocity
    # d/dt of that product: d/dt Ad_{E^-1} = -ad_{rate} Ad_{E^-1} (0.7). The reference's velocity V
    # has ad_V V = 0 and ad_{v} - ad_V = ad_{rate}.
    ad_rate, carried = se3.ad(rate[FREE]), acceleration[FREE].copy()
    acceleration[FREE] -= ad_rate @ velocity[FREE]
    jerk[FREE] -= ad_rate @ (carried + acceleration[FREE])  # (8.9)
    return TrackingError(error, rate, velocity, acceleration, jerk)


class Feedback:
    """
    Computed acceleration: the reference's, and proportional, derivative and integral feedback.

    The law is linear in the exponential coordinates of the error. So with a true model small
    errors obey the poles of the gains, whatever the motion.

    Bounded by an authority (nv,), it asks for no more than that beyond the reference's
    acceleration. Errors count up to authority / pole^2: the speed of the way back is one from
    which the authority stops. The integral rests where the bound binds.

    tolerance (nv,) are errors of a machine that does not do what it is asked for: of its base, a
    disturbance that sets in at once, as great as its weight, makes 0.27 of them, or 0.36
    by RateFeedback, and of the joints, one as great as their authority.
    """

    rate_gain, error_gain = 3.0, 3.0  # of (s + pole)^3, times pole and pole^2

    def __init__(self, model: Model, gains: Gains, authority: ArrayLike = np.inf) -> None:
        """Take a model whose first joint is free; authority in rad/s^2 and m/s^2, above 0."""
        self._size = model.nv
        self._authority = np.broadcast_to(np.asarray(authority, dtype=float), (model.nv,))
        if not (self._authority > 0.0).all():
            raise LimitError(f'authority: expected numbers above 0, got {self._authority}',
                             expected='> 0', got=float(self._authority.min()))
        self.use(gains)
        self.reset()

    def use(self, gains: Gains) -> None:
        """Change the gains and keep the integral."""
        self._limit = gains.integral_limit
        joints = [gains.joints] * (self._size - 6)
        self._pole = np.array([gains.rotation] * 3 + [gains.position] * 3 + joints)
        self._cube = self._pole**3
        self.reach = self._authority / self._pole**2  # errors that count in full
        self.tolerance = self.reach.copy()
        self.tolerance[FREE] = np.minimum(
            self.tolerance[FREE], max(gains.integral_limit, GRAVITY) / self._pole[FREE]**2)

    def reset(self) -> None:
        """Forget the integral."""
        self._integral: Array = np.zeros(self._size)

    def acceleration(self, error: TrackingError, dt: float) -> Array:
        """
        Return the acceleration to command, (nv,), dt (s) after the last call.

        With (s + pole)^3: rate gain 3 pole, error gain 3 pole^2, integral gain pole^3.
        """
        return error.acceleration + self._back(error, self._pole, dt)

    def _back(self, error: TrackingError, pole: Array, dt: float) -> Array:
        """Return the acceleration (nv,) back to the reference, by the gains of a pole."""
        counted = bounded(error.error, self.reach)
        back = -self.rate_gain * pole * error.rate - self.error_gain * pole * pole * counted
        free = (np.abs(back - self._integral) <= self._authority) & (counted == error.error)
        self._integral = bounded(
            self._integral + free * (dt * self._cube * error.error), self._limit)
        return bounded(back - self._integral, self._authority)


class RateFeedback(Feedback):
    """
    Feedback for actuators with lag: commands an acceleration and its derivative (8.10).

    The command of Feedback goes through a filter, whose output has a derivative that is known
    without a measured acceleration. Errors vanish as (s + 4^(1/3) pole)^4, which makes the
    integral as strong as that of Feedback: a slow disturbance leaves the same error.
    """

    rate_gain, error_gain = 1.5, 1.0

    def reset(self) -> None:
        """Forget the integral and the filter."""
        super().reset()
        self._filtered: Array = np.zeros(self._size)
        self._wanted: Array = np.zeros(self._size)

    def acceleration(self, error: TrackingError, dt: float) -> Array:
        """
        Return the acceleration to command and its derivative, (2, nv), dt (s) after the last call.

        The derivative is that along a motion with the acceleration that is commanded.
        """
        p = 4.0**(1.0 / 3.0) * self._pole
        self._filtered = self._wanted + np.exp(-4.0 * p * dt) * (self._filtered - self._wanted)
        self._wanted = self._back(error, p, dt)
        jerk = error.jerk + 4.0 * p * (self._wanted - self._filtered)
        jerk[FREE] -= se3.ad(self._filtered[FREE]) @ error.velocity[FREE]  # (8.9)
        return np.stack((error.acceleration + self._filtered, jerk))
