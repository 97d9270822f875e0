# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The results of constrained dynamics: motion, forces, and the status of the constraints."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, TYPE_CHECKING, TypeAlias

import numpy as np

from liedyn_ros.common.checks import Array, output
from liedyn_ros.model.expansion import Indices


class ConstraintStatus(Enum):
    """
    The status of the constraints at a state.

    REGULAR: all independent. REDUNDANT: some depend on others, as they always do in this
    mechanism. NEAR_SINGULAR: the independent ones are hardly so, or the actuators of inverse
    dynamics hardly hold the machine; forces are large. SINGULAR: fewer are independent than
    elsewhere. INCONSISTENT: no acceleration satisfies them all.

    >>> linkage.forward(closed, rest, rest).solution.status.name  # as in every plane linkage
    'REDUNDANT'
    """

    REGULAR = 'regular'
    REDUNDANT = 'redundant'
    NEAR_SINGULAR = 'near_singular'
    SINGULAR = 'singular'
    INCONSISTENT = 'inconsistent'


class ConstrainedSolution(NamedTuple):
    """
    The motion and the forces of a state, and of as many time derivatives as were given.

    a and tau (nv,). multipliers (m,), one for each constraint in the order of constraint_names.
    wrenches (C, 6), moment before force, that each closure applies to its body_b, in frame_b. With
    derivatives each has an axis of order + 1 before these. rank and status are those of the
    constraints, inverse_condition_number the smallest pivot of the independent ones over the
    largest. actuation_inverse_condition_number, of inverse dynamics, measures how well actuators
    hold the machine: 1 well, 0 not at all. It is None where no actuators are chosen.

    >>> found = linkage.inverse(closed, rest, rest).solution
    >>> found.wrenches.shape, found.rank
    ((1, 6), 2)
    """

    a: Array
    tau: Array
    multipliers: Array
    wrenches: Array
    rank: int
    inverse_condition_number: float
    status: ConstraintStatus
    actuation_inverse_condition_number: float | None = None


class ConstrainedSolutions(NamedTuple):
    """
    The solutions of K states: a, tau, multipliers and wrenches after a first axis of states.

    They are as in ConstrainedSolution. rank, inverse_condition_number and
    actuation_inverse_condition_number are (K,); status has one for each state.

    >>> linkage.inverse.batch([closed] * 2, [rest] * 2, [rest] * 2).solution.tau.shape
    (2, 3)
    """

    a: Array
    tau: Array
    multipliers: Array
    wrenches: Array
    rank: Indices
    inverse_condition_number: Array
    status: tuple[ConstraintStatus, ...]
    actuation_inverse_condition_number: Array | None = None

    def state(self, s: int) -> ConstrainedSolution:
        """
        Return the solution of one state.

        Args:
            s: its place.

        Returns:
            the solution.

        >>> many = linkage.forward.batch([closed], [rest], [rest])
        >>> many.solution.state(0).a.shape
        (3,)
        """
        actuation = self.actuation_inverse_condition_number
        return ConstrainedSolution(
            self.a[s], self.tau[s], self.multipliers[s], self.wrenches[s], int(self.rank[s]),
            float(self.inverse_condition_number[s]), self.status[s],
            None if actuation is None else float(actuation[s]))


class _WithSolution:
    """Base of results that have the parts of a named tuple, their solution, as attributes."""

    solution: Any = None
    if TYPE_CHECKING:
        a: Array
        tau: Array
        multipliers: Array
        wrenches: Array
        rank: Any
        inverse_condition_number: Any
        status: Any
        actuation_inverse_condition_number: Any

    def __getattr__(self, name: str) -> Any:
        """Return a part of the solution, which belongs to the whole result alone."""
        if name.startswith('__') or self.solution is None:
            raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}')
        return getattr(self.solution, name)


class SolvedArray(_WithSolution, np.ndarray[Any, np.dtype[np.float64]]):
    """
    The joint forces of inverse dynamics, the accelerations of forward dynamics, or their change.

    It is the array that a tree without loops returns, and has the parts of its `solution` besides:
    a, tau, multipliers, wrenches, rank, status. Arithmetic and slices give plain arrays.
    """

    def __getitem__(self, key: Any) -> Any:
        """Return an entry, or a plain array."""
        return self.view(np.ndarray)[key]

    def __array_wrap__(self, array: Array, context: Any = None, return_scalar: bool = False
                       ) -> Any:
        """Return the result of a function of NumPy as a plain array or number."""
        return array[()] if array.ndim == 0 else array.view(np.ndarray)

    def __reduce__(self) -> Any:
        """Copy, or pickle, with the solution."""
        return with_solution, (self.view(np.ndarray), self.solution)


class SolvedPair(_WithSolution, tuple[Array, Array]):
    """The accelerations and joint forces of hybrid dynamics, with the parts of its `solution`."""

    def __reduce__(self) -> Any:
        """Copy, or pickle, with the solution."""
        return pair_of, (self.solution,)


Solved: TypeAlias = ConstrainedSolution | SolvedArray | SolvedPair


def with_solution(array: Array, solution: Any, out: Array | None = None) -> SolvedArray:
    """Return an array of a solution, written into out if given, with its other parts."""
    if out is not None:
        output(out, array.shape)[...] = array
    result = (array if out is None else out).view(SolvedArray)
    result.solution = solution
    return result


def pair_of(solution: Any) -> SolvedPair:
    """Return a and tau of a solution, which have its other parts as attributes."""
    result = SolvedPair((solution.a, solution.tau))
    result.solution = solution
    return result
