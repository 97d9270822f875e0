# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
Dense calls beside as many gradients as they have rows.

A gradient is one row of a Jacobian, with all parameters where the call is by parameters. Trees
have n rows, machines with closed loops n and one for each constraint. All calls are checked, and
their times are those of the processor (us). The ratio is that of a call to all its gradients.
"""

from functools import partial
import statistics
from time import thread_time
from typing import Any

import numpy as np

from benchmarks.algorithms.constrained import Machine, stewart, two_legs
from benchmarks.algorithms.partial_derivatives import every_parameter
from benchmarks.record import keep, verdict
from benchmarks.robots import robots
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.identification import Regressor
from liedyn_ros.model import Model
from liedyn_ros.stewart import load_geometry

TARGET = 1.0  # times the gradients, at most
Row = dict[str, Any]
Pairs = dict[str, tuple[Call, Call]]  # a dense call, and one gradient


def tree_calls(model: Model) -> Pairs:
    """Return the dense calls of a tree."""
    rng, dynamics, change = np.random.default_rng(0), Dynamics(model), every_parameter(model)
    q, (v, a, y) = model.random(rng), rng.normal(size=(3, model.nv))
    tau, known = dynamics.inverse(q, v, a), np.arange(model.nv) % 2 == 0
    back, ahead, mixed = (each.partial_derivatives for each in (
        dynamics.inverse, dynamics.forward, dynamics.hybrid))
    one, moving = partial(back.gradient, parameters=change), (q, v, a)
    return {
        'inverse, by kinematics': (Call(back.by_kinematics, moving), Call(one, (*moving, y))),
        'forward, by kinematics': (
            Call(ahead.by_kinematics, (q, v, tau)),
            Call(partial(ahead.gradient, parameters=change), (q, v, tau, y))),
        'hybrid, Jacobians': (Call(mixed, (q, v, known, a, tau)),
                              Call(mixed.gradient, (q, v, known, a, tau, y))),
        'Regressor.torque': (Call(Regressor(model).torque, moving), Call(one, (*moving, y)))}


def loop_calls(machine: Machine) -> Pairs:
    """Return the dense calls of a machine with closed loops."""
    dynamics, (model, q, v, tau) = ConstrainedDynamics(machine.model, dissipation=False), machine
    change, y = every_parameter(model), np.random.default_rng(0).normal(size=model.nv)
    a, known = dynamics.forward(q, v, tau).a, np.zeros(model.nv, dtype=bool)
    known[np.flatnonzero(model.actuated)[0]] = True
    every = {'actuated': np.ones(model.nv, dtype=bool)}
    back, ahead, mixed = (each.partial_derivatives for each in (
        dynamics.inverse, dynamics.forward, dynamics.hybrid))
    return {
        'inverse, Jacobians': (Call(partial(back, **every), (q, v, a)),
                               Call(partial(back.gradient, **every), (q, v, a, y))),
        'inverse, by kinematics': (
            Call(partial(back.by_kinematics, **every), (q, v, a)),
            Call(partial(back.gradient, parameters=change, **every), (q, v, a, y))),
        'forward, Jacobians': (Call(ahead, (q, v, tau)), Call(ahead.gradient, (q, v, tau, y))),
        'forward, by kinematics': (
            Call(ahead.by_kinematics, (q, v, tau)),
            Call(partial(ahead.gradient, parameters=change), (q, v, tau, y))),
        'hybrid, Jacobians': (Call(mixed, (q, v, known, a, tau)),
                              Call(mixed.gradient, (q, v, known, a, tau, y))),
        'hybrid, by kinematics': (
            Call(mixed.by_kinematics, (q, v, known, a, tau)),
            Call(partial(mixed.gradient, parameters=change), (q, v, known, a, tau, y)))}


def measure(name: str, pairs: Pairs, rows: int) -> list[Row]:
    """Return the rows of a machine, whose Jacobians have so many."""
    found = []
    for what, pair in pairs.items():
        dense, gradient = interleaved(pair, clock=thread_time)
        found.append({
            'machine': name, 'what': what, 'rows': rows, 'call': 1e6 * statistics.median(dense),
            'gradient': 1e6 * statistics.median(gradient),
            'ratio': median_ratio(dense, gradient) / rows})
    return found


def main() -> None:
    """Measure every machine, print the table and keep it as JSON."""
    loops = {'Stewart platform, loops': stewart(load_geometry(config_file(
        'stewart_geometry.yaml'))), 'two legs, loops': two_legs()}
    machines = [(name, tree_calls(robot.model), robot.model.nv)
                for name, robot in robots().items()]
    machines += [(name, loop_calls(machine), machine.model.nv + ConstrainedDynamics(
        machine.model).m) for name, machine in loops.items()]
    print(f'{"machine":26}{"what":24}{"rows":>6}{"call":>9}{"gradient":>10}{"ratio":>7}')
    rows = []
    for name, pairs, count in machines:
        for row in measure(name, pairs, count):
            rows.append(row)
            print(f'{name:26}{row["what"]:24}{count:6}{row["call"]:9.1f}{row["gradient"]:10.2f}'
                  f'{row["ratio"]:7.2f}   {verdict(row["ratio"], TARGET)}', flush=True)
    keep('dense_calls', {'unit': 'us', 'target': TARGET, 'rows': rows})


if __name__ == '__main__':
    main()
