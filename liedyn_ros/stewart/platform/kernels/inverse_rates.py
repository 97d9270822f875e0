# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How the rates of a twist change with the pose (11.4)."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, VECTOR
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.platform.kernels import leg_rows, leg_types, legs

RATES_DIFFERENCE = 1e-5  # of differences, rad and m


@kernel
def jacobian_change(
        joints: VECTOR, pose: MATRIX, twist: VECTOR, change: VECTOR, jacobian: VECTOR) -> None:
    """
    Write d(J twist)/d(pose), n by 6, row by row; jacobian: (6 n,), a workspace.

    A leg's rate is u . s, with its unit vector u and the velocity s of its platform joint. Where u
    changes by P s, with P symmetric, the rate changes by P s times the joint's shift, less u x s
    times its turn. Legs whose ends move with the pose have that by differences.
    """
    r, p = split(pose)
    w, v = vec3.load(twist, 0), vec3.load(twist, 3)
    closed, rows = True, leg_rows.has_rows(joints)
    if rows:
        for i in range(leg_rows.count_legs(joints)):
            kind = joints[leg_rows.row_at(joints, i) + leg_rows.KIND]
            closed &= kind == leg_rows.STRUT or kind == leg_rows.WIRE
        if not closed:
            rates_change(joints, r, p, twist, change, jacobian)
        leg_types.write_leg_ends(joints, r, p)
    for i in range(leg_rows.count_legs(joints)):
        at = leg_rows.row_at(joints, i)
        kind = joints[at + leg_rows.KIND] if rows else leg_rows.STRUT
        if kind != leg_rows.STRUT and kind != leg_rows.WIRE:
            continue
        b, leg = legs.platform_joint(joints, i), mat3.apply_t(r, legs.leg_vector(joints, i, r, p))
        s = vec3.add(v, vec3.cross(w, b))
        size = vec3.dot(leg, leg) ** 0.5
        u = vec3.scale(1.0 / size, leg)
        across = vec3.scale(1.0 / size, vec3.axpy(-vec3.dot(u, s), u, s))
        if kind == leg_rows.WIRE:
            across = mat3.apply_t(r, direction_change(
                joints[at:at + leg_rows.ROW], mat3.apply(r, u), size,
                vec3.add(mat3.apply(r, b), p), mat3.apply(r, s)))
        vec3.store(change, 6 * i, vec3.sub(vec3.cross(b, across), vec3.cross(u, s)))
        vec3.store(change, 6 * i + 3, across)


@kernel
def direction_change(row, u, length, tip, velocity):
    """
    Return how the direction u of the free wire changes as its platform joint moves (14.43).

    It rolls on its pulley in the plane of the two. The plane turns about the axis of the swivel.
    length: of all the wire. All are in the base frame.
    """
    s = vec3.load(row, leg_rows.FIRST_UNIT)
    w = vec3.sub(tip, vec3.load(row, leg_rows.BASE))
    side = vec3.axpy(-vec3.dot(w, s), s, w)
    far = vec3.dot(side, side) ** 0.5
    b = vec3.scale(1.0 / far, vec3.cross(s, side))
    n, out = vec3.cross(u, b), vec3.dot(u, side) / far
    return vec3.axpy(vec3.dot(n, velocity) / (length - row[leg_rows.END_SHIFT]), n,
                     vec3.scale(out * vec3.dot(b, velocity) / far, b))


@kernel
def rates_change(joints, r, p, twist, change, jacobian):
    """Write d(J twist)/d(pose) by differences, of legs whose ends move with the pose."""
    n = leg_rows.count_legs(joints)
    for k in range(6):
        for i in range(n):
            change[6 * i + k] = 0.0
        for side in (-1.0, 1.0):
            step = side * RATES_DIFFERENCE
            w = (step * (k == 0), step * (k == 1), step * (k == 2))
            v = (step * (k == 3), step * (k == 4), step * (k == 5))
            moved_r, moved_p = se3.compose(r, p, *se3.exp(w, v))
            leg_types.value_jacobian(joints, moved_r, moved_p, legs.BY_BODY_TWIST, jacobian)
            for i in range(n):
                for j in range(6):
                    change[6 * i + k] += 0.5 / step * jacobian[6 * i + j] * twist[j]
