# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Faults of one leg: whether it is named, how soon, and what the pose's error is until then.

    python -m benchmarks.stewart.faults
    python -m benchmarks.stewart.faults --only detection
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
import statistics
import sys

import numpy as np

from benchmarks.record import keep
from benchmarks.stewart.motions import error, Figures, GEOMETRY, good_motion, HOME, RATE
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.lie import se3
from liedyn_ros.stewart import Flag, leg_lengths, MonitorConfig, MonitoredTracker
from liedyn_ros.stewart.tracking.sensor_monitor import OrientationSensor

QUANTIZATION_DEVIATION = 12 ** -0.5  # standard deviation of what rounding to steps takes, in steps
OUTLIER, STEP, FROZEN, BIAS = 'outlier', 'step', 'frozen', 'slow bias'
FREEZES, AFTER = 60, 5.0  # legs that freeze, of each step; s that they are watched
SUSPICIOUS = (Flag.LEG_OUTLIER | Flag.LEG_STEPPED | Flag.LEG_FROZEN | Flag.LEGS_JUMPED
              | Flag.PARAMETER_TOO_SMALL | Flag.BRANCH_UNSURE | Flag.BRANCH_WRONG)
TABLES = ('faults', 'frozen', 'detection')
DETECTED_AT = (20, 50, 100, 200, 500)  # Hz
KINDS = ((OUTLIER, (2e-4, 1e-3, 1e-2)), (STEP, (2e-4, 1e-3, 1e-2)), (FROZEN, (0.0,)),
         (BIAS, (2e-3,)))  # and sizes, m
SOUND, SPOILT, DETECTIONS = 5.0, 2.0, 24  # s before the fault, s with it, runs a cell
NOISE = 1e-5  # m


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the tables, or one of them."""
    parser = argparse.ArgumentParser(prog='stewart_faults', description='Faults of one leg.')
    parser.add_argument('--only', choices=TABLES, help='one table')
    parser.add_argument('--runs', type=int, default=DETECTIONS, help='a cell of detection')
    given = parser.parse_args(arguments)
    tables = {'faults': faults, 'frozen': frozen, 'detection': partial(detection, given.runs)}
    found = {name: table() for name, table in tables.items() if given.only in (None, name)}
    print(f'figures in {keep("stewart_faults", found)}')
    return 0


def faults() -> list[Figures]:
    """Corrupt one leg and measure whether it is named, and the error of the pose."""
    print('faults of one leg, noise 10 um, 60 runs a row: each leg, moments at random')
    rng, rows, figures = np.random.default_rng(3), [], []
    for kind, size in ((OUTLIER, 2e-4), (OUTLIER, 1e-3), (OUTLIER, 1e-2), (STEP, 1e-3),
                       (FROZEN, 0.0), (BIAS, 2e-3), (f'{BIAS}, IMU', 2e-3)):
        runs = [spoil(kind, size, k % 6, rng) for k in range(60)]
        found = [run for run in runs if run['named']]
        row = {'kind': kind, 'size': size, 'named': len(found) / len(runs),
               'others': sum(run['others'] for run in runs) / len(runs),
               'delay': statistics.median(r['delay'] for r in found) if found else None,
               'error': statistics.median(run['error'] for run in runs)}
        figures.append(row)
        rows.append([kind, f'{1e3 * size:g}', f'{100 * row["named"]:.0f} %',
                     f'{100 * row["others"]:.0f} %',
                     '-' if row['delay'] is None else f'{1e3 * row["delay"]:.0f}',
                     f'{1e3 * row["error"]:.3f}'])
        print(f'  {kind} done', flush=True)
    print_table(['fault', 'size, mm', 'leg named', 'another named', 'after, ms',
                 'pose error, mm or mrad'], rows)
    return figures


def spoil(kind: str, size: float, leg: int, rng: np.random.Generator) -> Figures:
    """Track 1 s with a fault from half time on; return who was named, when, and the error."""
    imu = OrientationSensor(5e-4) if kind.endswith('IMU') else None
    tracker = MonitoredTracker(GEOMETRY, HOME, config=MonitorConfig(
        leg_noise=1e-5, sensor=imu, sensor_time=0.1))
    offset, begin = rng.uniform(2.0, 20.0), 500
    times = offset + np.arange(1000) / RATE
    poses = good_motion(int(rng.integers(1000))).pose(times)
    lengths = leg_lengths(GEOMETRY, poses) + 1e-5 * rng.normal(size=(1000, 6))
    corrupt(kind, size, lengths[begin:, leg], rng)
    named, delay, others, worst = False, None, False, 0.0
    for k, (pose, values) in enumerate(zip(poses, lengths)):
        wobble = se3.exp([*(5e-4 * rng.normal(size=3)), 0.0, 0.0, 0.0])[:3, :3]
        safe = tracker.track((k + 1) * 10**6, values, reading=imu and pose[:3, :3] @ wobble)
        others |= any(other != leg for other in safe.legs)
        if leg in safe.legs and not named:
            named, delay = True, (k - begin) / RATE
        worst = max(worst, error(safe.pose, pose)) if k >= begin else worst
    return {'named': named, 'delay': delay, 'others': others, 'error': worst}


def corrupt(kind: str, size: float, readings: Array, rng: np.random.Generator) -> None:
    """Spoil the readings (n,), m, of one leg, from the first on."""
    if kind == OUTLIER:
        readings[0] += size * rng.choice((-1.0, 1.0))
    elif kind == STEP:
        readings += size
    elif kind == FROZEN:
        readings[:] = readings[0]
    else:
        readings += np.linspace(0.0, size, len(readings))


def detection(runs: int = DETECTIONS) -> list[Figures]:
    """Corrupt one leg at slow rates, with the noise given and with nothing set."""
    print(f'faults of one leg, noise 10 um, {runs} runs a cell: runs in which the leg is '
          'named, another is, none is flagged; median of the largest error, mm or mrad')
    figures, rows = [], []
    for kind, sizes in KINDS:
        for size in sizes:
            for noise in (NOISE, 0.0):
                found = [detect(kind, size, noise, rate, runs) for rate in DETECTED_AT]
                figures.extend(found)
                rows.append([kind, f'{1e3 * size:g}', 'given' if noise else 'nothing set', *(
                    f'{cell["named"]}, {cell["others"]}, {cell["silent"]}; '
                    f'{1e3 * cell["error"]:.2g}' for cell in found)])
                print('  ', *rows[-1], flush=True)
    print_table(['fault', 'size, mm', 'noise', *(f'{rate} Hz' for rate in DETECTED_AT)], rows)
    return figures


def detect(kind: str, size: float, noise: float, rate: int, count: int,
           acceleration: float = 0.0) -> Figures:
    """
    Return how many of some runs at a rate (Hz) name the leg, and after how many samples.

    noise: m, and acceleration: m/s^2, are given, or 0.
    """
    runs, config = [], MonitorConfig(leg_noise=noise, leg_acceleration=acceleration)
    for leg, poses, lengths in spoilt_runs(kind, size, rate, count):
        tracker = MonitoredTracker(GEOMETRY, HOME, config=config)
        tracked = [tracker.track(round(1e9 * (1.0 + n / rate)), values)
                   for n, values in enumerate(lengths)]
        begin = round(SOUND * rate)
        spoilt = tracked[begin:]
        runs.append({
            'after': next((n for n, each in enumerate(spoilt) if leg in each.legs), None),
            'others': any(other != leg for each in spoilt for other in each.legs),
            'silent': not any(each.flags & SUSPICIOUS for each in spoilt),
            'error': max(error(each.pose, pose) for each, pose in zip(spoilt, poses[begin:]))})
    delays = [run['after'] for run in runs if run['after'] is not None]
    return {'kind': kind, 'size': size, 'told': noise, 'rate': rate, 'runs': len(runs),
            'named': len(delays), 'after': statistics.median(delays) if delays else None,
            **{key: sum(run[key] for run in runs) for key in ('others', 'silent')},
            'error': statistics.median(run['error'] for run in runs)}


def spoilt_runs(
        kind: str, size: float, rate: int, count: int) -> Iterator[tuple[int, Array, Array]]:
    """Yield runs with a fault from SOUND on: the leg, poses (n, 4, 4), readings (n, 6), m."""
    rng, begin = np.random.default_rng(rate), round(SOUND * rate)
    for k in range(count):
        times = rng.uniform(2.0, 20.0) + np.arange(begin + round(SPOILT * rate)) / rate
        poses = good_motion(int(rng.integers(1000))).pose(times)
        lengths = leg_lengths(GEOMETRY, poses) + NOISE * rng.normal(size=(len(times), 6))
        corrupt(kind, size, lengths[begin:, k % 6], rng)
        yield k % 6, poses, lengths


def frozen() -> list[Figures]:
    """Freeze a leg whose readings come in steps, and measure when it is named."""
    print(f'legs that freeze, readings in steps, leg_noise what the rounding makes, 1 kHz: '
          f'{FREEZES} a row')
    rng, rows, figures = np.random.default_rng(4), [], []
    for step in (1e-6, 1e-5, 1e-4):
        delays = sorted(freeze(step, k % 6, rng) for k in range(FREEZES))
        row = {'step': step, 'median': statistics.median(delays), 'longest': delays[-1]}
        figures.append(row)
        rows.append([f'{1e6 * step:g}', f'{row["median"]:.3f}', f'{row["longest"]:.3f}'])
        print(f'  steps of {1e6 * step:g} um done', flush=True)
    print_table(['step, um', 'named after, s: half', 'all'], rows)
    return figures


def freeze(step: float, leg: int, rng: np.random.Generator) -> float:
    """Return after how long (s) a leg is named that freezes at a random moment; inf: not."""
    tracker = MonitoredTracker(GEOMETRY, HOME,
                               config=MonitorConfig(leg_noise=QUANTIZATION_DEVIATION * step))
    begin = 500
    times = rng.uniform(2.0, 20.0) + np.arange(begin + round(AFTER * RATE)) / RATE
    poses = good_motion(int(rng.integers(1000))).pose(times)
    lengths = step * np.round(leg_lengths(GEOMETRY, poses) / step)
    lengths[begin:, leg] = lengths[begin, leg]
    for k, values in enumerate(lengths):
        safe = tracker.track((k + 1) * 10**6, values)
        if Flag.LEG_FROZEN in safe.flags and leg in safe.legs:
            return (k - begin) / RATE
    return float('inf')


if __name__ == '__main__':
    sys.exit(main())
