# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The numbers of the messages about a sample: pose, twist, and a usual status."""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, VECTOR, WHOLE
from liedyn_ros.lie.kernels import motion
from liedyn_ros.lie.kernels.words import SECOND
from liedyn_ros.stewart.certificate.kernels import pose as certificate
from liedyn_ros.stewart.tracking.kernels.follower import (
    FOUND_GAP, FOUND_ITERATIONS, FOUND_RESIDUAL, FOUND_SIGN, FOUND_SOURCE, FOUND_START,
    FOUND_TWIST, FOUND_VALUE, SOLVE_TIME, UNTIL)

STAMP_NUMBERS = 2  # s and ns, before all others
# The fields of a StewartStatus as `write_status` has them; of them `length` is six numbers and
# `error_bound` six. With more legs than six their further lengths follow.
STATUS = (
    'start', 'iterations', 'residual', 'smallest_singular_value', 'solve_time', 'length',
    'flags', 'determinant_sign', 'expected_determinant_sign', 'prediction_gap',
    'time_to_singularity', 'error_radius', 'uniqueness_radius', 'error_bound', 'age',
    'passed_over', 'branch_source')

PROVED_PARTS = 0, 1, 3, 4, 5, 6, 7, 8  # of what is proved: two radii and six bounds


@kernel
def write_stamp(values, stamp_ns):
    """Write a stamp, ns, as messages have it."""
    values[0], values[1] = stamp_ns // SECOND, stamp_ns % SECOND


@kernel
def write_pose(values: VECTOR, stamp_ns: WHOLE, pose: MATRIX) -> None:
    """Write the numbers of a PoseStamped of a pose (4, 4), m."""
    write_stamp(values, stamp_ns)
    numbers = motion.position_quaternion(pose)
    for k in range(7):
        values[STAMP_NUMBERS + k] = numbers[k]


@kernel
def write_twist(values: VECTOR, stamp_ns: WHOLE, found: VECTOR):
    """Write the numbers of a TwistStamped; return whether a twist was found."""
    write_stamp(values, stamp_ns)
    for k in range(3):
        values[STAMP_NUMBERS + k] = found[FOUND_TWIST + 3 + k]
        values[STAMP_NUMBERS + 3 + k] = found[FOUND_TWIST + k]
    return not math.isnan(found[FOUND_TWIST])


@kernel
def write_status(
        values: VECTOR, known: VECTOR, work: VECTOR, stamp_ns: WHOLE, lengths: VECTOR,
        pose: MATRIX, found: VECTOR, flags: WHOLE, age: NUMBER, passed_over: WHOLE):
    """
    Write the numbers of the status of a good pose (4, 4), m; return whether it is certified.

    known, work: of certificate.certify; known is empty where there are no certificates. lengths:
    (n,), m or rad. flags, age (s), passed_over: as the status has them.
    """
    write_stamp(values, stamp_ns)
    at, value, one_branch = STAMP_NUMBERS, found[FOUND_VALUE], len(lengths) > 6
    for number in (found[FOUND_START], found[FOUND_ITERATIONS], found[FOUND_RESIDUAL], abs(value),
                   found[SOLVE_TIME], lengths[0], lengths[1], lengths[2], lengths[3], lengths[4],
                   lengths[5], 1.0 * flags):
        values[at] = number
        at += 1
    for number in (math.copysign(1.0, value), found[FOUND_SIGN], found[FOUND_GAP], found[UNTIL]):
        values[at] = 0.0 if one_branch else number
        at += 1
    certified = False
    if len(known) > 0:
        certificate.certify(known, lengths, pose, work)
        certified = not math.isnan(work[certificate.PROVED_RADII])
    for k in PROVED_PARTS:
        values[at] = work[certificate.PROVED_RADII + k] if certified else 0.0
        at += 1
    values[at], values[at + 1], values[at + 2] = age, passed_over, found[FOUND_SOURCE]
    for k in range(6, len(lengths)):
        values[at + k - 3] = lengths[k]
    return certified
