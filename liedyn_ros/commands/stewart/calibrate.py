# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Find joints and offsets of a Stewart platform in leg lengths at measured poses.

`liedyn platform calibrate geometry.yaml samples.csv --folder calibrated`. The folder gets a
report, the next poses to measure, and where held-out poses say so, a better geometry file and
parameters of stewart_pose.
"""

from collections.abc import Sequence
import sys

from liedyn_ros.commands.inputs import about
from liedyn_ros.commands.outputs import without_empty
from liedyn_ros.commands.stewart.calibration.files import write
from liedyn_ros.commands.stewart.calibration.options import parser
from liedyn_ros.commands.stewart.calibration.report import accuracy_rows, findings, next_of
from liedyn_ros.commands.stewart.calibration.task import read_task
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import print_table


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the results; return 0 where a geometry is offered, 1 where none is, 2 on an error."""
    options = parser().parse_args(arguments)
    try:
        task = read_task(options)
        print(f'{len(task.samples)} poses of {options.samples}; calibrating', file=sys.stderr)
        with about(options, [options.samples]):
            found = task.calibrate()
        ahead, remark = next_of(found, task)
        files = write(task, found, ahead, remark)
    except (LiedynError, OSError, ModuleNotFoundError) as error:
        without_empty(options.folder)
        print(f'liedyn platform calibrate: {error}', file=sys.stderr)
        return 2
    top = findings(found, task, remark)
    top.print_top()
    print(f'errors at {found.held_out.poses} held-out poses, rms')
    print_table(['', 'given', 'calibrated'], accuracy_rows(found))
    top.print_further()
    print('written:', ', '.join(str(each) for each in files))
    return 0 if found.offered else 1


if __name__ == '__main__':
    sys.exit(main())
