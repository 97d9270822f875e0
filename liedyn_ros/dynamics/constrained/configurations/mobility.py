# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The mobility that the constraints of a model leave, computed numerically (theory 12.4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.dynamics.constrained.configurations.assembly import assemble
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.rank import equilibrated, independent_columns
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE, USUAL_RANK

RANK_CONFIGURATIONS = 5  # configurations whose largest rank counts as the usual one
START_DISTANCE = 0.3  # how far from an assembly they start, rad or m
SAME_ASSEMBLY_DISTANCE = 1e-3  # rad or m: closer assemblies from such starts are one


class Mobility(NamedTuple):
    """
    The mobility of a machine with constraints, and the dependence of these.

    degrees_of_freedom is 0 for a structure that cannot move. It is so too where motions of first
    order remain but lead nowhere, as of links taut between two pins. rank is that of the
    constraints. redundant names constraints that depend on the others. Gruebler's count,
    coordinates minus constraints, is nv - rank minus the number of redundant ones.

    >>> linkage.mobility.degrees_of_freedom
    1
    """

    degrees_of_freedom: int
    rank: int
    redundant: tuple[str, ...]


def mobility(constraints: Constraints, q: ArrayLike | None = None) -> Mobility:
    """
    Return the mobility at a closed configuration, or where the machine is not singular.

    Args:
        constraints: a ConstrainedDynamics.
        q: closed configuration (nq,), rad and m; by default that of the largest rank among
            assemblies near the one at rest.

    Returns:
        degrees of freedom, rank and redundant constraints.

    Raises:
        ConvergenceError: where the loops do not close.

    >>> mobility(linkage).degrees_of_freedom
    1
    """
    if q is None:
        found = assemblies_near(constraints, assemble(constraints))
        result = max((_at(constraints, each, USUAL_RANK) for each in found),
                     key=lambda each: each.rank)
    else:
        at = constraints.model.check_configuration(q)
        result = _at(constraints, at)
        if not (result.degrees_of_freedom and result.redundant):
            return result
        found = assemblies_near(constraints, at)
    return result._replace(degrees_of_freedom=0) if _is_isolated(constraints, found) else result


def _is_isolated(constraints: Constraints, found: list[Array]) -> bool:
    """Return whether assemblies from starts around the first all end there."""
    apart = [np.abs(constraints.model.difference(found[0], each)).max(initial=0.0)
             for each in found[1:]]
    return bool(apart) and max(apart) < SAME_ASSEMBLY_DISTANCE


def usual_rank(constraints: Constraints, free: NDArray[np.bool_]) -> int:
    """
    Return the rank of the constraints on some coordinates where the machine is not singular.

    free (nv,) is a mask of these coordinates. It is the largest rank among assemblies near the one
    at rest. Raises the errors of assembly.assemble.
    """
    return max(_independent(constraints, q, free, USUAL_RANK)[0]
               for q in assemblies_near(constraints, assemble(constraints)))


def independent_constraints(constraints: Constraints, q: Array) -> NDArray[np.int64]:
    """Return the rows (r,) of independent constraints at a closed configuration (12.25)."""
    every = np.ones(constraints.model.nv, dtype=np.bool_)
    rank, order = _independent(constraints, q, every, RANK_TOLERANCE)
    return np.sort(order[:rank])


def assemblies_near(constraints: Constraints, q: Array) -> list[Array]:
    """Return closed configurations near one, and that one first."""
    model, rng = constraints.model, np.random.default_rng(1)
    found = [q]
    for _ in range(RANK_CONFIGURATIONS - 1):
        near = model.integrate(found[0], rng.uniform(-START_DISTANCE, START_DISTANCE, model.nv))
        try:
            found.append(assemble(constraints, near, attempts=1))
        except ConvergenceError:  # the first one counts
            continue
    return found


def _at(constraints: Constraints, q: Array, tolerance: float = RANK_TOLERANCE) -> Mobility:
    nv = constraints.model.nv
    rank, order = _independent(constraints, q, np.ones(nv, dtype=np.bool_), tolerance)
    names = tuple(constraints.constraint_names[i] for i in sorted(order[rank:]))
    return Mobility(nv - rank, rank, names)


def _independent(constraints: Constraints, q: Array, free: NDArray[np.bool_], tolerance: float
                 ) -> tuple[int, NDArray[np.int64]]:
    """Return the rank on free coordinates and the order (m,) of the rows, independent first."""
    rows = equilibrated(constraints, q, free)
    if not rows.size:
        return 0, np.arange(len(rows))
    return independent_columns(rows.T, tolerance)  # (12.23)
