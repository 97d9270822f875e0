# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model with other inertias, resistances and armatures, or with scaled masses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, require_known
from liedyn_ros.common.errors import LimitError, ModelError
from liedyn_ros.lie import se3
from liedyn_ros.model.expansion import expand, numbered
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import SpatialInertia
from liedyn_ros.model.parts.joints import Joint, per_coordinate


def inertia_of(parameters: ArrayLike, physical: bool = True) -> SpatialInertia:
    """
    Return the inertia of ten parameters, the inverse of SpatialInertia.parameters.

    Args:
        parameters: (10,): m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the origin; kg, kg m, kg
            m^2.
        physical: whether numbers that no body has are refused.

    Returns:
        the inertia.

    Raises:
        InertiaError: for numbers that no body has.
        LiedynError: for another shape, or a number that is not finite.

    >>> inertia_of([2.0, 0.0, 0.0, 0.2, 0.1, 0.0, 0.0, 0.1, 0.0, 0.05]).center_of_mass
    array([0. , 0. , 0.1])
    """
    mass, *rest = as_array('parameters', parameters, (10,)).tolist()
    xx, xy, xz, yy, yz, zz = rest[3:]
    center = np.array(rest[:3]) / mass if mass > 0.0 else np.zeros(3)
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return SpatialInertia(mass, center, about_origin - mass * (
        center @ center * np.eye(3) - np.outer(center, center)), physical)


def with_inertias(model: Model, parameters: Mapping[str, ArrayLike]) -> Model:
    """
    Return a model with other inertias; bodies not named stay.

    Args:
        model: a Model.
        parameters: (10,) by body, as SpatialInertia.parameters has them.

    Returns:
        the model.

    Raises:
        ModelError: for an unknown name.
        InertiaError: for numbers that no body has.

    >>> with_inertias(model, {'tool': [1.0] + [0.0] * 9}).body('tool').inertia.mass
    1.0
    """
    require_known(ModelError, 'parameters', model.bodies, parameters)
    bodies = tuple(
        replace(body, inertia=inertia_of(parameters[body.name])) if body.name in parameters
        else body for body in model.body_list)
    return replace(model, body_list=bodies,
                   link_table=expand(bodies, model.joint_list, model.gravity))


def with_resistances(model: Model, damping: Mapping[str, float], friction: Mapping[str, float]
                     ) -> Model:
    """
    Return a model with other damping and Coulomb friction; coordinates not named stay.

    Args:
        model: a Model.
        damping: by coordinate, 0 or more; N m s/rad or N s/m.
        friction: by coordinate, 0 or more; N m or N.

    Returns:
        the model.

    Raises:
        ModelError: for an unknown name.
        LimitError: for a negative number.

    >>> with_resistances(model, {'elbow': 2.0}, {}).joint('elbow').damping
    array([2.])
    """
    return _with(model, damping=damping, friction=friction)


def with_armatures(model: Model, armatures: Mapping[str, float]) -> Model:
    """
    Return a model with other armatures; joints that are not named keep theirs.

    Args:
        model: a Model.
        armatures: by coordinate, 0 or more; kg m^2 or kg.

    Returns:
        the model.

    Raises:
        ModelError: for an unknown name.
        LimitError: for a negative number.

    >>> with_armatures(model, {'elbow': 0.3}).joint('elbow').armature
    array([0.3])
    """
    return _with(model, armature=armatures)


def with_placements(model: Model, placements: Mapping[str, ArrayLike]) -> Model:
    """
    Return a model with other placements of joints; joints that are not named keep theirs.

    Args:
        model: a Model.
        placements: poses (4, 4) by joint; m.

    Returns:
        the model.

    Raises:
        ModelError: for an unknown name.
        NotInGroupError: for a matrix that is no pose.

    >>> moved = with_placements(model, {'elbow': ld.pose([0.0, 0.0, 1.0])})
    >>> moved.joint('elbow').placement[2, 3].item()
    1.0
    """
    require_known(ModelError, 'joints', model.joints, placements, 'joints')
    given = {name: se3.require_pose(name, placement) for name, placement in placements.items()}
    joints = numbered([replace(joint, placement=given[joint.name]) if joint.name in given
                       else joint for joint in model.joint_list])
    return replace(model, joint_list=joints,
                   link_table=expand(model.body_list, joints, model.gravity))


def with_gravity(model: Model, gravity: ArrayLike) -> Model:
    """
    Return a model with another gravity.

    Args:
        model: a Model.
        gravity: acceleration (3,) in the ground; m/s^2.

    Returns:
        the model.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> with_gravity(model, [0.0, 0.0, -1.62]).gravity
    array([ 0.  ,  0.  , -1.62])
    """
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


def scale_masses(model: Model, factor: float) -> Model:
    """
    Return a model with all masses and inertias multiplied by a factor, armatures too.

    So the mass matrix has that factor. Springs, damping and friction stay.

    Args:
        model: a Model.
        factor: above 0.

    Returns:
        the model.

    Raises:
        LimitError: for another factor.

    >>> heavy = ld.Dynamics(scale_masses(model, 2.0))
    >>> np.allclose(heavy.mass_matrix(q), 2.0 * robot.mass_matrix(q))
    True
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
