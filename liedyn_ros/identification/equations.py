# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The equations of a recording, tau = Z x: filtered rows, and the columns of what is unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
import math

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification.joints import FRICTION_TERMS, LOAD, SCALE_TERM, Term, terms_of, TILT
from liedyn_ros.identification.motion import Motion
from liedyn_ros.identification.motion.spectrum import (
    decimated, MAX_CUTOFF, response, spectrum_of)
from liedyn_ros.identification.regressors import (
    base_parameters, BaseParameters, LoopRegressor, Regressor)
from liedyn_ros.model import Model, with_gravity

BANDWIDTH_FACTOR = 2.5  # times the band of the motion, to which the equations are filtered
SAMPLES_IN_MEMORY = 20000  # samples whose rows are in memory at a time
CUTOFF_MARGIN = 5.0  # times its cut-off, above which a motion is none any more
_MIN_SIGN_RATIO = 3.0  # times the noise of a velocity, where the direction of friction is in doubt
_ROWS_PER_UNKNOWN = 6.0  # rows for each unknown, of which parts are held out
_SETTLING_PERIODS = 2.0  # periods of the cut-off, over which a filter swings in
_BLOCK = 40  # rows of a piece of a shortened motion
_SEED = 20


@dataclass(frozen=True, eq=False)
class Equations:
    """
    Filtered and decimated equations: rows (K, f, p) times p unknowns are forces (K, f).

    The unknowns are base parameters, then the extra ones: terms of joints, scales last. base maps
    the P inertial parameters of the regressor, whose fixed bodies are merged, to the base ones.
    names (p,) name the unknowns, joints (f,) the rows, time (K,) the samples; cutoff in Hz. known
    (K, f) are forces of springs, and of armatures that are not fitted, which are taken from the
    recorded ones.
    scales (f,) are the recorded units of a N m or N.
    inertia (nv,) is the diagonal of the given model's mass matrix at one sample.
    """

    rows: Array
    forces: Array
    known: Array
    scales: Array
    time: Array
    joints: tuple[str, ...]
    names: tuple[str, ...]
    extra: tuple[Term, ...]
    base: BaseParameters
    regressor: Regressor | LoopRegressor
    cutoff: float
    inertia: Array

    @property
    def at_extra(self) -> slice:
        """Return the places of the extra unknowns."""
        return slice(self.base.rank, len(self.names))

    @property
    def at_friction(self) -> slice:
        """Return the places of the extra unknowns that are no scales."""
        scales = sum(each.kind == SCALE_TERM for each in self.extra)
        return slice(self.base.rank, len(self.names) - scales)

    def full_map(self) -> Array:
        """Return K (p, P + extra) from inertial parameters and extra unknowns to the unknowns."""
        count = len(self.base.kept) + len(self.base.dropped)
        result = np.zeros((len(self.names), count + len(self.extra)))
        at = np.arange(self.base.rank)
        result[at, self.base.kept] = 1.0
        result[np.ix_(at, self.base.dropped)] = self.base.grouping
        result[self.at_extra, count:] = np.eye(len(self.extra))
        return result


def equations_of(model: Model, motion: Motion, *, rotor_inertia: bool = True,
                 friction: tuple[str, ...] = FRICTION_TERMS,
                 cutoff: float | None = None) -> Equations:
    """
    Return the equations of a motion, whose columns are filtered as the forces are (16.5).

    cutoff (Hz) is by default BANDWIDTH_FACTOR times the band of the motion, or where the last
    force meets its noise, if that is lower. The rows are decimated to twice the cut-off (16.9).
    friction beyond FRICTION has no columns yet (with_friction), but rows enough for them.
    Raises LimitError for a cut-off outside (0, MAX_CUTOFF rate), and ShapeError for too short a
    recording.
    """
    regressor = _regressor(model, rotor_inertia)
    base = base_parameters(regressor, np.random.default_rng(_SEED))
    terms = terms_of(model, tuple(each for each in friction if each in FRICTION_TERMS))
    if cutoff is None:
        cutoff = _cutoff(motion, base.rank + len(terms_of(model, friction)))
    if not 0.0 < cutoff <= MAX_CUTOFF * motion.rate:
        raise LimitError(f'cutoff: expected more than 0 and at most {MAX_CUTOFF * motion.rate:.5g}'
                         f' Hz, got {cutoff}; without motion it is 0')
    margin, count = _margin(motion, cutoff), max(each.stop - each.start for each in motion.pieces)
    if count < 4 * margin:
        raise ShapeError(f'recording: expected at least {4 * margin / motion.rate:.3g} s, got '
                         f'{count / motion.rate:.3g} s: motion up to {motion.band:.3g} Hz needs '
                         'times to swing in')
    rows, forces, known = rows_of(model, regressor, base, terms, motion, cutoff)
    at = _independent(model, regressor)
    return Equations(
        rows, forces, known, np.ones(forces.shape[1]), times_of(motion, cutoff),
        tuple(name for name, row in zip(model.coordinate_names, at) if row),
        (*base.names, *(each.name(model) for each in terms)),
        terms, base, regressor, cutoff, np.diag(Dynamics(model).mass_matrix(
            motion.q[len(motion.q) // 2])))


def with_terms(model: Model, motion: Motion, equations: Equations, terms: tuple[Term, ...],
               load: Array | None = None) -> Equations:
    """
    Return equations of the same motion with columns of more terms.

    load (r,) are base parameters, whose forces those are that joints bear without friction.
    """
    def columns(window: slice) -> tuple[Array]:
        return (_extra_columns(model, equations, terms, motion, window, load),)

    rows, = _filtered(motion, equations.cutoff, columns)
    return replace(
        equations, rows=np.concatenate([equations.rows, rows], axis=2),
        names=(*equations.names, *(each.name(model) for each in terms)),
        extra=(*equations.extra, *terms))


def rows_along(model: Model, equations: Equations, load: Array, q: Array, v: Array, a: Array
               ) -> Array:
    """
    Return rows (n, f, p) of another motion, q (n, nq), v and a (n, nv), not filtered.

    The unknowns are those of the equations without scales; load is that of with_terms, its first
    numbers the base parameters.
    """
    regressor, base = equations.regressor, equations.base
    nothing = np.zeros_like(v)
    motion = Motion(np.zeros(len(q)), q, v, a, nothing, 1.0, nothing[0], np.zeros((
        3, model.nv)), 0.0, 0.0, (), (slice(0, len(q)),))
    terms = tuple(each for each in equations.extra if each.kind != SCALE_TERM)
    every = motion.pieces[0]
    inertial, _, _ = _raw(
        model, regressor, base, (), motion, every, _back(regressor, motion, every))
    return np.concatenate([inertial, _extra_columns(
        model, equations, terms, motion, every, load[:base.rank])], axis=2)


def _extra_columns(model: Model, equations: Equations, terms: tuple[Term, ...], motion: Motion,
                   window: slice, load: Array | None) -> Array:
    """Return the columns (n, f, e) of terms; load (r,) are base parameters that joints bear."""
    regressor, base = equations.regressor, equations.base
    back, bearing = _back(regressor, motion, window), None
    if load is not None and any(each.kind == LOAD for each in terms):
        inertial, _, known = _raw(model, regressor, base, (), motion, window, back)
        bearing = _loads(model, regressor, inertial @ load + known)
    columns = _spread(terms, model.nv, _drag(terms, motion, window, bearing))
    for k, each in enumerate(terms):
        if each.kind == TILT and load is not None:
            columns[:, :, k] = _tilted(model, equations, each.at, motion.q[window], load)
    return _turned(back, columns)


def level_axes(model: Model) -> Array:
    """Return two axes (2, 3) of the ground at right angles to gravity, x and y where it is z."""
    down = model.gravity / np.linalg.norm(model.gravity)
    first = np.eye(3)[int(np.argmin(np.abs(down)))]
    first = first - (first @ down) * down
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(first, down)])


def _tilted(model: Model, equations: Equations, at: int, q: Array, load: Array) -> Array:
    """Return the forces (n, nv) by which a tilt of the base of 1 rad changes those of the load."""
    turned = with_gravity(model, -np.cross(level_axes(model)[at], model.gravity))
    regressor = Regressor(turned, merged=True)
    count = len(equations.base.kept) + len(equations.base.dropped)
    given, full = equations.regressor.parameters, equations.full_map()[:len(load), :count]
    near = given + np.linalg.pinv(full) @ (load - full @ given)
    still: Array = np.zeros((len(q), model.nv))
    rows = regressor.torque_batch(q, still, still)
    return np.asarray(rows @ near[:rows.shape[2]])


def forces_of(motion: Motion, equations: Equations, late: Array) -> Array:
    """Return filtered forces (K, f), those recorded that much later, (nv,) s, taken as of now."""
    tau = np.column_stack([np.interp(motion.time + each, motion.time, column)
                           for each, column in zip(late, motion.tau.T)])
    found, = _filtered(motion, equations.cutoff, lambda window: (_turned(_back(
        equations.regressor, motion, window), tau[window, :, None]),))
    return found[..., 0]


def _margin(motion: Motion, cutoff: float) -> int:
    """Return the samples on each side that an equation is made of."""
    return math.ceil(_SETTLING_PERIODS * motion.rate / cutoff)


def _sparser(motion: Motion, cutoff: float) -> int:
    """Return how many samples of the smooth motion one is enough for (16.9)."""
    widest = float(motion.cutoff.max(initial=0.0))
    return max(1, min(int(motion.rate / (CUTOFF_MARGIN * widest + cutoff)),
                      int(motion.rate / (2.0 * cutoff))))


def _step(motion: Motion, cutoff: float) -> int:
    """Return the samples from a row to the next: at least two in a period of the cut-off."""
    every = _sparser(motion, cutoff)
    return max(1, int(motion.rate / (2.0 * cutoff)) // every) * every


def _wanted(piece: slice, motion: Motion, cutoff: float) -> NDArray[np.int_]:
    """Return the samples of a piece that are rows: decimated, without its ends."""
    margin = _margin(motion, cutoff)
    return np.arange(piece.start + margin, piece.stop - margin, _step(motion, cutoff))


def times_of(motion: Motion, cutoff: float) -> Array:
    """Return the times (K,) of the rows."""
    return motion.time[_samples(motion, cutoff)]


def _samples(motion: Motion, cutoff: float) -> NDArray[np.int_]:
    """Return the samples that are rows."""
    return np.concatenate([_wanted(each, motion, cutoff) for each in motion.pieces])


def _filtered(motion: Motion, cutoff: float, raw: Callable[[slice], tuple[Array, ...]],
              every: int = 1) -> tuple[Array, ...]:
    """Return arrays (K, ...), of which raw gives one of so many samples of a window."""
    half, step = _margin(motion, cutoff) // every, _step(motion, cutoff)
    weights = (np.ones(1) if cutoff >= MAX_CUTOFF * motion.rate
               else response(cutoff, motion.rate / every, half))
    half, size = len(weights) // 2, max(1, SAMPLES_IN_MEMORY * every // step)
    parts: list[list[Array]] = []
    for piece in motion.pieces:
        wanted = _wanted(piece, motion, cutoff)
        for begin in range(0, len(wanted), size):
            part = wanted[begin:begin + size]
            window = slice(part[0] - half * every, part[-1] + half * every + 1, every)
            places = (part - window.start) // every
            parts.append([decimated(full, weights, places) for full in raw(window)])
    return tuple(np.concatenate(each) for each in zip(*parts))


def inertial_rows(model: Model, regressor: Regressor, base: BaseParameters, motion: Motion,
                  cutoff: float) -> Array:
    """Return the filtered rows (K, nv, r) of a tree's base parameters along a motion."""
    some = np.any([regressor.random_rows(np.random.default_rng(k)) for k in range(3)], axis=0)
    at = np.flatnonzero(some[:, base.kept])  # where joints move bodies: about half
    places = (np.arange(model.nv)[:, None] * base.rank + np.arange(base.rank)).ravel()[at]
    taken = (np.arange(model.nv)[:, None] * some.shape[1] + base.kept).ravel()[at]

    def inertial(window: slice) -> tuple[Array]:
        full = regressor.torque_batch(motion.q[window], motion.v[window], motion.a[window])
        return (full.reshape(len(full), -1).take(taken, axis=1),)

    moved, = _filtered(motion, cutoff, inertial, _sparser(motion, cutoff))
    rows = np.zeros((len(moved), model.nv * base.rank))
    rows[:, places] = moved
    return rows.reshape(len(rows), model.nv, -1)


def shortened(motion: Motion, cutoff: float, rows: int) -> Motion:
    """Return a motion of about so many rows, in pieces that are spread over the whole."""
    if len(_samples(motion, cutoff)) <= 2 * rows:
        return motion
    size, pieces = _BLOCK * _step(motion, cutoff) + 2 * _margin(motion, cutoff), list[slice]()
    total = sum(each.stop - each.start for each in motion.pieces)
    for each in motion.pieces:
        length = each.stop - each.start
        starts = np.linspace(each.start, max(each.start, each.stop - size), max(
            1, round(rows / _BLOCK * length / total))).astype(int)
        pieces += [slice(k, min(k + size, each.stop)) for k in starts.tolist()]
    return replace(motion, pieces=tuple(pieces))


def rows_of(model: Model, regressor: Regressor | LoopRegressor, base: BaseParameters,
            terms: tuple[Term, ...], motion: Motion, cutoff: float) -> tuple[Array, Array, Array]:
    """
    Return the filtered rows (K, f, p), forces (K, f) and known ones.

    Columns of inertia are as smooth as the motion, and need no more samples than it. Those of
    friction jump, and forces are noisy: these take all samples.
    """
    if isinstance(regressor, LoopRegressor):
        return _filtered(motion, cutoff, lambda window: _raw(  # type: ignore[return-value]
            model, regressor, base, terms, motion, window, _back(regressor, motion, window)))

    def others(window: slice) -> tuple[Array, Array]:
        known = regressor.known_forces(motion.q[window], motion.a[window])
        return _drag(terms, motion, window, None), np.stack([motion.tau[window], known], axis=2)

    drag, forces = _filtered(motion, cutoff, others)
    return (np.concatenate([inertial_rows(model, regressor, base, motion, cutoff), _spread(
        terms, model.nv, drag)], axis=2), forces[..., 0] - forces[..., 1], forces[..., 1])


def _cutoff(motion: Motion, unknowns: int) -> float:
    """
    Return the cut-off (Hz) above which forces are noise, or the motion is none.

    A short recording of a slow motion is filtered less, so that it has rows for its unknowns.
    """
    wide = min(BANDWIDTH_FACTOR * motion.band, MAX_CUTOFF * motion.rate)
    highest = max((spectrum_of(each, motion.rate).end for each in motion.tau.T), default=0.0)
    usual = max(motion.core, min(wide, highest)) if highest > 0.0 else wide
    # Rows of a force
    each = _ROWS_PER_UNKNOWN * unknowns / max(1, int(motion.tau.any(axis=0).sum()))
    longest = max(piece.stop - piece.start for piece in motion.pieces) / motion.rate
    least = (each + 4.0 * _SETTLING_PERIODS) / (2.0 * longest)  # the filter swings in at both ends
    return min(max(usual, least) if usual > 0.0 else usual, MAX_CUTOFF * motion.rate)


def _regressor(model: Model, rotor_inertia: bool) -> Regressor | LoopRegressor:
    if model.closures or model.couplings:
        return LoopRegressor(model, rotor_inertia=rotor_inertia, merged=True)
    return Regressor(model, rotor_inertia=rotor_inertia, merged=True)


def _independent(model: Model, regressor: Regressor | LoopRegressor) -> NDArray[np.bool_]:
    if isinstance(regressor, LoopRegressor):
        return regressor.independent
    return np.ones(model.nv, dtype=bool)


def _raw(model: Model, regressor: Regressor | LoopRegressor, base: BaseParameters,
         terms: tuple[Term, ...], motion: Motion, window: slice, back: Array | None
         ) -> tuple[Array, Array, Array]:
    """Return rows (n, f, p), forces (n, f) and known ones of the samples in a window (16.10)."""
    q, v, a = motion.q[window], motion.v[window], motion.a[window]
    tree = regressor.tree if isinstance(regressor, LoopRegressor) else regressor
    inertial = base.columns(tree.torque_batch(q, v, a))
    known = tree.known_forces(q, a)
    drag = _spread(terms, model.nv, _drag(terms, motion, window, None))
    forces = np.stack([motion.tau[window] - known, known], axis=2)
    turned = _turned(back, np.concatenate([inertial, drag, forces], axis=2))
    return turned[..., :-2], turned[..., -2], turned[..., -1]


def _back(regressor: Regressor | LoopRegressor, motion: Motion, window: slice) -> Array | None:
    """Return P^T (n, f, nv) of machines with loops at the samples in a window."""
    if not isinstance(regressor, LoopRegressor):
        return None
    return np.swapaxes(regressor.motions_batch(motion.q[window]), 1, 2)


def _turned(back: Array | None, rows: Array) -> Array:
    """Return rows (n, f, c) of (n, nv, c): P^T tau = P^T Y pi + P^T Phi phi (16.37)."""
    return rows if back is None else np.asarray(back @ rows)


def _drag(terms: tuple[Term, ...], motion: Motion, window: slice, loads: Array | None) -> Array:
    """Return the columns (n, e) of terms; loads (n, nv) are the forces without friction."""
    q, v = motion.q[window], motion.v[window]
    slow = np.maximum(_MIN_SIGN_RATIO * motion.noise[1], np.sqrt(np.finfo(float).tiny))
    drag = np.empty((len(v), len(terms)))
    for column, each in enumerate(terms):
        i, j = each.row, each.other
        rate, least = v[:, i], slow[i]
        if j >= 0:
            rate, least = rate + each.factor * v[:, j], max(least, slow[j])
        drag[:, column] = each.column(
            q[:, each.qi], rate, least, None if loads is None else loads[:, i])
    return drag


def _spread(terms: tuple[Term, ...], nv: int, columns: Array) -> Array:
    """Return columns (n, nv, e), each in the rows of its joints, of those of terms (n, e)."""
    result = np.zeros((len(columns), nv, len(terms)))
    result[:, [each.row for each in terms], range(len(terms))] = columns
    for k, each in enumerate(terms):
        if each.other >= 0:
            result[:, each.other, k] = each.factor * columns[:, k]
    return result


def _loads(model: Model, regressor: Regressor | LoopRegressor, forces: Array) -> Array:
    """Return forces (n, nv) at joints, of the rows' ones (n, f); 0 at passive ones of loops."""
    loads = np.zeros((len(forces), model.nv))
    loads[:, _independent(model, regressor)] = forces
    return loads
