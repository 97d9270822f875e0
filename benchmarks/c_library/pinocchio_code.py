# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Pinocchio's code of one robot, which CppADCodeGen generates and gcc compiles."""

from collections.abc import Sequence
import ctypes
from importlib import metadata
from pathlib import Path
import shutil
import subprocess

import numpy as np

from benchmarks.algorithms.dynamics import Peer
from benchmarks.c_library.__main__ import DEFINITIONS, joint_lines
from benchmarks.robots import Robot
from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics

PROGRAM = Path('out/c_library/generated')


def is_there() -> bool:
    """Return whether the wheel of CppADCodeGen is installed."""
    return any(metadata.distributions(name='cmeel-cppadcodegen'))


class GeneratedCode:
    """The libraries of one robot in a folder, each function without friction and damping."""

    def __init__(self, robot: Robot, folder: Path) -> None:
        """Generate and compile; the generator itself takes minutes to compile, once."""
        self._peer, self._folder = Peer(robot), folder
        self._dynamics = Dynamics(robot.model, dissipation=False)
        (folder / 'joints').write_text(''.join(joint_lines(self._peer.model)))
        gcc = shutil.which('gcc') or 'gcc'
        subprocess.run([_program().resolve(), folder / 'joints', folder, gcc], check=True,
                       stdout=subprocess.DEVNULL)

    def function(self, name: str, x: Sequence[Array]) -> tuple[ctypes.CDLL, Array, Array]:
        """
        Return a library, what its function is given, and what that should write.

        Args:
            name: inverse, forward or mass_matrix.
            x: configuration, velocity, and acceleration or efforts, in the model's order.

        """
        library = ctypes.CDLL(str(self._folder / f'pinocchio_{name}_.so'))
        q, *rest = x
        given = np.concatenate([self._peer.configuration(q), *map(self._peer.velocity, rest)])
        if name != 'mass_matrix':
            return library, given, self._peer.velocity(getattr(self._dynamics, name)(*x))
        columns = np.array([self._peer.velocity(row) for row in self._dynamics.mass_matrix(q)])
        rows = np.array([self._peer.velocity(column) for column in columns.T])
        return library, given, rows[np.triu_indices(len(rows))]


def _program() -> Path:
    """Return the generator, compiled if it is missing or older than its source."""
    source = Path(__file__).with_name('generated.cpp')
    if not PROGRAM.exists() or PROGRAM.stat().st_mtime < source.stat().st_mtime:
        wheels = metadata.distribution('cmeel-cppadcodegen').locate_file('cmeel.prefix')
        PROGRAM.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ['g++', '-std=c++17', '-DNDEBUG', *(f'-D{each}' for each in DEFINITIONS),
             '-Wno-deprecated-declarations', '-isystem', f'{wheels}/include', '-isystem',
             f'{wheels}/include/eigen3', source, f'-L{wheels}/lib', '-lcppad_lib',
             f'-Wl,-rpath,{wheels}/lib', '-ldl', '-o', PROGRAM], check=True)
    return PROGRAM
