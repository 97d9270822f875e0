# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A link table seen through numpy, without kernels: poses of bodies, inertias of links."""

import numpy as np
from scipy.spatial.transform import Rotation

from liedyn_ros.common.checks import Array
from liedyn_ros.model import LinkTable
from liedyn_ros.model.kernels import kinds


def body_poses(table: LinkTable, q: Array) -> Array:
    """Return the pose (B, 4, 4) of each body in the ground frame."""
    links = [np.eye(4)]  # the ground last, at index -1
    for i in range(len(table.kind)):
        motion = joint_motion(table.kind[i], q[table.qi[i]:], table.pitch[i])
        links.insert(i, links[table.parent[i]] @ unpack(table.placement[i]) @ motion)
    return np.array([links[link] @ unpack(placement) for link, placement in zip(
        table.body_link, table.body_placement)])


def joint_motion(kind: int, q: Array, pitch: float) -> Array:
    """Return J(q) (4, 4) of one link."""
    motion = np.eye(4)
    if kind in (kinds.REVOLUTE, kinds.HELICAL):
        motion[:3, :3] = Rotation.from_rotvec((0.0, 0.0, q[0])).as_matrix()
        motion[2, 3] = pitch * q[0]
    elif kind == kinds.PRISMATIC:
        motion[2, 3] = q[0]
    elif kind == kinds.SPHERICAL:
        motion[:3, :3] = Rotation.from_quat(q[:4]).as_matrix()
    else:
        motion[:3, :3], motion[:3, 3] = Rotation.from_quat(q[3:7]).as_matrix(), q[:3]
    return motion


def unpack(row: Array) -> Array:
    """Return the pose (4, 4) of twelve numbers."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = row[:9].reshape(3, 3), row[9:]
    return pose


def inertia_matrix(parameters: Array) -> Array:
    """Return the 6 x 6 inertia of ten parameters in Pinocchio's order: linear, then angular."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = parameters
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = m * np.eye(3)
    matrix[3:, :3] = [[0, -hz, hy], [hz, 0, -hx], [-hy, hx, 0]]
    matrix[:3, 3:] = matrix[3:, :3].T
    matrix[3:, 3:] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return matrix
