# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Linear models in independent coordinates, beside differences of closed states and the whole."""

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are
from support.comparison import assert_same
from support.machines.loop_states import ALL, EVERY, state
from support.machines.looped_machines import five_bar, four_bar
from support.refusals import refused

from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, ConstrainedDynamics, MinimalCoordinates, statics)
from liedyn_ros.dynamics.constrained.constraints.rank import independent_coordinates
from liedyn_ros.dynamics.constrained.minimal_motions import directions, spread
from liedyn_ros.dynamics.linearization import (
    linearize, linearize_step, motion_gradient, simulate, transition)

STEP = 1e-5


def displaced(dynamics, q, v, known, eta, rates):
    """Return the closed state whose known coordinates are displaced by eta and turn at rates."""
    model = dynamics.model
    at, passive = model.integrate(q, eta), np.flatnonzero(~known)
    for _ in range(8):
        change, rows = np.zeros(model.nv), dynamics.jacobian(at)[:, passive]
        change[passive] = -np.linalg.lstsq(rows, dynamics.residual(at), rcond=1e-9)[0]
        at = model.integrate(at, change)
    given = np.zeros(model.nv)
    given[known] = rates
    return at, complete_velocity(dynamics, at, given, known)


def independent(dynamics, q):
    """Return minimal coordinates that decide the motion at q, actuated ones first."""
    names = np.array(dynamics.model.coordinate_names)
    return MinimalCoordinates(dynamics, names[independent_coordinates(
        dynamics, q, dynamics.model.actuated)].tolist())


@pytest.mark.parametrize('name', ('weld', 'planar', 'balls', 'two loops', 'gears', 'floating'))
def test_beside_differences_of_closed_states_in_motion(name):
    dynamics, q, v, tau, _, rng = state(EVERY[name])
    model, n, least = dynamics.model, dynamics.model.nv, independent(dynamics, q)
    known, count = least.known, least.model.nv
    rates, forces, motions = v[known], tau[0][known], directions(least, q, v[known])
    at = linearize(least, q, rates, forces)
    assert count == dynamics.mobility.degrees_of_freedom
    z, ends = rng.normal(size=2 * count), []
    for step in (STEP, -STEP):
        there, speed = displaced(dynamics, q, v, known, step * motions[:n] @ z,
                                 rates + step * z[count:])
        ends.append((model.difference(q, there), speed,
                     dynamics.forward(there, speed, spread(least, forces)).a))
    eta, dv, da = ((one - other) / (2.0 * STEP) for one, other in zip(*ends))
    assert_same(motions @ z, np.concatenate((eta, dv)), 1e-6)
    assert_same((at.A @ z)[count:], da[known], 1e-6)
    own = least.forward.partial_derivatives(q, rates, forces)
    assert_same(np.hstack((own.by_q, own.by_v)), at.A[count:], 1e-9)
    back = least.inverse.partial_derivatives(q, rates, own.a)  # the same equations
    assert_same(-own.by_tau @ back.by_q, own.by_q, 1e-7)
    assert_same(-own.by_tau @ back.by_gravity, own.by_gravity, 1e-7)


@pytest.mark.parametrize('name', ALL)
def test_the_whole_model_moves_as_the_independent_one(name):
    """At rest, where motions do not change: A T = T A_r and B = T B_r N^T."""
    dynamics, q, *_ = state(ALL[name])
    least, rest = independent(dynamics, q), np.zeros(dynamics.model.nv)
    still, known = rest[least.known], least.known
    tau = dynamics.inverse(q, rest, rest, actuated=known).tau
    whole, found = linearize(dynamics, q, rest, tau), linearize(least, q, still, tau[known])
    motions = directions(least, q, still)
    assert_same(motions @ found.A, whole.A @ motions, 1e-8)
    assert_same(motions @ found.B @ least.motions(q).T, whole.B, 1e-8)


@pytest.mark.parametrize('make', [linearize_step, transition])
def test_a_step_is_that_of_the_whole_machine(make):
    dynamics = ConstrainedDynamics(five_bar())
    least, q, h = MinimalCoordinates(dynamics), assemble(dynamics), 1e-5
    v, tau = np.array([0.3, -0.4]), np.array([1.0, 0.5])
    q1, v1, found = make(least, q, v, 0.01, tau)
    for k, unit in enumerate(np.eye(2)):
        ends = [make(least, least.model.integrate(q, s * unit), v, 0.01, tau)[:2]
                for s in (h, -h)]
        assert_same(found.A[:2, k], sum(
            s * least.model.difference(q1, end[0]) for s, end in zip((1.0, -1.0), ends)) / (
                2.0 * h), 1e-5)
        assert_same(found.A[2:, k], (ends[0][1] - ends[1][1]) / (2.0 * h), 1e-5, floor=1.0)
        moved = make(least, q, v, 0.01, tau + h * unit)[1] - make(
            least, q, v, 0.01, tau - h * unit)[1]
        assert_same(found.B[2:, k], moved / (2.0 * h), 1e-5)
    taken = simulate(least, q, v, tau, 0.01, 1)
    assert_same(taken.v[1], v1, 1e-6)
    held = simulate(least, q, v, lambda t, at, rates: tau, 0.01, 1)
    assert np.array_equal(held.v, taken.v)


def test_the_gradient_of_a_motion_is_its_difference():
    dynamics = ConstrainedDynamics(five_bar())
    least, q, h = MinimalCoordinates(dynamics), assemble(dynamics), 1e-5
    v, tau = np.array([0.3, -0.4]), np.tile([1.0, 0.5], (4, 1))
    goal = least.model.integrate(q, [0.2, 0.1])

    def cost(k, at, rates):
        off = least.model.difference(goal, at)
        return 0.5 * off @ off + 0.05 * rates @ rates, off, 0.1 * rates

    def total(v, tau):
        made = simulate(least, q, v, tau, 0.01, 4)
        return sum(cost(k, made.q[k], made.v[k])[0] for k in range(5))

    found = motion_gradient(least, q, v, tau, 0.01, cost)
    assert_same(found.cost, total(v, tau), 1e-12)
    push, turn = np.zeros((4, 2)), np.array([0.0, h])
    push[1, 0] = h
    assert_same(found.by_tau[1, 0], (total(v, tau + push) - total(v, tau - push)) / (2 * h), 1e-5)
    assert_same(found.by_v[1], (total(v + turn, tau) - total(v - turn, tau)) / (2 * h), 1e-6)


def test_a_regulator_holds_a_linkage_that_falls():
    dynamics = ConstrainedDynamics(four_bar())
    q = assemble(dynamics, held={'left_0_joint': 1.2})
    least, still = MinimalCoordinates(dynamics), np.zeros(1)
    held = least.inverse(q, still, still)
    a, b = linearize(least, q, still, held)
    gain = b.T @ solve_continuous_are(a, b, np.diag([100.0, 1.0]), np.eye(1))

    def control(t, at, v):
        return held - gain @ np.concatenate((least.model.difference(q, at), v))

    made = simulate(least, least.model.integrate(q, [0.05]), still, control, 5e-3, 400)
    assert np.abs(dynamics.model.difference(q, made.q[-1])).max() < 1e-3 < 0.05
    assert statics(dynamics, q, by=list(least.by)).stiffness < 0.0
    assert np.linalg.eigvals(a).real.max() > 0.0


def test_coordinates_that_do_not_decide_are_refused():
    dynamics, q, v, tau, *_ = state(EVERY['two loops'])
    least = MinimalCoordinates(dynamics, independent(dynamics, q).by[1:])
    with refused(ModelError, 'known'):
        linearize(least, q, v[least.known], tau[0][least.known])
