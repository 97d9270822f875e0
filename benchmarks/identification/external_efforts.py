# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
External efforts of a real UR10e: what is left where nothing touches, and what a payload adds.

`python -m benchmarks.identification.external_efforts CLONES`, with the clones of `recordings`. The
model is identified from one recording. Levels are learned in the first half of another one, in
which nothing touches either, and false alarms counted in its second half. A third one carries a
payload that the model does not know.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.identification.__main__ import held
from benchmarks.identification.recordings import Array, Case, ur10e
from liedyn_ros.common.markup import print_table
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import alarm_levels, MomentumObserver
from liedyn_ros.identification import identify, Recording

GAIN = 20.0  # 1/s: currents come at 100 Hz
SETTLED = 1.0  # s


def estimates(dynamics: Dynamics, case: Case) -> Array:
    """Return estimates at the samples of a recording, a row each, without the first ones."""
    observer, before = MomentumObserver(dynamics, gain=GAIN), case.time[0] - 0.01
    found = []
    assert case.v is not None
    for time, q, v, tau in zip(case.time, case.q, case.v, case.tau):
        if time > before:
            found.append(observer(q, v, tau, time - before))
            before = time
    return np.array(found)[round(SETTLED / 0.01):]


def alarms(beyond: Array) -> int:
    """Return how often an estimate exceeds its level, at most once in SETTLED seconds."""
    count, last = 0, -np.inf
    for k in np.flatnonzero(beyond):
        count += 0.01 * (k - last) > SETTLED
        last = k
    return count


def main(arguments: Sequence[str] | None = None) -> None:
    """Identify, observe and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('clones', type=Path, help='the folder with the clones')
    clones = parser.parse_args(arguments).clones
    seen, free, loaded = (ur10e(clones, name) for name in (
        'ur-20_02_19_15harm50sec', 'ur-20_02_19_14harm50sec', 'ur-20_02_19_14harm50secLoad'))
    model = held(seen)
    dynamics = Dynamics(identify(model, Recording(
        model, seen.time, seen.q, seen.tau, seen.v), sure=True).model)
    rest = estimates(dynamics, free)
    half, carried = len(rest) // 2, estimates(dynamics, loaded)
    for per_hour in (1.0, 60.0):
        levels = alarm_levels(rest[:half], 0.01, per_hour)
        later = np.abs(rest[half:]) > levels
        print(f'\nlevels for {per_hour:g} false alarms an hour and joint, of {0.01 * half:.0f} s')
        print_table(['joint', 'rms without contact', 'level', 'largest in the other half',
                     'false alarms there', 'part of the time beyond, with a payload'], [
            [name, *(f'{x:.3g}' for x in row)] for name, *row in zip(
                free.joints, np.sqrt((rest**2).mean(axis=0)), levels,
                np.abs(rest[half:]).max(axis=0), [alarms(each) for each in later.T],
                (np.abs(carried) > levels).mean(axis=0))])


if __name__ == '__main__':
    main()
