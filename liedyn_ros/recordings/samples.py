# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Samples of joints as arrays, in the order of their stamps; remarks have what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array, as_numbers, listed
from liedyn_ros.common.errors import LimitError, NotFiniteError, ShapeError, StampError
from liedyn_ros.common.stamps import GAP_STEPS, LONGEST_GAP

Stamps = NDArray[np.int64]
MAX_LEFT_OUT = 0.1  # share of the samples that may be left out
SLOW_PERIOD = 0.5  # s between samples, from which times without a unit are in doubt
UNIT_SAMPLES = 30  # samples, in which a unit shows
MAX_LEAP = 3.0  # steps of two samples, which a step of one does not exceed: a motion goes on
LEAP_NS = 86400 * 10**9  # between two samples: they are not of one clock


@dataclass(frozen=True, eq=False)
class JointSamples:
    """
    Samples of joints by names: time (n,) s since start_ns, position, velocity, effort (n, joints).

    Units are SI: rad or m, rad/s or m/s, N m or N. velocity and effort are None where they were
    not recorded. remarks say what was left out or put in order. starts are the times at which
    recordings begin that were joined. factors: to SI, of the positions of a table, else none.
    silent are joints without an effort where others have one.

    >>> JointSamples(('elbow',), 0, np.zeros(1), np.ones((1, 1)), None, None).starts
    (0.0,)
    """

    names: tuple[str, ...]
    start_ns: int
    time: Array
    position: Array
    velocity: Array | None
    effort: Array | None
    remarks: tuple[str, ...] = ()
    starts: tuple[float, ...] = (0.0,)
    factors: tuple[float, ...] = ()
    silent: tuple[str, ...] = ()


def samples_of(where: str, names: Sequence[str], stamps: Stamps, position: Array,
               velocity: Array | None, effort: Array | None, remarks: Sequence[str] = (),
               asked: Sequence[str] = (), silent: Sequence[str] = ()) -> JointSamples:
    """
    Return samples whose stamps (n,) ns increase and whose numbers are finite.

    Late samples are put in their place, and repeated stamps and rows with NaN are left out, up to
    FEW of all. A velocity or an effort with more NaN is None, with a remark, unless it was asked
    for. Raises ShapeError for none, StampError and NotFiniteError for more than that, and
    StampError for stamps of several clocks. where names the source, silent joints without efforts.
    """
    notes = list(remarks)
    if effort is not None and len(effort):
        silent = [name for name, each in zip(names, effort.T) if np.isnan(each).all()]
    blocks = {'position': position, 'velocity': velocity, 'effort': effort}
    for kind in ('velocity', 'effort'):
        fault = None if kind in asked else _many_gaps(kind, names, blocks[kind])
        if fault is not None:
            blocks[kind] = None
            notes.append(f'{kind} not read: {fault[1]}')
    count = len(stamps)
    if count == 0:
        raise ShapeError(f'{where}: expected samples of {listed(list(names))}, got none')
    keep = _finite(where, names, blocks, notes)
    order = np.flatnonzero(keep)
    order = order[_in_order(where, stamps[order], notes)]
    stamps = stamps[order]
    first = int(stamps[0])
    chosen = {name: None if block is None else np.ascontiguousarray(block[order])
              for name, block in blocks.items()}
    positions = chosen['position']
    if positions is None:
        raise ShapeError(f'{where}: expected positions, got none')
    _require_one_source(where, names, positions)
    return JointSamples(tuple(names), first, (stamps - first) / 1e9, positions,
                        chosen['velocity'], chosen['effort'], tuple(notes),
                        silent=tuple(silent) if len(silent) < len(names) else ())


def joined(runs: Sequence[JointSamples]) -> JointSamples:
    """
    Return the samples of several runs of the same joints, one after the other with gaps between.

    velocity and effort are None where a run has none.
    """
    if len(runs) == 1:
        return runs[0]
    times, begin = list[Array](), 0.0
    for run in runs:
        times.append(run.time + begin)
        steps = np.diff(run.time)
        usual = float(np.median(steps)) if len(steps) else 0.0
        begin = float(times[-1][-1]) + 2.0 * max(LONGEST_GAP, GAP_STEPS * usual)

    def block(kind: str) -> Array | None:
        found = [getattr(run, kind) for run in runs]
        return None if any(each is None for each in found) else np.concatenate(found)

    position = block('position')
    if position is None:
        raise ShapeError('recording: expected positions, got none')
    return JointSamples(
        runs[0].names, runs[0].start_ns, np.concatenate(times), position, block('velocity'),
        block('effort'), tuple(f'recording {k}: {each}' for k, run in enumerate(runs, 1)
                               for each in run.remarks),
        tuple(float(each[0]) for each in times),
        silent=tuple(dict.fromkeys(name for run in runs for name in run.silent)))


def stamps_of_seconds(where: str, time: Array) -> Stamps:
    """Return stamps in ns of times in s. Raises NotFiniteError or StampError."""
    time = as_numbers(f'{where}: time', time)
    if not np.isfinite(time).all():
        at = int(np.argmin(np.isfinite(time)))
        raise NotFiniteError(f'{where}: expected a time in row {at + 1}, got {time[at]}')
    if np.abs(time).max(initial=0.0) > 9e9:
        raise StampError(f'{where}: expected times in s, got {np.abs(time).max():.6g}: another '
                         'unit? Name it')
    return np.round(1e9 * time).astype(np.int64)


def require_seconds(where: str, time: Array) -> None:
    """Raise StampError where times (n,) without a unit are so far apart that they are no s."""
    usual = float(np.median(np.abs(np.diff(time)))) if len(time) >= UNIT_SAMPLES else 0.0
    if not usual > SLOW_PERIOD:
        return
    fits = next((unit for unit, factor in (('ms', 1e-3), ('us', 1e-6))
                 if usual * factor <= SLOW_PERIOD),
                'ns')
    raise StampError(f'{where}: expected times in s, got steps of {usual:.4g}: name the unit '
                     f'in the header, as "time [{fits}]", or "time [s]" for s; or, to a command '
                     f'with such an option, as --unit time={fits}')


def _require_one_source(where: str, names: Sequence[str], position: Array) -> None:
    """Raise LimitError where every second sample is of another motion."""
    if len(position) < UNIT_SAMPLES:
        return
    steps = [np.abs(position[k:] - position[:-k]) for k in (1, 2)]
    (one, two), means = ([of(each, axis=0) for each in steps] for of in (np.median, np.mean))
    # By means too, and of more than two positions: a joint may rest between two counts.
    apart = (one > MAX_LEAP * two) & (means[0] > MAX_LEAP * means[1]) & np.array(
        [len(np.unique(each)) > 2 for each in position.T])
    if apart.any():
        name = names[int(apart.argmax())]
        raise LimitError(
            f'{where}: expected one motion of {name}, got positions that leap by '
            f'{float(one[apart.argmax()]):.4g} back and forth between samples: do two nodes '
            'publish the topic? Record each alone', names=(name,))


def _many_gaps(kind: str, names: Sequence[str], block: Array | None) -> tuple[str, str] | None:
    """Return the joint that has more than FEW numbers that are not finite, and how many."""
    if block is None:
        return None
    bad = ~np.isfinite(block)
    share = bad.mean(axis=0)
    if not (share > MAX_LEFT_OUT).any():
        return None
    worst = int(share.argmax())
    return names[worst], (f'{kind} of {names[worst]} with {100.0 * share[worst]:.3g} % NaN or '
                          f'infinite, the first in sample {int(bad[:, worst].argmax())}')


def _finite(where: str, names: Sequence[str], blocks: dict[str, Array | None],
            notes: list[str]) -> NDArray[np.bool_]:
    """Return whether samples are finite."""
    keep: NDArray[np.bool_] | None = None
    for kind, block in blocks.items():
        if block is None:
            continue
        fault = _many_gaps(kind, names, block)
        if fault is not None:
            raise NotFiniteError(f'{where}: expected numbers, got {fault[1]}', names=fault[:1])
        bad = ~np.isfinite(block)
        whole = np.logical_not(bad.any(axis=1))
        keep = whole if keep is None else keep & whole
    if keep is None:
        raise ShapeError(f'{where}: expected numbers, got none')
    left = int((~keep).sum())
    if left > MAX_LEFT_OUT * len(keep):
        raise NotFiniteError(f'{where}: expected numbers, got {left} of {len(keep)} samples with '
                             'NaN or infinities')
    if left:
        notes.append(f'{left} of {len(keep)} samples left out: NaN or infinite')
    return keep


def _in_order(where: str, stamps: Stamps, notes: list[str]) -> NDArray[np.intp]:
    """Return the order of increasing stamps, without repeated ones."""
    steps = np.diff(stamps)
    leaps = np.abs(steps) > LEAP_NS
    if leaps.any():
        at = int(leaps.argmax())
        raise StampError(f'{where}: expected stamps of one clock, got {stamps[at]} ns and then '
                         f'{stamps[at + 1]} ns, at sample {at + 1}')
    late = int((steps < 0).sum())
    if late > MAX_LEFT_OUT * len(stamps):
        raise StampError(f'{where}: expected stamps in order, got {late} of {len(stamps)} before '
                         'the one that came earlier: two publishers or two clocks?')
    order = np.argsort(stamps, kind='stable')
    if late:
        notes.append(f'{late} samples came late and were put in their place')
    fresh = np.concatenate([[True], np.diff(stamps[order]) > 0])
    repeated = int((~fresh).sum())
    if repeated > MAX_LEFT_OUT * len(stamps):
        raise StampError(f'{where}: expected a new stamp with each sample, got {repeated} of '
                         f'{len(stamps)} that repeat the one before')
    if repeated:
        notes.append(f'{repeated} samples with the stamp of another left out')
    return order[fresh]
