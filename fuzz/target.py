# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a target is, and the table of all of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
import tempfile
from typing import Any
import warnings

import numpy as np

from liedyn_ros.common.errors import (
    DescriptionWarning, LiedynError, OpenTreeWarning, QuaternionWarning)

CORPUS = Path(__file__).parents[1] / 'test' / 'fuzz' / 'corpus'
NAMES = ('core.urdf', 'core.mjcf', 'core.sdf', 'core.yaml', 'core.xacro', 'core.loops',
         'core.geometry', 'core.markup', 'core.frames', 'core.recordings', 'core.meshes',
         'ros.parameters', 'ros.parameter_files', 'ros.dynamics_services', 'ros.stewart_services',
         'ros.joint_states', 'ros.leg_topics')

Run = Callable[[bytes], bool]


class PropertyError(AssertionError):
    """An input by which something happened that no input may cause."""


@dataclass(frozen=True)
class Target:
    """
    What is fuzzed.

    make: builds what is called with an input. That returns whether the input was accepted, and
    raises for a foreign error, and PropertyError for a wrong answer. seeds: good inputs.
    """

    make: Callable[[], Run]
    seeds: Callable[[], Iterator[bytes]]


def target(name: str) -> Target:
    """Return a target of NAMES."""
    found: Target = import_module(f'fuzz.{name}').TARGET
    return found


def folder(name: str) -> Path:
    """Return the folder of a target's corpus."""
    return CORPUS / name.replace('.', '_')


def corpus(name: str) -> list[Path]:
    """Return the files of a target's corpus."""
    return sorted(folder(name).glob('*'))


def guarded(function: Callable[[], Any]) -> bool:
    """Return whether a function succeeds; False where it raises LiedynError, and no other."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')  # of numpy, too: what overflows must be refused
        for allowed in (DescriptionWarning, OpenTreeWarning, QuaternionWarning):
            warnings.simplefilter('ignore', allowed)
        try:
            function()
        except LiedynError:
            return False
    return True


def require_finite(what: str, numbers: Any) -> None:
    """Raise PropertyError where a number is not finite."""
    if not np.isfinite(numbers).all():
        raise PropertyError(f'{what}: expected finite numbers, got {numbers}')


def as_file(suffix: str, use: Callable[[Path], Any]) -> Run:
    """Return what writes an input to a file and uses it."""
    path = Path(tempfile.mkdtemp(prefix='liedyn_fuzz_')) / f'input{suffix}'

    def run(data: bytes) -> bool:
        path.write_bytes(data)
        return guarded(lambda: use(path))

    return run
