# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inverse, forward and hybrid dynamics of trees of rigid bodies in O(n), compiled."""

from typing import TYPE_CHECKING

from liedyn_ros.common.on_demand import on_demand

if TYPE_CHECKING:
    from liedyn_ros.dynamics.bearing_loads import joint_wrenches
    from liedyn_ros.dynamics.centroidal import CenterOfMass
    from liedyn_ros.dynamics.dynamics import Dynamics, Kinematics
    from liedyn_ros.dynamics.frames import Frames, LOCAL, LOCAL_WORLD_ALIGNED, WORLD
    from liedyn_ros.dynamics.integrators import runge_kutta_munthe_kaas, stormer_verlet
    from liedyn_ros.dynamics.layout import Layout, MUJOCO, PINOCCHIO, ROS
    from liedyn_ros.dynamics.time_derivatives.tree_motion import EquationDerivatives, TreeMotion
    from liedyn_ros.dynamics.tree.floating_base import FloatingBase
    from liedyn_ros.dynamics.tree.inputs import MAX_ORDER
    from liedyn_ros.dynamics.tree.names import JointOrder, Names
else:
    __getattr__, __dir__ = on_demand(__name__, __file__)

__all__ = [
    'CenterOfMass', 'Dynamics', 'EquationDerivatives', 'FloatingBase', 'Frames',
    'joint_wrenches', 'JointOrder', 'Kinematics', 'Layout', 'LOCAL', 'LOCAL_WORLD_ALIGNED',
    'MAX_ORDER', 'MUJOCO', 'Names', 'PINOCCHIO', 'ROS', 'runge_kutta_munthe_kaas',
    'stormer_verlet', 'TreeMotion', 'WORLD']
