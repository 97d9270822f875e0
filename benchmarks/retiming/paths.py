# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Random paths: how many are solved, and with which reasons the others are refused.

100 paths of a UR5, a Panda, the arm of a floating base and a five-bar. Waypoints are uniform in a
range of each joint; limits are those of torque and twenty of it a second. A path is refused for
one of the reasons that a user can act on; any other message is counted as a fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
import re
import sys
import time

import numpy as np

from benchmarks.robots import robots
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.model import load_model
from liedyn_ros.retiming import LoopPath, MotionLimits, Path, retime, SplinePath

MODELS = robots()
Problem = tuple[Dynamics | ConstrainedDynamics, Path, MotionLimits]
COUNT, INTERVALS = 100, 40  # paths of a machine, and intervals of each
REASONS = {  # what a refusal may say, and its meaning
    r'^torque: expected less than .* to hold .* still': 'motors cannot hold it',
    r'LoopTracker|expected a motion that the loops allow|no motion|reach|assembl|measured':
        'loops do not reach it',
    r'[Ss]ingular': 'singular place on the path'}


def problems(name: str) -> Iterator[Problem]:
    """Return random paths of a machine; building one may raise LiedynError."""
    rng = np.random.default_rng(33)
    for _ in range(COUNT):
        yield MACHINES[name](rng)


def ur5(rng: np.random.Generator) -> Problem:
    """Return a path of a UR5."""
    dynamics = Dynamics(MODELS['arm (ur5)'].model)
    return of_tree(dynamics, rng, np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0]), 1.5)


def panda(rng: np.random.Generator) -> Problem:
    """Return a path of a Panda, whose limits of torque are those of its file."""
    model = MODELS['arm (panda)'].model
    return of_tree(Dynamics(model), rng, np.where(
        np.isfinite(model.limits.effort), model.limits.effort, 100.0), 1.0)


def flying(rng: np.random.Generator) -> Problem:
    """Return a path of a floating base with its arms."""
    model = load_model(config_file('aerial_manipulator.yaml'))
    return of_tree(Dynamics(model), rng, np.full(model.nv, 60.0), 0.5)


def of_tree(dynamics: Dynamics, rng: np.random.Generator, torque: Array, spread: float
            ) -> Problem:
    """Return a path of a tree through 2 to 7 waypoints."""
    model = dynamics.model
    points = [model.integrate(model.neutral(), rng.uniform(-spread, spread, model.nv))
              for _ in range(rng.integers(2, 8))]
    return dynamics, SplinePath(model, points), MotionLimits(
        velocity=np.inf, torque=torque, torque_rate=20.0 * torque)


def five_bar(rng: np.random.Generator) -> Problem:
    """Return a path of a five-bar by its cranks."""
    machine = ConstrainedDynamics(load_model(config_file('five_bar.yaml')))
    points = np.array([0.4, 2.0]) + rng.uniform(-0.7, 0.7, (rng.integers(2, 8), 2))
    cranks = {'left_crank_joint': 10.0, 'right_crank_joint': 10.0}
    return machine, LoopPath(machine, points), MotionLimits(
        torque=cranks, torque_rate={name: 20.0 * value for name, value in cranks.items()})


MACHINES = {'UR5': ur5, 'Panda': panda, 'floating base': flying, 'five-bar': five_bar}


def judge(name: str) -> tuple[Counter[str], list[str], list[float]]:
    """Return the outcomes of a machine's paths, messages of faults, and gains of time."""
    outcomes: Counter[str] = Counter()
    faults, gains = [], []
    for dynamics, path, limits in problems(name):
        try:
            run = retime(dynamics, path, limits, intervals=INTERVALS)
        except LiedynError as error:
            reason = next((meaning for pattern, meaning in REASONS.items()
                           if re.search(pattern, str(error))), '')
            outcomes[reason or 'fault'] += 1
            if not reason:
                faults.append(f'{type(error).__name__}: {error}')
            continue
        used = max(float(each.max()) for each in run.used.values())
        outcomes['solved' if used <= 1.0 + 1e-9 else 'limits exceeded'] += 1
        gains.append(run.uniform_duration / run.duration)
    return outcomes, faults, gains


def main(names: list[str]) -> int:
    """Print the table; return 1 where a path ended in another message."""
    faults = 0
    for name in names or list(MACHINES):
        begin = time.process_time()
        outcomes, messages, gains = judge(name)
        faults += len(messages) + outcomes['limits exceeded']
        print(f'{name}: {dict(outcomes)}, {np.median(gains):.2f} times as fast as slowed '
              f'uniformly (median), {time.process_time() - begin:.0f} s of processor time',
              flush=True)
        for message in messages:
            print(f'  {message}', flush=True)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
