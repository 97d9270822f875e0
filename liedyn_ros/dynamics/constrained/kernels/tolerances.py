# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Tolerances by which all of constrained dynamics decides rank and closure.

Lengths are in m and angles in rad, so they suit machines of about a metre.
"""

# Rank: pivots of a column-pivoted QR, or singular values, over the largest one. Constraints count
# by A alone (12.59), in dynamics by A M^-1/2 (12.51); passive coordinates by columns of
# length one.
RANK_TOLERANCE = 1e-8
# Of a state: smallest pivot over the largest, below which forces are large; largest relative
# acceleration residual of a solution.
NEAR_SINGULAR = 1e-4
CONSISTENT = 1e-6
# Of configurations that an assembly finds, to tell the usual rank. At a dead centre it is off by
# the root of STALLED_RESIDUAL, and redundant rows have pivots of that size (12.52). On 32
# machines independent rows have 0.04 and more.
USUAL_RANK = 1e-4
# Of a row beyond the usual rank. Below it the row is independent only by errors that closure
# accepts.
OFF_LOOP = 1e-3
# Of the actuation (least_torque.py): below it the actuators are refused, as they hold the machine
# by rounding errors only. Below NEAR_SINGULAR the status says so.
SINGULAR_ACTUATION = 1e-8
# Of the joints that a tracker does not measure: smallest singular value over the largest, of rows
# of length one. It is above RANK_TOLERANCE, as errors of measured joints grow by its inverse in
# the others. REDUNDANT: part of such a row that measured joints alone move.
MIN_INVERSE_CONDITION = 1e-6
REDUNDANT = 1e-6

# Closure: residuals f(q) of a configuration, and A v of a velocity.
CLOSED_STATE = 1e-6  # accepted of a state that a caller gives
CLOSED_CONFIGURATION = 1e-12  # where iterations of an assembly end
STALLED_RESIDUAL = 1e-9  # accepted where rounding stops iterations before
CLOSED_STEP = 1e-13  # Newton step at which iterations of the loop tracker end
