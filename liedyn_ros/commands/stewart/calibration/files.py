# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Files of a calibration: report, numbers, next poses, and a geometry with its parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from liedyn_ros.commands.inputs import NODE
from liedyn_ros.commands.outputs import set_aside
from liedyn_ros.commands.reports import Findings
from liedyn_ros.commands.stewart.calibration.report import as_row, findings, report
from liedyn_ros.commands.stewart.calibration.task import CalibrationTask
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.common.yaml_reader import read, write_text
from liedyn_ros.lie.kernels.motion import position_quaternion
from liedyn_ros.stewart import updated_geometry
from liedyn_ros.stewart.calibration import Calibration, NextPoses

CALIBRATION_REPORT, CALIBRATION_FILE, NEXT_POSES_FILE, NODE_PARAMETERS_FILE = (
    'report.html', 'calibration.json', 'next_poses.txt', 'stewart_pose.yaml')
POSES_HEAD = '# x y z (m) roll pitch yaw (degrees): liedyn platform path reads it\n'


def write(task: CalibrationTask, found: Calibration, ahead: NextPoses | None,
          remark: str) -> list[Path]:
    """Write report, numbers, next poses, and the geometry if it is offered; return the files."""
    folder: Path = task.options.folder
    texts = {CALIBRATION_REPORT: report(task, found, ahead, remark, vars(task.options)),
             CALIBRATION_FILE: json.dumps(numbers(task, found), indent=1)}
    if ahead is not None:
        rows = (' '.join(as_row(pose)) + '\n' for pose in ahead.poses)
        texts[NEXT_POSES_FILE] = POSES_HEAD + ''.join(rows)
    name = f'{task.options.geometry.stem}_calibrated.yaml'
    if found.offered:
        texts[name] = (f'# Written by liedyn platform calibrate from {task.options.samples.name}, '
                       f'{int(found.used.sum())} poses.\n'
                       + updated_geometry(task.options.geometry, found.geometry))
        texts[NODE_PARAMETERS_FILE] = write_text(parameters(task, found, folder / name))
    for file, text in texts.items():
        write_whole(folder / file, text)
    if ahead is None:
        set_aside(folder / NEXT_POSES_FILE)
    if not found.offered:
        set_aside(folder / name, folder / NODE_PARAMETERS_FILE, given=task.options.params)
    return [folder / file for file in texts]


def parameters(task: CalibrationTask, found: Calibration, geometry: Path) -> dict[str, Any]:
    """
    Return the content of a parameter file for the pose node, over that of the options.

    Offsets and scales of a calibration are of lengths; those of the node are of its actuators,
    whose readings have the unit of the table.
    """
    old, path = task.actuators, task.options.params
    content: dict[str, Any] = {} if path is None else read(path, str(path)).value
    *position, x, y, z, w = position_quaternion(task.home)
    new = {'geometry_file': str(geometry.resolve()),
           'home_position': position, 'home_orientation': [x, y, z, w],
           'actuator_names': list(old.names),
           'actuator_scale': (found.scales * old.scales * (task.samples.factors or 1.0)).tolist(),
           'actuator_offset': (found.offsets + found.scales * old.offsets).tolist()}
    for key, section in content.items():
        if key.rpartition('/')[2] in ('**', NODE):
            for name in new:
                section['ros__parameters'].pop(name, None)
    every = content.setdefault('/**', {}).setdefault('ros__parameters', {})
    every |= new
    return content


def numbers(task: CalibrationTask, found: Calibration) -> dict[str, Any]:
    """Return the results of a calibration as plain numbers, SI units."""
    held, legs = found.held_out, task.geometry.leg_names
    return {
        'offered': found.offered, 'findings': _texts(findings(found, task)),
        'held_out': {name: {key: _plain(getattr(each, key)) for key in (
            'position', 'rotation', 'misfit')} for name, each in (
                ('given', held.before), ('calibrated', held.after))},
        'errors': dict(zip(legs, found.errors.tolist())),
        'scales': dict(zip(legs, found.scales.tolist())),
        'offsets': dict(zip(legs, found.offsets.tolist())),
        'covariance': found.covariance.tolist(),
        'instrument_base': found.frames.instrument_base.tolist(),
        'points': found.frames.points.tolist(), 'target': found.frames.target.tolist(),
        'noise': found.noise, 'samples_left_out': [each.pose + 1 for each in found.outliers]}


def _texts(found: Findings) -> list[str]:
    return [found.verdict, *found.reasons, *found.others]


def _plain(value: float) -> float | None:
    """Return a number, None where it is not finite."""
    return value if abs(value) < float('inf') else None
