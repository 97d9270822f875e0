# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Files that close the loops of a model."""

from collections.abc import Iterator
from pathlib import Path

from fuzz.target import as_file, require_finite, Run, Target

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.model import annotate, load_model


def make() -> Run:
    """Return what closes the loops of the linkage leg by a file, and assembles it."""
    leg = load_model(config_file('linkage_leg.urdf'))

    def close(path: Path) -> None:
        model = annotate(leg, path)
        if model.closures:
            require_finite('assembly', assemble(ConstrainedDynamics(model)))

    return as_file('.yaml', close)


def seeds() -> Iterator[bytes]:
    """Return the file of the linkage leg."""
    yield config_file('linkage_leg_loops.yaml').read_bytes()


TARGET = Target(make, seeds)
