# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Geometry files of Stewart platforms; docs/conventions.md has their keys."""

import math
from pathlib import Path
from typing import Any
import warnings

import numpy as np

from liedyn_ros.common.errors import DescriptionWarning, GeometryError, LiedynError
from liedyn_ros.common.yaml_reader import Node, read
from liedyn_ros.stewart.platform.architecture import architectural_fault
from liedyn_ros.stewart.platform.geometry import StewartGeometry, unlimited_cones
from liedyn_ros.stewart.platform.leg_types import Crank, LegType, OffsetStrut, Rail, Strut
from liedyn_ros.stewart.platform.masses import read_masses


def load_geometry(path: str | Path) -> StewartGeometry:
    """
    Read a geometry file, in m and rad.

    Raises GeometryError. Warns, by DescriptionWarning, of a platform that is singular at every
    pose or nearly so, with the direction in which it is free.
    """
    try:
        geometry = _geometry(read(path, 'geometry'))
    except LiedynError as error:
        raise GeometryError(f'{path}: {error}') from error
    if fault := architectural_fault(geometry):
        warnings.warn(f'{path}: {fault}', DescriptionWarning, stacklevel=2)
    return geometry


def geometry_of(mapping: Any) -> StewartGeometry:
    """
    Return the geometry of a file's content, in m and rad.

    Raises DescriptionError, or the errors of StewartGeometry.
    """
    return _geometry(Node(mapping, 'geometry'))


def _geometry(root: Node) -> StewartGeometry:
    legs = root.take('legs')
    named = legs.items()
    if len(named) != 6:
        raise GeometryError(f'{legs.path}: expected six legs, got {[name for name, _ in named]}')
    base, platform, limits = np.empty((6, 3)), np.empty((6, 3)), np.empty((6, 2))
    cones = {'base_cone': unlimited_cones(1.0), 'platform_cone': unlimited_cones(-1.0)}
    leg_types: list[LegType] = []
    for k, (_, leg) in enumerate(named):
        base[k], platform[k] = leg.take('base').numbers(3), leg.take('platform').numbers(3)
        leg_type, limits[k] = _leg_type(leg)
        leg_types.append(leg_type)
        for key, rows in cones.items():
            cone = leg.optional(key)
            if cone is not None:
                rows[k] = *cone.take('axis').numbers(3), cone.take('angle').number()
                cone.finish()
        leg.finish()
    name, diameter = root.take('name', 'stewart_platform'), root.take('leg_diameter', 0.0)
    names, masses = tuple(leg_name for leg_name, _ in named), root.optional('masses')
    root.finish()
    return StewartGeometry(
        names, base, platform, limits, name.text(), cones['base_cone'], cones['platform_cone'],
        diameter.number(), tuple(leg_types), None if masses is None else read_masses(
            masses, names, [leg_type.driven for leg_type in leg_types]))


def _leg_type(leg: Node) -> tuple[LegType, list[float]]:
    """Return a leg's type and the limits of its drive coordinate."""
    drives = {key: leg.optional(key) for key in ('rail', 'crank')}
    universal = {end: leg.optional(f'{end}_universal') for end in ('base', 'platform')}
    given = [node for node in drives.values() if node is not None]
    if len(given) > 1 or (given and any(universal.values())):
        leg.fail('one of rail, crank and offset universal joints at most')
    if not given:
        limits = leg.take('length', [0.0, math.inf]).numbers(2, infinite=True)
        return _strut(universal), limits
    drive = given[0]
    with drive.context():
        if drive is drives['rail']:
            leg_type: LegType = Rail(
                tuple(drive.take('direction').numbers(3)), drive.take('rod').number(),
                drive.take('pushes', True).truth())
        else:
            leg_type = Crank(
                tuple(drive.take('axis').numbers(3)), tuple(drive.take('zero').numbers(3)),
                drive.take('radius').number(), drive.take('rod').number(),
                drive.take('pushes', True).truth())
    limits = drive.take('travel', [-math.inf, math.inf]).numbers(2, infinite=True)
    drive.finish()
    return leg_type, limits


def _strut(universal: dict[str, Node | None]) -> LegType:
    """Return the type of a strut on the universal joints of a file."""
    numbers: dict[str, Any] = {}
    for end, joint in universal.items():
        if joint is not None:
            numbers[f'{end}_axis'] = tuple(joint.take('axis').numbers(3))
            numbers[f'{end}_offset'] = joint.take('offset').number()
            joint.finish()
    return OffsetStrut(**numbers) if numbers else Strut()
