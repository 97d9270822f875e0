# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parts of recordings that a fit did not see: what they say of models, weights and cut-offs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len
from scipy.special import stdtrit

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, ShapeError
from liedyn_ros.identification.equations import Equations
from liedyn_ros.identification.estimate import Estimator, given_unknowns, refitted_friction
from liedyn_ros.identification.robust_fit import RobustFit
from liedyn_ros.model import Model

FOLDS = 5  # of the recording, each held out once (16.32)
# Weights of the given model that are tried: a weight is 1 / s^2 where its bodies are believed to
# be off by the share s, here of 10 to 0.01.
PRIORS = tuple(10.0**k for k in range(-2, 5))
CUTOFFS = 0.5, 2.0  # times the last cut-off of the equations, tried on while it helps
FIRST_RECORDING = 'first recording'  # the consistent fit of the first of several recordings alone
CLEAN_ERROR_SHARE = 1e-9  # of the given model's error: errors of clean samples
TEST_LEVEL = 0.95  # level of the test whether a fit predicts held-out blocks better


@dataclass(frozen=True)
class Parts:
    """
    The parts of one or several recordings: each of so many has a share of every recording.

    spans (parts, n, 2) are where their n pieces begin and end, s: one in each recording, or in
    each repeat of its motion. owners (n,) are the numbers of their recordings. gap is how long
    before and after a piece errors are alike, s. starts (recordings,) are the times at which
    recordings begin.
    """

    spans: Array
    owners: NDArray[np.int_]
    gap: float
    starts: Array

    def held(self, time: Array, part: int) -> NDArray[np.bool_]:
        """Return whether times (n,) belong to a part."""
        return self._within(time, part, 0.0)

    def seen(self, time: Array, part: int) -> NDArray[np.bool_]:
        """Return whether a fit that is to predict a part may see times (n,)."""
        return ~self._within(time, part, self.gap)

    def recording(self, time: Array) -> NDArray[np.int_]:
        """Return the number of the recording of each time (n,)."""
        return np.maximum(np.searchsorted(self.starts, time, side='right') - 1, 0)

    def _within(self, time: Array, part: int, more: float) -> NDArray[np.bool_]:
        begin, end = self.spans[part].T
        own = self.recording(time)[:, None] == self.owners
        clock = time[:, None]
        return np.asarray((own & (clock >= begin - more) & (clock <= end + more)).any(axis=1))


@dataclass(frozen=True, eq=False)
class HeldOutForces:
    """
    Forces (K, f) at each time (K,) as measured, and as fits that did not see them predict them.

    predicted has those of 'given', 'refitted friction', 'least squares' and 'consistent', and of
    FIRST_RECORDING where there are several. block (K,)
    numbers the part of a recording to which a sample belongs, recording (K,) its recording.
    """

    time: Array
    forces: Array
    predicted: dict[str, Array]
    block: NDArray[np.int_]
    recording: NDArray[np.int_]

    def errors(self, recording: int | None = None) -> dict[str, Array]:
        """Return the rms errors by method, (f,), of one or of all recordings."""
        rows = slice(None) if recording is None else self.recording == recording
        return {method: np.sqrt(np.mean((self.forces - each)[rows]**2, axis=0))
                for method, each in self.predicted.items()}

    @cached_property
    def scales(self) -> Array:
        """Return the sizes of errors (r, f): those of the given model in each recording."""
        return np.maximum([self.errors(k)['refitted friction'] if (self.recording == k).any()
                           else np.ones(self.forces.shape[1])
                           for k in range(int(self.recording.max(initial=0)) + 1)], 1e-300)

    def misfit(self, method: str = 'consistent', scales: Array | None = None) -> float:
        """
        Return the mean over blocks and joints of logarithms of squared errors, in scales (r, f).

        By it a tenth less counts as much in each block at each joint, as in is_better. By a sum of
        squares in errors of the given model, the joint counts most at which that is good already,
        and the block most in which the machine was fastest.
        """
        squares = self._squares(method, self.scales if scales is None else scales)
        means = [squares[self.block == k].mean(axis=0) for k in np.unique(self.block)]
        return float(np.log(np.maximum(means, CLEAN_ERROR_SHARE**2)).mean())

    def ratio(self, method: str = 'consistent', other: str | None = None) -> float:
        """Return the error of a method over another's, by default the better of the given ones."""
        return float(np.sqrt(self._size(method) / max(
            self._size(other or self.better_given), 1e-300)))

    def is_better(self, method: str = 'consistent', other: str | None = None,
                  joint: int | None = None) -> bool:
        """
        Return whether a method is better than another, by default the better of the given ones.

        It is where the mean of the logarithms of squared errors, over blocks and joints or at one
        joint, is less by a one-sided t-test at CONFIDENT. Recordings differ by what was chosen to
        be recorded, so that blocks scatter about the mean of their own recording.
        """
        which = slice(None) if joint is None else slice(joint, joint + 1)
        old, new = ((self.forces - self.predicted[each])[:, which]**2 for each in (
            other or self.better_given, method))
        blocks, first = np.unique(self.block, return_index=True)
        logs = np.array([np.log(np.maximum(old[rows].mean(axis=0), 1e-300) / np.maximum(
            new[rows].mean(axis=0), 1e-300)).mean() for rows in (self.block == k for k in blocks)])
        of = self.recording[first]
        groups = [logs[of == k] for k in np.unique(of)]
        freedom = len(logs) - len(groups)
        if not freedom:
            return False
        variance = sum(float(((each - each.mean())**2).sum()) for each in groups) / freedom
        return bool(logs.mean() > stdtrit(freedom, TEST_LEVEL) * np.sqrt(variance / len(logs)))

    @property
    def better_given(self) -> str:
        """Return the name of the better given model: with its own friction or with fitted."""
        return min(('given', 'refitted friction'), key=self._size)

    def _size(self, method: str) -> float:
        """Return the mean squared error of a method in those of the given model."""
        return float(self._squares(method, self.scales).mean())

    def _squares(self, method: str, scales: Array) -> Array:
        """Return the squared errors (K, f), in scales (r, f) of recordings."""
        # Each recording counts as much as each other one, however long it is.
        share = 1.0 / np.bincount(self.recording)[self.recording]
        squares = ((self.forces - self.predicted[method]) / scales[self.recording])**2
        return np.asarray(squares.T * share * len(share) / (self.recording.max() + 1)).T


def parts_of(equations: Equations, fit: RobustFit, starts: Array, parts: int) -> Parts:
    """
    Return so many parts, each with a share of each recording; errors of fit give the gap.

    Where a motion repeats, a part is the same share of every repeat: what a fit saw in another
    repeat, it would predict without a model.
    """
    time = equations.time
    step = float(np.median(np.diff(time)))
    gap = step * float(np.ceil((len(time) / fit.samples).max()))
    forces = fit.weight * (equations.rows @ fit.x)
    spans, owners = list[Array]([np.empty((parts, 0, 2))]), list[int]()
    for r, (begin, end) in enumerate(itertools.pairwise(np.append(starts, np.inf))):
        own = (time >= begin) & (time < end)
        if own.sum() >= parts:  # else too short to say anything
            spans.append(_spans(time[own], period_of(time[own], forces[own], step, parts), gap,
                                parts))
            owners += [r] * spans[-1].shape[1]
    found = Parts(np.concatenate(spans, axis=1), np.array(owners, dtype=int), gap, starts)
    for part in range(parts):
        if not found.seen(time, part).any():
            raise ShapeError(f'recording: expected parts longer than {gap:.3g} s, over which '
                             f'errors are alike, got {np.ptp(found.spans[part], axis=1)[0]:.3g} s')
    return found


def _spans(time: Array, period: float, gap: float, parts: int) -> Array:
    """Return where parts begin and end in each repeat (parts, n, 2): in time where n is 1."""
    if not gap <= period / parts < np.inf:
        edges = np.linspace(0, len(time), parts + 1).astype(int)
        return np.stack([time[edges[:-1]], time[edges[1:] - 1]], axis=1)[:, None]
    shares = period * np.arange(parts + 1)[:, None] / parts
    edges = shares + np.arange(time[0] - period, time[-1] + period, period)  # with neighbours
    return np.stack([edges[:-1], np.nextafter(edges[1:], -np.inf)], axis=2)


def period_of(time: Array, forces: Array, step: float, parts: int) -> float:
    """
    Return the time (s) after which forces (n, f) by rows of equations repeat, or infinity.

    They do where they differ no more from those a period later than from those of the next row:
    by less, no clock of this step tells them apart. Noise in the rows is in both differences.
    Repeats of less than one of so many parts of the recording do not count.
    """
    at = np.rint((time - time[0]) / step).astype(int)
    last = int(at[-1] * (1.0 - 1.0 / parts))
    values, known = np.zeros((at[-1] + 1, forces.shape[1])), np.zeros(at[-1] + 1)
    values[at], known[at] = forces, 1.0
    following = known[:-1] * known[1:]
    change = following * (np.diff(values, axis=0)**2).sum(axis=1)
    square = (values**2).sum(axis=1)
    pairs = np.maximum(_products(known, known), 0.5)
    apart = (_products(square, known) + _products(known, square) - 2.0 * sum(
        _products(each, each) for each in values.T)) / pairs
    usual = _products(change, known) / np.maximum(_products(following, known), 0.5)
    near = np.flatnonzero(apart[parts:last] <= usual[parts:last]) + parts
    if not len(near):
        return np.inf
    lag = int(near[0])
    while lag + 1 < last and apart[lag + 1] < apart[lag]:
        lag += 1
    period = float(lag)
    for k in range(2, int(last / period)):  # many periods tell one to less than a step
        middle = round(k * period)
        period = (middle - 1 + int(np.argmin(apart[middle - 1:middle + 2]))) / k
    return period * step


def _products(first: Array, second: Array) -> Array:
    """Return sums (n,) of first (n,) at each row times second (n,) 0 to n - 1 rows later."""
    length = next_fast_len(2 * len(second), real=True)
    spectrum = np.conj(np.fft.rfft(first, length)) * np.fft.rfft(second, length)
    return np.asarray(np.fft.irfft(spectrum, length)[:len(second)])


class Trial:
    """Fits of all but each part, and what they predict of it with a weight of the given model."""

    def __init__(self, model: Model, equations: Equations, parts: Parts,
                 fitted: Equations | None = None) -> None:
        """Fit. fitted are the equations with another filter, by default the same."""
        self.model, self.equations, self._parts = model, equations, parts
        self._fitted = equations if fitted is None else fitted
        self._rows = [parts.held(equations.time, part) for part in range(len(parts.spans))]
        self._fits = self._estimators(self._fitted.time < np.inf)

    def of(self, equations: Equations, fitted: Equations | None = None) -> Trial:
        """Return the trial of other equations, of the same parts."""
        return Trial(self.model, equations, self._parts, fitted)

    def best(self, weights: Sequence[float]) -> float:
        """Return the weight that predicts best. Raises ConvergenceError where none has a fit."""
        errors, failed = dict[float, float](), None
        for each in weights if len(weights) > 1 else ():
            try:
                errors[each] = self.compared(each).misfit()
            except ConvergenceError as error:  # too weak a weight for so few samples
                failed = error
        if failed is not None and not errors:
            raise failed
        return min(errors, key=errors.__getitem__) if errors else weights[0]

    def compared(self, weight: float, alone: bool = False) -> HeldOutForces:
        """Return predictions of fits with a weight; unless alone, beside those of given models."""
        recording = self._parts.recording(self.equations.time)
        block, some = np.full(len(recording), -1), np.any(self._rows, axis=0)
        for part, rows in enumerate(self._rows):
            block[rows] = part * len(self._parts.starts) + recording[rows]
        found = ({} if alone else self._others) | {'consistent': self._predicted(
            [each.at(weight).consistent for each in self._fits])}
        return HeldOutForces(self.equations.time[some], self.equations.forces[some], {
            method: each[some] for method, each in found.items()}, block[some], recording[some])

    def scatter(self, rows: Array, weight: float) -> Array:
        """
        Return by how much what fits say of rows (n, f, p) scatters, rms (f,): their jackknife.

        Each fit lacks one part; so far is the fit of all from one of other recordings alike.
        """
        count = len(self._fits)
        said = np.array([rows @ each.at(weight).consistent for each in self._fits])
        return np.asarray(np.sqrt((count - 1.0) * said.var(axis=0).mean(axis=0)))

    def jackknife(self) -> Array:
        """
        Return by how much plain unknowns (p,) scatter, each fit lacking a part and what is near.

        A fit without the share f of the samples is off the whole by f / (1 - f) of its variance.
        """
        found = np.array([each.plain.x for each in self._fits])
        lacking = np.array([1.0 - self._parts.seen(self._fitted.time, part).mean()
                            for part in range(len(found))])
        squares = (found - found.mean(axis=0))**2 * ((1.0 - lacking) / lacking)[:, None]
        return np.asarray(np.sqrt(squares.mean(axis=0)))

    def scatter_with(self, wider: Sequence[Trial]) -> Array:
        """
        Return the errors (p,) of unknowns: their jackknife, and by how much missing terms move.

        Each part has the same bias of a missing term, which the jackknife does not see: squares
        of both add. Of several terms the one that moves an unknown most counts.
        """
        found = np.mean([each.plain.x for each in self._fits], axis=0)
        moved = np.max([np.zeros(len(found)), *(np.abs(np.mean([
            each.plain.x[:len(found)] for each in other._fits], axis=0) - found)
            for other in wider)], axis=0)
        return np.asarray(np.hypot(self.jackknife(), moved))

    def with_first(self, weight: float) -> HeldOutForces:
        """Return predictions, also by the first recording alone where there are several."""
        found = self.compared(weight)
        if len(self._parts.starts) < 2:
            return found
        try:
            first = self._estimators(self._parts.recording(self._fitted.time) == 0)
        except ShapeError:  # it is too short
            return found
        some = np.any(self._rows, axis=0)
        return replace(found, predicted=found.predicted | {FIRST_RECORDING: self._predicted(
            [each.at(weight).consistent for each in first])[some]})

    @cached_property
    def _others(self) -> dict[str, Array]:
        """Return the predictions of methods without a weight (K, f), by name."""
        given = given_unknowns(self.model, self.equations)
        chosen = [self._parts.seen(self._fitted.time, k) for k in range(len(self._fits))]
        return {'given': self._predicted([given] * len(chosen)),
                'refitted friction': self._predicted(
                    [refitted_friction(self.model, self._fitted, each) for each in chosen]),
                'least squares': self._predicted([each.plain.x for each in self._fits])}

    def _estimators(self, wanted: NDArray[np.bool_]) -> list[Estimator]:
        return [Estimator(self.model, self._fitted, wanted & self._parts.seen(
            self._fitted.time, part)) for part in range(len(self._parts.spans))]

    def _predicted(self, unknowns: Sequence[Array]) -> Array:
        """Return the forces (K, f) of the unknowns (p,) for each part."""
        result = np.full_like(self.equations.forces, np.nan)
        for rows, x in zip(self._rows, unknowns):
            result[rows] = self.equations.rows[rows] @ x
        return result
