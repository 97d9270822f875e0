# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The report of a calibration: held-out errors, corrections with intervals, doubts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from liedyn_ros.commands.reports import Line, plot, ReportPage
from liedyn_ros.commands.stewart.calibration.findings import (
    accuracy_rows, as_row, FACTORS, FINDING_QUANTITIES, findings, MAX_LISTED)
from liedyn_ros.commands.stewart.calibration.task import CalibrationTask
from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3
from liedyn_ros.stewart.calibration import Calibration, NextPoses

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
