# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Findings of a calibration, as rows and sentences for the terminal and the report."""

from __future__ import annotations

import math

import numpy as np

from liedyn_ros.commands.reports import Findings
from liedyn_ros.commands.stewart.calibration.task import CalibrationTask
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import SE3
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
