# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Calibration of a platform: leg readings and measured poses in, a geometry with covariance out.

`calibrate` is the call; `measured_poses` and its like say what was measured.
"""

from liedyn_ros.stewart.calibration.calibrate import calibrate, Calibration, Outlier
from liedyn_ros.stewart.calibration.design import next_poses, NextPoses
from liedyn_ros.stewart.calibration.held_out import Accuracy, HeldOut
from liedyn_ros.stewart.calibration.measured import (
    InstrumentFrames, lengths_only, Measured, measured_orientations, measured_points,
    measured_poses)
from liedyn_ros.stewart.calibration.parameters import Unknown

__all__ = [
    'Accuracy', 'Calibration', 'HeldOut', 'InstrumentFrames', 'Measured', 'NextPoses', 'Outlier',
    'Unknown', 'calibrate', 'lengths_only', 'measured_orientations', 'measured_points',
    'measured_poses', 'next_poses',
]
