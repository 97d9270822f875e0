# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Arithmetic on Taylor coefficients, and the series of a configuration along a motion.

A series is the row x^(k) / k!, k = 0..K. Products are Cauchy products; elementary functions
follow from the differential equations that they solve.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.model.expansion import LinkTable
from liedyn_ros.model.kernels.kinds import NQ_OF_KIND


def taylor_series(function: Callable[[Any], Any]) -> Callable[[Array], Array]:
    """
    Return the function on Taylor coefficients that a function of numbers is.

    It is called with an object array of TaylorNumber, and may use arithmetic, @, powers,
    comparisons, and numpy's sin, cos, tan, arcsin, arccos, arctan, exp, log and sqrt; not math's.

    Args:
        function: of numbers (n,), which returns an array or nested lists (...).

    Returns:
        function of coefficients (K + 1, n) that returns (K + 1, ...).

    >>> taylor_series(lambda q: [q[0] * q[0]])(np.array([[1.0], [2.0]]))
    array([[1.],
           [4.]])
    """
    def series(coefficients: Array) -> Array:
        numbers = np.empty(coefficients.shape[1], dtype=object)
        numbers[:] = [TaylorNumber(column) for column in coefficients.T]
        found = np.array(function(numbers), dtype=object)
        out = np.zeros((*found.shape, len(coefficients)))
        for at, value in np.ndenumerate(found):
            if isinstance(value, TaylorNumber):
                out[at] = value.coefficients
            else:
                out[at + (0,)] = value
        result: Array = np.moveaxis(out, -1, 0)
        return result

    return series


class TaylorNumber:
    """
    A number that varies with time, as its coefficients (K + 1,); compared by its value now.

    >>> (TaylorNumber([2.0, 1.0]) * TaylorNumber([3.0, 0.0])).coefficients
    array([6., 3.])
    """

    __slots__ = ('coefficients',)

    def __init__(self, coefficients: ArrayLike) -> None:
        """
        Take the coefficients.

        Args:
            coefficients: (K + 1,), x^(k) / k! at k.
        """
        self.coefficients: Array = np.asarray(coefficients, dtype=np.float64)

    def __add__(self, other: Any) -> TaylorNumber:
        return TaylorNumber(self.coefficients + self._like(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> TaylorNumber:
        return TaylorNumber(self.coefficients - self._like(other))

    def __rsub__(self, other: Any) -> TaylorNumber:
        return TaylorNumber(self._like(other) - self.coefficients)

    def __neg__(self) -> TaylorNumber:
        return TaylorNumber(-self.coefficients)

    def __pos__(self) -> TaylorNumber:
        return self

    def __mul__(self, other: Any) -> TaylorNumber:
        if not isinstance(other, TaylorNumber):
            return TaylorNumber(self.coefficients * float(other))
        return TaylorNumber(_product(self.coefficients, other.coefficients))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> TaylorNumber:
        if not isinstance(other, TaylorNumber):
            return TaylorNumber(self.coefficients / float(other))
        return TaylorNumber(_quotient(self.coefficients, other.coefficients))

    def __rtruediv__(self, other: Any) -> TaylorNumber:
        return TaylorNumber(_quotient(self._like(other), self.coefficients))

    def __pow__(self, exponent: Any) -> TaylorNumber:
        if isinstance(exponent, TaylorNumber):
            return (self.log() * exponent).exp()
        exponent = float(exponent)
        if exponent.is_integer() and exponent >= 0.0:  # of any base, 0 too
            result, factor, left = TaylorNumber(self._like(1.0)), self, int(exponent)
            while left:
                result, factor, left = result * factor if left % 2 else result, (
                    factor * factor if left > 1 else factor), left // 2
            return result
        x, y = self.coefficients, np.zeros_like(self.coefficients)
        y[0] = x[0]**exponent
        for k in range(1, len(x)):  # x y' = exponent x' y
            h = np.arange(1, k + 1)
            y[k] = ((exponent * h - (k - h)) * x[1:k + 1]) @ y[k - 1::-1] / (k * x[0])
        return TaylorNumber(y)

    def __rpow__(self, base: Any) -> TaylorNumber:
        return (self * float(np.log(base))).exp()

    def __lt__(self, other: Any) -> bool:
        return bool(self.coefficients[0] < self._like(other)[0])

    def __le__(self, other: Any) -> bool:
        return bool(self.coefficients[0] <= self._like(other)[0])

    def __gt__(self, other: Any) -> bool:
        return bool(self.coefficients[0] > self._like(other)[0])

    def __ge__(self, other: Any) -> bool:
        return bool(self.coefficients[0] >= self._like(other)[0])

    def __float__(self) -> float:
        """Refuse: the derivatives would be lost."""
        raise LiedynError('expected arithmetic and functions of numpy on numbers with a Taylor '
                          'series, got a conversion to float, which functions of math need')

    def sqrt(self) -> TaylorNumber:
        """
        Return the square root, which numpy's sqrt calls.

        Returns:
            the number with its coefficients.

        >>> np.sqrt(TaylorNumber([0.25, 1.0])).coefficients.round(6)
        array([0.5, 1. ])
        """
        return self**0.5

    def exp(self) -> TaylorNumber:
        """
        Return the power of e, which numpy's exp calls.

        Returns:
            the number with its coefficients.

        >>> np.exp(TaylorNumber([0.0, 1.0])).coefficients.round(6)
        array([1., 1.])
        """
        x, y = self.coefficients, np.zeros_like(self.coefficients)
        y[0] = np.exp(x[0])
        for k in range(1, len(x)):  # y' = x' y
            y[k] = (np.arange(1, k + 1) * x[1:k + 1]) @ y[k - 1::-1] / k
        return TaylorNumber(y)

    def log(self) -> TaylorNumber:
        """
        Return the natural logarithm, which numpy's log calls.

        Returns:
            the number with its coefficients.

        >>> np.log(TaylorNumber([1.0, 1.0])).coefficients.round(6)
        array([0., 1.])
        """
        return self._integral(np.log(self.coefficients[0]), 1.0 / self)

    def sin(self) -> TaylorNumber:
        """
        Return the sine, which numpy's sin calls.

        Returns:
            the number with its coefficients.

        >>> np.sin(TaylorNumber([0.0, 1.0])).coefficients.round(6)
        array([0., 1.])
        """
        return self._sine_and_cosine()[0]

    def cos(self) -> TaylorNumber:
        """
        Return the cosine, which numpy's cos calls.

        Returns:
            the number with its coefficients.

        >>> np.cos(TaylorNumber([0.0, 1.0])).coefficients.round(6)
        array([ 1., -0.])
        """
        return self._sine_and_cosine()[1]

    def tan(self) -> TaylorNumber:
        """
        Return the tangent, which numpy's tan calls.

        Returns:
            the number with its coefficients.

        >>> np.tan(TaylorNumber([0.0, 1.0])).coefficients.round(6)
        array([0., 1.])
        """
        sine, cosine = self._sine_and_cosine()
        return sine / cosine

    def arctan(self) -> TaylorNumber:
        """
        Return the angle of a tangent, which numpy's arctan calls.

        Returns:
            the number with its coefficients.

        >>> np.arctan(TaylorNumber([0.0, 1.0])).coefficients.round(6)
        array([0., 1.])
        """
        return self._integral(np.arctan(self.coefficients[0]), 1.0 / (1.0 + self * self))

    def arcsin(self) -> TaylorNumber:
        """
        Return the angle of a sine, which numpy's arcsin calls.

        Returns:
            the number with its coefficients.

        >>> np.arcsin(TaylorNumber([0.0, 1.0])).coefficients.round(6)
        array([0., 1.])
        """
        return self._integral(np.arcsin(self.coefficients[0]), (1.0 - self * self)**-0.5)

    def arccos(self) -> TaylorNumber:
        """
        Return the angle of a cosine, which numpy's arccos calls.

        Returns:
            the number with its coefficients.

        >>> np.arccos(TaylorNumber([0.0, 1.0])).coefficients.round(6)
        array([ 1.570796, -1.      ])
        """
        return 0.5 * np.pi - self.arcsin()

    def _sine_and_cosine(self) -> tuple[TaylorNumber, TaylorNumber]:
        x = self.coefficients
        s, c = np.zeros_like(x), np.zeros_like(x)
        s[0], c[0] = np.sin(x[0]), np.cos(x[0])
        for k in range(1, len(x)):  # s' = c x', c' = -s x'
            rate = np.arange(1, k + 1) * x[1:k + 1] / k
            s[k], c[k] = rate @ c[k - 1::-1], -(rate @ s[k - 1::-1])
        return TaylorNumber(s), TaylorNumber(c)

    def _integral(self, first: float, slope: TaylorNumber) -> TaylorNumber:
        """Return a number that begins at a value and changes by slope times the change of this."""
        count = np.arange(1, len(self.coefficients))
        y = np.empty_like(self.coefficients)
        y[0] = first
        y[1:] = _product(slope.coefficients[:-1], count * self.coefficients[1:]) / count
        return TaylorNumber(y)

    def _like(self, other: Any) -> Array:
        """Return the coefficients of a number or a constant, as many as these."""
        if isinstance(other, TaylorNumber):
            return other.coefficients
        constant = np.zeros_like(self.coefficients)
        constant[0] = float(other)
        return constant


def _product(x: Array, y: Array) -> Array:
    """Return the Cauchy product of two series of one length."""
    if not len(x):
        return x
    product: Array = np.asarray(np.convolve(x, y)[:len(x)], dtype=np.float64)
    return product


def _quotient(x: Array, y: Array) -> Array:
    """Return the series z with y z = x."""
    z = np.empty_like(x)
    for k in range(len(x)):
        z[k] = (x[k] - y[1:k + 1] @ z[:k][::-1]) / y[0]
    return z


def configuration_series(table: LinkTable, q: Array, rate: Array) -> Array:
    """Return coefficients (K + 1, nq) of q, given those of v (K, nv)."""
    orders, q_series = len(rate), np.zeros((len(rate) + 1, table.nq))
    q_series[0] = q
    for kind, at, step in zip(table.kind, table.qi, table.vi):
        turn = at + NQ_OF_KIND[kind] - 4
        if turn < at:
            q_series[1:, at] = rate[:, step] / np.arange(1, orders + 1)
            continue
        own = q_series[:, turn:turn + 4]
        for k in range(orders):  # x' = x (w, 0) / 2
            spin = np.zeros((k + 1, 4))
            spin[:, :3] = rate[k::-1, step:step + 3]
            own[k + 1] = _times(own[:k + 1], spin).sum(axis=0) / (2.0 * (k + 1))
        if turn > at:
            _travel(q_series[:, at:at + 3], own, rate[:, step + 3:step + 6])
    return q_series


def tangent_series(table: LinkTable, q_series: Array) -> Array:
    """Return coefficients (K, nv, nq) of the changes of q along each tangent, from those of q."""
    result = np.zeros((len(q_series), table.nv, table.nq))
    for kind, at, step in zip(table.kind, table.qi, table.vi):
        turn = at + NQ_OF_KIND[kind] - 4
        if turn < at:
            result[0, step, at] = 1.0
            continue
        own = q_series[:, turn:turn + 4]
        back = own * [-1.0, -1.0, -1.0, 1.0]
        for c, axis in enumerate(np.eye(3, 4)):
            across = _times(own, axis[None])  # dx = x (e, 0) / 2, dp = x (e, 0) x*
            result[:, step + c, turn:turn + 4] = 0.5 * across
            if turn > at:
                for k in range(len(own)):
                    result[k, step + 3 + c, at:at + 3] = _times(
                        across[:k + 1], back[k::-1]).sum(axis=0)[:3]
    return result


def _travel(place: Array, turn: Array, speed: Array) -> None:
    """Write the coefficients of p' = x (v, 0) x* after the first, of a unit quaternion x."""
    orders = len(speed)
    across, back = np.zeros((orders, 4)), turn * [-1.0, -1.0, -1.0, 1.0]
    for k in range(orders):
        body = np.zeros((k + 1, 4))
        body[:, :3] = speed[k::-1]
        across[k] = _times(turn[:k + 1], body).sum(axis=0)
        place[k + 1] = _times(across[:k + 1], back[k::-1]).sum(axis=0)[:3] / (k + 1)


def _times(x: Array, y: Array) -> Array:
    """Return products (n, 4) of quaternions x, y, z, w."""
    vector = (x[:, 3:] * y[:, :3] + y[:, 3:] * x[:, :3] + np.cross(x[:, :3], y[:, :3]))
    scalar = x[:, 3] * y[:, 3] - (x[:, :3] * y[:, :3]).sum(axis=1)
    return np.column_stack((vector, scalar))
