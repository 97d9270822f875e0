# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The monitored tracker with nothing set, beside the bare solver: what a user gets out of the box.

    python -m benchmarks.stewart.defaults

Rows are disturbances, columns rates; each cell is five platforms, from 5 cm to 2 m across. It says
the worst pose's error over the bare solver's of the same readings, and the false alarms.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.record import keep
from liedyn_ros.commands.work import add_work_options, all_results, LOCAL_WORK
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, load_geometry, MonitoredTracker, PoseSolver, SmoothTrajectory, Status,
    StewartGeometry)

# Geometry file, radius of the platform joints (m), height of home over that radius.
PLATFORMS = (('geometry', 0.025, 2.5), ('6_3', 0.1, 2.25), ('octahedron', 0.2, 2.25),
             ('geometry', 0.5, 2.5), ('geometry', 1.0, 2.0))
RATES = (20, 100, 200, 500, 1000, 2000)  # Hz
SAMPLES, LONGEST = 12_000, 300.0  # of a run, and s
SEEDS = 10_000  # apart, of two runs of one rate
MAX_RATIO = 1.2
# True of a fast motion: the time to the singularity at its present rate.
TRUE_FLAGS = Flag.APPROACHING_SINGULARITY | Flag.NEAR_SINGULARITY
LATCHED = Flag.LEG_STEPPED | Flag.PARAMETER_TOO_SMALL | Flag.BRANCH_UNSURE
Figures = dict[str, Any]


@dataclass(frozen=True)
class Disturbance:
    """
    A fault of the readings, or of the motion.

    noise, step: m. lost: share of samples. jitter: s, of stamps; samples whose stamp is not after
    the one before are lost. acceleration: m/s^2, of a motion that starts from a stand. rates: of
    VELOCITIES, how the measured ones are spoilt from the middle on; empty where there are none.
    """

    name: str
    motion: str = 'smooth'
    noise: float = 0.0
    step: float = 0.0
    lost: float = 0.0
    jitter: float = 0.0
    acceleration: float = 0.0
    rates: str = ''
    repeats: tuple[float, ...] = (1.0,) * 6
    grows: tuple[float, ...] = (1.0,) * 6
    rise: float = 0.0
    tails: float = 0.0
    hum: float = 0.0


GROWTH = 0.5  # share of a run, after which noise changes
MUCH, TOLD_FOR = 10.0, 0.05  # ratio of growth that is reported as outliers, and for how long, s
FAR = 20.0  # deviations: a reading so far off is an outlier, whatever law gave it
HUM, HUM_OF_LEGS = 150.0, np.array([1.0, -1.0, 1.0, 0.5, 0.0, 1.0])  # Hz, and its share
UNEQUAL = (0.1, 1.0, 10.0, 3.0, 0.2, 20.0)
ONE_LEG = np.eye(6)[2]
RIGHT, SPIKE = 'right', 'off by 10 m/s in one sample of one leg'
VELOCITIES: dict[str, Callable[[Array], Array]] = {
    RIGHT: np.copy, 'zero': np.zeros_like, 'in mm/s': lambda rates: 1e3 * rates,
    'scaled by 1.5': lambda rates: 1.5 * rates, 'reversed': lambda rates: -rates,
    'permuted': lambda rates: np.roll(rates, 1, axis=1),
    'stale': lambda rates: np.tile(rates[0], (len(rates), 1)),
    SPIKE: lambda rates: rates + 10.0 * np.eye(len(rates), 6)[0] * np.eye(len(rates), 1)}
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
                  acceleration=acceleration) for acceleration in (7.6, 20.0)),
    *(Disturbance(f'velocities {rates}, noise 10 um', noise=1e-5, rates=rates)
      for rates in VELOCITIES),
    *(Disturbance(f'readings repeat {times:g} times, noise 10 um', noise=1e-5,
                  repeats=(times,) * 6) for times in (1.1, 2.0, 3.3, 5.0, 20.0)),
    *(Disturbance(f'readings of a leg repeat {times:g} times, noise 10 um', noise=1e-5,
                  repeats=tuple(1.0 + (times - 1.0) * ONE_LEG)) for times in (2.0, 10.0, 20.0)),
    Disturbance('buses of six rates, noise 10 um', noise=1e-5,
                repeats=(1.0, 2.0, 3.3, 5.0, 7.3, 20.0)),
    Disturbance('noise of 1 to 200 um, by leg', noise=1e-5, grows=UNEQUAL, rise=-1.0),
    Disturbance('noise of a leg from 10 to 200 um, at once', noise=1e-5,
                grows=tuple(1.0 + 19.0 * ONE_LEG)),
    Disturbance('noise of a leg from 10 to 200 um, slowly', noise=1e-5,
                grows=tuple(1.0 + 19.0 * ONE_LEG), rise=0.4),
    Disturbance('noise from 10 to 200 um, at once', noise=1e-5, grows=(20.0,) * 6),
    Disturbance('noise from 200 to 10 um, at once', noise=2e-4, grows=(0.05,) * 6),
    Disturbance('Student t3, 20 um', noise=2e-5, tails=3.0),
    Disturbance('hum of 50 um, noise 10 um', noise=1e-5, hum=5e-5))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure everything."""
    parser = argparse.ArgumentParser(
        prog='stewart_defaults', description='The monitored tracker with nothing set.',
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument('--only', default='', help='part of the name of a disturbance')
    parser.add_argument('--samples', type=int, default=SAMPLES,
                        help=f'of a run, which takes {LONGEST:g} s at most')
    parser.add_argument('--seeds', type=int, default=1, help='runs of each with other noise')
    add_work_options(parser)
    given = parser.parse_args(arguments)
    figures = defaults(given.samples, given.only, given.seeds, given)
    print(f'figures in {keep("stewart_defaults", {"defaults": figures})}')
    return 0


class Run(NamedTuple):
    """One run of the tracker: what is wrong, its rate (Hz), and the platform of PLATFORMS."""

    disturbance: Disturbance
    rate: int
    samples: int
    platform: tuple[str, float, float]
    seed: int


def defaults(samples: int = SAMPLES, only: str = '', seeds: int = 1,
             work: argparse.Namespace = LOCAL_WORK) -> list[Figures]:
    """Run every disturbance, or those whose name has a part, at every rate on every platform."""
    print('nothing set: worst pose error over the bare solver, false alarms (samples flagged)')
    rows, figures = [], []
    for disturbance in (each for each in DISTURBANCES if only in each.name):
        cells, begin, each_rate = [], time.perf_counter(), len(PLATFORMS) * seeds
        of_all = all_results(run, [
            Run(disturbance, rate, samples, platform, rate + SEEDS * seed)
            for rate in RATES for platform in PLATFORMS for seed in range(seeds)], work)
        figures.extend(of_all)
        for first in range(0, len(of_all), each_rate):
            found = of_all[first:first + each_rate]
            worst = max(figure['ratio'] for figure in found)
            alarms, flagged = (sum(figure[key] for figure in found)
                               for key in ('alarms', 'flagged'))
            mark = ' !' if any(bad(figure) for figure in found) else ''
            mark += ' no pose' if any(figure['unsolved'] for figure in found) else ''
            cells.append(f'{worst:.2f}, {alarms} ({flagged}){mark}')
        rows.append([disturbance.name, *cells])
        print(f'  {disturbance.name}: {"; ".join(cells)} '
              f'({time.perf_counter() - begin:.0f} s)', flush=True)
    print_table(['nothing set', *(f'{rate} Hz' for rate in RATES)], rows)
    hours = sum(figure['seconds'] for figure in figures) / 3600.0
    print(f'{sum(map(bad, figures))} of {len(figures)} runs with a pose worse than {MAX_RATIO} '
          'times the solver, an alarm or a latched flag; '
          f'{sum(figure["alarms"] for figure in figures)} alarms in {hours:.2f} h')
    return figures


def bad(figure: Figures) -> bool:
    """Return whether a run is worse than it may be; a false alarm is allowed once an hour."""
    return bool(figure['ratio'] > MAX_RATIO or figure['alarms'] or figure['latched']
                or figure['untold'] or figure['silent'])


def run(asked: Run) -> Figures:
    """Track one run with the tracker and the solver."""
    disturbance, rate, samples, (name, radius, height), seed = asked
    geometry, home = platform(name, radius, height)
    times = np.arange(min(samples, round(LONGEST * rate))) / rate
    poses = poses_of(disturbance, home, times, radius / 0.2)
    rng = np.random.default_rng(seed)
    lengths = readings_of(disturbance, leg_lengths(geometry, poses), times, rng)
    stamps = np.round(1e9 * (1.0 + times + disturbance.jitter * rng.normal(size=len(times))))
    before = np.maximum.accumulate(np.concatenate(([0.0], stamps[:-1])))
    kept = np.flatnonzero((rng.random(len(times)) >= disturbance.lost) & (stamps > before))
    bare = PoseSolver(geometry).solve_batch(lengths[kept], poses[kept])
    rates = rates_of(disturbance, geometry, poses, rate)
    true = true_flags(disturbance, lengths - leg_lengths(geometry, poses), rate)
    tracker, found, flags = MonitoredTracker(geometry, home), np.empty((len(kept), 4, 4)), []
    untold = Flag.RATES_CONTRADICT if disturbance.rates not in ('', RIGHT) else Flag(0)
    for j, k in enumerate(kept.tolist()):
        monitored = tracker.track(int(stamps[k]), lengths[k], None if rates is None else rates[k])
        found[j] = monitored.pose
        flags.append(monitored.flags & ~true[k])
        untold &= ~monitored.flags
    flagged = np.array([bool(flag) for flag in flags])
    mine, solver = (errors(each, poses[kept], radius) for each in (found, bare.poses))
    ratios = mine / np.maximum(solver, 1e-9 * radius)
    # Readings that have no pose end the comparison: behind them, wrong poses have to be flagged.
    unsolved = np.flatnonzero(bare.statuses != Status.CONVERGED)
    end = int(unsolved[0]) if len(unsolved) else len(kept)
    alarms = np.diff(flagged[:end], prepend=False) & flagged[:end]
    return {'disturbance': disturbance.name, 'rate': rate, 'platform': name, 'radius': radius,
            'ratio': float(ratios[:end].max()),
            'worst': float(mine[:end].max()), 'solver': float(solver[:end].max()),
            'alarms': int(np.count_nonzero(alarms)),
            'flagged': int(np.count_nonzero(flagged[:end])),
            'flags': [flag.name for flag in Flag if any(flag in each for each in flags[:end])],
            'untold': bool(untold), 'latched': end == len(kept) and bool(flags[-1] & LATCHED),
            'silent': int(np.count_nonzero((ratios[end:] > MAX_RATIO) & ~flagged[end:])),
            'unsolved': len(unsolved), 'seconds': float(times[kept[end - 1]]),
            'samples': end, 'noise': tracker.noise.noise}


def true_flags(disturbance: Disturbance, errors_of_legs: Array, rate: int) -> list[Flag]:
    """
    Return the flags that are no false alarm, sample by sample.

    They are those of wrong velocities, and of a leg whose noise grows MUCH at once, for a short
    time. So are those of a reading off by more than FAR deviations, and of the sample after it.
    errors_of_legs: (n, 6), m.
    """
    count = len(errors_of_legs)
    true, middle = [TRUE_FLAGS] * count, round(GROWTH * count)
    if disturbance.rates not in ('', RIGHT):
        true[middle:] = [TRUE_FLAGS | Flag.RATES_CONTRADICT] * (count - middle)
    if disturbance.rise == 0.0 and max(disturbance.grows) >= MUCH:
        for k in range(middle, min(count, middle + round(TOLD_FOR * rate) + 2)):
            true[k] |= Flag.LEG_OUTLIER | Flag.LEGS_JUMPED
    if disturbance.tails:
        far = (np.abs(errors_of_legs) > FAR * disturbance.noise).any(axis=1)
        for k in np.flatnonzero(far | np.roll(far, 1)).tolist():
            true[k] |= Flag.LEG_OUTLIER
    return true


def readings_of(
        disturbance: Disturbance, lengths: Array, times: Array, rng: np.random.Generator
) -> Array:
    """Return readings (n, 6) of lengths (n, 6), m."""
    count, tails = len(lengths), disturbance.tails
    noise = disturbance.noise * (rng.standard_t(tails, size=lengths.shape) if tails
                                 else rng.normal(size=lengths.shape))
    begin = GROWTH if disturbance.rise >= 0.0 else 0.0
    risen = np.clip((np.arange(count) / count - begin) / max(disturbance.rise, 1e-9), 0.0, 1.0)
    readings = lengths + noise * np.power(disturbance.grows, risen[:, None])
    readings += disturbance.hum * np.outer(np.sin(2.0 * np.pi * HUM * times), HUM_OF_LEGS)
    if disturbance.step:
        readings = disturbance.step * np.round(readings / disturbance.step)
    for leg, times_kept in enumerate(disturbance.repeats):
        taken = np.floor(np.floor(np.arange(count) / times_kept + 1e-9) * times_kept)
        readings[:, leg] = readings[taken.astype(int), leg]
    return readings


def rates_of(
        disturbance: Disturbance, geometry: StewartGeometry, poses: Array, rate: int
) -> Array | None:
    """Return measured velocities (n, 6), m/s, spoilt from the middle on; None for none."""
    if not disturbance.rates:
        return None
    rates = np.gradient(leg_lengths(geometry, poses), 1.0 / rate, axis=0)
    middle = len(rates) // 2
    rates[middle:] = VELOCITIES[disturbance.rates](rates[middle:])
    return rates


def platform(name: str, radius: float, height: float) -> tuple[StewartGeometry, Array]:
    """Return an example's geometry with platform joints at a radius (m), and its home pose."""
    given = load_geometry(config_file(f'stewart_{name}.yaml'))
    scale = radius / given.characteristic_length
    geometry = replace(
        given, base_joints=scale * given.base_joints,
        platform_joints=scale * given.platform_joints,
        length_limits=np.tile([0.0, np.inf], (6, 1)))
    return geometry, se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, height * radius])


def errors(found: Array, truth: Array, radius: float) -> Array:
    """Return the largest error of each pose (n,), m, rotations at the radius of the platform."""
    twists = np.abs(se3.log(se3.compose(se3.inverse(truth), found)))
    return (twists * np.array([radius] * 3 + [1.0] * 3)).max(axis=1)


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
