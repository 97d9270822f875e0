# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Vectors of three floats as tuples: LLVM keeps them in registers."""

from liedyn_ros.jit.decorators import kernel

Vec3 = tuple[float, float, float]

ZERO: Vec3 = (0.0, 0.0, 0.0)


@kernel
def add(a, b):
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a, b):
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def neg(a):
    """Return -a."""
    return (-a[0], -a[1], -a[2])


@kernel
def scale(s, a):
    """Return the scalar s times a."""
    return (s * a[0], s * a[1], s * a[2])


@kernel
def axpy(s, a, b):
    """Return s a + b."""
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2])


@kernel
def dot(a, b):
    """Return the inner product of a and b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """Return a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def load(array, at):
    """Return the three entries of a flat array that start at an index."""
    return (array[at], array[at + 1], array[at + 2])


@kernel
def store(array, at, a):
    """Write a into a flat array from an index on."""
    array[at], array[at + 1], array[at + 2] = a
