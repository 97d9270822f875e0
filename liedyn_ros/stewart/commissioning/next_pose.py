# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose that tells explanations apart: far enough from those known, within all limits."""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import SE3, se3
from liedyn_ros.stewart.commissioning.joints import AGAINST, DECIDES, joint_columns, Weighed
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
    tried = _allowed(geometry, poses[0], home)
    if not len(tried):
        return None
    values, at = leg_lengths(geometry, tried)[:, legs], expected[:, legs].mean(axis=0)
    factors = readings[:, legs].mean(axis=0) / at
    separations = (np.abs(factors - 1.0) * np.abs(values - at)).min(axis=1) / decides
    enough = np.flatnonzero(separations >= 1.0)
    best = int(enough[0] if len(enough) else separations.argmax())
    numbers, names = _numbers(tried[best]), [geometry.leg_names[leg] for leg in legs]
    text = (f'the pose {numbers} (x y z in m, roll pitch yaw in degrees) tells whether an offset '
            f'or a scale is wrong with {", ".join(names)}. It keeps the limits; check the way to '
            'it') if len(enough) else (
        f'an offset and a scale of {", ".join(names)} differ by {separations[best] * decides:.2g} '
        f'at most near these poses: too little to tell. The most telling pose is {numbers}')
    return NextPose(tried[best], float(separations[best]), text)


def telling_pose(
        geometry: StewartGeometry, poses: Array, weighed: Weighed, home: Array) -> NextPose | None:
    """Return the nearest pose that is expected to decide between joints and faults of legs."""
    tried = _allowed(geometry, poses[0], home)
    if not len(tried):
        return None
    noise = max(weighed.joints.noise, weighed.legs.noise)
    size = max(weighed.joints.size, float(np.sqrt((weighed.errors ** 2).mean())))
    gains = np.zeros(len(tried))
    for errors, known, columns in zip(
            weighed.errors, weighed.columns, joint_columns(geometry, tried)):
        weight = np.linalg.inv(np.eye(6) / size ** 2 + known.T @ known / noise ** 2)
        expected = columns @ (weight @ known.T @ errors) / noise ** 2
        spread = (columns @ weight * columns).sum(axis=1)
        gains += 0.5 * np.log1p(((expected - errors.mean()) ** 2 + spread) / noise ** 2)
    separations = gains / (DECIDES + AGAINST)
    enough = np.flatnonzero(separations >= 1.0)
    best = int(enough[0] if len(enough) else separations.argmax())
    text = (f'the pose {_numbers(tried[best])} (x y z in m, roll pitch yaw in degrees) should '
            'tell whether joints or single legs are wrong. It keeps the limits; check the way '
            'to it')
    if not len(enough):
        text += (f'. It is the most telling near these poses, and about '
                 f'{int(np.ceil(1.0 / separations[best]))} such poses are needed')
    return NextPose(tried[best], float(separations[best]), text)


def _allowed(geometry: StewartGeometry, first: Array, home: Array) -> Array:
    """Return poses about the first, near ones first, within limits and on home's side."""
    rng = np.random.default_rng(0)
    reach = np.array([TURN] * 3 + [SHIFT * geometry.characteristic_length] * 3)
    twists = rng.uniform(-1.0, 1.0, (TRIED, 6)) * np.linspace(0.05, 1.0, TRIED)[:, None]
    tried, meter = se3.compose(first, se3.exp(twists * reach)), PlatformMeter(geometry)
    side = np.sign(meter.measure(home).signed_value)
    allowed = meter.margins(tried).kept & (meter.signed_values(tried) * side > SINGULARITY_WARNING)
    return np.asarray(tried[allowed])


def _numbers(pose: Array) -> str:
    """Return a pose as a line of samples has it: m and degrees."""
    given = SE3.from_matrix(pose)
    return ' '.join(f'{x:.4g}' for x in (*given.translation, *np.degrees(given.rotation.rpy)))
