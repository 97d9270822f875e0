# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Find masses, inertias and friction of a robot in a recording of it.

`liedyn identify robot.urdf my_bag --folder out`. The folder gets a report, and where parts
of the recording that were held out say so, a better model and parameters of dynamics_server.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
import json
from math import inf
from pathlib import Path
import sys
import time

from liedyn_ros.commands.identification.excite import add_limit_options
from liedyn_ros.commands.identification.model_files import model_files, write_model
from liedyn_ros.commands.identification.next_motion import (
    predicted_deviations, proposed, write_next)
from liedyn_ros.commands.identification.options import (
    add_holding_options, add_recording_options, measured, require_still)
from liedyn_ros.commands.identification.report import findings, report, SCALES_HEAD, summary
from liedyn_ros.commands.inputs import about, HelpFormatter
from liedyn_ros.commands.outputs import folder, set_aside, without_empty
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.extras import require_extra
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.identification import Identification, identify, NextMotion
from liedyn_ros.identification.held_out import PRIORS
from liedyn_ros.identification.identify import STAGES
from liedyn_ros.identification.joints import FRICTION_TERMS, MORE_TERMS
from liedyn_ros.identification.verdict import with_held
from liedyn_ros.model import load_model, Model

IDENTIFICATION_REPORT, RESULT_FILE = 'report.html', 'parameters.json'


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the results; return 0 where a model is offered, 1 where none is, 2 without any."""
    options = parser().parse_args(arguments)
    try:
        require_extra('identification', 'clarabel')
        whole = load_model(options.model)
        seen = require_still(whole, options)
        print(f'reading {", ".join(str(each) for each in options.recording)}', file=sys.stderr)
        with about(options, [*options.recording, *options.also]):
            model, recording, samples, idle = measured(whole, options)
            print(f'{len(recording.time)} samples over {recording.time[-1]:.1f} s; identifying',
                  *samples.remarks, sep='\n- ', file=sys.stderr)
            result = identify(
                model, recording, friction=tuple(options.friction), smoothing=options.smoothing,
                cutoff=options.cutoff, prior=options.prior, sure=options.sure,
                scales=tuple(options.find_scale), progress=partial(_tell, time.monotonic()))
        result = _with_held(result, whole, seen | idle, options.sure)
        if not options.no_next_motion:
            print('looking for the motion to record next', file=sys.stderr)
        ahead = proposed(result, options)
        files = _write(options, result, whole, samples.remarks, ahead)
    except (LiedynError, OSError, ModuleNotFoundError) as error:
        without_empty(options.folder)
        print(f'liedyn identify: {error}', file=sys.stderr)
        return 2
    found = findings(result, *ahead)
    found.print_top()
    print('error on held-out parts, rms, N m or N')
    print_table(SCALES_HEAD, summary(result))
    found.print_further()
    if result.scales:
        print('- scales found:', *(f'--scale {joint}={value:.5g}+-{deviation:.2g}'
                                   for joint, (value, deviation) in result.scales.items()))
    for text in (*samples.remarks, *result.motion.remarks):
        print(f'- {text}')
    print(f'- to record next: {ahead[1]}')
    print('written:', ', '.join(str(each) for each in files))
    return 0 if result.offered else 1


def _tell(began: float, done: int, stage: str) -> None:
    """Print how far the work is that began at a time, s; left is as if stages were alike."""
    left = '' if not done else (
        f', some {(time.monotonic() - began) * (len(STAGES) / done - 1.0):.0f} s left')
    print(f'{done + 1} of {len(STAGES)}: {stage}{left}', file=sys.stderr)


def _with_held(result: Identification, whole: Model, seen: set[str], sure: bool
               ) -> Identification:
    """Return a result whose verdict names held joints that were not seen to stand still."""
    names = [name for name in whole.coordinate_names
             if name not in result.given.coordinate_names and name not in seen]
    return replace(result, verdict=with_held(
        result.verdict, names, whole, result.given, result.motion, result.equations,
        result.held_out, sure))


def _write(options: argparse.Namespace, result: Identification, whole: Model,
           remarks: Sequence[str], ahead: tuple[NextMotion | None, str]) -> list[Path]:
    """Write report, numbers, the motion to record next, and where it is offered the model."""
    page, numbers = options.folder / IDENTIFICATION_REPORT, options.folder / RESULT_FILE
    write_whole(page, report(
        f'Identification of {result.given.name}', result, vars(options), remarks, ahead))
    write_whole(numbers, json.dumps(_numbers(result) | {
        'next_motion': {} if ahead[0] is None else {
            name: after if after < inf else None
            for name, _, after in predicted_deviations(ahead[0])}}, indent=1))
    files = [page, numbers, *write_next(options.folder, result, ahead[0])]
    if result.offered:
        files += write_model(options.folder, options.model, result.given, result.model, whole)
    else:
        set_aside(*model_files(options.folder, options.model))
    return files


def _numbers(result: Identification) -> dict[str, object]:
    """Return the results of an identification as plain numbers, SI units."""
    fit, equations = result.estimate.plain, result.equations
    return {
        'offered': result.offered, 'reasons': result.verdict.reasons,
        'worse': result.verdict.worse,
        'held_out_rms': {method: dict(zip(equations.joints, errors.tolist()))
                         for method, errors in result.held_out.items()},
        'parameters': {name: {'value': value, 'least_squares': x,
                              'deviation': deviation if deviation < inf else None}
                       for name, value, x, deviation in zip(
                           equations.names, result.estimate.consistent.tolist(), fit.x.tolist(),
                           result.estimate.deviations.tolist())},
        'bodies': {name: each.tolist() for name, each in result.estimate.bodies.items()},
        'offsets': result.offsets, 'rotor_inertia': result.rotor_inertia,
        'stribeck': {name: {'friction': size, 'speed': speed}
                     for name, (size, speed) in result.stribeck.items()},
        'load_friction': result.load_friction, 'springs': result.springs,
        'tilt': result.tilt.tolist(),
        'scales': {name: {'value': value, 'deviation': deviation}
                   for name, (value, deviation) in result.scales.items()}}


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn identify', formatter_class=HelpFormatter,
        description='Find masses, inertias and friction of a robot in a recording of it.')
    result.add_argument('model', type=Path, help='.urdf, .xacro, .xml (MJCF), .sdf or .yaml')
    add_recording_options(result)
    result.add_argument('--folder', type=folder, default='identified',
                        help='folder of the results')
    add_holding_options(result)
    fit = result.add_argument_group('the fit')
    fit.add_argument('--friction', nargs='*', choices=(*FRICTION_TERMS, *MORE_TERMS),
                     default=list(FRICTION_TERMS), help=(
                         'friction terms to fit for the joints, and tilt of the base'))
    fit.add_argument('--find-scale', metavar='JOINT,...', default=[],
                     type=lambda text: text.split(','), help=(
                         'joints whose efforts are in an unknown unit, such as currents'))
    fit.add_argument('--smoothing', type=float, help='cut-off of the positions, Hz')
    fit.add_argument('--cutoff', type=float, help=(
        'cut-off of the equations, Hz; by default the one that predicts held-out parts best'))
    fit.add_argument('--prior', type=float, help=(
        'weight of the given model, 1 for errors of its bodies of 100 %%; by default the one of '
        f'{PRIORS[0]:g} to {PRIORS[-1]:g} that predicts held-out parts best'))
    fit.add_argument('--sure', action='store_true', help=(
        'trust unit and sign of the efforts even where the given model contradicts them, and '
        'take held joints as still'))
    result.add_argument('--no-next-motion', action='store_true', help=(
        'do not search for a motion that determines what the recordings leave open'))
    add_limit_options(*(result.add_argument_group(name) for name in (
        'the motion to record next', 'limits of that motion')))
    return result


if __name__ == '__main__':
    sys.exit(main())
