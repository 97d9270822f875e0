
# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives beside Pinocchio's and CasADi's, and products of them beside the dynamics.

For each machine: the Jacobians of inverse and forward dynamics, bare kernel and peer (us), their
ratio and its upper bound. Then the checked call that writes an earlier result again, as Pinocchio
writes its data, the one that returns new arrays, and CasADi's function. Then products with a
vector from either side as multiples of one call of the dynamics, kernel beside kernel and checked
call beside checked call.

All calls of machines with closed loops are checked. The Jacobians of forward dynamics are compared
with Pinocchio's constraintDynamics and its derivatives, those of inverse dynamics with the
dynamics. Jacobians to order 3 are compared with order 0. Peers take turns in the same run, and
must agree first.
"""

from functools import partial
from importlib.util import find_spec
import statistics
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.algorithms.constrained import (
    agree as agree_of_loops, Machine, Peer as LoopPeer, stewart, two_legs)
from benchmarks.algorithms.dynamics import agree, Peer
from benchmarks.record import keep, verdict
from benchmarks.robots import Robot, robots
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.algorithms.kernels.aba import forward
from liedyn_ros.dynamics.algorithms.kernels.rnea import rnea
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.partial_derivatives.kernels import parameter_products
from liedyn_ros.dynamics.partial_derivatives.kernels.forward_products import (
    forward_product, forward_product_transposed)
from liedyn_ros.dynamics.partial_derivatives.kernels.hybrid import forward_jacobians
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import inverse_jacobians
from liedyn_ros.dynamics.partial_derivatives.kernels.products import (
    inverse_product, inverse_product_transposed)
from liedyn_ros.dynamics.partial_derivatives.many_states import ScratchBuffers
from liedyn_ros.dynamics.partial_derivatives.parameter_products import scratch_of
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.model import Model
from liedyn_ros.stewart import load_geometry

TARGETS = {'B': 0.6}  # of Pinocchio's time, at most; of the others OTHERS
OTHERS = 0.8
PRODUCT_TARGET = 3.0  # times the dynamics itself, at most
ORDER = 3  # of Jacobians of machines with closed loops
Row = dict[str, Any]


class State:
    """A machine in motion, and the calls that are timed on it."""

    def __init__(self, robot: Robot) -> None:
        """Draw a random state."""
        rng, self.model = np.random.default_rng(0), robot.model
        n = self.model.nv
        self.dynamics, self.peer = Dynamics(self.model, dissipation=False), Peer(robot)
        self.q, (self.v, self.a) = self.model.random(rng), rng.normal(size=(2, n))
        self.tau = self.dynamics.inverse(self.q, self.v, self.a)
        self.x, self.out = rng.normal(size=(3, n)), np.empty((4, n))
        self.matrices, self.gravity = np.empty((3, n, n)), np.empty((n, 3))
        self.tables, self.none = ScratchBuffers(self.dynamics.constants), np.empty((0, 6))
        self.theirs = self.peer.model, self.peer.data

    def jacobians(self) -> dict[str, list[Call]]:
        """Return kernel, peer, checked calls, and CasADi where it is, of both algorithms."""
        inverse, forward = (algorithm.partial_derivatives for algorithm in (
            self.dynamics.inverse, self.dynamics.forward))
        result = self.kernels()
        for name, call, given in (('inverse', inverse, self.a), ('forward', forward, self.tau)):
            state = self.q, self.v, given
            result[name] += [Call(call, (*state, None, call(*state))), Call(call, state)]
            if find_spec('casadi') is not None and self.revolute():
                result[name].append(self.casadi(name, given))
        return result

    def revolute(self) -> bool:
        """Return whether CasADi's model knows all joints."""
        return [joint.type_name for joint in self.model.joint_list if joint.type_name not in (
            'fixed', 'revolute', 'continuous')] == ['free']

    def casadi(self, name: str, given: Array) -> Call:
        """Return CasADi's Jacobians, which agree with ours."""
        from benchmarks.algorithms import casadi_expressions
        n, function = self.model.nv, getattr(casadi_expressions, f'{name}_jacobians')(self.model)
        out, columns = np.empty((3 * n, n)), np.array([self.v, given])
        function(self.q, columns, out)
        ours = getattr(self.dynamics, name).partial_derivatives(self.q, self.v, given)
        ours = ours[1:4] if name == 'forward' else ours[:3]
        agree(np.hstack(ours), out.T)
        return Call(function, (self.q, columns, out))

    def kernels(self) -> dict[str, list[Call]]:
        """Return kernel and peer of both algorithms."""
        d, t, state = self.dynamics, self.tables, (self.q, self.v)
        q, v, a, tau = self.peer.configuration(self.q), *(
            self.peer.velocity(x) for x in (self.v, self.a, self.tau))
        matrices = *self.matrices, self.gravity
        return {
            'inverse': [
                Call(inverse_jacobians, (d.constants.table, t.links, t.columns, *state, self.a,
                                         self.none, *matrices)),
                Call(pin.computeRNEADerivatives, (*self.theirs, q, v, a))],
            'forward': [
                Call(forward_jacobians, (d.constants.table, t.data, t.links, t.columns,
                                         t.before, t.factors, t.sides, *state, self.tau, self.none,
                                         self.out[0], *matrices)),
                Call(pin.computeABADerivatives, (*self.theirs, q, v, tau))]}

    def check(self) -> None:
        """Stop unless Pinocchio has the same Jacobians."""
        for _, theirs, ours, *_ in self.jacobians().values():
            got, wanted = ours.function(*ours.arguments), theirs.function(*theirs.arguments)
            for mine, other in zip((got.by_q, got.by_v), wanted):
                agree(other, self.peer.velocity(self.peer.velocity(mine.T).T))

    def products(self) -> dict[str, tuple[Call, Call, Call, Call]]:
        """Return each product and the dynamics that it belongs to, kernels and checked calls."""
        d, t, x, out = self.dynamics, self.tables, self.x, self.out
        moving, pushed = (self.q, self.v, self.a), (self.q, self.v, self.tau)
        tables = d.constants.table, t.data
        inverse = Call(rnea, (*tables, *moving, self.none, out[0])), Call(d.inverse, moving)
        ahead = Call(forward, (*tables, *pushed, self.none, out[0])), Call(d.forward, pushed)
        back, state = d.inverse.partial_derivatives, (*tables, t.products, *moving, self.none)
        on, there = d.forward.partial_derivatives, (*tables, t.products, *pushed, self.none)
        return {
            'inverse, J x': (Call(inverse_product, (*state, *x, out[0])), inverse[0],
                             Call(back.product, (*moving, *x)), inverse[1]),
            'inverse, J^T y': (Call(inverse_product_transposed, (*state, x[0], *out[:3])),
                               inverse[0], Call(back.gradient, (*moving, x[0])), inverse[1]),
            'forward, J x': (Call(forward_product, (*there, *x, *out[:2])), ahead[0],
                             Call(on.product, (*pushed, *x)), ahead[1]),
            'forward, J^T y': (Call(forward_product_transposed, (*there, x[0], *out)), ahead[0],
                               Call(on.gradient, (*pushed, x[0])), ahead[1])}

    def products_by_parameters(self) -> dict[str, tuple[Call, Call, Call, Call]]:
        """Return each product by everything as well, and the dynamics that it belongs to."""
        d, x, out = self.dynamics, self.x, np.empty((4, self.model.nv))
        moving, pushed = (self.q, self.v, self.a), (self.q, self.v, self.tau)
        change, result = every_parameter(self.model), self.products()
        vector, tables = change.vector, (d.constants.table, scratch_of(d.constants))
        kernels = {
            'inverse, J x': Call(parameter_products.inverse_parameter_product, (
                *tables, *moving, self.none, *x, vector, out[0])),
            'inverse, J^T y': Call(parameter_products.inverse_parameter_product_transposed, (
                *tables, *moving, self.none, x[0], out[:3], vector)),
            'forward, J x': Call(parameter_products.forward_parameter_product, (
                *tables, *pushed, self.none, *x, vector, out[:2])),
            'forward, J^T y': Call(parameter_products.forward_parameter_product_transposed, (
                *tables, *pushed, self.none, x[0], out, vector))}
        inverse, forward = d.inverse.partial_derivatives, d.forward.partial_derivatives
        calls = {
            'inverse, J x': Call(partial(inverse.product, parameters=change), (*moving, *x)),
            'inverse, J^T y': Call(partial(inverse.gradient, parameters=change), (*moving, x[0])),
            'forward, J x': Call(partial(forward.product, parameters=change), (*pushed, *x)),
            'forward, J^T y': Call(
                partial(forward.gradient, parameters=change), (*pushed, x[0]))}
        return {what: (kernels[what], plain, calls[what], checked)
                for what, (_, plain, _, checked) in result.items()}


def every_parameter(model: Model) -> Parameters:
    """Return a random change of every parameter."""
    size = len(Parameters(model).vector)
    return Parameters(model, np.random.default_rng(0).normal(size=size))


def measure(name: str, robot: Robot) -> list[Row]:
    """Return the rows of one machine."""
    state, rows = State(robot), []
    state.check()
    for what, calls in state.jacobians().items():
        kernel, peer, again, new, *casadi = interleaved(calls)
        rows.append({
            'machine': name, 'what': f'{what}, Jacobians', 'kernel': _us(kernel),
            'beside': _us(peer), 'ratio': median_ratio(kernel, peer),
            'target': TARGETS.get(name[0], OTHERS), 'call': _us(again),
            'call_ratio': median_ratio(again, peer), 'new_ratio': median_ratio(new, peer),
            'casadi': _us(casadi[0]) if casadi else None,
            'casadi_ratio': median_ratio(casadi[0], peer) if casadi else None})
    for what, products in state.products().items():
        rows.append(_product(name, what, *interleaved(list(products))))
    for what, products in state.products_by_parameters().items():
        rows.append(_product(name, f'{what}, all', *interleaved(list(products))))
    return rows


def measure_loop_jacobians(name: str, machine: Machine) -> list[Row]:
    """Return the rows of Jacobians of a machine with closed loops."""
    dynamics, (model, q, v, tau) = ConstrainedDynamics(machine.model, dissipation=False), machine
    taus = np.vstack([tau, np.random.default_rng(0).normal(size=(ORDER, model.nv))])
    a, every = dynamics.forward(q, v, taus).a, {'actuated': np.ones(model.nv, dtype=bool)}
    inverse, peer = dynamics.inverse.partial_derivatives, LoopPeer(machine)
    theirs, place = peer.derivatives(), np.argsort(peer.order)
    ours = Call(dynamics.forward.partial_derivatives, (q, v, tau))
    theirs.function(*theirs.arguments)
    agree_of_loops(ours.function(*ours.arguments).by_tau, peer.data.ddq_dtau[place][:, place])
    ahead = interleaved([ours, theirs])  # apart from BLAS, whose threads wait for more work
    ahead += interleaved([ours, Call(
        dynamics.forward.partial_derivatives.time_derivatives, (q, v, taus))])[1:]
    back = interleaved([
        Call(partial(inverse, **every), (q, v, a[0])),
        Call(partial(dynamics.inverse, **every), (q, v, a[0])),
        Call(partial(inverse.time_derivatives, **every), (q, v, a))])
    return [_beside(name, f'{what}, Jacobians{to}', call, beside, target)
            for what, times, most in (('forward', ahead, OTHERS), ('inverse', back, None))
            for to, call, beside, target in (('', times[0], times[1], most),
                                             (f' to {ORDER}', times[2], times[0], None))]


def measure_loop_products(name: str, machine: Machine) -> list[Row]:
    """Return the rows of products of a machine with closed loops."""
    dynamics, (model, q, v, tau) = ConstrainedDynamics(machine.model, dissipation=False), machine
    dx, dy, dz = np.random.default_rng(0).normal(size=(3, model.nv))
    a, rows, change = dynamics.forward(q, v, tau).a, [], every_parameter(model)
    every = {'actuated': np.ones(model.nv, dtype=bool)}
    ahead, back = dynamics.forward.partial_derivatives, dynamics.inverse.partial_derivatives
    for what, call, derivative, given in (
            ('forward, J x', dynamics.forward, ahead.product, tau),
            ('forward, J^T y', dynamics.forward, ahead.gradient, tau),
            ('inverse, J x', partial(dynamics.inverse, **every),
             partial(back.product, **every), a),
            ('inverse, J^T y', partial(dynamics.inverse, **every),
             partial(back.gradient, **every), a)):
        arguments = (q, v, given, *((dx, dy, dz) if what.endswith('x') else (dx,)))
        taken, every_one, beside = interleaved([Call(derivative, arguments), Call(partial(
            derivative, parameters=change), arguments), Call(call, (q, v, given))])
        rows += [_beside(name, what, taken, beside, PRODUCT_TARGET),
                 _beside(name, f'{what}, all', every_one, beside, PRODUCT_TARGET)]
    return rows


def _beside(name: str, what: str, call: list[float], beside: list[float],
            target: float | None = None) -> Row:
    """Return the row of a checked call."""
    return {**_product(name, what, call, beside, call, beside), 'target': target}


def _product(name: str, what: str, kernel: list[float], plain: list[float],
             checked: list[float], beside: list[float]) -> Row:
    return {'machine': name, 'what': what, 'kernel': _us(kernel), 'beside': _us(plain),
            'ratio': median_ratio(kernel, plain), 'target': PRODUCT_TARGET,
            'call': _us(checked), 'call_ratio': median_ratio(checked, beside),
            'new_ratio': None, 'casadi': None, 'casadi_ratio': None}


def _us(times: list[float]) -> float:
    return 1e6 * statistics.median(times)


def main() -> None:
    """Measure every machine, print the table and keep it as JSON."""
    if find_spec('casadi') is None:
        print('CasADi is not installed: pip install -r requirements/bench.txt')
    print(f'{"machine":24}{"what":24}{"kernel":>9}{"beside":>9}{"ratio":>7}{"":12}{"call":>8}'
          f'{"ratio":>7}{"new":>7}{"CasADi":>10}{"ratio":>8}')
    rows = []
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    loops = {'Stewart platform, loops': stewart(geometry), 'two legs, loops': two_legs()}
    for measured, machines in ((measure, robots()), (measure_loop_jacobians, loops),
                               (measure_loop_products, loops)):
        for name, machine in machines.items():
            for row in measured(name, machine):
                rows.append(row)
                print(_line(row), flush=True)
    keep('partial_derivatives', {'unit': 'us', 'pinocchio': pin.__version__, 'rows': rows})


def _line(row: Row) -> str:
    line = (f'{row["machine"]:24}{row["what"]:24}{row["kernel"]:9.2f}{row["beside"]:9.2f}'
            f'{row["ratio"]:7.2f}{verdict(row["ratio"], row["target"]):>12}'
            f'{row["call"]:8.2f}{row["call_ratio"]:7.2f}')
    if row['new_ratio'] is not None:
        line += f'{row["new_ratio"]:7.2f}'
    if row['casadi'] is not None:
        line += f'{row["casadi"]:10.1f}{row["casadi_ratio"]:8.1f}'
    return line


if __name__ == '__main__':
    main()
