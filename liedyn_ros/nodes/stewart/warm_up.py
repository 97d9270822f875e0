# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every kernel of the Stewart nodes, called once: the platform's, and those of messages."""

from geometry_msgs.msg import Pose
import numpy as np

from liedyn_ros.ros.messages import conversions
from liedyn_ros.stewart import warm_up


def warm_up_tracking() -> None:
    """Call the kernels of the pose node."""
    warm_up.warm_up_tracking()
    _convert()
    conversions.pose_numbers(np.eye(4))


def warm_up_redundant() -> None:
    """Call the kernels of the pose node with seven legs and more."""
    warm_up.warm_up_redundant()


def warm_up_services() -> None:
    """Call the kernels of the pose node's services that take long."""
    warm_up.warm_up_services()


def warm_up_simulation() -> None:
    """Call the kernels of the simulator."""
    warm_up.warm_up_simulation()
    _convert()


def warm_up_dynamics() -> None:
    """Call the kernels of a platform under leg forces, and those of its controller."""
    warm_up.warm_up_dynamics()
    _convert()


def _convert() -> None:
    conversions.to_pose(np.eye(4), Pose())
    conversions.from_pose(Pose())
