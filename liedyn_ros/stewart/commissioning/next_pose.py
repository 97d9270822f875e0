# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose that tells an offset from a scale: far enough from those known, within all limits."""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import SE3, se3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter, SINGULARITY_WARNING

TRIED = 400  # poses at random
TURN, SHIFT = 0.5, 0.8  # rad and characteristic lengths, of their greatest distance


class NextPose(NamedTuple):
    """
    A pose to measure next.

    pose: (4, 4), m. separation: by how much an offset and a scale of the legs differ there at
    least, over what decides: 1 or more where it does. text: a sentence with the pose.
    """

    pose: Array
    separation: float
    text: str


def deciding_pose(
        geometry: StewartGeometry, poses: Array, expected: Array, readings: Array,
        legs: list[int], decides: float, home: Array) -> NextPose | None:
    """
    Return the nearest pose at which an offset and a scale of legs differ by enough, m or rad.

    poses: (n, 4, 4), m, that are known. expected, readings: (n, 6) there, in one unit. None where
    no pose that was tried keeps the limits and the singularities' distance, on home's side. The
    way there is not checked.
    """
    rng = np.random.default_rng(0)
    reach = np.array([TURN] * 3 + [SHIFT * geometry.characteristic_length] * 3)
    twists = rng.uniform(-1.0, 1.0, (TRIED, 6)) * np.linspace(0.05, 1.0, TRIED)[:, None]
    tried, meter = se3.compose(poses[0], se3.exp(twists * reach)), PlatformMeter(geometry)
    side = np.sign(meter.measure(home).signed_value)
    allowed = meter.margins(tried).kept & (meter.signed_values(tried) * side > SINGULARITY_WARNING)
    tried = tried[allowed]
    if not len(tried):
        return None
    values, at = leg_lengths(geometry, tried)[:, legs], expected[:, legs].mean(axis=0)
    factors = readings[:, legs].mean(axis=0) / at
    separations = (np.abs(factors - 1.0) * np.abs(values - at)).min(axis=1) / decides
    enough = np.flatnonzero(separations >= 1.0)
    best = int(enough[0] if len(enough) else separations.argmax())
    pose, names = SE3.from_matrix(tried[best]), [geometry.leg_names[leg] for leg in legs]
    numbers = ' '.join(f'{x:.4g}' for x in (
        *pose.translation, *np.degrees(pose.rotation.rpy)))
    text = (f'the pose {numbers} (x y z in m, roll pitch yaw in degrees) tells whether an offset '
            f'or a scale is wrong with {", ".join(names)}. It keeps the limits; check the way to '
            'it') if len(enough) else (
        f'an offset and a scale of {", ".join(names)} differ by {separations[best] * decides:.2g} '
        f'at most near these poses: too little to tell. The most telling pose is {numbers}')
    return NextPose(tried[best], float(separations[best]), text)
