# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Functions of the C library for frames and configurations of trees; see trees.py."""

from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, REFUSED
from liedyn_ros.dynamics.frames.kernels import jacobians, motion
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.dynamics.tree.kernels.kinematics import kinematics
from liedyn_ros.export.kernels import work as area
from liedyn_ros.jit.pointers import COUNT, cube, NUMBERS, table, vector, WHOLES
from liedyn_ros.model.kernels import configuration


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
