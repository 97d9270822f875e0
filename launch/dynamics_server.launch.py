# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Inverse, forward and hybrid dynamics of a tree as services and topics."""

from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

CONFIG = get_package_share_path('liedyn_ros') / 'config'
SWITCH = ('true', 'false')


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the node; topics are relative, so the namespace moves them all."""
    use_sim_time = ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)
    autostart = ParameterValue(LaunchConfiguration('autostart'), value_type=bool)
    return LaunchDescription([
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of the node and its topics'),
        DeclareLaunchArgument(
            'params_file', default_value=str(CONFIG / 'dynamics_server.yaml'),
            description='parameters of the node (YAML); without model_file or '
                        'robot_description the model comes from the topic robot_description'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='false', choices=SWITCH,
            description='take the time from /clock'),
        DeclareLaunchArgument(
            'autostart', default_value='true', choices=SWITCH,
            description='configure and activate the node; otherwise a lifecycle manager does'),
        Node(package='liedyn_ros', executable='dynamics_server',
             namespace=LaunchConfiguration('namespace'), output='screen',
             parameters=[LaunchConfiguration('params_file'),
                         {'use_sim_time': use_sim_time, 'autostart': autostart}]),
    ])
