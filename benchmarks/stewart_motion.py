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
Whether poses, twists and predictions are as uncertain as their covariances say.

    python -m benchmarks.stewart_motion

prints the mean normalized squares of the errors of six numbers, 6 where a covariance is right,
by rate, noise and what is told, and writes them to out/bench.
"""

import sys
from typing import Any

import numpy as np

from benchmarks.record import keep
from benchmarks.stewart_safety import GEOMETRY, good_motion, HOME
from liedyn_ros.common.checks import Array
from liedyn_ros.common.tables import print_table
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    leg_lengths, MonitorConfig, MonitoredTracker, MotionEstimate, MotionEstimator)

RATES = (20, 50, 100, 500, 1000)  # Hz
NOISES = (1e-6, 1e-5, 1e-4)  # m
SAMPLES, SKIPPED = 3000, 500  # of a run, and those before the noise is well known
AHEAD = (0.01, 0.05)  # s, of predictions
JITTERS = (1e-4, 1e-3)  # s
Figures = dict[str, Any]


def main() -> int:
    """Measure everything."""
    rows, figures = [], []
    cases = [(rate, noise, told, 0.0) for rate in RATES for noise in NOISES
             for told in (True, False)]
    cases += [(rate, 1e-5, False, jitter) for rate in (100, 1000) for jitter in JITTERS
              if jitter < 0.2 / rate]
    for rate, noise, told, jitter in cases:
        figure = run(rate, noise, told, jitter)
        figures.append(figure)
        rows.append([rate, f'{1e6 * noise:g}', 'told' if told else 'measured',
                     f'{1e3 * jitter:g}', *(f'{figure[key]:.1f}' for key in (
                         'pose', 'twist', *(f'predict_{ahead:g}' for ahead in AHEAD))),
                     f'{figure["deviation"]:.2f}'])
    print_table(['rate, Hz', 'noise, um', 'noise is', 'jitter, ms', 'pose', 'twist',
                 *(f'predicted {1e3 * ahead:g} ms' for ahead in AHEAD),
                 'deviation over error, 50 ms'], rows)
    print(f'figures in {keep("stewart_motion", {"motion": figures})}')
    return 0


def run(rate: int, noise: float, told: bool, jitter: float) -> Figures:
    """Track a motion in the good workspace; return the mean normalized squares."""
    motion, rng = good_motion(7), np.random.default_rng(rate)
    times = 2.0 + np.arange(SAMPLES) / rate
    lengths = leg_lengths(GEOMETRY, motion.pose(times)) + noise * rng.normal(size=(SAMPLES, 6))
    stamps = np.round(1e9 * (times + jitter * rng.normal(size=SAMPLES))).astype(int)
    tracker, estimator = MonitoredTracker(GEOMETRY, HOME, config=MonitorConfig(
        leg_noise=noise if told else 0.0)), MotionEstimator(GEOMETRY)
    found: dict[str, list[float]] = {}
    sizes: list[tuple[float, float]] = []
    for k, (stamp, reading) in enumerate(zip(stamps.tolist(), lengths)):
        pose = tracker.update(stamp, reading)
        if k < SKIPPED or not pose.noise_known:
            continue
        time = 1e-9 * stamp
        here = estimator.of(pose)
        found.setdefault('pose', []).append(square(pose_error(here, motion.pose(time)), here))
        twist = here.twist - motion.twist(time)
        found.setdefault('twist', []).append(normalized(twist, here.twist_covariance))
        for ahead in AHEAD if k % 5 == 0 else ():
            later = estimator.predict(pose, ahead)
            error = pose_error(later, motion.pose(time + ahead))
            found.setdefault(f'predict_{ahead:g}', []).append(square(error, later))
        if k % 5 == 0:
            sizes.append((float(error @ error), float(np.trace(later.pose_covariance))))
    total, expected = np.mean(sizes, axis=0)
    return {'rate': rate, 'noise': noise, 'told': told, 'jitter': jitter,
            'deviation': float(np.sqrt(expected / total)),
            **{key: float(np.mean(values)) for key, values in found.items()}}


def pose_error(estimate: MotionEstimate, truth: Array) -> Array:
    """Return the body twist (6,) between an estimate's pose and the true one."""
    return np.asarray(se3.log(se3.compose(se3.inverse(truth), estimate.pose)))


def square(error: Array, estimate: MotionEstimate) -> float:
    """Return the normalized square of a pose's error."""
    return normalized(error, estimate.pose_covariance)


def normalized(error: Array, covariance: Array | None) -> float:
    """Return the square of an error over its covariance (6, 6)."""
    return float(error @ np.linalg.solve(np.asarray(covariance), error))


if __name__ == '__main__':
    sys.exit(main())
