# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform of the tracker's benchmarks, and its motion in the good workspace."""

from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import load_geometry, SmoothTrajectory

GEOMETRY = load_geometry(config_file('stewart_geometry.yaml'))
HOME = se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 0.5])
RATE = 1000  # Hz
Figures = dict[str, Any]


def error(pose: Array, truth: Array) -> float:
    """Return the largest entry of the twist between two poses, rad or m."""
    return float(np.abs(se3.log(se3.compose(se3.inverse(truth), pose))).max())


def good_motion(seed: int) -> SmoothTrajectory:
    """Return a motion in the good workspace, in all coordinates."""
    rng = np.random.default_rng(seed)
    return SmoothTrajectory(
        HOME, amplitudes=np.array([0.2, 0.2, 0.3, 0.06, 0.06, 0.06]),
        frequencies=np.array([0.23, 0.31, 0.17, 0.29, 0.19, 0.37]),
        phases=rng.uniform(0.0, 2.0 * np.pi, 6))
