# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Robot files of others as they come: what is read, and how it compares with other libraries.

    python -m benchmarks.algorithms.robot_files [--summary] FOLDER_OR_FILE...

Folders are searched for MJCF, URDF and SDF (the MuJoCo menagerie, the repositories of
robot_descriptions, example-robot-data). Each has a row: degrees of freedom, the largest relative
difference of mass matrix and bias forces at a random state, and, of machines with loops, of the
motions that the constraints leave and of accelerations at a closed configuration. MJCF stands
beside MuJoCo, and where it has loops beside Pinocchio too, URDF beside Pinocchio, SDF beside Drake
(where it is installed). Drake closes no loops: each is cut at its joint, which moves a link of no
mass there, and the rows hold that link on the child. What is named as not read is off in the other
library. Accelerations are those of a dense solution. A URDF beside the robot.yaml of
example-parallel-robots has its loops. Closures that do not meet, as lengths in a file are
rounded, get a tolerance of 1e-7 m. --summary prints one row a folder, and the files that differ or
that one reader alone refuses.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
from typing import NamedTuple
import warnings

import numpy as np

from benchmarks.algorithms.robot_witnesses import (
    moving, of_drake, of_mujoco, of_pinocchio, refused, Witness)
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, DescriptionWarning, LiedynError
from liedyn_ros.common.xacro_reader import expand
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, ConstraintFunction, mjcf_functions)
from liedyn_ros.model import annotate, load_model, Model

_TOLERANCE = 1e-7  # m
_ROUNDED = 1e-5  # of the largest singular value: rows that axes of a file tell apart by rounding
EQUAL = 1e-6  # as files have six digits, and MuJoCo's meshes single precision
_EQUAL_WITHIN = 1e-5  # where closures meet within _TOLERANCE alone, as lengths are centimetres
_FORMATS = {'.xml': '<mujoco', '.urdf': '<robot', '.sdf': '<sdf'}


class Row(NamedTuple):
    """One file of the list: differences are '-' where nothing was compared."""

    name: str
    result: str  # equal, differs, named, refused or: what one reader alone does
    freedom: str = '-'
    differences: tuple[str, ...] = ('-', '-', '-', '-')
    remarks: str = '-'


def files(folder: Path) -> Iterator[Path]:
    """Yield the robot files below a folder, or the one that is named, of xacro too."""
    if not folder.is_dir():
        yield folder
    for path in sorted(folder.rglob('*')):
        if path.is_file() and (mark := _FORMATS.get(path.suffix.lower())) and mark in (
                path.read_text(errors='ignore')):
            yield path


def compared(path: Path) -> Row:
    """Return the row of a file; one of xacro is expanded first."""
    if path.suffix != '.xacro':
        return _compared(path)
    name = '/'.join(path.parts[-2:])
    with TemporaryDirectory() as folder:
        expanded = Path(folder) / 'expanded.urdf'
        try:
            expanded.write_text(expand(path, {}), encoding='utf-8')
        except LiedynError as error:
            return Row(name, 'xacro refused', remarks=' '.join(str(error).split())[-150:])
        return _compared(expanded)._replace(name=name)


def _compared(path: Path) -> Row:
    name = '/'.join(path.parts[-2:])
    beside = path.with_name('robot.yaml')
    try:
        model = load_model(path)
        if path.suffix.lower() == '.urdf' and beside.exists():
            model = annotate(model, beside)
    except LiedynError as error:
        theirs = refused(path)
        words = ' '.join(str(error).replace(str(path), '').split())[:150]
        return Row(name, 'refused by both' if theirs else 'refused here alone', remarks=words)
    if not model.nv:
        return Row(name, 'equal' if not refused(path) else 'read here alone', '0')
    there = refused(path, model)
    if there:
        return Row(name, 'read here alone', str(model.nv), remarks=' '.join(there.split())[:150])
    try:
        q, v, mass, bias, remarks = moving(path, model)
        dynamics = Dynamics(model, dissipation=False)
        found = [_off(dynamics.mass_matrix(q), mass),
                 _off(dynamics.inverse(q, v, np.zeros(model.nv)), bias, np.abs(mass).max())]
        looped, more = _loops(path, model) if model.closures or model.couplings else ([], ())
    except (LiedynError, RuntimeError, ValueError, KeyError, IndexError) as error:
        return Row(name, 'not compared', str(model.nv), remarks=' '.join(str(error).split())[:150])
    most = _EQUAL_WITHIN if any('tolerance' in each for each in more) else EQUAL
    worst = max([*found, *(each for pair in looped for each in pair)])
    return Row(name, 'equal' if worst < most else 'differs', str(model.nv), (
        *(f'{each:.0e}' for each in found), *(
            ', '.join(f'{each:.0e}' for each in of) for of in looped)) if looped else (
                *(f'{each:.0e}' for each in found), '-', '-'), '; '.join((*remarks, *more)) or '-')


def _loops(path: Path, model: Model) -> tuple[list[tuple[float, ...]], tuple[str, ...]]:
    """Return the differences of motions left and of accelerations, beside each witness."""
    functions: tuple[ConstraintFunction, ...] = ()
    witnesses, remarks = [of_pinocchio], []
    if path.suffix == '.xml':
        functions, witnesses = mjcf_functions(path, model), [of_mujoco, of_pinocchio]
    if path.suffix == '.sdf':
        witnesses = [of_drake]
    dynamics = ConstrainedDynamics(model, dissipation=False, functions=functions)
    try:
        q = assemble(dynamics)
    except ConvergenceError:
        dynamics = ConstrainedDynamics(replace(model, closures=tuple(
            replace(closure, tolerance=_TOLERANCE) for closure in model.closures)),
            dissipation=False, functions=functions)
        q = assemble(dynamics)
        remarks.append(f'closures with a tolerance of {_TOLERANCE} m')
    tau = np.random.default_rng(1).normal(size=model.nv)
    found, differences = dynamics.forward(q, np.zeros(model.nv), tau), []
    for witness_of in witnesses:
        theirs = witness_of(path, dynamics, q)
        remarks += theirs.remarks
        differences.append((_apart(dynamics.jacobian(q), theirs.rows, found.rank),
                            _off(found.a, accelerations(theirs, tau, found.rank))))
    return [*zip(*differences)], tuple(remarks)


def accelerations(of: Witness, tau: Array, rank: int) -> Array:
    """Return the accelerations at rest by a dense solution of rows of a rank."""
    free = null_space(of.rows, rank)
    return np.asarray(free @ np.linalg.solve(free.T @ of.mass @ free, free.T @ (tau - of.bias)))


def null_space(rows: Array, rank: int) -> Array:
    """Return the motions that rows of a rank leave free, as columns."""
    _, values, right = np.linalg.svd(rows)
    if len(values) > rank and values[rank] > _ROUNDED * values[0]:
        raise ValueError(f'expected rows of rank {rank}, got singular values {values}')
    return np.asarray(right[rank:].T)


def _off(mine: Array, theirs: Array, least: float = 0.0) -> float:
    """Return the largest difference, relative to the largest entry, or to what is least."""
    return float(np.abs(mine - theirs).max() / (max(least, np.abs(theirs).max()) or 1.0))


def _apart(mine: Array, theirs: Array, rank: int) -> float:
    """Return the sine of the largest angle between the motions that rows leave free."""
    a, b = null_space(mine, rank), null_space(theirs, rank)
    return float(np.linalg.norm(a - b @ (b.T @ a), 2)) if a.size else 0.0


def main() -> None:
    """Print the list as a table of Markdown, or its summary."""
    warnings.simplefilter('ignore', DescriptionWarning)
    short = '--summary' in sys.argv
    head = ('folder', 'files', 'results') if short else (
        'file', 'result', 'freedom', 'mass matrix', 'bias', 'motions left', 'accelerations',
        'remarks')
    print(f'| {" | ".join(head)} |\n|{" --- |" * len(head)}', flush=True)
    for folder in (Path(each) for each in sys.argv[1:] if each != '--summary'):
        counts: Counter[str] = Counter()
        for path in files(folder):
            row = compared(path)
            counts[row.result] += 1
            if not short:
                print(f'| {row.name} | {row.result} | {row.freedom} | '
                      f'{" | ".join(row.differences)} | {row.remarks} |', flush=True)
            elif row.result not in ('equal', 'refused by both', 'read here alone'):
                print(f'{row.name}: {row.result}: {row.differences}: {row.remarks}',
                      file=sys.stderr, flush=True)
        if short:
            print(f'| {folder.name} | {counts.total()} | '
                  + ', '.join(f'{n} {each}' for each, n in counts.most_common()) + ' |')


if __name__ == '__main__':
    main()
