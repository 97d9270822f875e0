# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The constants of a platform in a model file, and the parts of its work area; all of eight bytes.

The constants are the characteristic length (m), how many numbers a table of legs has, whether a
pose can be proved, whether there are masses. Then come five settings of Levenberg-Marquardt, the
scale of each drive, the unit of the readings (m), and the latency of each leg (s). Then limits,
the tables of legs in characteristic lengths and in m, the constants of the certificate, of the
dynamics and its legs.
"""

from liedyn_ros.export.kernels import tracking
from liedyn_ros.export.kernels.work import rounded
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.stewart.certificate.kernels import pose as certificate
from liedyn_ros.stewart.dynamics.kernels import leg as leg_dynamics
from liedyn_ros.stewart.dynamics.kernels import platform as dynamics
from liedyn_ros.stewart.platform.kernels import leg_rows, state
from liedyn_ros.stewart.solver.kernels.solve import SOLVER_WORK

# Codes of calls, besides those of aba.
NO_POSE, NOT_REACHED, NOT_CONVERGED, NOT_PROVED, SINGULAR = 1, 2, 3, 4, 5
NOT_STARTED, LATE, BEYOND = 6, 7, 8  # of a tracker

SCALE, TABLE, PROVABLE, MASSES, LIMITS = 0, 1, 2, 3, 22
DAMPING, ITERATIONS, TOLERANCE, STEP_TOLERANCE, SINGULAR_VALUE = 4, 5, 6, 7, 8
SCALES, UNIT, LATENCY = 9, 15, 16  # (6,), m at a drive's end for one unit of reading; m; (6,), s
LONGEST_LATENCY = 1.0  # s
ITERATION_LIMIT = 10_000
NUMBER_OF_LIMITS, NUMBER_OF_CONSTANTS = 75, 17
LEGS = 6 * leg_dynamics.LEG
LONGEST = leg_rows.ENDS + 6 * leg_rows.ROW  # numbers in a table of legs; the other is ENDS

# Parts of a work area: tables and constants of the certificate are copies, as kernels write into
# them where the legs end.
LINE = 8
SIZES = [LONGEST, LONGEST, certificate.TABLE + LONGEST, state.COUNT, SOLVER_WORK,
         certificate.WORKSPACE_SIZE, 36, 42, 6, tracking.FOLLOWER, tracking.STAMPS,
         len(tracking.BRANCH),
         len(tracking.MOTION), tracking.MOVED, len(tracking.EVIDENCE)]
_STARTS = [sum((size + LINE - 1) // LINE * LINE for size in SIZES[:k])
           for k in range(len(SIZES) + 1)]
(SCALED, METRES, KNOWN, STATE, SOLVER, PROOF, MATRIX, BUFFER, RATES, FOLLOWER, STAMPS, BRANCH,
 MOTION, MOVED, EVIDENCE, SERIES) = _STARTS


@inlined
def numbers(count):
    """Return the size of the constants, for the size of a table of legs."""
    return (LIMITS + NUMBER_OF_LIMITS + 3 * count + certificate.TABLE + NUMBER_OF_CONSTANTS
            + LEGS)


@inlined
def scaled_at():
    """Return where the table of legs in characteristic lengths begins."""
    return LIMITS + NUMBER_OF_LIMITS


@inlined
def constants_at(count):
    """Return where the constants of the dynamics begin."""
    return LIMITS + NUMBER_OF_LIMITS + 3 * count + certificate.TABLE


@inlined
def work_size(order):
    """Return the size of a work area for derivatives to an order."""
    return SERIES + rounded(dynamics.ROWS * (order + 2))
