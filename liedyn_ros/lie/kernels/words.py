# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Numbers in the bytes of messages, which are words of eight bytes here.

A message in plain CDR begins with the fifth byte of an array: behind the four bytes of its header
it has numbers of eight bytes where words are. `words` and `numbers` are the same memory, as whole
numbers and as floats.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, VECTOR

STAMP_WORD = 1  # seconds in the lower half, with a sign, and nanoseconds
SECOND = 1_000_000_000  # ns
SIZE_BITS = 4  # of a place: the size of a number in bytes; above them the byte where it stands


@kernel
def is_like(words: INTEGERS, like: INTEGERS, mask: INTEGERS):
    """Return whether a message has the bits of another one where a mask has ones."""
    other = 0
    for k in range(len(words)):
        other |= (words[k] ^ like[k]) & mask[k]
    return other == 0


@kernel
def stamp_of(words):
    """Return the stamp of a message, ns."""
    word = words[STAMP_WORD]
    return (word << 32 >> 32) * SECOND + (word >> 32 & (1 << 32) - 1)


@kernel
def write_numbers(values: VECTOR, places: INTEGERS, numbers: VECTOR, words: INTEGERS) -> None:
    """Write values into a message, each to its place; those of less than eight bytes are whole."""
    for k in range(len(places)):
        at, size = places[k] >> SIZE_BITS, places[k] & (1 << SIZE_BITS) - 1
        if size == 8:
            numbers[at >> 3] = values[k]
        else:
            shift, ones = 8 * (at & 7), (1 << 8 * size) - 1
            words[at >> 3] = words[at >> 3] & ~(ones << shift) | (int(values[k]) & ones) << shift
