# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Leg vectors, leg lengths and their Lie derivatives.

The joints are a table of `leg_rows`: base joints a_i (base frame), then platform joints b_i
(platform frame). The pose (r, p) is of the platform in the base.
"""

import numpy as np

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, TRUTH, VECTOR, WHOLE
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.lie.kernels.words import is_like, stamp_of
from liedyn_ros.stewart.platform.kernels.leg_rows import count_legs

BY_BODY_TWIST = 0  # T <- T exp(s), twist in the platform frame
BY_SPATIAL_TWIST = 1  # T <- exp(s) T, twist in the base frame


@kernel
def base_joint(joints, i):
    """Return a_i."""
    return vec3.load(joints, 3 * i)


@kernel
def platform_joint(joints, i):
    """Return b_i."""
    return vec3.load(joints, 3 * (count_legs(joints) + i))


@kernel
def leg_vector(joints, i, r, p):
    """Return R b_i + p - a_i, from base joint to platform joint, in the base frame."""
    tip = vec3.add(mat3.apply(r, platform_joint(joints, i)), p)
    return vec3.sub(tip, base_joint(joints, i))


@kernel
def leg_screw(joints, i, r, d, trivialization):
    """
    Return (moment, force) of a unit force along leg vector d; twice it is a row of J.

    With d in the platform frame, b x d_b is the moment part of (Stewart 22, 24). With d in the
    base frame, a x d = a x (R b + p) is that of (Stewart 23).
    """
    if trivialization == BY_BODY_TWIST:
        d_b = mat3.apply_t(r, d)
        return vec3.cross(platform_joint(joints, i), d_b), d_b  # (11.2)
    return vec3.cross(base_joint(joints, i), d), d  # (11.3)


@kernel
def lengths(joints, r, p, out):
    """Write how long the legs are (Stewart 16)."""
    for i in range(count_legs(joints)):
        d = leg_vector(joints, i, r, p)
        out[i] = vec3.dot(d, d) ** 0.5


@kernel
def squared_residual(joints, squared, r, p, out):
    """Write r_i = |R b_i + p - a_i|^2 - L_i^2 (Stewart 17)."""
    for i in range(count_legs(joints)):
        d = leg_vector(joints, i, r, p)
        out[i] = vec3.dot(d, d) - squared[i]


@kernel
def squared_jacobian(joints, r, p, out):
    """Write the n by 6 derivative of the squared lengths by the body twist, row by row."""
    for i in range(count_legs(joints)):
        m, f = leg_screw(joints, i, r, leg_vector(joints, i, r, p), BY_BODY_TWIST)
        vec3.store(out, 6 * i, vec3.scale(2.0, m))
        vec3.store(out, 6 * i + 3, vec3.scale(2.0, f))


@kernel
def length_jacobian(joints, r, p, trivialization, out):
    """Write dL/d(twist), n by 6, row by row: unit screws along the legs (11.4)."""
    for i in range(count_legs(joints)):
        d = leg_vector(joints, i, r, p)
        m, f = leg_screw(joints, i, r, d, trivialization)
        inverse_length = 1.0 / vec3.dot(d, d) ** 0.5
        vec3.store(out, 6 * i, vec3.scale(inverse_length, m))
        vec3.store(out, 6 * i + 3, vec3.scale(inverse_length, f))


@kernel
def of_positions(scales, offsets, order, positions, lengths):
    """
    Write the lengths of n actuators; return whether their positions are finite.

    order: where the position of each leg's actuator stands.
    """
    usable = True
    for i in range(len(order)):
        position = positions[order[i]]
        usable &= np.isfinite(position)
        lengths[i] = offsets[i] + scales[i] * position
    return usable


@kernel
def read_message(
        scales: VECTOR, offsets: VECTOR, still: VECTOR, order: INTEGERS, words: INTEGERS,
        like: INTEGERS, mask: INTEGERS, numbers: VECTOR, first: WHOLE, rated: TRUTH,
        velocities: WHOLE, lengths: VECTOR, rates: VECTOR):
    """
    Write lengths and rates of n actuators from a message; return its stamp, ns, and its use.

    words, like, mask: of `is_like`; numbers: those of the message, of which `first` begins the
    positions and, where it is rated, `velocities` begins these. still: (n,) zeros. A message is of
    no use if it is of another kind, or has a number that is not finite.
    """
    usable = is_like(words, like, mask) and of_positions(
        scales, offsets, order, numbers[first:], lengths)
    if usable and rated:
        usable = of_positions(scales, still, order, numbers[velocities:], rates)
    return stamp_of(words), usable


@kernel
def admit(limits: MATRIX, lengths: VECTOR, rates: VECTOR, admitted: VECTOR):
    """
    Copy n lengths; return whether they and n rates may be used.

    Lengths are positive and within their limits (n, 2), rates are finite; NaN is neither.
    """
    if not len(lengths) == len(rates) == len(limits):
        return False
    usable = True
    for i in range(len(limits)):
        usable &= 0.0 < lengths[i] < np.inf and limits[i, 0] <= lengths[i] <= limits[i, 1]
        usable &= np.isfinite(rates[i])
        admitted[i] = lengths[i]
    return usable
