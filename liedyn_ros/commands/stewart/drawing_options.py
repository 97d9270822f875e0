# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Options of the commands that draw a platform; their `--help` needs no package that draws."""

import argparse
from pathlib import Path

from liedyn_ros.commands import outputs
from liedyn_ros.commands.work import add_work_options
from liedyn_ros.common.resources import config_file

WORKSPACE_FOLDER, MODES_PICTURE = 'out/stewart_workspace', 'out/assembly_modes.png'
PAPER_POSE = (0.0, 0.0, 0.5, 20.0, 0.0, -30.0)  # q_C


def workspace_parser() -> argparse.ArgumentParser:
    """Return the options of `liedyn platform workspace`."""
    result = argparse.ArgumentParser(
        prog='liedyn platform workspace', description='Map the workspace of a Stewart platform.',
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    result.add_argument('--geometry', type=Path, default=config_file('stewart_geometry.yaml'),
                        help='geometry file')
    for name in ('roll', 'pitch', 'yaw'):
        result.add_argument(f'--{name}', type=float, nargs='+', default=[0.0],
                            help='degrees; several give a map of each combination')
    result.add_argument('--home', type=float, nargs=3, default=None, metavar='M', help=(
                            'position x y z where the usable part begins, m; by default that of '
                            'home in the geometry file'))
    result.add_argument('--threshold', type=float, default=0.05,
                        help='smallest singular value that counts as regular')
    result.add_argument('--steps', type=int, default=41, help='positions along each axis')
    result.add_argument('--folder', type=outputs.folder, default=WORKSPACE_FOLDER,
                        help='where to draw the picture')
    result.add_argument('--format', choices=[suffix[1:] for suffix in outputs.SUFFIXES],
                        default='png', help='of the picture')
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
