# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The mass matrix in the inertial frame, and its factor along the tree (Featherstone, LTL)."""

import math

from liedyn_ros.dynamics.constrained.kernels.tables import dot6, get6, START
from liedyn_ros.dynamics.kernels import joints, rigid
from liedyn_ros.jit.decorators import kernel

SMALLEST_PIVOT = 1e-12  # of the inertia that a coordinate moves


@kernel
def write_mass(machine, motion, mass):
    """Write the lower triangle of M, by composite rigid bodies."""
    count, composite = len(machine.kind), motion.composite
    for i in range(count):
        composite[i, 0] = machine.inertia[i, 0]
        for c in range(9):
            composite[i, 1 + c] = motion.moments[i, 0, c]
    for i in range(count - 1, -1, -1):
        body = rigid.load(composite, i, 0)
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            w, v = get6(motion.screw, j, START)
            momentum = rigid.apply(body, w, v)
            at = j
            while at >= 0:
                mass[j, at] = dot6(get6(motion.screw, at, START), momentum)
                at = machine.previous[at]
        parent = machine.parent[i]
        if parent < count:
            for c in range(10):
                composite[parent, c] += composite[i, c]


@kernel
def factor(machine, free, mass):
    """
    Factor M = L^T L over the free coordinates, in place; L is as sparse as M.

    Returns k + 1 for a coordinate k that moves no inertia by itself, 0 if there is none.
    """
    for k in range(len(machine.link) - 1, -1, -1):
        if not free[k]:
            continue
        if not mass[k, k] > 0.0:
            return k + 1
        pivot = math.sqrt(mass[k, k])
        mass[k, k] = pivot
        i = machine.previous[k]
        while i >= 0:
            mass[k, i] /= pivot
            i = machine.previous[i]
        i = machine.previous[k]
        while i >= 0:
            if free[i]:
                whole = mass[i, i]
                j = i
                while j >= 0:
                    mass[i, j] -= mass[k, i] * mass[k, j]
                    j = machine.previous[j]
                if not mass[i, i] > SMALLEST_PIVOT * whole:
                    return i + 1
            i = machine.previous[i]
    return 0


@kernel
def solve_transposed(machine, free, mass, x):
    """Replace x by L^-T x on the free coordinates; those prescribed become zero."""
    for k in range(len(x) - 1, -1, -1):
        if not free[k]:
            x[k] = 0.0
        elif x[k] != 0.0:
            x[k] /= mass[k, k]
            i = machine.previous[k]
            while i >= 0:
                x[i] -= mass[k, i] * x[k]
                i = machine.previous[i]


@kernel
def solve(machine, free, mass, x):
    """Replace x by L^-1 x on the free coordinates."""
    for k in range(len(x)):
        if free[k]:
            total = x[k]
            i = machine.previous[k]
            while i >= 0:
                if free[i]:
                    total -= mass[k, i] * x[i]
                i = machine.previous[i]
            x[k] = total / mass[k, k]
