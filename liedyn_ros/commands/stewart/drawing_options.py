# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Options of the commands that draw a platform; their `--help` needs no package that draws."""

import argparse
import math
from pathlib import Path

from liedyn_ros.commands import outputs
from liedyn_ros.commands.inputs import HelpFormatter
from liedyn_ros.commands.work import add_work_options
from liedyn_ros.common.resources import config_file

WORKSPACE_FOLDER, MODES_PICTURE = 'out/stewart_workspace', 'out/assembly_modes.png'
PAPER_POSE = (0.0, 0.0, 0.5, 20.0, 0.0, -30.0)  # q_C


def workspace_parser() -> argparse.ArgumentParser:
    """Return the options of `liedyn platform workspace`."""
    result = argparse.ArgumentParser(
        prog='liedyn platform workspace', description='Map the workspace of a Stewart platform.',
        formatter_class=HelpFormatter)
    result.add_argument('--geometry', type=Path, default=config_file('stewart_geometry.yaml'),
                        help='geometry file')
    for name in ('roll', 'pitch', 'yaw'):
        result.add_argument(f'--{name}', type=float, nargs='+', default=[0.0],
                            help='degrees; several give a map of each combination')
    result.add_argument('--home', type=float, nargs=3, default=None, metavar='M', help=(
                            'position x y z where the usable part begins, m; default: home of '
                            'the geometry file'))
    result.add_argument('--threshold', type=float, default=0.05,
                        help='smallest singular value that counts as regular')
    result.add_argument('--steps', type=int, default=41, help='positions along each axis')
    result.add_argument('--folder', type=outputs.folder, default=WORKSPACE_FOLDER,
                        help='where to draw the picture')
    result.add_argument('--format', choices=[suffix[1:] for suffix in outputs.PICTURE_SUFFIXES],
                        default='png', help='format of the picture')
    add_work_options(result)
    return result


def modes_parser() -> argparse.ArgumentParser:
    """Return the options of `liedyn platform modes`."""
    result = argparse.ArgumentParser(
        prog='liedyn platform modes',
        description='Every pose of a Stewart platform that six leg lengths allow.')
    result.add_argument('--geometry', type=Path, default=config_file('stewart_geometry.yaml'),
                        help='geometry file (default: the platform of the Stewart paper)')
    asked = result.add_mutually_exclusive_group()
    asked.add_argument('--lengths', type=float, nargs=6, metavar='L',
                       help='leg lengths or positions of carriages in m, angles of cranks in '
                            "rad, in the order of the geometry's legs")
    asked.add_argument('--pose', type=float, nargs=6, default=PAPER_POSE,
                       metavar=('X', 'Y', 'Z', 'ROLL', 'PITCH', 'YAW'),
                       help='a pose, in m and degrees, whose leg lengths are taken')
    result.add_argument('--seed', type=int, default=0,
                        help='seed of the random numbers (default: 0)')
    result.add_argument('--picture', type=outputs.picture, default=MODES_PICTURE,
                        help=f'file of the picture (default: {MODES_PICTURE})')
    return result


def rotary_parser() -> argparse.ArgumentParser:
    """Return the options of `liedyn platform rotary`."""
    result = argparse.ArgumentParser(
        prog='liedyn platform rotary', formatter_class=HelpFormatter,
        description='Write the geometry file of a rotary hexapod: three pairs of servos, horns in '
                    'upright planes, rods of one length. A positive angle raises a horn. Middles '
                    'of pairs 1-2, 3-4 and 5-6 are at 0, 120 and 240 degrees from the x axis, '
                    'counterclockwise from above; odd servos are on the clockwise side.')
    for name, text in (
            ('base-radius', 'of the circle of the shafts, where the horns turn, m'),
            ('platform-radius', 'of the circle of the joints of the platform, m'),
            ('horn', 'from shaft to joint of a rod, m, below 1'),
            ('rod', 'from joint to joint, m')):
        result.add_argument(f'--{name}', type=arm if name == 'horn' else length, required=True,
                            help=text, default=argparse.SUPPRESS)
    result.add_argument('--base-angle', type=spread, default=12.0,
                        help='angle of each shaft from the middle of its pair, not from the x '
                             'axis, degrees, 0 to 60')
    result.add_argument('--platform-angle', type=spread, default=20.0,
                        help='angle of each platform joint from there, degrees, 0 to 60')
    result.add_argument('--horn-angle', type=float, default=0.0,
                        help='by which the planes of the horns of a pair are turned from each '
                             "other's, half of it, degrees; the base angle where shafts point to "
                             'the centre')
    result.add_argument('--horns', choices=('apart', 'together'), default='apart',
                        help='where the horns of a pair point at angle 0')
    result.add_argument('--travel', type=degrees, default=80.0,
                        help='travel of a horn, up and down from angle 0, degrees')
    result.add_argument('--geometry', type=Path, default=Path('my_hexapod.yaml'),
                        help='file to write; the drawing goes next to it')
    result.add_argument('--overwrite', action='store_true', help='replace an existing file')
    return result


def degrees(text: str) -> float:
    """Return degrees. Raises ArgumentTypeError for a quarter turn of rad or less."""
    value = float(text)
    if 0.0 < abs(value) <= 0.5 * math.pi:
        raise argparse.ArgumentTypeError(f'expected degrees, got {text}, which looks like rad: '
                                         f'{math.degrees(value):.4g} degrees')
    return value


def spread(text: str) -> float:
    """Return degrees from the middle of a pair. Raises ArgumentTypeError for other pairs'."""
    value = degrees(text)
    if not 0.0 <= value <= 60.0:
        raise argparse.ArgumentTypeError(
            f'expected degrees from the middle of a pair, 0 to 60, got {text}')
    return value


def length(text: str) -> float:
    """Return a positive number of m. Raises ArgumentTypeError."""
    value = float(text)
    if not 0.0 < value < 20.0:
        hint = ', which looks like mm or cm' if value >= 20.0 else ''
        raise argparse.ArgumentTypeError(f'expected m, above 0 and below 20, got {text}{hint}')
    return value


def arm(text: str) -> float:
    """Return the length of a horn, m. Raises ArgumentTypeError where it looks like mm or cm."""
    value = length(text)
    if value >= 1.0:
        raise argparse.ArgumentTypeError(f'expected m, below 1, got {text}, which looks like mm '
                                         'or cm')
    return value
