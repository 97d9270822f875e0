# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Joint states of a bag as arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import NameSetError, ShapeError, StampError
from liedyn_ros.recordings.bags.bag import Bag
from liedyn_ros.recordings.bags.joint_state_layout import (
    JointStateLayout, JointStateMessage, SECOND_NS)
from liedyn_ros.recordings.bags.publishers import merged, Publisher
from liedyn_ros.recordings.bags.table_bag import TableBag
from liedyn_ros.recordings.samples import JointSamples, samples_of

JOINT_STATE_TYPE = 'sensor_msgs/msg/JointState'
JOINT_QUANTITIES = 'position', 'velocity', 'effort'
AnyBag = Bag | TableBag
KEPT_NAMINGS = 4  # of names, whose messages are read by their places
PUBLISHERS = 20  # of a topic, whose messages are merged


def joint_state_messages(bag: AnyBag, topic: str | None = None) -> Iterator[JointStateMessage]:
    """
    Yield the JointStates of a topic or the rows of a table; see Bag.topic.

    Those whose names were seen before are read by the places of their numbers.
    """
    if isinstance(bag, TableBag):
        yield from bag.joint_states(bag.topic(topic, JOINT_STATE_TYPE))
        return
    layouts = list[JointStateLayout]()
    for raw in bag.raw_messages([bag.topic(topic, JOINT_STATE_TYPE)]):
        for layout in layouts:
            if (found := layout.read(raw.data)) is not None:
                yield JointStateMessage(found[0], raw.received_ns, layout.names, *found[1:])
                break
        else:
            message = bag.read(raw)
            if message is None:
                continue
            stamp, names = message.header.stamp, list(message.name)
            if len(layouts) < KEPT_NAMINGS:
                layouts += JointStateLayout.of(raw.data, names)
            yield JointStateMessage(
                stamp.sec * SECOND_NS + stamp.nanosec, raw.received_ns, names,
                *(getattr(message, kind) for kind in JOINT_QUANTITIES))


def joint_samples(bag: Bag, names: Sequence[str], topic: str | None = None, *,
                  arrival: bool = False) -> JointSamples:
    """
    Return the samples of named joints, from the messages that have all of them.

    Where none has all, as of several publishers each with its joints, they are merged by time.

    The stamps are those of the headers; with arrival the times at which the recorder got them.
    A quantity that a message leaves out is None in the result. Raises NameSetError for joints
    that are missing, StampError, NotFiniteError and ShapeError as samples_of does.
    """
    return samples_of_messages(bag, joint_state_messages(bag, topic), names, topic,
                               arrival=arrival)


def samples_of_messages(bag: AnyBag, messages: Iterable[JointStateMessage], names: Sequence[str],
                        topic: str | None = None, *, arrival: bool = False) -> JointSamples:
    """
    Return the joint samples of some messages of a bag.

    Where no message has all of the joints, those of several publishers are merged by time.
    """
    wanted, where = list(names), f'{bag.path}: {topic or "joint states"}'
    rows = {kind: array('d') for kind in JOINT_QUANTITIES}
    stamps = array('q')
    others, seen, order = 0, dict[str, None](), dict[tuple[str, ...], list[int] | None]()
    parts = dict[tuple[str, ...], Publisher]()
    for each in messages:
        key = tuple(each.names)
        if key not in order:
            seen.update(dict.fromkeys(key))
            order[key] = ([key.index(name) for name in wanted]
                          if set(wanted) <= set(key) else None)
        at = order[key]
        if at is None:
            others += 1
            if key not in parts and len(parts) < PUBLISHERS:
                parts[key] = Publisher(key, wanted)
            if key in parts and not stamps:
                parts[key].add(each, arrival)
            continue
        stamps.append(each.received_ns if arrival else each.stamp_ns)
        for kind in JOINT_QUANTITIES:
            values = getattr(each, kind)
            if len(values) not in (0, len(key)):
                raise ShapeError(f'{where}: expected a {kind} for each of {len(key)} names, got '
                                 f'{len(values)} at {each.received_ns} ns')
            rows[kind].extend(values[at] if len(values) else ())
    if not stamps:
        missing = [name for name in wanted if name not in seen]
        if missing:
            raise NameSetError(f'{where}: expected {listed(wanted)}, got {listed(list(seen))}: '
                               f'{listed(missing)} are missing'
                               + ''.join(f'; {loss}' for loss in bag.losses),
                               names=tuple(missing))
        return merged(where, wanted, list(parts.values()), [str(loss) for loss in bag.losses])
    if not arrival and not np.any(stamps):
        raise StampError(f'{where}: expected stamps in the headers, got 0 in all: take the times '
                         'of arrival (arrival=True, --arrival)')
    blocks = {kind: _block(where, kind, rows[kind], len(stamps), len(wanted))
              for kind in JOINT_QUANTITIES}
    position = blocks['position']
    if position is None:
        raise ShapeError(f'{where}: expected positions, got none')
    remarks = [f'{others} messages without all of these joints left out'] if others else []
    return samples_of(where, wanted, np.array(stamps, dtype=np.int64), position,
                      blocks['velocity'], blocks['effort'],
                      [*remarks, *(str(loss) for loss in bag.losses)])


def _block(where: str, kind: str, values: array[float], count: int, joints: int
           ) -> Array | None:
    if not values:
        return None
    if len(values) != count * joints:
        raise ShapeError(f'{where}: expected {kind} in all of {count} messages, got it in '
                         f'{len(values) // joints}')
    return np.array(values).reshape(count, joints)
