# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The ROS 2 nodes: messages in, core, messages out."""

from importlib import import_module

from liedyn_ros.common.interrupts import end_at_once

# The executables of `ros2 run`, and the modules whose main they run.
PROGRAMS = {
    'aerial_manipulator_controller': 'liedyn_ros.nodes.aerial.controller',
    'aerial_manipulator_simulator': 'liedyn_ros.nodes.aerial.simulator',
    'dynamics_server': 'liedyn_ros.nodes.dynamics.server',
    'loop_state_publisher': 'liedyn_ros.nodes.loops.state_publisher',
    'mujoco_simulator': 'liedyn_ros.nodes.dynamics.mujoco_simulator',
    'path_runner': 'liedyn_ros.nodes.path_runner.node',
    'robot_view': 'liedyn_ros.view.__main__',
    'stewart_controller': 'liedyn_ros.nodes.stewart.controller',
    'stewart_dynamics_simulator': 'liedyn_ros.nodes.stewart.dynamics_simulator',
    'stewart_pose': 'liedyn_ros.nodes.stewart.pose.node',
    'stewart_simulator': 'liedyn_ros.nodes.stewart.simulator'}

end_at_once(('liedyn_ros.nodes.', 'liedyn_ros.view'), PROGRAMS)
import_module('liedyn_ros.ros')  # whose first lines tell what is not installed
