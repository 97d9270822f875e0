# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Find the mass, the centre and the inertia of a payload in a recording of the robot that carries it.

`liedyn payload robot.urdf my_bag --body tool0 --folder out`.
"""

import argparse
from collections.abc import Sequence
import json
from math import isfinite
from pathlib import Path
import sys

import numpy as np

from liedyn_ros.commands.identification.options import (
    add_holding_options, add_recording_options, measured, recorded, require_still)
from liedyn_ros.commands.inputs import about, HelpFormatter
from liedyn_ros.commands.outputs import folder, set_aside, without_empty
from liedyn_ros.commands.reports import Findings, Line, plot, ReportPage
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.identification import (
    is_consistent, Motion, Payload, PayloadEstimator, with_payload)
from liedyn_ros.identification.motion.motion import motion_of
from liedyn_ros.identification.payload.estimator import SCALE_DEVIATION
from liedyn_ros.identification.verdict import ZERO_DEVIATIONS
from liedyn_ros.model import load_model, Model, to_urdf

PAYLOAD_UNITS = ('kg', *['kg m'] * 3, *['kg m^2'] * 6)
PAYLOAD_HEAD = ['number', 'value', 'deviation', 'unit']
CAVEAT = ('deviations count noise, and a common share of 5.8 % by which efforts may be wrong, as '
          'constants of motors are stated to 10 %: a known load (--known-load) makes it smaller. '
          "A recording without load (--empty) measures the error of the robot's own model")
STATED_SCALE = ('deviations count noise, and what was stated with --scale: joints without a '
                'stated deviation have a common one of 5.8 %')
KNOWN_LOAD = ('deviations count noise, and what the known load leaves open of the share by which '
              'efforts are wrong')
MAX_MASS_RATIO = 10.0  # masses of the robot, which no robot carries
PAYLOAD_FILE, LOADED_MODEL_FILE, PAYLOAD_REPORT = (
    'payload.json', 'with_payload.urdf', 'report.html')


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the results; return 0, 1 where no mass of a payload is found, 2 after an error."""
    options = parser().parse_args(arguments)
    try:
        whole = load_model(options.model)
        require_still(whole, options)
        with about(options, [*options.recording, *options.also]):
            model, recording, samples, _ = measured(whole, options)
            motion = motion_of(model, recording)
            first = _estimate(model, motion, options)
        found, notes, caution = _checked(model, first, options)
        remarks = (*notes, *samples.remarks, *motion.remarks)
        files = _write(options, whole, found, caution)
        findings = _findings(whole, found, options, remarks, caution)
        files.append(_report(options, model, motion, found, findings))
    except (LiedynError, OSError, ModuleNotFoundError) as error:
        without_empty(options.folder)
        print(f'liedyn payload: {error}', file=sys.stderr)
        return 2
    findings.print_top()
    print_table(PAYLOAD_HEAD, _rows(found))
    findings.print_further()
    print('written:', ', '.join(str(each) for each in files))
    return 0 if isfinite(found.deviations[0]) and not _doubts(whole, found) else 1


def _of_scales(names: Sequence[str], options: argparse.Namespace, scatter: float) -> Array | None:
    """Return the covariance (f, f) of the shares of efforts as stated, or None without any."""
    stated = {name: abs(deviation / factor) for name, factor, deviation in options.scale
              if deviation and factor}
    if not stated:
        return None
    other = np.array([name not in stated for name in names], dtype=float)
    own = np.array([stated.get(name, 0.0) for name in names])
    return np.asarray(SCALE_DEVIATION**2 * np.outer(other, other) + np.diag(own**2 + scatter**2))


def _other(model: Model, options: argparse.Namespace, path: Path) -> Payload:
    """Return the payload in another recording of the robot."""
    changed = argparse.Namespace(**{**vars(options), 'recording': [path], 'also': []})
    with about(options, [path]):
        return _estimate(model, motion_of(model, recorded(model, changed)[0]), options)


def _checked(model: Model, found: Payload, options: argparse.Namespace
             ) -> tuple[Payload, list[str], str]:
    """
    Return the payload with errors that scale with the efforts, what was seen of them, a caution.

    A known load that says less of the efforts than constants of motors, as stated, is not used.
    """
    names = PayloadEstimator(model, options.body).joint_names
    notes, empty = list[str](), None
    covariance = _of_scales(names, options, found.scatter)
    own = [f'{name} {found.mass * share:.4g} ± {abs(found.mass) * noise:.2g}' for
           name, share, noise in zip(names, found.shares, found.noise) if isfinite(noise)]
    notes.append(f'mass by each joint alone, the centre as found, kg: {", ".join(own)}' + (
        f'; they differ by {100.0 * found.scatter:.2g} % more than by noise, which is in the '
        'deviations' if found.scatter else ''))
    scatter, caution = found.scatter, CAVEAT if covariance is None else STATED_SCALE
    if options.known_load is not None:
        mass, path = options.known_load
        known = _other(model, options, path)
        factor, spread = known.mass / mass, float(known.deviations[0]) / mass
        seen = (f'the known load of {mass:g} kg is found as {known.mass:.4g} ± '
                f'{known.deviations[0]:.2g} kg: ')
        if spread < SCALE_DEVIATION:
            notes.append(f'{seen}efforts are {factor:.4g} ± {spread:.2g} times what they should '
                         'be, and the payload is corrected by that')
            found = found.corrected(np.full(len(found.shares), factor))
            covariance = spread**2 + scatter**2 * np.eye(len(found.shares))
            caution = KNOWN_LOAD
        else:
            notes.append(f'{seen}that says less of the efforts than constants of motors that are '
                         'stated to 10 %, and is not used')
    if options.empty is not None:
        none = _other(model, options, options.empty)
        empty = np.where(np.isfinite(none.deviations), none.parameters, 0.0)
        notes.append(f'without load it finds {none.mass:.3g} ± {none.deviations[0]:.2g} kg, which '
                     'is in the deviations')
    return found.with_scales(covariance, empty), notes, caution


def _doubts(model: Model, found: Payload) -> tuple[str, ...]:
    """Return why the mass cannot be that of a payload."""
    own = sum(body.inertia.mass for body in model.body_list if body.inertia is not None)
    if not isfinite(found.deviations[0]):
        return ()
    if _may_be_nothing(found):
        return ('its deviation is more than half the mass: it may be nothing',)
    return () if 0.0 < found.mass <= MAX_MASS_RATIO * own else (
        f'no payload has {found.mass:.3g} kg on a robot of {own:.3g} kg: check the unit and '
        'the sign of the efforts, and identify the robot without payload first',)


def _may_be_nothing(found: Payload) -> bool:
    return abs(found.mass) <= ZERO_DEVIATIONS * float(found.deviations[0])


def _rows(found: Payload) -> list[list[object]]:
    """Return the rows of a table of the ten numbers, under PAYLOAD_HEAD."""
    return [
        [name, f'{value:.5g}', f'{deviation:.2g}' if isfinite(deviation) else 'unknown', unit]
        for name, value, deviation, unit in zip(
            found.names, found.parameters, found.deviations, PAYLOAD_UNITS)]


def _findings(whole: Model, found: Payload, options: argparse.Namespace, remarks: Sequence[str],
              caution: str) -> Findings:
    """Return the mass or why there is none, what it stands on, and the next step."""
    doubts, known = _doubts(whole, found), isfinite(found.deviations[0])
    if not known:
        step = 'record a motion of joints that gravity acts on'
    elif _may_be_nothing(found):
        step = ('record longer, with the arm stretched out, slowly, and identify the robot '
                'without payload from such a recording too')
    elif doubts:
        step = 'check unit and sign of the efforts with liedyn identify, without the payload'
    elif caution != KNOWN_LOAD:
        step = ('record a load of known mass too: --known-load KG=RECORDING'
                if options.known_load is None else 'record a heavier known load, for longer')
    else:
        step = f'use {LOADED_MODEL_FILE}'
    center = ', '.join(f'{x:.4g} ± {s:.1g}' for x, s in zip(
        found.center_of_mass, found.center_deviations)) if known else ''
    return Findings(
        f'The payload {"may have" if doubts else "has"} {found.mass:.4g} ± '
        f'{found.deviations[0]:.2g} kg.' if known else
        'The motion does not determine the mass of the payload.', known and not doubts,
        [*doubts, *([f'centre of mass, m: {center}'] if known else []), caution],
        step, remarks)


def _estimate(model: Model, motion: Motion, options: argparse.Namespace) -> Payload:
    estimator = PayloadEstimator(model, options.body, placement=options.placement,
                                 offsets=options.offsets)
    for each in zip(motion.time.tolist(), motion.q, motion.v, motion.a, motion.tau):
        estimator.take(*each)
    return estimator.estimate


def _write(options: argparse.Namespace, whole: Model, found: Payload, caution: str
           ) -> list[Path]:
    """Write the numbers, and the model that carries the payload."""
    numbers, loaded = options.folder / PAYLOAD_FILE, options.folder / LOADED_MODEL_FILE
    write_whole(numbers, json.dumps({
        'body': options.body, 'caution': caution, 'names': found.names,
        'parameters': found.parameters.tolist(),
        'deviations': [each if isfinite(each) else None for each in found.deviations.tolist()],
        'covariance': found.covariance.tolist(), 'offsets': found.offsets.tolist(),
        'errors': found.errors.tolist(), 'possible': is_consistent(found.parameters)},
        indent=1))
    files = [numbers]
    if isfinite(found.deviations[0]) and not _doubts(whole, found):
        write_whole(loaded, to_urdf(with_payload(
            whole, options.body, found.possible(), placement=options.placement)))
        files.append(loaded)
    else:
        set_aside(loaded, given=options.model)
    return files


def _report(options: argparse.Namespace, model: Model, motion: Motion, found: Payload,
            findings: Findings) -> Path:
    """Write the page: the numbers, and what the forces leave without and with the payload."""
    page, known = ReportPage(f'Payload of {model.name}'), isfinite(found.deviations[0])
    findings.begin(page)
    page.heading('The ten numbers')
    page.text(f'About the origin of its frame at {options.body}, with standard deviations.')
    page.table(PAYLOAD_HEAD, _rows(found))
    if known and found.mass > 0.0:
        page.heading('What the forces leave')
        page.plots(_plots(options, model, motion, found))
    findings.end(page)
    page.settings(vars(options))
    path: Path = options.folder / PAYLOAD_REPORT
    write_whole(path, page.html())
    return path


def _plots(options: argparse.Namespace, model: Model, motion: Motion, found: Payload
           ) -> list[str]:
    loaded = with_payload(model, options.body, found.possible(), placement=options.placement)
    left = [motion.tau - _forces(each, motion) for each in (model, loaded)]
    offsets = dict(zip(model.coordinate_names, found.offsets.tolist()))
    return [plot(f'{name}: error', [
        Line('without', motion.time, left[0][:, k]),
        Line('with the payload', motion.time, left[1][:, k] - offsets.get(name, 0.0))],
        'time, s', 'N m or N') for k, name in enumerate(model.coordinate_names)
        if motion.tau[:, k].any()]


def _forces(model: Model, motion: Motion) -> Array:
    """Return the forces (n, nv) that a model needs for a motion."""
    if model.closures or model.couplings:
        return ConstrainedDynamics(model).inverse.batch(motion.q, motion.v, motion.a).tau
    return Dynamics(model).inverse.batch(motion.q, motion.v, motion.a)


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn payload', formatter_class=HelpFormatter,
        description='Find a payload in a recording of the robot that carries it.')
    result.add_argument('model', type=Path, help='the robot without the payload, identified')
    add_recording_options(result)
    result.add_argument('--body', required=True, help='body that carries it, such as tool0')
    result.add_argument('--placement', type=_placement, metavar='X,Y,Z', help=(
        'origin of the payload frame in the body frame, m; default: its origin'))
    result.add_argument('--offsets', action='store_true', help=(
        'estimate constant errors of the efforts too'))
    result.add_argument('--empty', type=Path, metavar='RECORDING', help=(
        "a recording without payload, which shows the error of the robot's own model"))
    result.add_argument('--known-load', type=_known, metavar='KG=RECORDING', help=(
        'a recording with a load of known mass, which shows the scale error of the efforts'))
    result.add_argument('--folder', type=folder, default='payload', help='folder of the results')
    add_holding_options(result)
    return result


def _known(text: str) -> tuple[float, Path]:
    """Return mass, kg, and recording of KG=RECORDING. Raises ArgumentTypeError."""
    mass, _, path = text.partition('=')
    try:
        value = float(mass)
    except ValueError:
        value = 0.0
    if not (value > 0.0 and path):
        raise argparse.ArgumentTypeError(f'expected KG=RECORDING, got {text!r}')
    return value, Path(path)


def _placement(text: str) -> Array:
    pose = np.eye(4)
    try:
        pose[:3, 3] = [float(each) for each in text.split(',')]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f'expected X,Y,Z in m, got {text!r}') from error
    return pose


if __name__ == '__main__':
    sys.exit(main())
