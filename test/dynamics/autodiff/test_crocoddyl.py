# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Optimal motions by crocoddyl, with our derivatives and with Pinocchio's: the same optimum."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import five_bar
from support.machines.random_models import random_model

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.model import ModelBuilder, SpatialInertia, to_urdf

crocoddyl = pytest.importorskip('crocoddyl')
models = pytest.importorskip('liedyn_ros.dynamics.autodiff.crocoddyl_models')


def cart():
    """Return a cart with a pole that hangs."""
    builder = ModelBuilder('cart')
    builder.add_body('cart', SpatialInertia(1.0, [0.0, 0.0, 0.0], 0.01 * np.eye(3)))
    builder.add_body('pole', SpatialInertia(0.1, [0.0, 0.0, -0.5], np.diag([2e-3, 2e-3, 1e-4])))
    builder.add_joint('slide', 'prismatic', None, 'cart', axis=[1.0, 0.0, 0.0])
    builder.add_joint('hinge', 'revolute', 'cart', 'pole', axis=[0.0, 1.0, 0.0])
    return Dynamics(builder.build())


def solved(state, action, goal, steps, dt, start):
    """Return the solver of a motion towards a goal; action makes a model of costs."""
    nodes = []
    for at_end in (False, True):
        costs = crocoddyl.CostModelSum(state, 1)

        def add(name, residual, weight):
            costs.addCost(name, crocoddyl.CostModelResidual(state, residual), weight)

        if not at_end:
            add('u', crocoddyl.ResidualModelControl(state, 1), 1e-2)
        add('x', crocoddyl.ResidualModelState(state, goal, 1), 1e2 if at_end else 1e-2)
        nodes.append(crocoddyl.IntegratedActionModelEuler(action(costs), 0.0 if at_end else dt))
    problem = crocoddyl.ShootingProblem(start, nodes[:1] * steps, nodes[1])
    solver = crocoddyl.SolverFDDP(problem)
    solver.th_stop = 1e-9
    still = [np.zeros(1)] * steps
    assert solver.solve(problem.rollout(still), still, 500, True)
    return solver


def test_a_swing_up_is_that_of_pinocchios_derivatives(tmp_path):
    pinocchio = pytest.importorskip('pinocchio')
    robot, goal = cart(), np.array([0.0, np.pi, 0.0, 0.0])
    (tmp_path / 'cart.urdf').write_text(to_urdf(robot.model))
    other = pinocchio.buildModelFromUrdf(str(tmp_path / 'cart.urdf'))
    data = other.createData()

    class Peer(models.RobotActionModel):
        """The same model by Pinocchio."""

        def calc(self, data_of, x, u=None):
            if u is not None:
                data_of.xout = pinocchio.aba(other, data, *self._given(x, u))
            self.costs.calc(data_of.costs, x, *(() if u is None else (u,)))
            data_of.cost = data_of.costs.cost

        def calcDiff(self, data_of, x, u=None):
            if u is not None:
                by_q, by_v, by_tau = pinocchio.computeABADerivatives(
                    other, data, *self._given(x, u))
                data_of.Fx, data_of.Fu = np.hstack((by_q, by_v)), by_tau[:, :1]
            self.costs.calcDiff(data_of.costs, x, *(() if u is None else (u,)))

    state = models.state_of(robot.model)
    ours, theirs = (solved(
        state, lambda costs, kind=kind: kind(robot, costs, ['slide']), goal, 60, 0.05,
        np.zeros(4)) for kind in (models.RobotActionModel, Peer))
    assert ours.iter == theirs.iter
    assert_same(np.array(ours.us), np.array(theirs.us), 1e-9)
    assert_same(np.array(ours.xs)[-1], goal, 1e-3, floor=1.0)


@pytest.mark.parametrize('loops', [False, True])
def test_derivatives_are_differences(loops):
    robot = (ConstrainedDynamics(five_bar()) if loops
             else Dynamics(random_model(4, 4, True), dissipation=False))
    state, rng = models.state_of(robot.model), np.random.default_rng(4)
    nq, nv = robot.model.nq, robot.model.nv
    x = state.rand()
    if loops:
        x[:nq], x[nq:] = assemble(robot), 0.0
    costs = crocoddyl.CostModelSum(state, nv)
    costs.addCost('x', crocoddyl.CostModelResidual(state, models.StateError(
        state, state.zero(), nv)), 1.0)
    costs.addCost('p', crocoddyl.CostModelResidual(state, models.FramePosition(
        robot, state, robot.model.bodies[-1], [0.1, 0.2, 0.3], nv)), 1.0)
    step = crocoddyl.IntegratedActionModelEuler(
        models.RobotActionModel(robot, costs, np.ones(nv, dtype=bool)), 0.01)
    data, u, h = step.createData(), rng.normal(size=nv), 1e-6
    step.calc(data, x, u)
    step.calcDiff(data, x, u)
    by_x, by_u, slope = data.Fx.copy(), data.Fu.copy(), data.Lx.copy()
    dx, du = rng.normal(size=2 * nv), rng.normal(size=nv)
    if loops:  # along the constraints
        free = np.linalg.svd(robot.jacobian(x[:nq]))[2][-2:]
        dx[:nv], dx[nv:] = free.T @ dx[:2], free.T @ dx[2:4]
    ends = []
    for s in (h, -h):
        step.calc(data, state.integrate(x, s * dx), u + s * du)
        ends.append((data.xnext.copy(), data.cost))
    change = state.diff(ends[1][0], ends[0][0]) / (2.0 * h)
    assert_same(by_x @ dx + by_u @ du, change, 1e-5, floor=1.0)
    assert slope @ dx == pytest.approx((ends[0][1] - ends[1][1]) / (2.0 * h), rel=1e-4, abs=1e-4)
