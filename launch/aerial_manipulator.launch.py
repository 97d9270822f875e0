# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A simulated aerial manipulator, flown by its controller through the dynamics server."""

from launch import LaunchDescription

from liedyn_ros.ros.launch import choice, description, file, node, rviz, switch

FILES = ['model_file']


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the nodes; topics are relative, so the namespace moves them all."""
    return description(
        'aerial_manipulator_nodes.yaml', [
            file('model_file', 'the model of the machine, with its rotors (YAML)'),
            choice('simulator', 'whose physics', 'own', 'mujoco'),
            switch('controller', 'true',
                   'fly the reference; otherwise the machine stands until it is commanded'),
            switch('rviz', 'false', 'show the machine in RViz'),
            switch('view', 'false', 'show the machine in a browser: the log has the address'),
        ], [
            node('dynamics_server', files=FILES),
            node('aerial_manipulator_simulator', clock='publish_clock', prefixed=True,
                 files=FILES, words=['simulator']),
            node('aerial_manipulator_controller', when='controller', prefixed=True, files=FILES),
            node('robot_view', name='view', when='view', files=FILES,
                 values={'model_file': 'aerial_manipulator.yaml'}),
            rviz('aerial_manipulator.rviz'),
        ],
        about_use_sim_time='let the simulator publish /clock and all others take the time from '
                           'it')
