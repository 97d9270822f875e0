# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
How much of the faults of one leg any test could name, beside what the tracker names.

    python -m benchmarks.stewart.bounds

Two references, for the same runs. Both know the true noise, and the leg, the moment and the shape
of the fault. Each leg has one false alarm an hour, as the tracker's thresholds have (14.18):

- The best test under the tracker's own promise. A leg may accelerate as leg_acceleration says,
  and nothing else is known of its motion. The best test against all such motions is that against
  the one nearest to the faulty readings (Neyman and Pearson): no test has more power.
- A smoother that also knows how this motion behaves, and uses all readings, past and future.
"""

import argparse
from collections.abc import Sequence
import sys

import numpy as np
from scipy.linalg import solveh_banded
from scipy.optimize import lsq_linear
from scipy.stats import norm

from benchmarks.record import keep
from benchmarks.stewart.faults import (
    corrupt, detect, DETECTIONS, FROZEN, KINDS, NOISE, SOUND, spoilt_runs)
from benchmarks.stewart.motions import Figures, GEOMETRY
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.stewart import leg_lengths

RATES = (50, 100, 200, 500, 1000)  # Hz
ASSUMED = {0.0: 25.0, 1.0: 1.0}  # m/s^2, by leg_acceleration: 0.6 is the greatest of these motions
AROUND = 30  # samples before the fault and after it: 60 change no share by 0.01
LAGS = (0, 1, 2, 5, AROUND)  # samples after the fault that a test waits for
ORDER = 3  # differences of the motion that the smoother takes for white


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all cells, print them, and keep them."""
    parser = argparse.ArgumentParser(prog='stewart_bounds', description='Best tests for faults.')
    parser.add_argument('--runs', type=int, default=DETECTIONS, help='a cell')
    given = parser.parse_args(arguments)
    print(f'faults of one leg, noise {1e6 * NOISE:g} um, {given.runs} runs a cell: named by the '
          'tracker / by the best test of its promise / by a smoother that knows the motion, %')
    found, rows = [], []
    for kind, size in ((kind, size) for kind, sizes in KINDS for size in sizes):
        for told in ASSUMED:
            cells = [compare(kind, size, told, rate, given.runs) for rate in RATES]
            found.extend(cells)
            rows.append([kind, f'{1e3 * size:g}', told or 'not set', *map(bound_cell, cells)])
            print('  ', *rows[-1], flush=True)
    print_table(['fault', 'size, mm', 'leg_acceleration', *(f'{rate} Hz' for rate in RATES)], rows)
    print(f'false alarms of the smoother: {sum(cell["alarms"] for cell in found)}')
    print(f'figures in {keep("stewart_bounds", {"bounds": found})}')
    return 0


def bound_cell(cell: Figures) -> str:
    """Return what share of the runs the tracker, the best test and the smoother name, in %."""
    shares = cell['named'] / cell['runs'], cell['bound'][-1], cell['smoothed'] / cell['runs']
    return ' / '.join(f'{100.0 * share:.0f}' for share in shares)


def compare(kind: str, size: float, told: float, rate: int, runs: int) -> Figures:
    """Return what share of some runs at a rate (Hz) the tracker and both references name."""
    begin, limit = round(SOUND * rate), ASSUMED[told] / rate**2
    found = detect(kind, size, NOISE, rate, runs, told)
    if kind == FROZEN:  # readings with noise never repeat by chance
        return {**found, 'acceleration': told, 'bound': [1.0] * len(LAGS), 'smoothed': runs,
                'alarms': 0}
    powers, smoothed, alarms, rng = [], 0, 0, np.random.default_rng(1)
    for leg, poses, readings in spoilt_runs(kind, size, rate, runs):
        motion, true = leg_lengths(GEOMETRY, poses)[:, leg], readings[:, leg]
        fault = shape(kind, size, motion, begin)
        powers.append([
            power(distance(motion[window], fault[window], limit) / NOISE, rate)
            for window in (slice(begin - AROUND, begin + lag + 1) for lag in LAGS)])
        deviation = np.diff(motion, ORDER).std()
        smoothed += named_by_smoother(true, fault, deviation, rate)
        sound = motion + NOISE * rng.normal(size=len(motion))
        alarms += named_by_smoother(sound, fault, deviation, rate)
    return {**found, 'acceleration': told, 'bound': np.mean(powers, axis=0).tolist(),
            'smoothed': int(smoothed), 'alarms': int(alarms)}


def shape(kind: str, size: float, motion: Array, begin: int) -> Array:
    """Return what a fault adds to the true readings (n,), m, of a leg."""
    spoilt = motion.copy()
    corrupt(kind, size, spoilt[begin:], np.random.default_rng(0))
    return spoilt - motion


def distance(motion: Array, fault: Array, limit: float) -> float:
    """
    Return how far faulty readings are from the nearest motion that a leg may have, m.

    motion, fault: (n,), m; limit: of a second difference, m. With a distance d the best test of
    white noise has the power Phi(d / deviation - z) (Neyman and Pearson).
    """
    count = len(motion)
    steps = np.arange(count)[:, None] - np.arange(1, count - 1)
    basis = np.hstack((np.ones((count, 1)), np.arange(count)[:, None] - count / 2.0,
                       np.maximum(steps, 0)))
    own = np.diff(motion, 2) / NOISE
    free = np.array([np.inf, np.inf])
    lower, upper = (np.concatenate((sign * free, sign * limit / NOISE - own))
                    for sign in (-1.0, 1.0))
    nearest = lsq_linear(basis, fault / NOISE, (lower, upper), method='bvls', tol=1e-12)
    return float(NOISE * (2.0 * nearest.cost) ** 0.5)


def threshold(rate: int) -> float:
    """Return how many deviations noise at a rate (Hz) exceeds once an hour, up or down (14.18)."""
    return float(norm.isf(0.5 / (3600.0 * rate)))


def power(deviations: float, rate: int) -> float:
    """Return the probability that the best test names a fault so many deviations away."""
    return float(norm.cdf(deviations - threshold(rate)))


def named_by_smoother(readings: Array, fault: Array, deviation: float, rate: int) -> bool:
    """Return whether the likelihood of a fault (n,) of unknown size in readings (n,) is enough."""
    weights = rough(fault, (NOISE / deviation) ** 2)
    score = weights @ readings / (NOISE * (weights @ fault) ** 0.5)
    return bool(abs(score) > threshold(rate))


def rough(readings: Array, ratio: float) -> Array:
    """
    Return readings (n,) less the smoothed ones: what no motion of white differences explains.

    ratio: variance of noise over that of the ORDER-th differences of the motion. The smoother is
    that of Whittaker, (1 + ratio D'D)^-1, and of Rauch, Tung and Striebel for this motion with a
    free start. Its rest is D' (DD' + 1/ratio)^-1 D, without differences of large numbers.
    """
    stencil = np.array([1.0])
    for _ in range(ORDER):
        stencil = np.convolve(stencil, [1.0, -1.0])
    rows = len(readings) - ORDER
    band = np.array([np.full(rows, stencil[k:] @ stencil[:len(stencil) - k])
                     for k in range(ORDER, -1, -1)])
    band[-1] += 1.0 / ratio
    return np.convolve(solveh_banded(band, np.diff(readings, ORDER)), stencil[::-1])


if __name__ == '__main__':
    sys.exit(main())
