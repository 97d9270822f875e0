# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A small run that compiles the kernels of scaling."""

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder, SpatialInertia
from liedyn_ros.retiming import MotionLimits, OnlineScaling, retime, SplinePath


def warm_up_scaling() -> None:
    """Scale a run of a pendulum, up, down and to its end."""
    builder = ModelBuilder('pendulum')
    builder.add_body('bob', SpatialInertia(1.0, (0.0, 0.0, -1.0), [[0.0] * 3] * 3))
    builder.add_joint('pivot', 'revolute', None, 'bob', axis=(1.0, 0.0, 0.0))
    pendulum = Dynamics(builder.build())
    limits = MotionLimits(torque=20.0, torque_rate=200.0)
    scaling = OnlineScaling(retime(
        pendulum, SplinePath(pendulum.model, [[0.0], [0.5]]), limits, intervals=10))
    for k in range(40):
        scaling.step(0.02, 0.5 if k < 10 else 1.0)
