
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

"""
Partial derivatives beside Pinocchio's, and products of them beside the dynamics itself.

For each machine: the Jacobians of inverse and forward dynamics, bare kernel and peer (us), their
ratio and its upper bound, and the checked call. Then products with a vector from either side as
multiples of one call of the dynamics, kernel beside kernel and checked call beside checked call.
Peers take turns in the same run, and must agree first.
"""

import statistics
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.dynamics import agree, Peer
from benchmarks.record import keep, verdict
from benchmarks.robots import Robot, robots
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.kernels.aba import forward
from liedyn_ros.dynamics.kernels.rnea import rnea
from liedyn_ros.dynamics.partial_derivatives.kernels.forward import forward_jacobians
from liedyn_ros.dynamics.partial_derivatives.kernels.forward_products import (
    forward_product, forward_product_transposed)
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import inverse_jacobians
from liedyn_ros.dynamics.partial_derivatives.kernels.products import (
    inverse_product, inverse_product_transposed)
from liedyn_ros.dynamics.partial_derivatives.tables import PartialTables

TARGETS = {'B': 0.6}  # of Pinocchio's time, at most; of the others OTHERS
OTHERS = 0.8
PRODUCT_TARGET = 3.0  # times the dynamics itself, at most
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
        self.tables, self.none = PartialTables(self.dynamics.constants), np.empty((0, 6))
        self.theirs = self.peer.model, self.peer.data

    def jacobians(self) -> dict[str, tuple[Call, Call, Call]]:
        """Return kernel, peer and checked call of both algorithms."""
        d, t, state = self.dynamics, self.tables, (self.q, self.v)
        q, v, a, tau = self.peer.configuration(self.q), *(
            self.peer.velocity(x) for x in (self.v, self.a, self.tau))
        matrices = *self.matrices, self.gravity
        return {
            'inverse': (
                Call(inverse_jacobians, (d.constants.table, t.links, t.columns, *state, self.a,
                                         self.none, *matrices)),
                Call(pin.computeRNEADerivatives, (*self.theirs, q, v, a)),
                Call(d.inverse.partial_derivatives, (*state, self.a))),
            'forward': (
                Call(forward_jacobians, (d.constants.table, t.data, t.links, t.columns,
                                         t.before, t.factors, *state, self.tau, self.none,
                                         self.out[0], *matrices)),
                Call(pin.computeABADerivatives, (*self.theirs, q, v, tau)),
                Call(d.forward.partial_derivatives, (*state, self.tau)))}

    def check(self) -> None:
        """Stop unless Pinocchio has the same Jacobians."""
        for _, theirs, ours in self.jacobians().values():
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
        back, room = d.inverse.partial_derivatives, (*tables, t.products, *moving, self.none)
        on, there = d.forward.partial_derivatives, (*tables, t.products, *pushed, self.none)
        return {
            'inverse, J x': (Call(inverse_product, (*room, *x, out[0])), inverse[0],
                             Call(back.product, (*moving, *x)), inverse[1]),
            'inverse, J^T y': (Call(inverse_product_transposed, (*room, x[0], *out[:3])),
                               inverse[0], Call(back.gradient, (*moving, x[0])), inverse[1]),
            'forward, J x': (Call(forward_product, (*there, *x, *out[:2])), ahead[0],
                             Call(on.product, (*pushed, *x)), ahead[1]),
            'forward, J^T y': (Call(forward_product_transposed, (*there, x[0], *out)), ahead[0],
                               Call(on.gradient, (*pushed, x[0])), ahead[1])}


def measure(name: str, robot: Robot) -> list[Row]:
    """Return the rows of one machine."""
    state, rows = State(robot), []
    state.check()
    for what, calls in state.jacobians().items():
        kernel, peer, checked = interleaved(list(calls))
        rows.append({
            'machine': name, 'what': f'{what}, Jacobians', 'kernel': _us(kernel),
            'beside': _us(peer), 'ratio': median_ratio(kernel, peer),
            'target': TARGETS.get(name[0], OTHERS), 'call': _us(checked),
            'call_ratio': median_ratio(checked, peer)})
    for what, calls in state.products().items():
        kernel, plain, checked, beside = interleaved(list(calls))
        rows.append({
            'machine': name, 'what': what, 'kernel': _us(kernel), 'beside': _us(plain),
            'ratio': median_ratio(kernel, plain), 'target': PRODUCT_TARGET,
            'call': _us(checked), 'call_ratio': median_ratio(checked, beside)})
    return rows


def _us(times: list[float]) -> float:
    return 1e6 * statistics.median(times)


def main() -> None:
    """Measure every machine, print the table and keep it as JSON."""
    print(f'{"machine":24}{"what":20}{"kernel":>9}{"beside":>9}{"ratio":>7}{"":12}{"call":>8}'
          f'{"ratio":>7}')
    rows = []
    for name, robot in robots().items():
        for row in measure(name, robot):
            rows.append(row)
            print(f'{name:24}{row["what"]:20}{row["kernel"]:9.2f}{row["beside"]:9.2f}'
                  f'{row["ratio"]:7.2f}{verdict(row["ratio"], row["target"]):>12}'
                  f'{row["call"]:8.2f}{row["call_ratio"]:7.2f}', flush=True)
    keep('partial_derivatives', {'unit': 'us', 'pinocchio': pin.__version__, 'rows': rows})


if __name__ == '__main__':
    main()
