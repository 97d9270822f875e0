# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model with other masses, for controllers that know their machine with an error."""

from dataclasses import replace
import math

from liedyn_ros.common.errors import LimitError
from liedyn_ros.model.expansion import expand
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.inertia import SpatialInertia


def scale_masses(model: Model, factor: float) -> Model:
    """
    Return the model with all masses and inertias multiplied by a factor, armatures too.

    So the mass matrix has that factor. Springs, damping and friction stay. Raises LimitError
    unless the factor is a number above 0.
    """
    if not 0.0 < factor < math.inf:
        raise LimitError(f'factor: expected a number above 0, got {factor}')
    bodies = tuple(replace(body, inertia=_scaled(body.inertia, factor))
                   for body in model.body_list)
    joints = tuple(replace(joint, armature=factor * joint.armature) for joint in model.joint_list)
    return replace(model, body_list=bodies, joint_list=joints,
                   link_table=expand(bodies, joints, model.gravity))


def _scaled(inertia: SpatialInertia | None, factor: float) -> SpatialInertia | None:
    if inertia is None:
        return None
    return SpatialInertia(factor * inertia.mass, inertia.center_of_mass,
                          factor * inertia.inertia_about_com, physical=False)
