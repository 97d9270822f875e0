# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Noise that grows or falls at once, with nothing set: the worst pose over the bare solver's.

    python -m benchmarks.stewart.onsets --seeds 100

Rows say whose noise of 10 um changes and by which factor, columns the rate. Each cell has runs on
the five platforms of stewart_defaults, with a moment of the motion and noise of their own. The
figure is the strictest one: the greatest ratio of two errors of the same sample.
"""

import argparse
from collections.abc import Sequence
import sys
from typing import Any, NamedTuple

import numpy as np

from benchmarks.record import keep
from benchmarks.stewart.defaults import errors, LATCHED, MAX_RATIO, platform, PLATFORMS
from liedyn_ros.commands.work import add_work_options, all_results, LOCAL_WORK
from liedyn_ros.common.markup import print_table
from liedyn_ros.stewart import leg_lengths, MonitoredTracker, PoseSolver, SmoothTrajectory

RATES = (100, 200, 500, 1000, 2000)  # Hz
SAMPLES = 800  # of a run: a doubt of a parameter lasts 330 at most after the noise is known again
ONSET, SPREAD = 300, 50  # sample from which on noise changes; at most so many later
NOISE = 1e-5  # m, the smaller of the two
LEGS = {'one leg': (2,), 'two legs': (2, 4), 'all legs': tuple(range(6))}
FACTORS = (5.0, 20.0, 40.0, 100.0, 0.05)


class Onset(NamedTuple):
    """One run: whose noise changes, by which factor, at a rate (Hz)."""

    legs: str
    factor: float
    rate: int
    seed: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all onsets."""
    parser = argparse.ArgumentParser(
        prog='stewart_onsets', description='Noise that grows or falls at once.',
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument('--seeds', type=int, default=100, help='runs of a cell')
    parser.add_argument('--first', type=int, default=0, help='first of them')
    add_work_options(parser)
    given = parser.parse_args(arguments)
    figures = onsets(given.seeds, given.first, given)
    print(f'figures in {keep("stewart_onsets", {"onsets": figures})}')
    return 0


def onsets(seeds: int, first: int = 0,
           work: argparse.Namespace = LOCAL_WORK) -> list[dict[str, Any]]:
    """Run every onset at every rate."""
    kinds = [(factor, legs) for factor in FACTORS for legs in LEGS]
    figures = all_results(run, [
        Onset(legs, factor, rate, seed) for factor, legs in kinds for rate in RATES
        for seed in range(first, first + seeds)], work)
    print_table(['noise', *(f'{rate} Hz' for rate in RATES)], [
        [f'{legs}, {factor:g} times', *(onset_cell(
            [each for each in figures
             if (each['factor'], each['legs'], each['rate']) == (factor, legs, rate)])
            for rate in RATES)] for factor, legs in kinds])
    worse = sum(each['ratio'] > MAX_RATIO for each in figures)
    print(f'{worse} of {len(figures)} runs with a pose worse than {MAX_RATIO} times the solver')
    return figures


def onset_cell(runs: list[dict[str, Any]]) -> str:
    """Return the worst ratio of some runs, how many are worse and how many left a flag."""
    worse = sum(each['ratio'] > MAX_RATIO for each in runs)
    latched = sum(each['latched'] for each in runs)
    return '; '.join((f'{max(each["ratio"] for each in runs):.2f}',
                      *([f'{worse} worse'] if worse else []),
                      *([f'{latched} latched'] if latched else [])))


def run(onset: Onset) -> dict[str, Any]:
    """Track one onset with the tracker and the solver."""
    chosen = list(LEGS[onset.legs])
    rng = np.random.default_rng([onset.seed, onset.rate, round(100.0 * onset.factor), len(chosen)])
    name, radius, height = PLATFORMS[int(rng.integers(len(PLATFORMS)))]
    geometry, home = platform(name, radius, height)
    times = np.arange(SAMPLES) / onset.rate
    poses = SmoothTrajectory(
        home, amplitudes=np.array([0.2, 0.2, 0.3] + [0.3 * radius] * 3),
        frequencies=np.array([0.23, 0.31, 0.17, 0.29, 0.19, 0.37]),
        phases=np.arange(6.0)).pose(rng.uniform(0.0, 40.0) + times)
    noise = np.full((SAMPLES, 6), max(1.0, 1.0 / onset.factor) * NOISE)
    noise[ONSET + int(rng.integers(SPREAD)):, chosen] *= onset.factor
    readings = leg_lengths(geometry, poses) + noise * rng.normal(size=noise.shape)
    tracker = MonitoredTracker(geometry, home)
    tracked = [tracker.track(round(1e9 * (1.0 + time)), values)
               for time, values in zip(times.tolist(), readings)]
    mine, solver = (errors(found, poses, radius) for found in (
        np.array([each.pose for each in tracked]),
        PoseSolver(geometry).solve_batch(readings, poses).poses))
    ratios = mine / solver
    return {'legs': onset.legs, 'factor': onset.factor, 'rate': onset.rate, 'seed': onset.seed,
            'platform': name, 'radius': radius, 'ratio': float(ratios.max()),
            'worse': int(np.count_nonzero(ratios > MAX_RATIO)),
            'largest': float(mine.max() / solver.max()),
            # A start whose branch home does not choose is flagged before.
            'latched': bool(tracked[-1].flags & LATCHED & ~tracked[ONSET - 1].flags)}


if __name__ == '__main__':
    sys.exit(main())
