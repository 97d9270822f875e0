# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Options of liedyn platform calibrate."""

from __future__ import annotations

import argparse
from pathlib import Path

from liedyn_ros.commands.inputs import HelpFormatter
from liedyn_ros.commands.outputs import folder
from liedyn_ros.recordings.pose_tables import FITTING
from liedyn_ros.stewart.calibration.calibrate import SCALE_TOLERANCE

HOME_METAVAR = 'X', 'Y', 'Z', 'ROLL', 'PITCH', 'YAW'
NEXT_POSE_COUNT = 10  # of next poses
SAMPLE_OPTIONS = {'table': ('legs', 'points', 'pose', 'unit'),
                  'bag': ('topic', 'measured', 'still', 'stand', 'arrival')}


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn platform calibrate', formatter_class=HelpFormatter,
        description='Find joints and offsets of a Stewart platform in measured poses.')
    result.add_argument('geometry', type=Path, help='geometry file to correct')
    result.add_argument('samples', type=Path, help=(
        'a table (.csv, .parquet) of a row for each pose, or a bag (folder, .mcap, .db3)'))
    result.add_argument('--folder', type=folder, default='calibrated',
                        help='folder of the results')
    result.add_argument('--params', type=Path, help=(
        'parameter file of the pose node: home, names, scales and offsets of the actuators'))
    result.add_argument('--home', type=float, nargs=6, metavar=HOME_METAVAR, help=(
        "a pose on the readings' assembly mode, m and degrees; default: as in --params"))
    _add_instrument(result)
    _add_sources(result)
    fit = result.add_argument_group('the fit')
    for name, unit in (('reading', "m, of a servo at the horn's end"), ('position', 'm'),
                       ('rotation', 'rad')):
        fit.add_argument(f'--{name}-noise', type=float, help=(
            f'deviation of a {name}, {unit}; default: estimated'))
    fit.add_argument('--tolerance', type=float, help=(
        "deviation of the file's joints, m; by default 2 %% of the platform's size or more"))
    fit.add_argument('--scale-tolerance', type=float, default=SCALE_TOLERANCE, help=(
        "deviation of the scale of a leg's readings; 0 where they are exact"))
    ahead = result.add_argument_group('the next poses')
    ahead.add_argument('--next', type=int, default=NEXT_POSE_COUNT, help='how many; 0 for none')
    ahead.add_argument('--turn', type=float, help='greatest turn from home, degrees')
    ahead.add_argument('--shift', type=float, help='greatest distance from home, m')
    return result


def _add_instrument(result: argparse.ArgumentParser) -> None:
    group = result.add_argument_group('the instrument, whose unknown frames are found')
    group.add_argument('--instrument', type=float, nargs=6, metavar=HOME_METAVAR, help=(
        "pose of the base in the instrument's frame, m and degrees; estimated by default"))
    group.add_argument('--target', type=float, nargs=6, metavar=HOME_METAVAR, help=(
        "pose of the target in the platform's frame, m and degrees; estimated by default"))
    group.add_argument('--known-frames', action='store_true', help=(
        "the measurements are poses of the platform's frame in the base's, or points by --point"))
    group.add_argument('--point', action='append', default=[], type=_point,
                       metavar='NAME=X,Y,Z', help="a measured point in the platform's frame, m")


def _add_sources(result: argparse.ArgumentParser) -> None:
    tables = result.add_argument_group('tables')
    tables.add_argument('--legs', metavar='COLUMN,...', type=lambda text: text.split(','),
                        help='columns of the legs in their order; by their names if left out')
    tables.add_argument('--points', metavar='NAME,...', type=lambda text: text.split(','),
                        help='positions to use, of several in the table')
    tables.add_argument('--unit', action='append', default=[], type=_unit, metavar='KIND=UNIT',
                        help='unit of reading, position or orientation, such as position=mm')
    tables.add_argument('--pose', metavar='COLUMN,...', action='append', default=[],
                        type=lambda text: text.split(','), help=(
        'columns of x, y, z, with roll, pitch, yaw or a quaternion after them, once for each '
        'point; by number from 1, as for --legs, if the table has no header'))
    bags = result.add_argument_group('bags')
    bags.add_argument('--topic', default='leg_states', help='topic of the leg states')
    bags.add_argument('--measured', action='append', default=[], metavar='TOPIC',
                      help='topic of the measurements; several of points')
    bags.add_argument('--still', type=float, help=(
        'largest movement of a reading during a standstill, m or rad; default: 0.1 %% of the size '
        'of the platform'))
    bags.add_argument('--stand', type=float, default=0.5, help='shortest standstill, s')
    bags.add_argument('--arrival', action='store_true', help=(
        'use the times of arrival, for headers without stamps'))


def _point(text: str) -> tuple[str, list[float]]:
    name, equal, values = text.partition('=')
    try:
        numbers = [float(each) for each in values.split(',')]
    except ValueError:
        numbers = []
    if not equal or len(numbers) != 3:
        raise argparse.ArgumentTypeError(f'expected NAME=X,Y,Z, got {text!r}')
    return name, numbers


def _unit(text: str) -> tuple[str, str]:
    kind, _, unit = text.partition('=')
    if unit not in FITTING.get(kind, ()):
        raise argparse.ArgumentTypeError('expected ' + ', '.join(
            f'{each}={"|".join(units)}' for each, units in FITTING.items()) + f', got {text!r}')
    return kind, unit
