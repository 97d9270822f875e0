# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A named frame on a body, such as a tool centre or the place of a sensor."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.model.parts.geometry import checked_pose, IDENTITY


@dataclass(frozen=True, eq=False, init=False)
class Frame:
    """
    A frame that stays at its place on a body.

    body is None for a frame on the ground. placement (4, 4) is the pose of the frame in that of
    its body.
    """

    name: str
    body: str | None
    placement: Array

    def __init__(self, name: str, body: str | None, placement: ArrayLike | None = None) -> None:
        """Check the placement; raises ShapeError, NotFiniteError or NotInGroupError."""
        object.__setattr__(self, 'name', name)
        object.__setattr__(self, 'body', body)
        object.__setattr__(self, 'placement', IDENTITY if placement is None else checked_pose(
            f'frame {name}: placement', placement))
