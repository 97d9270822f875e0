# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The results of constrained dynamics: motion, forces, and the status of the constraints."""

from enum import Enum
from typing import NamedTuple

from liedyn_ros.common.checks import Array
from liedyn_ros.model.link_table import Indices


class ConstraintStatus(Enum):
    """
    The status of the constraints at a state.

    REGULAR: all independent. REDUNDANT: some depend on others, as they always do in this
    mechanism. NEAR_SINGULAR: the independent ones are hardly so, or the actuators of inverse
    dynamics hardly hold the machine; forces are large. SINGULAR: fewer are independent than
    elsewhere. INCONSISTENT: no acceleration satisfies them all.
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
    derivatives each has an axis of order + 1 before these. rank is that of the constraints,
    inverse_condition_number the smallest pivot of the independent ones over the largest.
    actuation_inverse_condition_number, of inverse dynamics, tells how well actuators hold the
    machine: 1 well, 0 not at all. It is None where no actuators are chosen.
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
    The solutions of K states: arrays as in ConstrainedSolution, after a first axis of states.

    rank and both inverse condition numbers are (K,); status has one for each state.
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
        """Return the solution of one state."""
        actuation = self.actuation_inverse_condition_number
        return ConstrainedSolution(
            self.a[s], self.tau[s], self.multipliers[s], self.wrenches[s], int(self.rank[s]),
            float(self.inverse_condition_number[s]), self.status[s],
            None if actuation is None else float(actuation[s]))
