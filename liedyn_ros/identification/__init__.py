# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inertial parameters of a model: regressors, base parameters, recordings, consistency."""

from liedyn_ros.identification.consistency import is_consistent, nearest_consistent, pseudo_inertia
from liedyn_ros.identification.estimate import Estimate
from liedyn_ros.identification.excitation import (
    Excitation, ExcitationLimits, excite, next_motion, NextMotion)
from liedyn_ros.identification.identify import Identification, identify
from liedyn_ros.identification.joints import Term
from liedyn_ros.identification.motion import Motion, Recording
from liedyn_ros.identification.payload import (
    Payload, PayloadEstimator, PayloadStream, with_payload)
from liedyn_ros.identification.regressors import (
    base_parameters, BaseParameters, LoopRegressor, Regressor)
from liedyn_ros.identification.robust_fit import RobustFit
from liedyn_ros.identification.verdict import Verdict

__all__ = [
    'BaseParameters', 'Estimate', 'Excitation', 'ExcitationLimits', 'Identification',
    'LoopRegressor', 'Motion', 'NextMotion', 'Payload', 'PayloadEstimator', 'PayloadStream',
    'Recording', 'Regressor', 'RobustFit', 'Term', 'Verdict', 'base_parameters', 'excite',
    'identify', 'is_consistent', 'nearest_consistent', 'next_motion', 'pseudo_inertia',
    'with_payload']
