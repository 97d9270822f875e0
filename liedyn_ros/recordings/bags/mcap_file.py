# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Messages of an MCAP file, one after the other; of a damaged one, all that can be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
import struct
from typing import Any, BinaryIO, NamedTuple
import zlib

import lz4.frame
from mcap.data_stream import ReadDataStream
from mcap.exceptions import EndOfFile, InvalidMagic, McapError
from mcap.opcode import Opcode
from mcap.reader import make_reader
from mcap.records import Channel, Chunk, Message, Schema
from mcap.stream_reader import StreamReader
from mcap.summary import Summary
import zstandard

from liedyn_ros.common.errors import DescriptionError

MAGIC = b'\x89MCAP0\r\n'
_RECORD, _MESSAGE = struct.Struct('<BQ'), struct.Struct('<HIQQ')
_CHUNK = struct.Struct('<QQQII')  # times, size, checksum, length of the compression's name
_FAULTS = McapError, ValueError, struct.error, MemoryError, zstandard.ZstdError, RuntimeError


class RawMessage(NamedTuple):
    """A message as it was recorded: topic, type, time of arrival (ns), its bytes, definition."""

    topic: str
    type_name: str
    received_ns: int
    data: bytes
    schema: Schema | None


@dataclass(frozen=True)
class Loss:
    """What of a file could not be read, in words, and why."""

    file: str
    what: str
    reason: str

    def __str__(self) -> str:
        """Return one line for a report."""
        return f'{self.file}: {self.what}: {self.reason}'


class McapFile:
    """
    A file whose records are read from its beginning, without its index.

    A chunk with a wrong checksum is left out, and of one that is cut off the beginning is read.
    Channels that such a chunk had are those of the summary. losses tells so after `messages` has
    ended; it is empty for a whole file.
    """

    def __init__(self, path: Path) -> None:
        """Look at the first bytes. Raises DescriptionError for a file of another kind."""
        self.path, self.losses = path, list[Loss]()
        with path.open('rb') as stream:
            begin = stream.read(len(MAGIC))
        if begin != MAGIC:
            raise DescriptionError(
                f'{path}: expected an MCAP file, got '
                f'{"an empty file" if not begin else f"one that begins with {begin!r}"}')

    def listing(self) -> dict[str, tuple[str, int]]:
        """Return type and number of messages by topic: of the index, or by reading the file."""
        summary = self._summary()
        if summary is not None and summary.statistics is not None and summary.channels:
            counts = summary.statistics.channel_message_counts
            found = [(each.topic, summary.schemas[each.schema_id].name, counts.get(key, 0))
                     for key, each in summary.channels.items()
                     if each.schema_id in summary.schemas]
        else:
            found = [(raw.topic, raw.type_name, 1) for raw in self.messages()]
        result = dict[str, tuple[str, int]]()
        for topic, type_name, count in found:
            result[topic] = type_name, count + result.get(topic, ('', 0))[1]
        return result

    def _summary(self) -> Summary | None:
        with self.path.open('rb') as stream:
            try:
                return make_reader(stream).get_summary()
            except _FAULTS:
                return None

    def messages(self) -> Iterator[RawMessage]:
        """Yield the messages in the order of the file."""
        self.losses.clear()
        summary = self._summary() or Summary()
        self._schemas, self._channels = summary.schemas, summary.channels
        self._nameless = 0
        yield from self._in_order()
        if self._nameless:
            self.losses.append(Loss(self.path.name, f'{self._nameless} messages lost',
                                    'what names their topics is damaged'))

    def _in_order(self) -> Iterator[RawMessage]:
        size = self.path.stat().st_size
        with self.path.open('rb') as stream:
            reader = StreamReader(stream, emit_chunks=True).records
            while True:
                at = stream.tell()
                try:
                    record = next(reader)
                except StopIteration:
                    return
                except EndOfFile:
                    self._lose(at, size - at, 'the file ends there')
                    yield from self._cut_off(stream, at)
                    return
                except (*_FAULTS, InvalidMagic) as error:
                    self._lose(at, size - at, f'expected a record, got {error}')
                    return
                yield from self._of_record(record, at)

    def _lose(self, at: int, size: int, reason: str) -> None:
        self.losses.append(Loss(self.path.name, f'{size} bytes lost from byte {at}', reason))

    def _of_record(self, record: Any, at: int) -> Iterator[RawMessage]:
        if isinstance(record, Schema):
            self._schemas[record.id] = record
        elif isinstance(record, Channel):
            self._channels[record.id] = record
        elif isinstance(record, Message):
            yield from self._message(record.channel_id, record.log_time, record.data)
        elif isinstance(record, Chunk):
            try:
                data = _expanded(record.data, record.compression)
                if record.uncompressed_crc and zlib.crc32(data) != record.uncompressed_crc:
                    raise ValueError('wrong checksum')
            except _FAULTS as error:
                self._lose(at, len(record.data), f'chunk of {record.message_start_time} to '
                           f'{record.message_end_time} ns: {error}')
            else:
                yield from self._in_chunk(data)

    def _cut_off(self, stream: BinaryIO, at: int) -> Iterator[RawMessage]:
        """Yield the messages at the beginning of a chunk that is not there to its end."""
        stream.seek(at)
        rest = stream.read()
        begin = _RECORD.size + _CHUNK.size
        if len(rest) < begin or rest[0] != Opcode.CHUNK:
            return
        *_, name_size = _CHUNK.unpack_from(rest, _RECORD.size)
        if len(rest) < begin + name_size + 8:
            return
        compression = rest[begin:begin + name_size].decode(errors='replace')
        try:
            data = _expanded(rest[begin + name_size + 8:], compression)
        except _FAULTS:
            return
        yield from self._in_chunk(data)

    def _in_chunk(self, data: bytes) -> Iterator[RawMessage]:
        end = 0
        while end + _RECORD.size <= len(data):
            opcode, size = _RECORD.unpack_from(data, end)
            begin = end + _RECORD.size
            end = begin + size
            if end > len(data):
                return
            if opcode == Opcode.MESSAGE:
                channel, _, log_time, _ = _MESSAGE.unpack_from(data, begin)
                yield from self._message(channel, log_time, data[begin + _MESSAGE.size:end])
            elif opcode == Opcode.SCHEMA:
                schema = Schema.read(ReadDataStream(BytesIO(data[begin:end])))
                self._schemas[schema.id] = schema
            elif opcode == Opcode.CHANNEL:
                found = Channel.read(ReadDataStream(BytesIO(data[begin:end])))
                self._channels[found.id] = found

    def _message(self, channel: int, log_time: int, data: bytes) -> Iterator[RawMessage]:
        known = self._channels.get(channel)
        if known is None:
            self._nameless += 1
            return
        schema = self._schemas.get(known.schema_id)
        if known.message_encoding != 'cdr':
            raise DescriptionError(f'{self.path}: expected messages of ROS 2 (cdr) on '
                                   f'{known.topic}, got {known.message_encoding!r}')
        yield RawMessage(known.topic, '' if schema is None else schema.name, log_time, data,
                         schema)


def _expanded(data: bytes, compression: str) -> bytes:
    """Return the content of a chunk, or as much of it as there is."""
    if not compression:
        return data
    if compression == 'zstd':
        return bytes(zstandard.ZstdDecompressor().decompressobj().decompress(data))
    if compression == 'lz4':
        return bytes(lz4.frame.LZ4FrameDecompressor().decompress(data))
    raise ValueError(f'expected compression by zstd or lz4, got {compression!r}')
