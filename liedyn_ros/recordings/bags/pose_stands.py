# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Stands of a platform in a bag: mean readings of its legs, and mean measurements there."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import LimitError, NameSetError
from liedyn_ros.recordings.bags.bag import Bag
from liedyn_ros.recordings.bags.joint_states import joint_samples
from liedyn_ros.recordings.pose_samples import checked, PoseSamples

STANDSTILL_TIME = 0.5  # s
SLOW_MOTION_RATIO = 3.0  # of what readings may move: a stand that goes on so far is a slow motion
NAN = float('nan')
# Position and orientation of a message, each of which may be missing.
POSE_READERS: Mapping[str, Callable[[Any], tuple[Any, Any]]] = {
    'geometry_msgs/msg/PoseStamped': lambda m: (m.pose.position, m.pose.orientation),
    'geometry_msgs/msg/PoseWithCovarianceStamped':
        lambda m: (m.pose.pose.position, m.pose.pose.orientation),
    'geometry_msgs/msg/TransformStamped':
        lambda m: (m.transform.translation, m.transform.rotation),
    'geometry_msgs/msg/PointStamped': lambda m: (m.point, None),
    'geometry_msgs/msg/QuaternionStamped': lambda m: (None, m.quaternion),
    'sensor_msgs/msg/Imu': lambda m: (None, m.orientation)}


class _Stream(NamedTuple):
    """Poses of a topic: stamps (n,), ns, positions (n, 3), m, and quaternions (n, 4)."""

    stamps: Array
    positions: Array
    quaternions: Array


def pose_stands(
        bag: Bag, names: Sequence[str], measured: Sequence[str], still: Array, *,
        topic: str | None = None, stand: float = STANDSTILL_TIME,
        arrival: bool = False) -> PoseSamples:
    """
    Return a sample of each standstill of a platform in a bag.

    Stands without a message of each measured topic are left out, with a remark.

    Args:
        bag: of the readings and measurements.
        names: of the joints that are the legs.
        measured: topics of the types of POSE_READERS.
        still: largest movement of readings during a standstill (n,); m, of cranks rad.
        topic: of the readings, by default the only one of JointState.
        stand: shortest standstill; s.
        arrival: take the times at which messages came.

    Returns:
        the samples.

    Raises:
        LimitError: for no standstill.
        NameSetError: for topics that are missing.

    >>> still = np.full(2, 100.0)  # of a platform at rest some micrometres
    >>> pose_stands(Bag(recorded), ['a', 'b'], [], still).readings.shape
    (1, 2)
    """
    legs = joint_samples(bag, names, topic, arrival=arrival)
    streams = _streams(bag, measured, arrival)
    stamps = legs.start_ns + np.round(1e9 * legs.time).astype(np.int64)
    rows: dict[str, list[Array]] = {name: [] for name in ('readings', *streams)}
    turns, drifted, unseen = list[Array](), 0, 0
    for begin, end in _stands(legs.time, legs.position, still, stand):
        readings = legs.position[begin:end]
        if (np.ptp(readings, axis=0) > SLOW_MOTION_RATIO * still).any():
            drifted += 1
            continue
        there = {name: (each.stamps >= stamps[begin]) & (each.stamps <= stamps[end - 1])
                 for name, each in streams.items()}
        if not all(each.any() for each in there.values()):
            unseen += 1
            continue
        rows['readings'].append(readings.mean(axis=0))
        for name, each in streams.items():
            rows[name].append(each.positions[there[name]].mean(axis=0))
            if np.isfinite(each.quaternions).any():
                turns.append(_mean_turn(each.quaternions[there[name]]))
    if not rows['readings']:
        raise LimitError(
            f'{bag.path}: expected standstills of {stand:g} s within {listed(still.tolist())} m '
            f'or rad, each measured on {listed(list(measured))}, got none: {drifted} moved '
            f'slowly, {unseen} were not measured. Stand still longer, or name other limits')
    remarks = [f'{count} standstills left out: {why}' for count, why in (
        (drifted, 'readings moved slowly'), (unseen, 'not measured')) if count]
    return checked(str(bag.path), PoseSamples(
        tuple(names), np.array(rows.pop('readings')),
        {name: np.array(each) for name, each in rows.items() if np.isfinite(each).any()},
        None, np.array(turns) if turns else None, (*legs.remarks, *remarks)))


def _streams(bag: Bag, measured: Sequence[str], arrival: bool) -> dict[str, _Stream]:
    """Return the poses of topics, by name. Raises NameSetError."""
    fitting = [name for name, kind in bag.topics.items() if kind in POSE_READERS]
    found = {}
    for wanted in measured:
        name = next((each for each in fitting if each.lstrip('/') == wanted.lstrip('/')), None)
        if name is None:
            raise NameSetError(
                f'{bag.path}: expected a topic of {listed(list(POSE_READERS))}, got {wanted!r}; '
                f'there are {listed(fitting)}', names=(wanted,))
        found[name] = array('q'), array('d')
    for each in bag.messages(found):
        stamps, numbers = found[each.topic]
        stamp = each.message.header.stamp
        stamps.append(each.received_ns if arrival else stamp.sec * 10**9 + stamp.nanosec)
        position, turn = POSE_READERS[bag.topics[each.topic]](each.message)
        numbers.extend((NAN,) * 3 if position is None else (position.x, position.y, position.z))
        numbers.extend((NAN,) * 4 if turn is None else (turn.x, turn.y, turn.z, turn.w))
    return {name: _Stream(np.array(stamps), *np.split(
        np.array(numbers).reshape(-1, 7), [3], axis=1)) for name, (stamps, numbers)
            in found.items()}


def _stands(time: Array, readings: Array, still: Array, stand: float) -> list[tuple[int, int]]:
    """Return first and last sample, exclusive, of the samples in calm windows."""
    if len(time) < 2:
        return []
    size = max(int(np.ceil(stand / float(np.median(np.diff(time))))) + 1, 2)
    if len(time) < size:
        return []
    spread = (maximum_filter1d(readings, size, axis=0, mode='nearest')
              - minimum_filter1d(readings, size, axis=0, mode='nearest'))
    calm = (spread <= still).all(axis=1)
    calm[:size // 2] = calm[len(calm) - (size - 1) // 2:] = False  # windows over the ends
    centres = np.flatnonzero(np.diff(np.concatenate(([0], calm.astype(int), [0]))))
    return [(int(begin) - size // 2, int(end) - 1 - size // 2 + size)
            for begin, end in centres.reshape(-1, 2)]


def _mean_turn(quaternions: Array) -> Array:
    """Return the mean (4,) of quaternions (n, 4) that are near one another."""
    signs = np.sign(quaternions @ quaternions[0])
    mean = (signs[:, None] * quaternions).mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean))
