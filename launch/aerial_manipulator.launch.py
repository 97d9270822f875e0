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

"""A simulated aerial manipulator, flown by its controller through the dynamics server."""

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
    common = [LaunchConfiguration('params_file'), {'autostart': autostart}]
    followers = [*common, {'use_sim_time': use_sim_time}]
    return LaunchDescription([
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of all nodes and topics'),
        DeclareLaunchArgument(
            'params_file', default_value=str(CONFIG / 'aerial_manipulator_nodes.yaml'),
            description='parameters of the nodes (YAML)'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='false', choices=SWITCH,
            description='let the simulator publish /clock and all others take the time from it'),
        DeclareLaunchArgument(
            'controller', default_value='true', choices=SWITCH,
            description='fly the reference; otherwise the machine stands until it is commanded'),
        DeclareLaunchArgument(
            'rviz', default_value='false', choices=SWITCH,
            description='show the machine in RViz'),
        DeclareLaunchArgument(
            'autostart', default_value='true', choices=SWITCH,
            description='configure and activate the nodes; otherwise a lifecycle manager does'),
        Node(package='liedyn_ros', executable='dynamics_server', namespace=namespace,
             parameters=followers, output='screen'),
        Node(package='liedyn_ros', executable='aerial_manipulator_simulator', namespace=namespace,
             parameters=[*common, {'publish_clock': use_sim_time}], output='screen'),
        Node(package='liedyn_ros', executable='aerial_manipulator_controller',
             namespace=namespace, parameters=followers, output='screen',
             condition=IfCondition(LaunchConfiguration('controller'))),
        Node(package='rviz2', executable='rviz2', namespace=namespace,
             arguments=['-d', str(CONFIG / 'aerial_manipulator.rviz')],
             parameters=[{'use_sim_time': use_sim_time}],
             condition=IfCondition(LaunchConfiguration('rviz'))),
    ])
