# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Poses of a wrong branch published without a word, after a start, a reset, a gap.

    python -m benchmarks.stewart.branches --motions 8

Each machine of config/ moves along random screws, regular ones and those that lead through a
singularity, at 100 Hz with noise of 10 um, with nothing set. A pose is wrong beyond 5 mm or
5 mrad. It is silent where no flag speaks of the branch, of a leg, or of a redundant sensor. Near a
singularity noise alone moves the pose of a branch by noise over the smallest singular value, in
characteristic lengths. Where a solve of the readings from the truth leads to the same pose, and
NEAR_SINGULARITY is set, that is counted as noise: the covariance tells it.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.record import keep
from benchmarks.stewart.motions import error, Figures
from liedyn_ros.commands.work import add_work_options, all_results
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, load_geometry, MonitorConfig, MonitoredTracker, PoseSolver, StewartGeometry)
from liedyn_ros.stewart.platform.state import PlatformMeter

MACHINES = ('geometry', '6_3', 'octahedron', 'offset', 'hexaglide', 'wires', 'circular_rail',
            'shaking_table', 'stages', 'hanging', 'spindles', 'cranks', 'servos')
RATE, NOISE, WRONG = 100, 1e-5, 5e-3  # Hz; m or rad; m or rad
SAME = 1e-6  # m, rad, between two solves of one pose
COUNTED = 'poses', 'wrong', 'silent', 'flagged', 'noise'
STEP, FURTHEST, TRIES = 0.02, 3.0, 12  # of screws, in rad and characteristic lengths
BEYOND = 0.05  # smallest singular value that a motion beyond a singularity reaches
SPOKEN = (Flag.BRANCH_UNSURE | Flag.BRANCH_WRONG | Flag.RESTARTED | Flag.SENSOR_DISAGREES
          | Flag.LEG_OUTLIER | Flag.LEG_STEPPED | Flag.LEG_FROZEN | Flag.LEG_BIASED
          | Flag.LEGS_JUMPED)
GAPS = (0.1, 0.3, 0.6, 1.0, 3.0, 10.0)  # s


@dataclass(frozen=True)
class Screw:
    """A path from home: to `regular` without a singularity; through one at `crossing` to `end`."""

    direction: Array
    regular: float
    crossing: float  # NaN where there is none
    end: float

    def poses(self, home: Array, shares: Array) -> Array:
        """Return poses along the motion, (n, 4, 4), m, at ways (n,)."""
        return se3.compose(home, se3.exp(np.multiply.outer(shares, self.direction)))


class Event(NamedTuple):
    """What happens before a sample: `reset`, or `back` of the clock."""

    sample: int
    what: str


class Scenario(NamedTuple):
    """Times (n,), s, ways (n,) along a screw, events, the first sample judged, where home is."""

    times: Array
    ways: Array
    events: tuple[Event, ...] = ()
    judged: int = 0
    home: float = 0.0


def times(duration: float, begin: float = 0.0) -> Array:
    """Return the times of samples, s."""
    return begin + np.arange(round(duration * RATE)) / RATE


def swing(t: Array, low: float, high: float, rng: np.random.Generator) -> Array:
    """Return ways between two at 0.1 to 0.4 Hz."""
    at, phase = rng.uniform(0.1, 0.4), rng.uniform(0.0, 2.0 * np.pi)
    return low + (high - low) * (0.5 + 0.5 * np.sin(2.0 * np.pi * at * t + phase))


def go(t: Array, first: float, last: float) -> Array:
    """Return ways from one to another in the time, from rest to rest."""
    share = (t - t[0]) / (t[-1] - t[0])
    return first + (last - first) * (0.5 - 0.5 * np.cos(np.pi * share))


def rest(at: float) -> Scenario:
    """Stand at a way along the screw."""
    t = times(1.0)
    return Scenario(t, np.full(len(t), at))


def moving(low: float, high: float, rng: np.random.Generator, event: str = '',
           gap: float = 0.0) -> Scenario:
    """Swing between two ways; in the middle an event, or a gap of a time, s."""
    t = times(4.0)
    half = len(t) // 2
    if gap:
        t[half:] += gap
    ways = swing(t, low, high, rng)
    return Scenario(t, ways, (Event(half, event),) if event else (),
                    half if event or gap else 0)


def through(screw: Screw, rng: np.random.Generator, event: str = '', gap: float = 0.0
            ) -> Scenario:
    """Go through the singularity; then an event and a swing beyond it; or a gap across it."""
    t = times(4.0)
    ways = go(t, 0.0, screw.end)
    if gap:
        middle = t[np.argmin(abs(ways - screw.crossing))]
        kept = abs(t - middle) > 0.5 * gap
        return Scenario(t[kept], ways[kept], (), int(np.argmax(t[kept] > middle)))
    after = times(3.0, 4.0)
    low = screw.crossing + 0.3 * (screw.end - screw.crossing)
    swung = swing(after, low, screw.end, rng)
    return Scenario(np.concatenate((t, after)), np.concatenate((ways, swung)),
                    (Event(len(t), event),), len(t))


def stood(screw: Screw, gap: float, begin: float, end: float) -> Scenario:
    """Stand, move while no readings come, and stand elsewhere."""
    t = times(2.0)
    half = len(t) // 2
    t[half:] += gap
    return Scenario(t, np.where(np.arange(len(t)) < half, begin, end), (), half)


def to_home(screw: Screw) -> Scenario:
    """Start beyond the singularity and go home through it."""
    t = times(4.0)
    back = go(t, screw.end, 0.0)
    return Scenario(np.concatenate((t, times(1.0, 4.0))), np.concatenate((back, np.zeros(RATE))))


Made = Callable[[Screw, np.random.Generator], Scenario]
REGULAR: dict[str, Made] = {
    'start far, at rest': lambda s, rng: rest(s.regular),
    'start far, moving': lambda s, rng: moving(0.3 * s.regular, s.regular, rng),
    'start anywhere, moving': lambda s, rng: moving(0.0, s.regular, rng),
    'reset, moving': lambda s, rng: moving(0.0, s.regular, rng, 'reset'),
    'clock set back, moving': lambda s, rng: moving(0.0, s.regular, rng, 'back'),
    **{f'gap {gap:g} s, moving': lambda s, rng, gap=gap: moving(0.0, s.regular, rng, gap=gap)
       for gap in GAPS},
    'gap 3 s, stands elsewhere': lambda s, rng: stood(s, 3.0, 0.0, s.regular)}
CROSSING: dict[str, Made] = {
    'start beyond, at rest': lambda s, rng: rest(s.end),
    'start just behind, moving': lambda s, rng: moving(
        s.crossing + 0.02, s.end, rng)._replace(ways=go(times(4.0), s.crossing + 0.02, s.end)),
    'start inside, moving': lambda s, rng: Scenario(
        times(4.0), go(times(4.0), s.crossing - 0.005, s.end)),
    'start before, moving': lambda s, rng: Scenario(
        times(4.0), go(times(4.0), 0.9 * s.crossing, s.end)),
    'start beyond, moving': lambda s, rng: moving(s.crossing + 0.2 * (s.end - s.crossing),
                                                  s.end, rng),
    'reset beyond': lambda s, rng: through(s, rng, 'reset'),
    'clock set back beyond': lambda s, rng: through(s, rng, 'back'),
    **{f'gap {gap:g} s across': lambda s, rng, gap=gap: through(s, rng, gap=gap)
       for gap in GAPS[:4]},
    **{f'gap {gap:g} s, at rest': lambda s, rng, gap=gap: stood(
        s, gap, 0.3 * s.crossing, s.end) for gap in GAPS[4:]},
    'gap 5 s, moving before': lambda s, rng: gone(s, rng),
    'start beyond, back home': lambda s, rng: to_home(s),
    'home beyond': lambda s, rng: moving(0.0, 0.8 * s.crossing, rng)._replace(home=s.end),
    'followed through': lambda s, rng: through(s, rng)._replace(events=())}


def gone(screw: Screw, rng: np.random.Generator) -> Scenario:
    """Swing before the singularity, and after a gap of 5 s beyond it."""
    t = times(2.0)
    after = times(2.0, 7.0)
    return Scenario(np.concatenate((t, after)), np.concatenate((
        swing(t, 0.0, 0.8 * screw.crossing, rng),
        swing(after, screw.crossing + 0.5 * (screw.end - screw.crossing), screw.end, rng))),
        (), len(t))


def screw_of(geometry: StewartGeometry, seed: int, crossing: bool) -> Screw | None:
    """Return a random screw of a machine, that leads through a singularity or does not."""
    rng, meter = np.random.default_rng(seed), PlatformMeter(geometry)
    assert geometry.home is not None
    for _ in range(TRIES):
        direction = rng.normal(size=6)
        direction /= np.linalg.norm(direction)
        direction[3:] *= geometry.characteristic_length
        found = Screw(direction, 0.0, np.nan, 0.0)
        ways = np.arange(0.0, FURTHEST, STEP)
        poses = found.poses(geometry.home, ways)
        n = reached(geometry, poses)
        if n < 4:
            continue
        values = meter.signed_values(poses[:n])
        changes = np.flatnonzero(values[1:] * values[0] < 0.0)
        if not crossing:
            last = changes[0] if len(changes) else n - 1
            return Screw(direction, 0.8 * ways[last], np.nan, 0.0)
        if not len(changes):
            continue
        first = int(changes[0])
        again = np.flatnonzero(values[first + 1:] * values[0] > 0.0)
        last = first + 1 + int(again[0]) if len(again) else n
        best = first + 1 + int(np.argmax(abs(values[first + 1:last])))
        if abs(values[best]) > BEYOND:
            share = abs(values[first]) / (abs(values[first]) + abs(values[first + 1]))
            return Screw(direction, 0.8 * ways[first], ways[first] + share * STEP, ways[best])
    return None


def reached(geometry: StewartGeometry, poses: Array) -> int:
    """Return how many poses of a path the legs reach."""
    for k, pose in enumerate(poses):
        try:
            if not geometry.within_limits(leg_lengths(geometry, pose)).all():
                return k
        except LiedynError:
            return k
    return len(poses)


def run(part: tuple[str, str, bool, int, bool]) -> Figures | None:
    """Run one motion of a machine; None where no screw of the kind was found."""
    machine, name, crossing, seed, hold = part
    geometry = load_geometry(config_file(f'stewart_{machine}.yaml'))
    screw = screw_of(geometry, seed, crossing)
    if screw is None:
        return None
    rng = np.random.default_rng(1000 + seed)
    scenario = (CROSSING if crossing else REGULAR)[name](screw, rng)
    poses = screw.poses(geometry.home, scenario.ways)
    lengths = leg_lengths(geometry, poses)
    lengths += NOISE * rng.normal(size=lengths.shape)
    home = screw.poses(geometry.home, np.array([scenario.home]))[0]
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(
        hold_hypotheses=hold, leg_noise=NOISE if hold else 0.0))
    return followed(tracker, scenario, poses, lengths)


def followed(tracker: MonitoredTracker, scenario: Scenario, poses: Array, lengths: Array
             ) -> Figures:
    """Return how many poses of a run were wrong, silent, and right with a flag of the branch."""
    events = {event.sample: event.what for event in scenario.events}
    counts: dict[str, Any] = dict.fromkeys((*COUNTED, 'refused'), 0)
    back, solver = 0, PoseSolver(tracker.geometry)
    for k, (at, truth, row) in enumerate(zip(scenario.times, poses, lengths)):
        if events.get(k) == 'reset':
            tracker.reset()
        if events.get(k) == 'back':
            back = 100 * 10**9
        try:
            tracked = tracker.track(200 * 10**9 + round(1e9 * at) - back, row)
        except LiedynError:
            counts['refused'] += 1
            continue
        if k < scenario.judged or not tracked.converged:
            continue
        wrong, spoken = error(tracked.pose, truth) > WRONG, bool(tracked.flags & SPOKEN)
        if wrong and Flag.NEAR_SINGULARITY in tracked.flags and (
                np.abs(solver.solve(row, truth).pose - tracked.pose).max() < SAME):
            counts['noise'] += 1
            wrong = False
        counts['poses'] += 1
        counts['wrong'] += wrong
        counts['silent'] += wrong and not spoken
        counts['flagged'] += not wrong and bool(tracked.flags & Flag.BRANCH_UNSURE)
        counts['end'] = ('wrong' if spoken else 'silent') if wrong else (
            'flagged' if tracked.flags & Flag.BRANCH_UNSURE else 'right')
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the table."""
    parser = argparse.ArgumentParser(prog='benchmarks.stewart.branches', description=__doc__)
    parser.add_argument('--motions', type=int, default=8, help='of each machine and row')
    parser.add_argument('--first', type=int, default=0, help='seed of the first motion')
    parser.add_argument('--hold', action='store_true', help='hold_hypotheses, and leg_noise told')
    parser.add_argument('--rows', default='', help='only those whose name has this')
    add_work_options(parser)
    options, begin = parser.parse_args(arguments), time.perf_counter()
    rows, figures = [], []
    kinds = [(name, crossing) for crossing, made in ((False, REGULAR), (True, CROSSING))
             for name in made if options.rows in name]
    for k, (name, crossing) in enumerate(kinds):
        parts = [(machine, name, crossing, seed, options.hold) for machine in MACHINES
                 for seed in range(options.first, options.first + options.motions)]
        found = [(part, one) for part, one in zip(parts, all_results(run, parts, options)) if one]
        runs = [one for _, one in found if one['poses']]
        figures.append({'name': name, 'crossing': crossing, 'runs': len(runs), **{
            key: sum(one[key] for one in runs) for key in COUNTED},
            'silent_runs': [[*part[:1], part[3]] for part, one in found if one['silent']],
            **{f'end_{end}': sum(one.get('end') == end for one in runs)
               for end in ('wrong', 'silent', 'flagged', 'right')}})
        rows.append([name, *[figures[-1][key] for key in (
            'runs', 'end_right', 'end_flagged', 'end_wrong', 'end_silent', 'poses', 'wrong',
            'silent', 'flagged', 'noise')], len(figures[-1]['silent_runs'])])
        print(f'  {k + 1} of {len(kinds)}: {rows[-1]}', flush=True)
    print_table(['condition', 'runs', 'end right', 'right, flagged', 'wrong, flagged',
                 'wrong, silent', 'poses', 'wrong', 'silent', 'right but flagged', 'noise',
                 'runs with silent ones'], rows)
    out = keep('stewart_branches', {'rows': figures})
    print(f'{sum(row[1] for row in rows)} runs, {time.perf_counter() - begin:.0f} s; {out}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
