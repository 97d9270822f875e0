# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Print the requirements of some files that this Python lacks, at their pinned versions.

Packages tied to numpy's binary interface are printed too when they are installed, at the installed
version, so that no other package can change it. One of these that is too old is refused.
"""

import argparse
from importlib import metadata
from pathlib import Path
import re
import sys

BOUND_TO_NUMPY = {'numpy', 'scipy', 'numba', 'llvmlite'}
OLDEST = Path(__file__).parents[1] / 'requirements' / 'oldest.txt'


def pins(path: Path) -> list[tuple[str, str, str]]:
    """Return name, version and line of each requirement of a file."""
    return [(name, version.partition(' ')[0], line) for line in path.read_text().splitlines()
            for name, _, version in [line.partition('==')] if version]


def is_older(version: str, than: str) -> bool:
    """Return whether a version comes before another, by the numbers that it begins with."""
    first, second = ([int(each) for each in re.findall(r'\d+', f'{text}.0.0')[:3]]
                     for text in (version, than))
    return first < second


def present(name: str) -> str | None:
    """Return the installed version of a package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def missing(path: Path) -> list[str]:
    """Return the lines for pip. Raises SystemExit where a package that must stay is too old."""
    oldest, lines = {name: version for name, version, _ in pins(OLDEST)}, []
    for name, _, line in pins(path):
        version = present(name)
        old = version is not None and is_older(version, oldest.get(name, '0'))
        if version is None or (old and name not in BOUND_TO_NUMPY):
            lines.append(line)
        elif old:
            sys.exit(f'setup: this system has {name} {version}, and {oldest[name]} is the oldest '
                     'that works. A sourced ROS 2 needs its own; DISTRO=jazzy takes one from '
                     'wheels. docs/releases.md tells what runs where')
        elif name in BOUND_TO_NUMPY:
            lines.append(f'{name}=={version}')
    return lines


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description='Print requirements that this Python lacks.')
    parser.add_argument('files', nargs='+', type=Path, help='requirements')
    for each in parser.parse_args().files:
        print(*missing(each), sep='\n')
