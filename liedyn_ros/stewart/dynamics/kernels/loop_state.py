# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The state of platform_model that a pose and a body twist of the platform give (12.39)."""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, VECTOR
from liedyn_ros.lie.kernels import mat3, so3, vec3
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.platform.kernels.leg_rows import CRANK, ENDS
from liedyn_ros.stewart.platform.kernels.leg_types import leg_value, write_leg_ends

DONE, UNREACHED, DEAD_CENTRE = range(3)
MIN_TRANSMISSION = 1e-6  # of a drive: the cosine of the angle between a rod and its end's way

# Columns of a leg: its kind, the scale of its drive (m), the radius of a crank, the direction of a
# rail. Then axes, as columns: of the frame at its base joint, that of a crank at zero, and of its
# universal joint there. Then base joint, and platform joint in the platform.
(LEG_KIND, DRIVE_SCALE, RADIUS, DIRECTION, FRAME, JOINT_AXES, BASE_JOINT, PLATFORM_JOINT,
 LOOP_LEG_WIDTH) = 0, 1, 2, 3, 6, 15, 24, 27, 30


@kernel
def write_loop_state(
        legs: MATRIX, table: VECTOR, pose: MATRIX, twist: VECTOR, acceleration: VECTOR, q: VECTOR,
        v: VECTOR, a: VECTOR):
    """
    Write q (25,), v and a (24,) of platform_model.

    They are those at a pose (4, 4), a body twist (6,) and its rate (6,), the acceleration. legs is
    (6, LOOP_LEG_WIDTH); table is that of leg_types. Returns UNREACHED where a rod is too short.
    Returns DEAD_CENTRE plus the index of a leg whose drive does not move its rod's end along the
    rod.
    """
    r, p = split(pose)
    if len(table) > ENDS and not write_leg_ends(table, r, p):
        return UNREACHED
    vec3.store(q, 0, p)
    x, y, z, w = so3.to_quaternion(r)
    q[3], q[4], q[5], q[6] = x, y, z, w
    for k in range(6):
        v[k], a[k] = twist[k], acceleration[k]
    turn, slide = vec3.load(twist, 0), vec3.load(twist, 3)
    for i in range(6):
        leg = legs[i]
        frame, tip = mat3.load(leg, FRAME), vec3.load(leg, PLATFORM_JOINT)
        place = vec3.sub(vec3.add(mat3.apply(r, tip), p), vec3.load(leg, BASE_JOINT))
        speed = vec3.add(vec3.cross(turn, tip), slide)
        push = vec3.add(vec3.cross(vec3.load(acceleration, 0), tip), vec3.add(
            vec3.load(acceleration, 3), vec3.cross(turn, speed)))
        value = leg_value(table, i, r, p) if leg[LEG_KIND] != 0.0 else 0.0
        moved = (mat3.apply_t(frame, place), mat3.apply_t(frame, mat3.apply(r, speed)),
                 mat3.apply_t(frame, mat3.apply(r, push)))
        if not write_leg(leg, value, moved, q[7 + 3 * i:10 + 3 * i], v[6 + 3 * i:9 + 3 * i],
                         a[6 + 3 * i:9 + 3 * i]):
            return DEAD_CENTRE + i
    return DONE


@kernel
def write_leg(leg, value, moved, q, v, a):
    """
    Write the coordinates (3,) of a leg and their derivatives; return whether its drive moves it.

    moved are place, velocity and acceleration of the platform joint, in the frame at the base.
    """
    tip, speed, push = moved
    direction, rate, pull, at = vec3.load(leg, DIRECTION), 0.0, 0.0, 0
    turns = leg[LEG_KIND] == CRANK
    if turns:
        tip, speed, push = (seen_from_crank(value, tip), seen_from_crank(value, speed),
                            seen_from_crank(value, push))
    rod = vec3.sub(tip, vec3.axpy(value, direction, (leg[RADIUS], 0.0, 0.0)))
    length = math.sqrt(vec3.dot(rod, rod))
    if leg[LEG_KIND] != 0.0:
        at, way = 1, vec3.add(direction, (0.0, leg[RADIUS], 0.0))
        along = vec3.dot(rod, way)
        if not abs(along) / length / leg[DRIVE_SCALE] > MIN_TRANSMISSION:  # (14.34)
            return False
        rate = vec3.dot(rod, speed) / along
        if turns:  # as seen by the crank: the frame turns
            spin = (0.0, 0.0, rate)
            swept = vec3.cross(spin, tip)
            speed = vec3.sub(speed, swept)
            push = vec3.sub(push, vec3.add(
                vec3.cross(spin, swept), vec3.scale(2.0, vec3.cross(spin, speed))))
            way = vec3.cross((0.0, 0.0, 1.0), tip)
        else:
            speed = vec3.axpy(-rate, direction, speed)
        pull = (vec3.dot(rod, push) + vec3.dot(speed, speed)) / along  # the rod keeps its length
        push = vec3.axpy(-pull, way, push)
    axes = mat3.load(leg, JOINT_AXES)
    stretch, pulled = write_universal(length, mat3.apply_t(axes, rod), mat3.apply_t(axes, speed),
                                      mat3.apply_t(axes, push), q[at:], v[at:], a[at:])
    if at:
        q[0], v[0], a[0] = value, rate, pull
    else:
        q[2], v[2], a[2] = length, stretch, pulled
    return True


@kernel
def write_universal(length, rod, speed, push, q, v, a):
    """
    Write the two angles of a universal joint, their rates and accelerations.

    rod, and its derivatives, are in the axes of the joint. Returns those of its length.
    """
    x, y, z = vec3.scale(1.0 / length, rod)
    dx, dy, dz = vec3.scale(1.0 / length, speed)
    ddx, ddy, ddz = vec3.scale(1.0 / length, push)
    stretch = x * dx + y * dy + z * dz
    pulled = dx * dx + dy * dy + dz * dz + x * ddx + y * ddy + z * ddz - stretch * stretch
    across, square = math.hypot(y, z), y * y + z * z
    q[0], q[1] = math.atan2(-y, z), math.atan2(x, across)
    v[0], tilt = (y * dz - z * dy) / square, dx - x * stretch
    v[1] = tilt / across
    a[0] = (y * ddz - z * ddy - 2.0 * v[0] * (y * dy + z * dz)) / square
    a[1] = (ddx - x * pulled - 2.0 * tilt * stretch + x * v[1] * v[1]) / across
    return length * stretch, length * pulled


@kernel
def seen_from_crank(angle, x):
    """Return a vector in a frame that has turned about z."""
    c, s = math.cos(angle), math.sin(angle)
    return c * x[0] + s * x[1], c * x[1] - s * x[0], x[2]
