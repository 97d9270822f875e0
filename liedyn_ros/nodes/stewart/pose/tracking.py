# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The trackers of the pose node, as its parameters describe them."""

from dataclasses import replace
from typing import Any

import numpy as np

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.stewart.parameters import LEVENBERG_MARQUARDT
from liedyn_ros.nodes.stewart.platform import Platform, RedundantPlatform
from liedyn_ros.nodes.stewart.status import describe
from liedyn_ros.stewart import (
    GaussNewton, leg_lengths, LevenbergMarquardt, Method, MonitorConfig, PoseCertifier,
    PoseTracker, RedundantConfig, RedundantTracker, Sensor, StewartGeometry)
from liedyn_ros.stewart.certificate.pose import unproved

NOT_GIVEN = [0.0]  # leg_noises


def require_home(platform: Platform, method: Method) -> None:
    """Raise LiedynError where the home pose is not one that its own lengths lead to."""
    try:
        tracked = PoseTracker(platform.geometry, platform.home, method).track(
            0, leg_lengths(platform.geometry, platform.home))
        if not tracked.converged:
            raise LiedynError(describe(tracked))
    except LiedynError as error:
        raise LiedynError(f'home pose: {error}') from error


def method_of(parameters: Any) -> Method:
    """Return the iterative method the parameters choose."""
    if parameters['solver'] == LEVENBERG_MARQUARDT:
        return LevenbergMarquardt(
            damping=parameters['damping'], max_iterations=parameters['max_iterations'])
    return GaussNewton(
        step_factor=parameters['step_factor'], max_iterations=parameters['max_iterations'])


def certifier_of(parameters: Any, geometry: StewartGeometry) -> PoseCertifier | None:
    """Return the certifier of poses; None for legs that have no proof."""
    if unproved(geometry):
        return None
    return PoseCertifier(geometry, parameters['length_bound'], parameters['joint_bound'])


def config_of(parameters: Any, sensor: Sensor | None) -> MonitorConfig:
    """Return the configuration of the tracker."""
    names = ('leg_resolution', 'leg_acceleration', 'frozen_time', 'hold_hypotheses',
             'replace_outliers', 'sensor_time')
    return MonitorConfig(
        leg_noise=noise_of(parameters), singularity_warning=parameters['singularity_warning'],
        singularity_warning_time=parameters['singularity_warning_time'], sensor=sensor,
        **{name: parameters[name] for name in names})


def with_noise(platform: RedundantPlatform, parameters: Any) -> RedundantPlatform:
    """Return a platform with the noise of the parameters, where they have some."""
    legs = len(platform.geometry.leg_names)
    noise = noise_of(parameters, legs)
    if not noise:
        return platform
    return replace(platform, geometry=replace(
        platform.geometry, leg_noise=np.broadcast_to(noise, legs)))


def redundant_tracker_of(platform: RedundantPlatform, parameters: Any) -> RedundantTracker:
    """
    Return the tracker of a platform of seven legs or more.

    Raises LiedynError for parameters that mean six legs, and for a home pose that is none.
    """
    names = ('hold_hypotheses', 'orientation_noise', 'extra_length_noise', 'joint_state_rate')
    given = [name for name in names if parameters[name]]
    if given:
        raise LiedynError(f'{given[0]}: expected none with {len(platform.geometry.leg_names)} '
                          f'legs, got {parameters[given[0]]}')
    geometry = platform.geometry
    tracker = RedundantTracker(geometry, platform.home, RedundantConfig(
        leave_out=parameters['replace_outliers'],
        singularity_warning=parameters['singularity_warning']))
    try:
        tracked = RedundantTracker(geometry, platform.home).track(
            0, geometry.lengths(platform.home))
        if not tracked.converged:
            raise LiedynError(describe(tracked))
    except LiedynError as error:
        raise LiedynError(f'home pose: {error}') from error
    return tracker


def noise_of(parameters: Any, legs: int = 6) -> float | list[float]:
    """Return the noise of all legs, or of each (n,); raises LiedynError where both are given."""
    every, each = parameters['leg_noise'], parameters['leg_noises']
    if each == NOT_GIVEN:
        return float(every)
    if every:
        raise LiedynError('leg_noise and leg_noises: expected one of both, '
                          f'got {every:g} m and {each}')
    if len(each) != legs or min(each) <= 0.0:
        raise LiedynError(f'leg_noises: expected {legs} numbers above 0, or a single 0, '
                          f'got {each}')
    return list(each)
