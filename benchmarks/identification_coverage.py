# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How often true parameters lie within the stated covariance.

`python -m benchmarks.identification_coverage`: an arm moves along sums of sines. Each trial has
another noise of encoders and of forces, which remembers a share of its last sample.
"""

import argparse
from collections.abc import Sequence
import time

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.stats import t as student

from liedyn_ros.common.tables import print_table
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification import equations_of, motion_of, Recording, robust_fit
from liedyn_ros.identification.identify import given_unknowns
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia

Array = NDArray[np.float64]
SURE = 0.95
RATE, SECONDS = 100.0, 30.0
ENCODER = 1e-5  # rad
SHARE = 0.02  # of the largest force, the noise of a joint's


def arm() -> Model:
    """Return an arm of four joints with friction."""
    builder = ModelBuilder('arm')
    parent = None
    for k, axis in enumerate(([0, 0, 1.0], [0, 1.0, 0], [0, 1.0, 0], [1.0, 0, 0])):
        builder.add_body(f'link_{k}', SpatialInertia(
            3.0 - 0.6 * k, [0.02, 0.01 * k, 0.15], np.diag([0.03, 0.02, 0.01])))
        place = np.eye(4)
        place[2, 3] = 0.3 if parent else 0.0
        builder.add_joint(f'joint_{k}', 'revolute', parent, f'link_{k}', axis=axis,
                          placement=place, damping=0.4, friction=0.3)
        parent = f'link_{k}'
    return builder.build()


def motion(count: int) -> tuple[Array, Array, Array, Array]:
    """Return times, q, v and a of sums of sines up to 0.4 Hz."""
    rng, clock = np.random.default_rng(1), np.arange(int(SECONDS * RATE)) / RATE
    k = 2.0 * np.pi * np.array([0.1, 0.2, 0.3, 0.4])
    size, phase = rng.uniform(0.2, 0.5, (4, count)), rng.uniform(0.0, 6.0, (4, count))
    angle = k[:, None] * clock[:, None, None] + phase
    return (clock, (size * np.sin(angle)).sum(1), (size * k[:, None] * np.cos(angle)).sum(1),
            -(size * k[:, None]**2 * np.sin(angle)).sum(1))


def coloured(rng: np.random.Generator, shape: tuple[int, ...], memory: float) -> Array:
    """Return noise (n, f) of deviation 1, each sample memory times the last, plus white noise."""
    white = rng.normal(size=(shape[0] + 500, shape[1]))
    return np.asarray(lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], white, axis=0))[500:]


def trials(memory: float, count: int) -> tuple[float, float, float]:
    """Return the share of parameters within their intervals, the worst one's, and NEES / p."""
    model = arm()
    clock, q, v, a = motion(model.nv)
    tau = Dynamics(model).inverse.batch(q, v, a)
    rng, inside, distance = np.random.default_rng(2), [], []
    for _ in range(count):
        noise = SHARE * np.abs(tau).max(axis=0) * coloured(rng, tau.shape, memory)
        equations = equations_of(model, motion_of(model, Recording(
            model, clock, q + ENCODER * rng.normal(size=q.shape), tau + noise)))
        fit = robust_fit(equations.rows, equations.forces)
        seen = np.isfinite(fit.deviations)
        error = (fit.x - given_unknowns(model, equations))[seen]
        wide = student.ppf(0.5 + 0.5 * SURE, fit.freedom) * fit.deviations[seen]
        inside.append(np.abs(error) < wide)
        distance.append(error @ np.linalg.solve(fit.covariance[np.ix_(seen, seen)], error)
                        / seen.sum())
    share = np.mean(inside, axis=0)
    return float(share.mean()), float(share.min()), float(np.mean(distance))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each memory of the noise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--trials', type=int, default=200)
    parser.add_argument('--memory', type=float, nargs='*', default=[0.0, 0.9, 0.97])
    options = parser.parse_args(arguments)
    rows, begin = [], time.process_time()
    for memory in options.memory:
        share, worst, distance = trials(memory, options.trials)
        rows.append([f'{memory:g}', options.trials, f'{share:.3f}', f'{worst:.3f}',
                     f'{distance:.2f}'])
    print(f'within intervals of {100.0 * SURE:g} %')
    print_table(['memory', 'trials', 'all parameters', 'worst', 'NEES / p'], rows)
    print(f'{time.process_time() - begin:.0f} s of processor time')


if __name__ == '__main__':
    main()
