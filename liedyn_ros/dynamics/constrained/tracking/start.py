# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The start of a tracker: a configuration that selects one assembly."""

import math

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, SingularError
from liedyn_ros.dynamics.constrained.configurations.assembly import assemble, assemblies
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.model import JOINT_TYPES

TRACKER_STARTS = 10  # starts of an assembly
START_RESIDUAL = 1e-3  # greatest residual of a start that is closed but for rounded numbers
ADVISED_JOINTS = 4  # joints in an advice
ASSEMBLY_DISTANCE = 0.3  # rad or m of the measured joints, where the assemblies are apart


def require_selection(constraints: Constraints, start: Array, known: NDArray[np.bool_]) -> None:
    """
    Raise SingularError where assemblies meet at a start (nq,), so that it selects none.

    known (nv,) are the coordinates that decide the others. Links that lie on one line are such a
    case. Where a start is open by a part d of the machine, assemblies meet within sqrt(d) of it.
    """
    gap = constraints.largest(constraints.residual(start)) if constraints.m else math.inf
    if gap > START_RESIDUAL or known.all():
        return
    least = max(RANK_TOLERANCE, math.sqrt(gap))
    rng = np.random.default_rng(1)
    try:
        usual = assemble(constraints, constraints.model.random(rng), attempts=TRACKER_STARTS)
    except ConvergenceError:
        return  # the first sample says so
    if _decided(constraints, start, known, least) < _decided(
            constraints, usual, known, least) and not _is_alone(constraints, start, known, usual):
        raise SingularError(
            'start: expected a configuration that selects an assembly, got a singular one, where '
            f'assemblies meet{_advice(constraints, start, known)}')


def several_assemblies(constraints: Constraints, start: Array, q: Array,
                       known: NDArray[np.bool_]) -> str:
    """
    Return a sentence where loops, open at a start (nq,), close at q (nq,) and otherwise; else ''.

    A start at which they are closed is meant, as zeros are in many models.
    """
    if constraints.largest(constraints.residual(start)) <= START_RESIDUAL:
        return ''
    starts = _starts(constraints, q, _positions(constraints, q, known), within_limits=True)
    return starts and (f'loops close in several ways within the limits of joints: expected start, '
                       f'such as {starts}; the first is taken')


def _is_alone(
        constraints: Constraints, start: Array, known: NDArray[np.bool_], usual: Array) -> bool:
    """
    Return whether the assembly near start is regular, and the same from the other side of start.

    Of two that meet, one lies on each side. usual: any regular configuration.
    """
    model, held = constraints.model, _positions(constraints, start, known)
    try:
        found = assemble(constraints, start, held=held, attempts=1)
        step = model.difference(start, found)
        other = assemble(constraints, model.integrate(start, -step), held=held, attempts=1)
    except ConvergenceError:
        return False
    apart = np.linalg.norm(model.difference(found, other))
    return bool(apart < np.linalg.norm(step)) and _decided(
        constraints, found, known, RANK_TOLERANCE) == _decided(
            constraints, usual, known, RANK_TOLERANCE)


def _positions(
        constraints: Constraints, start: Array, known: NDArray[np.bool_], away: float = 0.0
) -> dict[str, float]:
    """Return the positions of the known joints of one coordinate, each moved by away."""
    return {joint.name: start[joint.qi] + away for joint in constraints.model.joint_list
            if JOINT_TYPES[joint.type_name].nv == 1 and known[joint.vi]}


def _decided(constraints: Constraints, q: Array, known: NDArray[np.bool_], least: float) -> int:
    """Return how many of the other coordinates are decided, singular values below least aside."""
    rows = constraints.jacobian(q)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    sizes = np.linalg.svd(
        rows[:, ~known] / np.maximum(lengths, START_RESIDUAL * lengths.max()), compute_uv=False)
    return int((sizes > least * sizes.max(initial=0.0)).sum())


def _advice(constraints: Constraints, start: Array, known: NDArray[np.bool_]) -> str:
    """Return starts of two assemblies, if as many are found."""
    starts = _starts(constraints, start, _positions(constraints, start, known, ASSEMBLY_DISTANCE))
    return starts and f'. Give start, such as {starts}'


def _starts(constraints: Constraints, start: Array, held: dict[str, float], *,
            within_limits: bool = False) -> str:
    """Return starts of the assembly near start and of another one; a few joints are enough."""
    others = [joint for joint in constraints.model.joint_list
              if JOINT_TYPES[joint.type_name].nv == 1 and joint.name not in held]
    try:
        found = assemblies(constraints, start, held=held, attempts=TRACKER_STARTS,
                           within_limits=within_limits)[:2]
    except ConvergenceError:
        found = []
    if len(found) < 2 or not others:
        return ''
    apart = np.array([abs(found[0][joint.qi] - found[1][joint.qi]) for joint in others])
    chosen = [others[i] for i in np.argsort(-apart)[:ADVISED_JOINTS]]
    one, other = (' '.join(f'{joint.name}:={q[joint.qi]:.2g}' for joint in chosen) for q in found)
    return f"'{one}' or '{other}'"
