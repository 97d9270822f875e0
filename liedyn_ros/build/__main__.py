# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Build the compiled kernels of the package: `python -m liedyn_ros.build`.

In a tree of sources the libraries come to stand in it. What is up to date is not built again.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys
import time

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.jit.rooms import FOLDER


def main(arguments: Sequence[str] | None = None) -> int:
    """Build; return 1 where a kernel does not compile, or what the build needs is not there."""
    parser = argparse.ArgumentParser(
        prog='liedyn_ros.build', description='Build the compiled kernels of the package.')
    parser.add_argument('--into', type=Path, default=FOLDER.parent, metavar='FOLDER',
                        help='the folder liedyn_ros/jit of a package, by default this one')
    parser.add_argument('--processors', nargs='+', metavar='KIND',
                        help='kinds of processors; by default that of this machine')
    parser.add_argument('--jobs', type=int, default=0, help='processes at a time')
    parser.add_argument('--quiet', action='store_true', help='print what fails alone')
    options = parser.parse_args(arguments)
    began, tell = time.monotonic(), (lambda line: None) if options.quiet else _print
    try:
        from liedyn_ros.build.rooms import build, build_caller
    except ModuleNotFoundError as error:
        print('liedyn_ros.build: expected numba and llvmlite, which the build alone needs, '
              f'got: {error}; install python3-numba, or where there is no such package, as on '
              'Ubuntu 24.04: pip install --user --break-system-packages numba', file=sys.stderr)
        return 1
    try:
        caller = build_caller(options.into)
        made = build(options.processors or [caller.processor()],
                     folder=options.into / 'libraries', jobs=options.jobs, tell=tell)
    except (LiedynError, ImportError, OSError) as error:
        print(f'liedyn_ros.build: {error}', file=sys.stderr)
        return 1
    if made:
        tell(f'{len(made)} libraries of kernels, {time.monotonic() - began:.0f} s')
    return 0


def _print(line: str) -> None:
    print(line, flush=True)


if __name__ == '__main__':
    sys.exit(main())
