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
from support.machines.looped_machines import four_bar
from support.refusals import refused

from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, ConstrainedDynamics, projected_runge_kutta, statics)
from liedyn_ros.dynamics.linearization import linearize, linearize_independent

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


@pytest.mark.parametrize('name', ('weld', 'planar', 'balls', 'two loops', 'gears', 'floating'))
def test_beside_differences_of_closed_states_in_motion(name):
    dynamics, q, v, tau, _, rng = state(EVERY[name])
    model, n = dynamics.model, dynamics.model.nv
    found = linearize_independent(dynamics, q, v, tau[0])
    known = dynamics.names.mask('by', list(found.by))
    count = len(found.by)
    assert count == dynamics.mobility.degrees_of_freedom
    z, ends = rng.normal(size=2 * count), []
    for step in (STEP, -STEP):
        at, speed = displaced(dynamics, q, v, known, step * found.motions[:n] @ z,
                              v[known] + step * z[count:])
        ends.append((model.difference(q, at), speed, dynamics.forward(at, speed, tau[0]).a))
    eta, dv, da = ((one - other) / (2.0 * STEP) for one, other in zip(*ends))
    assert_same(found.motions @ z, np.concatenate((eta, dv)), 1e-6)
    assert_same((found.model.A @ z)[count:], da[known], 1e-6)


@pytest.mark.parametrize('name', ALL)
def test_the_whole_model_moves_as_the_independent_one(name):
    """At rest, where motions do not change: A T = T A_r and B = T B_r."""
    dynamics, q, *_ = state(ALL[name])
    rest = np.zeros(dynamics.model.nv)
    tau = dynamics.inverse(q, rest, rest, actuated=np.ones(len(rest), dtype=bool)).tau
    whole, found = (make(dynamics, q, rest, tau)
                    for make in (linearize, linearize_independent))
    assert_same(found.motions @ found.model.A, whole.A @ found.motions, 1e-8)
    assert_same(found.motions @ found.model.B, whole.B, 1e-8)


def test_a_regulator_holds_a_linkage_that_falls():
    dynamics = ConstrainedDynamics(four_bar())
    q = assemble(dynamics, held={'left_0_joint': 1.2})
    model, rest = dynamics.model, np.zeros(dynamics.model.nv)
    tau = dynamics.inverse(q, rest, rest).tau
    found = linearize_independent(dynamics, q, rest, tau)
    a, b = found.model.A, found.model.B[:, model.actuated]
    gain = b.T @ solve_continuous_are(a, b, np.diag([100.0, 1.0]), np.eye(1))
    known = dynamics.names.mask('by', list(found.by))
    at, v = displaced(dynamics, q, rest, known, 0.05 * found.motions[:model.nv, 0], [0.0])
    for _ in range(400):
        z = np.concatenate((model.difference(q, at)[known], v[known]))
        control = tau.copy()
        control[model.actuated] -= gain @ z
        at, v = projected_runge_kutta.step(dynamics, at, v, 5e-3, control)
    assert np.abs(model.difference(q, at)).max() < 1e-3 < 0.05
    assert statics(dynamics, q, by=list(found.by)).stiffness < 0.0
    assert np.linalg.eigvals(a).real.max() > 0.0


def test_coordinates_that_do_not_decide_are_refused():
    dynamics, q, v, tau, *_ = state(EVERY['two loops'])
    names = linearize_independent(dynamics, q, v, tau[0]).by
    with refused(ModelError, 'known'):
        linearize_independent(dynamics, q, v, tau[0], by=names[1:])
