# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Axes in which the twist of a frame is expressed.

LOCAL has the axes and the origin of the frame: the body twist. WORLD has those of the ground: the
spatial twist. LOCAL_WORLD_ALIGNED has the origin of the frame and the axes of the ground.
"""

from liedyn_ros.jit.decorators import inlined
from liedyn_ros.lie.kernels import mat3, se3

WORLD, LOCAL, LOCAL_WORLD_ALIGNED = range(3)  # as Pinocchio numbers them


@inlined
def are_axes(axes):
    """Return whether a number is one of the three."""
    return WORLD <= axes <= LOCAL_WORLD_ALIGNED


@inlined
def expressed(axes, r, p, w, v):
    """Return a body twist of the frame at the pose (r, p) in axes."""
    if axes == LOCAL:
        return w, v
    if axes == WORLD:
        return se3.adjoint(r, p, w, v)  # (1.2)
    return mat3.apply(r, w), mat3.apply(r, v)
