# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The memory of processes, and whether it grows on."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import t as student

ODDS = 1e-4  # that what does not grow on is said to; of eleven nodes and two figures each, 0.2 %
MONTH = 30 * 24 * 60  # minutes, that a robot may stay on


def memory(pid: int) -> float:
    """Return the memory that a process holds, MB, without what it shares with other processes."""
    try:
        lines = Path(f'/proc/{pid}/status').read_text().splitlines()
    except FileNotFoundError:
        lines = []
    held = {name: int(value.split()[0]) for name, _, value in (
        line.partition(':') for line in lines if line.startswith(('VmRSS', 'RssShmem')))}
    if 'VmRSS' not in held:
        raise SystemExit(f'process {pid}: expected one that runs, it has ended')
    return (held['VmRSS'] - held['RssShmem']) / 1024.0


def growth(held: Sequence[float]) -> tuple[float, float]:
    """
    Return by how much a figure of each minute grows a minute, and by how much at least.

    The first third, in which all that is made once is made, is left out. The other steps are
    drawn from one distribution, whatever it is: the least growth is that of Student's test of
    their mean. So what grows once, or now and then, has none, and what grows on has.
    """
    steps = np.diff(held[len(held) // 3:])
    if len(steps) < 2:
        return float(steps.sum()), -np.inf
    mean = float(steps.mean())
    error = float(steps.std(ddof=1)) / np.sqrt(len(steps))
    return mean, mean - float(student.ppf(1.0 - ODDS, len(steps) - 1)) * error


def grows(held: Sequence[float]) -> bool:
    """Return whether a figure of each minute would double within a MONTH, at least."""
    return growth(held)[1] * MONTH > max(held[0], 1.0)


def shows(minutes: int) -> bool:
    """Return whether growth in every second minute would be seen in so many minutes."""
    return grows([1.0 + k // 2 for k in range(minutes)])
