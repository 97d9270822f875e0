# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Names of a calibration's numbers, and of the combinations that its poses do not tell."""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.calibration.parameters import Geometry, Parameters

OPEN = 0.25  # of the variance before: above it a combination was hardly measured
SHARE = 0.9  # of a combination that named motions explain
PARTS = 4  # of a combination that are named
SMALL = 0.3  # of the greatest part, below which a part is not named
AXES = 'x', 'y', 'z'


class Unknown(NamedTuple):
    """
    A combination of errors of the geometry, and how well it is known.

    text: its parts. errors: (width n,), m or rad and scales, one deviation of it. deviation: its
    size, m, root of the sum of squares. share: of the variance before that is left.
    """

    text: str
    errors: Array
    deviation: float
    share: float


def unknown_combinations(parameters: Parameters, covariance: Array) -> tuple[Unknown, ...]:
    """
    Return the combinations of the geometry's errors, the least known first.

    covariance: (m, m), of the first m numbers of the calibration, whose deviations were 1.
    """
    shares, directions = np.linalg.eigh(covariance)
    named, result = _named(parameters), []
    for k in np.argsort(-shares):
        errors = np.sqrt(max(shares[k], 0.0)) * (parameters.basis @ directions[:, k])
        unit = errors / parameters.deviations
        text = _as_motions(named, unit) or _as_parts(parameters, unit)
        result.append(Unknown(text, errors, float(np.linalg.norm(errors)), float(shares[k])))
    return tuple(result)


def names_of(geometry: Geometry, width: int) -> list[str]:
    """Return the names of the errors of a geometry, width to a leg."""
    parts = [*(f'base {axis}' for axis in AXES), *(f'platform {axis}' for axis in AXES),
             'offset', 'scale'][:width]
    return [f'{leg} {part}' for leg in geometry.leg_names for part in parts]


def _named(parameters: Parameters) -> dict[str, Array]:
    """Return motions and changes of all joints that have a name, over their deviations."""
    geometry, width = parameters.geometry, parameters.width
    n = len(geometry.leg_names)
    result: dict[str, Array] = {}

    def add(name: str, column: int, values: Array) -> None:
        errors = np.zeros((n, width))
        errors[:, column:column + values.shape[1]] = values
        unit = errors.ravel() / parameters.deviations
        result[name] = unit / np.linalg.norm(unit)
    for name, column, joints in (('base', 0, geometry.base_joints),
                                 ('platform', 3, geometry.platform_joints)):
        for axis, unit in zip(AXES, np.eye(3)):
            add(f'shift of all {name} joints along {axis}', column, np.tile(unit, (n, 1)))
            add(f'turn of all {name} joints about {axis}', column, np.cross(unit, joints))
        add(f'size of the {name}', column, joints - joints.mean(axis=0))
    add('offset of all legs', 6, np.ones((n, 1)))
    if width == 8:
        add('scale of all legs', 7, np.ones((n, 1)))
    return result


def _as_motions(named: dict[str, Array], unit: Array) -> str:
    """Return a combination (width n,) as a sum of named changes, or nothing where it is none."""
    motions = np.array(list(named.values())).T
    parts = np.linalg.lstsq(motions, unit, rcond=1e-9)[0]
    left = unit - motions @ parts
    if left @ left > (1.0 - SHARE) * (unit @ unit):
        return ''
    return _listed(list(named), parts)


def _as_parts(parameters: Parameters, unit: Array) -> str:
    return _listed(names_of(parameters.geometry, parameters.width), unit)


def _listed(names: list[str], parts: Array) -> str:
    """Return the greatest parts with their shares, the first of them positive."""
    order = [k for k in np.argsort(-np.abs(parts))[:PARTS]
             if abs(parts[k]) >= SMALL * np.abs(parts).max()]
    return ' '.join(
        (f'{parts[k] / parts[order[0]]:+.2g} ' if place else '') + f'({names[k]})'
        for place, k in enumerate(order))
