# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Find errors of placements and joint offsets of an arm, or a machine with loops, in measured poses.

`liedyn calibrate robot.urdf samples.csv --body tool0 --folder calibrated`. A row of the table has
the readings of the joints, and the position, or pose, of a target on the body.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys

import numpy as np

from liedyn_ros.commands.identification.model_files import model_files, write_model
from liedyn_ros.commands.identification.options import add_reads_option, angles_of, start_of
from liedyn_ros.commands.inputs import about, HelpFormatter, noise_of
from liedyn_ros.commands.outputs import folder, number_of, pair_of, set_aside, without_empty
from liedyn_ros.commands.reports import Findings, ReportPage
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.identification.calibration import ArmCalibration, calibrate_arm
from liedyn_ros.identification.calibration.calibrate import PRIOR_DEVIATIONS
from liedyn_ros.identification.calibration.unknowns import read_joints
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.model import load_model, Model
from liedyn_ros.recordings import pose_table, PoseColumns

POSE_METAVAR = 'X', 'Y', 'Z', 'ROLL', 'PITCH', 'YAW'
FRAME_HEAD = ['frame',
              *(f'{what} {axis}, {unit}' for what, unit in (('turn', 'mrad'), ('shift', 'mm'))
                for axis in 'xyz'), 'offset']
ARM_REPORT = 'report.html'
FIXED_DEVIATION = 1e-8  # rad or m: deviation of what is held fixed


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the results; return 0 where a model is offered, 1 where none is, 2 on an error."""
    options = parser().parse_args(arguments)
    try:
        model = load_model(options.model)
        found, remarks = _calibrated(model, options)
        findings = _findings(found, remarks, options.leave_out)
        written = [_report(found, findings, options)]
        if found.offered:
            written += write_model(options.folder, options.model, model, found.model, model,
                                   moved=True)
        else:
            set_aside(*model_files(options.folder, options.model, moved=True))
    except (LiedynError, OSError) as error:
        without_empty(options.folder)
        print(f'liedyn calibrate: {error}', file=sys.stderr)
        return 2
    findings.print_top()
    print(f'errors at {int(found.used.sum())} held-out poses, rms')
    print_table(['', 'given', 'calibrated'], _accuracy(found))
    findings.print_further()
    print('written:', ', '.join(str(each) for each in written))
    return 0 if found.offered else 1


def _calibrated(model: Model, options: argparse.Namespace
                ) -> tuple[ArmCalibration, tuple[str, ...]]:
    """Return the calibration, and remarks on the table."""
    names = options.joints or list(read_joints(model, options.body))
    samples = pose_table(options.samples, names, PoseColumns(
        options.readings, None if options.point is None else [options.point],
        dict(options.unit), options.pose))
    given = {name: None if getattr(options, name) is None else _pose(getattr(options, name))
             for name in ('instrument', 'target')}
    count = len(samples.readings)
    if options.leave_out and not 0 < min(options.leave_out) <= max(options.leave_out) <= count:
        raise LimitError(f'--leave-out: expected poses 1 to {count}, got {options.leave_out}')
    kept = np.setdiff1d(np.arange(count), np.array(options.leave_out, dtype=int) - 1)
    angles = angles_of(names, dict(options.reads))
    readings = samples.readings[kept] @ angles.rows.T + angles.shifts
    noise = noise_of(options, {'position': True, 'rotation': samples.rotations is not None})
    points = np.stack(list(samples.points.values()), axis=1)[kept]
    points = points if points.shape[2] > 1 else points[:, 0]  # else distances
    with about(options, [options.samples]):
        found = calibrate_arm(
            model, options.body, readings, points,
            None if samples.rotations is None else samples.rotations[kept],
            names=tuple(names), numbers=(kept + 1).tolist(), **given,
            deviations=None if noise is None else (noise['position'], noise['rotation']),
            tolerance=tuple(options.tolerance), offsets=options.offsets,
            start=start_of(model, dict(options.start)))
    return found, (
        *(f'{each}; the others are numbered without them' for each in samples.remarks),
        *([f'poses {", ".join(map(str, options.leave_out))} left out by --leave-out']
          if options.leave_out else []))


def _pose(numbers: Sequence[float]) -> Array:
    """Return the pose (4, 4) of x, y, z in m and roll, pitch, yaw in degrees."""
    result = np.eye(4)
    result[:3, :3] = SO3.from_rpy(*np.radians(numbers[3:]).tolist()).matrix
    result[:3, 3] = numbers[:3]
    return result


def _accuracy(found: ArmCalibration) -> list[list[object]]:
    rows: list[list[object]] = []
    for name, factor, k in (('position, mm', 1e3, 0), ('rotation, mrad', 1e3, 1)):
        if np.isfinite(found.after[k]):
            rows.append([name, *(f'{factor * float(each[k]):.4g}'
                                 for each in (found.before, found.after))])
    return rows


def _findings(found: ArmCalibration, remarks: Sequence[str], left: Sequence[int]) -> Findings:
    """Return the verdict, what it stands on, and the next step, which keeps poses left out."""
    others = [*found.remarks]
    step = found.next_step.replace('--leave-out', ' '.join(['--leave-out', *map(str, left)]))
    for name, pose in (('instrument', found.instrument), ('target', found.target)):
        value = SE3(pose)
        others.append(f'{name}: x, y, z {_listed(value.translation)} m; roll, pitch, yaw '
                      f'{_listed(np.degrees(value.rotation.rpy))} degrees')
    if found.further.size:
        others.append(f'zero of the lengths: {1e3 * found.further[0]:.4g} mm, which are longer '
                      'than read' if found.further.size == 1 else 'other reflectors from the '
                      f'first, in the axes of the target: {_listed(found.further)} m')
    return Findings(
        'The calibrated model is offered.' if found.offered else 'The given model stays.',
        found.offered, [*found.objections, 'squared misfits of held-out poses change by a factor '
                        f'of {np.exp(-found.gain):.3g}'], step, [*others, *remarks])


def _listed(numbers: Sequence[float] | Array) -> str:
    return ', '.join(f'{x:.6g}' for x in np.round(numbers, 9) + 0.0)


def _corrections(found: ArmCalibration) -> list[list[object]]:
    """Return a row for each frame: its twist with deviations, and the joint's offset."""
    joints, between = set(found.model.joints), '\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}'
    return [[name, *('-' if s < FIXED_DEVIATION else f'{1e3 * x:.3f}{between}{1e3 * s:.2g}'
                     for x, s in zip(twist, deviation)),
             f'{1e3 * found.offset(name):.3f}' if name in joints else '']
            for name, twist, deviation in zip(found.frames, found.twists, found.deviations)]


def _lengths(found: ArmCalibration) -> list[str]:
    rods = [each.name for each in found.model.closures if each.length]
    return [f'length of {name}: {1e3 * length:.3f} ± {1e3 * deviation:.3f} mm' for
            name, length, deviation in zip(rods, found.lengths, found.length_deviations)]


def _report(found: ArmCalibration, findings: Findings, options: argparse.Namespace) -> Path:
    page = ReportPage(f'Calibration of {options.model.name}')
    findings.begin(page)
    page.heading('Errors at held-out poses')
    page.table(['', 'given', 'calibrated'], _accuracy(found))
    page.heading('What the placements were off by')
    page.text('Each in the frame of its joint, with standard deviations. A number that the poses '
              'do not determine has the tolerance as its deviation. The offset is the part along '
              'the axis, mrad or mm. A dash: not estimated.')
    page.table(FRAME_HEAD, _corrections(found))
    page.items([*_lengths(found), *(
        [f'poorly determined: {", ".join(found.unobservable)}'] if found.unobservable else [])])
    findings.end(page)
    page.settings(vars(options))
    path = options.folder / ARM_REPORT
    write_whole(path, page.html())
    return Path(path)


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn calibrate', formatter_class=HelpFormatter,
        description='Find errors of placements and joint offsets in measured poses of a body.')
    result.add_argument('model', type=Path, help='.urdf, .xacro, .xml (MJCF) or .yaml')
    result.add_argument('samples', type=Path, help='a table (.csv, .parquet), a row for each pose')
    result.add_argument('--body', required=True, help='body that carries the target')
    result.add_argument('--folder', type=folder, default='calibrated',
                        help='folder of the results')
    result.add_argument('--joints', nargs='+', metavar='JOINT', help=(
        'joints whose readings the table has; default: all joints between base and body, in a '
        'machine with loops the actuated ones'))
    result.add_argument('--start', action='append', default=[], type=number_of,
                        metavar='JOINT=POSITION',
                        help='rough configuration near which the loops are closed')
    add_reads_option(result)
    result.add_argument('--leave-out', type=int, nargs='+', default=[], metavar='POSE',
                        help='numbers of poses that are known to be wrong, from 1')
    result.add_argument('--readings', metavar='COLUMN,...', type=lambda text: text.split(','),
                        help=('columns of the joints in their order, by number from 1 where the '
                              'table has no header'))
    result.add_argument('--pose', metavar='COLUMN,...', action='append', default=[],
                        type=lambda text: text.split(','), help=(
        'columns of x, y, z, with roll, pitch, yaw or a quaternion after them, or of a distance '
        'from a fixed point, as a cable or a ball bar measures; once for each of several '
        'reflectors'))
    result.add_argument('--point', help='position to use, of several in the table')
    result.add_argument('--unit', action='append', default=[], type=pair_of, metavar='KIND=UNIT',
                        help='unit of reading, position or orientation, such as position=mm')
    for name, what in (('instrument', "the ground in the instrument's frame"),
                       ('target', 'the target on the body')):
        result.add_argument(f'--{name}', type=float, nargs=6, metavar=POSE_METAVAR, help=(
            f'pose of {what}, m and degrees; estimated by default'))
    for name, unit in (('position', 'm'), ('rotation', 'rad')):
        result.add_argument(f'--{name}-noise', type=float, help=(
            f'deviation of a {name}, {unit}; default: estimated'))
    result.add_argument('--tolerance', type=float, nargs=2, default=PRIOR_DEVIATIONS,
                        metavar=('SHIFT', 'TURN'),
                        help='standard deviations of the placements of the model, m and rad')
    result.add_argument('--offsets', action='store_true', help='find joint offsets only')
    return result


if __name__ == '__main__':
    sys.exit(main())
