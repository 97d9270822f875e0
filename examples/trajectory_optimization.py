# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Find forces that fly the aerial manipulator from one hover to another, given exact gradients.

The goal is 1 m further, a quarter of a turn of yaw, with other angles of the arms. Unknowns are
all forces at all steps. Their cost is the sum of squares of the accelerations that they cause, and
of the error at the end. `ld.motion_gradient` has its gradient, backwards over the steps. scipy's
L-BFGS uses it; where CasADi is installed, IPOPT refines the result through a callback.
"""

import time

import numpy as np
from scipy.optimize import minimize

import liedyn_ros as ld
from liedyn_ros.common.resources import config_file

STEPS, DT = 20, 0.075  # s
MISSED = 1e3  # the weight of the error at the end

dynamics = ld.load(config_file('aerial_manipulator.yaml'), dissipation=False)
model, n = dynamics.model, dynamics.model.nv
start, goal, still = model.neutral(), np.zeros(n), np.zeros(n)
goal[2], goal[3], goal[6:] = np.pi / 2.0, 1.0, 0.4  # as a displacement from the start
goal = model.integrate(start, goal)
hold = dynamics.gravity_vector(start)
mass = dynamics.mass_matrix(start)  # unknowns are accelerations, which it makes forces of


def end_cost(k, q, v):
    """Return the cost of state k, which is that of the error at the end, and its gradients."""
    if k < STEPS:
        return 0.0, still, still
    missing = model.difference(goal, q)
    by_q = model.difference_derivatives(goal, q).by_q1.T @ missing
    return 0.5 * MISSED * (missing @ missing + v @ v), MISSED * by_q, MISSED * v


def cost(unknowns):
    """Return the cost of forces (STEPS n,) and its gradient."""
    pushes = unknowns.reshape(STEPS, n)
    found = ld.motion_gradient(dynamics, start, still, hold + pushes @ mass, DT, end_cost,
                               kept=STEPS)
    slope = DT * pushes + found.by_tau @ mass
    return found.cost + 0.5 * DT * (pushes**2).sum(), slope.ravel()


def flown(unknowns):
    """Return how far from the goal forces end, in all coordinates, and how fast."""
    forces = hold + unknowns.reshape(STEPS, n) @ mass
    end = ld.simulate(dynamics, start, still, forces, DT, STEPS)
    return np.abs(model.difference(goal, end.q[-1])).max(), np.abs(end.v[-1]).max()


def report(name, unknowns, evaluations, begin):
    """Print a result."""
    missing, speed = flown(unknowns)
    print(f'{name}: cost {cost(unknowns)[0]:.4f}, misses the goal by {missing:.1e} at a speed of '
          f'{speed:.1e}; {evaluations} evaluations in {time.perf_counter() - begin:.1f} s')


rng, zero = np.random.default_rng(1), np.zeros(STEPS * n)
direction, h = rng.normal(size=zero.size), 1e-5
slope = cost(zero)[1] @ direction
ahead, back = (cost(s * h * direction)[0] for s in (1.0, -1.0))
print(f'{zero.size} unknowns, gradient off by {abs((ahead - back) / (2.0 * h) / slope - 1.0):.1e} '
      'of a difference')
begin = time.perf_counter()
found = minimize(cost, zero, jac=True, method='L-BFGS-B',
                 options={'maxiter': 100, 'maxcor': 30, 'ftol': 1e-12, 'gtol': 1e-4})
report('scipy', found.x, found.nfev, begin)

try:
    import casadi
except ImportError:
    print('CasADi is not installed')
else:
    class Slope(casadi.Callback):
        """The gradient of the cost, as CasADi asks for it."""

        def __init__(self, name, options):
            """Register the function."""
            casadi.Callback.__init__(self)
            self.construct(name, options)

        def get_n_in(self):
            """Return the number of arguments: unknowns, and the cost that is known already."""
            return 2

        def get_sparsity_in(self, i):
            """Return the shape of an argument."""
            return casadi.Sparsity.dense(1 if i else zero.size, 1)

        def get_sparsity_out(self, _):
            """Return the shape of the gradient."""
            return casadi.Sparsity.dense(1, zero.size)

        def evaluate(self, arguments):
            """Return the gradient."""
            return [cost(np.array(arguments[0]).ravel())[1][None]]

    class Cost(casadi.Callback):
        """The cost, whose Jacobian is Slope."""

        def __init__(self):
            """Register the function."""
            casadi.Callback.__init__(self)
            self.count = 0
            self.construct('cost')

        def get_sparsity_in(self, _):
            """Return the shape of the unknowns."""
            return casadi.Sparsity.dense(zero.size, 1)

        def evaluate(self, arguments):
            """Return the cost."""
            self.count += 1
            try:
                return [cost(np.array(arguments[0]).ravel())[0]]
            except ld.LiedynError:  # the motion diverges: IPOPT takes a shorter step
                return [np.inf]

        def has_jacobian(self):
            """Say that there is a Jacobian."""
            return True

        def get_jacobian(self, name, _names_in, _names_out, options):
            """Return the gradient as a function."""
            self.slope = Slope(name, options)
            return self.slope

    # CasADi calls them eval.
    Slope.eval, Cost.eval = Slope.evaluate, Cost.evaluate
    function, unknowns = Cost(), casadi.MX.sym('x', zero.size)
    quiet = {'print_time': False, 'ipopt.print_level': 0, 'ipopt.sb': 'yes',
             'ipopt.hessian_approximation': 'limited-memory', 'ipopt.max_iter': 5,
             'ipopt.limited_memory_max_history': 30, 'ipopt.tol': 1e-4}
    begin = time.perf_counter()
    solver = casadi.nlpsol('solver', 'ipopt', {'x': unknowns, 'f': function(unknowns)}, quiet)
    answer = np.array(solver(x0=found.x)['x']).ravel()
    report('IPOPT', answer, function.count, begin)
