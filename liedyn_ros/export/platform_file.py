# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The file `.liedyn` of a Stewart platform, written without compiling anything.

Its sections are constants, in the order of `kernels/platform.py`, and the names of the legs.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.export.kernels import platform as kernels
from liedyn_ros.export.machine_file import file_bytes, PLATFORM, texts
from liedyn_ros.stewart import LevenbergMarquardt, StewartGeometry
from liedyn_ros.stewart.certificate.kernels.pose import TABLE
from liedyn_ros.stewart.certificate.pose import constants_of as constants_of_proofs, unproved
from liedyn_ros.stewart.dynamics.dynamics import constants_of as constants_of_dynamics
from liedyn_ros.stewart.platform.limits import limits_of


def platform_bytes(geometry: StewartGeometry, *, length_bound: ArrayLike = 0.0,
                   joint_bound: float = 0.0) -> bytes:
    """
    Return the content of a model file, for `liedyn_platform_open`.

    length_bound, joint_bound: bounds of errors for the certificates, as PoseCertifier takes them.
    Raises LiedynError for another object, LimitError, and GeometryError for bounds of a platform
    whose poses cannot be proved.
    """
    if not isinstance(geometry, StewartGeometry):
        raise LiedynError('geometry: expected a StewartGeometry, as load_geometry returns, '
                          f'got {geometry!r}')
    geometry.require_six('model file')
    provable, unit = not unproved(geometry), geometry.characteristic_length
    tables = geometry.table(unit), geometry.table()
    proofs: Array = np.zeros(TABLE + len(tables[0]))
    if provable or np.any(length_bound) or joint_bound:
        proofs = constants_of_proofs(geometry, length_bound, joint_bound)
    dynamics: Array = np.zeros(kernels.NUMBER_OF_CONSTANTS + kernels.LEGS)
    moved = geometry.masses is not None and geometry.plain
    if moved:
        dynamics = np.concatenate([np.ravel(part) for part in constants_of_dynamics(geometry)])
    head = np.zeros(kernels.LIMITS)
    head[:4] = unit, len(tables[0]), provable, moved
    head[kernels.DAMPING:kernels.SINGULAR_VALUE + 1] = LevenbergMarquardt().as_tuple()[3:]
    head[kernels.SCALES:kernels.UNIT], head[kernels.UNIT] = (
        geometry.drive_scales, geometry.reading_unit[0])
    head[kernels.LATENCY:kernels.LATENCY + 6] = geometry.leg_latency
    numbers = np.concatenate((head, limits_of(geometry), *tables, proofs, dynamics))
    return file_bytes(PLATFORM, [
        (numbers.astype('<f8').tobytes(), len(numbers)), texts(geometry.leg_names)])


def write_platform(path: str | os.PathLike[str], geometry: StewartGeometry, *,
                   length_bound: ArrayLike = 0.0, joint_bound: float = 0.0) -> None:
    """Write the model file of a platform; raises the errors of platform_bytes, and OSError."""
    write_whole(Path(path), platform_bytes(
        geometry, length_bound=length_bound, joint_bound=joint_bound))
