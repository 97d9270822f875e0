# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Quality of service: the profiles that the nodes use."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

TOPIC_DEPTH = 10  # messages that a topic keeps; parameters qos_overrides change it
# Requests that wait, or answers: a client's queue holds those to all clients of its service. ROS 2
# keeps 10 and drops the others.
SERVICES = QoSProfile(depth=1000)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def sensor_data(depth: int = TOPIC_DEPTH) -> QoSProfile:
    """Return the sensor-data profile (best effort, volatile) with a given depth."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)
