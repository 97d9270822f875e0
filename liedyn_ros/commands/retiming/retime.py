# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Find the fastest run along a path within limits of joints and motors.

`liedyn retime robot.urdf waypoints.csv --limits limits.yaml`. --help lists the options.

The first line of the waypoints names the joints; each further line is a waypoint. For the
geometry file of a Stewart platform it is x,y,z,roll,pitch,yaw, in m and degrees.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import math
from pathlib import Path
import sys

import numpy as np

from liedyn_ros.commands import outputs
from liedyn_ros.commands.inputs import HelpFormatter, pose_of
from liedyn_ros.commands.retiming.input_files import (
    CURVES, excursions, FRAME_ENTRIES, JOINT_LIMIT_NAMES, NAMED_LIMITS, read_limits,
    read_waypoints, require_within, Waypoints, with_held)
from liedyn_ros.commands.retiming.trajectory_files import write_csv, write_yaml
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, NameSetError
from liedyn_ros.common.markup import print_table
from liedyn_ros.retiming import path_through, PlatformPath, retime, Retimed
from liedyn_ros.robot import load
from liedyn_ros.stewart import load_geometry
from liedyn_ros.stewart.platform.io.geometry_file import is_geometry_file

POSE_HEADER = 'x', 'y', 'z', 'roll', 'pitch', 'yaw'
UNITS = {'velocity': ('rad/s', 'm/s'), 'acceleration': ('rad/s^2', 'm/s^2'),
         'jerk': ('rad/s^3', 'm/s^3'), 'torque': ('N m', 'N')}  # of turning and sliding joints
MAX_SAMPLES = 1_000_000
MAX_SHOWN_ROWS = 15  # of the table


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the run and its picture; return 0, or 2 where there is no run."""
    options = parser().parse_args(arguments, argparse.Namespace(picture=True))
    try:
        if options.picture:
            from liedyn_ros.commands.retiming.drawings import picture
        run = _run(options)
        _write(run, options)
        if options.picture:
            picture.draw(run, options.folder / 'retimed.png')
    except (LiedynError, ModuleNotFoundError) as error:
        print(f'liedyn retime: {error}', file=sys.stderr)
        return 2
    print(f'written: {options.folder}/' + ', '.join(
        ['trajectory.csv', 'trajectory.yaml']
        + options.picture * ['retimed.png', 'retimed.pdf', 'retimed.csv']))
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn retime', formatter_class=HelpFormatter,
        description='Find the fastest run along a path within limits of joints and motors.')
    result.add_argument('model', type=Path, help='model: .urdf, .xacro, .xml (MJCF), .sdf, .yaml, '
                        'or the geometry file of a Stewart platform with masses')
    result.add_argument('waypoints', type=Path, help='waypoints: .csv, or .yaml')
    result.add_argument('--limits', type=Path, default=None, help=(
        'YAML file of limits: ' + ', '.join(
            (*JOINT_LIMIT_NAMES, CURVES, FRAME_ENTRIES, NAMED_LIMITS)) + "; the model's "
        'limits hold for joints to which it gives none, and .inf switches one off'))
    result.add_argument('--blend', type=float, default=None, help=(
        'straight lines between waypoints, with corners rounded from this distance on, rad or m; '
        'default: a spline'))
    result.add_argument('--floating', action='store_true', help="free a URDF's root link")
    result.add_argument('--hold', action='append', default=[], type=outputs.number_of,
                        metavar='JOINT=POSITION', help=(
                            'a joint that stands there, rad or m, in place of a column'))
    result.add_argument('--beyond-limits', action='store_true', help=(
        "take waypoints beyond the model's limits of positions"))
    result.add_argument('--step', type=float, default=0.01, help='time between samples written, s')
    result.add_argument('--intervals', type=int, default=100, help=(
        'pieces of the path on which the speed is searched'))
    result.add_argument('--folder', type=outputs.folder, default='out/retime',
                        help='folder of the files written')
    result.add_argument('--no-picture', dest='picture', action='store_false',
                        default=argparse.SUPPRESS, help='draw nothing')
    return result


def _run(options: argparse.Namespace) -> Retimed:
    """Return the run that the options ask for."""
    limits = None if options.limits is None else read_limits(options.limits)
    waypoints = read_waypoints(options.waypoints)
    if is_geometry_file(options.model):
        for name in 'floating', 'hold', 'beyond_limits':
            if getattr(options, name):
                raise LimitError(f'--{name.replace("_", "-")}: expected none for a Stewart '
                                 'platform')
        platform = PlatformPath(load_geometry(options.model), _poses(waypoints),
                                blend=options.blend)
        return retime(platform.dynamics, platform, limits, intervals=options.intervals)
    dynamics = load(options.model, floating=options.floating)
    waypoints = with_held(waypoints, dict(options.hold))
    try:
        path = path_through(dynamics, waypoints.names, waypoints.values, options.blend)
    except NameSetError as error:
        if not error.names or not set(error.names) <= set(dynamics.model.joints):
            raise
        still = ' '.join(f'--hold {name}=0.0' for name in error.names)
        raise NameSetError(f'{error}: add a column, or hold what stands still, as by {still}',
                           names=error.names) from error
    if not options.beyond_limits:
        require_within(dynamics.model, waypoints)
    return retime(dynamics, path, limits, intervals=options.intervals)


def _poses(waypoints: Waypoints) -> Array:
    """Return the poses (K, 4, 4) of a platform."""
    if sorted(waypoints.names) != sorted(POSE_HEADER):
        raise NameSetError(f'waypoints: expected {list(POSE_HEADER)} for a Stewart platform, '
                           f'got {list(waypoints.names)}')
    order = [waypoints.names.index(name) for name in POSE_HEADER]
    return np.array([pose_of(row) for row in waypoints.values[:, order]])


def _write(run: Retimed, options: argparse.Namespace) -> None:
    """Write the samples of a run, and print how long it takes."""
    if not 0.0 < options.step < math.inf or run.duration / options.step > MAX_SAMPLES:
        raise LimitError(f'--step: expected a step of at most {MAX_SAMPLES} samples in '
                         f'{run.duration:.6g} s, got {options.step!r}')
    instants = np.append(np.arange(0.0, run.duration, options.step), run.duration)
    at, model = run.at(instants), run.dynamics.model
    write_csv(options.folder / 'trajectory.csv', model, at)
    write_yaml(options.folder / 'trajectory.yaml', model, at)
    print(f'{run.duration:.6g} s along the path; slowed down uniformly '
          f'{run.uniform_duration:.6g} s; no run is faster than {run.lower_bound:.6g} s\n')
    for name, joints in run.limits.of_model(model).items():
        print(f'{name} of {", ".join(joints)}: the limit of the model holds, as none is given; '
              '.inf in --limits switches it off')
    for name, joint, ours, theirs in run.limits.above_model(model):
        unit = UNITS[name][model.joint(joint).type_name == 'prismatic'] \
            if joint in model.joints else 'SI units'
        print(f"{name} {ours:g} of {joint} is above the model's {theirs:g} {unit}")
    for text in excursions(run):
        print(text)
    print()
    print_table(['limit', 'joint', 'most used'], [
        [limit, name, f'{most:.1%}'] for (limit, name), most in sorted(
            ((key, float(used.max())) for key, used in run.used.items()),
            key=lambda each: -each[1])[:MAX_SHOWN_ROWS]])
    print()


if __name__ == '__main__':
    sys.exit(main())
