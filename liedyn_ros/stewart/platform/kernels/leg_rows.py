# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The platform's table of n legs, and the row of a leg that is more than a strut (14.34 to 14.44).

The table begins with the ends of the legs, 6 n numbers: n on the base, then n on the platform, in
their frames. Then follows a row for each leg, with the kind of its leg type. There are six to
twelve legs, so the size of a table tells how many, and whether it has rows.
"""

from liedyn_ros.jit.decorators import kernel

MIN_LEGS, MAX_LEGS = 6, 12  # legs
END = 6  # numbers of a leg's two ends
ENDS = MIN_LEGS * END  # of six legs: the whole table of plain struts

STRUT, OFFSET, RAIL, CRANK, WIRE, STAGE, CARRIED_STAGE = 0, 1, 2, 3, 4, 5, 6

# A row: kind, the joints' places, the unit of the coordinate in m (1 of angles), the table's unit
# in m, two unit vectors. Then the offset on the base, the rod's length or the pulley's radius; the
# offset on the platform or the crank's radius; and the side. The unit vectors are the axes of the
# offset joints, the rail, the crank at 0 and 90 degrees, or the axis of a pulley. Of a stage they
# are the dual of its direction and the normal of its plane; GUIDE is its guide. The drive
# coordinate and the ratio (m per m or rad) at the last pose follow. SCREW_PITCH (m per rad) and
# SCREW_PHASE are those of a leg's screw. END_SHIFT is by how much the ends are further apart than
# the leg is long.
# TARGET is the value that a stage is to have.
(KIND, BASE, PLATFORM, UNIT, SIZE, FIRST_UNIT, SECOND_UNIT, LENGTH, OTHER, SIDE, DRIVE_VALUE,
 RATIO) = 0, 1, 4, 7, 8, 9, 12, 15, 16, 17, 18, 19
GUIDE, SCREW_PITCH, SCREW_PHASE, END_SHIFT, TARGET = 20, 23, 24, 25, 26
# Rad, of a screw at home from SCREW_PHASE on: it turns by less than half a turn from there
SCREW_TURN = GUIDE
ROW = 27
SMALLEST_TABLE = MIN_LEGS * (END + ROW)  # table with rows


@kernel
def count_legs(table):
    """Return the number of legs of a table."""
    return len(table) // END if len(table) < SMALLEST_TABLE else len(table) // (END + ROW)


@kernel
def has_rows(table):
    """Return whether there are legs that are more than struts."""
    return len(table) >= SMALLEST_TABLE


@kernel
def row_at(table, i):
    """Return where the row of a leg begins."""
    return END * count_legs(table) + ROW * i
