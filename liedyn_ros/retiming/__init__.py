# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Motions along a path as fast as the limits of torque, its rate, speed and power allow."""

from liedyn_ros.retiming.budget import RetimingBudget
from liedyn_ros.retiming.closure_forces import contact_limits
from liedyn_ros.retiming.limits import ClosureLimits, FrameLimits, MotionLimits
from liedyn_ros.retiming.online.scaling import (
    OnlineScaling, ScaledInstant, ScalingStatus, speed_for_lag)
from liedyn_ros.retiming.paths import (
    BlendedPath, JoinedPath, LoopPath, MovingEnd, Path, path_through, PathPart, PathSamples,
    PlatformPath, SplinePath)
from liedyn_ros.retiming.replanning.replanning import replan
from liedyn_ros.retiming.replanning.stopping import Stop, stop_along, stop_run
from liedyn_ros.retiming.result import Retimed, RetimedSamples
from liedyn_ros.retiming.retime import retime

__all__ = [
    'BlendedPath', 'ClosureLimits', 'contact_limits', 'FrameLimits', 'JoinedPath', 'LoopPath',
    'MotionLimits', 'MovingEnd', 'OnlineScaling', 'Path', 'path_through', 'PathPart',
    'PathSamples', 'PlatformPath', 'replan', 'retime', 'Retimed', 'RetimedSamples',
    'RetimingBudget', 'ScaledInstant', 'ScalingStatus', 'speed_for_lag', 'SplinePath', 'Stop',
    'stop_along', 'stop_run']
