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

"""A Stewart platform's pose from its leg lengths: the pose node, a simulator and RViz if asked."""

from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

CONFIG = get_package_share_path('liedyn_ros') / 'config'
SWITCH = ('true', 'false')


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the nodes; topics are relative, so the namespace moves them all."""
    namespace = LaunchConfiguration('namespace')
    use_sim_time = ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)
    autostart = ParameterValue(LaunchConfiguration('autostart'), value_type=bool)
    parameters = [LaunchConfiguration('params_file'),
                  {'use_sim_time': use_sim_time, 'autostart': autostart}]
    return LaunchDescription([
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of all nodes and topics'),
        DeclareLaunchArgument(
            'params_file', default_value=str(CONFIG / 'stewart.yaml'),
            description='parameters of the nodes (YAML)'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='false', choices=SWITCH,
            description='take the time from /clock'),
        DeclareLaunchArgument(
            'simulator', default_value='false', choices=SWITCH,
            description='play the leg lengths of a moving platform'),
        DeclareLaunchArgument(
            'rviz', default_value='false', choices=SWITCH,
            description='show the platform in RViz'),
        DeclareLaunchArgument(
            'autostart', default_value='true', choices=SWITCH,
            description='configure and activate the nodes; otherwise a lifecycle manager does'),
        Node(package='liedyn_ros', executable='stewart_pose', namespace=namespace,
             parameters=parameters, output='screen'),
        Node(package='liedyn_ros', executable='stewart_simulator', namespace=namespace,
             parameters=parameters, output='screen',
             condition=IfCondition(LaunchConfiguration('simulator'))),
        Node(package='rviz2', executable='rviz2', namespace=namespace,
             arguments=['-d', str(CONFIG / 'stewart.rviz')],
             parameters=[{'use_sim_time': use_sim_time}],
             condition=IfCondition(LaunchConfiguration('rviz'))),
    ])
