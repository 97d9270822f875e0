# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How well the tracker detects its own faults: covariance, crossings, false alarms, leg faults.

It includes stewart_faults, stewart_estimates and stewart_defaults, which run alone as well.

    python -m benchmarks.stewart.safety

prints the figures of docs/results.md, with progress, and writes them to out/bench.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import statistics
import sys
import time
from typing import NamedTuple, Protocol

import numpy as np

from benchmarks.record import keep
from benchmarks.stewart.defaults import defaults
from benchmarks.stewart.estimates import estimates
from benchmarks.stewart.faults import faults, frozen, QUANTIZATION_DEVIATION
from benchmarks.stewart.motions import error, Figures, GEOMETRY, good_motion, HOME, RATE
from liedyn_ros.commands.work import add_work_options, all_results, LOCAL_WORK
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, length_jacobian, MonitorConfig, MonitoredPose, MonitoredTracker, PoseSolver,
    PoseTracker)
from liedyn_ros.stewart.platform.state import PlatformMeter

WRONG = 0.05  # rad or m: further than noise takes any pose that is not within a singularity
# Start (turned by a rotation vector, at a position) and displacement, rad and m.
PATHS = {
    'turn': ((0.05, 0.03, 0.0), (0.02, 0.01, 0.5), (0.0, 0.0, 2.27, 0.0, 0.0, 0.0)),
    'tilt': ((0.35, 0.05, 0.09), (0.01, 0.02, 0.5), (1.22, 0.0, 0.0, 0.0, 0.0, 0.0)),
    'screw': ((0.17, 0.05, 0.09), (0.02, 0.01, 0.45), (1.1, 0.5, 0.4, 0.02, -0.01, 0.02)),
}
DURATIONS = (2.0, 5.0, 8.0)  # s
SEEDS = range(1000, 1012)
DEPTHS = (-0.02, -0.01, 0.0, 0.01, 0.02)  # of turns, in shares of the path, beyond a singularity
STOP, BOUNCE = 1.0, 0.2  # s, how long they take
LOOK_EVERY = 10  # samples, for poses that are wrong without a flag


class Path(Protocol):
    """A path in time."""

    def pose(self, times: Array) -> Array:
        """Return (n, 4, 4), m, at times (n,), s."""


class ScrewMotion(NamedTuple):
    """From rest to rest along one screw (6,), rad and m, in a duration, s, from a start (4, 4)."""

    start: Array
    displacement: Array
    duration: float

    def pose(self, times: Array) -> Array:
        """Return (n, 4, 4), m, at times (n,), s."""
        share = 0.5 - 0.5 * np.cos(np.pi * np.asarray(times) / self.duration)
        return se3.compose(self.start, se3.exp(share[..., None] * self.displacement))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure everything."""
    parser = argparse.ArgumentParser(prog='benchmarks.stewart.safety', description=__doc__)
    add_work_options(parser)
    work, begin = parser.parse_args(arguments), time.perf_counter()
    out = keep('stewart_safety', {
        'covariance': covariance(), 'crossings': crossings(work), 'turns': turns(work),
        'nothing_set': nothing_set(work), 'alarms': alarms(), 'faults': faults(),
        'frozen': frozen(), 'estimates': estimates(), 'defaults': defaults(work=work),
        'time': update_time()})
    print(f'\n{time.perf_counter() - begin:.0f} s; figures in {out}')
    return 0


def covariance() -> Figures:
    """Compare the covariance with that of solved noise, at random poses."""
    print('covariance of the pose against 100 000 solves with noise of 10 um a leg')
    rng, worst, largest = np.random.default_rng(1), 0.0, np.zeros(6)
    solver = PoseSolver(GEOMETRY)
    for _ in range(10):
        pose = se3.compose(HOME, se3.exp(rng.uniform(-1, 1, 6) * [0.3, 0.3, 0.5, 0.1, 0.1, 0.1]))
        lengths = leg_lengths(GEOMETRY, pose) + 1e-5 * rng.normal(size=(100_000, 6))
        errors = se3.log(se3.compose(se3.inverse(pose), solver.solve_batch(lengths, pose).poses))
        moves = 1e-5 * np.linalg.inv(length_jacobian(GEOMETRY, pose))
        expected = moves @ moves.T
        deviations = np.sqrt(np.diag(expected))
        worst = max(worst, np.abs((np.cov(errors.T) - expected)
                                  / np.outer(deviations, deviations)).max())
        largest = np.maximum(largest, deviations)
    print(f'  10 poses, largest difference of an entry {100.0 * worst:.2f} % of its deviations; '
          f'deviations up to {1e6 * largest[:3].max():.0f} urad, {1e6 * largest[3:].max():.1f} um')
    return {'difference': worst, 'deviations': largest.tolist()}


def samples(motion: Path, duration: float, noise: float,
            seed: int) -> Iterator[tuple[int, Array, Array]]:
    """Go through stamp (ns), true pose and lengths with noise."""
    times = np.arange(round(duration * RATE) + 1) / RATE
    poses = motion.pose(times)
    lengths = leg_lengths(GEOMETRY, poses)
    lengths += noise * np.random.default_rng(seed).normal(size=lengths.shape)
    return zip((10**9 + np.arange(len(times)) * (10**9 // RATE)).tolist(), poses, lengths)


def crossings(work: argparse.Namespace = LOCAL_WORK) -> list[Figures]:
    """Cross singularities: where that is reported, and which tracker is right at the end."""
    print(f'paths through a singularity, 1 kHz: {len(PATHS)} paths, {len(DURATIONS)} durations, '
          f'{len(SEEDS)} seeds a row')
    rows, figures = [], []
    for noise in (0.0, 1e-6, 1e-5, 5e-5):
        runs = all_results(cross, [
            (name, duration, noise, seed) for name in PATHS for duration in DURATIONS
            for seed in SEEDS], work)
        away = [run['distance'] for run in runs if run['distance'] is not None]
        row = {'noise': noise, 'runs': len(runs), 'reported': len(away), 'distance': max(away),
               'median': statistics.median(away), **{
                   key: sum(run[key] for run in runs)
                   for key in ('plain_wrong', 'held_wrong', 'left_open', 'silent')}}
        figures.append(row)
        rows.append([f'{1e6 * noise:g}', row['runs'], row['reported'],
                     f'{100 * row["median"]:.2f} %', f'{100 * row["distance"]:.2f} %',
                     row['plain_wrong'], row['held_wrong'], row['left_open'], row['silent']])
        print(f'  noise {1e6 * noise:g} um done', flush=True)
    print_table(['noise, um', 'runs', 'reported once', 'from the crossing: median', 'most',
                 'plain wrong', 'held wrong', 'left open', 'wrong unflagged'], rows)
    return figures


def cross(part: tuple[str, float, float, int]) -> Figures:
    """Run a plain tracker and one that holds both branches: path, duration (s), noise, seed."""
    name, duration, noise, seed = part
    start, displacement = path(name)
    plain = PoseTracker(GEOMETRY, start)
    holds = MonitoredTracker(GEOMETRY, start, config=MonitorConfig(
        leg_noise=noise or 1e-9, hold_hypotheses=True))
    reports, silent, poses = [], False, []
    motion = ScrewMotion(start, displacement, duration)
    for k, (stamp_ns, pose, lengths) in enumerate(samples(motion, duration, noise, seed)):
        tracked, held = plain.track(stamp_ns, lengths), holds.track(stamp_ns, lengths)
        if Flag.BRANCH_CROSSED in held.flags:
            reports.append(k)
        poses.append(pose)
        silent |= k % LOOK_EVERY == 0 and unsaid(held, pose)
    signs = np.sign(PlatformMeter(GEOMETRY).signed_values(poses))
    truth = int(np.flatnonzero(np.diff(signs))[0]) + 1
    share = 0.5 - 0.5 * np.cos(np.pi * np.arange(k + 1) / k)
    away = float(abs(share[reports[0]] - share[truth])) if len(reports) == 1 else None
    return {'distance': away,
            'plain_wrong': error(tracked.pose, pose) > WRONG,
            'held_wrong': error(held.pose, pose) > WRONG,
            'left_open': Flag.BRANCH_UNSURE in held.flags, 'silent': silent}


@dataclass(frozen=True)
class Return:
    """To a share of a path and back again: `turn` smoothly, `stop` for 1 s, `bounce` in 0.2 s."""

    name: str
    kind: str
    furthest: float
    duration: float

    def pose(self, times: Array) -> Array:
        """Return (n, 4, 4), m, at times (n,), s."""
        start, displacement = path(self.name)
        share = self.furthest * self._progress(np.abs(times - 0.5 * self.duration))
        return se3.compose(start, se3.exp(share[:, None] * displacement))

    def _progress(self, away: Array) -> Array:
        """Return the share of the way there at times from the middle, s."""
        half = 0.5 * self.duration
        if self.kind == 'bounce':  # at constant speed but for the turn
            brake = 0.5 * BOUNCE
            return 1.0 - np.where(away < brake, away ** 2 / (2.0 * brake), away - 0.5 * brake) / (
                half - 0.5 * brake)
        stop = 0.5 * STOP if self.kind == 'stop' else 0.0
        return np.cos(0.5 * np.pi * np.clip((away - stop) / (half - stop), 0.0, 1.0)) ** 2


def turns(work: argparse.Namespace = LOCAL_WORK) -> list[Figures]:
    """Turn round close to a singularity, before and behind it: is a wrong pose always flagged."""
    print('paths that turn within 2 % of a singularity, in 4 and 10 s, 1 kHz')
    rows, figures = [], []
    for kind in ('turn', 'stop', 'bounce'):
        for noise in (1e-6, 1e-5, 5e-5):
            runs = all_results(turn, [
                (Return(name, kind, crossing_of(name) + depth, duration), noise, seed)
                for name in PATHS for duration in (4.0, 10.0) for depth in DEPTHS
                for seed in SEEDS[:2]], work)
            row = {'kind': kind, 'noise': noise, 'runs': len(runs), **{
                key: sum(run[key] for run in runs) for key in ('wrong', 'left_open', 'silent')}}
            figures.append(row)
            rows.append([kind, f'{1e6 * noise:g}', *list(row.values())[2:]])
        print(f'  {kind} done', flush=True)
    print_table(['path', 'noise, um', 'runs', 'held wrong', 'left open', 'wrong unflagged'], rows)
    return figures


def turn(part: tuple[Return, float, int]) -> Figures:
    """Run a tracker that holds both branches along one path and back: path, noise, seed."""
    motion, noise, seed = part
    tracker = MonitoredTracker(GEOMETRY, path(motion.name)[0], config=MonitorConfig(
        leg_noise=noise, hold_hypotheses=True))
    silent = False
    for k, (stamp_ns, pose, lengths) in enumerate(
            samples(motion, motion.duration, noise, seed)):
        held = tracker.track(stamp_ns, lengths)
        silent |= k % LOOK_EVERY == 0 and unsaid(held, pose)
    return {'wrong': error(held.pose, pose) > WRONG,
            'left_open': Flag.BRANCH_UNSURE in held.flags, 'silent': silent}


def nothing_set(work: argparse.Namespace = LOCAL_WORK) -> list[Figures]:
    """Cross and turn with no parameter given: is a wrong pose always flagged."""
    print('the same with nothing set, which holds one branch: crossings and turns, 1 kHz')
    motions: list[tuple[Path, str, float]] = [
        (ScrewMotion(*path(name), duration), name, duration)
        for name in PATHS for duration in (2.0, 5.0)]
    motions += [(Return(name, kind, crossing_of(name) + depth, 4.0), name, 4.0)
                for name in PATHS for kind in ('turn', 'stop', 'bounce')
                for depth in (-0.01, 0.01)]
    rows, figures = [], []
    for noise in (0.0, 1e-6, 1e-5, 1e-4):
        runs = all_results(follow, [
            (*motion, noise, seed) for motion in motions for seed in SEEDS[:2]], work)
        row = {'noise': noise, 'runs': len(runs), **{
            key: sum(run[key] for run in runs) for key in ('wrong', 'silent', 'wrong_silent')}}
        figures.append(row)
        rows.append([f'{1e6 * noise:g}', *list(row.values())[1:]])
        print(f'  noise {1e6 * noise:g} um done', flush=True)
    print_table(['noise, um', 'runs', 'wrong at the end', 'wrong unflagged on the way',
                 'wrong unflagged at the end'], rows)
    return figures


def follow(part: tuple[Path, str, float, float, int]) -> Figures:
    """Run a tracker with nothing set: path, its name, duration (s), noise, seed."""
    motion, name, duration, noise, seed = part
    tracker, silent = MonitoredTracker(GEOMETRY, path(name)[0]), False
    for k, (stamp_ns, pose, lengths) in enumerate(samples(motion, duration, noise, seed)):
        found = tracker.track(stamp_ns, lengths)
        silent |= k % LOOK_EVERY == 0 and unsaid(found, pose)
    return {'wrong': error(found.pose, pose) > WRONG, 'silent': silent,
            'wrong_silent': unsaid(found, pose)}


def path(name: str) -> tuple[Array, Array]:
    """Return the start (4, 4), m, and the displacement (6,) of a path."""
    rotation, position, displacement = PATHS[name]
    start = se3.exp([*rotation, 0.0, 0.0, 0.0])
    start[:3, 3] = position
    return start, np.array(displacement)


def crossing_of(name: str) -> float:
    """Return the share of a path where it crosses the singularity."""
    start, displacement = path(name)
    shares = np.linspace(0.0, 1.0, 10_001)
    values = PlatformMeter(GEOMETRY).signed_values(
        se3.compose(start, se3.exp(shares[:, None] * displacement)))
    return float(shares[np.flatnonzero(np.diff(np.sign(values)))[0] + 1])


def unsaid(safe: MonitoredPose, truth: Array) -> bool:
    """Return whether a pose is wrong without a flag."""
    return bool(safe.converged
                and not safe.flags & (Flag.BRANCH_UNSURE | Flag.BRANCH_WRONG)
                and error(safe.pose, truth) > WRONG)


@dataclass(frozen=True)
class Slowed:
    """A motion some times slower."""

    motion: Path
    slower: float

    def pose(self, times: Array) -> Array:
        """Return (n, 4, 4), m, at times (n,), s."""
        return self.motion.pose(times / self.slower)


def alarms() -> list[Figures]:
    """Count false alarms: 60 s at 1 kHz in the good workspace."""
    print('false alarms in 60 s at 1 kHz in the good workspace')
    figures = []
    for noise, step, slower in ((0.0, 0.0, 1), (1e-5, 0.0, 1), (1e-4, 0.0, 1), *(
            (QUANTIZATION_DEVIATION * step, step, slower)
            for step in (1e-6, 1e-5, 1e-4) for slower in (1, 10))):
        tracker, count, least = MonitoredTracker(
            GEOMETRY, HOME, config=MonitorConfig(leg_noise=noise, hold_hypotheses=True)), 0, np.inf
        motion = Slowed(good_motion(7), slower)
        for stamp_ns, _, lengths in samples(motion, 60.0, 0.0 if step else noise, 7):
            reading = step * np.round(lengths / step) if step else lengths
            safe = tracker.track(stamp_ns, reading)
            count += bool(safe.flags)
            least = min(least, safe.smallest_singular_value)
        figures.append({'noise': noise, 'step': step, 'slower': slower, 'alarms': count,
                        'least_singular_value': least})
        print(f'  noise {1e6 * noise:.3g} um, steps {1e6 * step:g} um, speed 1 / {slower}: '
              f'{count} of 60 001 samples '
              f'flagged; smallest singular value {least:.3f}', flush=True)
    return figures


def update_time() -> Figures:
    """Time one sample of the plain and of the monitored tracker."""
    lengths = [values for _, _, values in samples(good_motion(1), 4.0, 1e-5, 1)]
    result = {}
    for name, tracker in (
            ('plain', PoseTracker(GEOMETRY, HOME)),
            ('monitored', MonitoredTracker(
                GEOMETRY, HOME, config=MonitorConfig(leg_noise=1e-5)))):
        taken = []
        for k, values in enumerate(lengths):
            begin = time.perf_counter()
            tracker.track((k + 1) * 10**6, values)
            taken.append(time.perf_counter() - begin)
        result[name] = statistics.median(taken[500:])
    print(f'a sample takes {1e6 * result["plain"]:.0f} us plain, '
          f'{1e6 * result["monitored"]:.0f} us monitored')
    return result


if __name__ == '__main__':
    sys.exit(main())
