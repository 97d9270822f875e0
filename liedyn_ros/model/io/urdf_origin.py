# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The element origin of a URDF."""

from liedyn_ros.common.checks import Array
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.parts.geometry import pose

_ZERO = 0.0, 0.0, 0.0


def origin(element: Element, tag: str = 'origin') -> Array:
    """Return the pose (4, 4) of an element origin, the identity where there is none."""
    found = element.optional(tag)
    if found is None:
        return pose()
    return pose(found.numbers('xyz', 3, _ZERO), found.numbers('rpy', 3, _ZERO))
