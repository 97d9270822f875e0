# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
`python -m liedyn_ros.demo`: run every demo.

The exit code is 0 where all of them held, 1 where one did not, 2 where one could not be shown.
"""

from collections.abc import Callable
import os
from pathlib import Path
import sys
import time

from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.demo.aerial import demo as aerial
from liedyn_ros.demo.processes import Drawings
from liedyn_ros.demo.session import DemoStage
from liedyn_ros.demo.stewart import demo as stewart, singularity
from liedyn_ros.demo.verdict import DemoVerdict, NotShownError, Outcome
from liedyn_ros.demo.watching import Pages

OUTPUT_FOLDER = Path('out')
DEMO_TIMEOUT = 3600.0  # s of the whole; what is not shown by then is said not to be
# Messages of a demo stay on this machine, whoever starts it.
os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')


def main() -> int:
    """Run the demos into the folder out/ and return the exit code."""
    OUTPUT_FOLDER.mkdir(parents=True, exist_ok=True)
    verdicts: dict[str, DemoVerdict] = {}
    with Pages(OUTPUT_FOLDER) as pages, Drawings() as drawings:
        stage = DemoStage(OUTPUT_FOLDER, drawings, time.monotonic() + DEMO_TIMEOUT)
        with pages.watch('platform'):
            for name, part in (('tracking', stewart.run), ('singularity', singularity.run)):
                verdicts[name] = perform(part, stage)
        with pages.watch('aerial_manipulator',
                         model_file=config_file('aerial_manipulator.yaml')):
            verdicts['flight'] = perform(aerial.run, stage)
        print()
        print_table(['part', 'verdict'], [
            [name, verdict.outcome] for name, verdict in verdicts.items()])
        print(f'Pictures and logs are in {OUTPUT_FOLDER}/; the last are being written.',
              flush=True)
    outcomes = {verdict.outcome for verdict in verdicts.values()}
    return next(each.value for each in (Outcome.NOT_HELD, Outcome.NOT_SHOWN, Outcome.HELD)
                if each in outcomes)


def perform(part: Callable[[DemoStage], DemoVerdict], stage: DemoStage) -> DemoVerdict:
    """Run a part, and tell and return its verdict; where something did not come, NOT SHOWN."""
    try:
        verdict = part(stage)
    except NotShownError as error:
        verdict = DemoVerdict('nothing was judged', missing=(str(error),))
    print(verdict, flush=True)
    return verdict


if __name__ == '__main__':
    sys.exit(main())
