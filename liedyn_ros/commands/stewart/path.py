# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Prove that a path of a Stewart platform meets no singularity and exceeds no limit.

`liedyn platform path path.txt`. A
line of the file is a pose, x y z (m) roll pitch yaw (degrees); # begins a comment. Between two
poses the platform moves along one screw. Limits of the drives' speeds and forces are proved too,
where they are given.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
import sys
import time

import numpy as np

from liedyn_ros.commands.inputs import HelpFormatter, pose_of, read_rows
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.recordings.units import UNIT_FACTORS
from liedyn_ros.stewart import ForceLimits, load_geometry, PathProof, PathProver, SpeedLimits
from liedyn_ros.stewart.platform.state import PlatformMeter

SAMPLES = 50  # poses between two of a path, ends included, of which singular values are shown
LEG_TIME = 1.0  # s from each pose to the next, where none is given


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the proof; return 0 where all is proved, 1 where a piece is not, 2 without a path."""
    options = parser().parse_args(arguments)
    try:
        prover = PathProver(load_geometry(options.geometry), options.threshold)
        poses = np.array([pose_of(row) for row in read_rows(options.path, 6)])
        begin = time.perf_counter()
        proof = prover.prove(poses, np.radians(options.tube_angle), options.tube_radius,
                             speeds_of(options), forces_of(options))
        seconds = time.perf_counter() - begin
    except LiedynError as error:
        print(f'liedyn platform path: {error}', file=sys.stderr)
        return 2
    print(f'geometry: {options.geometry}\n'
          f'{len(poses)} poses, {proof.tests} tests in {1e3 * seconds:.1f} ms')
    if proof.proved:
        print('proved: no singularity, no limit exceeded; the smallest singular value is above '
              f'{proof.smallest_singular_value:.4f} for certain ({least_of(prover, poses):.4f} at '
              'sampled poses; --threshold asks for more)')
        report(proof, prover.geometry.leg_names)
        return 0
    print(f'not proved from {proof.begin + 1.0:.5g} to {proof.end + 1.0:.5g} (the first pose is '
          f'1): {proof.reason}')
    first = poses[[0, 0]]
    if not prover.prove(first).proved and prover.prove(in_mm(first)).proved:
        print('remedy: the first pose fits in mm: write m')
        return 1
    print('remedy: put the home pose between them, or take nearer poses; of liedyn platform '
          'calibrate, smaller --turn and --shift')
    return 1


def in_mm(poses: Array) -> Array:
    """Return poses (n, 4, 4), m, whose positions were read in mm."""
    found = poses.copy()
    found[:, :3, 3] *= UNIT_FACTORS['mm'][0]
    return found


def least_of(prover: PathProver, poses: Array) -> float:
    """Return the smallest singular value at samples of a path, about the joints' centre."""
    joints = prover.geometry.platform_joints
    centre = joints.mean(axis=0)
    about = replace(prover.geometry, platform_joints=joints - centre)
    centred = se3.compose(poses, se3.from_rotation_translation(np.eye(3), centre))
    twists = se3.log(se3.compose(se3.inverse(centred[:-1]), centred[1:]))
    values = PlatformMeter(about).signed_values(se3.compose(centred[:-1], se3.exp(
        np.linspace(0.0, 1.0, SAMPLES)[:, None, None] * twists)).reshape(-1, 4, 4))
    return float(np.abs(values).min())


def report(proof: PathProof, names: Sequence[str]) -> None:
    """Print the bounds of speeds and forces that were asked for."""
    for what, bounds in (('speed', proof.speeds), ('force', proof.forces)):
        if bounds:
            print(f'greatest {what}, upper bounds: ' + ', '.join(
                f'{name} {bound:.4g}' for name, bound in zip(names, bounds)))


def speeds_of(options: argparse.Namespace) -> SpeedLimits | None:
    """Return the limits of speed that the options have, or None. Raises LimitError."""
    if options.speed_limit is None:
        if options.duration != LEG_TIME:
            raise LimitError('--speed-limit: expected one with --duration, got none')
        return None
    return SpeedLimits(limits=options.speed_limit, durations=options.duration)


def forces_of(options: argparse.Namespace) -> ForceLimits | None:
    """Return the limits of force that the options have, or None. Raises LimitError."""
    if options.force_limit is None:
        if any((*options.force, *options.point, options.further_force, options.further_moment)):
            raise LimitError('--force-limit: expected one with a load, got none')
        return None
    return ForceLimits(
        limits=options.force_limit, force=options.force, point=options.point,
        further_force=options.further_force, further_moment=options.further_moment)


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn platform path', formatter_class=HelpFormatter,
        description='Prove a path of a Stewart platform.')
    result.add_argument('path', type=Path, help='file of poses')
    result.add_argument('--geometry', type=Path, default=config_file('stewart_geometry.yaml'),
                        help='geometry file')
    result.add_argument('--threshold', type=float, default=0.0,
                        help='smallest singular value that the path is to exceed')
    result.add_argument('--tube-angle', type=float, default=0.0,
                        help='greatest deviation of the platform from the screws, degrees')
    result.add_argument('--tube-radius', type=float, default=0.0,
                        help="greatest deviation of its joints' centre, m")
    result.add_argument('--speed-limit', type=float, metavar='V',
                        help='greatest speed of every drive, m/s, rad/s of a crank')
    result.add_argument('--duration', type=float, default=LEG_TIME,
                        help='time from each pose to the next, s; needs --speed-limit')
    result.add_argument('--force-limit', type=float, metavar='F',
                        help='greatest force of every drive, N, N m of a crank')
    result.add_argument('--force', type=float, nargs=3, default=(0.0, 0.0, 0.0),
                        metavar=('X', 'Y', 'Z'),
                        help='force on the platform in the base frame, such as its weight, N')
    result.add_argument('--point', type=float, nargs=3, default=(0.0, 0.0, 0.0),
                        metavar=('X', 'Y', 'Z'),
                        help='where the force acts, in the platform frame, m')
    result.add_argument('--further-force', type=float, default=0.0,
                        help='greatest further force in any direction, N')
    result.add_argument('--further-moment', type=float, default=0.0,
                        help="greatest further moment about the joints' centre, N m")
    return result


if __name__ == '__main__':
    sys.exit(main())
