# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Groups of loops: branches of the tree, on the ground, with the constraints that join them (12.29).

Mass matrix and constraints have no entry between two groups. So each group is factored and solved
alone, while rank and conditioning are judged over all of them. A vector by group has the entries
of one group after those of another, in the order of `coordinate_at` or `row_at`.
"""

from liedyn_ros.jit.decorators import inlined, kernel


@inlined
def count_groups(machine):
    """Return the number of groups."""
    return len(machine.group_rows) - 1


@inlined
def coordinates_of(machine, g):
    """Return the first and the end of a group in coordinate_at."""
    return machine.group_coordinates[g], machine.group_coordinates[g + 1]


@inlined
def rows_of(machine, g):
    """Return the first and the end of a group in row_at."""
    return machine.group_rows[g], machine.group_rows[g + 1]


@kernel
def gather_coordinates(machine, g, x, local):
    """Write the entries of x (nv,) of a group into local, which has no others."""
    first = machine.group_coordinates[g]
    for i in range(len(local)):
        local[i] = x[machine.coordinate_at[first + i]]


@kernel
def scatter_coordinates(machine, g, local, x):
    """Write the entries of a group back into x (nv,)."""
    first = machine.group_coordinates[g]
    for i in range(len(local)):
        x[machine.coordinate_at[first + i]] = local[i]
