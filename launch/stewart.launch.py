# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A Stewart platform's pose from its leg lengths; a simulator, control and RViz if asked."""

from launch import LaunchDescription

from liedyn_ros.ros.launch import description, file, node, rviz, switch

FILES = ['geometry_file']


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the nodes; topics are relative, so the namespace moves them all."""
    return description(
        'stewart.yaml', [
            file('geometry_file', "the platform's geometry (YAML)"),
            switch('simulator', 'false',
                   'play the leg lengths of a moving platform; control:=true replaces it, whose '
                   'platform mujoco moves by its physics', mujoco='control'),
            switch('control', 'false',
                   'simulate a platform under leg forces, and a controller that moves it by them'),
            switch('rviz', 'false', 'show the platform in RViz'),
            switch('view', 'false', 'show the platform in a browser: the log has the address'),
        ], [
            node('stewart_pose', prefixed=True, files=FILES),
            node('stewart_simulator', when='simulator', unless='control', prefixed=True,
                 files=FILES),
            node('stewart_dynamics_simulator', when='control', clock='publish_clock',
                 prefixed=True, files=FILES, words=['simulator']),
            node('stewart_controller', when='control', prefixed=True, files=FILES),
            node('robot_view', name='view', when='view', prefixed=True, files=FILES),
            rviz('stewart.rviz', fixed_frame='stewart_base'),
        ],
        about_use_sim_time='take the time from /clock; with control the simulator publishes it')
