# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The numbers in a message, whatever its type."""

from array import array
from functools import cache
from importlib import import_module
import math
from numbers import Integral

import numpy as np
from rosidl_parser.definition import NamespacedType

HEAD = 4  # bytes of a message before its numbers, which stand at multiples of their size
DOUBLE, WORD = np.dtype('<f8'), np.dtype('<u4')
SINGLES = np.array([0x7FC00000, 0xFFC00000], WORD)  # NaN of single precision


def assert_no_nan(message):
    """Require that no number of a message, at any depth, is NaN: bridges to JSON have none."""
    found = list(_nan(message, type(message).__name__))
    assert not found, f'expected numbers, got NaN in {found}'


def may_have_nan(serialized, message_type):
    """
    Return whether the bytes of a message may hold NaN, in single precision as arithmetic makes it.

    Half of a double may look like any other NaN of single precision. Other bytes, such as those of
    a text, may look like NaN too: then the message itself is asked.
    """
    def numbers(dtype):
        return np.frombuffer(serialized, dtype, (len(serialized) - HEAD) // dtype.itemsize, HEAD)

    return bool(np.isnan(numbers(DOUBLE)).any()
                or (_has_singles(message_type) and np.isin(numbers(WORD), SINGLES).any()))


@cache
def _has_singles(message_type):
    """Return whether a message has numbers of single precision, at any depth."""
    for kind in message_type.SLOT_TYPES:
        kind = getattr(kind, 'value_type', kind)
        if isinstance(kind, NamespacedType):
            if _has_singles(getattr(import_module('.'.join(kind.namespaces)), kind.name)):
                return True
        elif getattr(kind, 'typename', None) == 'float':
            return True
    return False


def _nan(value, path):
    """Yield the path of each NaN."""
    if isinstance(value, float):
        if math.isnan(value):
            yield path
    elif hasattr(value, 'get_fields_and_field_types'):
        for name in value.get_fields_and_field_types():
            yield from _nan(getattr(value, name), f'{path}.{name}')
    elif isinstance(value, (array, np.ndarray)):
        yield from (f'{path}[{index}]' for index in np.flatnonzero(np.isnan(value)))
    elif not isinstance(value, (str, bytes, Integral)):
        for index, entry in enumerate(value):
            yield from _nan(entry, f'{path}[{index}]')
