# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Symmetric 3 by 3 matrices as tuples of six floats: xx, xy, xz, yy, yz, zz."""

from liedyn_ros.jit.decorators import inlined


@inlined
def add(a, b):
    """Return A + B."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@inlined
def trace(a):
    """Return the trace of A."""
    return a[0] + a[3] + a[5]


@inlined
def apply(a, x):
    """Return A x."""
    return (a[0] * x[0] + a[1] * x[1] + a[2] * x[2],
            a[1] * x[0] + a[3] * x[1] + a[4] * x[2],
            a[2] * x[0] + a[4] * x[1] + a[5] * x[2])


@inlined
def rotate(r, a):
    """Return R A R^T (1.17)."""
    x, y, z = apply(a, r[0:3]), apply(a, r[3:6]), apply(a, r[6:9])  # columns of A R^T
    return (r[0] * x[0] + r[1] * x[1] + r[2] * x[2],
            r[0] * y[0] + r[1] * y[1] + r[2] * y[2],
            r[0] * z[0] + r[1] * z[1] + r[2] * z[2],
            r[3] * y[0] + r[4] * y[1] + r[5] * y[2],
            r[3] * z[0] + r[4] * z[1] + r[5] * z[2],
            r[6] * z[0] + r[7] * z[1] + r[8] * z[2])


@inlined
def minus_outer(a, s, x):
    """Return A - s x x^T, as in (3.10)."""
    y = (s * x[0], s * x[1], s * x[2])
    return (a[0] - y[0] * x[0], a[1] - y[0] * x[1], a[2] - y[0] * x[2],
            a[3] - y[1] * x[1], a[4] - y[1] * x[2], a[5] - y[2] * x[2])
