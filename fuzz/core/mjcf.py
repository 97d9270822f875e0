# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Model files in the form of MuJoCo."""

from collections.abc import Iterator

from fuzz.core.models import use
from fuzz.target import as_file, Run, Target
from tools import mutation_cases

from liedyn_ros.model import load_model


def make() -> Run:
    """Return what loads a file and computes with its model."""
    return as_file('.xml', lambda path: use(load_model(path)))


def seeds() -> Iterator[bytes]:
    """Return a file with most of what is read, and a small one."""
    yield mutation_cases.MJCF.encode()
    yield b'<mujoco><worldbody><body/></worldbody></mujoco>'


TARGET = Target(make, seeds)
