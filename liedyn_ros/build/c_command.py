# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Make the objects of `libliedyn` again: `python -m liedyn_ros.build.c_command FOLDER`.

CMake of the folder `libliedyn` calls it. No compiler of C is needed, for no processor.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys

from liedyn_ros.build.c_library import build_objects
from liedyn_ros.build.objects import PROCESSORS
from liedyn_ros.common.errors import LiedynError


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the objects; return 1 where one is refused."""
    parser = argparse.ArgumentParser(
        prog='liedyn_ros.build.c_command', description='Write the objects of libliedyn.')
    parser.add_argument('folder', type=Path, help='folder for objects and header')
    parser.add_argument('--processors', nargs='+', choices=sorted(PROCESSORS),
                        default=sorted(PROCESSORS), help='processors to write them for')
    options = parser.parse_args(arguments)
    try:
        made = build_objects(options.folder, options.processors)
    except LiedynError as error:
        print(f'liedyn_ros.build.c_command: {error}', file=sys.stderr)
        return 1
    for path in made:
        print(f'{path}: {path.stat().st_size} bytes')
    return 0


if __name__ == '__main__':
    sys.exit(main())
