# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Machines with loops as others publish them, beside MuJoCo's and Pinocchio's own matrices.

    python -m benchmarks.algorithms.looped_files FOLDER...

Folders are searched for MJCF files with equality constraints (the MuJoCo menagerie) and for a
URDF beside robot.yaml (example-parallel-robots). Of each, as it comes: what was read and
what was not, degrees of freedom, and the largest relative difference at a closed configuration.
Beside MuJoCo stands first, then beside Pinocchio. MuJoCo gives mass matrix, rows of its equality
constraints and forces at rest. So does Pinocchio by its own reader, where that reads the machine;
else its tree is built from this package's. Rows of couplings and polynomials it has from here.
Accelerations are those of a dense solution of these. What is not read here is off in MuJoCo.
Closures that do not meet, as lengths in a file are rounded, get a tolerance of 1e-7 m.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
import re
import sys
from typing import NamedTuple

import numpy as np

from benchmarks.algorithms.looped_witnesses import of_mujoco, of_pinocchio, Witness
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LiedynError
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, ConstraintFunction, mjcf_functions)
from liedyn_ros.model import annotate, load_mjcf, load_urdf

_RANK = 1e-9  # of the largest singular value
_TOLERANCE, _RANK_WITHIN = 1e-7, 1e-6  # m, and the same for rows that meet only within it


class Row(NamedTuple):
    """One machine of the list."""

    name: str
    coordinates: int
    constraints: str
    freedom: int
    differences: tuple[str, ...]  # of mass matrix, rows, accelerations, beside each witness
    remarks: str


def files(folder: Path) -> Iterator[Path]:
    """Yield the files with loops below a folder."""
    for path in sorted(folder.rglob('*.xml')):
        text = path.read_text(errors='ignore')
        parts = [path.parent / name for name in re.findall(r'<include\s+file="([^"]+)"', text)]
        shared = [part.read_text(errors='ignore') for part in parts if part.is_file()]
        # Scenes include machines, which have a row of their own.
        if '<worldbody' in text and any('<equality' in each and (each is text or '<worldbody'
                                        not in each) for each in (text, *shared)):
            yield path
    for beside in sorted(folder.rglob('robot.yaml')):
        yield from sorted(beside.parent.glob('*.urdf'))


def compared(path: Path) -> Row:
    """Return the row of a file; raises LiedynError where this package refuses it."""
    name = '/'.join(path.parts[-2:])
    functions: tuple[ConstraintFunction, ...] = ()
    if path.suffix == '.xml':
        model = load_mjcf(path)
        functions = mjcf_functions(path, model)
        witnesses = [of_mujoco, of_pinocchio]
    else:
        model = annotate(load_urdf(path, floating=False), path.parent / 'robot.yaml')
        witnesses = [of_pinocchio]
    remarks = [each for each in model.warnings if 'mjcf_functions' not in each]
    if functions:
        remarks.append(f'{len(functions)} polynomials as functions')
    dynamics, rank = ConstrainedDynamics(model, dissipation=False, functions=functions), _RANK
    if not dynamics.m:
        return Row(name, model.nv, 'no constraints', model.nv, ('-', '-', '-'), '; '.join(remarks))
    try:
        q = assemble(dynamics)
    except ConvergenceError:
        dynamics = ConstrainedDynamics(replace(model, closures=tuple(
            replace(closure, tolerance=_TOLERANCE) for closure in model.closures)),
            dissipation=False, functions=functions)
        q, rank = assemble(dynamics), _RANK_WITHIN
        remarks.append(f'closures with a tolerance of {_TOLERANCE} m')
    tau = np.random.default_rng(1).normal(size=model.nv)
    found, differences = dynamics.forward(q, np.zeros(model.nv), tau), []
    for witness_of in witnesses:
        theirs = witness_of(path, dynamics, q)
        remarks += theirs.remarks
        differences.append((_off(dynamics.tree.mass_matrix(q), theirs.mass),
                            _apart(dynamics.jacobian(q), theirs.rows, rank),
                            _off(found.a, accelerations(theirs, tau, rank))))
    mobility = dynamics.mobility
    return Row(name, model.nv, f'{mobility.rank} of {dynamics.m}', mobility.degrees_of_freedom,
               tuple(', '.join(f'{each:.0e}' for each in of) for of in zip(*differences)),
               '; '.join(remarks))


def accelerations(of: Witness, tau: Array, rank: float = _RANK) -> Array:
    """Return the accelerations at rest by a dense solution, rows of any rank."""
    free = null_space(of.rows, rank)
    return np.asarray(free @ np.linalg.solve(free.T @ of.mass @ free, free.T @ (tau - of.bias)))


def null_space(rows: Array, rank: float = _RANK) -> Array:
    """Return the motions that rows leave free, as columns."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, values, right = np.linalg.svd(rows)
    return np.asarray(right[int((values > rank * values[0]).sum()):].T)


def _off(mine: Array, theirs: Array) -> float:
    return float(np.abs(mine - theirs).max() / (np.abs(theirs).max() or 1.0))


def _apart(mine: Array, theirs: Array, rank: float) -> float:
    """Return the sine of the largest angle between the motions that rows leave free."""
    a, b = null_space(mine, rank), null_space(theirs, rank)
    if a.shape != b.shape:
        return 1.0
    return float(np.linalg.norm(a - b @ (b.T @ a), 2)) if a.size else 0.0


def main() -> None:
    """Print the list as a table of Markdown."""
    print('| file | coordinates | rank | freedom | mass matrix | motions left | accelerations | '
          'remarks |\n| --- | --- | --- | --- | --- | --- | --- | --- |')
    for folder in map(Path, sys.argv[1:]):
        for path in files(folder):
            try:
                row = compared(path)
            except (LiedynError, RuntimeError, ValueError, KeyError) as error:
                print(f'| {"/".join(path.parts[-2:])} | | | | | | | '
                      f'{" ".join(str(error).split())[:200]} |', flush=True)
                continue
            print(f'| {row.name} | {row.coordinates} | {row.constraints} | {row.freedom} | '
                  + ' | '.join(row.differences) + f' | {row.remarks or "-"} |', flush=True)


if __name__ == '__main__':
    main()
