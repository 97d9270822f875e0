# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sums of sines whose regressor is well conditioned, found by a search that keeps the limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_positive, listed
from liedyn_ros.common.errors import ConvergenceError, LiedynError, LimitError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, LoopTracker
from liedyn_ros.identification.excitation.capsules import Clearance
from liedyn_ros.identification.regressors import base_parameters, LoopRegressor, Regressor
from liedyn_ros.model import JOINT_TYPES, Model

SAMPLES_PER_PERIOD = 20  # of each period of the highest harmonic, at which limits are looked at
SHRINK_FACTOR = 0.85
MAX_SHRINKS = 30
RANDOM_MOTIONS = 20  # random motions, the best of which is made better
EXCITATION_SEED = 31
_IDLE_LIMIT_RATIO = 100.0  # times the torque of a motion, from which a limit tells nothing
_MIN_SINGULAR = 1e-7  # singular value of normalised columns, below which it is rounding
_MIN_EFFECT = 1e-9  # of the largest column, below which a parameter has no effect


@dataclass(frozen=True, eq=False)
class ExcitationLimits:
    """
    Bounds of the moved joints (f,): lower and upper positions, speed, acceleration and torque.

    clearance (m) is the least distance of bodies that no joint connects.

    >>> ones = np.ones(6)
    >>> ExcitationLimits(-ones, ones, 2.0 * ones, 8.0 * ones, 300.0 * ones).clearance
    0.0
    """

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    torque: Array
    clearance: float = 0.0


class Excitation(NamedTuple):
    """
    A period of a motion that begins and ends at rest at the start, and may be repeated.

    t (K,) s; q (K, nq), v, a, torque (K, nv). joints names the moved ones. condition is that of
    the normalised columns of the base parameters and of friction, where 100 is well. used has the
    share of each limit that the motion takes, by name. clearance (m) is infinite without capsules.
    least are the joints, or bodies, whose parameters weigh most in the sum that it tells least.

    >>> bounds = ExcitationLimits(*(np.array([x]) for x in (-1.0, 1.0, 3.0, 10.0, 50.0)))
    >>> excite(rod.model, bounds, rounds=1, rate=20.0).joints
    ('pivot',)
    """

    t: Array
    q: Array
    v: Array
    a: Array
    torque: Array
    joints: tuple[str, ...]
    condition: float
    used: dict[str, float]
    clearance: float
    period: float
    least: tuple[str, ...]


class Prior(Protocol):
    """Information of recordings so far: rows over their noise, whose squares add up."""

    triangle: Array  # (p, p), as good as all rows of the recordings

    def rows(self, q: Array, v: Array, a: Array, seconds: float) -> Array:
        """Return the rows that a motion of so many seconds adds, (n, p)."""


class _Trial(NamedTuple):
    motion: tuple[Array, Array, Array, Array]
    score: float
    condition: float
    used: dict[str, float]
    clearance: float
    coefficients: Array


def excite(model: Model, limits: ExcitationLimits, *, start: ArrayLike | None = None,
           period: float = 10.0, harmonics: int = 5, rate: float = 100.0, rounds: int = 150,
           clearance: Clearance | None = None, seed: int = EXCITATION_SEED,
           prior: Prior | None = None) -> Excitation:
    """
    Return a periodic motion of the actuated joints that identifies inertia and friction.

    Each joint moves by a sum of sines. The search maximises the determinant of the information, in
    units of the torque limits, from random motions. Each is made smaller until it keeps the
    limits. Of a machine with closed loops the other joints follow.

    Args:
        model: a Model.
        limits: of the moved joints.
        start: middle of the motion (nq,), by default of the range; rad and m.
        period: s.
        harmonics: sines of each joint, 3 or more.
        rate: of the samples; Hz.
        rounds: of the search.
        clearance: distances of bodies that no joint connects.
        seed: of the random motions.
        prior: information of earlier recordings, which is then added.

    Returns:
        the motion.

    Raises:
        LimitError: for a start outside the limits.
        ConvergenceError: where no motion keeps them.

    >>> ones = np.ones(6)
    >>> limits = ExcitationLimits(-ones, ones, 2.0 * ones, 8.0 * ones, 300.0 * ones)
    >>> excite(model, limits, rounds=1, rate=20.0).q.shape
    (201, 6)
    """
    as_positive('period', period)
    if harmonics < 3:
        raise LimitError(f'harmonics: expected at least 3, got {harmonics}')
    task = _Task(model, limits, start, period, harmonics, clearance, prior)
    rng = np.random.default_rng(seed)
    best = _searched(task, rng, (2 * harmonics, len(task.joints)), rounds)
    for _ in range(MAX_SHRINKS):
        final = task.trial(best.coefficients, round(period * rate) + 1, closed=True)
        if final is not None:
            break
        best = best._replace(coefficients=SHRINK_FACTOR**0.25 * best.coefficients)
    else:
        raise ConvergenceError('excitation: expected a motion within the limits between its '
                               'samples too, got none')
    t = np.asarray(np.linspace(0.0, period, len(final.motion[0])), dtype=np.float64)
    return Excitation(t, *final.motion, task.joints, final.condition, final.used,
                      final.clearance, period, task.least(final))


def _searched(task: _Task, rng: np.random.Generator, size: tuple[int, int], rounds: int
              ) -> _Trial:
    """Return the best of random motions and of rounds of changes; raise ConvergenceError."""
    samples, step = SAMPLES_PER_PERIOD * size[0] // 2, 0.5
    best: _Trial | None = None
    for _ in range(RANDOM_MOTIONS):
        best = _better(best, task.trial(rng.normal(size=size), samples))
    if best is None:
        raise ConvergenceError('excitation: expected a motion within the limits, got none from '
                               f'{RANDOM_MOTIONS} random ones: is the start near a limit or a '
                               'singularity?')
    for _ in range(rounds):
        spread = np.abs(best.coefficients).mean(axis=0)
        found = task.trial(best.coefficients + step * spread * rng.normal(size=size), samples)
        better = found is not None and found.score > best.score
        best = _better(best, found) or best
        step = min(1.0, step * (1.5 if better else 0.93))
    return best


def _better(one: _Trial | None, other: _Trial | None) -> _Trial | None:
    if one is None or (other is not None and other.score > one.score):
        return other
    return one


class _Task:
    """Motions of a machine, and how good they are."""

    def __init__(self, model: Model, limits: ExcitationLimits, start: ArrayLike | None,
                 period: float,
                 harmonics: int, clearance: Clearance | None, prior: Prior | None = None) -> None:
        moved = [joint for joint in model.joint_list
                 if joint.actuated and JOINT_TYPES[joint.type_name].nv == 1]
        if not moved:
            raise LimitError('model: expected actuated joints of one coordinate, got none')
        self.joints = tuple(joint.name for joint in moved)
        self._at_q, self._at_v = ([getattr(joint, name) for joint in moved]
                                  for name in ('qi', 'vi'))
        self._model, self._clearance, self._prior = model, clearance, prior
        for name in ('lower', 'upper', 'speed', 'acceleration', 'torque'):
            if np.shape(getattr(limits, name)) != (len(moved),):
                raise ShapeError(f'limits: expected {len(moved)} numbers as {name}, got '
                                 f'{np.shape(getattr(limits, name))}')
        self._limits = limits
        self._omega = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
        self._period = period
        self._looped = bool(model.closures or model.couplings)
        self._regressor: Regressor | LoopRegressor = (
            LoopRegressor(model, dissipation=True, merged=True) if self._looped
            else Regressor(model, dissipation=True, merged=True))
        self._base = base_parameters(self._regressor, np.random.default_rng(EXCITATION_SEED))
        self._dynamics = Dynamics(model)
        self._closed = ConstrainedDynamics(model) if self._looped else None
        self._start = self._from(start)
        self._tracker: LoopTracker | None = None

    def _from(self, start: ArrayLike | None) -> Array:
        """Return the configuration that motions begin at."""
        limits = self._limits
        if start is None:
            q = self._model.neutral()
            middle = 0.5 * (limits.lower + limits.upper)
            q[self._at_q] = np.where(np.isfinite(middle), middle, 0.0)
        else:
            q = self._model.check_configuration(start)
        if self._closed is not None:
            q = assemble(self._closed, q)
        at = q[self._at_q]
        outside = [name for name, x, low, high in zip(
            self.joints, at, limits.lower, limits.upper) if not low <= x <= high]
        if outside:
            raise LimitError(f'start: expected positions within the limits, got {at.tolist()}, '
                             f'where {listed(outside)} are outside', names=tuple(outside))
        if self._clearance is not None and (
                self._clearance.distances(q[None])[0] < limits.clearance):
            raise LimitError(
                f'start: expected bodies {limits.clearance:g} m apart, got '
                f'{self._clearance.distances(q[None])[0]:.4g} m; start elsewhere, or with less '
                'clearance')
        return q

    def trial(self, coefficients: Array, count: int, *, closed: bool = False) -> _Trial | None:
        """Return a motion, made smaller until it keeps the limits; None where none does."""
        times = np.asarray(np.linspace(0.0, self._period, count, endpoint=closed),
                           dtype=np.float64)
        coefficients = coefficients if closed else self._at_rest(coefficients)
        for _ in range(MAX_SHRINKS):
            moved = self._moved(times, coefficients)
            excess = self._excess(*moved)
            if excess > 1.0:
                if closed:
                    return None
                coefficients = coefficients / excess * (1.0 - 1e-9)
                continue
            found = self._rated(moved, coefficients)
            if found is not None or closed:
                return found
            coefficients = SHRINK_FACTOR * coefficients
        return None

    def _at_rest(self, coefficients: Array) -> Array:
        """Return the nearest coefficients of a motion that begins at rest, without a jerk."""
        sine, cosine = np.split(coefficients.copy(), 2)
        for part, power in ((sine, 1), (cosine, 2)):
            row = self._omega[:, None]**power
            part -= row * (row * part).sum(axis=0) / (row * row).sum()
        return np.concatenate([sine, cosine])

    def _moved(self, times: Array, coefficients: Array) -> tuple[Array, Array, Array]:
        sine, cosine = np.split(coefficients, 2)
        w = self._omega[:, None]
        s, c = np.sin(np.outer(times, self._omega)), np.cos(np.outer(times, self._omega))
        q = self._start[self._at_q] + s @ sine + (c - 1.0) @ cosine
        return (q, c @ (w * sine) - s @ (w * cosine),
                -s @ (w * w * sine) - c @ (w * w * cosine))

    def _excess(self, q: Array, v: Array, a: Array) -> float:
        """Return by which factor positions, speeds or accelerations are too large."""
        limits, at = self._limits, self._start[self._at_q]
        up = (q - at) / np.maximum(limits.upper - at, 1e-12)
        down = (at - q) / np.maximum(at - limits.lower, 1e-12)
        return float(max(up.max(), down.max(), (np.abs(v) / limits.speed).max(),
                         (np.abs(a) / limits.acceleration).max()))

    def _rated(self, moved: tuple[Array, Array, Array], coefficients: Array) -> _Trial | None:
        """Return the trial of a motion within the limits of torque and distance, or None."""
        limits = self._limits
        try:
            q, v, a, tau = self._completed(*moved)
        except LiedynError:  # the loops do not lead there
            return None
        forces = tau[:, self._at_v]
        share = float((np.abs(forces) / limits.torque).max())
        gap = np.inf if self._clearance is None else float(self._clearance.distances(q).min())
        if share > 1.0 or gap < limits.clearance:
            return None
        flat = (self._weighted(q, v, a, forces) if self._prior is None else np.vstack([
            self._prior.triangle, self._prior.rows(q, v, a, self._period)]))
        norms = np.linalg.norm(flat, axis=0)
        felt = norms > _MIN_EFFECT * norms.max(initial=0.0)
        values = _singular_values(flat[:, felt] / norms[felt])
        score = float(np.log(np.maximum(values, _MIN_SINGULAR)).sum() + np.log(norms[felt]).sum())
        used = {'position': float(max(self._span(moved[0]))),
                'speed': float((np.abs(v[:, self._at_v]) / limits.speed).max()),
                'acceleration': float((np.abs(a[:, self._at_v]) / limits.acceleration).max()),
                'torque': share}
        return _Trial((q, v, a, tau), score, float(values[-1] / max(values[0], 1e-300)), used,
                      gap, coefficients)

    def least(self, trial: _Trial) -> tuple[str, ...]:
        """Return the owners of the parameters that weigh most in the least known combination."""
        q, v, a, tau = trial.motion
        flat = self._weighted(q, v, a, tau[:, self._at_v])
        norms = np.linalg.norm(flat, axis=0)
        felt = norms > _MIN_EFFECT * norms.max(initial=0.0)
        share = np.abs(np.linalg.svd(flat[:, felt] / norms[felt], full_matrices=False)[2][-1])
        names = np.array(self._base.names)[felt]
        return tuple(dict.fromkeys(each.partition('/')[0] for each in names[share > 0.5 * max(
            share)].tolist()))

    def _span(self, q: Array) -> Array:
        at, limits = self._start[self._at_q], self._limits
        up = (q - at).max(axis=0) / np.maximum(limits.upper - at, 1e-12)
        down = (at - q).max(axis=0) / np.maximum(at - limits.lower, 1e-12)
        return np.asarray(np.maximum(up, down))

    def _completed(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array, Array]:
        """Return q, v, a and tau of all coordinates."""
        if self._closed is None:
            full = np.tile(self._start, (len(q), 1))
            rates = np.zeros((2, len(q), self._model.nv))
            full[:, self._at_q], rates[0][:, self._at_v], rates[1][:, self._at_v] = q, v, a
            return full, rates[0], rates[1], self._dynamics.inverse.batch(full, *rates)
        tracker = self._tracker = self._tracker or LoopTracker(
            self._closed, self.joints, start=self._start)
        tracker.reset()
        states = [tracker.update(*each, ahead=False) for each in zip(q, v, a)]
        full, rate, second = (np.array([getattr(each, name) for each in states])
                              for name in ('q', 'v', 'a'))
        return full, rate, second, self._closed.inverse.batch(full, rate, second).tau

    def _weighted(self, q: Array, v: Array, a: Array, forces: Array) -> Array:
        """Return the rows (K f, r) of a motion over the limits of forces (K, f)."""
        rows, peak = self._rows(q, v, a), np.maximum(np.abs(forces).max(axis=0), 1e-12)
        # Files write 1e308 for none
        size = np.minimum(self._limits.torque, _IDLE_LIMIT_RATIO * peak)
        return np.asarray((rows / size[:, None]).reshape(-1, rows.shape[2]))

    def _rows(self, q: Array, v: Array, a: Array) -> Array:
        """Return the rows (K, f, r) of the base parameters."""
        if isinstance(self._regressor, LoopRegressor):
            back = np.swapaxes(self._regressor.motions_batch(q), 1, 2)
            rows = back @ self._regressor.tree.torque_batch(q, v, a)
        else:
            rows = self._regressor.torque_batch(q, v, a)[:, self._at_v]
        return np.asarray(self._base.columns(rows))


def _singular_values(rows: Array) -> Array:
    """
    Return the singular values (p,) of many rows (n, p), least first, but for rounding.

    By the small matrix of products: an SVD of all rows sets up threads of BLAS, which wait for
    each other on a busy machine.
    """
    return np.sqrt(np.maximum(np.linalg.eigvalsh(np.einsum('ki,kj->ij', rows, rows)), 0.0))
