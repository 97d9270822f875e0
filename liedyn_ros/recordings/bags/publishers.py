# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Joint states of several publishers of one topic, each with its joints, merged by time."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import ShapeError, StampError
from liedyn_ros.common.stamps import GAP_STEPS, LONGEST_GAP
from liedyn_ros.recordings.bags.joint_state_layout import JointStateMessage
from liedyn_ros.recordings.samples import JointSamples, samples_of

_QUANTITIES = 'position', 'velocity', 'effort'


class Publisher:
    """The messages of one publisher, with the joints of these that they have."""

    def __init__(self, key: Sequence[str], wanted: Sequence[str]) -> None:
        """Start without messages; key are the names in each."""
        self.names = [name for name in wanted if name in key]
        self._at = [list(key).index(name) for name in self.names]
        self._stamps = array('q')
        self._rows = {kind: array('d') for kind in _QUANTITIES}

    def add(self, message: JointStateMessage, arrival: bool) -> None:
        """Add a message, at its stamp or its time of arrival."""
        if not self.names or not len(message.position):
            return
        self._stamps.append(message.received_ns if arrival else message.stamp_ns)
        for kind in _QUANTITIES:
            values = getattr(message, kind)
            self._rows[kind].extend(
                values[self._at] if len(values) == len(message.names) else ())

    def samples(self, where: str) -> JointSamples | None:
        """Return its samples, None without any; raises the errors of samples_of."""
        count = len(self._stamps)
        if not count:
            return None
        blocks = {kind: np.array(values).reshape(count, -1) if len(values) == count * len(
            self.names) else None for kind, values in self._rows.items()}
        position = blocks['position']
        if position is None:
            raise ShapeError(f'{where}: expected a position for each name, got another number')
        return samples_of(where, self.names, np.array(self._stamps, dtype=np.int64), position,
                          blocks['velocity'], blocks['effort'])


def merged(where: str, wanted: Sequence[str], parts: Sequence[Publisher], remarks: Sequence[str]
           ) -> JointSamples:
    """
    Return samples of all joints at the stamps of the publisher that sends least often.

    Numbers of the others are interpolated between the two samples around each stamp. Stamps
    before, behind or in a gap of another are left out. Raises ShapeError and StampError where no
    stamp is left, and the errors of samples_of.
    """
    chosen: dict[str, JointSamples] = {}
    for part in parts:
        samples = part.samples(where)
        if samples is not None:
            for name in part.names:
                if name not in chosen or len(samples.time) > len(chosen[name].time):
                    chosen[name] = samples
    lacking = [name for name in wanted if name not in chosen]
    if lacking:
        raise ShapeError(f'{where}: expected positions of {listed(lacking)}, got none',
                         names=tuple(lacking))
    sources = list({id(each): each for each in chosen.values()}.values())
    base = min(sources, key=lambda each: len(each.time))
    stamps = base.start_ns + np.round(1e9 * base.time).astype(np.int64)
    keep = np.all([_covered(each, stamps) for each in sources], axis=0)
    if not keep.any():
        raise StampError(f'{where}: expected publishers of {listed(list(wanted))} that overlap in '
                         'time, got none: take the times of arrival (arrival=True, --arrival)')

    def block(kind: str) -> Array | None:
        columns = []
        for name in wanted:
            source = chosen[name]
            values = getattr(source, kind)
            if values is None:
                return None
            between = _angles if kind == 'position' else np.interp
            columns.append(between((stamps[keep] - source.start_ns) / 1e9, source.time,
                                   values[:, source.names.index(name)]))
        return np.column_stack(columns)

    position = block('position')
    if position is None:
        raise ShapeError(f'{where}: expected positions, got none')
    notes = [f'{listed(list(each.names))} come in messages of their own, interpolated at the '
             f'stamps of {listed(list(base.names))}' for each in sources if each is not base]
    without = list[str]()
    for kind in _QUANTITIES:
        without = [name for name in wanted if getattr(chosen[name], kind) is None]
        if 0 < len(without) < len(wanted):
            notes.append(f'{kind} not read: {listed(without)} come without it')
    notes += [remark for each in sources for remark in each.remarks]
    left = int((~keep).sum())
    if left:
        notes.append(f'{left} samples left out, at which not all publishers sent')
    return samples_of(where, list(wanted), stamps[keep], position, block('velocity'),
                      block('effort'), [*notes, *remarks], silent=without)


def _covered(samples: JointSamples, stamps: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the stamps (ns) between samples, in no gap of theirs."""
    at = (stamps - samples.start_ns) / 1e9
    within = (at >= samples.time[0]) & (at <= samples.time[-1])
    if len(samples.time) > 1:
        steps = np.diff(samples.time)
        place = np.clip(np.searchsorted(samples.time, at) - 1, 0, len(steps) - 1)
        within &= steps[place] <= max(LONGEST_GAP, GAP_STEPS * float(np.median(steps)))
    return within


def _angles(at: Array, time: Array, values: Array) -> Array:
    """Return positions at other times, interpolated, by the short way where angles start anew."""
    turns = np.unwrap(values) - values if np.ptp(values) <= 2.0 * np.pi else np.zeros(len(values))
    before = np.searchsorted(time, at, side='right') - 1
    return np.asarray(np.interp(at, time, values + turns) - turns[before])
