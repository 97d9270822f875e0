# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether a singular pose is one of two that meet, or one of a continuum of the same lengths."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter

STEPS = (1e-3, 1e-2)  # along the null twist, rad or characteristic lengths
FITS = 1e-9  # of the characteristic length: the error of the lengths there
ITERATIONS = 30


def is_continuum(geometry: StewartGeometry, lengths: Array, pose: Array) -> bool:
    """
    Return whether the poses of lengths (6,), m, go on from a singular pose (4, 4), m (14.41).

    The null coordinate is held at a step, the other five are fitted. At a double pose an error of
    the step's square remains; in a continuum none does.
    """
    meter = PlatformMeter(geometry)
    scale = geometry.characteristic_length
    null = meter.measure(pose).null_twist
    across = np.linalg.svd(null[None])[2][1:].T  # (6, 5)
    units = np.array([1.0] * 3 + [scale] * 3)
    for step in STEPS:
        rest = np.zeros(5)
        for _ in range(ITERATIONS):
            moved = se3.compose(pose, se3.exp(units * (step * null + across @ rest)))
            error = leg_lengths(geometry, moved) - lengths
            if np.abs(error).max() < FITS * scale:
                break
            jacobian = meter.measure(moved).jacobian * units @ across
            rest -= np.linalg.lstsq(jacobian, error, rcond=1e-10)[0]
        if not np.abs(error).max() < FITS * scale:
            return False
    return True
