# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model with other inertias, and with other resistances and armatures at its joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, require_known
from liedyn_ros.common.errors import LimitError, ModelError
from liedyn_ros.lie import se3
from liedyn_ros.model.expansion import expand, numbered
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.inertia import SpatialInertia
from liedyn_ros.model.parts.joints import Joint, per_coordinate


def inertia_of(parameters: ArrayLike) -> SpatialInertia:
    """
    Return the inertia of ten parameters (10,), SpatialInertia.parameters undone.

    Raises ShapeError, NotFiniteError, or InertiaError for numbers that no body has.
    """
    mass, *rest = as_array('parameters', parameters, (10,)).tolist()
    xx, xy, xz, yy, yz, zz = rest[3:]
    center = np.array(rest[:3]) / mass if mass > 0.0 else np.zeros(3)
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return SpatialInertia(mass, center, about_origin - mass * (
        center @ center * np.eye(3) - np.outer(center, center)))


def with_inertias(model: Model, parameters: Mapping[str, ArrayLike]) -> Model:
    """Return the model with ten parameters (10,) for bodies by name; other bodies stay."""
    require_known(ModelError, 'parameters', model.bodies, parameters)
    bodies = tuple(
        replace(body, inertia=inertia_of(parameters[body.name])) if body.name in parameters
        else body for body in model.body_list)
    return replace(model, body_list=bodies,
                   link_table=expand(bodies, model.joint_list, model.gravity))


def with_resistances(model: Model, damping: Mapping[str, float], friction: Mapping[str, float]
                     ) -> Model:
    """
    Return the model with damping and Coulomb friction of coordinates by name; others stay.

    In N m s/rad or N s/m, and N m or N. Raises ModelError for an unknown name, and LimitError for
    a negative number.
    """
    return _with(model, damping=damping, friction=friction)


def with_armatures(model: Model, armatures: Mapping[str, float]) -> Model:
    """
    Return the model with armatures of coordinates by name, kg m^2 or kg; others stay.

    Raises ModelError for an unknown name, and LimitError for a negative number.
    """
    return _with(model, armature=armatures)


def with_placements(model: Model, placements: Mapping[str, ArrayLike]) -> Model:
    """
    Return the model with placements (4, 4), m, of joints by name in their parents; others stay.

    Raises ModelError for an unknown name, and NotInGroupError.
    """
    require_known(ModelError, 'joints', model.joints, placements, 'joints')
    given = {name: se3.require_pose(name, placement) for name, placement in placements.items()}
    joints = numbered([replace(joint, placement=given[joint.name]) if joint.name in given
                       else joint for joint in model.joint_list])
    return replace(model, joint_list=joints,
                   link_table=expand(model.body_list, joints, model.gravity))


def with_gravity(model: Model, gravity: ArrayLike) -> Model:
    """Return the model with another gravity, the acceleration (3,) in the ground frame, m/s^2."""
    return replace(model, link_table=expand(
        model.body_list, model.joint_list, as_array('gravity', gravity, (3,))))


def _with(model: Model, **given: Mapping[str, float]) -> Model:
    """Return the model with numbers of its coordinates by name, for each of some kinds."""
    require_known(ModelError, 'joints', model.coordinate_names, sorted(
        set().union(*given.values())), 'coordinates')
    for values in given.values():
        for name, value in values.items():
            if not value >= 0.0:
                raise LimitError(f'{name}: expected at least 0, got {value}')

    def changed(joint: Joint) -> dict[str, Any]:
        return {kind: _changed(joint, values, getattr(joint, kind))
                for kind, values in given.items()}

    joints = numbered([replace(joint, **changed(joint)) for joint in model.joint_list])
    return replace(model, joint_list=joints,
                   link_table=expand(model.body_list, joints, model.gravity))


def _changed(joint: Joint, given: Mapping[str, float], old: Array) -> Array:
    names = joint.coordinate_names
    return per_coordinate(joint.name, np.array(
        [given.get(name, before) for name, before in zip(names, old.tolist())]), len(names))
