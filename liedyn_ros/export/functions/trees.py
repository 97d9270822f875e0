# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Functions of the C library for trees: on pointers, each calls the kernel of Python.

constants are those of a model, work is a work area (kernels/work.py). Returns DONE, REFUSED for
input that the kernel does not accept, or k + 1 where coordinate k moves no inertia; questions to
a model file, and to a configuration that a kernel refused, return what they say.
"""

from liedyn_ros.dynamics.algorithms.kernels import aba, centroidal, coriolis, crba, rnea
from liedyn_ros.dynamics.frames.kernels import jacobians, motion
from liedyn_ros.dynamics.time_derivatives.kernels import series
from liedyn_ros.dynamics.time_derivatives.kernels.aba import hybrid_derivatives
from liedyn_ros.dynamics.time_derivatives.kernels.rnea import rnea_derivatives
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.dynamics.tree.kernels.kinematics import kinematics
from liedyn_ros.export.kernels import work as area
from liedyn_ros.export.kernels.constants import is_tree
from liedyn_ros.jit.pointers import (
    as_flags, COUNT, cube, FLAGS, given, NUMBERS, table, vector, WHOLES)
from liedyn_ros.jit.simd import get, get_int
from liedyn_ros.model.kernels import configuration
from liedyn_ros.model.kernels.acceptance import is_unit
from liedyn_ros.model.kernels.kinds import NQ, SPHERICAL

DONE, REFUSED = aba.DONE, aba.REFUSED


def work_size(constants: NUMBERS, order: COUNT) -> COUNT:
    """Return the size of a work area for derivatives to an order, in numbers of eight bytes."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    return area.shared_at(model) + max(area.shared_size(model, order), area.part_size(model))


def prepare(constants: NUMBERS, work: NUMBERS) -> COUNT:
    """Write the constants of all calls into a work area."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    data = table(work, area.data_rows(model), tables.DATA_WIDTH)
    data[:] = 0.0
    for axis in range(3):
        # An upward acceleration of the ground stands for gravity. (3.0)
        data[0, tables.ACCELERATION + 3 + axis] = -get(model, 0, tables.GRAVITY + axis)
        data[0, tables.ROTATION + 4 * axis] = data[0, tables.GROUND_POSE + 4 * axis] = 1.0
    vector(area.zero_rates(model, work), area.nv(model))[:] = 0.0
    return DONE


def inverse(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, a: NUMBERS,
            external: NUMBERS, tau: NUMBERS) -> COUNT:
    """Write tau (nv,); a NULL for a is zero."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies = area.nv(model), area.bodies(model)
    good = rnea.rnea(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), vector(q, area.nq(model)),
        vector(v, nv), vector(area.or_zeros(model, work, a), nv),
        table(external, area.loaded(external, bodies), 6), vector(tau, nv))
    return DONE if good else REFUSED


def inverse_series(constants: NUMBERS, work: NUMBERS, order: COUNT, q: NUMBERS, v: NUMBERS,
                   a: NUMBERS, external: NUMBERS, tau: NUMBERS) -> COUNT:
    """Write tau and its time derivatives (order + 1, nv)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies, rows = area.nv(model), area.bodies(model), area.series_rows(model, order)
    good = rnea_derivatives(
        model, table(area.common(model, work), rows, series.WIDTH), vector(q, area.nq(model)),
        vector(v, nv), table(a, order + 1, nv),
        cube(external, area.loaded(external, order + 1), bodies, 6), table(tau, order + 1, nv))
    return DONE if good else REFUSED


def forward(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, tau: NUMBERS,
            external: NUMBERS, a: NUMBERS) -> COUNT:
    """Write a (nv,)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies = area.nv(model), area.bodies(model)
    return aba.forward(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), vector(q, area.nq(model)),
        vector(v, nv), vector(tau, nv), table(external, area.loaded(external, bodies), 6),
        vector(a, nv))


def hybrid_series(constants: NUMBERS, work: NUMBERS, order: COUNT, q: NUMBERS, v: NUMBERS,
                  prescribed: FLAGS, a: NUMBERS, tau: NUMBERS, external: NUMBERS) -> COUNT:
    """Complete a and tau (order + 1, nv) in their place; a NULL prescribes nothing."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies, rows = area.nv(model), area.bodies(model), area.series_rows(model, order)
    flags = prescribed if given(prescribed) else as_flags(area.zero_rates(model, work))
    return hybrid_derivatives(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH),
        table(area.common(model, work), rows, series.WIDTH), vector(q, area.nq(model)),
        vector(v, nv), vector(flags, nv), table(a, order + 1, nv), table(tau, order + 1, nv),
        cube(external, area.loaded(external, order + 1), bodies, 6))


def mass_matrix(constants: NUMBERS, work: NUMBERS, q: NUMBERS, out: NUMBERS) -> COUNT:
    """Write M (nv, nv)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv = area.nv(model)
    good = crba.crba(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), vector(q, area.nq(model)),
        table(out, nv, nv))
    return DONE if good else REFUSED


def gravity(constants: NUMBERS, work: NUMBERS, q: NUMBERS, out: NUMBERS) -> COUNT:
    """Write the joint forces (nv,) that hold the machine at rest."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    good = centroidal.gravity_forces(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), vector(q, area.nq(model)),
        vector(out, area.nv(model)))
    return DONE if good else REFUSED


def coriolis_matrix(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, out: NUMBERS
                    ) -> COUNT:
    """Write C (nv, nv)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv = area.nv(model)
    good = coriolis.coriolis_matrix(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH),
        table(area.common(model, work), area.links(model), coriolis.BLOCKS),
        vector(q, area.nq(model)), vector(v, nv), table(out, nv, nv))
    return DONE if good else REFUSED


def accepts(constants: NUMBERS, count: COUNT, rows: COUNT, links: WHOLES, links_count: COUNT,
            coordinates: COUNT, frames: COUNT) -> COUNT:
    """Return 0 where constants (rows, width) and links (3, N) are those of a tree."""
    if not (1 <= rows <= count and count == rows * tables.MODEL_WIDTH):
        return 1
    model = table(constants, rows, tables.MODEL_WIDTH)
    if not is_tree(model, rows, coordinates, frames):
        return 1
    number = area.links(model) - 1
    if links_count != 3 * number:
        return 1
    of = table(links, 3, number)
    for i in range(number):
        if not (of[0, i] == get_int(model, i + 1, tables.KIND)
                and of[1, i] == get_int(model, i + 1, tables.QI)
                and of[2, i] == get_int(model, i + 1, tables.VI)):
            return 1
    return 0


def size_of(constants: NUMBERS, what: COUNT) -> COUNT:
    """Return nq, nv or the number of bodies, for what 0, 1 or 2."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    if what == 0:
        return area.nq(model)
    return area.nv(model) if what == 1 else area.bodies(model)


def not_unit(constants: NUMBERS, q: NUMBERS) -> COUNT:
    """Return where the coordinates of the first link with no unit quaternion begin, or -1."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    configuration = vector(q, area.nq(model))
    for i in range(1, area.links(model)):
        kind, at = get_int(model, i, tables.KIND), get_int(model, i, tables.QI)
        if not is_unit(kind, configuration, at):
            return at + NQ[kind] - 4
    return -1


def neutral(constants: NUMBERS, q: NUMBERS) -> COUNT:
    """Write the configuration (nq,) of zeros and unit quaternions."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    configuration = vector(q, area.nq(model))
    configuration[:] = 0.0
    for i in range(1, area.links(model)):
        kind, at = get_int(model, i, tables.KIND), get_int(model, i, tables.QI)
        if kind >= SPHERICAL:
            configuration[at + NQ[kind] - 1] = 1.0
    return 0


def body_motion(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, a: NUMBERS,
                poses: NUMBERS, twists: NUMBERS, accelerations: NUMBERS) -> COUNT:
    """Write poses (B, 4, 4), twists and accelerations (B, 6); a NULL is zero."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    bodies = area.bodies(model)
    good = kinematics(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), vector(q, area.nq(model)),
        vector(area.or_zeros(model, work, v), area.nv(model)),
        vector(area.or_zeros(model, work, a), area.nv(model)),
        cube(poses, bodies, 4, 4), table(twists, bodies, 6), table(accelerations, bodies, 6))
    return DONE if good else REFUSED


def frame_poses(constants: NUMBERS, q: NUMBERS, frames: WHOLES, count: COUNT,
                out: NUMBERS) -> COUNT:
    """Write the poses (count, 4, 4) of frames."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    good = motion.frame_poses(
        model, vector(q, area.nq(model)), vector(frames, count), cube(out, count, 4, 4))
    return DONE if good else REFUSED


def frame_twists(constants: NUMBERS, q: NUMBERS, v: NUMBERS, frames: WHOLES, count: COUNT,
                 axes: COUNT, out: NUMBERS) -> COUNT:
    """Write the twists (count, 6) of frames."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    good = motion.frame_twists(
        model, vector(q, area.nq(model)), vector(v, area.nv(model)), vector(frames, count), axes,
        table(out, count, 6))
    return DONE if good else REFUSED


def frame_accelerations(constants: NUMBERS, q: NUMBERS, v: NUMBERS, a: NUMBERS, frames: WHOLES,
                        count: COUNT, axes: COUNT, classical: COUNT, out: NUMBERS) -> COUNT:
    """Write the accelerations (count, 6) of frames."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    good = motion.frame_accelerations(
        model, vector(q, area.nq(model)), vector(v, area.nv(model)), vector(a, area.nv(model)),
        vector(frames, count), axes, classical != 0, table(out, count, 6))
    return DONE if good else REFUSED


def frame_jacobian(constants: NUMBERS, q: NUMBERS, frame: COUNT, axes: COUNT,
                   out: NUMBERS) -> COUNT:
    """Write J (6, nv) of a frame."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    good = jacobians.frame_jacobian(
        model, vector(q, area.nq(model)), frame, axes,
        table(out, 6, area.nv(model)))
    return DONE if good else REFUSED


def frame_jacobian_rate(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, frame: WHOLES,
                        axes: COUNT, out: NUMBERS) -> COUNT:
    """Write dJ/dt (6, nv) of a frame."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv = area.nv(model)
    good = jacobians.frame_jacobian_rates(
        model, table(area.common(model, work), 6, nv), vector(q, area.nq(model)),
        vector(v, area.nv(model)), vector(frame, 1), axes, cube(out, 1, 6, nv))
    return DONE if good else REFUSED


def integrate(constants: NUMBERS, links: WHOLES, q: NUMBERS, dv: NUMBERS, out: NUMBERS) -> COUNT:
    """Write q (+) dv (nq,); links are kind, qi and vi (3, N)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    good = configuration.checked_integrate(
        table(links, 3, area.links(model) - 1), vector(q, area.nq(model)),
        vector(dv, area.nv(model)), vector(out, area.nq(model)))
    return DONE if good else REFUSED


def difference(constants: NUMBERS, links: WHOLES, q0: NUMBERS, q1: NUMBERS, out: NUMBERS) -> COUNT:
    """Write the dv (nv,) with q0 (+) dv = q1."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    good = configuration.checked_difference(
        table(links, 3, area.links(model) - 1), vector(q0, area.nq(model)),
        vector(q1, area.nq(model)), vector(out, area.nv(model)))
    return DONE if good else REFUSED
