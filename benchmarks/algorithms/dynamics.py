# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Inverse and forward dynamics and the mass matrix beside Pinocchio's Python calls.

Each is timed as a controller calls it: arrays in, arrays out, one state. The first columns are the
bare kernel and the peer (us), their ratio and its upper bound. The next are the checked call of
Dynamics (us), its ratio to the peer, and its excess over the kernel (us). The last is one state of
a batch on all cores (us). It suffers most from other load on the machine, which is kept with the
figures. Before a machine is measured, both libraries must agree on it.
"""

import statistics
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.record import keep, verdict
from benchmarks.robots import Robot, robots
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics, Layout, PINOCCHIO
from liedyn_ros.dynamics.algorithms.kernels.aba import forward
from liedyn_ros.dynamics.algorithms.kernels.crba import crba
from liedyn_ros.dynamics.algorithms.kernels.rnea import rnea

BATCH = 1000  # states
AGREEMENT = 1e-10  # relative to the largest entry
# The aim: at most this multiple of Pinocchio's time.
TARGETS = {'A': {'inverse': 0.9, 'forward': 1.0}, 'B': {'inverse': 0.5, 'forward': 0.6}}
CHECKS_TARGET = 3.0  # us
Row = dict[str, Any]


class Peer:
    """Pinocchio's model of a machine, and how its numbers are ordered."""

    def __init__(self, robot: Robot) -> None:
        """Read the URDF."""
        root = (pin.JointModelFreeFlyer(),) if robot.floating else ()
        self.model = pin.buildModelFromXML(robot.urdf, *root)
        self.data = self.model.createData()
        names = list(self.model.names)[1:]  # after the universe
        if robot.floating:
            names[0] = robot.model.joint_list[0].name
        layout, nv = Layout(robot.model, PINOCCHIO, names), robot.model.nv
        self.configuration = layout.configuration
        self._order = layout.velocity(robot.model.neutral(), np.arange(nv)).astype(np.int64)

    def velocity(self, v: Array) -> Array:
        """Return our velocities, accelerations or forces as Pinocchio has them."""
        return v[self._order]


def measure(robot: Robot) -> list[Row]:
    """Return the row of each algorithm."""
    model = robot.model
    rng = np.random.default_rng(0)
    ours, peer = Dynamics(model, dissipation=False), Peer(robot)
    q, v, a = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    tau = ours.inverse(q, v, a)
    pq, pv, pa, ptau = (
        peer.configuration(q), peer.velocity(v), peer.velocity(a), peer.velocity(tau))
    agree(pin.rnea(peer.model, peer.data, pq, pv, pa), ptau)
    agree(pin.aba(peer.model, peer.data, pq, pv, ptau), peer.velocity(ours.forward(q, v, tau)))
    tables, none = (ours.constants.table, ours.data.table), np.empty((0, 6))
    out, matrix = np.empty(model.nv), np.empty((model.nv, model.nv))
    many = tuple(np.tile(x, (BATCH, 1)) for x in (q, v, a, tau))
    data = peer.model, peer.data
    return [
        row('inverse', Call(rnea, (*tables, q, v, a, none, out)),
            Call(pin.rnea, (*data, pq, pv, pa)),
            Call(ours.inverse, (q, v, a)), Call(ours.inverse.batch, many[:3])),
        row('forward', Call(forward, (*tables, q, v, tau, none, out)),
            Call(pin.aba, (*data, pq, pv, ptau)),
            Call(ours.forward, (q, v, tau)), Call(ours.forward.batch, (*many[:2], many[3]))),
        row('mass matrix', Call(crba, (*tables, q, matrix)),
            Call(pin.crba, (*data, pq)), Call(ours.mass_matrix, (q,)), None),
    ]


def row(name: str, kernel: Call, peer: Call, method: Call, batch: Call | None) -> Row:
    """Return the figures of one algorithm, times in us."""
    calls = [kernel, peer, method] + ([batch] if batch else [])
    times = interleaved(calls)
    bare, other, checked = (1e6 * statistics.median(taken) for taken in times[:3])
    return {
        'algorithm': name, 'kernel': bare, 'pinocchio': other,
        'ratio': median_ratio(times[0], times[1]), 'call': checked,
        'call_ratio': median_ratio(times[2], times[1]), 'checks': checked - bare,
        'batch': 1e6 * statistics.median(times[3]) / BATCH if batch else None}


def agree(wanted: Array, got: Array) -> None:
    """Stop unless two results are the same: times of different results mean nothing."""
    error = abs(wanted - got).max() / abs(wanted).max()
    if not error < AGREEMENT:
        raise SystemExit(f'expected the same as Pinocchio to {AGREEMENT}, got {error:.3g}')


def main() -> None:
    """Measure every machine, print the table and keep it as JSON."""
    print(f'{"machine":24}{"algorithm":13}{"kernel":>8}{"pinocchio":>11}{"ratio":>7}{"":12}'
          f'{"call":>7}{"ratio":>7}{"checks":>8}{"":10}{"batch":>7}')
    rows = []
    for name, robot in robots().items():
        for figures in measure(robot):
            target = TARGETS.get(name[0], {'inverse': 1.0, 'forward': 1.0}).get(
                figures['algorithm'])
            rows.append({'machine': name, 'nv': robot.model.nv, 'target': target, **figures})
            print(_line(rows[-1]))
    keep('dynamics', {'unit': 'us', 'pinocchio': pin.__version__, 'rows': rows})


def _line(row: Row) -> str:
    batch = '' if row['batch'] is None else f'{row["batch"]:.2f}'
    return (f'{row["machine"]:24}{row["algorithm"]:13}{row["kernel"]:8.2f}{row["pinocchio"]:11.2f}'
            f'{row["ratio"]:7.2f}{verdict(row["ratio"], row["target"]):>12}{row["call"]:7.2f}'
            f'{row["call_ratio"]:7.2f}{row["checks"]:8.2f}'
            f'{verdict(row["checks"], CHECKS_TARGET):>10}{batch:>7}')


if __name__ == '__main__':
    main()
