# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Messages of an MCAP file, even a damaged one; no compressed part is expanded too far."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
import re
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
from liedyn_ros.common.untrusted_files import open_regular

MAX_CHUNK_BYTES = 2**28  # bytes of a chunk or message: some hundred pictures
MAX_EXPANSION = 1000  # of all that a file expands to and its size, beyond MAX_CHUNK_BYTES
WINDOW = 2**27  # bytes that a decompressor may hold
BLOCK_BYTES = 2**20


class Expander:
    """Expands the parts of one file; raises ValueError where they are too large, or damaged."""

    def __init__(self, size: int) -> None:
        """Take the size of the file, bytes."""
        self._left = MAX_CHUNK_BYTES + MAX_EXPANSION * size

    def expand(self, data: bytes, compression: str, cut: bool = False) -> bytes:
        """Return the content of a part; cut: as much of it as there is."""
        if not compression:
            return data
        most = min(MAX_CHUNK_BYTES, self._left)
        if compression == 'zstd':
            with zstandard.ZstdDecompressor(max_window_size=WINDOW).stream_reader(
                    BytesIO(data), read_across_frames=True) as reader:
                found = _read(reader, most + 1, cut)
        elif compression == 'lz4':
            found = bytes(lz4.frame.LZ4FrameDecompressor().decompress(data, most + 1))
        else:
            raise ValueError(f'expected compression by zstd or lz4, got {compression!r}')
        if len(found) > most:
            raise ValueError(f'expected a part of at most {most} bytes, got a larger one')
        self._left -= len(found)
        return found

    def expand_file(self, path: Path, place: Path) -> None:
        """Write the expanded bytes of a file of zstd to a place."""
        decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW)
        with open_regular(path) as packed, place.open('wb') as file:
            for block in _blocks(decompressor, packed):
                self._left -= len(block)
                if self._left < 0:
                    raise ValueError(f'expected a file that expands to at most {MAX_EXPANSION} '
                                     f'times its '
                                     'size, got more')
                file.write(block)


def _read(reader: BinaryIO, most: int, cut: bool) -> bytes:
    """Return at most so many bytes, those before an error where the part is cut off."""
    blocks, size = list[bytes](), 0
    try:
        while size < most and (block := reader.read(min(BLOCK_BYTES, most - size))):
            blocks.append(block)
            size += len(block)
    except zstandard.ZstdError:
        if not cut:
            raise
    return b''.join(blocks)


def _blocks(decompressor: zstandard.ZstdDecompressor, packed: BinaryIO) -> Iterator[bytes]:
    with decompressor.stream_reader(packed, read_across_frames=True) as reader:
        while block := reader.read(BLOCK_BYTES):
            yield block


MCAP_MAGIC = b'\x89MCAP0\r\n'
_RECORD, _MESSAGE = struct.Struct('<BQ'), struct.Struct('<HIQQ')
_CHUNK = struct.Struct('<QQQII')  # times, size, checksum, length of the compression's name
_FAULTS = (McapError, ValueError, struct.error, MemoryError, zstandard.ZstdError, RuntimeError,
           OSError, OverflowError)
_RECORD_FAULTS = McapError, ValueError, struct.error
# A message of less than 2^24 bytes, by the first bytes of its record.
_PLAUSIBLE = re.compile(rb'\x05...\0\0\0\0\0', re.DOTALL)
MAX_DAMAGED_PLACES = 50  # places of damage that are reported one by one
RECORDS = 1_000_000, 2  # messages of a file, and more for each of its bytes


class RawMessage(NamedTuple):
    """A message as it was recorded: topic, type, time of arrival (ns), its bytes, definition."""

    topic: str
    type_name: str
    received_ns: int
    data: bytes
    schema: Schema | None


@dataclass(frozen=True)
class Loss:
    """
    Loss of a part of a file: what could not be read, in words, and the reason.

    >>> Bag(recorded).losses
    []
    """

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
        with _opened(path) as stream:
            begin = stream.read(len(MCAP_MAGIC))
        if begin != MCAP_MAGIC:
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
        with _opened(self.path) as stream:
            try:
                return make_reader(stream).get_summary()
            except _FAULTS:
                return None

    def messages(self) -> Iterator[RawMessage]:
        """Yield the messages in the order of the file."""
        self.losses.clear()
        summary = self._summary() or Summary()
        self._schemas, self._channels = summary.schemas, summary.channels
        self._nameless = self._places = 0
        size = self.path.stat().st_size
        self._expander, self._left = Expander(size), RECORDS[0] + RECORDS[1] * size
        yield from self._in_order(sorted(
            each.chunk_start_offset for each in summary.chunk_indexes
            if each.chunk_start_offset < size))
        if self._places > MAX_DAMAGED_PLACES:
            self.losses.append(Loss(
                self.path.name, f'bytes lost at {self._places - MAX_DAMAGED_PLACES} more places',
                'damage'))
        if self._nameless:
            self.losses.append(Loss(self.path.name, f'{self._nameless} messages lost',
                                    'what names their topics is damaged'))

    def _in_order(self, chunks: list[int]) -> Iterator[RawMessage]:
        """Yield the messages; behind a damaged record from the index's next chunk."""
        size = self.path.stat().st_size
        with _opened(self.path) as stream:
            reader = StreamReader(stream, emit_chunks=True).records
            while True:
                at = stream.tell()
                later = next(islice(chunks, bisect_right(chunks, at), None), None)
                try:
                    record = next(reader)
                    if later is not None and stream.tell() > later:
                        raise ValueError('a record that ends behind the next one')
                except (*_FAULTS, InvalidMagic, StopIteration) as error:
                    if later is None and isinstance(error, StopIteration):
                        return
                    self._lose(at, (size if later is None else later) - at, (
                        'the file ends there' if isinstance(error, EndOfFile) else
                        f'expected a record, got {error}'))
                    if later is None:
                        yield from self._cut_off(stream, at)
                        return
                    stream.seek(later)
                    reader = StreamReader(stream, skip_magic=True, emit_chunks=True).records
                else:
                    yield from self._of_record(record, at)

    def _lose(self, at: int, size: int, reason: str) -> None:
        self._places += 1
        if self._places <= MAX_DAMAGED_PLACES:
            self.losses.append(Loss(
                self.path.name, f'{size} bytes lost from byte {at}', reason))

    def _of_record(self, record: Any, at: int) -> Iterator[RawMessage]:
        if isinstance(record, Schema):
            self._schemas[record.id] = record
        elif isinstance(record, Channel):
            self._channels[record.id] = record
        elif isinstance(record, Message):
            yield from self._message(record.channel_id, record.log_time, record.data)
        elif isinstance(record, Chunk):
            try:
                data = self._expander.expand(record.data, record.compression)
                if record.uncompressed_crc and zlib.crc32(data) != record.uncompressed_crc:
                    raise ValueError('wrong checksum')
            except _FAULTS as error:
                self._lose(at, len(record.data), f'chunk of {record.message_start_time} to '
                           f'{record.message_end_time} ns: {error}')
            else:
                yield from self._in_chunk(data, at)

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
            data = self._expander.expand(rest[begin + name_size + 8:], compression, cut=True)
        except _FAULTS:
            return
        yield from self._in_chunk(data, at)

    def _in_chunk(self, data: bytes, at: int) -> Iterator[RawMessage]:
        """Yield the messages of a chunk; behind a damaged record from the next plausible one."""
        begin = 0
        while begin + _RECORD.size <= len(data):
            opcode, size = _RECORD.unpack_from(data, begin)
            inside, end = begin + _RECORD.size, begin + _RECORD.size + size
            try:
                if end > len(data):
                    raise ValueError('a record that ends behind the chunk')
                raw = self._in_record(opcode, data, inside, end)
            except _RECORD_FAULTS as error:
                found = (each.start() for each in _PLAUSIBLE.finditer(data, begin + 1)
                         if self._is_message(data, each.start()))
                end = next(found, len(data))
                self._lose(at, end - begin, f'in its chunk: {error}')
            else:
                yield from raw
            begin = end

    def _in_record(self, opcode: int, data: bytes, begin: int, end: int) -> Iterator[RawMessage]:
        """Return the message of a record, or none; raise an error for what no chunk has."""
        if opcode == Opcode.MESSAGE:
            channel, _, log_time, _ = _MESSAGE.unpack_from(data[begin:end])
            return self._message(channel, log_time, data[begin + _MESSAGE.size:end])
        if opcode == Opcode.SCHEMA:
            schema = Schema.read(ReadDataStream(BytesIO(data[begin:end])))
            self._schemas[schema.id] = schema
        elif opcode == Opcode.CHANNEL:
            found = Channel.read(ReadDataStream(BytesIO(data[begin:end])))
            self._channels[found.id] = found
        else:
            raise ValueError(f'expected a record of a chunk, got {opcode:#x}')
        return iter(())

    def _is_message(self, data: bytes, at: int) -> bool:
        """Return whether bytes look like the record of a message of a channel that is known."""
        size, begin = _RECORD.unpack_from(data, at)[1], at + _RECORD.size
        return _MESSAGE.size <= size <= len(data) - begin and (
            _MESSAGE.unpack_from(data, begin)[0] in self._channels)

    def _message(self, channel: int, log_time: int, data: bytes) -> Iterator[RawMessage]:
        self._left -= 1
        if self._left < 0:
            raise DescriptionError(f'{self.path}: expected at most {RECORDS[1]} messages for each '
                                   'byte of the file, got more')
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


def _opened(path: Path) -> BinaryIO:
    """Open a regular file, or raise DescriptionError that names it."""
    try:
        return open_regular(path)
    except DescriptionError as error:
        raise DescriptionError(f'{path}: {error}') from error
