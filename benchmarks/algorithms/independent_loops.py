# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Independent loops beside one loop: K linkages against K times what one costs alone.

Four-bar linkages stand on the ground, closed by `revolute`, whose rows are redundant, or by
`point_on_line`. Kernels of forward dynamics and of inverse dynamics with least torque are timed
(us), and a call with all checks. Before that, each linkage of many must move as one alone.
"""

import math
import statistics
from typing import Any

import numpy as np

from benchmarks.record import keep, verdict
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import assemble, complete_velocity, ConstrainedDynamics
from liedyn_ros.dynamics.constrained.constraints.tables import ConstrainedData
from liedyn_ros.dynamics.constrained.kernels.tables import REPORT_WIDTH
from liedyn_ros.dynamics.constrained.solver.inputs import (
    hybrid_task, inverse_task, LEAST_TORQUE, Task)
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.model import Model, ModelBuilder, pose, SpatialInertia

COUNTS, CLOSURES = (8, 32), ('revolute', 'point_on_line')
TARGET = 1.0  # times as many linkages alone
AGREEMENT = 1e-9
CRANK, RATE = 0.9, 2.0  # rad, rad/s
BARS = ((0.2, 0.5), (0.4,))  # m: crank and coupler, rocker
SPAN = 0.45  # m, on the ground
State = tuple[Array, Array, Array]


def linkages(count: int, closure: str) -> Model:
    """Return four-bar linkages on the ground, whose cranks are driven."""
    builder = ModelBuilder('linkages', gravity=(0.0, -9.81, 0.0))
    for i in range(count):
        tips = []
        for side, lengths, start in zip(('crank', 'rocker'), BARS, (0.0, SPAN)):
            parent, at = None, [start, 0.0, 0.1 * i]
            for n, length in enumerate(lengths):
                name = f'{side}_{i}_{n}'
                builder.add_body(name, SpatialInertia(1.0 + n, [0.5 * length, 0.0, 0.0], np.diag(
                    [1e-4, 0.1 * length**2, 0.1 * length**2])))
                builder.add_joint(f'{name}_joint', 'revolute', parent, name, axis=[0, 0, 1],
                                  placement=pose(at), actuated=side == 'crank' and n == 0)
                parent, at = name, [length, 0.0, 0.0]
            tips.append((parent, pose(at)))
        (a, at_a), (b, at_b) = tips
        builder.add_closure(f'tip_{i}', closure, a, b, placement_a=at_a, placement_b=at_b)
    return builder.build()


def moving(closure: str) -> State:
    """Return a state of one linkage, and the force of its crank."""
    dynamics = ConstrainedDynamics(linkages(1, closure))
    q = assemble(dynamics, held={'crank_0_0_joint': CRANK})
    return q, complete_velocity(dynamics, q, [RATE, 0.0, 0.0]), np.array([1.5, 0.0, 0.0])


def kernel(model: Model, task: Task, q: Array, v: Array, a: Array, tau: Array) -> Call:
    """Return the bare kernel of a task at order zero."""
    data = ConstrainedData(model)
    found = 2 * model.nv + data.m + 6 * len(model.closures) + REPORT_WIDTH
    return Call(solver.solve_constrained, (
        data.workspace, task.table, math.inf, np.zeros((0, 1, 6)), q, v, a, tau,
        np.zeros(found)))


def calls(count: int, closure: str, state: State) -> dict[str, Call]:
    """Return the calls of so many linkages in a state, by name."""
    model = linkages(count, closure)
    q, v, tau = (np.tile(x, count) for x in state)
    dynamics = ConstrainedDynamics(model)
    a = dynamics.forward(q, v, tau).a
    if not (np.abs(a.reshape(count, 3) - a[:3]).max() < AGREEMENT * np.abs(a).max()
            and np.abs(dynamics.inverse(q, v, a).tau - tau).max() < AGREEMENT):
        raise SystemExit(f'expected {count} linkages that move as one, got a {a}')
    driven = inverse_task(dynamics, None, LEAST_TORQUE, None)[1]
    free = hybrid_task(np.ones(model.nv, dtype=np.bool_))
    return {'forward': kernel(model, free, q, v, tau, tau),
            'inverse': kernel(model, driven, q, v, a, np.zeros(model.nv)),
            'forward, call': Call(dynamics.forward, (q, v, tau)),
            'inverse, call': Call(dynamics.inverse, (q, v, a))}


def measure(closure: str) -> list[dict[str, Any]]:
    """Return the figures of linkages with one type of closure."""
    state = moving(closure)
    one = calls(1, closure, state)
    many = {count: calls(count, closure, state) for count in COUNTS}
    rows = []
    for name, single in one.items():
        times = interleaved([single, *(many[count][name] for count in COUNTS)])
        for count, taken in zip(COUNTS, times[1:]):
            rows.append({'closure': closure, 'algorithm': name, 'linkages': count,
                         'one': 1e6 * statistics.median(times[0]),
                         'all': 1e6 * statistics.median(taken),
                         'ratio': median_ratio(taken, times[0]) / count})
    return rows


def main() -> None:
    """Measure, print the table and keep it as JSON."""
    rows = [row for closure in CLOSURES for row in measure(closure)]
    print(f'{"closed by":16}{"us":16}{"linkages":>9}{"one":>8}{"all":>9}{"ratio":>7}')
    for row in rows:
        print(f'{row["closure"]:16}{row["algorithm"]:16}{row["linkages"]:9}{row["one"]:8.2f}'
              f'{row["all"]:9.2f}{row["ratio"]:7.2f}   {verdict(row["ratio"], TARGET)}')
    keep('independent_loops', {'unit': 'us', 'target': TARGET, 'rows': rows})


if __name__ == '__main__':
    main()
