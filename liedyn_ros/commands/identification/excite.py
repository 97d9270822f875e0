# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Find a motion that makes masses, inertias and friction of a robot known, within its limits.

`liedyn excite robot.urdf --acceleration 5 --folder out`. The folder gets a trajectory of
trajectory_msgs and a CSV file, to be recorded for `identify`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
import sys
from typing import Any

import numpy as np

from liedyn_ros.commands.identification.options import add_holding_options, with_locked_joints
from liedyn_ros.commands.inputs import HelpFormatter
from liedyn_ros.commands.outputs import folder, number_of, without_empty
from liedyn_ros.commands.reports import Line, plot, ReportPage
from liedyn_ros.commands.retiming.trajectory_files import write_csv, write_yaml
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionError, LiedynError, LimitError
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.common.yaml_reader import read
from liedyn_ros.identification import Excitation, ExcitationLimits, excite
from liedyn_ros.identification.excitation.capsules import Capsule, capsules_of, Clearance
from liedyn_ros.identification.verdict import little_moved
from liedyn_ros.model import JOINT_TYPES, load_model, Model

MAX_CONDITION = 100.0  # of the normalised columns (16.33), a rule of thumb
UNLIMITED_RATE = 1e6  # rad/s or m/s, from which a limit is none
EXCITATION_TABLE, EXCITATION_TRAJECTORY, EXCITATION_REPORT = (
    'excitation.csv', 'excitation.yaml', 'report.html')
JOINTS_OF_PLOT = 4  # joints of a plot


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a period of the motion; return 0, 1 where it tells little, 2 after an error."""
    options = parser().parse_args(arguments)
    try:
        model = with_locked_joints(load_model(options.model), options)
        clearance = clearance_of(model, options)
        start = _start(model, dict(options.start)) if options.start else None
        found = excite(
            model, limits_of(model, options), start=start, period=options.period,
            harmonics=options.harmonics, rate=options.rate, rounds=options.rounds,
            clearance=clearance, seed=options.seed)
        files = [options.folder / each
                 for each in (EXCITATION_TABLE, EXCITATION_TRAJECTORY, EXCITATION_REPORT)]
        write_csv(files[0], model, found)
        write_yaml(files[1], model, found)
        write_whole(files[2], _report(model, found, clearance, options))
    except (LiedynError, OSError, ModuleNotFoundError) as error:
        without_empty(options.folder)
        print(f'liedyn excite: {error}', file=sys.stderr)
        return 2
    for text in _findings(model, found, clearance):
        print(text)
    print('written:', ', '.join(str(each) for each in files))
    return 0 if found.condition <= MAX_CONDITION else 1


def limits_of(model: Model, options: argparse.Namespace,
              speeds: Mapping[str, float] | None = None) -> ExcitationLimits:
    """
    Return the share of the model's limits that the options leave.

    speeds are those of joints whose limits the model does not give. Raises LimitError for others.
    """
    rows = []
    for joint in model.joint_list:
        if not joint.actuated or JOINT_TYPES[joint.type_name].nv != 1:
            continue
        own = joint.limits
        lower, upper = float(own.lower[0]), float(own.upper[0])
        if not np.isfinite(upper - lower):
            lower, upper = -options.reach, options.reach
        half = 0.5 * options.share * (upper - lower)
        speed = options.share * float(own.velocity[0])
        if options.speed is not None:
            speed = min(speed, options.speed)
        if not 0.0 < speed < UNLIMITED_RATE and speeds is not None:
            speed = speeds[joint.name]
        if not 0.0 < speed < UNLIMITED_RATE:
            raise LimitError(f'the model gives no velocity limit for joint {joint.name}: give '
                             '--speed', names=(joint.name,))
        middle = 0.5 * (lower + upper)
        rows.append((middle - half, middle + half, speed, options.acceleration,
                     options.share * float(own.effort[0])))
    table = np.array(rows).reshape(-1, 5).T
    table[4][table[4] <= 0.0] = np.inf  # a file that says 0 has none
    return ExcitationLimits(table[0], table[1], table[2], table[3], table[4], options.clearance)


def read_capsules(path: Path) -> list[Capsule]:
    """
    Return the capsules of a file: by body, a list with from, to (m) and radius, or center.

    `ground` is what stands still. Raises DescriptionError.
    """
    content: Any = read(path, str(path)).value
    try:
        found = []
        for body, some in content.items():
            for each in some:
                start, end = (np.array([float(x) for x in each.get(key, each.get('center'))])
                              .reshape(3) for key in ('from', 'to'))
                found.append(Capsule(None if body == 'ground' else str(body), start, end,
                                     float(each['radius'])))
        return found
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DescriptionError(
            f'{path}: expected bodies with lists such as {{from: [0, 0, 0], to: [0, 0, 0.3], '
            f'radius: 0.05}}, got {error!r}') from error


def clearance_of(model: Model, options: argparse.Namespace) -> Clearance | None:
    """Return the distances of the capsules of a file or of the model, None without any."""
    capsules = capsules_of(model) if options.capsules is None else read_capsules(options.capsules)
    unknown = [each.body for each in capsules if each.body not in (None, *model.bodies)]
    if unknown:
        raise DescriptionError(f'{options.capsules}: expected bodies of the model, got {unknown}')
    return Clearance(model, capsules) if capsules else None


def _start(model: Model, positions: dict[str, float]) -> Array:
    q = model.neutral()
    for name, value in positions.items():
        q[model.joint(name).qi] = value
    return q


def _findings(model: Model, found: Excitation, clearance: Clearance | None) -> list[str]:
    """Return sentences on the motion: duration, condition, shares of limits, clearance."""
    little = ', '.join(f'{name} {100.0 * share:.0f} %' for name, share in little_moved(
        model, found.q).items())
    return [
        f'{found.period:g} s of {", ".join(found.joints)}; it begins and ends at rest and may be '
        'repeated',
        f'condition {found.condition:.3g}, where up to {MAX_CONDITION:g} determines the '
        'parameters well' + ('' if found.condition <= MAX_CONDITION else (
            f': exit status 1. Least known are numbers of {", ".join(found.least)}: hold joints '
            'there (--hold), or record it; liedyn identify says what is left open')),
        'share of the limits: ' + ', '.join(
            f'{name} {share:.2f}' for name, share in found.used.items()),
        *([f'small shares of their ranges: {little}. A longer --period covers more']
          if little else []),
        'nothing keeps bodies apart: --capsules has their shapes (those of a URDF are not read)'
        if clearance is None else
        f'least distance of bodies: {found.clearance:.3g} m' if clearance.pairs else
        'no two bodies can touch']


def _report(model: Model, found: Excitation, clearance: Clearance | None,
            options: argparse.Namespace) -> str:
    """Return the page of a motion."""
    page = ReportPage(f'A motion to record of {model.name}')
    sentences = _findings(model, found, clearance)
    page.text(sentences[1], 'good' if found.condition <= MAX_CONDITION else 'bad')
    page.items([sentences[0], *sentences[2:]])
    page.plots(motion_plots(model, found))
    page.settings(vars(options))
    return page.html()


def add_limit_options(motion: argparse._ArgumentGroup, limits: argparse._ArgumentGroup) -> None:
    """Add the options of a motion's period and limits."""
    motion.add_argument('--period', type=float, default=10.0, help='s')
    limits.add_argument('--share', type=float, default=0.8,
                        help='share of the limits of the model that is used')
    limits.add_argument('--speed', type=float, help='speed limit of each joint, rad/s or m/s')
    limits.add_argument('--acceleration', type=float, default=5.0,
                        help='acceleration limit of each joint, rad/s^2 or m/s^2')
    limits.add_argument('--reach', type=float, default=np.pi, help=(
        'range to either side of joints without position limits, rad or m'))
    limits.add_argument('--capsules', type=Path, help=(
        'YAML file of shapes by body, which stay apart; by default the visuals of a YAML model'))
    limits.add_argument('--clearance', type=float, default=0.02,
                        help='least distance of bodies that no joint connects, m')


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn excite', formatter_class=HelpFormatter,
        description='Find a motion that identifies the parameters of a robot.')
    result.add_argument('model', type=Path, help='.urdf, .xacro, .xml (MJCF) or .yaml')
    result.add_argument('--folder', type=folder, default='excitation',
                        help='folder of the trajectory')
    motion = result.add_argument_group('the motion')
    motion.add_argument('--harmonics', type=int, default=5,
                        help='number of harmonics of the period')
    motion.add_argument('--rate', type=float, default=100.0, help='rate of the written points, Hz')
    motion.add_argument('--start', action='append', default=[], type=number_of,
                        metavar='JOINT=POSITION', help=(
                            'configuration where the motion begins and ends; default: the middle '
                            'of the limits'))
    motion.add_argument('--rounds', type=int, default=150, help='of the search')
    motion.add_argument('--seed', type=int, default=31, help='of the search')
    add_limit_options(motion, result.add_argument_group('limits'))
    add_holding_options(result)
    return result


if __name__ == '__main__':
    sys.exit(main())


def motion_plots(model: Model, found: Excitation) -> list[str]:
    """Return plots of the moved joints: positions, velocities and forces over time."""
    joints = [model.joint(name) for name in found.joints]
    slides = {joint.name: joint.type_name == 'prismatic' for joint in joints}
    units = [unit for unit, some in (('rad', not all(slides.values())),
                                     ('m', any(slides.values()))) if some]
    length = ' or '.join(units)
    force = ' or '.join({'rad': 'N m', 'm': 'N'}[each] for each in units)
    kinds = (('position', found.q, 'qi', length),
             ('velocity', found.v, 'vi', ' or '.join(f'{each}/s' for each in units)),
             ('force by the given model', found.torque, 'vi', force))
    return [plot(kind, [
        Line(joint.name, found.t, np.asarray(values[:, getattr(joint, at)]))
        for joint in joints[begin:begin + JOINTS_OF_PLOT]], 'time, s', unit)
        for kind, values, at, unit in kinds for begin in range(0, len(joints), JOINTS_OF_PLOT)]
