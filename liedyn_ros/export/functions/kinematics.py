# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

# mypy: disable-error-code="valid-type"
"""Functions of the C library for the kinematics of trees: those of liedyn.h, in its order."""

from liedyn_ros.dynamics.frames.kernels import jacobians, motion
from liedyn_ros.dynamics.tree.kernels.kinematics import kinematics as move_bodies
from liedyn_ros.export.kernels import work as area
from liedyn_ros.export.kernels.interface import (
    AXES_NUMBER, BODY_POSES, BODY_TWISTS, CODE, CONFIGURATION, FRAME_NUMBER, JACOBIAN, LINK_TABLE,
    MODEL, ONE_JACOBIAN, POSE_MATRIX, RATES, RATES_OR_ZERO, RESULT, TRUTH_NUMBER, TWIST_VECTOR,
    WORK)
from liedyn_ros.export.kernels.work import code_of
from liedyn_ros.jit.pointers import alone, or_part, part
from liedyn_ros.model.kernels import configuration


def kinematics(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES_OR_ZERO, a: RATES_OR_ZERO,
        poses: RESULT[BODY_POSES], twists: RESULT[BODY_TWISTS],
        accelerations: RESULT[BODY_TWISTS]) -> CODE:
    """Write poses (B, 4, 4), twists and accelerations (B, 6) of all bodies."""
    return code_of(move_bodies(
        model, part(work, *area.data(model)), q, or_part(v, work, *area.zero_rates(model)),
        or_part(a, work, *area.zero_rates(model)), poses, twists, accelerations))


def frame_pose(model: MODEL, q: CONFIGURATION, frame: FRAME_NUMBER,
               pose: RESULT[POSE_MATRIX]) -> CODE:
    """Write T_ground_frame (4, 4)."""
    return code_of(motion.frame_poses(model, q, alone(frame), pose))


def frame_twist(model: MODEL, q: CONFIGURATION, v: RATES, frame: FRAME_NUMBER, axes: AXES_NUMBER,
                twist: RESULT[TWIST_VECTOR]) -> CODE:
    """Write the twist (6) of a frame."""
    return code_of(motion.frame_twists(model, q, v, alone(frame), axes, twist))


def frame_acceleration(
        model: MODEL, q: CONFIGURATION, v: RATES, a: RATES, frame: FRAME_NUMBER, axes: AXES_NUMBER,
        classical: TRUTH_NUMBER, acceleration: RESULT[TWIST_VECTOR]) -> CODE:
    """Write the acceleration (6) of a frame, without gravity: spatial, or classical."""
    return code_of(motion.frame_accelerations(
        model, q, v, a, alone(frame), axes, classical != 0, acceleration))


def frame_jacobian(model: MODEL, q: CONFIGURATION, frame: FRAME_NUMBER, axes: AXES_NUMBER,
                   jacobian: RESULT[JACOBIAN]) -> CODE:
    """Write J (6, nv): J v is the twist of a frame."""
    return code_of(jacobians.frame_jacobian(model, q, frame, axes, jacobian))


def frame_jacobian_rate(model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, frame: FRAME_NUMBER,
                        axes: AXES_NUMBER, rate: RESULT[ONE_JACOBIAN]) -> CODE:
    """Write dJ/dt (6, nv)."""
    return code_of(jacobians.frame_jacobian_rates(
        model, part(work, *area.jacobian(model)), q, v, alone(frame), axes, rate))


def integrate(model: MODEL, links: LINK_TABLE, q: CONFIGURATION, dv: RATES,
              result: RESULT[CONFIGURATION]) -> CODE:
    """Write q (+) dv (nq)."""
    return code_of(configuration.checked_integrate(links, q, dv, result))


def difference(model: MODEL, links: LINK_TABLE, q0: CONFIGURATION, q1: CONFIGURATION,
               dv: RESULT[RATES]) -> CODE:
    """Write the dv (nv) with q0 (+) dv = q1."""
    return code_of(configuration.checked_difference(links, q0, q1, dv))
