# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Geometric paths of joints, closed loops and platforms, in parts and put together."""

from liedyn_ros.retiming.paths.blended_path import BlendedPath
from liedyn_ros.retiming.paths.loop_path import LoopPath
from liedyn_ros.retiming.paths.named_path import path_through
from liedyn_ros.retiming.paths.path import (
    JoinedPath, MovingEnd, Path, PathPart, PathSamples, SplinePath)
from liedyn_ros.retiming.paths.platform_path import PlatformPath

__all__ = ['BlendedPath', 'JoinedPath', 'LoopPath', 'MovingEnd', 'Path', 'path_through',
           'PathPart', 'PathSamples', 'PlatformPath', 'SplinePath']
