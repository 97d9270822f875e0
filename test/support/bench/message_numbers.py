# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The numbers in a message, whatever its type."""

from array import array
import math
from numbers import Integral

import numpy as np

HEAD = 4  # bytes of a message before its numbers, which stand at multiples of their size
SINGLE = np.dtype('<f4')


def assert_no_nan(message):
    """Require that no number of a message, at any depth, is NaN: bridges to JSON have none."""
    found = list(_nan(message, type(message).__name__))
    assert not found, f'expected numbers, got NaN in {found}'


def may_have_nan(serialized):
    """
    Return whether the bytes of a message may hold NaN, of a double or a float.

    The high half of a double NaN is one of a float. A low half, or a text, may look like one too:
    so the message itself is asked then.
    """
    count = (len(serialized) - HEAD) // SINGLE.itemsize
    return bool(np.isnan(np.frombuffer(serialized, SINGLE, count, HEAD)).any())


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
