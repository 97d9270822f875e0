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
version, so that no other package can change it.
"""

from importlib import metadata
from pathlib import Path
import sys

BOUND_TO_NUMPY = {'numpy', 'scipy', 'numba', 'llvmlite'}


def present(name: str) -> str | None:
    """Return the installed version of a package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


for path in sys.argv[1:]:
    for line in Path(path).read_text().splitlines():
        name, pinned, _ = line.partition('==')
        if not pinned:
            continue
        version = present(name)
        if version is None:
            print(line)
        elif name in BOUND_TO_NUMPY:
            print(f'{name}=={version}')
