# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Which of two poses of the same lengths a moving platform is in, told by how it moved before.

At a singularity two poses of the same lengths meet, with opposite signs of the determinant. A
solver started from the pose before can stay on its side when the platform passes through: it
meets the lengths perfectly, and neither its residual nor a jump of the pose shows the fault. What
shows it is the motion: the signed smallest singular value dips to zero and turns back sharply,
where that of the platform passes smoothly through zero.
"""

import math
from typing import NamedTuple

from liedyn_ros.errors import LimitError
from liedyn_ros.stewart.singularity import Singularity

RESTLESSNESS = 0.02  # 1/s^3: the rate is expected to change by 0.014/s in 10 ms, 0.14/s in 1 s
UNKNOWN_RATE = 0.1  # 1/s^2, variance of the rate before anything is known of it
EXACT = 1e-12  # least noise, in characteristic lengths: what rounding leaves
MERGED = 4.0  # standard deviations from zero below which the square of a value can be nothing
JUMP = 5.0  # 1/s, a change of the rate from one sample to the next that no platform makes
CLEAR = 4.0  # standard deviations from the prediction that rule a branch out
STRAY = 6.0  # the same, that rule a measurement out near the singularity
SURE = 7.0  # logarithm of the odds, 1000 to 1, with which a turn is ruled out


class Branch(NamedTuple):
    """
    What the motion tells of one sample.

    expected_sign: of the determinant on the branch that the motion leads to. rate: of the signed
    value, filtered, 1/s. prediction_gap: from where the motion leads to the given pose, along
    the null twist, rad or characteristic lengths. unsure: whether noise leaves both branches
    possible; it stays so until a reset where it was so when the platform left the singularity.
    wrong: whether the given pose lies on the other branch than the motion leads to.
    """

    expected_sign: int
    rate: float
    prediction_gap: float
    unsure: bool
    wrong: bool


class BranchGuard:
    """
    Follows the signed singular value with a Kalman filter and judges every pose by it.

    The filter's state is the value and its rate, the rate wandering with RESTLESSNESS. What it
    measures is the square of a pose's value: the same on both branches, and by length noise
    moved by 2 slope * noise however near the singularity is, even below zero, where no pose has
    the lengths. So every sample counts. On its way through zero the filter keeps to the
    motion's direction; `turn_cost` tells whether the platform could have turned there unseen.
    """

    def __init__(self, noise: float) -> None:
        """Take the standard deviation of a leg length in characteristic lengths."""
        if not 0.0 <= noise < 1.0:
            raise LimitError(f'noise: expected a number in [0, 1), got {noise}')
        self._noise = max(noise, EXACT)
        self.reset()

    def reset(self) -> None:
        """Forget the motion: the next pose is believed."""
        self._stamp_ns: int | None = None
        self._value = self._rate = 0.0
        self._vv = self._vr = self._rr = 0.0  # covariance of value and rate
        self._sign = self._told = 0  # expected of the last sample; told of it
        self._entered = 0  # the sign before noise mixed the branches, 0 while it does not
        self._odds = math.inf  # logarithm, that the platform went through and did not turn
        self._doubt = False

    def settle(self, singularity: Singularity) -> None:
        """Believe a pose: a redundant sensor has told which branch it is."""
        if self._value * singularity.signed_value < 0.0:
            self._rate = -self._rate
        self._value, self._doubt, self._entered = singularity.signed_value, False, 0
        self._sign = self._told = self.expected_sign

    @property
    def expected_sign(self) -> int:
        """Return the sign of the determinant on the branch that the motion leads to, 1 or -1."""
        return 1 if self._value > 0.0 else -1

    @property
    def told_sign(self) -> int:
        """
        Return the expected sign as it is told, 0 before the first pose.

        While noise mixes the branches it changes once at most.
        """
        return self._told

    def near(self, value: float) -> bool:
        """Return whether the motion is expected within a signed value of the singularity."""
        return self._stamp_ns is not None and abs(self._value) < value

    def update(self, stamp_ns: int, singularity: Singularity, shortfall: float = 0.0) -> Branch:
        """
        Return what the motion tells of the pose measured at a time (ns).

        shortfall: norm of the error that a solve left in the lengths, in characteristic lengths.
        """
        value, slope = singularity.signed_value, abs(singularity.slope)
        # Of a regular pose the value follows the lengths about one to one.
        noise = 2.0 * self._noise * math.hypot(slope, value)
        if self._stamp_ns is None:
            self._stamp_ns, self._value, self._rr = stamp_ns, value, UNKNOWN_RATE
            self._vv = _variance(abs(value), noise)
            self._sign = self._told = self.expected_sign
            return Branch(singularity.determinant_sign, 0.0, 0.0, False, False)
        dt = self._advance(self._stamp_ns, stamp_ns)
        gap = (value - self._value) / max(slope, EXACT)
        unsure = self._judge(value * value - 2.0 * slope * shortfall, noise, dt)
        self._tell()
        return Branch(self.expected_sign, self._rate, gap, unsure, value * self._value < 0.0)

    def coast(self, stamp_ns: int) -> None:
        """Go on to a time (ns) without a pose."""
        if self._stamp_ns is not None:
            self._advance(self._stamp_ns, stamp_ns)
            self._tell()

    def _advance(self, before_ns: int, stamp_ns: int) -> float:
        """Predict; return the time since the sample before, s."""
        dt, self._stamp_ns = 1e-9 * (stamp_ns - before_ns), stamp_ns
        self._value += dt * self._rate
        self._vv += dt * (2.0 * self._vr + dt * self._rr) + RESTLESSNESS * dt ** 3 / 3.0
        self._vr += dt * self._rr + RESTLESSNESS * dt ** 2 / 2.0
        self._rr += RESTLESSNESS * dt
        return dt

    def _judge(self, square: float, noise: float, dt: float) -> bool:
        """Take a measured square of the value; return whether the branch is open."""
        near = abs(self._value) < CLEAR * math.sqrt(self._vv)
        merged = square < MERGED * noise
        if not (near or merged):
            size, expected = math.sqrt(square), abs(self._value)
            miss = abs(size - expected)
            clear = CLEAR * math.sqrt(self._vv + _variance(size, noise))
            if miss > max(clear, JUMP * dt):  # the platform was moved while nothing was measured
                self._start_anew(size, noise)
                return self._doubt or 2.0 * miss > size + expected
        self._correct(square, noise)
        return self._is_open(near, noise * math.sqrt(dt)) or merged

    def _correct(self, square: float, noise: float) -> None:
        """Update the filter with a measured square: of a normal value, mean and variance exact."""
        slope = 2.0 * self._value
        total = noise ** 2 + slope ** 2 * self._vv + 2.0 * self._vv ** 2
        innovation = square - self._value ** 2 - self._vv
        if innovation ** 2 > STRAY ** 2 * total:
            return
        gain_v, gain_r = slope * self._vv / total, slope * self._vr / total
        self._value += gain_v * innovation
        self._rate += gain_r * innovation
        self._rr -= gain_r * slope * self._vr
        self._vr -= gain_r * slope * self._vv
        self._vv -= gain_v * slope * self._vv

    def _start_anew(self, size: float, noise: float) -> None:
        """Take a value of the expected sign, and a rate that is not known."""
        self._value, self._rate = math.copysign(size, self._value), 0.0
        self._vv, self._vr, self._rr = _variance(size, noise), 0.0, UNKNOWN_RATE
        self._doubt |= self._entered != 0
        self._sign, self._entered = self.expected_sign, 0

    def _is_open(self, near: bool, noise_density: float) -> bool:
        """Go on from in to out of the singularity's noise; return whether the branch is open."""
        before, self._sign = self._sign, self.expected_sign
        leaving = self._value * self._rate > 0.0
        if near and not self._entered and (self._sign != before or not leaving):
            self._entered, self._odds = before, math.inf
        if self._entered and self._sign != before:
            slowest = max(abs(self._rate) - 2.0 * math.sqrt(self._rr), 0.0)
            self._odds = min(self._odds, turn_cost(slowest, noise_density))
        if self._entered and leaving and not near:
            self._doubt |= self._sign == self._entered or self._odds < SURE
            self._entered = 0
        return self._doubt or self._entered != 0

    def _tell(self) -> None:
        if self._told in (0, self._entered) or not self._entered:
            self._told = self.expected_sign


def turn_cost(rate: float, noise_density: float) -> float:
    """
    Return the logarithm of the odds that a motion went through zero and did not turn there.

    rate: 1/s, of the value as it went through. noise_density: of the value's square, its
    standard deviation in one sample by the root of the time between samples.

    A turn that looks most like it leaves the line at a time t before zero for a parabola, and
    follows the line's mirror image from t after. Its acceleration rate / t has the cost
    rate^2 / (RESTLESSNESS t), and what the squares then miss, rate^2 (t^2 - tau^2)^2 / (4 t^2)
    at each time tau from zero, one of 8/315 rate^4 t^5 / noise_density^2. The least sum counts.
    """
    misfit = 8.0 / 315.0 * rate ** 4 / max(noise_density, EXACT) ** 2
    if not misfit > 0.0:
        return 0.0
    time = (rate ** 2 / (5.0 * RESTLESSNESS * misfit)) ** (1.0 / 6.0)
    return 1.2 * rate ** 2 / (RESTLESSNESS * time)


def _variance(size: float, noise: float) -> float:
    """Return the variance of a value whose square has a standard deviation."""
    return min((0.5 * noise / size) ** 2, 1.0) if size else 1.0
