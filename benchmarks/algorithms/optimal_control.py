# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A pole swung up by its cart and a UR5 that reaches a point, by our derivatives and Pinocchio's.

`python -m benchmarks.algorithms.optimal_control PREFIX`, where libliedyn is installed, with
crocoddyl, casadi, pin and example-robot-data in the environment. FDDP of crocoddyl has the same
models in Python for both; IPOPT has our functions in C, and Pinocchio's through a callback.
"""

import argparse
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
import subprocess
import tempfile
import time

import casadi
import crocoddyl
import numpy as np
import pinocchio

from liedyn_ros.common.markup import print_table
from liedyn_ros.dynamics.autodiff import crocoddyl_models as models
from liedyn_ros.export import casadi_source
from liedyn_ros.model import load_model, ModelBuilder, SpatialInertia, to_urdf
from liedyn_ros.robot import load

UR5 = 'cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf'
POINT = [0.4, 0.3, 0.5]  # m
START = np.array([0.0, -1.2, 1.0, 0.2, 0.5, 0.0])  # rad


def cart() -> str:
    """Return the URDF of a cart whose pole hangs."""
    builder = ModelBuilder('cart')
    builder.add_body('cart', SpatialInertia(1.0, [0.0, 0.0, 0.0], 0.01 * np.eye(3)))
    builder.add_body('pole', SpatialInertia(0.1, [0.0, 0.0, -0.5], np.diag([2e-3, 2e-3, 1e-4])))
    builder.add_joint('slide', 'prismatic', None, 'cart', axis=[1.0, 0.0, 0.0])
    builder.add_joint('hinge', 'revolute', 'cart', 'pole', axis=[0.0, 1.0, 0.0])
    return to_urdf(builder.build())


class Peer:
    """Pinocchio's forward dynamics and position of a frame, with their derivatives."""

    def __init__(self, urdf, frame):
        """Read a robot."""
        self.model = pinocchio.buildModelFromUrdf(str(urdf))
        self.data, self.frame = self.model.createData(), self.model.getFrameId(frame)

    def forward(self, q, v, tau):
        """Return accelerations."""
        return pinocchio.aba(self.model, self.data, q, v, tau).copy()

    def by_forward(self, q, v, tau):
        """Return their Jacobians."""
        return [np.array(each) for each in pinocchio.computeABADerivatives(
            self.model, self.data, q, v, tau)]

    def position(self, q):
        """Return the position of the frame."""
        pinocchio.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.frame].translation.copy()

    def by_position(self, q):
        """Return its Jacobian."""
        return [pinocchio.computeFrameJacobian(
            self.model, self.data, q, self.frame, pinocchio.LOCAL_WORLD_ALIGNED)[:3]]


class PeerAction(models.RobotActionModel):
    """The action of a robot by Pinocchio."""

    def calc(self, data, x, u=None):
        """Write accelerations and cost."""
        if u is not None:
            data.xout = self.peer.forward(*self._given(x, u))
        self.costs.calc(data.costs, x, *(() if u is None else (u,)))
        data.cost = data.costs.cost

    def calcDiff(self, data, x, u=None):
        """Write their derivatives."""
        if u is not None:
            by_q, by_v, by_tau = self.peer.by_forward(*self._given(x, u))
            data.Fx, data.Fu = np.hstack((by_q, by_v)), by_tau[:, self._at]
        self.costs.calcDiff(data.costs, x, *(() if u is None else (u,)))


class PeerPosition(models.FramePosition):
    """The position of a frame by Pinocchio."""

    def calc(self, data, x, _=None):
        """Write the residual."""
        data.r = self.peer.position(x[:len(x) // 2]) - self.point

    def calcDiff(self, data, x, _=None):
        """Write its derivative."""
        rows = self.peer.by_position(x[:len(x) // 2])[0]
        data.Rx = np.hstack((rows, np.zeros_like(rows)))


def by_crocoddyl(robot, peer, driven, goal, start, steps, dt, frame):
    """Return cost, controls, iterations and time of FDDP; peer None takes our derivatives."""
    state, nu = models.state_of(robot.model), len(driven)
    nodes = []
    for at_end in (False, True):
        costs = crocoddyl.CostModelSum(state, nu)
        weight = (1.0 if frame else 1e2) if at_end else 1e-2
        terms = {'x': (crocoddyl.ResidualModelState(state, goal, nu), weight)}
        if not at_end:
            terms['u'] = crocoddyl.ResidualModelControl(state, nu), 1e-3 if frame else 1e-2
        elif frame:
            kind = models.FramePosition if peer is None else PeerPosition
            terms['p'] = kind(robot, state, frame, POINT, nu), 1e4
            terms['p'][0].peer = peer
        for name, (residual, size) in terms.items():
            costs.addCost(name, crocoddyl.CostModelResidual(state, residual), size)
        action = (models.RobotActionModel if peer is None else PeerAction)(robot, costs, driven)
        action.peer = peer
        nodes.append(crocoddyl.IntegratedActionModelEuler(action, 0.0 if at_end else dt))
    problem = crocoddyl.ShootingProblem(start, nodes[:1] * steps, nodes[1])
    solver, nv = crocoddyl.SolverFDDP(problem), robot.model.nv
    solver.th_stop = 1e-9
    held = robot.gravity_vector(start[:nv]) if frame else np.zeros(nu)
    states = problem.rollout([held] * steps)
    begin = time.perf_counter()
    solver.solve(states, [held] * steps, 500, True)
    return solver.cost, np.array(solver.us), solver.iter, time.perf_counter() - begin


class _Rows(casadi.Callback):

    def __init__(self, name, count, rows, nv, value, options):
        casadi.Callback.__init__(self)
        self.of = count, rows, nv, value
        self.construct(name, options)

    def get_n_in(self):
        return self.of[0] + 1

    def get_n_out(self):
        return self.of[0]

    def get_sparsity_in(self, i):
        return (casadi.Sparsity(self.of[1], 1) if i == self.of[0]
                else casadi.Sparsity.dense(self.of[2], 1))

    def get_sparsity_out(self, _):
        return casadi.Sparsity.dense(self.of[1], self.of[2])

    def evaluate(self, given):
        return [casadi.DM(each) for each in self.of[3](
            *(np.array(each).ravel() for each in given[:self.of[0]]))]


class _Value(_Rows):

    def __init__(self, name, count, rows, nv, value, jacobian):
        self.jacobian = jacobian
        super().__init__(name, count, rows, nv, value, {})

    def get_n_in(self):
        return self.of[0]

    def get_n_out(self):
        return 1

    def get_sparsity_out(self, _):
        return casadi.Sparsity.dense(self.of[1], 1)

    def evaluate(self, given):
        return [casadi.DM(self.of[3](*(np.array(each).ravel() for each in given)))]

    def has_jacobian(self):
        return True

    def get_jacobian(self, name, _in, _out, options):
        self.kept = _Rows(name, *self.of[:3], self.jacobian, options)
        return self.kept


_Rows.eval, _Value.eval = _Rows.evaluate, _Value.evaluate  # as CasADi calls them


def by_ipopt(forward, position, driven, start, steps, dt):
    """Return cost, all unknowns, iterations and time of IPOPT."""
    nv, nu = len(start) // 2, len(driven)
    q, v, u = (casadi.MX.sym(name, *shape) for name, shape in (
        ('q', (nv, steps + 1)), ('v', (nv, steps + 1)), ('u', (nu, steps))))
    spread = np.eye(nv)[:, driven]
    gaps, cost = [q[:, 0] - start[:nv], v[:, 0] - start[nv:], v[:, -1]], 0.0
    for k in range(steps):
        after = v[:, k] + dt * forward(q[:, k], v[:, k], casadi.mtimes(spread, u[:, k]))
        gaps += [v[:, k + 1] - after, q[:, k + 1] - q[:, k] - dt * v[:, k + 1]]
        cost += 1e-2 * dt * (casadi.sumsqr(u[:, k]) + casadi.sumsqr(v[:, k]))
    end = q[:, -1] - casadi.DM([0.0, np.pi]) if position is None else position(
        q[:, -1]) - casadi.DM(POINT)
    unknowns = casadi.vertcat(*map(casadi.vec, (q, v, u)))
    solver = casadi.nlpsol('solver', 'ipopt', {
        'x': unknowns, 'f': cost, 'g': casadi.vertcat(*gaps, end)}, {
            'ipopt.hessian_approximation': 'limited-memory', 'ipopt.print_level': 0,
            'ipopt.sb': 'yes', 'print_time': False, 'ipopt.max_iter': 600, 'ipopt.tol': 1e-7})
    guess = np.zeros(unknowns.shape[0])
    way = (np.linspace(0.0, 1.0, steps + 1)[:, None] * [0.0, np.pi] if position is None
           else np.tile(start[:nv], (steps + 1, 1)))
    guess[:way.size] = way.ravel()
    begin = time.perf_counter()
    found = solver(x0=guess, lbg=0.0, ubg=0.0)
    used = time.perf_counter() - begin
    return float(found['f']), np.array(found['x']).ravel(), solver.stats()['iter_count'], used


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve both problems by both solvers, with both derivatives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('prefix', type=Path, help='where libliedyn is installed')
    prefix, rows = parser.parse_args(arguments).prefix, []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / 'cart.urdf').write_text(cart())
        ur5 = Path(str(metadata.distribution('example-robot-data').locate_file(UR5)))
        for name, urdf, frame, driven, start, size in (
                ('cart and pole', folder / 'cart.urdf', '', [0], np.zeros(4), (60, 0.05)),
                ('UR5', ur5, 'tool0', list(range(6)), np.r_[START, np.zeros(6)], (60, 0.02))):
            robot, peer = load(urdf), Peer(urdf, frame or 'pole')
            nv, joints = robot.model.nv, np.array(robot.model.coordinate_names)[driven].tolist()
            goal = np.zeros(2 * nv) if frame else np.array([0.0, np.pi, 0.0, 0.0])
            both = [by_crocoddyl(robot, each, joints, goal, start, *size, frame)
                    for each in (None, peer)]
            rows.append((name, 'FDDP', *both))
            source, library = folder / f'{nv}.c', folder / f'{nv}.so'
            source.write_text(casadi_source(
                load_model(urdf), 'robot', frames=[frame] if frame else []))
            subprocess.run(['gcc', '-O2', '-shared', '-fPIC', source, f'-I{prefix}/include',
                            prefix / 'lib' / 'libliedyn.a', '-lm', '-o', library], check=True)
            functions = [(casadi.external('robot_forward', str(library)), casadi.external(
                f'robot_{frame}_position', str(library)) if frame else None), (
                _Value('forward', 3, nv, nv, peer.forward, peer.by_forward),
                _Value('position', 1, 3, nv, peer.position, peer.by_position) if frame else None)]
            rows.append((name, 'IPOPT', *(by_ipopt(
                *each, driven, start, size[0] // 2, 2.0 * size[1]) for each in functions)))
    print_table(['problem', 'solver', 'iterations', "with Pinocchio's", 'cost', 'costs differ by',
                 'unknowns differ by', 'time, s', "with Pinocchio's, s"], [
        [name, solver, str(one[2]), str(other[2]), f'{one[0]:.6g}',
         f'{abs(one[0] - other[0]):.1g}', f'{np.abs(one[1] - other[1]).max():.1g}',
         f'{one[3]:.3f}', f'{other[3]:.3f}'] for name, solver, one, other in rows])


if __name__ == '__main__':
    main()
