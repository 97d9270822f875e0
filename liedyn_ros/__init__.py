# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Rigid-body mathematics on Lie groups, and the ROS 2 nodes that use it.

    >>> import liedyn_ros as ld
    >>> robot = ld.load('ur5.urdf')  # Dynamics, or ConstrainedDynamics where loops close
    >>> tau = robot.inverse(q, v, a)
    >>> jacobian = robot.frames.jacobian(q, 'tool0', ld.LOCAL_WORLD_ALIGNED)

These names come from one place; each page of docs/ has those of its subject. They are imported
when they are used, so that a node of one subject does not wait for the others.
"""

from typing import TYPE_CHECKING

from liedyn_ros.common.on_demand import on_demand

if TYPE_CHECKING:
    from liedyn_ros.common.errors import LiedynError
    from liedyn_ros.dynamics import (
        Dynamics, joint_wrenches, LOCAL, LOCAL_WORLD_ALIGNED, Names, runge_kutta_munthe_kaas,
        WORLD)
    from liedyn_ros.dynamics.constrained import (
        assemble, ConstrainedDynamics, Contact, Contacts, InverseKinematics, LoopTracker, reach)
    from liedyn_ros.dynamics.linearization import motion_gradient, simulate
    from liedyn_ros.identification import Regressor
    from liedyn_ros.lie import SE3, SO3
    from liedyn_ros.model import load_model, Model, ModelBuilder, pose, SpatialInertia, to_urdf
    from liedyn_ros.robot import load
    from liedyn_ros.stewart import load_geometry, PoseSolver, StewartGeometry
else:
    __getattr__, __dir__ = on_demand(__name__, __file__)

__version__ = '0.1.0'

__all__ = [
    'assemble', 'ConstrainedDynamics', 'Contact', 'Contacts', 'Dynamics', 'joint_wrenches',
    'InverseKinematics', 'LiedynError', 'load', 'load_geometry', 'load_model', 'LOCAL',
    'LOCAL_WORLD_ALIGNED', 'LoopTracker', 'Model', 'ModelBuilder', 'motion_gradient', 'Names',
    'pose', 'PoseSolver', 'reach', 'Regressor', 'runge_kutta_munthe_kaas', 'SE3', 'simulate',
    'SO3', 'SpatialInertia', 'StewartGeometry', 'to_urdf', 'WORLD']
