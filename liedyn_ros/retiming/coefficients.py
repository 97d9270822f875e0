# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Torques along a path and their rates as polynomials of the speed, and the motion of frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, MinimalCoordinates
from liedyn_ros.dynamics.constrained.minimal_motions import whole_rates
from liedyn_ros.retiming.closure_forces import ClosureForce
from liedyn_ros.retiming.limits import FrameLimits, Machine
from liedyn_ros.retiming.paths.path import PathSamples

# (pdot, pddot) of the calls that give the coefficients; all without a third derivative.
_CALLS = np.array([(1.0, 0.0), (1.0, 1.0), (2.0, 0.0), (3.0, 0.0)])


class Coefficients(NamedTuple):
    """
    tau and its rate at K places of a path, each coefficient (K, nv) (15.2, 15.3).

    tau = inertia pddot + square pdot^2 + viscous pdot + static, and
    dtau/dt = inertia pdddot + cross pdot pddot + cube pdot^3 + viscous pddot
    + viscous_rate pdot^2 + static_rate pdot. static has the Coulomb friction of the direction.
    Columns of forces of closures follow those of joints.
    """

    inertia: Array
    square: Array
    viscous: Array
    static: Array
    cross: Array
    cube: Array
    viscous_rate: Array
    static_rate: Array

    def of(self, columns: slice) -> Coefficients:
        """Return the coefficients of some columns."""
        return Coefficients(*(each[:, columns] for each in self))


def coefficients(dynamics: Machine, path: PathSamples, external: Array | None,
                 closures: Sequence[ClosureForce] = ()) -> Coefficients:
    """
    Return the coefficients from four calls of inverse dynamics to order 1 at each place.

    No derivative of the mass matrix is formed. external (K, B, 6) are wrenches on bodies, which
    keep still while the machine passes: their rate along the path is not known.
    """
    tau, rate = np.moveaxis(_torques(dynamics, path, external, closures), 2, 0)
    one, pushed, two, three = tau
    square = (three - 2.0 * two + one) / 2.0
    viscous = two - one - 3.0 * square
    first, second, third = rate[0], rate[2] / 2.0, rate[3] / 3.0
    cube = (third - 2.0 * second + first) / 2.0
    viscous_rate = second - first - 3.0 * cube
    return Coefficients(
        pushed - one, square, viscous, one - square - viscous,
        rate[1] - rate[0] - viscous, cube, viscous_rate, first - cube - viscous_rate)


def _torques(dynamics: Machine, path: PathSamples, external: Array | None,
             closures: Sequence[ClosureForce]) -> Array:
    """Return tau, forces of closures and their rates (4, K, 2, nv + C) of the calls."""
    count, nv = path.v.shape
    speed, push = _CALLS[:, 0, None, None], _CALLS[:, 1, None, None]
    v = speed * path.v
    a = np.empty((len(_CALLS), count, 2, nv))
    a[:, :, 0] = path.a * speed**2 + path.v * push
    a[:, :, 1] = path.jerk * speed**3 + 3.0 * path.a * speed * push
    q = np.broadcast_to(path.q, (len(_CALLS), *path.q.shape)).reshape(-1, path.q.shape[1])
    wrenches = None if external is None else np.broadcast_to(
        external, (len(_CALLS), *external.shape)).reshape(-1, *external.shape[1:])
    tau = torques(dynamics, q, v.reshape(-1, nv), a.reshape(-1, 2, nv), wrenches, closures)
    return tau.reshape(len(_CALLS), count, 2, -1)


def torques(dynamics: Machine, q: Array, v: Array, a: Array, external: Array | None,
            closures: Sequence[ClosureForce] = ()) -> Array:
    """
    Return tau, forces of closures and their rates (K, 2, nv + C).

    external (K, B, 6) keep still on the bodies.
    """
    rows = None
    if external is not None:
        rows = np.zeros((len(q), 2, *external.shape[1:]))
        rows[:, 0] = external
    if isinstance(dynamics, ConstrainedDynamics):
        found = dynamics.inverse.batch(q, v, a, external=rows).solution
        return np.stack([*np.moveaxis(found.tau, 2, 0), *(each.of(found) for each in closures)],
                        axis=2)
    return dynamics.inverse.time_derivatives_batch(q, v, a, rows)


class FrameMotion(NamedTuple):
    """
    Twist along pdot and acceleration along pddot + across pdot^2 of a frame (15.15).

    along and across (K, 6) are angular first, in the axes of the frame, of the point of limits.
    """

    limits: FrameLimits
    along: Array
    across: Array


def frame_motion(dynamics: Machine, path: PathSamples, limits: FrameLimits) -> FrameMotion:
    """Return the motion of a frame at the places of a path; raises ModelError if unknown."""
    rates, accelerations = path.v, path.a
    if isinstance(dynamics, MinimalCoordinates):
        rates, accelerations = whole_rates(dynamics, path.q, path.v, path.a)
        dynamics = dynamics.dynamics
    frames = dynamics.frames
    along = np.array([frames.twist(q, v, limits.frame) for q, v in zip(path.q, rates)])
    across = np.array([
        frames.acceleration(q, v, a, limits.frame, classical=True)
        for q, v, a in zip(path.q, rates, accelerations)])
    point = np.asarray(limits.point)
    turn = along[:, :3]
    across[:, 3:] += np.cross(across[:, :3], point) + np.cross(turn, np.cross(turn, point))
    along[:, 3:] += np.cross(turn, point)
    return FrameMotion(limits, along, across)
