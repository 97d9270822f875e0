# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether numbers are acceptable: finite, and quaternions of unit length."""

import math

from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.memory import rows_of
from liedyn_ros.lie.kernels.tolerance import TOLERANCE
from liedyn_ros.model.kernels.kinds import FREE, SPHERICAL


@inlined
def finite(x):
    """Return whether all entries are finite; an array of several axes must be contiguous."""
    count, entries = 0, x
    if x.ndim > 1:
        entries = rows_of(x, 0, 1, x.size)[0]
    for k in range(len(entries)):
        count += abs(entries[k]) < math.inf
    return count == len(entries)


@inlined
def are_unit(kind, qi, q):
    """Return whether the quaternions of all links are of unit length."""
    good = True
    for i in range(len(kind)):
        good = good and is_unit(kind[i], q, qi[i])
    return good


@inlined
def is_unit(kind, q, qi):
    """Return whether the quaternion of a link, if it has one, is of unit length."""
    if kind < SPHERICAL:
        return True
    at = qi + (3 if kind == FREE else 0)
    square = q[at]**2 + q[at + 1]**2 + q[at + 2]**2 + q[at + 3]**2
    return abs(math.sqrt(square) - 1.0) <= TOLERANCE
