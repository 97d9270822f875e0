# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of a recording: smooth positions, velocities and accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
import itertools
from typing import NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.common.stamps import pieces_of
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, LoopTracker
from liedyn_ros.identification.motion.recording import Recording
from liedyn_ros.identification.motion.spectrum import (
    derivative_noise, MAX_CUTOFF, smoothed, Spectrum, spectrum_of)
from liedyn_ros.lie import so3
from liedyn_ros.model import JOINT_TYPES, Model

SPLINE_DEGREE = 7  # of the splines through the samples
MIN_SPECTRUM_TIME = 5.0  # s, from which a piece beside the longest has a spectrum
END_PERIODS = 2.0  # periods of the cut-off, at which the ends of a recording disturb the filter
_CLOCK_ERROR = 1e-6  # of a step, by which stamps of a uniform clock may differ
_VELOCITY_ERROR = 0.05  # of the size of a velocity, by which the measured one may differ


@dataclass(frozen=True, eq=False)
class Motion:
    """
    A motion on a uniform clock: time (n,), q (n, nq), v and a (n, nv), tau (n, nv).

    rate is in Hz. The filter has no delay. cutoff (nv,) Hz is where it passes one half, infinite
    without one. noise (3, nv) are standard deviations of what white noise of the encoders leaves
    in q, v and a (16.3). band (Hz) holds the motion, core (Hz) most of it. remarks say what was
    corrected. pieces are the samples between gaps of the recording, where time leaps.

    >>> round(identify(rod.model, recording).motion.rate)
    100
    """

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    rate: float
    cutoff: Array
    noise: Array
    band: float
    core: float
    remarks: tuple[str, ...]
    pieces: tuple[slice, ...]


class _Filter(NamedTuple):
    """The spectra of the numbers of q, their cut-offs (nq,) in Hz, and the rate, Hz."""

    spectra: list[Spectrum]
    cutoff: Array
    rate: float


def motion_of(model: Model, recording: Recording, cutoff: float | None = None, *,
              least: float = 0.0) -> Motion:
    """
    Return the motion of a recording, resampled by its stamps, smoothed and differentiated.

    cutoff (Hz) is that of all coordinates; by default each has its own, from its spectrum (16.4),
    which is not below least (Hz). Of several pieces the one
    that moved fastest decides, as its motion would be lost by the filter of a slower one.
    A measured velocity takes the place of the derivative where it agrees with it and has less
    noise. Passive joints of a machine with loops follow from the others. Pieces between gaps are
    smoothed apart, with the same cut-offs; too short ones are left out. Raises
    LimitError for a cut-off that is not above 0, and ShapeError for too short a recording, or
    without joints.
    """
    if cutoff is not None and not cutoff > 0.0:
        raise LimitError(f'smoothing: expected a cut-off above 0, got {cutoff!r}')
    if not model.nv:
        raise ShapeError('model: expected joints that move, got none', expected=1, got=0)
    remarks: list[str] = []
    parts = pieces_of(recording.time)
    longest = max(parts, key=lambda each: each.stop - each.start)
    clock = _clock(recording.time[longest], remarks)
    q = _continuous(model, recording.q)
    spectra = _spectra(recording.time, q, parts, longest, clock)
    by = _Filter(spectra, np.maximum(_cutoffs(model, spectra, cutoff), least), clock[1])
    found: list[Motion] = []
    for part in parts:
        try:
            piece = recording.part(part)
            time = clock[0] if part == longest else _clock_at(piece.time, clock[1])
            found.append(_smooth(model, piece, q[part], time, by, found[-1:]))
        except ShapeError:
            if part == longest:
                raise
    if len(parts) > 1:
        remarks.append(_gaps(recording.time, parts, len(found)))
    return _joined(found, remarks)


def _spectra(time: Array, q: Array, parts: Sequence[slice], longest: slice,
             clock: tuple[Array, float]) -> list[Spectrum]:
    """Return the spectrum of each number of q, of that long piece whose motion is fastest."""
    enough = min(MIN_SPECTRUM_TIME, clock[0][-1] - clock[0][0])  # s
    found: list[list[Spectrum]] = []
    for part in parts:
        stamps = time[part]
        if part != longest and stamps[-1] - stamps[0] < enough:
            continue
        even = clock[0] if part == longest else _clock_at(stamps, clock[1])
        found.append([spectrum_of(each, clock[1])
                      for each in _resampled(stamps, q[part], even).T])
    return [max(each, key=lambda one: one.band) for each in zip(*found)]


def _smooth(model: Model, recording: Recording, q: Array, time: Array, by: _Filter,
            before: Sequence[Motion]) -> Motion:
    """Return the motion of a piece at the times of a uniform clock, after another motion."""
    remarks: list[str] = []
    rate, chosen = by.rate, by.cutoff
    q = _resampled(recording.time, q, time)
    tau = (recording.tau if time is recording.time else np.column_stack(
        [np.interp(time, recording.time, each) for each in recording.tau.T]))
    kept = _without_ends(len(time), rate, chosen)
    q = np.column_stack([smoothed(each, fc, rate) for each, fc in zip(q.T, chosen)])
    steps = np.arange(len(time)) / rate
    spline = make_interp_spline(steps, q, k=SPLINE_DEGREE)
    rates, second = spline(steps, 1), spline(steps, 2)
    q, v, a, at = _on_groups(model, q, rates, second)
    noise = np.array([[derivative_noise(by.spectra[i].noise, chosen[i], rate, order) for i in at]
                      for order in range(3)])
    if recording.v is not None:
        _take_measured(model, recording.time, recording.v, steps + time[0], rate, chosen[at], kept,
                       v, a, noise, remarks)
    time, q, v, a, tau = (each[kept] for each in (time, q, v, a, tau))
    if model.closures or model.couplings:
        q, v, a = _completed(model, q, v, a, before[0].q[-1] if before else None)
    band, core = (max((getattr(each, name) for each in by.spectra), default=0.0)
                  for name in ('band', 'core'))
    shown = np.where(chosen[at] < MAX_CUTOFF * rate, chosen[at], np.inf)
    return Motion(time, q, v, a, tau, rate, shown, noise, band, core, tuple(remarks),
                  (slice(0, len(time)),))


def _joined(found: Sequence[Motion], remarks: Sequence[str]) -> Motion:
    """Return pieces as one motion; its noise is that of the noisiest."""
    notes = dict.fromkeys([*remarks, *(each for one in found for each in one.remarks)])
    ends = np.cumsum([0, *(len(each.time) for each in found)]).tolist()
    time, q, v, a, tau = (np.concatenate([getattr(each, name) for each in found])
                          for name in ('time', 'q', 'v', 'a', 'tau'))
    noise = np.asarray(np.max([each.noise for each in found], axis=0), np.float64)
    return replace(found[0], time=time, q=q, v=v, a=a, tau=tau, remarks=tuple(notes), noise=noise,
                   pieces=tuple(slice(*each) for each in itertools.pairwise(ends)))


def _gaps(time: Array, parts: Sequence[slice], smoothed_ones: int) -> str:
    """Return a remark on gaps."""
    lost = [(time[after.start] - time[before.stop - 1], time[before.stop - 1])
            for before, after in itertools.pairwise(parts)]
    longest, at = max(lost)
    short = len(parts) - smoothed_ones
    return (f'{len(lost)} gaps without samples, the longest {longest:.3g} s at {at:.4g} s: '
            f'pieces between them are smoothed separately, each without its ends' + (
                f'; {short} of {len(parts)} are too short and left out' if short else ''))


def _without_ends(count: int, rate: float, cutoff: Array) -> slice:
    """Return the samples at which the ends of the recording are not felt any more."""
    filtered = cutoff[cutoff < MAX_CUTOFF * rate]
    end = int(max(END_PERIODS * rate / filtered.min(initial=np.inf), 3 * SPLINE_DEGREE))
    if count <= 3 * end:
        raise ShapeError(f'recording: expected more than {3.0 * end / rate:.3g} s for a cut-off '
                         f'of {filtered.min(initial=np.inf):.3g} Hz, got {count / rate:.3g} s')
    return slice(end, count - end)


def _clock(time: Array, remarks: list[str]) -> tuple[Array, float]:
    """Return the stamps of a uniform clock, those of the recording where they are (16.1)."""
    steps = np.diff(time)
    usual = float(np.median(steps))
    mean = (time[-1] - time[0]) / (len(time) - 1)
    if np.abs(time - time[0] - mean * np.arange(len(time))).max() <= max(
            _CLOCK_ERROR * mean, 4.0 * np.spacing(np.abs(time).max())):
        return time, 1.0 / mean
    gaps = steps > 1.5 * usual
    remarks.append(f'stamps differ by up to {1e3 * np.ptp(steps):.3g} ms: resampled by them at '
                   f'{1.0 / usual:.5g} Hz; {int(gaps.sum())} gaps, the longest '
                   f'{1e3 * steps.max():.3g} ms')
    return np.arange(time[0], time[-1], usual), 1.0 / usual


def _clock_at(stamps: Array, rate: float) -> Array:
    """Return the stamps of a uniform clock of a given rate, those of the piece where they are."""
    even = stamps[0] + np.arange(len(stamps)) / rate
    rounding = 4.0 * np.spacing(np.abs(stamps).max())
    if np.abs(stamps - even).max() <= max(_CLOCK_ERROR / rate, rounding):
        return stamps
    return np.arange(stamps[0], stamps[-1], 1.0 / rate)


def _resampled(time: Array, samples: Array, wanted: Array) -> Array:
    if wanted is time:
        return samples
    return np.asarray(make_interp_spline(time, samples, k=3)(wanted))


def _continuous(model: Model, q: Array) -> Array:
    """Return q (n, nq) whose quaternions do not change their sign from sample to sample."""
    q = q.copy()
    for joint in model.joint_list:
        spec = JOINT_TYPES[joint.type_name]
        if spec.nq > spec.nv:
            part = q[:, joint.q_slice][:, -4:]
            turned = np.sign(np.sum(part[1:] * part[:-1], axis=1))
            q[1:, joint.q_slice.stop - 4:joint.q_slice.stop] *= np.cumprod(turned)[:, None]
    return q


def _cutoffs(model: Model, spectra: list[Spectrum], cutoff: float | None) -> Array:
    """Return the cut-off of each number of q; those of a quaternion are equal."""
    chosen = np.array([each.cutoff for each in spectra] if cutoff is None
                      else [cutoff] * len(spectra))
    if cutoff is None:  # noise of a joint that stood still has no cut-off of its own
        still = np.array([each.band == 0.0 for each in spectra])
        chosen[still] = np.maximum(chosen[still], chosen[~still].max(initial=0.0))
    for joint in model.joint_list:
        spec = JOINT_TYPES[joint.type_name]
        if spec.nq > spec.nv:
            last = slice(joint.q_slice.stop - 4, joint.q_slice.stop)
            chosen[last] = chosen[last].max()
    return chosen


def _on_groups(model: Model, q: Array, rates: Array, second: Array
               ) -> tuple[Array, Array, Array, list[int]]:
    """Return q, v, a from the derivatives of the numbers of q, and the number behind each v."""
    count = len(q)
    at: list[int] = []
    v, a, q = np.empty((count, model.nv)), np.empty((count, model.nv)), q.copy()
    for joint in model.joint_list:
        spec, into = JOINT_TYPES[joint.type_name], joint.v_slice
        if spec.nq == spec.nv:
            v[:, into], a[:, into] = rates[:, joint.q_slice], second[:, joint.q_slice]
            at += range(joint.qi, joint.qi + spec.nq)
            continue
        last = slice(joint.q_slice.stop - 4, joint.q_slice.stop)
        w, alpha = _turning(q[:, last], rates[:, last], second[:, last])
        q[:, last] /= np.linalg.norm(q[:, last], axis=1)[:, None]
        v[:, into][:, :3], a[:, into][:, :3] = w, alpha
        at += range(last.start, last.start + 3)
        if spec.nv == 6:  # v = R^T p', a = R^T p'' - w x v
            first = slice(joint.qi, joint.qi + 3)
            back = np.swapaxes(so3.from_quaternion(q[:, last]), 1, 2)
            linear = (back @ rates[:, first, None])[..., 0]
            v[:, into][:, 3:] = linear
            a[:, into][:, 3:] = (back @ second[:, first, None])[..., 0] - np.cross(w, linear)
            at += range(joint.qi, joint.qi + 3)
    return q, v, a, at


def _turning(x: Array, rate: Array, second: Array) -> tuple[Array, Array]:
    """Return w and dw/dt (n, 3) in the body, of quaternions of any length: w = 2 Im(x^-1 x')."""
    square = (x * x).sum(axis=1)[:, None]
    w = 2.0 * _imaginary(x, rate) / square
    along = (x * rate).sum(axis=1)[:, None] / square
    return w, 2.0 * _imaginary(x, second) / square - 2.0 * along * w


def _imaginary(x: Array, y: Array) -> Array:
    """Return the imaginary part (n, 3) of conj(x) y of quaternions x, y, z, w."""
    return x[:, 3:] * y[:, :3] - y[:, 3:] * x[:, :3] - np.cross(x[:, :3], y[:, :3])


def _take_measured(model: Model, stamps: Array, measured: Array, time: Array, rate: float,
                   cutoff: Array, kept: slice, v: Array, a: Array, noise: Array,
                   remarks: list[str]) -> None:
    """Put measured velocities into v and a where they agree and have less noise."""
    taken, refused = [], []
    for i, name in enumerate(model.coordinate_names):
        given = np.interp(time, stamps, measured[:, i])
        fine = smoothed(given, cutoff[i], rate)
        size = float(np.sqrt(np.mean(v[kept, i]**2)))
        if size == 0.0 or np.sqrt(np.mean((fine - v[:, i])[kept]**2)) > (
                _VELOCITY_ERROR * size + 2.0 * noise[1, i]):
            refused.append(name)
            continue
        sigma = spectrum_of(given, rate).noise
        if derivative_noise(sigma, cutoff[i], rate, 1) < noise[2, i]:
            spline = make_interp_spline(time, fine, k=SPLINE_DEGREE)
            v[:, i], a[:, i] = fine, spline(time, 1)
            noise[1:, i] = [derivative_noise(sigma, cutoff[i], rate, k) for k in range(2)]
            taken.append(name)
    if taken:
        remarks.append(f'measured velocities taken, as they have less noise: {", ".join(taken)}')
    if refused:
        remarks.append('measured velocities left out, as they differ from the derivative of the '
                       f'positions by over {100.0 * _VELOCITY_ERROR:g} %: {", ".join(refused)}')


def _completed(model: Model, q: Array, v: Array, a: Array, before: Array | None
               ) -> tuple[Array, Array, Array]:
    """
    Return the motion of all joints that the actuated ones of a machine with loops decide.

    before (nq,) is the configuration at the end of the piece before.
    """
    dynamics = ConstrainedDynamics(model)
    if before is None:
        tracker = LoopTracker(dynamics, start=q[0])
    else:
        tracker = LoopTracker(dynamics, start=before)
        tracker = LoopTracker(dynamics, start=assemble(dynamics, before, held={
            name: float(q[0, model.joint(name).qi]) for name in tracker.measured}))
    joints = [model.joint(name) for name in tracker.measured]
    at_q, at_v = [each.qi for each in joints], [each.vi for each in joints]
    states = [tracker.update(q[k, at_q], v[k, at_v], a[k, at_v], ahead=False)
              for k in range(len(q))]
    return (np.array([each.q for each in states]), np.array([each.v for each in states]),
            np.array([each.a for each in states]))
