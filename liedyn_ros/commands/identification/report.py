# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The report of an identification: errors, parameters with their confidence, doubts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import stdtrit

from liedyn_ros.commands.identification.excite import motion_plots
from liedyn_ros.commands.identification.next_motion import MAX_UNKNOWNS, predicted_deviations
from liedyn_ros.commands.reports import Findings, Line, plot, ReportPage
from liedyn_ros.identification import Identification, NextMotion
from liedyn_ros.identification.estimate import given_unknowns
from liedyn_ros.identification.verdict import masses_in_sums, ratios

INTERVAL_LEVEL = 0.95
WRITTEN_ZERO = 1e-12  # kg, m, N: what files write for nothing
METHODS = {'given': 'given model', 'refitted friction': 'given, friction fitted',
           'least squares': 'least squares', 'consistent': 'identified'}
CHECK_OF_UNIT = (
    'record with a known weight in the hand: `liedyn payload` with the new model finds its mass, '
    'if the unit is right, and so many times it, if efforts are that many times too large')
SCALES_HEAD = ['joint', *METHODS.values(), 'ratio', 'it is']
_BODY = 'mass', 'x', 'y', 'z', 'xx', 'xy', 'xz', 'yy', 'yz', 'zz'


def report(title: str, result: Identification, settings: Mapping[str, Any],
           remarks: Sequence[str], ahead: tuple[NextMotion | None, str]) -> str:
    """Return the page of an identification; ahead is the motion to record next."""
    page = ReportPage(title)
    found = findings(result, *ahead)
    found.begin(page)
    _errors(page, result)
    found.end(page)
    _plots(page, result)
    _unknowns(page, result)
    _bodies(page, result)
    page.heading('What the recording does not determine')
    page.items([f'may be zero: {name}' for name in result.verdict.unknown] or ['nothing'])
    sums = [name for name in masses_in_sums(result.given, result.equations)
            if result.given.body(name).inertia is not None]
    page.items([f'mass of {name}: known only in sums with other numbers; the given '
                'model divides them' for name in sums])
    page.items(result.verdict.advice or ['all joints moved over a third of their range or more'])
    _ahead(page, result, *ahead)
    page.heading('The recording')
    motion = result.motion
    page.items([
        f'{len(motion.time)} samples at {motion.rate:.5g} Hz, motion up to {motion.band:.3g} Hz; '
        f'equations filtered at {result.equations.cutoff:.3g} Hz',
        *remarks, *motion.remarks])
    page.settings(settings)
    return page.html()


def findings(result: Identification, ahead: NextMotion | None, text: str) -> Findings:
    """
    Return the findings; the next step is what they ask for first, else the next motion.

    A term that is missing is asked for only where it gains more than poses that are.
    """
    verdict, worse = result.verdict, result.verdict.worse
    asked = [each for each in (*verdict.reasons, *verdict.remarks) if '--' in each and not (
        result.moves_first and '--friction' in each)]
    if result.moves_first:
        where = ', '.join(f'{name} {each:.2g}' for name, each, error in zip(
            result.equations.joints, result.beyond, result.held_out['consistent'])
            if each > error)
        text = f'{text}. Efforts at poses that no recording has are uncertain by {where} N m or N'
    done = result.offered and not (worse or result.moves_first) and (
        ahead is None or not verdict.unknown)
    unsure = f', though {", ".join(worse)} got no better' if worse else ''
    if verdict.unit:
        unsure += ', if the unit of its efforts is right'
        asked = [CHECK_OF_UNIT]
    return Findings(
        f'The identified model is offered{unsure}.' if result.offered else
        'The identified model is not offered: the given one stays.',
        None if result.offered and unsure else result.offered, verdict.reasons,
        asked[0] if asked else 'use the new model' if done else f'record again: {text}' if
        ahead else f'record again, faster and further: {"; ".join((*verdict.advice[:1], text))}',
        verdict.remarks)


def summary(result: Identification) -> list[list[object]]:
    """Return the rows of a table of held-out errors, under SCALES_HEAD."""
    return [[joint, *(f'{float(result.held_out[method][k]):.4g}' for method in METHODS),
             f'{ratio:.3f}', 'no better' if joint in result.verdict.worse else 'better']
            for k, (joint, ratio) in enumerate(zip(
                result.equations.joints, ratios(result.held_out)))]


def _errors(page: ReportPage, result: Identification) -> None:
    page.heading('Errors on held-out parts')
    page.text('Root mean square of the joint forces, N m or N. Each part of the recording is '
              'predicted by a fit of the others.')
    page.table(SCALES_HEAD, summary(result))


def _plots(page: ReportPage, result: Identification) -> None:
    page.heading('Joint forces and their residuals')
    time, forces = result.unseen.time, result.unseen.forces
    before, after = (result.unseen.predicted[each]
                     for each in ('refitted friction', 'consistent'))
    drawn = []
    for k, joint in enumerate(result.equations.joints):
        drawn.append(plot(f'{joint}: force', [
            Line('measured', time, forces[:, k]), Line('given', time, before[:, k]),
            Line('identified', time, after[:, k])], 'time, s', 'N m or N'))
        drawn.append(plot(f'{joint}: error', [
            Line('', time, np.zeros_like(time)),
            Line('given', time, forces[:, k] - before[:, k]),
            Line('identified', time, forces[:, k] - after[:, k])], 'time, s', 'N m or N'))
    page.plots(drawn)


def _unknowns(page: ReportPage, result: Identification) -> None:
    fit, equations = result.estimate.plain, result.equations
    wide = float(stdtrit(fit.freedom, 0.5 + 0.5 * INTERVAL_LEVEL))
    given = given_unknowns(result.given, equations)
    page.heading('Parameters that the recording determines')
    page.text('Sums of parameters, and joint forces. The identified ones are physically '
              f'consistent, with intervals of {100.0 * INTERVAL_LEVEL:g} % that include how far '
              'consistency and the given model pull them from least squares.')
    page.table(['parameter', 'given', 'identified', '±', 'least squares', ''], [
        [name, *(f'{each:.5g}' if abs(each) > WRITTEN_ZERO else '0' for each in (old, new)),
         f'{spread:.2g}', f'{x:.5g}' if abs(x) > WRITTEN_ZERO else '0',
         '' if abs(x) > wide * s else 'may\u00a0be\u00a0zero']
        for name, old, new, spread, x, s in zip(
            equations.names[:equations.at_friction.stop], given, result.estimate.consistent,
            result.estimate.half_widths(INTERVAL_LEVEL), fit.x, fit.deviations)])


def _ahead(page: ReportPage, result: Identification, found: NextMotion | None, text: str) -> None:
    page.heading('Suggested motion')
    page.text(text)
    if found is None:
        return
    rows = predicted_deviations(found)
    page.text('Standard deviations by these recordings, and with the suggested motion recorded '
              f'as well, at the same noise. Shown are {min(len(rows), MAX_UNKNOWNS)} of '
              f'{len(rows)}, largest gains first.')
    page.table(['parameter', 'now', 'with the motion'], [
        [name, *(f'{each:.2g}' if np.isfinite(each) else 'unknown' for each in (before, after))]
        for name, before, after in rows[:MAX_UNKNOWNS]])
    page.plots(motion_plots(result.given, found.excitation))


def _bodies(page: ReportPage, result: Identification) -> None:
    page.heading('Bodies')
    page.text('Mass (kg), centre of mass (m) and moments about it (kg m²), given and identified. '
              'Single numbers may be far off where only their sums are determined.')
    rows = []
    for name in result.estimate.bodies:
        for kind, model in (('given', result.given), ('identified', result.model)):
            inertia = model.body(name).inertia
            if inertia is not None:
                about = inertia.inertia_about_com
                rows.append([f'{name}, {kind}', *(f'{x:.4g}' for x in (
                    inertia.mass, *inertia.center_of_mass, *about[np.triu_indices(3)]))])
    page.table(['body', *_BODY], rows)
    extra = [('offset, N m or N', result.offsets), ('rotor inertia', result.rotor_inertia),
             ('Stribeck friction, N m or N', {
                 joint: size for joint, (size, _) in result.stribeck.items()}),
             ('its speed, rad/s or m/s', {
                 joint: speed for joint, (_, speed) in result.stribeck.items()}),
             ('friction by load', result.load_friction),
             ('spring, N m/rad or N/m', result.springs),
             ('coupled motor, N m or N m s', result.coupled),
             ('tilt of the base, degrees', {
                 f'about {axis}': each for axis, each in zip(
                     ('x', 'y'), np.degrees(result.tilt))})]
    page.table(['joint', 'what', 'value'], [
        *([joint, what, f'{value:.5g}'] for what, values in extra
          for joint, value in values.items()),
        *([joint, f'scale, as in --scale {joint}={value:.5g}+-{deviation:.2g}',
           f'{value:.5g} ± {deviation:.2g}']
          for joint, (value, deviation) in result.scales.items())])
