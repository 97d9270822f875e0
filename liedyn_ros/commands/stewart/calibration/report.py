# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The report of a calibration and its findings, as rows and sentences."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

import numpy as np

from liedyn_ros.commands.reports import Findings, Line, plot, ReportPage
from liedyn_ros.commands.stewart.calibration.task import CalibrationTask
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import SE3, se3
from liedyn_ros.stewart.calibration import Calibration, next_poses, NextPoses, Outlier
from liedyn_ros.stewart.calibration.design import DESIGN_POSES, MAX_DESIGN_TURN

MAX_LISTED = 8  # outliers, combinations
FINDING_QUANTITIES = 'position, mm', 'rotation, mrad', 'misfit, deviations'
FACTORS = 1e3, 1e3, 1.0


def accuracy_rows(found: Calibration) -> list[list[object]]:
    """Return the rows of a table of held-out errors: quantity, given, calibrated."""
    before, after = ((each.position, each.rotation, each.misfit) for each in (
        found.held_out.before, found.held_out.after))
    return [[name, *('no pose' if math.isinf(x) else f'{factor * x:.4g}' for x in (old, new))]
            for name, factor, old, new in zip(FINDING_QUANTITIES, FACTORS, before, after)
            if not math.isnan(new)]


def findings(found: Calibration, task: CalibrationTask, remark: str = '') -> Findings:
    """Return the verdict, what it stands on, and the next step; remark is on the next poses."""
    held = found.held_out
    reasons = ['squared misfits of held-out poses change by a factor of '
               f'{math.exp(-held.gain):.3g}',
               *found.doubts, *found.remarks,
               *(of_outlier(each, task) for each in found.outliers[:MAX_LISTED])]
    result = list[str]()
    given = found.problem.samples.deviations
    if task.deviations is None:
        lengths = found.noise * given.lengths * task.geometry.drive_scales
        parts = [f'{1e3 * lengths.mean():.2g} mm of readings']
        if task.samples.points:
            parts.append(f'{1e3 * found.noise * given.position:.2g} mm of positions')
        if task.samples.rotations is not None:
            parts.append(f'{1e3 * found.noise * given.rotation:.2g} mrad of rotations')
        result.append(f'noise, estimated: {", ".join(parts)}')
    factors = task.samples.factors or (1.0,)
    if found.offered and set(factors) != {1.0}:
        each = ' or '.join(f'{each:.6g}' for each in dict.fromkeys(factors))
        result.append('actuator_scale is for actuators that report in the unit of the table; '
                      f'divide it by {each} if they report {_si_unit(task)}')
    result += [*task.samples.remarks, *found.gauge]
    if len(found.outliers) > MAX_LISTED:
        result.append(f'{len(found.outliers) - MAX_LISTED} more samples are left out')
    if found.unobservable:
        result.append(
            f'these poses poorly determine {len(found.unobservable)} of {len(found.unknown)} '
            f'numbers, first {found.unobservable[0].text}')
    return Findings(
        'The calibrated geometry is offered.' if found.offered else 'The given geometry stays.',
        found.offered, reasons,
        'use the new geometry' if found.offered and not found.unobservable
        else remark or 'measure more poses (--next)', result)


def _si_unit(task: CalibrationTask) -> str:
    return ' or '.join(dict.fromkeys(each.unit for each in task.geometry.leg_types))


def of_outlier(outlier: Outlier, task: CalibrationTask) -> str:
    """Return a sentence on a sample that was left out."""
    if math.isinf(outlier.size):
        return (f'sample {outlier.pose + 1} is left out: its readings and measurements belong to '
                'no pose')
    if outlier.leg is None:
        return (f'sample {outlier.pose + 1} is left out: no single reading explains its error of '
                f'{outlier.size:.3g} deviations')
    name, unit = task.geometry.leg_names[outlier.leg], task.geometry.leg_types[outlier.leg].unit
    return (f'sample {outlier.pose + 1} is left out: {name} reads {abs(outlier.bias):.3g} {unit} '
            f'too {"much" if outlier.bias > 0.0 else "little"}')


def next_of(found: Calibration, task: CalibrationTask) -> tuple[NextPoses | None, str]:
    """Return the poses to measure next, and a sentence on them, or on why there are none."""
    options = task.options
    if not options.next:
        return None, ''
    turn = MAX_DESIGN_TURN if options.turn is None else math.radians(options.turn)
    try:
        ahead = next_poses(found, options.next, task.home, turn=turn, shift=options.shift)
    except LimitError as error:
        if isinstance(error.expected, int) and error.expected < options.next:
            return None, (
                f'no next poses: only {error.expected} of {DESIGN_POSES} tried poses keep the '
                f'limits, {options.next} were wanted: take a smaller --turn and --shift, or '
                f'--next {error.expected}')
        return None, f'no next poses: {error}; --next, --turn and --shift ask for others'
    return ahead, (
        f'the next {len(ahead.poses)} poses to measure would lower the deviation of positions '
        f'by the geometry from {1e3 * ahead.before:.2g} to {1e3 * ahead.after:.2g} mm. They keep '
        'all limits; check the ways to them')


def as_row(pose: Array) -> list[str]:
    """Return x, y, z in m, and roll, pitch, yaw in degrees of a pose (4, 4)."""
    value = SE3(pose)
    return [f'{x:.6f}' for x in value.translation] + [
        f'{x:.4f}' for x in np.degrees(value.rotation.rpy)]


CONFIDENCE, CONFIDENCE_DEVIATIONS = 0.95, 1.96
JOINT_ERRORS = (*(f'base {axis}' for axis in 'xyz'), *(f'platform {axis}' for axis in 'xyz'),
                'offset', 'scale')
POSE_ERRORS = 'x, m', 'y, m', 'z, m', 'roll, deg', 'pitch, deg', 'yaw, deg'


def report(task: CalibrationTask, found: Calibration, ahead: NextPoses | None, remark: str,
           settings: Mapping[str, Any]) -> str:
    """Return the page of a calibration."""
    page = ReportPage(f'Calibration of {task.geometry.name}')
    top = findings(found, task, remark)
    top.begin(page)
    page.heading('Errors at held-out poses')
    page.text(f'Root mean square over {found.held_out.poses} poses. Each is compared with the '
              'pose of its readings, by a fit of the others. A misfit of 1 is noise alone.')
    page.table(['', 'given', 'calibrated'], accuracy_rows(found))
    page.plots(_plots(found))
    _corrections(page, task, found)
    _frames(page, found)
    _doubts(page, found)
    page.heading('The next poses to measure')
    page.text(remark or 'None were asked for.')
    if ahead is not None:
        page.table(['', *POSE_ERRORS],
                   [[k + 1, *as_row(pose)] for k, pose in enumerate(ahead.poses)])
    top.end(page)
    page.settings(settings)
    return page.html()


def _plots(found: Calibration) -> list[str]:
    """Return plots of the errors of each pose, both and the calibrated alone."""
    poses: Array = np.asarray(np.flatnonzero(found.used) + 1, dtype=float)
    drawn = []
    for name, factor, old, new in zip(
            FINDING_QUANTITIES, FACTORS, found.held_out.before.by_pose,
            found.held_out.after.by_pose):
        lines = [Line('given', poses, factor * old), Line('calibrated', poses, factor * new)]
        lines = [each for each in lines if np.isfinite(each.y).all()]
        if lines:
            what = name.partition(',')[0]
            drawn.append(plot(f'{what} at held-out poses', lines, 'sample', name))
            zero = Line('', poses, np.zeros(len(poses)))
            drawn.append(plot(f'{what}, calibrated', [zero, lines[-1]], 'sample', name))
    return drawn


def _corrections(page: ReportPage, task: CalibrationTask, found: Calibration) -> None:
    page.heading('Corrections')
    page.text(f'Of the given geometry, mm, with intervals of {100.0 * CONFIDENCE:g} %. An '
              'offset is added to a reading, mrad of cranks; a scale is in thousandths.')
    width = found.errors.shape[1]
    deviations = np.sqrt(np.diag(found.covariance)).reshape(-1, width)
    page.table(['leg', *JOINT_ERRORS[:width]], [
        [name, *(f'{1e3 * x:+.4f} ± {1e3 * CONFIDENCE_DEVIATIONS * s:.2g}' for x, s in zip(*row))]
        for name, *row in zip(task.geometry.leg_names, found.errors, deviations)])
    page.text('The geometry file has the covariance of all these numbers; the pose node adds its '
              'effect to the covariance of each pose.')


def _frames(page: ReportPage, found: Calibration) -> None:
    measured, frames = found.problem.samples.measured, found.frames
    rows = []
    if not measured.instrument_known:
        rows.append(["base in the instrument's frame", *as_row(frames.instrument_base)])
    if not measured.target_known:
        named = [f'point {k + 1} on the platform' for k in range(len(frames.points))]
        turn = measured.rotations is not None
        rows += [[name if not turn else 'target on the platform', *(as_row(
            se3.from_rotation_translation(frames.target, point)) if turn else (
                f'{x:.6f}' for x in point))] for name, point in zip(named, frames.points)]
    if rows:
        page.heading('Frames of the instrument')
        page.text('They were not known and are found with the joints.')
        page.table(['', *POSE_ERRORS], rows)


def _doubts(page: ReportPage, found: Calibration) -> None:
    page.heading('What the poses do not determine')
    page.items(found.gauge or ['both frames are measured'])
    page.text('The combinations of errors that are known least, with one deviation of each and '
              'the share of the variance before that is left.')
    page.table(['combination', 'deviation, mm', 'left'], [
        [each.text, f'{1e3 * each.deviation:.3g}', f'{100.0 * each.share:.2g} %']
        for each in found.unknown[:MAX_LISTED]])
