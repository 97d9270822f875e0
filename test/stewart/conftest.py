# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The paper's platform and poses, as fixtures."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.platforms.stewart_motion import pose_of

from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import load_geometry


@pytest.fixture(scope='session')
def geometry():
    """Return the platform of Table 1."""
    return load_geometry(config_file('stewart_geometry.yaml'))


@pytest.fixture(scope='session')
def home():
    """Return the pose 0.5 m above the base."""
    return pose_of((0.0, 0.0, 0.5), (0.0, 0.0, 0.0))


@pytest.fixture(scope='session')
def paper_pose():
    """Return q_C of the paper, its true pose."""
    return pose_of((0.0, 0.0, 0.5), (20.0, 0.0, -30.0))


@pytest.fixture(scope='session')
def random_poses():
    """Return 20 000 poses of the box: z 40..60 cm, x and y 10 cm, tilt 30 and yaw 45 degrees."""
    rng, count = np.random.default_rng(20261121), 20_000
    azimuth = rng.uniform(0.0, 2.0 * np.pi, count)
    tilt = rng.uniform(0.0, 30.0, count)
    yaw = rng.uniform(-45.0, 45.0, count)
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, 3] = rng.uniform((-0.1, -0.1, 0.4), (0.1, 0.1, 0.6), (count, 3))
    axes = np.column_stack((np.cos(azimuth), np.sin(azimuth), np.zeros(count)))
    turns = Rotation.from_rotvec(tilt[:, None] * axes, degrees=True)
    poses[:, :3, :3] = (turns * Rotation.from_euler('z', yaw[:, None], degrees=True)).as_matrix()
    return poses
