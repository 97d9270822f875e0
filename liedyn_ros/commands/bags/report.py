# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The report of processed bags: what was done, what was lost, and curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liedyn_ros.commands.bags.job import Job, JobOutcome
from liedyn_ros.commands.reports import Line, plot, ReportPage

MAX_CURVES = 12  # curves of a bag
MAX_BAGS_SHOWN = 8  # whose curves are shown


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
    page.settings({key: str(value) for key, value in jobs[0].settings.items()})
    return page.html()


def _chosen(names: list[str]) -> list[str]:
    """Return the columns that are drawn: torques before others, no derivatives."""
    torques = [each for each in names if '.torque [' in each]
    return (torques or names)[:MAX_CURVES]
