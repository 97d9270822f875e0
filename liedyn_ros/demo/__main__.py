# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""`python -m liedyn_ros.demo`: run every demo; the exit code says whether all of them held."""

import os
from pathlib import Path
import sys

from liedyn_ros.common.resources import config_file
from liedyn_ros.demo.aerial import demo as aerial
from liedyn_ros.demo.drawing import Drawings
from liedyn_ros.demo.stewart import control, demo as stewart, singularity
from liedyn_ros.demo.watching import Pages

FOLDER = Path('out')
# Messages of a demo stay on this machine, whoever starts it.
os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')


def main() -> int:
    """Run the demos into the folder out/ and return the exit code."""
    with Pages(FOLDER) as pages, Drawings() as drawings:
        with pages.watch('platform'):
            held = [demo.run(FOLDER, drawings) for demo in (stewart, singularity, control)]
        with pages.watch('aerial_manipulator',
                         model_file=config_file('aerial_manipulator.yaml')):
            held.append(aerial.run(FOLDER, drawings))
    return 0 if all(held) else 1


if __name__ == '__main__':
    sys.exit(main())
