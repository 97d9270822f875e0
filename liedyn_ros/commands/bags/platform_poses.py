# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Poses of a bag of leg states, written as a job of liedyn bag process says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from typing import Any

from liedyn_ros.commands.bags.job import (
    damaged, Job, JobCurves, JobOutcome, Reasons, require_messages, Tell)
from liedyn_ros.commands.bags.tables import table_writer
from liedyn_ros.commands.inputs import settings_of
from liedyn_ros.commands.stewart.bag_processing.messages import Reporter
from liedyn_ros.commands.stewart.bag_processing.tracking import (
    platform_of, processed, ProcessedMessage, tracker_of)
from liedyn_ros.commands.stewart.bag_processing.writers import (
    BagWriter, INTEGER_COLUMNS, POSE_COLUMNS, row_of, Shown, TEXTS, written)
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.whole_files import whole_folder
from liedyn_ros.recordings.bags import AnyBag, Bag, TableBag
from liedyn_ros.recordings.bags.joint_state_layout import JointStateMessage
from liedyn_ros.recordings.bags.joint_states import joint_state_messages
from liedyn_ros.recordings.tables import is_table
from liedyn_ros.recordings.units import require_one_conversion
from liedyn_ros.stewart.input.actuators import actuators_of

LEG_STATES_TOPIC = 'leg_states'


def platform_job(job: Job, tell: Tell) -> JobOutcome:
    """Write the poses of a bag; return how many messages had which outcome."""
    settings = settings_of(job.settings['params'])
    bag: AnyBag
    if is_table(job.bag):
        geometry, _ = platform_of(settings)
        actuators = actuators_of(settings, geometry, settings['ignore_other_joints'])
        bag = TableBag(job.bag, actuators.names)
        require_one_conversion(str(job.bag), bag.factors, actuators.scales.tolist(),
                               [leg.unit for leg in geometry.leg_types])
    else:
        bag = Bag(job.bag)
    topic = bag.topic(job.settings['topic'] or (
        LEG_STATES_TOPIC if isinstance(bag, Bag) else None), 'sensor_msgs/msg/JointState')
    counts, reasons = Counter[str](), Reasons()
    curves, total = JobCurves(list(POSE_COLUMNS[1:4])), bag.counts[topic]
    rows = _rows(bag, topic, settings, job.settings['arrival'], reports='mcap' in job.files)
    with ExitStack() as stack:
        writers = _writers(job, settings, stack)
        for each in rows:
            good = each.pose is not None and each.pose.converged
            counts['with a pose' if good else
                   'refused' if each.pose is None else 'not solved'] += 1
            if not good:
                reasons.take(each.reason)
            for write in writers:
                write(each)
            curves.take(each.stamp_ns, each.pose.pose[:3, 3].tolist()
                        if good and each.pose is not None else None)
            tell(counts.total(), total)
        require_messages(bag, topic, counts)
    cut, losses = damaged(bag), [str(loss) for loss in bag.losses]  # before a doubt reads again
    return JobOutcome(dict(counts), [
        *reasons.lines(), *_doubts(bag, topic, settings, counts), *losses],
        curves=curves.points, damaged=cut)


def _doubts(bag: AnyBag, topic: str, settings: Mapping[str, Any], counts: Counter[str]
            ) -> list[str]:
    """Return sentences on the faults of all messages, where none has a pose."""
    if counts['with a pose'] > 1:
        return []
    each = next(joint_state_messages(bag, topic))
    found = [] if each.stamp_ns or isinstance(bag, TableBag) else [
        'stamps in the headers are 0: --arrival takes the times at which messages came']
    with suppress(LiedynError):
        geometry, _ = platform_of(settings)
        actuators = actuators_of(settings, geometry, settings['ignore_other_joints'])
        unit = geometry.fitting_unit(actuators.lengths(each.names, each.position))
        if unit is not None and isinstance(bag, TableBag):  # of a bag the reason says it
            short = {'degrees': 'deg'}.get(unit[0], unit[0])
            found.append(f'the readings fit in {unit[0]}: name the unit in the header, as '
                         f'"{each.names[0]} [{short}]"')
    return found


class _Ahead(Iterator[JointStateMessage]):
    """Messages of which one knows whether another follows."""

    def __init__(self, messages: Iterator[JointStateMessage]) -> None:
        self._messages, self._next = messages, next(messages, None)

    @property
    def ended(self) -> bool:
        return self._next is None

    def __next__(self) -> JointStateMessage:
        if self._next is None:
            raise StopIteration
        present, self._next = self._next, next(self._messages, None)
        return present


def _rows(bag: AnyBag, topic: str, settings: Mapping[str, Any], arrival: bool, *, reports: bool
          ) -> Iterator[ProcessedMessage]:
    """Yield the pose, or the reason for none, of each message of a topic."""
    tracker = tracker_of(settings)
    reporter = Reporter(settings, tracker) if reports else None
    messages = joint_state_messages(bag, topic)
    if arrival:
        messages = (each._replace(stamp_ns=each.received_ns) for each in messages)
    ahead = _Ahead(messages)
    for each in processed(ahead, settings, tracker):
        reported = () if reporter is None else reporter.report(each, last=ahead.ended)
        yield each._replace(reported=reported)


def _writers(job: Job, settings: Mapping[str, Any], stack: ExitStack
             ) -> list[Callable[[ProcessedMessage], None]]:
    found: list[Callable[[ProcessedMessage], None]] = []
    for kind, path in job.files.items():
        if kind == 'mcap':
            prefix = settings['frame_prefix']
            writer = BagWriter(
                stack.enter_context(whole_folder(path)), prefix + settings['base_frame'],
                prefix + settings['platform_frame'])
            stack.callback(writer.close)
            found.append(writer)
        elif kind == 'html':
            found.append(stack.enter_context(written(Shown(path, settings))))
        else:
            rows = stack.enter_context(table_writer(path, POSE_COLUMNS, TEXTS, INTEGER_COLUMNS))
            found.append(lambda each, rows=rows: rows(row_of(each)))  # type: ignore[misc]
    return found
