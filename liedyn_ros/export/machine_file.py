# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The parts that all files `.liedyn` have.

All numbers are of eight bytes, little endian. The header is HEADER of them. First are the bytes
'LIEDYN' CR LF, the version of the format, the digest of the layout, and the length of the file.
Then come the CRC-32 of all bytes after the header, the kind of machine (TREE, PLATFORM or
LOOPS), the number of sections, and zero.

Then follow four numbers for each section: its first byte, its length in bytes, its rows, zero.
Sections begin at multiples of 64 bytes. A section of names has texts in UTF-8, each ended by a
zero byte.
"""

from collections.abc import Sequence
import struct
import zlib

from liedyn_ros.common.errors import ModelError
from liedyn_ros.export.functions import layout

MAGIC, TREE, PLATFORM, LOOPS, HEADER = b'LIEDYN\r\n', 1, 2, 3, 8
Section = tuple[bytes, int]  # its bytes and its number of rows
_ALIGNMENT = 64  # bytes


def file_bytes(kind: int, sections: Sequence[Section]) -> bytes:
    """Return the header and the sections of a kind of machine."""
    index, body, start = [], b'', 8 * (HEADER + 4 * len(sections))
    for content, rows in sections:
        body += bytes(-(start + len(body)) % _ALIGNMENT)
        index.append(struct.pack('<4q', start + len(body), len(content), rows, 0))
        body += content
    rest = b''.join(index) + body
    rest += bytes(-len(rest) % _ALIGNMENT)
    return MAGIC + struct.pack(
        '<7q', layout.VERSION, layout.DIGESTS[kind - 1], 8 * HEADER + len(rest),
        zlib.crc32(rest), kind, len(sections), 0) + rest


def texts(names: Sequence[str]) -> Section:
    """Return a section of names; raise ModelError for one with a zero byte."""
    for name in names:
        if '\0' in name:
            raise ModelError(f'{name!r}: expected a name without a zero byte')
    return b''.join(name.encode() + b'\0' for name in names), len(names)
