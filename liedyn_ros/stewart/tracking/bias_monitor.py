# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stage of the residual of redundant lengths: noise and biased legs, sample after sample."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.flags import Flag
from liedyn_ros.stewart.solver.kernels import biases as kernels
from liedyn_ros.stewart.solver.least_squares import LeastSquares
from liedyn_ros.stewart.tracking.tracker import TrackedPose

PATH_MEMORY_TIME = 10.0  # s, over which a path is remembered
LEAST_BIAS = 5.0  # deviations of a leg's reading, below which a bias is not named
BIAS_ALARM_CHANCE = 1e-9  # of a chi-square above its limit, where all is well
BIAS_GAIN = 36.0  # by how much a bias lowers the chi-square of a path
BIAS_LEAD = 60.0  # of a named leg over any other in that: odds of exp(30)
# Times its expectation, and six deviations, of what a constant bias may leave
CONSTANT_BIAS_RATIO = 1.1
MAX_CHI_SQUARE = 100.0  # times its expectation, of a sample's chi-square in the sums over a path
MEMORY_SHARES = 0.001, 0.01, 0.1, 1.0  # of PATH_MEMORY_TIME
MIN_PATH_SAMPLES = 5.0  # samples of a path
MIN_JUDGED_SHARE = 0.5  # of the samples, in which a leg that is named was judged
CONFIRMATION_TIME = 0.5  # s, for which paths must show the same leg
# Chi-square of a shorter memory's bias by that of a longer one: more is a change
CHANGE_THRESHOLD = 100.0
NOISE_SAMPLES = 1000.0  # over which the noise is averaged
MIN_NOISE_SAMPLES = 50.0  # samples, before noise that is not given counts as known
NO_BIASES = np.empty(0)
LEAST_FACTOR = 1e-24  # m^2, of noise that is not given: below it is rounding


class BiasFit(NamedTuple):
    """
    Judgement of the residual of redundant lengths: consistent, or a leg's bias.

    chi_square: of all legs, by the noise that was given or estimated; NaN where it is not known
    yet. consistent: whether neither it nor the path shows an error. leg: the index of the leg
    whose bias alone explains the error, or None. bias: m or rad, of that leg, reading less truth;
    NaN without one. lasting: whether the path shows it; else the sample does. noise: the factor of
    the deviations by which the readings' noise is greater; NaN where it is not known yet.
    residuals: (n,), m or rad, readings less those of the pose of all legs. left_out: whether the
    pose is that of the other legs.

    >>> wires = ld.load_geometry(config_file('stewart_cable_robot.yaml'))
    >>> tracker = MonitoredTracker(wires, wires.home)
    >>> tracker.track(0, leg_lengths(wires, wires.home)).bias_fit.leg is None
    True
    """

    chi_square: float
    consistent: bool
    leg: int | None
    bias: float
    lasting: bool
    noise: float
    residuals: Array
    left_out: bool = False

    @property
    def flags(self) -> int:
        """Return the sum of its flags."""
        return Flag.SENSOR_DISAGREES.value * (not self.consistent) + (
            self.leg is not None) * (Flag.LEG_BIASED if self.lasting else Flag.LEG_OUTLIER).value

    @property
    def legs(self) -> tuple[int, ...]:
        """Return the indices of the legs it names."""
        return () if self.leg is None else (self.leg,)


class BiasMonitor:
    """
    Monitor of noise and of biased legs, averaged over a path of redundant lengths.

    With seven legs a single pose shows that a leg is biased, but not which; the path does. From
    eight on the pose does, where no other leg's bias leaves the same residual.
    """

    def __init__(self, geometry: StewartGeometry, solver: LeastSquares, *,
                 leave_out: bool, singularity_warning: float) -> None:
        """
        Take the geometry, and the solver, which has the residuals.

        leave_out: whether a leg that is named is left out of the pose, where the noise is given.
        singularity_warning: smallest singular value of the other legs that is near a singularity.
        """
        from scipy.special import chdtri  # which takes long to import
        n, memories = len(solver.weights), len(MEMORY_SHARES)
        self._solver, self._degrees = solver, n - 6
        self._limits = [0.0] + [float(chdtri(k, BIAS_ALARM_CHANCE)) for k in range(1, n - 5)]
        self._told = bool(geometry.leg_noise.any())
        self._leaves_out, self._warning = leave_out and self._told, singularity_warning
        self._greatest = float((solver.deviations * geometry.drive_scales).max()) / (
            geometry.characteristic_length)
        self._units = np.array([geometry.characteristic_length] * 3 + [1.0] * 3)  # m of a twist
        self._rates = [-1.0 / (PATH_MEMORY_TIME * each) for each in MEMORY_SHARES]
        self._keeps, self._before = np.zeros(memories), np.empty(n)
        self._factors = np.ones(kernels.NUMBERS_OF_LEG)  # of the variances in a row of `others`
        self._sums = np.zeros((memories, n, kernels.SUM_COUNT))
        self._tallies = np.zeros((memories, 2))
        self.reset()

    def reset(self) -> None:
        """Forget the noise and the path."""
        self._sums[:], self._tallies[:] = 0.0, 0.0
        self._variance, self._count = 0.0, 0.0
        self._last_ns: int | None = None
        self._candidate: int | None = None  # the leg that the path shows, and since when
        self._since_ns = 0
        self._outlying: int | None = None  # the leg that the samples show
        # s, for which lengths contradicted each other, and for which they have agreed since
        self._contradicted, self._agreed = 0.0, 0.0

    @property
    def factor(self) -> float:
        """Return by how much the variance is greater than that of the weights; NaN unknown."""
        if self._told:
            return max(1.0, self._variance) if self._count >= MIN_NOISE_SAMPLES else 1.0
        known = self._count >= MIN_NOISE_SAMPLES
        return max(self._variance, LEAST_FACTOR) if known else math.nan

    def examine(self, tracked: TrackedPose, twist: Array, gap: float, started: bool) -> BiasFit:
        """
        Return the judgement of the sample that the solver solved last.

        twist, gap: (6,), body twist of the sample before, and s since then. started: whether
        there was one.
        """
        solver = self._solver
        square = solver.project()
        others = solver.leave_one_out(
            tracked.lengths, tracked.pose, twist, gap, started and self._count > 0.0,
            self.doubts(square))
        fit = self._judge(tracked.stamp_ns, square, others)._replace(
            residuals=solver.residuals.copy())
        leg = fit.leg
        fit = fit._replace(left_out=leg is not None and self._leaves_out and (
            self._agree_without(leg, others) and self._is_worse(leg, fit.bias)))
        return self._remembered(fit, gap)

    def without(self, leg: int) -> tuple[Array, Array]:
        """Return the weights (n,) without a leg, and the others' pose (4, 4), m, last examined."""
        return self._solver.without([leg]), self._solver.pose_without(leg)

    def _remembered(self, fit: BiasFit, gap: float) -> BiasFit:
        """
        Return a judgement in which a lasting contradiction is not over at a moment of agreement.

        The residual of exchanged or reversed legs goes through zero as the platform moves.
        """
        if fit.consistent:
            self._agreed += gap
        else:
            self._contradicted, self._agreed = self._contradicted + gap, 0.0
        if self._agreed >= PATH_MEMORY_TIME or fit.left_out or fit.lasting:  # or explained
            self._contradicted = 0.0
        return fit if self._contradicted < CONFIRMATION_TIME else fit._replace(consistent=False)

    @property
    def noise(self) -> float:
        """Return the greatest of a drive's end, in characteristic lengths; NaN where unknown."""
        return math.sqrt(self.factor) * self._greatest

    def _is_worse(self, leg: int, bias: float) -> bool:
        """Return whether the pose of all legs is expected to be worse than that without one."""
        solver, weights, jacobian = (
            self._solver, self._solver.without([leg]), self._solver.jacobian())
        every, others = solver.covariance(solver.weights), solver.covariance(weights)
        scaled = jacobian[weights > 0.0] / self._units
        if every is None or others is None or (
                np.linalg.svd(scaled, compute_uv=False)[-1] <= self._warning):
            return False
        moved = self._units * (every @ jacobian[leg]) * solver.weights[leg] * bias
        return float((others.diagonal() - every.diagonal()) @ self._units ** 2) < float(
            moved @ moved)

    def _judge(self, stamp_ns: int, square: float, others: Array) -> BiasFit:
        """
        Return the judgement of a sample, and add it to the path.

        square: of all legs, negative where nothing is redundant. others: (n, NUMBERS_OF_LEG), of
        leave_one_out.
        """
        fresh = square >= 0.0 and self._learn_noise()
        factor = self.factor
        noise = math.sqrt(factor)
        if square < 0.0 or math.isnan(factor):
            return BiasFit(math.nan, True, None, math.nan, False, noise, NO_BIASES)
        chi_square = square / factor
        if fresh:  # a set that repeats says nothing new
            self._add(stamp_ns, chi_square, others, factor)
        shown, leg, bias = self._lasting(noise)
        if leg != self._candidate:
            self._candidate, self._since_ns = leg, stamp_ns
        if leg is not None and stamp_ns - self._since_ns >= 1e9 * CONFIRMATION_TIME:
            return BiasFit(chi_square, False, leg, bias, True, noise, NO_BIASES)
        if chi_square <= self._limits[self._degrees]:
            self._outlying = None
            return BiasFit(chi_square, not shown, None, math.nan, False, noise, NO_BIASES)
        leg = self._outlying = self._outlier(others[:, kernels.OTHERS_SQUARE] / factor)
        bias = math.nan if leg is None else float(others[leg, kernels.OWN_ERROR])
        return BiasFit(chi_square, False, leg, bias, False, noise, NO_BIASES)

    def doubts(self, square: float) -> bool:
        """Return whether the square of all legs in a sample is more than chance."""
        return square > self.factor * self._limits[self._degrees]

    def _agree_without(self, leg: int, others: Array) -> bool:
        """Return whether the other legs are still redundant, and agree in a sample."""
        return self._degrees > 1 and float(others[leg, kernels.OTHERS_SQUARE]) <= (
            self.factor * self._limits[self._degrees - 1])

    def _add(self, stamp_ns: int, chi_square: float, others: Array, factor: float) -> None:
        """Add a sample to the sums of the paths."""
        elapsed = 0.0 if self._last_ns is None else 1e-9 * (stamp_ns - self._last_ns)
        self._last_ns = stamp_ns
        self._keeps[:] = [math.exp(elapsed * rate) for rate in self._rates]
        most = MAX_CHI_SQUARE * self._degrees
        share = most / chi_square if chi_square > most else 1.0
        self._factors[kernels.OTHERS_SQUARE] = self._factors[kernels.OWN_WEIGHT] = factor
        kernels.add_sample(
            self._keeps, share, chi_square, others / self._factors, self._sums, self._tallies)

    def _lasting(self, noise: float) -> tuple[bool, int | None, float]:
        """Return whether any path shows a bias, and the leg and its bias if only one can be."""
        shown, explained = False, False
        for memory, (square, weight) in enumerate(self._tallies.tolist()):
            if weight < MIN_PATH_SAMPLES:
                continue
            best, left, second, bias = kernels.best_leg(self._sums[memory])
            expected = self._degrees * weight
            if left > CONSTANT_BIAS_RATIO * expected + 6.0 * math.sqrt(2.0 * expected) + BIAS_GAIN:
                if explained:
                    self._forget(memory)
                continue
            explained = True
            if square - left > BIAS_GAIN and (
                    abs(bias) > LEAST_BIAS * noise * float(self._solver.deviations[best])):
                shown = True
                judged = float(self._sums[memory, best, kernels.JUDGED_SAMPLES])
                if second - left > BIAS_LEAD and judged > max(
                        MIN_PATH_SAMPLES, MIN_JUDGED_SHARE * weight):
                    if not self._has_changed(memory, best, bias):
                        return True, best, bias
                    self._forget(memory)
        return shown, None, math.nan

    def _forget(self, memory: int) -> None:
        """Forget of a path what the next shorter memory has forgotten."""
        self._sums[memory] = self._sums[memory - 1]
        self._tallies[memory] = self._tallies[memory - 1]

    def _has_changed(self, memory: int, leg: int, bias: float) -> bool:
        """Return whether the bias of a leg in any shorter memory is another one."""
        weights, firsts = self._sums[:memory, leg, kernels.WEIGHT_SUM:kernels.ERROR_SQUARE_SUM].T
        known = (self._tallies[:memory, 1] >= MIN_PATH_SAMPLES) & (weights > 0.0)
        weights, firsts = weights[known], firsts[known]
        return bool((weights * (firsts / weights - bias) ** 2 > CHANGE_THRESHOLD).any())

    def _outlier(self, squares: Array) -> int | None:
        """Return the leg without which alone the others agree, from eight legs on."""
        if self._degrees < 2:
            return None
        limit, last = self._limits[self._degrees - 1], self._outlying
        if last is not None and squares[last] <= limit:
            return last
        best, second = np.argsort(squares)[:2].tolist()
        if squares[best] > limit or (
                squares[second] - squares[best] < BIAS_LEAD):
            return None
        return int(best)

    def _learn_noise(self) -> bool:
        """
        Learn the noise from the changes of the residuals, which no bias is in (14.73).

        Returns whether they changed.
        """
        if not self._count:
            self._before[:] = self._solver.residuals
            self._count = 1.0
            return True
        before = self._variance
        self._variance = kernels.add_noise(
            1.0 / min(self._count, NOISE_SAMPLES), self._degrees, self._solver.weights,
            self._solver.residuals, self._before, before)
        fresh = self._variance != before
        self._count += fresh
        return fresh
