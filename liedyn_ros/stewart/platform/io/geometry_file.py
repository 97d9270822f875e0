# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Geometry files of Stewart platforms; docs/conventions.md has their keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import math
from pathlib import Path
import re
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import (
    DescriptionError, DescriptionWarning, GeometryError, LiedynError, LimitError, warn)
from liedyn_ros.common.untrusted_files import read_file
from liedyn_ros.common.yaml_reader import Node, read, write_text
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.stewart.platform.architecture import architectural_fault
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry, with_tool
from liedyn_ros.stewart.platform.description.geometry_covariance import (
    covariance_of_rows, turned_covariance)
from liedyn_ros.stewart.platform.description.leg_checks import unlimited_cones, usual_forces
from liedyn_ros.stewart.platform.description.leg_types import (
    Crank, LEAST_SINE, LegType, OffsetStrut, Rail, Stage, Strut, Wire)
from liedyn_ros.stewart.platform.description.masses import read_masses
from liedyn_ros.stewart.platform.kinematics import home_fault, leg_lengths

MAX_SIZE = 20.0  # m, of a platform; beyond it numbers are taken for mm
RAISES = {'raises': 1.0, 'lowers': -1.0}  # what a positive turn of a crank does
_LEGS = re.compile(rb'^legs\s*:', re.MULTILINE)


def is_geometry_file(path: str | Path) -> bool:
    """Return whether a file is the geometry of a platform: a YAML file with legs."""
    try:
        return Path(path).suffix in ('.yaml', '.yml') and bool(_LEGS.search(read_file(path)))
    except DescriptionError:  # whoever reads it next raises it with the path
        return False


def load_geometry(path: str | Path) -> StewartGeometry:
    """
    Read the geometry file of a platform.

    Warns, by DescriptionWarning, of numbers that look like mm, of a home that is out of reach or
    exceeds limits, and of a platform singular at nearly every pose, with the direction in which
    it is free.

    Args:
        path: of a YAML file, in m and rad.

    Returns:
        the StewartGeometry.

    Raises:
        GeometryError: for a file that does not describe a platform.

    >>> len(ld.load_geometry(config_file('stewart_geometry.yaml')).leg_names)
    6
    """
    try:
        geometry = _geometry(read(path, 'geometry'))
    except LiedynError as error:
        raise GeometryError(f'{path}: {error}') from error
    for each in {geometry, geometry.readings}:
        for fault in filter(None, (architectural_fault(each), home_fault(each))):
            warn(f'{path}: {fault}', DescriptionWarning)
    largest = geometry.characteristic_length
    if coarse := {name: leg.lead for name, leg in zip(geometry.leg_names, geometry.leg_types)
                  if isinstance(leg, OffsetStrut) and abs(leg.lead) > largest}:
        warn(f"{path}: lead: {coarse} m per turn is more than the platform's radius; "
             'a file has m, and this looks like mm', DescriptionWarning)
    if (reach := np.abs(geometry.platform_joints).max()) > MAX_SIZE:
        warn(f'{path}: a joint is {reach:g} m from the origin of the platform; a file '
             'has m, and this looks like mm', DescriptionWarning)
    return geometry


def geometry_of(mapping: Any) -> StewartGeometry:
    """
    Return the geometry of a file's content.

    Args:
        mapping: what YAML reads; lengths in m, angles in rad.

    Returns:
        the geometry.

    Raises:
        DescriptionError: for content that is no geometry.
        GeometryError: for a geometry that cannot be built.

    >>> import yaml
    >>> text = config_file('stewart_geometry.yaml').read_text()
    >>> geometry_of(yaml.safe_load(text)).leg_names == geometry.leg_names
    True
    """
    return _geometry(Node(mapping, 'geometry'))


def _geometry(root: Node) -> StewartGeometry:
    """Return the geometry in a file, poses being of its tool."""
    named = root.take('legs').items()
    names = tuple(leg_name for leg_name, _ in named)
    beside = [leg.optional('encoder') for _, leg in named]
    legs = [_leg(leg) for _, leg in named]
    _ask_of_travels(names, legs)
    title, diameter = root.take('name', 'stewart_platform').text(), root.take('leg_diameter', 0.0)
    masses, tool, home = (root.optional(key) for key in ('masses', 'tool', 'home'))
    covariance = _covariance(root.optional('calibration_covariance'))
    root.finish()
    machine = None if masses is None else read_masses(
        masses, names, [leg['leg_types'].driven for leg in legs])
    frame, at = (None if node is None else tool_of(node) for node in (tool, home))

    def platform_of(nodes: list[Node], rows: list[dict[str, Any]],
                    **others: Any) -> StewartGeometry:
        """Return the platform of legs, which a calibration knows by their readings."""
        parts: dict[str, Any] = {key: [row[key] for row in rows] for key in rows[0]}
        parts['leg_types'] = tuple(parts['leg_types'])
        geometry = StewartGeometry(names, name=title, **parts, **others)
        geometry = geometry if frame is None else with_tool(geometry, frame)
        return geometry if at is None else _with_cranks_of_home(
            replace(geometry, home=at), [_is_open(node) for node in nodes])

    drives = [node for _, node in named]
    if not any(beside):
        return platform_of(drives, legs, leg_diameter=diameter.number(), masses=machine,
                           calibration_covariance=covariance)
    readings = [leg if node is None else _leg(node) for leg, node in zip(legs, beside)]
    nodes = [leg if node is None else node for leg, node in zip(drives, beside)]
    return platform_of(
        drives, legs, leg_diameter=diameter.number(), masses=machine,
        encoders=platform_of(nodes, readings, calibration_covariance=covariance))


def _ask_of_travels(names: tuple[str, ...], legs: list[dict[str, Any]]) -> None:
    """Warn of cranks that travel more than a turn to one side: their numbers look like degrees."""
    far = {name: leg['length_limits'] for name, leg in zip(names, legs)
           if isinstance(leg['leg_types'], Crank)
           and any(2.0 * math.pi < abs(limit) < math.inf for limit in leg['length_limits'])}
    if far:
        limit = f'{max(next(iter(far.values()))):g}'
        warn(f"travel of {', '.join(far)}: {limit} rad looks like degrees, which are written "
             f"'{limit} deg'", DescriptionWarning)


def _is_open(leg: Node) -> bool:
    """Return whether a leg has a crank whose side home is to tell."""
    crank = leg.optional('crank')
    return crank is not None and crank.optional('pushes') is None


def _with_cranks_of_home(geometry: StewartGeometry, is_open: list[bool]) -> StewartGeometry:
    """
    Return a platform whose open cranks are on the side that home tells.

    Of the two angles at home it is the one within the travel, of two such the one nearest to 0.
    Warns, by DescriptionWarning, where that is not the usual side. Raises LimitError where an
    angle at home is outside the travel.
    """
    if geometry.home is None or not any(isinstance(leg, Crank) for leg in geometry.leg_types):
        return geometry
    sides = {pushes: replace(geometry, leg_types=tuple(
        replace(leg, pushes=pushes) if isinstance(leg, Crank) else leg
        for leg in geometry.leg_types)) for pushes in (True, False)}
    try:
        angles = {pushes: leg_lengths(side, geometry.home) for pushes, side in sides.items()}
    except LimitError:  # home is out of reach
        return geometry
    legs, doubtful = list(geometry.leg_types), []
    for i, leg in enumerate(legs):
        if isinstance(leg, Crank):
            mine, other = (float(angles[pushes][i]) for pushes in (leg.pushes, not leg.pushes))
            limits = geometry.length_limits[i].tolist()
            is_mine, is_other = (limits[0] <= angle <= limits[1] for angle in (mine, other))
            if is_open[i] and is_other and not (is_mine and abs(mine) <= abs(other)):
                legs[i] = replace(leg, pushes=not leg.pushes)
                doubtful += [geometry.leg_names[i]] * is_mine
            elif not is_mine:
                hint = (f'; with pushes: {str(not leg.pushes).lower()} it is {_degrees(other)} '
                        'deg') if is_other else ''
                raise LimitError(
                    f'{geometry.leg_names[i]}: at home the angle is {_degrees(mine)} deg, outside '
                    f'travel {_degrees(limits[0])} to {_degrees(limits[1])} deg{hint}',
                    names=(geometry.leg_names[i],), expected=tuple(limits), got=mine, indices=(i,))
    if doubtful:
        warn(f'{", ".join(doubtful)}: both angles at home are within the travel; pushes: false is '
             'taken, whose angle is nearest to 0: say pushes', DescriptionWarning)
    return replace(geometry, leg_types=tuple(legs))


def _degrees(angle: float) -> str:
    """Return an angle in degrees, to a tenth."""
    return f'{round(math.degrees(angle), 1) + 0.0:g}'


def _leg(leg: Node) -> dict[str, Any]:
    """Return the rows of a leg, or of an encoder beside it, by part of a geometry."""
    leg_type, limits = _leg_type(leg)
    row: dict[str, Any] = {
        'base_joints': leg.take('base').numbers(3), 'leg_types': leg_type,
        'platform_joints': leg.take('platform').numbers(3), 'length_limits': limits}
    for key, usual in (('base_cone', 1.0), ('platform_cone', -1.0)):
        cone = leg.optional(key)
        row[f'{key}s'] = unlimited_cones(usual, 1)[0]
        if cone is not None:
            row[f'{key}s'] = [*cone.take('axis').numbers(3), cone.take('angle').angle()]
            cone.finish()
    row |= {f'leg_{key}': leg.take(key, 0.0).number() for key in ('noise', 'latency')}
    row['force_limits'] = leg.take('force', list(usual_forces(leg_type))).numbers(
        2, infinite=True)
    leg.finish()
    return row


def _covariance(node: Node | None) -> Array | None:
    """Return the matrix whose lower triangle a file has, row by row."""
    if node is None:
        return None
    return np.array(covariance_of_rows([row.numbers() for row in node.sequence()]))


def tool_of(node: Node) -> Array:
    """
    Return a pose (4, 4), m, of keys position and rotation, either of which may be left out.

    The rotation is `rpy`, or `euler` with the axes of its turns, in capitals where each turn is
    about axes that the ones before have turned (Rotation.from_euler of SciPy).
    """
    origin = [0.0, 0.0, 0.0]
    position, euler = node.take('position', origin).numbers(3), node.optional('euler')
    if euler is not None:
        axes, angles = euler.take('axes').text(), euler.take('angles').angles(3)
        if not re.fullmatch('[xyz]{3}|[XYZ]{3}', axes) or axes[1] in (axes[0], axes[2]):
            euler.fail('axes such as XYZ, zyx or ZXZ', axes)
        euler.finish()
        node.finish()
        from scipy.spatial.transform import Rotation  # which takes long to import
        rotation = Rotation.from_euler(axes, angles).as_matrix()
        return SE3.from_rotation_translation(rotation, position).matrix
    rpy = node.take('rpy', origin).angles(3)
    node.finish()
    return SE3.from_rotation_translation(SO3.from_rpy(*rpy), position).matrix


def _leg_type(leg: Node) -> tuple[LegType, list[float]]:
    """Return a leg's type and the limits of its drive coordinate."""
    drives = {key: leg.optional(key) for key in (*DRIVES, 'wire')}
    strut = {key: leg.optional(key) for key in (
        'base_universal', 'platform_universal', 'lead', 'lead_zero')}
    given = [key for key, node in drives.items() if node is not None]
    if (rod := leg.optional('fixed')) is not None:
        if given or any(strut.values()) or leg.optional('length') is not None:
            leg.fail(f'fixed alone, without length, {", ".join((*drives, *strut))}')
        if not rod.number() > 0.0:
            rod.fail('a length above 0 m')
        return Strut(rod.number()), [0.0, math.inf]
    if len(given) > 1 or (given and any(strut.values())):
        leg.fail(f'one of {", ".join(drives)} and universal joints at most')
    if not given or given == ['wire']:
        limits = leg.take('length', [0.0, math.inf]).numbers(2, infinite=True)
        wire = drives['wire']
        return _strut(leg, strut) if wire is None else _wire(wire), limits
    drive = leg.take(given[0])
    with drive.context():
        leg_type = DRIVES[given[0]](drive)
    travel = drive.take('travel', [-math.inf, math.inf])
    limits = (travel.angles(2, infinite=True) if isinstance(leg_type, Crank)
              else travel.numbers(2, infinite=True))
    drive.finish()
    return leg_type, limits


def _rail(drive: Node) -> LegType:
    return Rail(_vector(drive, 'direction'), drive.take('rod').number(),
                drive.take('pushes', True).truth())


def _crank(drive: Node) -> LegType:
    axis = drive.take('axis')
    if isinstance(axis.value, str):  # a crank in an upright plane, and what its turn does
        if axis.value not in RAISES:
            axis.fail(f'three numbers, or one of {", ".join(RAISES)}', axis.value)
        zero = np.array(_vector(drive, 'zero'))
        across = RAISES[axis.value] * np.cross(zero, [0.0, 0.0, 1.0])
        if not np.linalg.norm(across) > LEAST_SINE * np.linalg.norm(zero):
            axis.fail('a crank that is not upright at 0, or three numbers', axis.value)
        return _crank_about(drive, tuple(across.tolist()))
    return _crank_about(drive, _vector(drive, 'axis'))


def _crank_about(drive: Node, axis: tuple[float, ...]) -> LegType:
    return Crank(axis, _vector(drive, 'zero'), drive.take('radius').number(),
                 drive.take('rod').number(), drive.take('pushes', True).truth())


def _stage(drive: Node) -> LegType:
    return Stage(_vector(drive, 'direction'), _vector(drive, 'other'), _vector(drive, 'guide'),
                 drive.take('carried', False).truth())


DRIVES: dict[str, Callable[[Node], LegType]] = {'rail': _rail, 'crank': _crank, 'stage': _stage}


def _wire(wire: Node) -> LegType:
    with wire.context():
        leg_type = Wire(_vector(wire, 'axis'), wire.take('radius').number())
    wire.finish()
    return leg_type


def _strut(leg: Node, parts: dict[str, Node | None]) -> LegType:
    """Return the type of a strut on the universal joints of a file."""
    numbers: dict[str, Any] = {}
    lead, zero = parts['lead'], parts['lead_zero']
    for end in ('base', 'platform'):
        joint = parts[f'{end}_universal']
        if joint is not None:
            numbers[f'{end}_axis'] = _vector(joint, 'axis')
            numbers[f'{end}_offset'] = joint.take(
                'offset', *([0.0] if lead is not None else [])).number()
            joint.finish()
    if lead is not None:
        if len(numbers) < 4:
            leg.fail('base_universal and platform_universal with lead')
        numbers['lead'] = lead.number()
        numbers['lead_zero'] = 0.0 if zero is None else zero.angle()
    elif zero is not None:
        leg.fail('lead with lead_zero')
    return OffsetStrut(**numbers) if numbers else Strut()


def _vector(node: Node, key: str) -> tuple[float, ...]:
    return tuple(node.take(key).numbers(3))


def updated_geometry(source: str | Path, geometry: StewartGeometry) -> str:
    """
    Return the text of a geometry file with the joints and the covariance of readings of it.

    Limits, leg types, masses and the tool stay; comments are lost.

    Args:
        source: the file, or its text.
        geometry: the new one.

    Returns:
        the text.

    Raises:
        DescriptionError: for a file that is no geometry.

    >>> updated_geometry(config_file('stewart_geometry.yaml'), geometry)[:1] != ''
    True
    """
    if load_geometry(source).leg_names != geometry.leg_names:
        raise GeometryError(f'{source}: expected the legs {list(geometry.leg_names)}, got '
                            f'{list(load_geometry(source).leg_names)}')
    content: dict[str, Any] = read(source, 'geometry').value
    covariance, platform = geometry.calibration_covariance, geometry.platform_joints
    tool = content.get('tool')
    if tool is not None:  # the file has joints and covariance in the frame before it
        pose = tool_of(Node(tool, 'tool'))
        platform = platform @ pose[:3, :3].T + pose[:3, 3]
        if covariance is not None:
            covariance = turned_covariance(covariance, len(platform), pose[:3, :3].T)
    for name, base, joint in zip(geometry.leg_names, geometry.base_joints, platform):
        leg = content['legs'][name]
        leg.get('encoder', leg).update(base=base.tolist(), platform=joint.tolist())
    content.pop('calibration_covariance', None)
    if covariance is not None:
        content['calibration_covariance'] = [
            row[:k + 1].tolist() for k, row in enumerate(np.asarray(covariance))]
    return write_text(content)
