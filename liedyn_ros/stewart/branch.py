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

RESTLESSNESS = 0.005  # 1/s^3: the rate is expected to change by 0.007/s in 10 ms, 0.07/s in 1 s
UNKNOWN_RATE = 0.1  # 1/s^2, variance of the rate before anything is known of it
EXACT = 1e-12  # least noise, in characteristic lengths: what rounding leaves
# Noise e in the lengths moves the square of a pose's distance s to its singularity by
# 2 e / slope, and value = slope s: this is reached at the singularity with four deviations.
MIXED = 8.0
JUMP = 5.0  # 1/s, a change of the rate from one sample to the next that no platform makes
CLEAR = 4.0  # standard deviations from the prediction that rule a branch out


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

    The filter's state is the value and its rate, the rate wandering with RESTLESSNESS. Length
    noise gives a pose's value the deviation slope * noise / value, which grows without bound at
    the singularity: there the filter coasts, and the pose on the far side is taken for the one
    of +value and -value that is nearer to what the motion predicts.
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
        self._mixed = self._doubt = False
        self._jump = 0.0  # by how much the value may differ from what its rate predicts

    def settle(self, singularity: Singularity) -> None:
        """Believe a pose: a redundant sensor has told which branch it is."""
        if self._value * singularity.signed_value < 0.0:
            self._rate = -self._rate
        self._value, self._doubt = singularity.signed_value, False

    @property
    def expected_sign(self) -> int:
        """Return the sign of the determinant on the branch that the motion leads to, 1 or -1."""
        return 1 if self._value > 0.0 else -1

    def near(self, value: float) -> bool:
        """Return whether the motion is expected within a signed value of the singularity."""
        return self._stamp_ns is not None and abs(self._value) < value

    def update(self, stamp_ns: int, singularity: Singularity) -> Branch:
        """Return what the motion tells of the pose measured at a time (ns)."""
        value, slope = singularity.signed_value, max(abs(singularity.slope), EXACT)
        if self._stamp_ns is None:
            self._stamp_ns, self._value, self._rr = stamp_ns, value, UNKNOWN_RATE
            self._vv = self._variance(value, slope)
            return Branch(singularity.determinant_sign, 0.0, 0.0, False, False)
        self._advance(self._stamp_ns, stamp_ns)
        gap = (value - self._value) / slope
        unsure = self._judge(abs(value), slope)
        return Branch(self.expected_sign, self._rate, gap, unsure, value * self._value < 0.0)

    def coast(self, stamp_ns: int) -> None:
        """Go on to a time (ns) without a pose."""
        if self._stamp_ns is not None:
            self._mixed = True
            self._advance(self._stamp_ns, stamp_ns)

    def _variance(self, value: float, slope: float) -> float:
        return min((slope * self._noise / value) ** 2, 1.0) if value else 1.0

    def _advance(self, before_ns: int, stamp_ns: int) -> None:
        dt = 1e-9 * (stamp_ns - before_ns)
        self._stamp_ns, self._jump = stamp_ns, JUMP * dt
        self._value += dt * self._rate
        self._vv += dt * (2.0 * self._vr + dt * self._rr) + RESTLESSNESS * dt ** 3 / 3.0
        self._vr += dt * self._rr + RESTLESSNESS * dt ** 2 / 2.0
        self._rr += RESTLESSNESS * dt

    def _judge(self, size: float, slope: float) -> bool:
        """Take the nearer of +size and -size unless noise mixes them; return whether unsure."""
        if size * size < MIXED * slope * self._noise:
            self._mixed = True
            return True
        total = self._vv + self._variance(size, slope)
        near, far = abs(size - abs(self._value)), size + abs(self._value)
        clear = CLEAR * math.sqrt(total)
        if self._mixed:
            self._mixed, self._doubt = False, self._doubt or far < clear
        if near > max(clear, self._jump):  # the platform was moved while nothing was measured
            self._value, self._rate = math.copysign(size, self._value), 0.0
            self._vv, self._vr, self._rr = total - self._vv, 0.0, UNKNOWN_RATE
            return self._doubt or 2.0 * near > far
        innovation = math.copysign(size, self._value) - self._value
        gain_v, gain_r = self._vv / total, self._vr / total
        self._value += gain_v * innovation
        self._rate += gain_r * innovation
        self._rr -= gain_r * self._vr
        self._vr -= gain_r * self._vv
        self._vv -= gain_v * self._vv
        return self._doubt or far < clear or (near > clear and 2.0 * near > far)
