# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inverse, forward and hybrid dynamics as services and topics; the robot in MuJoCo if asked."""

from launch import LaunchDescription

from liedyn_ros.ros.launch import ChoiceArgument, description, file, node, switch, SWITCHES


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the node; topics are relative, so the namespace moves them all."""
    return description(
        'dynamics_server.yaml',
        [file('model_file', 'the model: a .yaml, .urdf, .xacro or .xml file (MJCF)'),
         switch('floating', 'false', 'free the root link of a URDF, as of a legged robot'),
         ChoiceArgument('simulator', 'false', 'simulate the robot by MuJoCo',
                        {**SWITCHES, 'mujoco': 'true'}, {}),
         switch('view', 'false', 'show the robot in a browser: the log has the address')],
        [node('dynamics_server', files=['model_file'], switches=['floating']),
         node('mujoco_simulator', when='simulator', clock='publish_clock', prefixed=True,
              files=['model_file'], switches=['floating']),
         node('robot_view', name='view', when='view', files=['model_file'],
              values={'machine': 'tree'})],
        about_params_file='parameters of the node (YAML); without model_file or '
                          'robot_description the model comes from the topic robot_description')
