# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether a small pivot (3.10) is an inertia, or the rounding error of larger ones."""

import math

from liedyn_ros.dynamics.algorithms.kernels import articulated
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.tables import (
    GAIN, INVERSE_PIVOT, KIND, LINKS, load3, load9, PARENT, PITCH, PIVOT_MARGIN, POSITION,
    ROTATION, SEEN_SCREW, store3)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get, get_int, put
from liedyn_ros.lie.kernels import se3, vec3

MIN_PIVOT = 1e-13  # relative to the inertia of the subtree: below is rounding


@inlined
def store_factor(data, row, pivot, smallest, gm, gf):
    """Write gain, inverse pivot and margin of a coordinate; return the inverse pivot."""
    inverse_pivot = 1.0 / pivot
    put(data, row, PIVOT_MARGIN, pivot - smallest)
    put(data, row, INVERSE_PIVOT, inverse_pivot)
    store3(data, row, GAIN, gm)
    store3(data, row, GAIN + 3, gf)
    return inverse_pivot


@inlined
def is_principal(gm, gf):
    """
    Return whether the gain Ihat S of a coordinate has one entry alone, along S, or none.

    The axis is then principal through the centre of mass, without rounding: moments of other axes,
    however large, leave nothing in the pivot. Without an entry the pivot is the armature.
    """
    count = 0
    for x in (gm[0], gm[1], gm[2], gf[0], gf[1], gf[2]):
        count += x != 0.0
    return count <= 1


@inlined
def is_lost(model, data, i, k, pivot, smallest, gm, gf):
    """Return whether a pivot is too small beside the smallest allowed, and by its rounding."""
    return pivot <= smallest and not (
        is_principal(gm, gf) and exceeds_rounding(model, data, i, k, pivot))


@kernel
def exceeds_rounding(model, data, i, k, pivot):
    """
    Return whether a pivot of link i exceeds the rounding of the inertia about its axis.

    The inertia is the sum of |S|^T |Ihat| |S| over link i and all that it carries. S is the screw
    of coordinate k, seen from each link. This bounds the rounding of sums (Higham, 3.1).
    """
    w, v = joints.screw(get_int(model, i, KIND), get(model, i, PITCH), k)
    total = magnitude(data, i, w, v)
    for j in range(i + 1, get_int(model, 0, LINKS)):
        parent = get_int(model, j, PARENT)
        if parent < i:
            w, v = vec3.ZERO, vec3.ZERO  # link i does not carry it
        else:
            w, v = se3.adjoint_inverse(
                load9(data, j, ROTATION), load3(data, j, POSITION),
                load3(data, parent, SEEN_SCREW), load3(data, parent, SEEN_SCREW + 3))
        total += magnitude(data, j, w, v)
    return pivot > MIN_PIVOT * total


@inlined
def magnitude(data, j, w, v):
    """Keep the screw (w, v) of link j; return a bound of |S|^T |Ihat| |S|."""
    store3(data, j, SEEN_SCREW, w)
    store3(data, j, SEEN_SCREW + 3, v)
    a, _, c = articulated.load(data, j)  # no entry exceeds the root of two diagonal ones
    size = (abs(w[0]) * root(a[0]) + abs(w[1]) * root(a[3]) + abs(w[2]) * root(a[5])
            + abs(v[0]) * root(c[0]) + abs(v[1]) * root(c[3]) + abs(v[2]) * root(c[5]))
    return size * size


@inlined
def root(x):
    """Return the root of an entry of a diagonal, zero for one that is negative by rounding."""
    return math.sqrt(max(x, 0.0))
