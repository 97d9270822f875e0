# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the geometry file of a rotary hexapod from a few numbers of a drawing, and draw it.

`liedyn platform rotary --base-radius 0.09 --platform-radius 0.07 --horn 0.025 --rod 0.12`.
"""

import argparse
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
import itertools
import math
from pathlib import Path
from shutil import which
import sys

import numpy as np

from liedyn_ros.commands.stewart.drawing_options import rotary_parser
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.common.yaml_reader import read_text
from liedyn_ros.lie import se3
from liedyn_ros.stewart import geometry_of, PoseSolver, SmoothTrajectory, StewartGeometry
from liedyn_ros.stewart.home import geometry_home
from liedyn_ros.stewart.platform.state import PlatformMeter, SINGULARITY_WARNING
from liedyn_ros.stewart.simulation.trajectory import check_times, travel_share

MOTION_NAMES = ('roll', 'pitch', 'yaw', 'x', 'y', 'z')
WAYS = [way for way in itertools.product((-1, 0, 1), repeat=6) if any(way)]  # of six horns
WAY_SHARES = np.linspace(0.0, 1.0, 201)  # of a way from home, at which it is looked at


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file and its drawing, and print how far the platform moves; 2 where it cannot."""
    options = rotary_parser().parse_args(arguments)
    try:
        if options.geometry.exists() and not options.overwrite:
            raise LiedynError(f'{options.geometry}: expected no file there, got one: --overwrite '
                              'replaces it, --geometry names another')
        text = geometry_text(options)
        geometry = geometry_of(read_text(text, 'geometry').value)
        require_regular(geometry)
        write_whole(options.geometry, text)
        report(geometry, options)
    except (LiedynError, OSError) as error:
        print(f'liedyn platform rotary: {error}', file=sys.stderr)
        return 2
    if find_spec('matplotlib') is None:
        drawing = f'no drawing: {remedy_of("plots")}'
    else:
        draw(geometry, picture := options.geometry.with_suffix('.png'))
        drawing = f'drawing in {picture}'
    print(f'geometry in {options.geometry}, {drawing}; to see it move:')
    file = f'geometry_file:={options.geometry.resolve()}'
    if which('ros2'):
        print(f'ros2 launch liedyn_ros stewart.launch.py simulator:=true view:=true {file}')
    else:  # the wheels of ROS 2 have no such command
        for node in ('python -m liedyn_ros.nodes.stewart.simulator',
                     'python -m liedyn_ros.nodes.stewart.pose', 'liedyn view'):
            print(f'{node} --ros-args -p {file} &')
    return 0


def draw(geometry: StewartGeometry, path: Path) -> None:
    """Draw the platform at home."""
    from liedyn_ros.pictures import COLUMN_WIDTH_MM, draw_platform, legend_of, new_figure, save

    figure = new_figure(95.0, COLUMN_WIDTH_MM, below=16.0)
    draw_platform(figure.add_subplot(projection='3d'), geometry, geometry_home(geometry),
                  f'{geometry.name} at home, horns at 0')
    figure.legend(handles=legend_of(geometry), loc='lower center', ncols=2)
    save(figure, path)


def geometry_text(options: argparse.Namespace) -> str:
    """Return the text of the geometry file; raises LimitError where the rods do not reach."""
    legs = [leg(k, options) for k in range(6)]
    height = height_at(legs, options.horn, options.rod)
    travel = math.radians(options.travel)
    lines = [f'name: {options.geometry.stem}',
             f'home: {{position: [0.0, 0.0, {height:.6f}]}}  # m; all horns at angle 0', 'legs:']
    for k, (base, joint, zero) in enumerate(legs):
        lines += [
            f'  servo_{k + 1}:', f'    base: {listed(base)}', f'    platform: {listed(joint)}',
            f'    crank: {{axis: raises, zero: {listed(zero)}, radius: {options.horn:g}, '
            f'rod: {options.rod:g}, travel: [{-travel:.9f}, {travel:.9f}]}}']
    return '\n'.join(lines) + '\n'


def leg(k: int, options: argparse.Namespace) -> tuple[Array, Array, Array]:
    """Return the shaft, m, base frame, the joint, m, platform frame, and a horn at angle 0."""
    side = 2.0 * (k % 2) - 1.0  # of the pair of servos; its middle is at 0, 120 or 240 degrees
    middle = math.radians(120.0 * (k // 2))
    shaft, joint = (middle + side * math.radians(spread) for spread in (
        options.base_angle, options.platform_angle))
    outwards = side if options.horns == 'apart' else -side
    plane = middle + side * math.radians(options.horn_angle) + 0.5 * math.pi
    return (options.base_radius * direction(shaft), options.platform_radius * direction(joint),
            outwards * direction(plane))


def direction(angle: float) -> Array:
    """Return the horizontal unit vector at an angle, rad, from x."""
    return np.array([math.cos(angle), math.sin(angle), 0.0])


def height_at(legs: Sequence[tuple[Array, Array, Array]], horn: float, rod: float) -> float:
    """Return the height, m, at which all horns are at angle 0. Raises LimitError."""
    base, joint, zero = legs[0]  # the others are its mirror images
    across = float(np.linalg.norm(joint - base - horn * zero))
    if not across < rod:
        raise LimitError(f'--rod: the rod is too short: it must exceed {across:.4f} m',
                         names=('--rod',), expected=across, got=rod)
    return math.sqrt(rod ** 2 - across ** 2)


def listed(vector: Array) -> list[float]:
    """Return a vector to six digits behind the point."""
    return [round(float(number), 6) + 0.0 for number in vector]


def require_regular(geometry: StewartGeometry) -> None:
    """Raise LimitError where home is near singular, as it is where lengths do not fit together."""
    value = PlatformMeter(geometry).measure(geometry_home(geometry)).smallest_singular_value
    if value < SINGULARITY_WARNING:
        raise LimitError('lengths: expected a home that is not singular, got a smallest singular '
                         f'value of {value:.3f} there: is each length in m, and each angle '
                         'right?', got=value)


def first_singularity(
        geometry: StewartGeometry, ways: Iterable[Sequence[int]], travel: int
        ) -> tuple[int, Sequence[int]] | None:
    """
    Return where the platform is first singular as horns turn from home by one angle.

    Args:
        geometry: of the hexapod.
        ways: for each servo 1 where it turns up, -1 down, 0 where it stays.
        travel: most that they turn, degrees.

    Returns:
        The least angle, whole degrees, and its way; None where no way is singular.
    """
    solver, meter, home = PoseSolver(geometry), PlatformMeter(geometry), geometry_home(geometry)
    sign, found = meter.measure(home).determinant_sign, None
    for way in ways:
        pose = home
        for angle in range(1, travel + 1 if found is None else found[0]):
            solved = solver.solve(np.radians(angle * np.array(way, dtype=float)), guess=pose)
            pose = solved.pose
            if not (solved.converged and sign * meter.measure(pose).signed_value > 0.0):
                found = angle, way
                break
    return found


def report(geometry: StewartGeometry, options: argparse.Namespace) -> None:
    """Print home, how far from singular it is, and how far the platform moves along each axis."""
    home = geometry_home(geometry)
    meter = PlatformMeter(geometry)
    value = meter.measure(home).smallest_singular_value
    print(f'home: z = {1e3 * home[2, 3]:.2f} mm; smallest singular value {value:.3f} '
          f'(0 is singular; the nodes warn below {SINGULARITY_WARNING:g})')
    still = SmoothTrajectory(home, np.zeros(6), np.ones(6), np.zeros(6))
    found = []
    for k, name in enumerate(MOTION_NAMES):
        most = np.zeros(6)
        most[k] = 0.5 * math.pi if k < 3 else 4.0 * options.horn
        motion = SmoothTrajectory(home, most, still.frequencies, still.phases)
        most *= travel_share(geometry, motion, check_times(motion))
        reach = regular_share(meter, home, most) * most[k]
        found.append(f'{name} {math.degrees(reach):.0f} deg' if k < 3
                     else f'{name} {1e3 * reach:.1f} mm')
    print('both ways from home, one at a time, within the travel of the horns and before the '
          f'smallest singular value falls below {SINGULARITY_WARNING:g}: ' + ', '.join(found))
    travel = math.floor(options.travel)
    equal = first_singularity(geometry, ([1] * 6, [-1] * 6), travel)
    least = first_singularity(geometry, WAYS, travel)
    if least is None:
        print(f'no singularity found within the travel, on {len(WAYS)} ways of horns from home')
        return
    turned = ', '.join(f'{name} {"down" if side < 0 else "up"}'
                       for name, side in zip(geometry.leg_names, least[1]) if side)
    print('singular within the travel: '
          + (f'all horns at {equal[0]} deg; ' if equal else '')
          + f'unequal horns from {least[0]} deg on ({turned}): '
          '`liedyn platform path` proves a path free of it')


def regular_share(meter: PlatformMeter, home: Array, way: Array) -> float:
    """Return the share of a way (6,), rad and m, that nears no singularity to both sides."""
    sign, near = meter.measure(home).determinant_sign, np.zeros(len(WAY_SHARES), dtype=bool)
    for end in (way, -way):
        poses = home @ se3.exp(np.multiply.outer(WAY_SHARES, end))
        near |= sign * meter.signed_values(poses) < SINGULARITY_WARNING
    return float(WAY_SHARES[max(int(near.argmax()) - 1, 0)]) if near.any() else 1.0


if __name__ == '__main__':
    sys.exit(main())
