# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Messages as bytes: numbers written into a serialised message, and read out of one.

Filling and converting a message costs several times as much as sending its bytes. Where all but
some numbers stay the same, a message is serialised once and only the numbers are written. The
middleware's own serialisation shows their places. Both directions are compared with it once;
where they differ, messages are read and published as objects.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial, reduce
from itertools import repeat
from random import Random
import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rclpy.lifecycle import LifecyclePublisher
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.lie.kernels.words import is_like, SIZE_BITS, write_numbers
from liedyn_ros.ros.messages.conversions import nanoseconds

# Of struct
INTEGER_CODES = {'int8': 'b', 'uint8': 'B', 'uint16': 'H', 'int32': 'i', 'uint32': 'I'}
PLAIN_CDR = bytes((0, 1, 0, 0))  # the header of messages in plain CDR, lowest byte first
HEADER_SIZE, PADDING = 4, 3  # bytes of a header; in its last byte, those that end a message
LEAD = 4  # bytes before a message in words
AFTER_STAMP = 12  # bytes: the header of the encoding and the stamp
NANOSECONDS = 1_000_000_000  # ns
STAMP_FIELDS = 'header.stamp.sec', 'header.stamp.nanosec'  # fields of PackedMessage
READ_STAMP = struct.Struct('<iI').unpack_from
READ_COUNT = struct.Struct('<I').unpack_from
PROBES = 6  # of messages, at most, in which the places of numbers are looked for
MAX_KNOWN = 4  # kinds of JointStates that are read without being deserialised


class EncodingError(Exception):
    """The numbers of a message have no places of their own in its bytes."""


def require_body(raw: bytes) -> None:
    """
    Raise RuntimeError for bytes without the padding that their header declares.

    Fast CDR reads beyond the end of these, which can end the process.
    """
    if len(raw) < HEADER_SIZE or len(raw) < HEADER_SIZE + (raw[3] & PADDING):
        raise RuntimeError(f'expected a header and its padding, got {len(raw)} bytes')


class PackedMessage:
    """
    A message of which some numbers change, and nothing else.

    Fields are paths such as 'pose.position.x', or of an array, which keeps its size. `values` are
    their numbers, one after the other, in the order of the fields.
    """

    def __init__(self, message: Any, fields: Sequence[str]) -> None:
        """
        Find the numbers in the bytes of a message, which is left with zeros in the fields.

        Raises EncodingError where the bytes are not in the expected encoding.
        """
        found = [(begin, struct.calcsize('<' + code)) for begin, code in _find(message, fields)]
        _write(message, fields, repeat(0))
        raw = serialize_message(message)
        for begin, size in found:
            if (begin - HEADER_SIZE) % size or begin + size > len(raw):
                raise EncodingError(f'expected a number of {size} bytes, got its place {begin}')
        self._raw, numbers, words = room_of(raw)
        self.values = np.empty(len(found))
        self._put = BoundKernel(write_numbers, self.values, np.array(
            [begin + LEAD << SIZE_BITS | size for begin, size in found]), numbers, words).call
        self._compare(message, fields, [1 + k % 100 for k in range(len(found))])

    def _compare(self, message: Any, fields: Sequence[str], numbers: Sequence[int]) -> None:
        """Raise EncodingError unless the middleware reads packed numbers as they were."""
        _write(message, fields, numbers)
        try:
            read = deserialize_message(self.pack(numbers), type(message))
        except RuntimeError as error:
            raise EncodingError(f'packed bytes are refused: {error}') from error
        if read != message and repr(read) != repr(message):  # NaN differs from itself
            raise EncodingError(f'packed numbers: expected {message}, read {read}')
        _write(message, fields, repeat(0))

    def pack(self, numbers: Sequence[float] | Array) -> bytes:
        """Return the bytes of the message with these numbers, which may be its own values."""
        if numbers is not self.values:
            self.values[:] = numbers
        self._put()
        return bytes(self._raw)


class PackedPublisher:
    """
    Publishes a PackedMessage, at the middleware's own cost; numbers may be written to `values`.

    rclpy checks the type of each message; here it is known. In an unexpected encoding the message
    is filled and published as an object, and a warning names its type.
    """

    def __init__(self, publisher: LifecyclePublisher, message: Any, fields: Sequence[str]) -> None:
        """Take an open publisher, its message, and the fields that change."""
        self._publisher = publisher
        self._encode: Callable[[Sequence[float] | Array], Any]
        try:
            packed = PackedMessage(message, fields)
            self._encode, self.values = packed.pack, packed.values
            self._publish = publisher.handle.publish_raw
        except EncodingError as error:
            _warn_of_encoding(type(message).__name__, str(error))
            self._encode = partial(_filled, message, fields)
            self.values = np.empty(sum(len(_codes(*_field(message, path))) for path in fields))
            self._publish = publisher.publish
        self._count = publisher.handle.get_subscription_count

    @property
    def heard(self) -> bool:
        """Return whether anyone subscribes."""
        return self._count() > 0

    def listeners(self, node: Node) -> set[str]:
        """Return the names of the nodes that subscribe, as a node knows them; none too early."""
        known = node.get_subscriptions_info_by_topic(self._publisher.topic_name)
        return {each.node_name for each in known} if self._count() >= len(known) else set()

    def publish(self, numbers: Sequence[float] | Array) -> None:
        """Publish a message of these numbers, where the node is active."""
        if self._publisher.is_activated:
            self._publish(self._encode(numbers))


class JointReadings(NamedTuple):
    """
    The names and numbers of a JointState, and its time (ns); what it leaves out is empty.

    The arrays are those of the reader, until it reads the next message.
    """

    stamp_ns: int
    names: Sequence[str]
    positions: Array
    velocities: Array
    efforts: Array


class JointStateReader:
    """
    Reads JointStates from their bytes.

    A message that differs from an earlier one in its numbers alone is not deserialised.
    """

    def __init__(self, topic: str, names: Iterable[str] = ()) -> None:
        """Take the topic, for errors, and names that a remembered kind of message has to have."""
        self._topic, self._names = topic, {*names}
        self._known = deque[PackedJointState](maxlen=MAX_KNOWN)
        self.newest: PackedJointState | None = None  # of them

    def read(self, raw: bytes) -> JointReadings:
        """Return the readings in a message; raise LiedynError where its bytes are none."""
        for kind in self._known:
            if (readings := kind.read(raw)) is not None:
                return readings
        try:
            require_body(raw)
            message = deserialize_message(raw, JointState)
        except RuntimeError as error:  # RMWError is one
            raise LiedynError(
                f'{self._topic}: expected a serialised sensor_msgs/msg/JointState, '
                f'got {len(raw)} bytes that are none') from error
        if self._names <= {*message.name} and (new := PackedJointState.of(raw)) is not None:
            self._known.append(new)  # in place of the oldest
            self.newest = new
        return JointReadings(nanoseconds(message.header.stamp), message.name, *map(
            np.asarray, (message.position, message.velocity, message.effort)))


class PackedJointState:
    """
    The stamp and the numbers of JointStates that are alike in everything else.

    `of` learns from one message. `read` gives the numbers of a later one, or None where it is of
    another kind and has to be deserialised.
    """

    def __init__(self, names: list[str], raw: bytes, constant: Sequence[tuple[int, bytes]],
                 places: Sequence[tuple[int, int]]) -> None:
        """Take one message, what is constant and where, and places of numbers; see `of`."""
        self.names, self._size, ones = names, len(raw), bytearray(len(raw))
        self.counts = tuple(count for _, count in places)  # of positions, velocities, efforts
        for at, part in constant:
            ones[at:at + len(part)] = b'\xff' * len(part)
        self._copy, numbers, words = room_of(raw)
        # Words of a message, of the one that is known, and what of it is constant; and numbers
        self.tables = words, words.copy(), room_of(ones)[2], numbers
        self._is_known = BoundKernel(is_like, *self.tables[:3]).call
        self.places = tuple((at + LEAD) // 8 for at, _ in places)  # among the numbers
        self._positions, self._velocities, self._efforts = (
            numbers[at:][:count] for at, (_, count) in zip(self.places, places))

    @classmethod
    def of(cls, raw: bytes) -> 'PackedJointState | None':
        """
        Return the kind of a message, or None where it is not laid out as plain CDR.

        Padding between the parts is undefined (CDR aligns each part).
        """
        if raw[:4] != PLAIN_CDR:
            return None
        constant, at = [(0, PLAIN_CDR)], AFTER_STAMP
        try:
            at = _skip_string(raw, at, constant)
            at, count = _read_count(raw, at, constant)
            for _ in range(count):
                at = _skip_string(raw, at, constant)
            places = []
            for _ in ('position', 'velocity', 'effort'):
                at, count = _read_count(raw, at, constant)
                at = _aligned(at, 8) if count else at
                places.append((at, count))
                at += 8 * count
            kind = cls(list(deserialize_message(raw, JointState).name), raw, constant, places)
        except (struct.error, RuntimeError):  # shorter than it says
            return None
        return kind if kind.agrees_with(raw) else None

    def take(self, raw: bytes) -> bool:
        """Copy a message to the tables; return False where it has another size."""
        if len(raw) != self._size:
            return False
        self._copy[:] = raw
        return True

    def read(self, raw: bytes) -> JointReadings | None:
        """Return the numbers of a message until the next; None for another kind."""
        if not (self.take(raw) and self._is_known()):
            return None
        sec, nanosec = READ_STAMP(raw, 4)
        return JointReadings(sec * NANOSECONDS + nanosec, self.names, self._positions,
                             self._velocities, self._efforts)

    def agrees_with(self, raw: bytes) -> bool:
        """Return whether the middleware reads the same from a message."""
        message, found = deserialize_message(raw, JointState), self.read(raw)
        return found is not None and found.stamp_ns == nanoseconds(message.header.stamp) and all(
            got.tobytes() == np.array(expected, '<f8').tobytes() for got, expected in zip(
                found[2:], (message.position, message.velocity, message.effort)))


def room_of(raw: bytes | bytearray) -> tuple[memoryview, Array, NDArray[np.int64]]:
    """
    Return a copy of a message: its bytes, and its words as numbers and as whole numbers.

    CDR aligns numbers to the end of its header, 4 bytes: a copy that begins with the fifth byte
    of an array has them where numpy has its own.
    """
    numbers = np.zeros((LEAD + len(raw) + 7) // 8)
    copy = numbers.view(np.uint8).data[LEAD:LEAD + len(raw)]
    copy[:] = raw
    return copy, numbers, numbers.view(np.int64)


def _aligned(at: int, size: int) -> int:
    """Return the next place where a number of a size may stand; 4 bytes of header do not count."""
    return at + (4 - at) % size


def _read_count(raw: bytes, at: int, constant: list[tuple[int, bytes]]) -> tuple[int, int]:
    at = _aligned(at, 4)
    constant.append((at, raw[at:at + 4]))
    return at + 4, READ_COUNT(raw, at)[0]


def _skip_string(raw: bytes, at: int, constant: list[tuple[int, bytes]]) -> int:
    at, count = _read_count(raw, at, constant)
    constant.append((at, raw[at:at + count]))
    return at + count


def _field(message: Any, path: str) -> tuple[Any, str, str]:
    """Return the owner of a field, its name, and its type."""
    *owners, name = path.split('.')
    owner = reduce(getattr, owners, message)
    return owner, name, owner.get_fields_and_field_types()[name]


def _write(message: Any, fields: Sequence[str], numbers: Iterable[float]) -> None:
    """Write numbers into fields, one after the other; an array takes as many as it has entries."""
    rest = iter(numbers)
    for path in fields:
        owner, name, kind = _field(message, path)
        if kind in INTEGER_CODES:
            setattr(owner, name, int(next(rest)))
        elif kind == 'double':
            setattr(owner, name, float(next(rest)))
        else:
            values = getattr(owner, name)
            for k in range(len(values)):
                values[k] = float(next(rest))


def _filled(message: Any, fields: Sequence[str], numbers: Iterable[float]) -> Any:
    """Return a message with numbers in its fields."""
    _write(message, fields, numbers)
    return message


@cache
def _warn_of_encoding(message_type: str, reason: str) -> None:
    """Log once for each type that its messages are published as objects."""
    get_logger(__name__).warning(
        f'{message_type}: expected plain CDR, little endian; messages are published as objects, '
        f'which takes several times as long: {reason}')


def _find(message: Any, fields: Sequence[str]) -> list[tuple[int, str]]:
    """
    Return where the numbers of the fields stand in the bytes, and the code of struct for each.

    All of them are random, in several probes: a small one, and undefined padding, may have the
    bytes of another.
    """
    numbers = [(path, code) for path in fields for code in _codes(*_field(message, path))]
    random, places = Random(0), list[set[int]]()
    for _ in range(PROBES):
        probes = [struct.pack('<d', random.random()) if code == 'd'
                  else random.randbytes(struct.calcsize('<' + code)) for _, code in numbers]
        _write(message, fields, (struct.unpack('<' + code, probe)[0]
                                 for (_, code), probe in zip(numbers, probes)))
        raw = serialize_message(message)
        found = [_places(raw, probe) for probe in probes]
        places = [earlier & now for earlier, now in zip(places or found, found)]
        if all(len(each) < 2 for each in places):
            break
    for (path, _), each in zip(numbers, places):
        if len(each) != 1:
            raise EncodingError(
                f'{path}: expected one place in the bytes of the message, got {each}')
    return [(begin, code) for (begin,), (_, code) in zip(places, numbers)]


def _codes(owner: Any, name: str, kind: str) -> str:
    """Return the code of struct for each number of a field."""
    if kind == 'double' or kind in INTEGER_CODES:
        return INTEGER_CODES.get(kind, 'd')
    return 'd' * len(getattr(owner, name))


def _places(raw: bytes, wanted: bytes) -> set[int]:
    """Return where some bytes begin in others."""
    found, at = set[int](), raw.find(wanted)
    while at >= 0:
        found.add(at)
        at = raw.find(wanted, at + 1)
    return found
