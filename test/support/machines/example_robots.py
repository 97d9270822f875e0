# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Robots of the example-robot-data wheel, where it is installed."""

from importlib import metadata
from pathlib import Path

import pytest


FOLDER = 'cmeel.prefix/share/example-robot-data/robots'


def example_robot(path: str) -> Path:
    """Return a file of the wheel, or skip the test without it."""
    folder = _folder()
    if folder is None:
        pytest.skip('needs the example-robot-data wheel (pip install example-robot-data)')
    return folder / path


def example_urdfs() -> dict[str, list[str]]:
    """Return the paths of all URDF files of the wheel by robot family; none without it."""
    folder, families = _folder(), {}
    for file in [] if folder is None else sorted(folder.rglob('*.urdf')):
        path = file.relative_to(folder)
        families.setdefault(path.parts[0].partition('_')[0], []).append(path.as_posix())
    return families


def _folder() -> Path | None:
    try:
        wheel = metadata.distribution('example-robot-data')
    except metadata.PackageNotFoundError:
        return None
    return Path(str(wheel.locate_file(FOLDER)))
