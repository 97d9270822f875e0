# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the launch files share: their common arguments, and nodes that take them."""

from pathlib import Path

from ament_index_python.packages import get_package_share_path, get_packages_with_prefixes
from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

CONFIG = get_package_share_path('liedyn_ros') / 'config'
NAMESPACE = LaunchConfiguration('namespace')
PREFIX = PythonExpression(['("', NAMESPACE, '".strip("/") + "/").lstrip("/")'])  # of frames


def switch(name: str, default: str, description: str) -> DeclareLaunchArgument:
    """Return an argument that is true or false."""
    return DeclareLaunchArgument(
        name, default_value=default, choices=('true', 'false'), description=description)


def common_arguments(
        params_file: str, *, about_params_file: str = 'parameters of the nodes (YAML)',
        about_use_sim_time: str = 'take the time from /clock'
) -> list[DeclareLaunchArgument | OpaqueFunction]:
    """
    Return the arguments of every launch file, and a check that params_file exists.

    params_file: the default, one of the config folder.
    """
    return [
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of all nodes and topics'),
        DeclareLaunchArgument(
            'params_file', default_value=str(CONFIG / params_file),
            description=about_params_file),
        switch('use_sim_time', 'false', about_use_sim_time),
        switch('autostart', 'true',
               'configure and activate the nodes; otherwise a lifecycle manager does'),
        OpaqueFunction(function=_require_params_file),
    ]


def node(executable: str, *, when: str = '', unless: str = '', clock: str = 'use_sim_time',
         prefixed: bool = False) -> Node:
    """
    Return a node of this package with the parameters and the namespace of the arguments.

    when: the switch without which it is not started. unless: one that outweighs it. clock: the
    parameter that the argument use_sim_time sets. prefixed: whether its frames get the namespace
    as a prefix. The node is named, as its entries in params_file would otherwise override the
    arguments.
    """
    return Node(
        package='liedyn_ros', executable=executable, name=executable, output='screen',
        namespace=NAMESPACE, condition=_condition(when, unless),
        parameters=[LaunchConfiguration('params_file'),
                    {clock: _value('use_sim_time'), 'autostart': _value('autostart')},
                    *([{'frame_prefix': ParameterValue(PREFIX, value_type=str)}] * prefixed)])


def rviz(config: str, fixed_frame: str = '') -> Node | LogInfo:
    """
    Return RViz with a file of the config folder, in the namespace, if its switch is on.

    fixed_frame: one that gets the namespace as a prefix, instead of that of the file. Where RViz
    is not installed a message is logged instead, and the other nodes run.
    """
    if 'rviz2' not in get_packages_with_prefixes():
        return LogInfo(condition=_condition('rviz'), msg='rviz: expected the package rviz2, found '
                       'none; the other nodes start without it')
    return Node(
        package='rviz2', executable='rviz2',
        arguments=['-d', str(CONFIG / config), *(
            ['-f', [PREFIX, fixed_frame]] if fixed_frame else [])],
        namespace=NAMESPACE, condition=_condition('rviz'),
        parameters=[{'use_sim_time': _value('use_sim_time')}])


def _require_params_file(context: LaunchContext) -> None:
    """Refuse a file that is not there: launch would start the nodes with their defaults."""
    path = LaunchConfiguration('params_file').perform(context)
    if not Path(path).is_file():
        raise FileNotFoundError(f'params_file: expected a file, got {path!r}')


def _value(name: str) -> ParameterValue:
    return ParameterValue(LaunchConfiguration(name), value_type=bool)


def _condition(name: str, unless: str = '') -> IfCondition | None:
    if not name:
        return None
    return IfCondition(LaunchConfiguration(name) if not unless else PythonExpression(
        ['"', LaunchConfiguration(name), '" == "true" != "', LaunchConfiguration(unless), '"']))
