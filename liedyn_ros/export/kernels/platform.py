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
NO_POSE, NOT_REACHED, NOT_CONVERGED, NOT_PROVED, PLATFORM_SINGULAR = 1, 2, 3, 4, 5
NOT_STARTED, TOO_LATE, BEYOND = 6, 7, 8  # of a tracker

SCALE, TABLE, PROVABLE, MASSES, LIMITS = 0, 1, 2, 3, 22
SOLVER_DAMPING, SOLVER_ITERATIONS, SOLVER_TOLERANCE, STEP_TOLERANCE, SINGULAR_VALUE = 4, 5, 6, 7, 8
# (6,), m at a drive's end for one unit of reading; m; (6,), s
SCALES, DRIVE_UNITS, LATENCY = 9, 15, 16
LONGEST_LATENCY = 1.0  # s
ITERATION_LIMIT = 10_000
NUMBER_OF_LIMITS, NUMBER_OF_CONSTANTS = 75, 17
LEG_MASS_NUMBERS = 6 * leg_dynamics.LEG_CONSTANTS
LONGEST = leg_rows.ENDS + 6 * leg_rows.ROW  # numbers in a table of legs; the other is ENDS

# Parts of a work area: tables and constants of the certificate are copies, as kernels write into
# them where the legs end.
LINE = 8
PART_SIZES = [
    LONGEST, LONGEST, certificate.CENTRED_TABLE + LONGEST, state.STATE_SIZE, SOLVER_WORK,
    certificate.CERTIFICATE_WORK, 36, 42, 6, tracking.FOLLOWER_WIDTH, tracking.STAMP_COUNT,
    len(tracking.EMPTY_BRANCH), len(tracking.EMPTY_MOTION), tracking.MOTION_NUMBERS,
    len(tracking.EMPTY_EVIDENCE)]
_STARTS = [sum((size + LINE - 1) // LINE * LINE for size in PART_SIZES[:k])
           for k in range(len(PART_SIZES) + 1)]
(SCALED_PART, METRES_PART, KNOWN_PART, STATE_PART, SOLVER_PART, PROOF_PART, MATRIX_PART,
 BUFFER_PART, RATES_PART, FOLLOWER_PART, STAMPS_PART, BRANCH_PART, MOTION_PART, MOVED_PART,
 EVIDENCE_PART, SERIES_PART) = _STARTS


@inlined
def numbers(count):
    """Return the size of the constants, for the size of a table of legs."""
    return (LIMITS + NUMBER_OF_LIMITS + 3 * count + certificate.CENTRED_TABLE + NUMBER_OF_CONSTANTS
            + LEG_MASS_NUMBERS)


@inlined
def scaled_at():
    """Return where the table of legs in characteristic lengths begins."""
    return LIMITS + NUMBER_OF_LIMITS


@inlined
def constants_at(count):
    """Return where the constants of the dynamics begin."""
    return LIMITS + NUMBER_OF_LIMITS + 3 * count + certificate.CENTRED_TABLE


@inlined
def work_size(order):
    """Return the size of a work area for derivatives to an order."""
    return SERIES_PART + rounded(dynamics.SERIES_ROWS * (order + 2))
