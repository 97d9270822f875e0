# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Method and monitors of a tracker from named settings: those of the pose node's parameters."""

from __future__ import annotations

from typing import Any

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.stewart.solver.methods import GaussNewton, LevenbergMarquardt, Method
from liedyn_ros.stewart.tracking.monitor_config import MonitorConfig
from liedyn_ros.stewart.tracking.sensor_monitor import Sensor

NOT_GIVEN = [0.0]  # leg_noises, where one number says the noise of all


def method_of(settings: Any) -> Method:
    """Return the iterative method that settings choose; raises LiedynError for its numbers."""
    if settings['solver'] == 'levenberg_marquardt':
        return LevenbergMarquardt(
            damping=settings['damping'], max_iterations=settings['max_iterations'])
    return GaussNewton(
        step_factor=settings['step_factor'], max_iterations=settings['max_iterations'])


def config_of(settings: Any, sensor: Sensor | None, legs: int = 6) -> MonitorConfig:
    """Return the configuration of the monitors; raises LiedynError for its numbers."""
    names = ('leg_resolution', 'leg_acceleration', 'frozen_time', 'hold_hypotheses',
             'replace_outliers', 'sensor_time')
    return MonitorConfig(
        leg_noise=noise_of(settings, legs), singularity_warning=settings['singularity_warning'],
        singularity_warning_time=settings['singularity_warning_time'], sensor=sensor,
        **{name: settings[name] for name in names})


def noise_of(settings: Any, legs: int = 6) -> float | list[float]:
    """Return the noise of all legs, or of each (n,); raises LiedynError where both are given."""
    every, each = settings['leg_noise'], settings['leg_noises']
    if each == NOT_GIVEN:
        return float(every)
    if every:
        raise LiedynError('leg_noise and leg_noises: expected one of both, '
                          f'got {every:g} m and {each}')
    if len(each) != legs or min(each) <= 0.0:
        raise LiedynError(f'leg_noises: expected {legs} numbers above 0, or a single 0, '
                          f'got {each}')
    return list(each)
