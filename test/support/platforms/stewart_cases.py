# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Lengths and poses of the paper, for the tests of Stewart platforms and of their nodes."""

import numpy as np
from transforms3d.euler import euler2mat

# The lengths of (Stewart 29) in cm, the last one corrected from 55.9910.
ROUNDED_LENGTHS_CM = (55.8558, 62.5313, 52.7436, 55.1457, 44.7972, 51.9910)


def pose_of(position, roll_pitch_yaw_deg):
    """Return a pose from a position and R = Rz(yaw) Ry(pitch) Rx(roll)."""
    pose = np.eye(4)
    pose[:3, :3] = euler2mat(*np.radians(roll_pitch_yaw_deg), axes='sxyz')
    pose[:3, 3] = position
    return pose
