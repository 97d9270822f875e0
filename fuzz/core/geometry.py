# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Geometry files of Stewart platforms."""

from collections.abc import Iterator
from pathlib import Path

from fuzz.target import as_file, require_finite, Run, Target
import numpy as np

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import leg_lengths, load_geometry, PoseSolver

FILES = ('stewart_geometry.yaml', 'stewart_6_3.yaml', 'stewart_cranks.yaml',
         'stewart_hexaglide.yaml', 'stewart_offset.yaml')


def make() -> Run:
    """Return what loads a file and solves for a pose of its platform."""
    home = np.eye(4)
    home[2, 3] = 0.5
    near = home.copy()
    near[0, 3] = 0.01

    def use(path: Path) -> None:
        geometry = load_geometry(path)
        try:
            lengths = leg_lengths(geometry, home)
            if np.isfinite(lengths).all():  # NaN where a drive cannot reach
                require_finite('pose', PoseSolver(geometry).solve(lengths, near).pose)
        except LiedynError:
            return

    return as_file('.yaml', use)


def seeds() -> Iterator[bytes]:
    """Return files with each type of leg."""
    for name in FILES:
        yield config_file(name).read_bytes()


TARGET = Target(make, seeds)
