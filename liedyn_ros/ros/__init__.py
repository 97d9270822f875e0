# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Base of all nodes: lifecycle, parameters, messages, launch files."""

from liedyn_ros.common.extras import require_module

require_module(
    'rclpy', 'nodes need ROS 2: source its setup, such as . /opt/ros/kilted/setup.bash, or, in '
    'the repository, make build and . tools/env.sh')
require_module(
    'liedyn_interfaces', 'it is nested in liedyn_ros; build both: '
    'colcon build --base-paths src src/liedyn_ros/liedyn_interfaces')
