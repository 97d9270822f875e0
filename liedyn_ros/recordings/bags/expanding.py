# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Compressed parts of bags, expanded no further than the bags of recorders are."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import lz4.frame
import zstandard

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
