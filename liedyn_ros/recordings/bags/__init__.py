# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bags of ROS 2 without ROS; needs the packages rosbags and mcap."""

from liedyn_ros.recordings.bags.bag import Bag, Received
from liedyn_ros.recordings.bags.joint_states import AnyBag
from liedyn_ros.recordings.bags.mcap_file import Loss
from liedyn_ros.recordings.bags.pose_stands import pose_stands
from liedyn_ros.recordings.bags.table_bag import TableBag

__all__ = [
    'AnyBag', 'Bag', 'Loss', 'pose_stands', 'Received', 'TableBag']
