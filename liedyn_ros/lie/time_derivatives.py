# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Time derivatives of twists, wrenches and poses, in the body frame or the spatial one, to any order.

Body twists are those of T^-1 dT/dt, spatial ones, which are right-invariant, of dT/dt T^-1; their
derivatives differ by more than an adjoint. Everything here is a product of Taylor series, which
is exact at every order: the tables (0.8) to (0.14) are these products written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError, ShapeError
from liedyn_ros.lie import se3

BODY, SPATIAL = 'body', 'spatial'
NEGLIGIBLE_TERM = 1e-17  # relative size of a term that ends a sum


@dataclass(frozen=True, eq=False)
class Twists:
    """
    The motion of a frame at an instant: its pose, its twist and the time derivatives of the twist.

    Args:
        pose: T_ground_frame (4, 4); m.
        time_derivatives: twist and its derivatives (n, 6), angular part first; rad/s and m/s.
        frame: BODY or SPATIAL, the frame that twists are seen from.

    >>> Twists(np.eye(4), [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]], BODY).poses().shape
    (2, 4, 4)
    """

    pose: Array
    time_derivatives: Array
    frame: str

    def __init__(self, pose: ArrayLike, time_derivatives: ArrayLike, frame: str) -> None:
        """Check the parts."""
        object.__setattr__(self, 'pose', as_array('pose', se3.require_pose('pose', pose), (4, 4)))
        object.__setattr__(self, 'time_derivatives', as_array('twists', time_derivatives, (-1, 6)))
        object.__setattr__(self, 'frame', require_frame(frame))

    def to(self, frame: str) -> Twists:
        """
        Return the motion with its twists seen from one of the two frames (0.8), (0.9).

        Args:
            frame: BODY or SPATIAL.

        Returns:
            the motion, or itself if it has that frame.

        Raises:
            LiedynError: for another frame.

        >>> turning = Twists(ld.pose([1.0, 0.0, 0.0]), [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]], BODY)
        >>> turning.to(SPATIAL).time_derivatives
        array([[ 0.,  0.,  1.,  0., -1.,  0.]])
        """
        if require_frame(frame) == self.frame:
            return self
        adjoint = _adjoint(self._series()[:len(self.time_derivatives)], to_body=frame == BODY)
        twists = _product(adjoint, _coefficients(self.time_derivatives))  # (0.8), (0.9)
        return Twists(self.pose, _derivatives(twists), frame)

    def poses(self) -> Array:
        """
        Return the pose and its time derivatives (Ali 20).

        Returns:
            (n + 1, 4, 4); m and s.

        >>> Twists(np.eye(4), [[0.0, 0.0, 0.0, 3.0, 0.0, 0.0]], BODY).poses()[1, :3, 3]
        array([3., 0., 0.])
        """
        return _derivatives(self._series())

    def adjoints(self) -> Array:
        """
        Return the adjoint of the pose and its time derivatives.

        Returns:
            Ad_T and derivatives (n + 1, 6, 6).

        >>> Twists(np.eye(4), np.zeros((2, 6)), BODY).adjoints().shape
        (3, 6, 6)
        """
        return _derivatives(_adjoint(self._series(), to_body=False))

    def inverse_adjoints(self) -> Array:
        """
        Return the adjoint of the inverse pose and its time derivatives (Ali 70).

        Returns:
            Ad_{T^-1} and derivatives (n + 1, 6, 6).

        >>> Twists(np.eye(4), np.zeros((2, 6)), BODY).inverse_adjoints().shape
        (3, 6, 6)
        """
        return _derivatives(_adjoint(self._series(), to_body=True))

    def _series(self) -> Array:
        """Return the Taylor coefficients of the pose."""
        rates = se3.hat(_coefficients(self.time_derivatives))
        poses = [self.pose]
        for k in range(len(rates)):  # (0.12)
            pairs = zip(poses, rates[k::-1])
            poses.append(sum((t @ v if self.frame == BODY else v @ t for t, v in pairs),
                             np.zeros((4, 4))) / (k + 1))
        return np.array(poses)


@dataclass(frozen=True, eq=False)
class Wrenches:
    """
    A wrench and its time derivatives.

    Args:
        time_derivatives: (n, 6), moment (N m) before force (N).
        frame: BODY or SPATIAL, the frame that they are seen from.

    >>> Wrenches(np.zeros((2, 6)), BODY).frame
    'body'
    """

    time_derivatives: Array
    frame: str

    def __init__(self, time_derivatives: ArrayLike, frame: str) -> None:
        """Check the parts."""
        object.__setattr__(
            self, 'time_derivatives', as_array('wrenches', time_derivatives, (-1, 6)))
        object.__setattr__(self, 'frame', require_frame(frame))

    def __add__(self, other: Wrenches) -> Wrenches:
        """Return the sum; raises LiedynError for another frame, ShapeError for another order."""
        if other.frame != self.frame:
            raise LiedynError(f'wrenches: expected both of one frame, got {self.frame} and '
                              f'{other.frame}')
        if other.time_derivatives.shape != self.time_derivatives.shape:
            raise ShapeError(f'wrenches: expected {len(self.time_derivatives)} rows of both, '
                             f'got {len(other.time_derivatives)}')
        return Wrenches(self.time_derivatives + other.time_derivatives, self.frame)

    def to(self, frame: str, motion: Twists) -> Wrenches:
        """
        Return the wrench seen from one of the two frames (0.10), (0.11), (0.14).

        Args:
            frame: BODY or SPATIAL.
            motion: of the frame, with all but the last derivative of the wrench.

        Returns:
            the wrench, or itself if it has that frame.

        Raises:
            ShapeError: for a motion of fewer derivatives.
            LiedynError: for another frame.

        >>> motion = Twists(ld.pose([1.0, 0.0, 0.0]), np.zeros((1, 6)), BODY)
        >>> Wrenches([[0.0, 0.0, 0.0, 0.0, 2.0, 0.0]], BODY).to(SPATIAL, motion).time_derivatives
        array([[0., 0., 2., 0., 2., 0.]])
        """
        if require_frame(frame) == self.frame:
            return self
        n = len(self.time_derivatives)
        if len(motion.time_derivatives) < n - 1:
            raise ShapeError(f'twists: expected {n - 1} rows, the twist and its derivatives, '
                             f'for {n} of a wrench, got {len(motion.time_derivatives)}')
        adjoint = _adjoint(motion._series()[:n], to_body=frame == SPATIAL)
        dual = np.swapaxes(adjoint, 1, 2)
        wrenches = _product(dual, _coefficients(self.time_derivatives))  # (0.10), (0.11), (0.14)
        return Wrenches(_derivatives(wrenches), frame)


def twists_of(poses: ArrayLike, frame: str) -> Twists:
    """
    Return the motion of a frame from its pose and the derivatives of that.

    Args:
        poses: (n + 1, 4, 4), n at least 1; m and s.
        frame: BODY or SPATIAL, the frame that twists are to be seen from.

    Returns:
        the motion, with a twist and n - 1 derivatives.

    Raises:
        LiedynError: for another frame, or a singular or wrong array.

    >>> motion = Twists(np.eye(4), np.ones((2, 6)), BODY)
    >>> twists_of(motion.poses(), BODY).time_derivatives.round(12)
    array([[1., 1., 1., 1., 1., 1.],
           [1., 1., 1., 1., 1., 1.]])
    """
    poses = as_array('poses', poses, (-1, 4, 4))
    if len(poses) < 2:
        raise ShapeError(f'poses: expected a pose and at least one derivative, got {len(poses)}')
    series = _coefficients(poses)
    rates = series[1:] * np.arange(1.0, len(series))[:, None, None]
    inverse = _inverse(series[:-1])
    pair = (inverse, rates) if require_frame(frame) == BODY else (rates, inverse)
    return Twists(poses[0], _derivatives(_vee(_product(*pair))), frame)


def twists_of_exponential(xi: ArrayLike) -> Array:
    """
    Return the body twist of exp(xi(t)) and its derivatives (n, 6), of xi and its own (n + 1, 6).

    V = sum_j (-ad_xi)^j xi' / (j + 1)!, of series that are cut after order n - 1 (1.14).
    """
    x = _coefficients(as_array('xi', xi, (-1, 6)))
    order = len(x) - 1
    if order < 1:
        raise ShapeError(f'xi: expected at least two rows, got {order + 1}')
    rate: Array = (x[1:] * np.arange(1.0, order + 1.0)[:, None]).reshape(-1)  # the series of xi'
    ads, blocks = -se3.ad(x[:order]), np.zeros((order, 6, order, 6))
    for k in range(order):
        blocks[k, :, :k + 1] = ads[k::-1].swapaxes(0, 1)
    product = blocks.reshape(6 * order, 6 * order)
    total, term, j = rate.copy(), rate, 1
    while np.abs(term).max() > NEGLIGIBLE_TERM * np.abs(total).max():
        j += 1
        term = product @ term / j
        total += term
    return _derivatives(total.reshape(order, 6))


def require_frame(frame: str) -> str:
    """Return the name of a frame, or raise LiedynError."""
    if frame not in (BODY, SPATIAL):
        raise LiedynError(f'frame: expected {BODY!r} or {SPATIAL!r}, got {frame!r}')
    return frame


def _adjoint(series: Array, to_body: bool) -> Array:
    """Return the series of Ad_T, or that of Ad_{T^-1}, of a series of poses."""
    if to_body:
        series = _inverse(series)
    r = series[:, :3, :3]
    result = np.zeros((len(series), 6, 6))
    result[:, :3, :3] = result[:, 3:, 3:] = r
    result[:, 3:, :3] = _product(_skew(series[:, :3, 3]), r)
    return result


def _inverse(series: Array) -> Array:
    """Return the series of the inverse poses."""
    result = series.copy()
    result[:, :3, :3] = np.swapaxes(series[:, :3, :3], 1, 2)
    result[:, :3, 3] = -_product(result[:, :3, :3], series[:, :3, 3])
    return result


def _product(a: Array, b: Array) -> Array:
    """Return the product of a series of matrices and one of matrices or vectors."""
    return np.array([sum(np.matmul(a[j], b[k - j]) for j in range(k + 1))
                     for k in range(len(b))])


def _skew(p: Array) -> Array:
    twist = np.concatenate([p, np.zeros_like(p)], axis=1)
    return se3.hat(twist)[:, :3, :3]


def _vee(matrices: Array) -> Array:
    """Return the (n, 6) twists of matrices that are in the algebra but for rounding."""
    a = matrices[:, :3, :3]
    w = 0.5 * (a - np.swapaxes(a, 1, 2))[:, [2, 0, 1], [1, 2, 0]]
    return np.concatenate([w, matrices[:, :3, 3]], axis=1)


def _factorials(x: Array) -> Array:
    return _first_factorials(len(x)).reshape(-1, *(1,) * (x.ndim - 1))


@lru_cache
def _first_factorials(count: int) -> Array:
    return np.cumprod(np.maximum(1.0, np.arange(float(count))))


def _coefficients(derivatives: Array) -> Array:
    return derivatives / _factorials(derivatives)


def _derivatives(coefficients: Array) -> Array:
    return coefficients * _factorials(coefficients)
