# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Options of recordings, and the recordings that they name."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
import itertools
from pathlib import Path
import re
from typing import NamedTuple

import numpy as np

from liedyn_ros.commands.inputs import require_taken
from liedyn_ros.commands.outputs import measure_of, number_of, pair_of
from liedyn_ros.common.checks import Array, require_known
from liedyn_ros.common.errors import LiedynError, LimitError, NameSetError, ShapeError
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.identification import Recording
from liedyn_ros.identification.effort_checks import REST_DISTANCE
from liedyn_ros.model import JOINT_TYPES, Model, ModelBuilder
from liedyn_ros.recordings import Columns, JointSamples, read_samples
from liedyn_ros.recordings.model_samples import measured_joints, model_samples
from liedyn_ros.recordings.samples import joined
from liedyn_ros.recordings.tables import is_table

RECORDING_OPTIONS = {'table': ('time', 'rate', 'position', 'velocity', 'effort'),
                     'bag': ('topic', 'arrival')}
NUMBER_PATTERN = r'(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?'


def add_recording_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of recordings."""
    parser.add_argument('recording', type=Path, nargs='+', help=(
        'a bag (folder, .mcap or .db3), or tables (.csv, .parquet) whose rows belong together'))
    parser.add_argument('--also', type=Path, action='append', default=[], metavar='RECORDING',
                        help='another recording of the same robot, a bag or a table')
    bags = parser.add_argument_group('bags')
    bags.add_argument('--topic', help='topic of joint states, where a bag has several')
    bags.add_argument('--arrival', action='store_true', help=(
        'use the times of arrival, for headers without stamps'))
    loops = parser.add_argument_group('a machine with closed loops')
    loops.add_argument('--start', action='append', default=[], type=number_of,
                       metavar='JOINT=POSITION',
                       help='rough configuration near which the loops are closed')
    tables = parser.add_argument_group('tables')
    tables.add_argument('--time', metavar='COLUMN', help='column of time')
    tables.add_argument('--rate', type=float, help='rate of the rows in place of a time, Hz')
    for kind in ('position', 'velocity', 'effort'):
        tables.add_argument(f'--{kind}', metavar='COLUMNS', help=(
            f'columns with the {kind} of the joints: a pattern of names, such as '
            f"'{{joint}}_{kind}' or 'motor_{{index}}', from 0 on; or numbers from 1 on, as 2,3,4"))
    units = parser.add_argument_group('units of bags and tables')
    units.add_argument('--unit', action='append', default=[], type=pair_of, metavar='KIND=UNIT',
                       help='unit of time, position, velocity or effort, such as position=deg')
    units.add_argument('--scale', action='append', default=[], type=measure_of,
                       metavar='JOINT=FACTOR', help=(
                           'effort of each recorded unit, such as the torque of an ampere, with '
                           'its deviation where it is known: 12+-0.5'))
    units.add_argument('--effort-delay', action='append', default=[], type=delay_of,
                       metavar='[JOINT=]SECONDS', help=(
                           'delay of efforts behind positions, of a joint or of all'))
    add_reads_option(parser)


def delay_of(text: str) -> tuple[str, float]:
    """Return name and number of JOINT=NUMBER, or '' and NUMBER. Raises ArgumentTypeError."""
    return number_of(text) if '=' in text else ('', number_of(f'all={text}')[1])


def in_time(samples: JointSamples, delays: Sequence[tuple[str, float]]) -> JointSamples:
    """
    Return samples whose efforts are taken so many s later, of joints by name, or of all ('').

    Rows whose efforts the recording does not have are left out. Raises NameSetError for unknown
    joints, ShapeError where nothing is left.
    """
    if not delays or samples.effort is None:
        return samples
    require_known(NameSetError, '--effort-delay', samples.names,
                  [name for name, _ in delays if name], 'joints')
    late = np.array([sum(each for name, each in delays if name in ('', own))
                     for own in samples.names])
    effort, kept = samples.effort.copy(), np.zeros(len(samples.time), dtype=bool)
    for begin, end in itertools.pairwise((*samples.starts, np.inf)):
        own = (samples.time >= begin) & (samples.time < end)
        time = samples.time[own]
        kept[own] = (time + late.min() >= time[0]) & (time + late.max() <= time[-1])
        effort[own] = np.column_stack([np.interp(time + each, time, column)
                                       for each, column in zip(late, samples.effort[own].T)])
    if not kept.any():
        raise ShapeError('--effort-delay: expected less than the recording, got '
                         f'{late.tolist()} s')
    starts = [samples.time[kept & (samples.time >= begin)][:1] for begin in samples.starts]
    return replace(
        samples, time=samples.time[kept], position=samples.position[kept], effort=effort[kept],
        velocity=None if samples.velocity is None else samples.velocity[kept],
        starts=tuple(np.concatenate(starts).tolist()), remarks=(
            *samples.remarks, 'efforts are taken later, as the options say'))


def add_reads_option(parser: argparse.ArgumentParser) -> None:
    """Add the option of joints whose angles are sums of readings."""
    parser.add_argument('--reads', action='append', default=[], type=pair_of,
                        metavar='JOINT=SUM', help=(
        "angle of a joint as a sum of readings, such as elbow=elbow-shoulder where a controller's "
        'elbow counts from the horizon, wrist=-wrist, base=base+90deg or, of degrees, '
        'base=0.01745329*base'))


class Angles(NamedTuple):
    """Angles of joints, rows (m, m) times their readings, plus shifts (m,), rad or m."""

    rows: Array
    shifts: Array

    def of(self, samples: JointSamples) -> JointSamples:
        """Return samples with angles in place of readings; multiples leave out velocities."""
        # Velocities of multiples may have a unit of their own
        times = not np.isin(np.abs(self.rows), (0.0, 1.0)).all()
        return replace(
            samples, position=samples.position @ self.rows.T + self.shifts,
            velocity=None if times or samples.velocity is None else samples.velocity @ self.rows.T)


def angles_of(names: Sequence[str], sums: Mapping[str, str]) -> Angles:
    """Return the angles of joints of which some are sums of readings. Raises NameSetError."""
    require_known(NameSetError, '--reads', names, list(sums), 'joints')
    rows, shifts = np.eye(len(names)), np.zeros(len(names))
    word = '|'.join(sorted(map(re.escape, names), key=len, reverse=True))
    term = re.compile(
        rf'([+-]?)(?:(?:({NUMBER_PATTERN})\*)?({word})|({NUMBER_PATTERN})(deg)?)(?![^+-])')
    for name, text in sums.items():
        terms = list(term.finditer(text))
        if ''.join(each.group() for each in terms) != text:
            raise NameSetError(
                f'--reads {name}={text}: expected a sum of joints, multiples and numbers, rad or '
                f'deg, such as {name}=0.01745329*{names[-1]}+90deg, got {text!r}')
        at = names.index(name)
        rows[at] = 0.0
        for sign, times, other, number, degrees in (each.groups() for each in terms):
            factor = -1.0 if sign == '-' else 1.0
            if other:
                rows[at, names.index(other)] += factor * float(times or 1.0)
            else:
                shifts[at] += factor * (np.radians(float(number)) if degrees else float(number))
        if not (np.isfinite(rows[at]).all() and np.isfinite(shifts[at])):
            raise NameSetError(f'--reads {name}={text}: expected finite numbers, got larger ones')
    return Angles(rows, shifts)


def columns_of(options: argparse.Namespace) -> Columns:
    """Return the columns that options name. Raises NameSetError for options that nothing takes."""
    defaults = argparse.ArgumentParser()
    add_recording_options(defaults)
    kinds = {'table' if is_table(each) else 'bag'
             for each in (options.recording[0], *options.also)}
    require_taken(options, defaults, kinds, RECORDING_OPTIONS)
    if 'time' in dict(options.unit) and 'table' not in kinds:
        raise NameSetError('--unit time: expected a table, as stamps of a bag are in ns')
    return Columns(options.time, options.rate, options.position, options.velocity,
                   options.effort, dict(options.unit),
                   {name: factor for name, factor, _ in options.scale})


def add_holding_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of joints that stood still."""
    parser.add_argument('--hold', action='append', default=[], type=number_of,
                        metavar='JOINT=POSITION',
                        help='a joint that stood still, and its position, rad or m')
    parser.add_argument('--hold-others', metavar='JOINT,...', type=lambda text: text.split(','),
                        help='joints that moved; all others stood still at 0')


def held_positions(model: Model, options: argparse.Namespace) -> dict[str, float]:
    """Return the positions of the joints that the options hold. Raises NameSetError."""
    at = dict(options.hold)
    if options.hold_others is not None:
        require_known(NameSetError, '--hold-others', model.joints, options.hold_others, 'joints')
        at = {joint.name: 0.0 for joint in model.joint_list
              if joint.name not in options.hold_others
              and JOINT_TYPES[joint.type_name].nq == 1} | at
    for each in model.couplings:  # both fingers of a hand stand where one does
        if each.joint not in at and all(name in at for name, _ in each.terms):
            at[each.joint] = each.offset + sum(factor * at[name] for name, factor in each.terms)
        elif each.joint in at and not each.further and each.multiplier:
            at.setdefault(each.leader, (at[each.joint] - each.offset) / each.multiplier)
    return at


def require_still(model: Model, options: argparse.Namespace) -> set[str]:
    """Return the held joints that all recordings have; raise LimitError if one was elsewhere."""
    at = held_positions(model, options)
    seen, columns = set(at), replace(columns_of(options), scale=None)  # those of other joints
    for paths in (options.recording, *([also] for also in options.also)):
        for name, position in at.items():
            try:
                samples = read_samples(paths, [name], topic=options.topic,
                                       arrival=options.arrival, columns=columns)
            except LiedynError:  # it was not recorded, or its numbers are bad
                seen.discard(name)
                continue
            least, most = float(samples.position.min()), float(samples.position.max())
            if max(most - position, position - least) > REST_DISTANCE:
                raise LimitError(
                    f'--hold {name}={position:g}: expected a joint that stood there, got '
                    f'{least:.4g} to {most:.4g} in {paths[0]}: ' + (
                        'leave it out of --hold' if most - least > REST_DISTANCE else
                        f'hold it at {0.5 * (least + most):.4g}'), names=(name,))
    return seen


def with_locked_joints(model: Model, options: argparse.Namespace) -> Model:
    """Return the model with joints locked as the options say. Raises NameSetError."""
    at = held_positions(model, options)
    if not at:
        return model
    builder = ModelBuilder.of(model)
    for name, position in at.items():
        builder.lock_joint(name, position)
    return builder.build()


def measured(whole: Model, options: argparse.Namespace) -> tuple[
        Model, Recording, JointSamples, set[str]]:
    """
    Return the model with held joints, its recording and samples, and joints held besides.

    That are joints without efforts, or with 0 throughout, such as fingers, where they stood still.
    Raises LimitError for one that moved.
    """
    before, model = set(held_positions(whole, options)), with_locked_joints(whole, options)
    samples = _read(model, options)
    idle = (np.isin(samples.names, samples.silent) if samples.effort is None
            else ~samples.effort.any(axis=0))
    if idle.all() or not idle.any():
        return model, _recording(model, samples, options), samples, set()
    least, most = samples.position.min(axis=0), samples.position.max(axis=0)
    remarks = list[str]()
    for k in np.flatnonzero(idle).tolist():
        name, middle = samples.names[k], float(0.5 * (least[k] + most[k]))
        option = f'--hold {name}={middle:.4g}'
        if most[k] - least[k] > 2.0 * REST_DISTANCE:
            raise LimitError(
                f'effort of {name}: expected one that was measured, got none, or 0 throughout, '
                f'and it moved from {least[k]:.4g} to {most[k]:.4g}. Record again while it stands '
                'still', names=(name,))
        options.hold.append((name, middle))
        remarks.append(f'efforts of {name} are '
                       f'{"not there" if samples.effort is None else "0 throughout"}: it is held, '
                       f'as by {option}' + (f'; it moved by {most[k] - least[k]:.2g}'
                                            if most[k] - least[k] > REST_DISTANCE else ''))
    model = with_locked_joints(whole, options)
    recording, samples = recorded(model, options)
    return (model, recording, replace(samples, remarks=(*samples.remarks, *remarks)),
            set(held_positions(whole, options)) - before)


def recorded(model: Model, options: argparse.Namespace) -> tuple[Recording, JointSamples]:
    """Return the recording of a model, and the samples as they were read."""
    samples = _read(model, options)
    return _recording(model, samples, options), samples


def _recording(model: Model, samples: JointSamples, options: argparse.Namespace) -> Recording:
    return recording_of(model, samples, start_of(model, dict(options.start)))


def _read(model: Model, options: argparse.Namespace) -> JointSamples:
    """Return the samples of a model's joints, as the options read them."""
    wanted = measured_joints(model)
    try:
        samples = joined([
            read_samples(each, wanted, topic=options.topic, arrival=options.arrival,
                         columns=columns_of(options))
            for each in (options.recording, *([also] for also in options.also))])
    except NameSetError as error:
        if not error.names or not set(error.names) <= set(wanted):
            raise
        if set(error.names) == set(wanted):  # no joint of this recording has these names
            raise
        still = ' '.join(f'--hold {name}=0.0' for name in error.names)
        raise NameSetError(f'{error}; joints that stood still are held, as by {still}, and others '
                           'that are coupled to them stand too', names=error.names) from error
    samples = in_time(samples, options.effort_delay)
    if options.reads:
        samples = angles_of(samples.names, dict(options.reads)).of(samples)
        samples = replace(samples, remarks=(*samples.remarks, (
            'angles are sums of readings, as the options say '
            f'({", ".join(map("=".join, options.reads))}): give the new model such angles too')))
    return samples


def start_of(model: Model, positions: Mapping[str, float]) -> Array | None:
    """Return a configuration with these positions, or None without any. Raises NameSetError."""
    require_known(NameSetError, '--start', model.joints, list(positions), 'joints')
    if not positions:
        return None
    start = model.neutral()
    for name, value in positions.items():
        start[model.joint(name).qi] = value
    return start


def recording_of(model: Model, samples: JointSamples, start: Array | None = None) -> Recording:
    """
    Return samples as identify takes them.

    Joints of a looped machine that nobody measured begin where its loops close near start. Raises
    ShapeError without efforts.
    """
    found = model_samples(model, samples)
    if found.tau is None:
        raise ShapeError('recording: expected efforts, N m or N, got none'
                         + ''.join(f'; {each}. Where that joint stood still, --hold it'
                                   for each in samples.remarks if 'effort' in each))
    q, v = found.q, found.v
    unknown = np.isnan(q[0])
    if unknown.any():
        held_at = {joint.name: float(q[0, joint.qi]) for joint in model.joint_list
                   if JOINT_TYPES[joint.type_name].nq == 1 and not unknown[joint.qi]}
        q[:, unknown] = assemble(ConstrainedDynamics(model), start, held=held_at)[unknown]
        v = None
    return Recording(model, found.time, q, found.tau, v, samples.starts)
