# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where the numbers of a JointState stand in its bytes, as long as its names stay the same."""

from __future__ import annotations

from dataclasses import dataclass
import struct
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array

SECOND_NS = 1_000_000_000  # ns
_PLAIN = b'\x00\x01'  # the encoding of plain CDR, lowest byte first
_BODY, _AFTER_STAMP = 4, 12  # bytes: the header of the encoding, and the stamp after it
_PADDING = 3  # bytes at the end of a message, at most
_STAMP, _COUNT = struct.Struct('<iI').unpack_from, struct.Struct('<I').unpack_from
_NOTHING = np.empty(0)


class JointStateMessage(NamedTuple):
    """
    A JointState of a bag: its stamp (ns), time of arrival (ns), names, and their numbers.

    position, velocity and effort are read only, and empty where the message has none.
    """

    stamp_ns: int
    received_ns: int
    names: list[str]
    position: Array
    velocity: Array
    effort: Array


@dataclass(frozen=True)
class JointStateLayout:
    """JointStates of one frame and of these names, whose bytes are equal up to the positions."""

    names: list[str]
    common: bytes

    @classmethod
    def of(cls, data: bytes, names: list[str]) -> list[JointStateLayout]:
        """Return the layout of a message with these names; nothing where bytes are others."""
        if data[:2] != _PLAIN:
            return []
        try:
            end = _after_text(data, _AFTER_STAMP)
            count, = _COUNT(data, end)
            end += 4
            if count != len(names):
                return []
            for name in names:
                begin, end = end + 4, _after_text(data, end)
                if not data.startswith(name.encode() + b'\0', begin):
                    return []
        except struct.error:
            return []
        found = cls(names, data[_AFTER_STAMP:end])
        return [] if found.read(data) is None else [found]

    def read(self, data: bytes) -> tuple[int, Array, Array, Array] | None:
        """Return stamp (ns), positions, velocities and efforts; None for other bytes."""
        if not data.startswith(self.common, _AFTER_STAMP) or not data.startswith(_PLAIN):
            return None
        at, blocks = _AFTER_STAMP + len(self.common), []
        for _ in range(3):
            if at + 4 > len(data):
                return None
            count, = _COUNT(data, at)
            at += 4
            if count:
                at += (_BODY - at) % 8
                if at + 8 * count > len(data):
                    return None
                blocks.append(np.frombuffer(data, '<f8', count, at))
                at += 8 * count
            else:
                blocks.append(_NOTHING)
        if len(data) > at + _PADDING:
            return None
        second, nanosecond = _STAMP(data, _BODY)
        return second * SECOND_NS + nanosecond, *blocks


def _after_text(data: bytes, at: int) -> int:
    """Return where the number behind a text begins."""
    size, = _COUNT(data, at)
    end = at + 4 + int(size)
    return end + -end % 4
