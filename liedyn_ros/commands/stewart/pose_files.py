# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Files of numbers in rows, and poses given by position and angles."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.untrusted_files import read_file
from liedyn_ros.lie import SE3, SO3


def read_rows(path: Path, columns: int) -> Array:
    """Return the rows (n, columns) of a text file. Raises DescriptionError."""
    rows = []
    try:
        text = read_file(path).decode()
    except ValueError as error:
        raise DescriptionError(f'{path}: expected a readable text file, got {error}') from error
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition('#')[0].replace(',', ' ').split()
        if not words:
            continue
        try:
            rows.append([float(word) for word in words])
        except ValueError as error:
            raise DescriptionError(f'{path}:{number}: expected numbers, got {line!r}') from error
        if len(words) != columns:
            raise DescriptionError(
                f'{path}:{number}: expected {columns} numbers, got {len(words)}')
    if not rows:
        raise DescriptionError(f'{path}: expected a row of numbers or more, got none')
    return checks.as_array(str(path), rows, (-1, columns))


def pose_of(values: Sequence[float] | Array) -> Array:
    """Return a pose (4, 4) from x, y, z in m and roll, pitch, yaw in degrees."""
    return SE3.from_rotation_translation(
        SO3.from_rpy(*np.radians(values[3:])), values[:3]).matrix
