# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One bag in, its files out: what each process of liedyn bag process runs; the report of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
import math
from pathlib import Path
from typing import Any

import numpy as np

from liedyn_ros.commands import outputs
from liedyn_ros.commands.bags.job import (
    damaged, Job, JobCurves, JobOutcome, Reasons, require_messages, Tell)
from liedyn_ros.commands.bags.joint_bag import JointBagWriter
from liedyn_ros.commands.bags.joint_motion import (
    motion_columns, processed_loops, processed_motion, single_joints)
from liedyn_ros.commands.bags.platform_poses import platform_job
from liedyn_ros.commands.bags.tables import Cell, RowWriter, table_writer
from liedyn_ros.commands.identification.options import start_of
from liedyn_ros.commands.reports import Line, plot, ReportPage
from liedyn_ros.commands.stewart.bag_processing.writers import SHOWN_STEP_NS, written
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.whole_files import whole_folder
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, LoopTracker
from liedyn_ros.model import load_model, Model
from liedyn_ros.recordings.bags import AnyBag, Bag, TableBag
from liedyn_ros.recordings.bags.joint_state_layout import JointStateMessage
from liedyn_ros.recordings.bags.joint_states import joint_state_messages
from liedyn_ros.recordings.bags.transforms import urdf_of
from liedyn_ros.recordings.model_samples import measured_joints
from liedyn_ros.recordings.tables import is_table
from liedyn_ros.view_state import Description, ViewInput

MAX_CURVES = 12  # curves of a bag
MAX_BAGS_SHOWN = 8  # whose curves are shown


class ShownJoints:
    """Keeps a picture each 33 ms, and writes them as one HTML file at the end."""

    def __init__(self, path: Path, columns: Sequence[str], model: Model,
                 description: Description | None) -> None:
        """Take the file, columns such as 'elbow.torque [N m]', and the robot."""
        self._path, self._model, self._description = path, model, description
        self._positions, self._efforts = (
            {each.partition(kind)[0]: k for k, each in enumerate(columns, 1) if kind in each}
            for kind in ('.position [', '.torque ['))
        self._shown: list[tuple[float, ViewInput]] = []
        self._first_ns = self._due_ns = 0

    def __call__(self, row: Sequence[Cell]) -> None:
        """Keep one row, or why it has no numbers, if a picture is due."""
        stamp = row[0]
        if not isinstance(stamp, int) or stamp < self._due_ns:
            return
        self._first_ns = self._first_ns or stamp
        self._due_ns = stamp + SHOWN_STEP_NS
        seen = ViewInput(fault=str(row[-1])) if row[1] is None else ViewInput(
            positions=_numbers(row, self._positions), efforts=_numbers(row, self._efforts))
        self._shown.append((1e-9 * (stamp - self._first_ns), seen))

    def close(self) -> None:
        """Write the file, unless there was nothing."""
        if self._shown:
            outputs.recording(self._path, self._model, self._shown,
                              description=self._description)


def _numbers(row: Sequence[Cell], places: dict[str, int]) -> dict[str, float]:
    return {name: float(value) for name, k in places.items()
            if isinstance(value := row[k], (int, float)) and math.isfinite(value)}


STAMP_COLUMN, REASON_COLUMN = 'stamp [ns]', 'reason'
Rows = Iterable[tuple[int, list[float] | None, str]]  # stamps (ns), values, why there are none
Part = tuple[Rows, Iterable[str], Mapping[str, int]]  # with remarks, and numbers of messages


def run(job: Job, tell: Tell = lambda done, total: None) -> JobOutcome:
    """Write the files of a job, and what was done; errors are in the outcome."""
    try:
        return (platform_job if job.settings['model'] is None else _joint_job)(job, tell)
    except (LiedynError, OSError, ModuleNotFoundError) as error:
        return JobOutcome(error=str(error))


def _joint_job(job: Job, tell: Tell) -> JobOutcome:
    model = load_model(job.settings['model'])
    bag = (TableBag(job.bag, job.settings['measured'] or measured_joints(model))
           if is_table(job.bag) else Bag(job.bag))
    topic = bag.topic(job.settings['topic'], 'sensor_msgs/msg/JointState')
    total = bag.counts[topic]
    produce, columns = _MODES[job.settings['complete']]
    names = columns(model, job.settings)
    counts, reasons, remarked = Counter[str](), Reasons(), Reasons()
    curves = JobCurves(names)

    def of_part(part: Part) -> Rows:
        rows, remarks, without = part
        counts.update(without)
        for each in remarks:
            remarked.take(each)
        return rows

    rows = chain.from_iterable(map(of_part, produce(bag, model, topic, job.settings)))
    with ExitStack() as stack:
        writers = _writers(job, model, names, stack)
        for stamp, values, reason in rows:
            good = values is not None
            counts['with all joints' if good else 'refused'] += 1
            if not good:
                reasons.take(reason)
            row: list[Cell] = [stamp, *(values if values is not None else [None] * len(names)),
                               reason]
            for write in writers:
                write(row)
            curves.take(stamp, values)
            tell(counts.total(), total)
        require_messages(bag, topic, counts)
    losses = [*(str(each) for each in bag.losses), *reasons.lines(), *remarked.firsts()]
    return JobOutcome(dict(counts), losses, curves=curves.points, damaged=damaged(bag))


def _writers(job: Job, model: Model, names: list[str], stack: ExitStack) -> list[RowWriter]:
    columns = [STAMP_COLUMN, *names, REASON_COLUMN]
    found = [stack.enter_context(table_writer(path, columns, [REASON_COLUMN], [STAMP_COLUMN]))
             for kind, path in job.files.items() if kind not in ('mcap', 'html')]
    file = Path(job.settings['model'])
    if 'mcap' in job.files:
        place = stack.enter_context(whole_folder(job.files['mcap']))
        found.append(stack.enter_context(JointBagWriter(
            place, names, model, urdf_of(file, model))))
    if 'html' in job.files:
        shown = ShownJoints(job.files['html'], names, model, Description(
            file, file.parent.absolute()) if file.suffix == '.urdf' else None)
        found.append(stack.enter_context(written(shown)))
    return found


def _moved(bag: AnyBag, model: Model, topic: str, settings: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the parts of smoothed motions."""
    for block in processed_motion(
            bag, model, topic=topic, arrival=settings['arrival'], order=settings['order'],
            cutoff=settings['smoothing'], start=start_of(model, settings['start'])):
        table = np.column_stack(list(block.columns.values()))
        yield ([(stamp, values, '') for stamp, values in zip(
            block.stamps.tolist(), table.tolist())], block.remarks, block.without)


def _completed(bag: AnyBag, model: Model, topic: str, settings: Mapping[str, Any]
               ) -> Iterator[Part]:
    """Yield one part, with the joints of each message."""
    tracker = LoopTracker(
        ConstrainedDynamics(model), settings['measured'], start=start_of(model, settings['start']),
        agreement=settings['agreement'])
    messages = joint_state_messages(bag, topic)
    if settings['arrival']:
        messages = (each._replace(stamp_ns=each.received_ns) for each in messages)
    yield _completed_rows(messages, model, tracker), (), {}


def _completed_rows(messages: Iterable[JointStateMessage], model: Model, tracker: LoopTracker
                    ) -> Rows:
    at = single_joints(model)
    q_at, v_at = [qi for _, qi, _, _ in at], [vi for _, _, vi, _ in at]
    for stamp, q, v, reason in processed_loops(messages, model, tracker):
        values = None
        if q is not None:
            rates = np.full(len(at), np.nan) if v is None else v[v_at]
            values = np.column_stack([q[q_at], rates]).ravel().tolist()
        yield stamp, values, reason


def _columns_of_motion(model: Model, settings: Mapping[str, Any]) -> list[str]:
    return list(motion_columns(model, settings['order']))


def _columns_of_joints(model: Model, settings: Mapping[str, Any]) -> list[str]:
    return [f'{name}.{kind} [{"m" if slides else "rad"}{per}]'
            for name, _, _, slides in single_joints(model)
            for kind, per in (('position', ''), ('velocity', '/s'))]


_MODES = {False: (_moved, _columns_of_motion), True: (_completed, _columns_of_joints)}


def report(jobs: Sequence[Job], outcomes: Sequence[JobOutcome]) -> str:
    """Return the page of a run."""
    page = ReportPage('Processed bags')
    failed = sum(bool(each.error) for each in outcomes)
    lost = sum(each.damaged for each in outcomes)
    page.text(f'{len(jobs) - failed} of {len(jobs)} bags processed' + (
        f', {lost} of them damaged' if lost else '') + '.', 'bad' if failed or lost else 'good')
    page.table(['bag', 'messages', 'what became of them'], [
        [job.bag, sum(each.counts.values()), each.error or ', '.join(
            f'{count} {what}' for what, count in each.counts.items())]
        for job, each in zip(jobs, outcomes)])
    drawn = []
    for job, outcome in zip(jobs, outcomes):
        if outcome.losses:
            page.heading(f'{job.bag.name}: remarks')
            page.items(outcome.losses)
    for job, outcome in list(zip(jobs, outcomes))[:MAX_BAGS_SHOWN]:
        for name in _chosen(list(outcome.curves)):
            points = np.array(outcome.curves[name], dtype=float).reshape(-1, 2)
            points = points[np.isfinite(points).all(axis=1)]
            if len(points):
                drawn.append(plot(f'{job.bag.name}: {name}', [Line('', *points.T)], 'time, s',
                                  name.rpartition('[')[2].rstrip(']')))
    if drawn:
        page.heading('Curves')
        page.plots(drawn)
    page.settings(jobs[0].settings)
    return page.html()


def _chosen(names: list[str]) -> list[str]:
    """Return the columns that are drawn: torques before others, no derivatives."""
    torques = [each for each in names if '.torque [' in each]
    return (torques or names)[:MAX_CURVES]
