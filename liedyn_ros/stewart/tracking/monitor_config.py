# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The configuration of a MonitoredTracker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

from liedyn_ros.common import checks
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.stewart.platform.state import SINGULARITY_WARNING
from liedyn_ros.stewart.solver.pose_solver import LevenbergMarquardt
from liedyn_ros.stewart.tracking.sensor_monitor import Sensor

NOT_GIVEN = [0.0]  # leg_noises, where one number says the noise of all


@dataclass(frozen=True, kw_only=True)
class MonitorConfig:
    """
    The configuration of a MonitoredTracker.

    If all legs are cranks, rad stands for m. If cranks and other legs are mixed, m is at the
    driven ends, the cranks' pins. leg_noise: m, standard deviation of a length, one for all legs
    or (n,); 0 where it is not known, then it is estimated. leg_resolution: m, of a reading, 0 for
    the smallest step that it makes. leg_acceleration: m/s^2, the greatest of a leg; 0 where it is
    not known, then 25 and more where more is measured. frozen_time: s, 0 for never.
    singularity_warning: smallest singular value that is near. singularity_warning_time: s, time to
    there that is a warning. hold_hypotheses: whether to follow both branches through a singularity
    and to give the pose of the one that the motion leads to. replace_outliers: whether an
    outlier's length is taken from its prediction, and a leg that redundant lengths name is
    left out of the pose. sensor: a redundant one. sensor_time: s over which it is averaged. Raises
    ShapeError, NotFiniteError or LimitError.

    >>> tracker = MonitoredTracker(geometry, home, config=MonitorConfig(leg_noise=1e-5))
    >>> tracker.track(0, leg_lengths(geometry, home)).status.name
    'CONVERGED'
    """

    leg_noise: float | Sequence[float] = 0.0
    leg_resolution: float = 0.0
    leg_acceleration: float = 0.0
    frozen_time: float = 0.05
    singularity_warning: float = SINGULARITY_WARNING
    singularity_warning_time: float = 0.5
    hold_hypotheses: bool = False
    replace_outliers: bool = True
    sensor: Sensor | None = None
    sensor_time: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a negative number, or none."""
        if not isinstance(self.leg_noise, float | int):
            noise = checks.as_array('leg_noise', self.leg_noise, (-1,))
            if not (noise > 0.0).all():
                raise LimitError(f'leg_noise: expected numbers above 0, got {noise.tolist()}')
            object.__setattr__(self, 'leg_noise', tuple(noise.tolist()))
        single = () if isinstance(self.leg_noise, tuple) else ('leg_noise',)
        for name in (*single, 'leg_resolution', 'leg_acceleration', 'frozen_time',
                     'singularity_warning', 'singularity_warning_time', 'sensor_time'):
            value = checks.as_number(name, getattr(self, name))
            if not 0.0 <= value < math.inf:
                raise LimitError(f'{name}: expected a number from 0 on, got {value}')
            object.__setattr__(self, name, value)


def method_of(settings: Any) -> LevenbergMarquardt:
    """Return the settings of the solver; raises LiedynError for their numbers."""
    return LevenbergMarquardt(
        damping=settings['damping'], max_iterations=settings['max_iterations'])


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
                          f'got {every:g} and {each}')
    if len(each) != legs or min(each) <= 0.0:
        raise LiedynError(f'leg_noises: expected {legs} numbers above 0, or a single 0, '
                          f'got {each}')
    return list(each)
