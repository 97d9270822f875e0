# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recordings of machines, without ROS: bags, CSV and Parquet into arrays of named joints."""

from liedyn_ros.recordings.model_samples import ModelSamples, read_samples
from liedyn_ros.recordings.pose_samples import PoseSamples
from liedyn_ros.recordings.pose_tables import pose_table, PoseColumns
from liedyn_ros.recordings.samples import JointSamples
from liedyn_ros.recordings.tables import Columns, table_samples
from liedyn_ros.recordings.units import UNIT_FACTORS

__all__ = [
    'Columns', 'JointSamples', 'ModelSamples', 'pose_table', 'PoseColumns', 'PoseSamples',
    'read_samples', 'table_samples', 'UNIT_FACTORS']
