# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""ROS domains of the processes that share the tests."""

STEP = 33  # between the domains of two processes; its multiples end in each of 100 domains once


def domain_of(process: int, first: int) -> int:
    """Return the domain of a process, from that of process 0: nodes of no two hear each other."""
    return 1 + (first - 1 + STEP * process) % 100
