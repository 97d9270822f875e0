# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Models and kernels for C: the file that `libliedyn` reads, and the objects it is made of."""

from liedyn_ros.export.casadi_source import casadi_source, write_casadi_source
from liedyn_ros.export.loops_file import loops_bytes, write_loops
from liedyn_ros.export.model_file import (
    model_bytes, platform_bytes, write_model, write_platform)

__all__ = ['casadi_source', 'loops_bytes', 'model_bytes', 'platform_bytes',
           'write_casadi_source', 'write_loops', 'write_model', 'write_platform']
