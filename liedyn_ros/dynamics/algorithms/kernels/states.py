# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Kernels of one state over many, one after the other; each returns the first state refused.

They are those of crba (3.6), of coriolis (7.17), of springs (3.19) and of centroidal.
"""

from liedyn_ros.dynamics.algorithms.kernels import centroidal, coriolis, crba as mass, rnea
from liedyn_ros.jit.decorators import long_kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX


@long_kernel
def crba_of_states(model: MATRIX, data: MATRIX, q: MATRIX, out: CUBE):
    """Write M (K, nv, nv) of q (K, nq)."""
    for s in range(len(q)):
        if not mass.crba(model, data, q[s], out[s]):
            return s
    return len(q)


@long_kernel
def gravity_of_states(model: MATRIX, data: MATRIX, q: MATRIX, out: MATRIX):
    """Write the forces (K, nv) that hold the weight."""
    for s in range(len(q)):
        if not centroidal.gravity_forces(model, data, q[s], out[s]):
            return s
    return len(q)


@long_kernel
def springs_of_states(model: MATRIX, data: MATRIX, q: MATRIX, out: MATRIX):
    """Write the forces (K, nv) that hold springs and stops; data is not used."""
    for s in range(len(q)):
        if not rnea.spring_forces(model, q[s], out[s]):
            return s
    return len(q)


@long_kernel
def center_of_mass_of_states(model: MATRIX, data: MATRIX, q: MATRIX, out: MATRIX):
    """Write the centre of mass (K, 3)."""
    for s in range(len(q)):
        if not centroidal.center_of_mass(model, data, q[s], out[s]):
            return s
    return len(q)


@long_kernel
def momentum_of_states(model: MATRIX, data: MATRIX, q: MATRIX, v: MATRIX, out: MATRIX):
    """Write the momentum (K, 6) of q (K, nq) and v (K, nv)."""
    for s in range(len(q)):
        if not centroidal.momentum(model, data, q[s], v[s], out[s]):
            return s
    return len(q)


@long_kernel
def coriolis_matrix_of_states(
        model: MATRIX, data: MATRIX, blocks: MATRIX, q: MATRIX, v: MATRIX, out: CUBE):
    """Write C (K, nv, nv); blocks as for one state."""
    for s in range(len(q)):
        if not coriolis.coriolis_matrix(model, data, blocks, q[s], v[s], out[s]):
            return s
    return len(q)
