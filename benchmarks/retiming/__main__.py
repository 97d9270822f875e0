# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Retiming of a UR5 beside toppra: the time of one call, with torque alone and with its rates.

Both are given the same path of seven waypoints and as many intervals, in turns in one run. toppra
has no limits of rates, so that its time stands beside ours for torque alone. Times are those of
the processor, of all threads: what others compute meanwhile does not count. A cycle of the
scaling of a run is measured from the same state in turns: the least time is that of the machine.
"""

from importlib.metadata import version
import statistics
import time
from typing import Any

import numpy as np
import toppra.algorithm
import toppra.constraint
import toppra.interpolator

from benchmarks.record import keep
from benchmarks.robots import robots
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.retiming import MotionLimits, OnlineScaling, retime, SplinePath

INTERVALS = (100, 200)
TURNS, SCALING_TURNS = 5, 7
TORQUE = np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0])
LIMITS = {'torque': MotionLimits(velocity=np.inf, torque=TORQUE),
          'torque and rates': MotionLimits(velocity=np.inf, torque=TORQUE,
                                           torque_rate=20.0 * TORQUE)}


class SamePath(toppra.interpolator.AbstractGeometricPath):  # type: ignore[misc]
    """A path of this package as toppra takes it."""

    dof = 0
    path_interval = np.zeros(2)
    waypoints = None

    def __init__(self, path: SplinePath) -> None:
        """Take the path."""
        self._path, self.dof = path, path.model.nv
        self.path_interval = np.array([0.0, path.length])

    def __call__(self, s: Any, order: int = 0) -> Array:
        """Return q or a derivative by s."""
        rows = self._path(np.atleast_1d(s))[order]
        return rows if np.ndim(s) else rows[0]


def theirs(dynamics: Dynamics, path: SplinePath, intervals: int) -> Any:
    """Return what toppra finds within limits of torque."""
    limit = toppra.constraint.JointTorqueConstraint(
        lambda q, v, a: dynamics.inverse(*map(np.ascontiguousarray, (q, v, a))),
        np.stack([-TORQUE, TORQUE], axis=1), np.zeros(path.model.nv))
    points = np.linspace(0.0, path.length, intervals + 1)
    return toppra.algorithm.TOPPRA([limit], SamePath(path), gridpoints=points) \
        .compute_parameterization(0.0, 0.0)


def ours(dynamics: Dynamics, path: SplinePath, limits: MotionLimits, intervals: int) -> Any:
    """Return what this package finds."""
    return retime(dynamics, path, limits, intervals=intervals)


def scaling(dynamics: Dynamics, path: SplinePath) -> dict[str, float]:
    """Return the times (us) of cycles while the speed changes always, and limits now and then."""
    online = OnlineScaling(retime(dynamics, path, LIMITS['torque and rates']))
    lower = MotionLimits(velocity=np.inf, torque=0.9 * TORQUE, torque_rate=18.0 * TORQUE)
    cycles = []
    for k in range(3000):
        if k % 500 == 100:
            online.use(lower if k % 1000 == 100 else LIMITS['torque and rates'])
        before, taken = online.state.copy(), []
        for _ in range(SCALING_TURNS):
            online.state[:] = before
            begin = time.perf_counter()
            online.step(1e-3, 0.8 + 0.2 * np.sin(0.01 * k))
            taken.append(time.perf_counter() - begin)
        cycles.append(1e6 * min(taken))
    return {'median_us': statistics.median(cycles), 'most_us': max(cycles[1:])}


def main() -> None:
    """Measure, print the table and keep it as JSON."""
    found = robots()
    if 'arm (ur5)' not in found:
        print('example-robot-data is not installed: not measured')
        return
    free = Dynamics(found['arm (ur5)'].model, dissipation=False)
    path = SplinePath(free.model, np.random.default_rng(0).uniform(-1.5, 1.5, (7, 6)))
    rows = []
    for count in INTERVALS:
        calls = [Call(theirs, (free, path, count)),
                 *(Call(ours, (free, path, limits, count)) for limits in LIMITS.values())]
        peer, *times = interleaved(calls, TURNS, time.process_time)
        for name, taken in zip(LIMITS, times):
            rows.append({'limits': name, 'intervals': count,
                         'call_ms': 1e3 * statistics.median(taken),
                         'toppra_ms': 1e3 * statistics.median(peer),
                         'ratio': median_ratio(taken, peer)})
            print('{limits:18}{intervals:5}{call_ms:9.1f} ms, toppra {toppra_ms:7.1f} ms, '
                  'ratio {ratio:.2f}'.format(**rows[-1]), flush=True)
    cycle = scaling(free, path)
    print('a cycle of the scaling: {median_us:.1f} us, {most_us:.1f} us at most'.format(**cycle))
    keep('retiming', {'unit': 'ms', 'toppra': version('toppra'), 'turns': TURNS, 'rows': rows,
                      'scaling': cycle})


if __name__ == '__main__':
    main()
