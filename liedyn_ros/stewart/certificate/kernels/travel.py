# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The cells of a travel that is proved to be regular: of the lengths in each, one pose is right.

A travel is one array: least readings, widths and numbers of cells, six of each; the centre of the
platform joints (3,), m; then of each cell a pose near that of its lengths (3, 4), m, and the
distance within which there is no other (14.6), m. It is empty where nothing is proved.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, TRIPLE
from liedyn_ros.lie.kernels import mat3, motion, so3, vec3

CELL_WIDTHS, CELL_COUNTS, TRAVEL_CENTRE, CELLS = 6, 12, 18, 21
CELL_UNIQUE, CELL_SIZE = 12, 13


@kernel
def cell_at(travel, lengths):
    """Return where the cell of lengths (6,) begins."""
    index = 0
    for i in range(6):
        width, count = travel[CELL_WIDTHS + i], int(travel[CELL_COUNTS + i])
        step = (lengths[i] - travel[i]) / (width if width > 0.0 else 1.0)
        index = count * index + min(max(int(step), 0), count - 1)
    return CELLS + CELL_SIZE * index


@kernel
def write_travel_start(travel, lengths, pose):
    """Write the pose (4, 4), m, near which that of lengths (6,) is."""
    at = cell_at(travel, lengths)
    for i in range(4):
        for j in range(4):
            pose[i, j] = travel[at + 4 * i + j] if i < 3 else 1.0 * (j == 3)


@kernel
def is_proved_pose(travel, scale, lengths, pose):
    """Return whether a pose (4, 4), m, of lengths (6,) is the one that is proved."""
    at = cell_at(travel, lengths)
    near = travel[at:at + CELL_UNIQUE]
    r = (near[0], near[1], near[2], near[4], near[5], near[6], near[8], near[9], near[10])
    return certified_distance(r, (near[3], near[7], near[11]), pose, vec3.load(
        travel, TRAVEL_CENTRE), scale) < travel[at + CELL_UNIQUE]


@kernel
def certified_distance(r, p, pose, centre, scale):
    """Return the distance of two poses in the measure of a Certificate, m."""
    other, q = motion.split(pose)
    turn = vec3.scale(scale, so3.log(mat3.mul(mat3.transpose(r), other)))
    way = vec3.add(mat3.apply(other, centre), q)
    way = vec3.sub(way, vec3.add(mat3.apply(r, centre), p))
    return (vec3.dot(turn, turn) + vec3.dot(way, way)) ** 0.5


@kernel
def distance_of_poses(first: MATRIX, second: MATRIX, centre: TRIPLE, scale: NUMBER) -> NUMBER:
    """Return the distance of two poses (4, 4), m, about a centre (m)."""
    r, p = motion.split(first)
    return certified_distance(r, p, second, centre, scale)
