# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""High orders near a singular configuration are refused once they have lost their digits."""

import math
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import planar_linkage
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.model import Model, ModelBuilder, pose, SpatialInertia

ORDER = 5
CRANK, ROD, OFFSET, RADIUS = SpatialInertia(1.0, [0.1, 0.0, 0.0], 0.01 * np.eye(3)), 1.0, 0.1, 0.2
INERTIA = 2.0 * (0.01 + OFFSET**2) + ROD * RADIUS**2  # of the one motion: the rod does not turn
WEIGHT = 9.81 * (2.0 * OFFSET + ROD * RADIUS)


def parallelogram(zero: float) -> Model:
    """Return two equal cranks and a rod under gravity, at this angle where q is zero."""
    builder = ModelBuilder('parallelogram', gravity=[0.0, -9.81, 0.0])
    for i in range(2):
        builder.add_body(f'crank_{i}', CRANK)
        builder.add_joint(f'pivot_{i}', 'revolute', None, f'crank_{i}', axis=[0.0, 0.0, 1.0],
                          placement=pose([0.5 * i, 0.0, 0.0], [0.0, 0.0, zero]), actuated=i == 0)
    builder.add_body('rod', SpatialInertia(ROD, [0.25, 0.0, 0.0], 0.01 * np.eye(3)))
    builder.add_joint('pin_0', 'revolute', 'crank_0', 'rod', axis=[0.0, 0.0, 1.0], actuated=False,
                      placement=pose([RADIUS, 0.0, 0.0], [0.0, 0.0, -zero]))
    builder.add_closure('pin_1', 'revolute', 'crank_1', 'rod',
                        placement_a=pose([RADIUS, 0.0, 0.0]), placement_b=pose([0.5, 0.0, 0.0]))
    return builder.build()


class State(NamedTuple):
    """A state of the parallelogram, and its torque with derivatives: 1 N m, constant."""

    q: Array
    v: Array
    tau: Array


def state(model: Model, zero: float, angle: float) -> State:
    """Return the state at an angle from the flat pose, at 1 rad/s."""
    signs = np.array([-1.0 if name == 'pin_0' else 1.0 for name in model.joints])
    tau = np.zeros((ORDER + 1, 3))
    tau[0, model.joints.index('pivot_0')] = 1.0
    return State(signs * (angle - zero), signs, tau)


def exact(angle: mpmath.mpf, speed: mpmath.mpf) -> list[mpmath.mpf]:
    """Return the accelerations (ORDER + 1,) of J x'' = 1 - W cos x."""
    x, cosine, sine = [angle, speed], [mpmath.cos(angle)], [mpmath.sin(angle)]
    for k in range(ORDER + 1):
        x.append(((k == 0) - WEIGHT * cosine[k]) / (INERTIA * (k + 1) * (k + 2)))
        rates = [(j + 1) * x[j + 1] for j in range(k + 1)]
        cosine.append(-sum(r * sine[k - j] for j, r in enumerate(rates)) / (k + 1))
        sine.append(sum(r * cosine[k - j] for j, r in enumerate(rates)) / (k + 1))
    return [x[k + 2] * mpmath.factorial(k + 2) for k in range(ORDER + 1)]


def pendulum(angle: float) -> Array:
    """Return the accelerations (ORDER + 1,) at 1 rad/s, in 60 digits."""
    with mpmath.workdps(60):
        return np.array([float(a) for a in exact(mpmath.mpf(angle), mpmath.mpf(1))])


def varied_pendulum(angle: float) -> tuple[Array, Array]:
    """Return their derivatives by the angle and by the speed, from differences in 60 digits."""
    with mpmath.workdps(60):
        x, h = mpmath.mpf(angle), mpmath.mpf(10)**-20
        pairs = ((exact(x + h, mpmath.mpf(1)), exact(x - h, mpmath.mpf(1))),
                 (exact(x, 1 + h), exact(x, 1 - h)))
        by_angle, by_speed = (np.array([float((b - a) / (2 * h)) for b, a in zip(*pair)])
                              for pair in pairs)
    return by_angle, by_speed


@pytest.mark.parametrize('zero', [0.0, 0.7, -2.1])
@pytest.mark.parametrize('angle', np.geomspace(0.02, 1.0, 6))
def test_orders_are_right_where_they_are_given(zero: float, angle: float) -> None:
    machine = ConstrainedDynamics(parallelogram(zero))
    found = machine.forward(*state(machine.model, zero, angle))
    np.testing.assert_allclose(found.a[:, 0], pendulum(angle), rtol=1e-4)


@pytest.mark.parametrize('zero', [0.0, 0.7, -2.1])
@pytest.mark.parametrize('angle', np.geomspace(1e-5, 1e-3, 5))
def test_orders_without_digits_are_refused(zero: float, angle: float) -> None:
    machine = ConstrainedDynamics(parallelogram(zero))
    q, v, tau = state(machine.model, zero, angle)
    with refused(LimitError, expected=0.1):
        machine.forward(q, v, tau)
    with refused(LimitError, expected=0.1):
        machine.forward.batch([state(machine.model, zero, 0.5).q, q], [v, v], [tau, tau])
    free = np.zeros(3, dtype=bool)
    with refused(LimitError, expected=0.1):
        machine.hybrid(q, v, free, np.zeros_like(tau), tau)
    with pytest.raises(AssertionError):  # they have none
        np.testing.assert_allclose(
            machine.forward(q, v, tau, max_error=math.inf).a[:, 0], pendulum(angle), rtol=0.1)
    lowest = machine.forward(q, v, tau[0])
    assert_same(lowest.a[0], pendulum(angle)[0], 1e-12)


@pytest.mark.parametrize('angle', [1e-4, 3e-4, 8e-4])
def test_orders_without_digits_are_refused_where_rounding_leaves_nothing_open(
        angle: float) -> None:
    machine = ConstrainedDynamics(planar_linkage((0.3, 0.5), (0.3,), 0.5, ('left_0',)))
    motion, tau = np.array([1.0, -1.0, 1.0]), np.zeros((ORDER + 1, 3))
    tau[0, 0] = 0.3
    given = machine.forward(angle * motion, motion, tau, max_error=math.inf).a[ORDER]
    assert abs(given[0] - given[2]) > 0.1 * np.abs(given).max()  # cranks of the same motion
    with refused(LimitError, expected=0.1):
        machine.forward(angle * motion, motion, tau)


@pytest.mark.parametrize('zero', [0.0, 0.7, -2.1])
@pytest.mark.parametrize('angle', np.geomspace(0.02, 1.0, 4))
def test_jacobians_of_orders_are_right_where_they_are_given(zero: float, angle: float) -> None:
    machine = ConstrainedDynamics(parallelogram(zero))
    q, v, tau = state(machine.model, zero, angle)
    found = machine.forward.partial_derivatives.time_derivatives(q, v, tau)
    for by, wanted in zip((found.by_q, found.by_v), varied_pendulum(angle)):
        assert_same(by @ v, np.outer(wanted, v), 1e-4)


@pytest.mark.parametrize('zero', [0.0, 0.7, -2.1])
@pytest.mark.parametrize('angle', [3e-4, 1e-3])
def test_jacobians_lose_their_digits_before_the_values_do(zero: float, angle: float) -> None:
    machine = ConstrainedDynamics(parallelogram(zero))
    q, v, tau = state(machine.model, zero, angle)
    tau, free = tau[:4], np.zeros(3, dtype=bool)
    np.testing.assert_allclose(machine.forward(q, v, tau).a[:, 0], pendulum(angle)[:4], rtol=1e-3)
    unsaid = machine.forward.partial_derivatives.time_derivatives(q, v, tau, max_error=math.inf)
    wanted = varied_pendulum(angle)[0][:4]
    assert abs(unsaid.by_q[3, 0] @ v - wanted[3]) > 0.05 * abs(wanted[3])
    with pytest.raises(LimitError) as caught:
        machine.forward.partial_derivatives.time_derivatives(q, v, tau)
    assert caught.value.indices == (3,) and caught.value.expected == 0.1
    with pytest.raises(LimitError) as caught:
        machine.hybrid.partial_derivatives.time_derivatives(q, v, free, np.zeros_like(tau), tau)
    assert caught.value.indices == (3,)


@pytest.mark.parametrize('angle', [0.02, 0.3])
def test_orders_of_inverse_dynamics_are_right_where_they_are_given(angle: float) -> None:
    machine = ConstrainedDynamics(parallelogram(0.7))
    q, v, tau = state(machine.model, 0.7, angle)
    a = np.outer(pendulum(angle), v)
    forces = np.abs(machine.tree.inverse.time_derivatives(q, v, a)).max(axis=1)
    assert (np.abs(machine.inverse(q, v, a).tau - tau).max(axis=1) < 1e-4 * forces).all()


@pytest.mark.parametrize('angle', [1e-5, 1e-4])
def test_orders_of_inverse_dynamics_without_digits_are_refused(angle: float) -> None:
    machine = ConstrainedDynamics(parallelogram(0.7))
    q, v, _ = state(machine.model, 0.7, angle)
    a = np.outer(pendulum(angle), v)
    for call in (machine.inverse, machine.inverse.partial_derivatives.time_derivatives):
        with pytest.raises(LimitError) as caught:
            call(q, v, a)
        assert caught.value.expected == 0.1 and caught.value.got > 0.1
    with pytest.raises(LimitError) as caught:
        machine.inverse.batch([q], [v], [a])
    assert caught.value.got > 0.1
