# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Machines whose mass matrix is singular by itself: those with massless or pointlike bodies."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.constraints.size import machine_size, translates
from liedyn_ros.dynamics.constrained.constraints.tables import NO_INERTIA
from liedyn_ros.dynamics.constrained.kernels.inertia import SMALLEST_PIVOT
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.model import Model
from liedyn_ros.model.kernels.kinds import NV_OF_KIND

RANDOM_STATES = 3  # random ones: where M is singular at one, it is so everywhere
SUBSTITUTE_INERTIA = 1e-6  # of the largest inertia, in place of an inertia of zero
SMALLEST_MOMENT = 1e-9  # of the largest one: smaller moments of inertia are looked at closely


def typical_inertia(tree: Dynamics) -> Array:
    """
    Return an inertia (nv,) of the size of the machine's for each coordinate (12.54), kg or kg m^2.

    It is empty where the mass matrix is regular, or where no constraint can make up for it.
    """
    model = tree.model
    if _is_solid(model):
        return NO_INERTIA
    rng = np.random.default_rng(1)
    if not any(is_singular(tree.mass_matrix(model.random(rng))) for _ in range(RANDOM_STATES)):
        return NO_INERTIA
    mass = float(model.link_table.inertia[:, 0].sum()) or 1.0
    return mass * np.where(translates(model), 1.0, machine_size(model)**2)


def is_singular(mass: Array) -> bool:
    """Return whether a coordinate moves no inertia by itself, as the kernels decide it."""
    diagonal = np.diag(mass)
    if not (diagonal > 0.0).all():
        return True
    try:
        pivots = np.diag(np.linalg.cholesky(mass[::-1, ::-1]))[::-1]**2
    except np.linalg.LinAlgError:
        return True
    return not bool((pivots > SMALLEST_PIVOT * diagonal).all())


def mass_factor(mass: Array) -> Array:
    """Return L of M = L L^T; a coordinate that moves no inertia counts as moving a little."""
    if is_singular(mass):
        most = max(np.diag(mass).max(), SUBSTITUTE_INERTIA)
        mass = mass + SUBSTITUTE_INERTIA * most * np.eye(len(mass))
    return np.asarray(np.linalg.cholesky(mass), dtype=np.float64)


def _is_solid(model: Model) -> bool:
    """Return whether every joint moves a body with mass and moments of inertia of its own."""
    table = model.link_table
    link = np.repeat(np.arange(table.N), [NV_OF_KIND[kind] for kind in table.kind])
    last = [link[joint.v_slice.stop - 1] for joint in model.joint_list if joint.v_slice.stop
            > joint.v_slice.start]
    return bool(_are_extended(table.inertia[last]))


def _are_extended(inertia: Array) -> np.bool_:
    """Return whether m, m c and moments about the origin (n, 10) are those of extended bodies."""
    mass, first = inertia[:, 0, None, None], inertia[:, 1:4, None]
    if not (mass > 0.0).all():
        return np.False_
    about_origin = inertia[:, [[4, 5, 6], [5, 7, 8], [6, 8, 9]]]
    row = np.swapaxes(first, 1, 2)
    central = about_origin - (row @ first * np.eye(3) - first @ row) / mass
    moments = np.linalg.eigvalsh(central)
    size = np.maximum(moments[:, 2], np.abs(about_origin).max(axis=(1, 2)))
    return (moments[:, 0] > SMALLEST_MOMENT * size).all()
