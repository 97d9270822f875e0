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
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.control.kernels.feedback import carry_reference, feed_back
from liedyn_ros.lie import se3
from liedyn_ros.model import Model


LOAD_ACCELERATION = 9.81  # m/s^2; so strong is what a load as heavy as the machine does to it
BASE_RATES = slice(0, 6)  # the free base in velocities; the numbers after it are those of joints


class ReferenceMotion(NamedTuple):
    """
    A configuration q (nq,), its velocity v, acceleration a and jerk (nv,), with a free base.

    >>> still = np.zeros(6)
    >>> ReferenceMotion(q=q, v=still, a=still, jerk=still).v.shape
    (6,)
    """

    q: Array
    v: Array
    a: Array
    jerk: Array


class TrackingError(NamedTuple):
    """
    The tracking error of a machine with a free base, in its base frame and joint by joint.

    error (nv,): log(T_ref^-1 T) of the base, rad and m, and differences of the joints. velocity
    (nv,) is the reference's, in the base frame, and rate (nv,) the machine's velocity minus that.
    acceleration (nv,) and its derivative jerk (nv,) keep the rate as it is.

    >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
    >>> at, still = flying.neutral(), np.zeros(flying.nv)
    >>> tracking_error(flying, ReferenceMotion(at, still, still, still), at, still).rate.shape
    (12,)
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

    >>> Gains(position=4.0).rotation
    6.0
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
    Return the errors of a state of a machine with a free base.

    Args:
        model: whose first joint is free.
        reference: the desired motion at this instant.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.

    Returns:
        error and rate (nv,), and what keeps the rate as it is.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
    >>> at, still = flying.neutral(), np.zeros(flying.nv)
    >>> reference = ReferenceMotion(at, still, still, still)
    >>> tracking_error(flying, reference, at, still).error.shape
    (12,)
    """
    v, out = as_array('v', v, (model.nv,)), np.empty((4, model.nv))
    error, motion = model.difference(reference.q, q), np.array(reference[1:], float)
    if motion.shape != (3, model.nv):
        raise ShapeError(f'reference: expected v, a and jerk of {model.nv} numbers, got an array '
                         f'{motion.shape}', names=('reference',), expected=(3, model.nv),
                         got=motion.shape)
    carry_reference(error, v, motion, out)
    return TrackingError(error, *out)


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

    >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
    >>> at, still = flying.neutral(), np.zeros(flying.nv)
    >>> error = tracking_error(flying, ReferenceMotion(at, still, still, still), at, still)
    >>> Feedback(flying, Gains()).acceleration(error, 0.01).shape
    (12,)
    """

    # Of (s + pole)^3, times pole and pole^2; and the pole of these over that of the gains.
    rate_gain, error_gain, pole_ratio = 3.0, 3.0, 1.0

    def __init__(self, model: Model, gains: Gains, authority: ArrayLike = np.inf) -> None:
        """
        Take a model whose first joint is free; authority in rad/s^2 and m/s^2.

        Args:
            model: a Model whose first joint is free.
            gains: poles and limits of the feedback.
            authority: (nv,) or one number, rad/s^2 and m/s^2; without bound by default.

        Raises:
            LimitError: for an authority that is not above 0.
        """
        self._size = model.nv
        self.authority: Array = np.array(
            np.broadcast_to(np.asarray(authority, dtype=float), (model.nv,)))
        if not (self.authority > 0.0).all():
            raise LimitError(f'authority: expected numbers above 0, got {self.authority}',
                             expected='> 0', got=float(self.authority.min()))
        self.use(gains)
        self.reset()

    def use(self, gains: Gains) -> None:
        """
        Change the gains and keep the integral.

        Args:
            gains: poles, rad/s.

        >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
        >>> Feedback(flying, Gains()).use(Gains(position=4.0))
        """
        self._limit = gains.integral_limit
        joints = [gains.joints] * (self._size - 6)
        self._pole = np.array([gains.rotation] * 3 + [gains.position] * 3 + joints)
        self.reach = self.authority / self._pole**2  # errors that count in full
        self.speed = self.authority / self._pole  # of the way back from there
        self._bounds = np.stack((self.reach, self.authority))
        p = self.pole_ratio * self._pole
        self._gains = np.stack((self.rate_gain * p, self.error_gain * p * p, self._pole**3))
        self.tolerance = self.reach.copy()
        self.tolerance[BASE_RATES] = np.minimum(
            self.tolerance[BASE_RATES],
            max(gains.integral_limit, LOAD_ACCELERATION) / self._pole[BASE_RATES]**2)

    def reset(self) -> None:
        """
        Forget the integral.

        >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
        >>> Feedback(flying, Gains()).reset()
        """
        self._integral: Array = np.zeros(self._size)

    def acceleration(self, error: TrackingError, dt: float) -> Array:
        """
        Return the acceleration to command.

        With (s + pole)^3: rate gain 3 pole, error gain 3 pole^2, integral gain pole^3.

        Args:
            error: of the machine, by tracking_error.
            dt: time since the last call; s.

        Returns:
            a (nv,); rad/s^2 and m/s^2.

        >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
        >>> at, still = flying.neutral(), np.zeros(flying.nv)
        >>> error = tracking_error(flying, ReferenceMotion(at, still, still, still), at, still)
        >>> Feedback(flying, Gains()).acceleration(error, 0.01).any().item()
        False
        """
        return error.acceleration + self._back(error, dt)

    def _back(self, error: TrackingError, dt: float) -> Array:
        """Return the acceleration (nv,) back to the reference."""
        out, size = np.empty(self._size), (self._size,)
        feed_back(as_array('error', error.error, size), as_array('rate', error.rate, size),
                  self._gains, self._bounds, self._limit, dt, self._integral, out)
        return out


class RateFeedback(Feedback):
    """
    Feedback for actuators with lag: commands an acceleration and its derivative (8.10).

    The command of Feedback goes through a filter, whose output has a derivative that is known
    without a measured acceleration. Errors vanish as (s + 4^(1/3) pole)^4, which makes the
    integral as strong as that of Feedback: a slow disturbance leaves the same error.
    """

    rate_gain, error_gain, pole_ratio = 1.5, 1.0, 4.0**(1.0 / 3.0)

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
        p = self.pole_ratio * self._pole
        self._filtered = self._wanted + np.exp(-4.0 * p * dt) * (self._filtered - self._wanted)
        self._wanted = self._back(error, dt)
        jerk = error.jerk + 4.0 * p * (self._wanted - self._filtered)
        # (8.9)
        jerk[BASE_RATES] -= se3.ad(self._filtered[BASE_RATES]) @ error.velocity[BASE_RATES]
        return np.stack((error.acceleration + self._filtered, jerk))
