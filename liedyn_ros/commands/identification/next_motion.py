# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion to record next, beside the results of an identification."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from liedyn_ros.commands.identification.excite import clearance_of, limits_of
from liedyn_ros.commands.retiming.trajectory_files import write_csv, write_yaml
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.identification import ExcitationLimits, Identification, next_motion, NextMotion
from liedyn_ros.model import JOINT_TYPES

NEXT_TRAJECTORY, NEXT_TABLE = 'next_motion.yaml', 'next_motion.csv'
MAX_UNKNOWNS = 12  # unknowns of a report


def proposed(result: Identification, options: argparse.Namespace) -> tuple[
        NextMotion | None, str]:
    """
    Return the motion that tells most beside the recordings, and what to do with it.

    Where there is none, the text says why.
    """
    if options.no_next_motion:
        return None, 'no motion was looked for (--no-next-motion)'
    if options.reads:
        return None, 'no motion proposed: --reads has angles that a controller counts otherwise'
    try:
        found = _found(result, options)
    except LiedynError as error:
        return None, f'no motion found: {error}'
    fast = np.abs(found.excitation.v).max()
    return found, (
        f'{NEXT_TRAJECTORY}, {found.excitation.period:g} s, up to {fast:.3g} rad/s or m/s. Run it '
        'slowly first, and give its recording as --also')


def write_next(folder: Path, result: Identification, found: NextMotion | None) -> list[Path]:
    """Write the motion as trajectory_msgs and as a table; return the files."""
    files = folder / NEXT_TRAJECTORY, folder / NEXT_TABLE
    if found is None:
        for each in files:
            each.unlink(missing_ok=True)  # of an earlier run
        return []
    write_yaml(files[0], result.given, found.excitation)
    write_csv(files[1], result.given, found.excitation)
    return list(files)


def predicted_deviations(found: NextMotion) -> list[tuple[str, float, float]]:
    """Return name and deviations without and with the motion, those that gain most first."""
    rows = [*zip(found.names, found.before.tolist(), found.after.tolist())]
    gain = [before / after if np.isfinite(before) else (np.inf if np.isfinite(after) else 1.0)
            for _, before, after in rows]
    return [rows[k] for k in np.argsort(-np.array(gain), kind='stable')]


def _found(result: Identification, options: argparse.Namespace) -> NextMotion:
    model, motion = result.given, result.motion
    limits, clearance = limits_of(model, options, _speeds(result)), clearance_of(model, options)
    looped = bool(model.closures or model.couplings)
    middle = motion.q[len(motion.q) // 2]
    try:
        return next_motion(result, _around(limits, result, middle) if looped else limits,
                           start=middle if looped else None, period=options.period,
                           clearance=clearance)
    except LimitError:
        if looped:
            raise
    return next_motion(result, _around(limits, result, middle), start=middle,
                       period=options.period, clearance=clearance)


def _speeds(result: Identification) -> dict[str, float]:
    """Return the greatest recorded speed of the turning and of the sliding joints, by joint."""
    joints = [joint for joint in result.given.joint_list
              if JOINT_TYPES[joint.type_name].nv == 1]
    peaks = {joint.name: float(np.abs(result.motion.v[:, joint.vi]).max()) for joint in joints}
    return {joint.name: max(peaks[each.name] for each in joints
                            if each.type_name == joint.type_name) for joint in joints}


def _around(limits: ExcitationLimits, result: Identification, start: Array) -> ExcitationLimits:
    """Return limits that hold a configuration at which the machine was."""
    at = start[[joint.qi for joint in result.given.joint_list
                if joint.actuated and JOINT_TYPES[joint.type_name].nv == 1]]
    return ExcitationLimits(np.minimum(limits.lower, at), np.maximum(limits.upper, at),
                            limits.speed,
                            limits.acceleration, limits.torque, limits.clearance)
