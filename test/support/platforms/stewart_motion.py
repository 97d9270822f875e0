# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A platform with masses, a random motion of it in closed form, and its leg forces."""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3, so3
from liedyn_ros.stewart import LegMasses, LegPart, PlatformMasses, StewartGeometry

BASE = 0.3 * np.array(
    [[np.cos(t), np.sin(t), 0.0] for t in np.radians([15, 105, 135, 225, 255, 345])])
PLATFORM = 0.2 * np.array(
    [[np.cos(t), np.sin(t), 0.0] for t in np.radians([45, 75, 165, 195, 285, 315])])
M1, C1, I1, A1 = 1.4, 0.12, 0.011, 0.002  # cylinder: mass, centre, transverse and axial inertia
M2, C2, I2, A2 = 0.9, 0.15, 0.007, 0.001  # rod: its centre is C2 below the platform joint
MASS, INERTIA = 6.0, np.diag([0.11, 0.13, 0.2])
GRAVITY = np.array([0.3, -0.2, -9.81])
GEOMETRY = StewartGeometry(
    tuple(f'leg_{i}' for i in range(6)), BASE, PLATFORM, np.tile([0.0, np.inf], (6, 1)),
    masses=PlatformMasses(MASS, (*np.diag(INERTIA), 0.0, 0.0, 0.0), gravity=tuple(GRAVITY), legs=(
        LegMasses(LegPart(M1, C1, I1, A1), LegPart(M2, C2, I2, A2)),) * 6))


class Motion(NamedTuple):
    """A motion of the platform: pose, body twist and its rate; and all coordinates of the tree."""

    rotation: Array
    position: Array
    twist: Array
    rate: Array
    q: Array
    v: Array
    a: Array
    legs: list[dict[str, Array]]

    @property
    def pose(self) -> Array:
        """Return the pose as a matrix."""
        return se3.from_rotation_translation(self.rotation, self.position)


def motion(rng: np.random.Generator) -> Motion:
    """Return a random motion with all coordinates of the legs, in closed form."""
    rotation = so3.exp(rng.uniform(-0.3, 0.3, 3))
    position = np.array([0.0, 0.0, 0.5]) + rng.uniform(-0.08, 0.08, 3)
    twist, rate = rng.normal(size=(2, 6))
    w, v, dw, dv = twist[:3], twist[3:], rate[:3], rate[3:]
    q, rates, accelerations = [*position, *so3.to_quaternion(rotation)], [*twist], [*rate]
    legs = []
    for a, b in zip(BASE, PLATFORM):
        first = position + rotation @ b - a
        second = rotation @ (v + np.cross(w, b))
        third = rotation @ (dv + np.cross(w, v) + np.cross(dw, b) + np.cross(w, np.cross(w, b)))
        length = np.linalg.norm(first)
        u = first / length
        speed = u @ second
        du = (second - speed * u) / length
        pull = u @ third + length * du @ du
        ddu = (third - pull * u - 2.0 * speed * du) / length
        s2, c2 = u[0], np.hypot(u[1], u[2])
        turn = (-du[1] * u[2] + u[1] * du[2]) / c2**2
        bend = du[0] / c2
        dturn = ((-ddu[1] * u[2] + u[1] * ddu[2])
                 - turn * 2.0 * (u[1] * du[1] + u[2] * du[2])) / c2**2
        dbend = (ddu[0] + s2 * bend**2) / c2
        q += [np.arctan2(-u[1], u[2]), np.arcsin(s2), length]
        rates += [turn, bend, speed]
        accelerations += [dturn, dbend, pull]
        legs.append({'b': b, 'u': u, 'du': du, 'ddu': ddu, 'L': length, 'dL': speed, 'ddL': pull,
                     's2': s2, 'c2': c2, 'turn': turn, 'dturn': dturn, 'bend': bend})
    return Motion(rotation, position, twist, rate, np.array(q), np.array(rates),
                  np.array(accelerations), legs)


def leg_forces(moved: Motion) -> Array:
    """Return the forces (6,) of the legs by virtual work (12.41), (12.42)."""
    w, v, dw, dv = moved.twist[:3], moved.twist[3:], moved.rate[:3], moved.rate[3:]
    weight = moved.rotation.T @ GRAVITY
    need = np.concatenate((INERTIA @ dw + np.cross(w, INERTIA @ w),
                           MASS * (dv + np.cross(w, v) - weight)))
    rows = []
    for leg in moved.legs:
        u, du, ddu, length = leg['u'], leg['du'], leg['ddu'], leg['L']
        reach, axial = length - C2, A1 + A2
        across = np.eye(3) - np.outer(u, u)
        inertia = I1 + M1 * C1**2 + I2 + M2 * reach**2
        s2, c2 = leg['s2'], leg['c2']
        e1 = np.array([1.0, 0.0, 0.0])
        e2 = np.cross(u, e1) / c2
        xh = np.cross(e2, u)
        spin = axial * (leg['dturn'] * s2**2 + 2.0 * leg['turn'] * s2 * c2 * leg['bend'])
        push = u * (M2 * (leg['ddL'] - reach * du @ du) - M2 * GRAVITY @ u)
        push = push + across @ (inertia * ddu - (M1 * C1 + M2 * reach) * GRAVITY) / length
        push = push + 2.0 / length * M2 * reach * leg['dL'] * du
        push = push - (e2 * spin / c2 + xh * axial * leg['turn']**2 * s2 * c2) / length
        in_body, along = moved.rotation.T @ push, moved.rotation.T @ u
        need = need + np.concatenate((np.cross(leg['b'], in_body), in_body))
        rows.append(np.concatenate((np.cross(leg['b'], along), along)))
    result: Array = np.linalg.solve(np.array(rows).T, need)
    return result
