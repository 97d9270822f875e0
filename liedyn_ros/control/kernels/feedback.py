# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A tick of feedback on the few numbers of a machine, for which calls of numpy take longer."""

import math

from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, TRUTH, VECTOR, WHOLE
from liedyn_ros.lie.kernels import mat3, se3, so3, vec3
from liedyn_ros.lie.kernels.so3 import TOLERANCE
from liedyn_ros.model.kernels.configuration import finite

PUSH, PUSH_MEAN, PUSH_VARIANCE = 0, 1, 2  # rows of pushes
STRAY = 0.1  # rad and m, by which sensors may be off from one sample to the next


@kernel
def carry_reference(error: VECTOR, v: VECTOR, reference: MATRIX, out: MATRIX):
    """
    Write rate, velocity, acceleration and jerk (4, nv) of tracking_error.

    reference (3, nv) is its velocity, acceleration and jerk.
    """
    r, p = se3.exp(vec3.neg(vec3.load(error, 0)), vec3.neg(vec3.load(error, 3)))  # T^-1 T_ref
    velocity, carried = carried_by(r, p, reference[0]), carried_by(r, p, reference[1])
    jerk = carried_by(r, p, reference[2])
    rate = minus((vec3.load(v, 0), vec3.load(v, 3)), velocity)
    # d/dt of that product: d/dt Ad_{E^-1} = -ad_{rate} Ad_{E^-1} (0.7). The reference's velocity V
    # has ad_V V = 0 and ad_{v} - ad_V = ad_{rate}.
    acceleration = minus(carried, se3.ad(*rate, *velocity))
    both = vec3.add(carried[0], acceleration[0]), vec3.add(carried[1], acceleration[1])
    jerk = minus(jerk, se3.ad(*rate, *both))  # (8.9)
    put_twist(out[0], rate)
    put_twist(out[1], velocity)
    put_twist(out[2], acceleration)
    put_twist(out[3], jerk)
    for k in range(6, len(v)):
        out[0, k] = v[k] - reference[0, k]
        for i in range(3):
            out[i + 1, k] = reference[i, k]


@inlined
def carried_by(r, p, row):
    """Return Ad_T of the twist at the begin of a row."""
    return se3.adjoint(r, p, vec3.load(row, 0), vec3.load(row, 3))


@inlined
def minus(a, b):
    """Return the difference of two twists."""
    return vec3.sub(a[0], b[0]), vec3.sub(a[1], b[1])


@inlined
def put_twist(row, twist):
    """Write a twist at the begin of a row."""
    vec3.store(row, 0, twist[0])
    vec3.store(row, 3, twist[1])


@kernel
def feed_back(
        error: VECTOR, rate: VECTOR, gains: MATRIX, bounds: MATRIX, limit: NUMBER, dt: NUMBER,
        integral: VECTOR, out: VECTOR):
    """
    Write the acceleration back to the reference, and move the integral on by dt (s).

    gains (3, nv) of rate, error and integral, bounds (2, nv): the reach of errors, the authority.
    """
    for k in range(len(out)):
        counted = within(error[k], bounds[0, k])
        back = -gains[0, k] * rate[k] - gains[1, k] * counted
        if abs(back - integral[k]) <= bounds[1, k] and counted == error[k]:
            integral[k] += dt * gains[2, k] * error[k]
        integral[k] = within(integral[k], limit)
        out[k] = within(back - integral[k], bounds[1, k])


@inlined
def within(x, most):
    """Return a number within -most to most."""
    return min(max(x, -most), most)


@kernel
def stray_coordinate(
        moved: VECTOR, before: VECTOR, v: VECTOR, dt: NUMBER, speed: VECTOR, authority: VECTOR
        ) -> WHOLE:
    """
    Return the coordinate to which no motion leads from a state a time (s) before, else -1.

    Those of the velocity v (nv,) are counted from 0, those of moved (nv,), the way since then,
    from nv on. before is the velocity then.
    """
    for k in range(len(v)):
        if not abs(v[k] - before[k]) <= speed[k] + authority[k] * dt:
            return k
    for k in range(len(v)):
        fastest = max(abs(v[k]), abs(before[k])) + authority[k] * dt
        if not abs(moved[k]) <= STRAY + fastest * dt:
            return len(v) + k
    return -1


@kernel
def observe_push(
        q: VECTOR, v: VECTOR, before: VECTOR, wanted: VECTOR, short: VECTOR, gap: NUMBER,
        near: NUMBER, share: NUMBER, pushes: MATRIX) -> TRUTH:
    """
    Move the push on by its share of a gap (s) between two states, mean and variance by theirs.

    Returns whether q and v are good; otherwise nothing is moved.
    """
    if not (len(v) == len(before) and len(q) > len(v) and finite(v)):
        return False
    size = math.sqrt(q[3]**2 + q[4]**2 + q[5]**2 + q[6]**2)
    if not abs(size - 1.0) <= TOLERANCE:
        return False
    r = so3.from_quaternion((q[3] / size, q[4] / size, q[5] / size, q[6] / size))
    for at in (0, 3):
        found = beside(v, before, wanted, short, gap, at)
        turned = mat3.apply(r, found)
        for k in range(3):
            move_push(pushes, at + k, turned[k], near, share)
    for at in range(6, len(v)):
        move_push(pushes, at, (v[at] - before[at]) / gap - wanted[at] - short[at], near,
                  share)
    return True


@inlined
def beside(v, before, wanted, short, gap, at):
    """Return the acceleration from an index on beside the one that was wanted."""
    rise = vec3.scale(1.0 / gap, vec3.sub(vec3.load(v, at), vec3.load(before, at)))
    return vec3.sub(rise, vec3.add(vec3.load(wanted, at), vec3.load(short, at)))


@inlined
def move_push(pushes, k, found, near, share):
    """Move a coordinate's push towards what was found, then its mean and variance."""
    pushes[PUSH, k] += near * (found - pushes[PUSH, k])
    away = pushes[PUSH, k] - pushes[PUSH_MEAN, k]
    pushes[PUSH_MEAN, k] += share * away
    pushes[PUSH_VARIANCE, k] = (1.0 - share) * (pushes[PUSH_VARIANCE, k] + share * away**2)
