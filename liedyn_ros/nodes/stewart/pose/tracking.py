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
from liedyn_ros.nodes.stewart.platform import RedundantPlatform
from liedyn_ros.stewart import RedundantConfig, RedundantSolver, RedundantTracker
from liedyn_ros.stewart.home import require_home
from liedyn_ros.stewart.tracking.settings import noise_of


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
    require_home(geometry, parameters, platform.home, RedundantSolver(geometry).solve)
    return tracker
