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

"""The leg forces of a Stewart platform against virtual work in closed form (12.39 to 12.44)."""

from typing import NamedTuple

import numpy as np
import pytest

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, mobility, Status
from liedyn_ros.lie import so3
from liedyn_ros.model import Model, ModelBuilder, pose, SpatialInertia

STATES = 1000
BASE = 0.3 * np.array(
    [[np.cos(t), np.sin(t), 0.0] for t in np.radians([15, 105, 135, 225, 255, 345])])
PLATFORM = 0.2 * np.array(
    [[np.cos(t), np.sin(t), 0.0] for t in np.radians([45, 75, 165, 195, 285, 315])])
M1, C1, I1, A1 = 1.4, 0.12, 0.011, 0.002  # cylinder: mass, centre, transverse and axial inertia
M2, C2, I2, A2 = 0.9, 0.15, 0.007, 0.001  # rod: its centre is C2 below the platform joint
MASS, INERTIA = 6.0, np.diag([0.11, 0.13, 0.2])
GRAVITY = np.array([0.3, -0.2, -9.81])


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


def platform() -> Model:
    """Return a platform on a free joint, legs of universal and prismatic joints, six cuts."""
    builder = ModelBuilder('stewart', gravity=GRAVITY)
    builder.add_body('platform', SpatialInertia(MASS, np.zeros(3), INERTIA))
    builder.add_joint('platform_joint', 'free', None, 'platform', actuated=False)
    for i in range(6):
        builder.add_body(f'cylinder_{i}', SpatialInertia(
            M1, [0.0, 0.0, C1], np.diag([I1, I1, A1])))
        builder.add_joint(f'base_{i}', 'universal', None, f'cylinder_{i}', axis=[1.0, 0.0, 0.0],
                          second_axis=[0.0, 1.0, 0.0], placement=pose(BASE[i]), actuated=False)
        builder.add_body(f'rod_{i}', SpatialInertia(
            M2, [0.0, 0.0, -C2], np.diag([I2, I2, A2])))
        builder.add_joint(f'leg_{i}', 'prismatic', f'cylinder_{i}', f'rod_{i}',
                          axis=[0.0, 0.0, 1.0])
        builder.add_closure(f'ball_{i}', 'spherical', f'rod_{i}', 'platform',
                            placement_b=pose(PLATFORM[i]))
    return builder.build()


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


def test_leg_forces_are_those_of_virtual_work() -> None:
    dynamics, rng = ConstrainedDynamics(platform()), np.random.default_rng(12)
    for _ in range(STATES):
        moved = motion(rng)
        solution = dynamics.inverse(moved.q, moved.v, moved.a)
        expected = leg_forces(moved)
        scale = 1.0 + np.abs(expected).max()
        assert np.abs(solution.tau[8::3] - expected).max() < 1e-9 * scale
        assert solution.status is Status.REGULAR


def test_forward_dynamics_gives_the_motion_back() -> None:
    dynamics, rng = ConstrainedDynamics(platform()), np.random.default_rng(13)
    for _ in range(20):
        moved = motion(rng)
        forces = np.zeros(24)
        forces[8::3] = leg_forces(moved)
        a = dynamics.forward(moved.q, moved.v, forces).a
        assert np.abs(a - moved.a).max() < 1e-8 * (1.0 + np.abs(moved.a).max())


def test_round_trip_to_order_five_and_power() -> None:
    dynamics, rng = ConstrainedDynamics(platform()), np.random.default_rng(14)
    moved, forces = motion(rng), np.zeros((6, 24))
    forces[:, 8::3] = rng.normal(size=(6, 6)) * 20.0
    there = dynamics.forward(moved.q, moved.v, forces)
    back = dynamics.inverse(moved.q, moved.v, there.a)
    for k in range(6):
        scale = np.abs(there.a[:k + 1]).max()
        assert np.abs(back.tau[k] - forces[k]).max() < 1e-9 * (1.0 + scale)
    # What legs put in is the rate of energy: constraint forces do no work.
    tree, h = dynamics.tree, 1e-5
    energy = [tree.kinetic_energy(q, v) + tree.potential_energy(q) for q, v in (
        (dynamics.model.integrate(moved.q, s * h * moved.v + 0.5 * h * h * there.a[0]),
         moved.v + s * h * there.a[0]) for s in (-1.0, 1.0))]
    power = forces[0] @ moved.v
    assert (energy[1] - energy[0]) / (2.0 * h) == pytest.approx(power, rel=1e-5, abs=1e-5)


def test_the_platform_has_six_freedoms() -> None:
    dynamics = ConstrainedDynamics(platform())
    found = mobility(dynamics, motion(np.random.default_rng(1)).q)
    assert (found.freedom, found.rank, found.redundant) == (6, 18, ())
