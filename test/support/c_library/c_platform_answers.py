# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The same states for Python and for the program `platforms` of the C library."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from support.c_library.comparison import answers
from support.platforms.leg_types import ALL, example, poses_about

from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.export import write_platform
from liedyn_ros.stewart import (
    leg_lengths, length_jacobian, load_geometry, PoseCertifier, PoseSolver, StewartDynamics,
    StewartGeometry, Trivialization)
from liedyn_ros.stewart.certificate.pose import unproved
from liedyn_ros.stewart.platform.state import PlatformMeter

MASSIVE = 'table_1'  # the platform of plain struts that has masses
EVERY = (MASSIVE, *ALL)
BOUNDS = {'length_bound': 1e-5, 'joint_bound': 2e-5}


class State(NamedTuple):
    """What the program reads of one state."""

    pose: Array
    guess: Array
    twist: Array
    a: Array
    external: Array


def platform(name: str) -> tuple[StewartGeometry, Array]:
    """Return a geometry of config/ and its home pose."""
    if name != MASSIVE:
        return example(name)
    home = np.eye(4)
    home[2, 3] = 0.5
    return load_geometry(config_file('stewart_geometry.yaml')), home


def random_states(home: Array, order: int, count: int, seed: int) -> list[State]:
    """Return states about home."""
    rng = np.random.default_rng(seed)
    return [State(pose, home, rng.normal(size=6), *rng.normal(size=(2, order + 1, 6)))
            for pose in poses_about(home, count, seed, turn=0.1, shift=0.02)]


def answers_of_c(program: list[object], folder: Path, geometry: StewartGeometry,
                 states: list[State]) -> Array:
    """Return what the program answers, a state a row."""
    write_platform(folder / 'model.liedyn', geometry,
                   **({} if unproved(geometry) else BOUNDS))
    return answers(program, folder, states, len(states[0].a) - 1)


def answers_of_python(geometry: StewartGeometry, states: list[State]) -> list[dict[str, Array]]:
    """Return the same by name, in the order of the program, of one solver as there."""
    solver = PoseSolver(geometry)
    return [dict(_answers(geometry, solver, state)) for state in states]


def _answers(geometry: StewartGeometry, solver: PoseSolver, state: State
             ) -> Iterator[tuple[str, Array]]:
    pose, guess, twist, a, external = state
    lengths, meter = leg_lengths(geometry, pose), PlatformMeter(geometry)
    yield 'lengths', lengths
    for trivialization in Trivialization:
        yield f'jacobian {trivialization.name}', length_jacobian(geometry, pose, trivialization)
    there = meter.measure(pose)
    yield 'margins', there.margins.values
    yield 'signed value', np.array(there.signed_value)
    yield 'slope', np.array(there.slope)
    yield 'null twist', there.null_twist
    values = np.empty(86)
    solution = solver.solve(lengths, guess, values)
    yield 'solved pose', solution.pose
    yield 'status', np.array(float(solution.status))
    yield 'iterations', np.array(float(solution.iterations))
    yield 'residual', np.array(solution.residual)
    yield 'smallest singular value', np.array(solution.smallest_singular_value)
    yield 'solved signed value', values[84]
    yield 'solved slope', values[85]
    if not unproved(geometry):
        proof = PoseCertifier(geometry, **BOUNDS).certify(solution.pose, lengths)
        yield 'radii', np.array(proof[1:4])
        yield 'bounds', proof.bounds
    if geometry.masses is not None and geometry.plain:
        dynamics = StewartDynamics(geometry)
        moved = dynamics.inverse(pose, twist, a, external=external)
        yield 'derivatives of forces', moved.forces
        yield 'derivatives of lengths', moved.leg_accelerations
        back = dynamics.forward(pose, twist, a, external=external)
        yield 'derivatives of acceleration', back.acceleration
        yield 'derivatives of lengths again', back.leg_accelerations


def difference(name: str, mine: Array, theirs: Array) -> float:
    """
    Return the largest difference, relative to the largest entry of the result.

    A residual (m), iterations and a slope below 1 are compared as they are. Equal infinities are
    no difference.
    """
    finite = np.isfinite(theirs)
    np.testing.assert_array_equal(mine[~finite], theirs[~finite])
    largest = 1.0 if name in ('residual', 'iterations') else np.abs(theirs[finite]).max(
        initial=1.0 if 'slope' in name else 1e-6)
    return float(np.abs(mine[finite] - theirs[finite]).max(initial=0.0) / largest)
