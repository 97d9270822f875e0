# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The dynamics of a platform of any number of legs."""

from liedyn_ros.stewart.dynamics.dynamics import StewartDynamics
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.redundant_geometry import RedundantGeometry
from liedyn_ros.stewart.redundant.dynamics import RedundantDynamics

AnyDynamics = StewartDynamics | RedundantDynamics


def dynamics_of(geometry: StewartGeometry | RedundantGeometry) -> AnyDynamics:
    """Return the dynamics of a geometry with masses. Raises GeometryError."""
    if isinstance(geometry, RedundantGeometry):
        return RedundantDynamics(geometry)
    return StewartDynamics(geometry)
