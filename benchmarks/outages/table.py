# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Outages of servers, sensors and drives beside both controllers, and flights along any reference.

    python -m benchmarks.outages --starts 20 --write
    python -m benchmarks.outages --flights 10000 --mujoco 1000 --write

Each row begins at as many moments of the motion, in as much wind, with masses up to 20 % off, in
our physics and in MuJoCo's, in one process in fast time. --write renews docs/tables/outages.csv.
Flights are of 8 s along random references, and end within bounds, or the controller said before
that they would not. Runs of this commit that were interrupted go on.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
import sys

import numpy as np

from benchmarks.document import linked, renew
from benchmarks.outages import flights, platforms
from benchmarks.outages.outage import Outage, Passed
from benchmarks.record import keep, resumed
from liedyn_ros.commands.work import add_work_options
from liedyn_ros.common.errors import LimitError

PAGE = Path('docs/results.md')
FLIGHT, DURATION = 8.0, 7.0  # s of a random flight, and of a run beside an outage
COLUMNS = ('controller', 'outage', 'physics', 'attitude, deg', 'distance, m', 'at the end, m',
           'ends', 'beyond bounds', 'command over its limit')
FLOWN = ('physics', 'flights', 'refused before', 'within bounds', 'beyond, and said before',
         'beyond in silence', 'crashed', *COLUMNS[3:6], COLUMNS[-1])


def run(part: tuple[str, Outage, bool, int]) -> Passed:
    """Run an outage of a controller in a physics from a start."""
    what, outage, mujoco, seed = part
    mass = 1.0 + flights.MASS * np.random.default_rng(seed).uniform(-1.0, 1.0)
    if what == 'flight':
        return flights.fly(flights.vehicle(), flights.Reference(), outage, seed, mass=mass,
                           duration=DURATION, mujoco=mujoco, ends=True)
    return platforms.move(outage, seed, mass=mass, duration=DURATION, mujoco=mujoco, ends=True)


KINDS = [(what, outage, mujoco) for what, outages in (
    ('flight', flights.FLIGHT), ('platform', platforms.MOTION))
    for outage in outages for mujoco in (False, True)]  # of the rows


def table(options: argparse.Namespace) -> None:
    """Run all outages, print and keep the table."""
    kinds = KINDS
    parts = [(*kind, seed) for seed in range(options.starts) for kind in kinds]
    found: dict[int, Passed] = {}
    try:
        for k, row in resumed('outages', run, parts, options.jobs):
            found[k] = Passed(*row)
    except KeyboardInterrupt:  # starts that all rows have are kept
        print(f'ended after {len(found)} runs of {len(parts)}', file=sys.stderr)
    starts = 0
    while all(starts * len(kinds) + k in found for k in range(len(kinds))):
        starts += 1
    conclude([[found[i * len(kinds) + k] for k in range(len(kinds))] for i in range(starts)],
             write=options.write)


def conclude(runs: Sequence[Sequence[Passed]], *, write: bool) -> None:
    """Print, keep and write the table of starts, a run of each kind."""
    starts, rows = len(runs), []
    if not starts:
        raise SystemExit('expected a start of each row, got none')
    for k, (what, outage, mujoco) in enumerate(KINDS):
        passed = [each[k] for each in runs]
        ends = Counter(one.phase for one in passed)
        rows.append((what, outage.text, 'MuJoCo' if mujoco else 'own', *(
            f'{max(getattr(one, name) for one in passed):.3g}'
            for name in ('attitude', 'distance', 'end')),
            ', '.join(f'{count} {phase}' for phase, count in ends.most_common()),
            f'{sum(one.crashed for one in passed)}', f'{max(one.force for one in passed):.2f}'))
    print('\n'.join(map(', '.join, (COLUMNS, *rows))))
    print(keep('outages', {'starts': starts, 'rows': [
        dict(zip(COLUMNS, row)) for row in rows]}))
    if write:
        renew(PAGE, 'outages', f'{starts} starts a row; worst figures.\n'
                               f'{linked("outages", COLUMNS, rows)}')


def fly(part: tuple[int, bool]) -> Passed | str:
    """Fly along a random reference in random wind; return why where it is refused."""
    seed, mujoco = part
    rng = np.random.default_rng((seed, 1))
    mean, gust = rng.uniform(0.0, flights.WIND)
    try:
        flight = flights.Flight(
            flights.vehicle(), flights.random_reference(seed), Outage('none'), seed,
            1.0 + flights.MASS * rng.uniform(-1.0, 1.0), (mean, gust), mujoco)
    except LimitError as error:
        return str(error)
    return flight.run(FLIGHT)


def many(options: argparse.Namespace) -> int:
    """Fly, and return how many flights ended beyond bounds without a word before."""
    seeds = range(options.first, options.first + options.flights)
    parts = [(seed, False) for seed in seeds] + [(seed, True) for seed in seeds[:options.mujoco]]
    flown = dict(resumed('random_flights', fly, parts, options.jobs))
    rows, silent = [], []
    for name, mujoco in (('own', False), ('MuJoCo', True)):
        those = {seed: flown[k] for k, (seed, by) in enumerate(parts) if by is mujoco}
        done = {k: Passed(*one) for k, one in those.items() if not isinstance(one, str)}
        if not done:
            continue
        beyond = {k: one for k, one in done.items()
                  if one.attitude > flights.END[0] or one.distance > flights.END[1]}
        quiet = [k for k, one in beyond.items() if not one.said]
        rows.append((name, *map(str, (
            len(those), len(those) - len(done), len(done) - len(beyond),
            len(beyond) - len(quiet), len(quiet), sum(one.crashed for one in done.values()))), *(
            f'{max(getattr(one, of) for one in done.values()):.3g}'
            for of in ('attitude', 'distance', 'end', 'force'))))
        silent += [(k, name) for k in quiet]
    print('\n'.join(map(', '.join, (FLOWN, *rows))), f'\nsilent ones: {silent[:20]}')
    print(keep('random_flights', {'rows': [dict(zip(FLOWN, row)) for row in rows],
                                  'silent': silent}))
    if options.write:
        renew(PAGE, 'flights', linked('random_flights', FLOWN, rows))
    return len(silent)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the table, or flights."""
    parser = argparse.ArgumentParser(
        prog='benchmarks.outages', description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--starts', type=int, default=20, help='of each row')
    parser.add_argument('--write', action='store_true', help=f'renew {PAGE.name}')
    parser.add_argument('--flights', type=int, default=0, help='random flights, and no table')
    parser.add_argument('--first', type=int, default=0, help='seed of the first flight')
    parser.add_argument('--mujoco', type=int, default=0, help='flown again in MuJoCo, of these')
    add_work_options(parser)
    options = parser.parse_args(arguments)
    if options.flights:
        return int(many(options) > 0)
    table(options)
    return 0
