# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Whether pose, twist and predictions are as wrong as their covariances say.

    python -m benchmarks.stewart.estimates

The normalized estimation error squared (NEES) of six numbers is 6 on average where the covariance
holds. At 24 the deviations are half as large as they should be.
"""

import sys

import numpy as np

from benchmarks.record import keep
from benchmarks.stewart.motions import Figures, GEOMETRY, good_motion, HOME
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import print_table
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    leg_lengths, MonitorConfig, MonitoredPose, MonitoredTracker, MotionEstimator)

RATES = (20, 50, 100, 200, 500, 1000)  # Hz
NOISES = (1e-6, 1e-5, 1e-4)  # m
AHEAD = (0.01, 0.05, 0.1)  # s
SAMPLES, SKIPPED, PREDICT_EVERY = 6000, 500, 20


def main() -> int:
    """Measure the table."""
    print(f'figures in {keep("stewart_estimates", {"estimates": estimates()})}')
    return 0


def estimates() -> list[Figures]:
    """Return the mean NEES of pose, twist and predictions, with the noise given and estimated."""
    print('normalized squared errors (NEES): 6 where the covariance holds; '
          f'{SAMPLES} samples a row')
    rows, figures = [], []
    for given in (True, False):
        for noise in NOISES:
            for rate in RATES:
                row = {'given': given, 'noise': noise, 'rate': rate, **run(rate, noise, given)}
                figures.append(row)
                rows.append(['given' if given else 'nothing set', f'{1e6 * noise:g}', rate, *(
                    f'{row[key]:.1f}' for key in ('pose', 'twist', *map(str, AHEAD)))])
            print(f'  noise {1e6 * noise:g} um {"given" if given else "estimated"} done',
                  flush=True)
    print_table(['leg_noise', 'noise, um', 'Hz', 'pose', 'twist', *(
        f'predicted {1e3 * ahead:g} ms' for ahead in AHEAD)], rows)
    return figures


def run(rate: int, noise: float, given: bool) -> dict[str, float]:
    """Return the mean NEES of each estimate along one motion."""
    motion, rng = good_motion(7), np.random.default_rng(3)
    times = 2.0 + np.arange(SAMPLES) / rate
    lengths = leg_lengths(GEOMETRY, motion.pose(times))
    lengths += noise * rng.normal(size=lengths.shape)
    tracker = MonitoredTracker(
        GEOMETRY, HOME, config=MonitorConfig(leg_noise=noise if given else 0.0))
    estimator = MotionEstimator(GEOMETRY)
    squares: dict[str, list[float]] = {key: [] for key in ('pose', 'twist', *map(str, AHEAD))}
    for k, (time, values) in enumerate(zip(times.tolist(), lengths)):
        tracked = tracker.track(round(1e9 * time), values)
        if k < SKIPPED:
            continue
        now = estimator.of(tracked)
        squares['pose'].append(_square(_between(motion.pose(time), now.pose),
                                       now.pose_covariance))
        squares['twist'].append(_square(now.twist - motion.twist(time), now.twist_covariance))
        if k % PREDICT_EVERY == 0:
            for ahead in AHEAD:
                squares[str(ahead)] += _predicted(
                    estimator, tracked, ahead, motion.pose(time + ahead))
    return {key: float(np.mean(found)) if found else float('nan')
            for key, found in squares.items()}


def _predicted(
        estimator: MotionEstimator, tracked: MonitoredPose, ahead: float, truth: Array
) -> list[float]:
    try:
        later = estimator.predict(tracked, ahead)
    except LiedynError:  # refused: not known for so long
        return []
    return [_square(_between(truth, later.pose), later.pose_covariance)]


def _between(truth: Array, pose: Array) -> Array:
    return se3.log(se3.compose(se3.inverse(truth), pose))


def _square(found: Array, covariance: Array | None) -> float:
    if covariance is None:
        return float('nan')
    return float(found @ np.linalg.solve(covariance, found))


if __name__ == '__main__':
    sys.exit(main())
