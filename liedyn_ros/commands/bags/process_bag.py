# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Bags in, what follows from them out, without ROS: poses of a platform, motions of joints.

`liedyn bag process my_bag --params my_stewart.yaml --csv poses.csv` tracks a Stewart
platform, `... my_bag --model robot.urdf --csv torques.csv` derives accelerations and torques of
joint states. The same by `liedyn bag process`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys
import time
from typing import TYPE_CHECKING

from liedyn_ros.commands.inputs import HelpFormatter, require_taken
from liedyn_ros.commands.outputs import folder, number_of, page
from liedyn_ros.commands.work import add_work_options, results_of
from liedyn_ros.common.errors import LiedynError, NameSetError
from liedyn_ros.common.extras import require_extra
from liedyn_ros.common.whole_files import write_whole

if TYPE_CHECKING:
    from liedyn_ros.commands.bags.job import Job, JobOutcome

PROGRESS_PERIOD = 2.0  # s between two lines of progress
OUTPUT_FORMATS = 'csv', 'parquet', 'mcap'
GOOD_COUNTS = 'with a pose', 'with all joints'
NO_FAULT = 'at the ends'  # of a motion, where the filter swings in
BAG_REPORT = 'report.html'


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the results; return 0 where all messages have one, 1 where some, 2 without any."""
    options = parser().parse_args(arguments)
    try:
        require_extra('bags', 'rosbags', 'mcap')
        if options.html is not None:
            require_extra('view', 'viser')
        from liedyn_ros.commands.bags.job import JobOutcome
        from liedyn_ros.commands.bags.run import run
        _require_taken(options)
        jobs = _jobs(options)
        if len(jobs) == 1:
            outcomes = [run(jobs[0], _Progress())]
        else:
            outcomes = [JobOutcome()] * len(jobs)
            for k, outcome in results_of(run, jobs, jobs=options.jobs):
                outcomes[k] = outcome
                print(f'{jobs[k].bag}: {_line(outcome)}', file=sys.stderr)
        if options.report is not None or options.folder is not None:
            from liedyn_ros.commands.bags.run import report
            write_whole(options.report or options.folder / BAG_REPORT, report(jobs, outcomes))
    except (LiedynError, OSError, ModuleNotFoundError) as error:
        print(f'liedyn bag process: {error}', file=sys.stderr)
        return 2
    for job, outcome in zip(jobs, outcomes):
        if outcome.error:
            print(f'liedyn bag process: {outcome.error}', file=sys.stderr)
            continue
        print(f'{job.bag}: {_line(outcome)}')
        for each in outcome.losses:
            print(f'- {each}')
    return max(_status(each) for each in outcomes)


def _line(outcome: 'JobOutcome') -> str:
    if outcome.error:
        return outcome.error
    return f'{sum(outcome.counts.values())} messages: ' + ', '.join(
        f'{count} {what}' for what, count in sorted(
            outcome.counts.items(), key=lambda each: -each[1]))


def _status(outcome: 'JobOutcome') -> int:
    good = sum(outcome.counts.get(each, 0) for each in GOOD_COUNTS)
    if outcome.error or not good:
        return 2
    wanted = sum(outcome.counts.values()) - outcome.counts.get(NO_FAULT, 0)
    return 0 if good == wanted and not outcome.damaged else 1


def _require_taken(options: argparse.Namespace) -> None:
    """Raise NameSetError for an option that nothing takes."""
    for kind, takers in (
            ('platform' if options.model is None else 'model',
             {'platform': ('params',),
              'model': ('order', 'smoothing', 'complete', 'measured', 'start', 'agreement')}),
            ('completion' if options.complete else 'smooth motion',
             {'completion': ('measured', 'agreement'), 'smooth motion': ('order', 'smoothing')}),
            ('file' if options.folder is None else 'folder', {'folder': ('write',)})):
        require_taken(options, parser(), {kind}, takers)


def _jobs(options: argparse.Namespace) -> 'list[Job]':
    """Return a job for each bag. Raises NameSetError for files of several bags."""
    from liedyn_ros.commands.bags.job import Job
    settings = {
        'model': options.model, 'params': options.params, 'topic': options.topic,
        'complete': options.complete, 'arrival': options.arrival, 'order': options.order,
        'smoothing': options.smoothing, 'start': dict(options.start),
        'measured': options.measured, 'agreement': options.agreement}
    single = {kind: path for kind in (*OUTPUT_FORMATS, 'html')
              if (path := getattr(options, kind)) is not None}
    if options.folder is None:
        if len(options.bag) > 1:
            raise NameSetError('expected --folder for several bags, got none')
        return [Job(options.bag[0], single, settings)]
    if single:
        raise NameSetError('expected --folder with --write, or single files, got both')
    stems = [each.stem for each in options.bag]
    names = [stem if stems.count(stem) == 1 else f'{each.parent.name}_{stem}'
             for each, stem in zip(options.bag, stems)]
    if len(set(names)) < len(names):
        raise NameSetError(f'expected bags of different names, got {names}')
    return [Job(bag, {kind: options.folder / (name if kind == 'mcap' else f'{name}.{kind}')
                      for kind in options.write}, settings)
            for bag, name in zip(options.bag, names)]


class _Progress:
    """Prints how far a bag is, every now and then."""

    def __init__(self) -> None:
        self._told_at = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._told_at > PROGRESS_PERIOD:
            self._told_at = time.monotonic()
            print(f'{done} of {total}', file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn bag process', formatter_class=HelpFormatter,
        description='Poses of a Stewart platform, or motions, torques and completed joints of a '
                    'model, from bags.')
    result.add_argument('bag', type=Path, nargs='+', help=(
        'folders, .mcap or .db3; or tables, .csv or .parquet, of columns such as '
        '"elbow.position [rad]"'))
    result.add_argument('--arrival', action='store_true', help=(
        'use the times of arrival, for headers without stamps'))
    result.add_argument('--topic', help='topic of the joint states; leg_states of a platform')
    platform = result.add_argument_group('a Stewart platform')
    platform.add_argument('--params', type=Path, help='parameter file of the pose node')
    joints = result.add_argument_group('joint states of a model')
    joints.add_argument('--model', type=Path, help='.urdf, .xacro, .xml (MJCF), .sdf or .yaml')
    joints.add_argument('--order', type=int, default=1, choices=range(5),
                        help='highest time derivative of the torques')
    joints.add_argument('--smoothing', type=float, help=(
        'cut-off of the positions, Hz; by default it follows from their spectrum'))
    joints.add_argument('--complete', action='store_true', help=(
        'the joints of a machine with closed loops, message by message as loop_state_publisher '
        'completes them, in place of smooth motions'))
    joints.add_argument('--measured', nargs='+', metavar='JOINT', help=(
        'joints that decide the others; by default the actuated ones'))
    joints.add_argument('--start', action='append', default=[], type=number_of,
                        metavar='JOINT=POSITION',
                        help='rough configuration near which the loops are closed')
    joints.add_argument('--agreement', type=float, default=0.05, help=(
        'largest accepted error of redundant measurements, rad or m'))
    files = result.add_argument_group('results')
    files.add_argument('--csv', type=Path, help='CSV file to write')
    files.add_argument('--parquet', type=Path, help='Parquet file to write')
    files.add_argument('--mcap', type=Path, help='folder of a new bag to write')
    files.add_argument('--html', type=Path, help=(
        'HTML file that plays the motion in any browser, of 300 s at most'))
    files.add_argument('--report', type=page, help=(
        'HTML report: data read and lost, curves, settings; a folder gets one anyway'))
    files.add_argument('--folder', type=folder, help=(
        'folder for the results of several bags, with a report'))
    files.add_argument('--write', nargs='+', choices=OUTPUT_FORMATS, default=['csv'],
                       help='kinds of files in the folder')
    add_work_options(result)
    return result


if __name__ == '__main__':
    sys.exit(main())
