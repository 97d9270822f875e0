# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Find the pose of a Stewart platform from its leg lengths, without ROS."""

import numpy as np

from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.stewart import leg_lengths, load_geometry, PoseSolver

geometry = load_geometry(config_file('stewart_geometry.yaml'))
home = SE3.from_rotation_translation(SO3.identity(), [0.0, 0.0, 0.5])
truth = home @ SE3.exp([0.35, -0.1, -0.5, 0.02, 0.01, 0.05])  # rad, m

solution = PoseSolver(geometry).solve(leg_lengths(geometry, truth.matrix), home.matrix)
error = (truth.inverse() @ SE3(solution.pose)).log()
print(f'{solution.status.name.lower()} after {solution.iterations} iterations, off by '
      f'{np.linalg.norm(error[:3]):.1e} rad and {np.linalg.norm(error[3:]):.1e} m')
