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
The monitored tracker with nothing set, beside the bare solver: what a user gets out of the box.

    python -m benchmarks.stewart_defaults

Rows are disturbances, columns rates; the geometries, from 5 cm to 2 m across, take turns. A cell
says the greatest error of a pose over the greatest of the bare solver's, and the false alarms.
"""

from dataclasses import dataclass
import sys
from typing import Any

import numpy as np

from benchmarks.record import keep
from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.common.tables import print_table
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, MonitoredTracker, PoseSolver, SmoothTrajectory, StewartGeometry)

TABLE_1 = StewartGeometry.from_yaml(config_file('stewart_geometry.yaml'))
SIZES = (0.025, 0.1, 0.2, 0.5, 1.0)  # m, radius of the platform
RATES = (20, 100, 500, 1000, 2000)  # Hz
SAMPLES, LONGEST = 6000, 60.0  # of a run, and s
MAX_RATIO = 1.2
# True of a fast motion: the time to the singularity at its present rate.
TRUE_FLAGS = Flag.APPROACHING_SINGULARITY | Flag.NEAR_SINGULARITY
LATCHED = Flag.LEG_STEPPED | Flag.PARAMETER_TOO_SMALL | Flag.BRANCH_UNSURE
Figures = dict[str, Any]


@dataclass(frozen=True)
class Disturbance:
    """
    What is wrong with the readings, or with the motion.

    noise, step: m. lost: share of samples. jitter: s, of stamps, at most a fifth of a period.
    acceleration: m/s^2, of a motion that starts from a stand.
    """

    name: str
    motion: str = 'smooth'
    noise: float = 0.0
    step: float = 0.0
    lost: float = 0.0
    jitter: float = 0.0
    acceleration: float = 0.0


DISTURBANCES = (
    *(Disturbance(f'stands still, noise {1e6 * noise:g} um', 'still', noise)
      for noise in (0.0, 3e-5, 5e-5, 1e-4)),
    *(Disturbance(f'moves, noise {1e6 * noise:g} um', noise=noise) for noise in (0.0, 1e-5, 1e-4)),
    Disturbance('slow, noise 10 um', 'slow', 1e-5),
    Disturbance('vibrates, 30 Hz, 0.1 mm, noise 10 um', 'vibrating', 1e-5),
    *(Disturbance(f'{motion}, steps of {1e6 * step:g} um', motion, step=step)
      for motion in ('slow', 'smooth') for step in (1e-6, 1e-5, 1e-4, 1e-3)),
    Disturbance('moves, noise 50 um, 30 % lost', noise=5e-5, lost=0.3),
    Disturbance('moves, noise 10 um, jitter 2 ms', noise=1e-5, jitter=2e-3),
    *(Disturbance(f'{acceleration:g} m/s^2 from a stand, noise 10 um', 'shaken', 1e-5,
                  acceleration=acceleration) for acceleration in (7.6, 20.0)))


def main() -> int:
    """Measure everything."""
    print(f'figures in {keep("stewart_defaults", {"defaults": defaults()})}')
    return 0


def defaults() -> list[Figures]:
    """Run every disturbance at every rate."""
    print('nothing set: greatest pose error over the bare solver, false alarms, latched flags')
    rows, figures = [], []
    for k, disturbance in enumerate(DISTURBANCES):
        cells = []
        for j, rate in enumerate(RATES):
            figure = run(disturbance, rate, SIZES[(k + j) % len(SIZES)])
            figures.append(figure)
            mark = '' if figure['ratio'] <= MAX_RATIO and not figure['alarms'] else ' !'
            cells.append(f'{figure["ratio"]:.2f}, {figure["alarms"]}{mark}')
        rows.append([disturbance.name, *cells])
        print(f'  {disturbance.name}: {"; ".join(cells)}', flush=True)
    print_table(['nothing set', *(f'{rate} Hz' for rate in RATES)], rows)
    bad = [figure for figure in figures
           if figure['ratio'] > MAX_RATIO or figure['alarms'] or figure['latched']]
    hours = sum(figure['seconds'] for figure in figures) / 3600.0
    print(f'{len(bad)} of {len(figures)} cells with a pose worse than {MAX_RATIO} times the '
          f'solver, an alarm or a latched flag, in {hours:.2f} h')
    return figures


def run(disturbance: Disturbance, rate: int, size: float) -> Figures:
    """Track one run with the tracker and the solver."""
    scale = size / TABLE_1.characteristic_length
    geometry = StewartGeometry(
        TABLE_1.leg_names, scale * TABLE_1.base_joints, scale * TABLE_1.platform_joints,
        np.tile([0.0, np.inf], (6, 1)))
    home = se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 0.5 * scale])
    times = np.arange(min(SAMPLES, round(LONGEST * rate))) / rate
    poses = poses_of(disturbance, home, times, scale)
    rng = np.random.default_rng(rate)
    lengths = leg_lengths(geometry, poses)
    lengths += disturbance.noise * rng.normal(size=lengths.shape)
    if disturbance.step:
        lengths = disturbance.step * np.round(lengths / disturbance.step)
    jitter = min(disturbance.jitter, 0.2 / rate)
    stamps = np.round(1e9 * (1.0 + times + jitter * rng.normal(size=len(times)))).astype(int)
    kept = np.flatnonzero((rng.random(len(times)) >= disturbance.lost)
                          & (stamps >= np.maximum.accumulate(stamps))
                          & (np.diff(stamps, prepend=0) > 0))
    bare = PoseSolver(geometry).solve_batch(lengths[kept], poses[kept]).poses
    tracker, found, alarms = MonitoredTracker(geometry, home), [], 0
    for k in kept.tolist():
        monitored = tracker.update(int(stamps[k]), lengths[k])
        found.append(monitored.pose)
        alarms += bool(monitored.flags & ~TRUE_FLAGS)
    rounding = 1e-9 * size
    mine, solver = (max(error(each, poses[kept], size), rounding) for each in (found, bare))
    return {'disturbance': disturbance.name, 'rate': rate, 'size': size, 'ratio': mine / solver,
            'alarms': alarms, 'latched': bool(monitored.flags & LATCHED),
            'seconds': float(times[-1]), 'noise': tracker.noise.noise}


def error(found: Any, truth: Array, size: float) -> float:
    """Return the largest error of poses, m, rotations at the radius of the platform."""
    errors = np.abs(se3.log(se3.compose(se3.inverse(truth), np.asarray(found))))
    return float((errors * np.array([size] * 3 + [1.0] * 3)).max())


def poses_of(disturbance: Disturbance, home: Array, times: Array, scale: float) -> Array:
    """Return the true poses (n, 4, 4), m."""
    lengths = np.array([1.0] * 3 + [scale] * 3)
    if disturbance.motion in ('smooth', 'slow'):
        slower = 10.0 if disturbance.motion == 'slow' else 1.0
        return SmoothTrajectory(
            home, amplitudes=lengths * [0.2, 0.2, 0.3, 0.06, 0.06, 0.06],
            frequencies=np.array([0.23, 0.31, 0.17, 0.29, 0.19, 0.37]),
            phases=np.arange(6.0)).pose(times / slower)
    coordinates = np.zeros((len(times), 6))
    if disturbance.motion == 'vibrating':
        coordinates[:, 5] = 1e-4 * np.sin(60.0 * np.pi * times)
        coordinates[:, 3] = 5e-5 * np.sin(60.0 * np.pi * times + 1.0)
    if disturbance.motion == 'shaken':  # up and down by a tenth of the height, at most
        amplitude = min(0.1 * scale, disturbance.acceleration / (3.0 * np.pi) ** 2)
        omega = np.sqrt(disturbance.acceleration / amplitude)
        moving = np.maximum(times - 0.3 * times[-1], 0.0)
        coordinates[:, 5] = amplitude * (np.cos(omega * moving) - 1.0)
        coordinates[:, 3] = 0.3 * amplitude * (np.cos(0.7 * omega * moving) - 1.0)
    return se3.compose(home, se3.exp(coordinates))


if __name__ == '__main__':
    sys.exit(main())
