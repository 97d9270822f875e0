# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Time derivatives of the dynamics beside Pinocchio's order zero and CasADi's differentiation.

The machines are the aerial manipulator and a tree of 101 bodies. The bare kernel and the checked
call (us) are multiples of Pinocchio's rnea and aba calls from Python. A state of a batch is a
share of a single call. Upper bounds stand beside them. Then follows how time grows with bodies and
order. Peers take turns in the same run, and must agree first.
"""

from functools import partial
from importlib.util import find_spec
import math
import statistics
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.algorithms.dynamics import agree, Peer
from benchmarks.record import keep, verdict
from benchmarks.robots import branches, Robot, robots
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.time_derivatives.kernels.aba import hybrid_derivatives
from liedyn_ros.dynamics.time_derivatives.kernels.rnea import rnea_derivatives
from liedyn_ros.model import Model

ORDERS = (0, 1, 3, 5, 10)
BATCH = 512
# At most these multiples of Pinocchio's time at order zero.
TARGETS = {'A': {('inverse', 5): 2.5, ('inverse', 10): 5.5, ('forward', 5): 2.3,
                 ('forward', 10): 4.5},
           'B': {('inverse', 5): 2.7, ('inverse', 10): 6.5, ('forward', 5): 2.3,
                 ('forward', 10): 5.0}}
BATCH_TARGET = 0.4  # of a call
CASADI_TARGET = 100.0  # times longer
CASADI_ORDER = 5  # forward dynamics of 101 bodies take half a minute to build
LENGTHS = (5, 10, 20, 50, 100)  # of five branches
HIGH_ORDERS = (0, 2, 4, 8, 12, 16)
Row = dict[str, Any]


class State:
    """A machine in motion, and the calls that are timed on it."""

    def __init__(self, model: Model, order: int) -> None:
        """Draw a random state."""
        rng = np.random.default_rng(0)
        self.dynamics, self.order = Dynamics(model, dissipation=False), order
        self.q, self.motion = model.random(rng), rng.normal(size=(order + 2, model.nv))
        self.v, self.a = self.motion[0].copy(), self.motion[1:].copy()
        self.tau = self.dynamics.inverse.time_derivatives(self.q, self.v, self.a)
        forward = self.dynamics.forward  # that does not estimate what rounding leaves of an order
        self.forward = partial(forward.time_derivatives, max_error=math.inf)
        self.forward_batch = partial(forward.time_derivatives_batch, max_error=math.inf)
        got = self.forward(self.q, self.v, self.tau)
        agree(self.motion[1], got[0])

    def kernel(self, name: str) -> Call:
        """Return the call of a bare kernel."""
        dynamics, none = self.dynamics, np.empty((0, len(self.dynamics.model.bodies), 6))
        model, series = dynamics.constants.table, dynamics.data.series_buffer(self.order)
        if name == 'inverse':
            return Call(rnea_derivatives, (
                model, series, self.q, self.v, self.a, none, self.tau.copy()))
        return Call(hybrid_derivatives, (
            model, dynamics.data.table, series, self.q, self.v, np.zeros(len(self.v), bool),
            self.tau.copy(), self.tau.copy(), none))

    def method(self, name: str) -> Call:
        """Return the call of a method of Dynamics."""
        if name == 'inverse':
            return Call(self.dynamics.inverse.time_derivatives, (self.q, self.v, self.a))
        return Call(self.forward, (self.q, self.v, self.tau))

    def batch(self, name: str) -> Call:
        """Return the call of a batch."""
        q, v, a, tau = (np.repeat(x[None], BATCH, axis=0)
                        for x in (self.q, self.v, self.a, self.tau))
        if name == 'inverse':
            return Call(self.dynamics.inverse.time_derivatives_batch, (q, v, a))
        return Call(self.forward_batch, (q, v, tau))


def beside_pinocchio(name: str, robot: Robot) -> list[Row]:
    """Return times of all orders as multiples of Pinocchio's order zero."""
    peer, rows = Peer(robot), []
    rng = np.random.default_rng(0)
    q = peer.configuration(robot.model.random(rng))
    v = rng.normal(size=robot.model.nv)
    for algorithm, other in (('inverse', pin.rnea), ('forward', pin.aba)):
        for order in ORDERS:
            state = State(robot.model, order)
            calls = [state.kernel(algorithm), Call(other, (peer.model, peer.data, q, v, v)),
                     state.method(algorithm), state.batch(algorithm)]
            kernel, single, method, batch = interleaved(calls)
            rows.append({
                'machine': name, 'algorithm': algorithm, 'order': order,
                'kernel': 1e6 * statistics.median(kernel),
                'method': 1e6 * statistics.median(method),
                'ratio': median_ratio(kernel, single), 'checked': median_ratio(method, single),
                'target': TARGETS[name[0]].get((algorithm, order)),
                'batch': median_ratio(batch, method) / BATCH})
            print(_line(rows[-1]), flush=True)
    return rows


def beside_casadi(name: str, model: Model) -> list[Row]:
    """Return how many times longer CasADi takes."""
    from benchmarks.algorithms import casadi_expressions
    rows = []
    state, order = State(model, CASADI_ORDER), CASADI_ORDER
    for algorithm in ('inverse', 'forward'):
        other = getattr(casadi_expressions, algorithm)(model, order)
        given = state.motion if algorithm == 'inverse' else np.vstack([state.v[None], state.tau])
        wanted = state.tau if algorithm == 'inverse' else state.motion[1:]
        out = np.empty_like(wanted)
        other(state.q, given, out)
        agree(wanted[:2], out[:2])
        theirs, ours = interleaved([Call(other, (state.q, given, out)), state.method(algorithm)])
        times = median_ratio(theirs, ours)
        rows.append({'machine': name, 'algorithm': algorithm, 'order': order,
                     'casadi': 1e6 * statistics.median(theirs), 'times_faster': times})
        print(f'{name:24}{algorithm:9}{order:6}{rows[-1]["casadi"]:10.0f} us, {times:6.0f} times '
              f'longer, >= {CASADI_TARGET:g} {"yes" if times >= CASADI_TARGET else "NO"}',
              flush=True)
    return rows


def growth(algorithm: str) -> Row:
    """Return exponents of the time in bodies (order 5) and in the order (101 bodies)."""
    models = [branches(5, length) for length in LENGTHS]
    by_bodies = [statistics.median(t) for t in interleaved(
        [State(model, 5).kernel(algorithm) for model in models])]
    by_order = [statistics.median(t) for t in interleaved(
        [State(models[2], order).kernel(algorithm) for order in HIGH_ORDERS])]
    bodies = np.array([len(model.bodies) for model in models])
    rows = np.array(HIGH_ORDERS) + 1.0
    design = np.stack([np.ones_like(rows), rows, rows**2], axis=1)
    fit, *_ = np.linalg.lstsq(design / np.array(by_order)[:, None], np.ones(len(rows)), rcond=None)
    error = float(np.abs(design @ fit / by_order - 1.0).max())
    result = {'algorithm': algorithm, 'in_bodies': _slope(bodies, by_bodies),
              'in_order': _slope(rows[-3:], by_order[-3:]),
              'quadratic_us': (1e6 * fit).tolist(), 'quadratic_error': error,
              'bodies_us': [1e6 * t for t in by_bodies], 'orders_us': [1e6 * t for t in by_order]}
    print(f'{algorithm:9} time ~ bodies^{result["in_bodies"]:.2f} up to {bodies[-1]} bodies, '
          f'~ (r+1)^{result["in_order"]:.2f} from order {HIGH_ORDERS[-3]} to {HIGH_ORDERS[-1]}; '
          f'{fit[0] * 1e6:.1f} + {fit[1] * 1e6:.1f} (r+1) + {fit[2] * 1e6:.2f} (r+1)^2 us '
          f'within {100.0 * error:.0f} %', flush=True)
    return result


def _slope(x: Array, times: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(times), 1)[0])


def _line(row: Row) -> str:
    return (f'{row["machine"]:24}{row["algorithm"]:9}{row["order"]:6}{row["kernel"]:9.2f}'
            f'{row["ratio"]:8.2f}{verdict(row["ratio"], row["target"]):>11}{row["method"]:9.2f}'
            f'{row["checked"]:8.2f}{row["batch"]:8.2f}{verdict(row["batch"], BATCH_TARGET):>11}')


def main() -> None:
    """Measure, print the tables and keep them as JSON."""
    machines = {name: robot for name, robot in robots().items() if name[0] in 'AB'}
    print(f'{"machine":24}{"what":9}{"order":>6}{"kernel":>9}{"ratio":>8}{"":11}{"call":>9}'
          f'{"ratio":>8}{"batch":>8}')
    rows = [row for name, robot in machines.items() for row in beside_pinocchio(name, robot)]
    if find_spec('casadi') is None:
        print('CasADi is not installed (make bench installs it): not compared')
        casadi = []
    else:
        casadi = [row for name, robot in machines.items()
                  for row in beside_casadi(name, robot.model)]
    grown = [growth(algorithm) for algorithm in ('inverse', 'forward')]
    keep('higher_order', {'unit': 'us', 'pinocchio': pin.__version__, 'rows': rows,
                          'casadi': casadi, 'growth': grown})


if __name__ == '__main__':
    main()
