# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Check the readings of a Stewart platform at known poses, and name their faults.

`liedyn platform check samples.txt --geometry my.yaml --home 0 0 0.5 0 0 0`.

A line of the file is a pose, x y z (m) roll pitch yaw (degrees), and the six readings there.
Readings are in the order of the legs in the geometry; # begins a comment.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
import sys

import numpy as np

from liedyn_ros.commands.inputs import HelpFormatter, pose_of, read_rows
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import load_geometry, StewartGeometry
from liedyn_ros.stewart.commissioning.check import check, Commissioning, NOISE_POSES
from liedyn_ros.stewart.home import geometry_home
from liedyn_ros.stewart.platform.architecture import architecture

MM, DEGREES = np.diag([1e-3] * 3 + [1.0] * 3), np.diag([1.0] * 3 + [180.0 / np.pi] * 3)
OTHER_POSES = {'positions in mm (write m)': MM, 'angles in rad (write degrees)': DEGREES,
               'positions in mm and angles in rad (write m and degrees)': MM @ DEGREES,
               'angles in the order yaw, pitch, roll (write roll, pitch, yaw)':
                   np.eye(6)[[0, 1, 2, 5, 4, 3]]}
OTHER_UNIT_KINDS = 'unit', 'all_scaled'  # of findings


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the check; return 0 where nothing is wrong, 1 where something is, 2 without one."""
    options = parser().parse_args(arguments)
    try:
        geometry = load_geometry(options.geometry).readings
        rows = read_rows(options.samples, 6 + len(geometry.leg_names))
        home = geometry_home(geometry) if options.home is None else pose_of(options.home)
        found = checked(geometry, rows, home, options.tolerance)
    except LiedynError as error:
        print(f'liedyn platform check: {error}', file=sys.stderr)
        return 2
    print(f'geometry: {options.geometry}\n')
    report(geometry, found)
    built = architecture(geometry)
    for text in (built.reason, built.warning):
        if text:
            print(f'- {text}')
    return 0 if found.right and not built.singular else 1


def checked(
        geometry: StewartGeometry, rows: Array, home: Array, tolerance: float | None
) -> Commissioning:
    """Return the check of rows (n, 6 + legs). Raises LimitError where poses fit another way."""
    def of(change: Array) -> Commissioning:
        poses = np.array([pose_of(row) for row in rows[:, :6] @ change])
        return check(geometry, poses, rows[:, 6:], home, tolerance)

    def fits(found: Commissioning | None) -> bool:  # but for what a parameter undoes exactly
        return found is not None and {each.kind for each in found.findings} <= {
            'unit', 'order', 'home'}
    found = _unless_limited(of, np.eye(6))
    if not fits(found):
        for text, change in OTHER_POSES.items():
            if fits(_unless_limited(of, change)):
                raise LimitError(f'poses: {text} fit')
    return of(np.eye(6)) if found is None else found  # with the error of its own units


def _unless_limited(
        of: Callable[[Array], Commissioning], change: Array) -> Commissioning | None:
    """Return a check, or None where a rod does not reach a pose."""
    try:
        return of(change)
    except LimitError:
        return None


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn platform check', formatter_class=HelpFormatter,
        description='Check the readings of a Stewart platform at known poses.')
    result.add_argument('samples', type=Path, help='file of poses and readings')
    result.add_argument('--geometry', type=Path, default=config_file('stewart_geometry.yaml'),
                        help='geometry file')
    result.add_argument('--home', type=float, nargs=6, default=None,
                        metavar=('X', 'Y', 'Z', 'ROLL', 'PITCH', 'YAW'), help=(
                            'home pose of the node, m and degrees; default: home of the geometry '
                            'file'))
    result.add_argument('--tolerance', type=float, default=None, help=(
        'accuracy of poses and geometry, m or rad; default: from the size of the platform and '
        'the noise of the readings'))
    return result


def report(geometry: StewartGeometry, found: Commissioning) -> None:
    """Print the faults, the parameters that correct them, and measured and expected readings."""
    if found.right:
        print('nothing is wrong with these readings' + (
            ', but these poses do not tell all:' if found.remarks else ''))
    for text in (*(f'- {finding.text}' for finding in found.findings),
                 *(f'({remark})' for remark in found.remarks)):
        print(f'{text}\n')
    if not found.right:
        _print_parameters(geometry, found)
    print(f'\nright within {found.tolerance.most:.3g}' + (
        '' if np.isinf(found.tolerance.noise) else
        f', noise of a reading up to {found.tolerance.noise:.2g}'))
    other_unit = any(finding.kind in OTHER_UNIT_KINDS for finding in found.findings)
    print_table(['pose', 'leg', 'expected', '', 'read', 'read less expected'], [
        [k, name, f'{want:.6f}', leg.unit, f'{got:.6f}',
         'in another unit' if other_unit else f'{got - want:+.6f}']
        for k, row in enumerate(zip(found.expected, found.readings), 1)
        for name, leg, want, got in zip(geometry.leg_names, geometry.leg_types, *row)])


def _print_parameters(geometry: StewartGeometry, found: Commissioning) -> None:
    """Print the greatest errors left by the faults, and the parameters that undo them."""
    print('the greatest error that these faults leave:', ', '.join(
        f'{name} {left:.2g}' for name, left in zip(
            geometry.leg_names, np.abs(found.remaining).max(axis=0))))
    if (found.scales == 1.0).all() and not found.offsets.any() and (
            found.order == tuple(range(len(found.order)))):
        return
    if len(found.readings) < NOISE_POSES:
        print(f'{NOISE_POSES} poses or more tell parameters that undo them')
        return
    print('\nparameters that undo what could be named, where scale was 1 and offset 0:')
    print(f'  actuator_scale: {listed(found.scales)}')
    print(f'  actuator_offset: {listed(found.offsets)}')
    names = ', '.join(geometry.leg_names[k] for k in found.order)
    print(f'  actuator_names: [{names}]')


def listed(values: Array) -> str:
    """Return numbers as a parameter file has them."""
    return f'[{", ".join(repr(round(float(value), 9)) for value in values)}]'


if __name__ == '__main__':
    sys.exit(main())
