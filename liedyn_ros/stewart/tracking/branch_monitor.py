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
Tells from its motion which of two poses of the same lengths a platform is in.

At a singularity two poses of the same lengths meet, with opposite signs of the determinant. A
solver started from the previous pose can stay on its side when the platform passes through. It
meets the lengths perfectly: neither a residual nor a jump of the pose shows the fault. The motion
shows it: the solver's signed smallest singular value dips to zero and turns back sharply. That of
the platform passes smoothly through zero.
"""

import math
from typing import NamedTuple

import numpy as np

from liedyn_ros.stewart.platform.state import PlatformState
from liedyn_ros.stewart.tracking.kernels import passage as kernels
from liedyn_ros.stewart.tracking.tracker import PREDICTION_LIMIT

# 1/s^5, spectra of the value's jerk, each ten times as sharp as the one before. In a second the
# acceleration changes by 0.03 to 300 1/s^2: from paths of half a minute to shakers.
JERKS = 10.0 ** np.arange(-3.0, 6.0)
MEMORY = 0.5  # s, for which the sharpness of the motion is judged
SURE = 7.0  # logarithm of the odds, 1000 to 1, by which a branch is ruled out
BINS = 128  # that the passage of a singularity is kept in
LOOK_EVERY = 4  # bins
FAR = 0.3  # signed value, six times where a warning is given: nearer, the filters know more
MAX_INCREASE = 3.0  # of the greatest rate lately, from one sample to the next
EXACT = 1e-12  # least noise, in characteristic lengths: what rounding leaves


class Branch(NamedTuple):
    """
    What the motion tells of one sample.

    expected_sign: of the determinant on the branch that the motion leads to. rate: of the signed
    value, filtered, 1/s. prediction_gap: from where the motion leads to the given pose, along
    the null twist, rad or characteristic lengths. unsure: whether noise leaves both branches
    possible; it stays so until a reset where the motion beyond the singularity does not tell.
    wrong: whether the given pose lies on the other branch than the motion leads to.
    """

    expected_sign: int
    rate: float
    prediction_gap: float
    unsure: bool
    wrong: bool


class BranchMonitor:
    """
    Follows the signed singular value through zero and judges every pose by it.

    The measurement is the square of a pose's value, which is the same on both branches. Length
    noise moves it by 2 slope * noise however near the singularity is. It can fall below zero,
    where no pose has the lengths. A bank of filters, one for each of JERKS, follows value, rate
    and acceleration. Where noise hides the value the filters extrapolate the motion. Beyond, the
    motion is traced back from there. The odds of the branch say whether its value, or the opposite
    one, fits the filters before the singularity.
    """

    def __init__(self) -> None:
        """Start without a pose."""
        self._bank = np.empty((len(JERKS), kernels.ROW))
        self._gate = np.empty_like(self._bank)  # the bank before the singularity
        self._bins, self._tally = np.empty((BINS, 3)), np.empty(kernels.TALLY)
        self._work, self._weights = np.empty((2, kernels.ROW)), np.empty((len(JERKS), 3))
        self._compile()
        self.reset()

    def reset(self) -> None:
        """Forget the motion: the next pose is believed."""
        self._started = False
        self._stamp_ns = self._seen_ns = self._gate_ns = 0
        self._seen = 0.0  # the smallest singular value of the last pose
        self._fastest = kernels.UNKNOWN_RATE ** 0.5  # 1/s, its greatest mean rate lately
        self._best = 0  # index of the filter that is believed
        self._value = self._rate = 0.0  # that filter's
        self._told = 0  # told_sign
        self._entered = 0  # the sign before noise mixed the branches, 0 while it does not
        self._left_ns: int | None = None  # when the value last came out of the noise
        self._doubt = False

    def confirm(self, state: PlatformState) -> None:
        """Believe a pose: a redundant sensor has told which branch it is."""
        self._mirror(state.determinant_sign)
        self._entered, self._doubt = 0, False
        self._open_gate()
        self._told = self.expected_sign

    @property
    def expected_sign(self) -> int:
        """Return the sign of the determinant on the branch that the motion leads to, 1 or -1."""
        return 1 if self._value > 0.0 else -1

    @property
    def told_sign(self) -> int:
        """
        Return the expected sign to report, 0 before the first pose.

        While noise hides the branch it changes at most once.
        """
        return self._told

    def near(self, value: float) -> bool:
        """Return whether the motion is expected within a signed value of the singularity."""
        return self._started and abs(self._value) < value

    def update(
            self, stamp_ns: int, state: PlatformState, noise: float, shortfall: float = 0.0
    ) -> Branch:
        """
        Return what the motion shows of the pose measured at a time (ns).

        noise: standard deviation of a leg length. shortfall: norm of the error that a solve
        left in the lengths. Both are in characteristic lengths.
        """
        value, slope = state.signed_value, abs(state.slope)
        seen, dt = self._seen, 1e-9 * (stamp_ns - self._seen_ns)
        self._seen, self._seen_ns = abs(value), stamp_ns
        # Of a regular pose the value follows the lengths about one to one.
        variance = (2.0 * max(noise, EXACT)) ** 2 * (slope * slope + value * value)
        if not self._started:
            self._begin(stamp_ns, value, variance)
            return Branch(state.determinant_sign, 0.0, 0.0, False, False)
        slope = max(slope, EXACT)
        if dt > PREDICTION_LIMIT:
            self._restart(stamp_ns, abs(value), variance, dt)
            return self._branch(value, (value - self._value) / slope)
        before, near = self._value, self._advance(stamp_ns)
        gap = (value - self._value) / slope
        rate, reach = (abs(value) - seen) / dt, MAX_INCREASE * self._fastest * dt
        self._fastest = max(abs(rate), self._fastest * math.exp(-dt / MEMORY))
        far = self._stays_far(seen, abs(value), reach)
        lost = far and (near or self._value * before < 0.0)
        if not lost:
            self._judge(value * value - 2.0 * slope * shortfall, variance, near)
            lost = far and self._value * before < 0.0
        if lost:  # too fast a motion for the filters
            side = math.copysign(1.0, before)
            self._begin(stamp_ns, side * abs(value), variance, side * rate)
        else:
            self._tell()
        return self._branch(value, gap)

    def coast(self, stamp_ns: int) -> None:
        """Go on to a time (ns) without a pose, as far as the motion before says anything."""
        if self._started and 1e-9 * (stamp_ns - self._seen_ns) <= PREDICTION_LIMIT:
            self._advance(stamp_ns)
            self._tell()

    def _compile(self) -> None:
        """Run what is first needed within a singularity, where there is no time to compile."""
        self._tally[:] = 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
        for row in self._bank:
            kernels.begin(row, 1.0, 1.0)
        count = kernels.collect(self._bins, self._tally, 1.0, 1.0, 1e-6)
        kernels.passage_odds(self._bank, JERKS, self._bins, count, self._work, self._weights)
        kernels.mirror(self._bank, 1)

    def _begin(
            self, stamp_ns: int, value: float, variance: float, rate: float | None = None
    ) -> None:
        """
        Start all filters from a signed value, and from its mean rate since the last, if given.

        At constant acceleration the present rate differs from the mean rate by half the difference
        of two mean rates. That is its uncertainty.
        """
        of_value = min(variance / (4.0 * value * value), 1.0) if value else 1.0
        for row in self._bank:
            kernels.begin(row, value, of_value)
        if rate is not None:
            self._bank[:, 1] = rate
            self._bank[:, 6] += 0.25 * (rate - self._rate) ** 2
        self._started, self._value, self._rate = True, value, rate or 0.0
        self._stamp_ns = stamp_ns
        self._open_gate()
        self._told = self.expected_sign

    def _branch(self, value: float, gap: float) -> Branch:
        return Branch(self.expected_sign, self._rate, gap, self._doubt or self._entered != 0,
                      value * self._value < 0.0)

    def _stays_far(self, before: float, now: float, reach: float) -> bool:
        """
        Return whether no singularity was passed between two singular values.

        Their squares are the same on both branches. A passage takes the value down from one to
        zero and on to the other, which is further than the motion reaches in the time.
        """
        return not self._entered and min(before, now) > FAR and before + now > reach

    def _restart(self, stamp_ns: int, size: float, variance: float, dt: float) -> None:
        """Restart on the last reported branch; mark it unsure if a singularity was in reach."""
        fastest = abs(self._rate) + kernels.NEAR * math.sqrt(self._bank[self._best, 6])
        self._doubt |= self._entered != 0 or abs(self._value) < fastest * dt
        self._entered = 0
        self._begin(stamp_ns, self._told * size, variance)

    def _advance(self, stamp_ns: int) -> bool:
        """Predict; return whether the value's sign may be hidden."""
        dt, self._stamp_ns = 1e-9 * (stamp_ns - self._stamp_ns), stamp_ns
        self._value, near = kernels.advance(
            self._bank, JERKS, dt, math.exp(-dt / MEMORY), self._best)
        return near

    def _judge(self, square: float, variance: float, near: bool) -> None:
        """Take a measured square of the value; go on from in to out of the noise."""
        if near and not self._entered:
            self._entered, self._left_ns = 1 if self._gate[self._best, 0] > 0.0 else -1, None
            self._tally[:] = 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
        self._best, self._value, self._rate = kernels.measure(self._bank, square, variance)
        if not self._entered:
            self._open_gate()
            return
        count = kernels.collect(self._bins, self._tally, self._seconds(self._gate_ns), square,
                                variance)
        if near or self._value * self._rate < 0.0:
            self._left_ns = None
        elif self._left_ns is None:
            self._left_ns = self._stamp_ns
        elif count and count % LOOK_EVERY == 0:
            self._look_back(count, self._left_ns)

    def _look_back(self, count: int, left_ns: int) -> None:
        """Weigh both branches by the motion before the noise and since it was left (ns)."""
        odds = kernels.passage_odds(self._gate, JERKS, self._bins, count, self._work,
                                    self._weights)
        if odds * self._value < 0.0:
            self._mirror(-self.expected_sign)
        inside, outside = 1e-9 * (left_ns - self._gate_ns), self._seconds(left_ns)
        sure = abs(odds) > SURE
        if sure or outside > 2.0 * inside + MEMORY:
            self._doubt |= not sure
            self._mirror(self.expected_sign)
            self._entered = 0
            self._open_gate()

    def _seconds(self, since_ns: int) -> float:
        return 1e-9 * (self._stamp_ns - since_ns)

    def _mirror(self, sign: int) -> None:
        kernels.mirror(self._bank, sign)
        self._value, self._rate = self._bank[self._best, :2].tolist()

    def _open_gate(self) -> None:
        self._gate[:], self._gate_ns = self._bank, self._stamp_ns

    def _tell(self) -> None:
        if self._told in (0, self._entered) or not self._entered:
            self._told = self.expected_sign
