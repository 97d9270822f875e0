# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The fate of the samples that were sent, and the figures of several such runs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Loss(NamedTuple):
    """Samples lost between the stamps, ns, of two that were answered."""

    after: int
    before: int
    samples: int


def account(sent: Sequence[int] | np.ndarray, answered: Sequence[int],
            reported: Sequence[tuple[int, int]], begin: int, end: int
            ) -> tuple[int, int, list[Loss]]:
    """
    Return how many samples of a time were sent and passed over, and where samples were lost.

    sent and answered are stamps. reported has the stamp of each status and the number of samples
    passed over since the one before. begin and end are times. All are in ns. A sample that is
    missing between two answers and was not reported is lost. The last gap reaches to the first
    answer after the end, or to the end where there is none.
    """
    stamps = np.sort(np.asarray(sent, np.int64))
    stamps = stamps[stamps >= begin]
    answers = np.unique(np.asarray(answered, np.int64))
    answers = answers[answers >= begin]
    inside = int(np.searchsorted(answers, end))
    ends = answers[:inside + 1] if inside < len(answers) else np.append(answers, end)
    begins = np.append(begin, ends[:-1])
    missing = np.diff(np.searchsorted(stamps, ends), prepend=-1) - 1
    at, over = np.array(sorted(reported), np.int64).reshape(-1, 2).T
    total = np.append(0, np.cumsum(over))
    passed = total[np.searchsorted(at, ends, 'right')] - total[
        np.searchsorted(at, begins, 'right')]
    losses = [Loss(*(int(x) for x in each)) for each in zip(begins, ends, missing - passed)
              if each[2] > 0]
    return (int(np.searchsorted(stamps, end)), int(over[(begin <= at) & (at < end)].sum()),
            losses)


def joined(turns: list[dict[str, float]]) -> dict[str, float]:
    """Return the figures of several turns: medians, shares of all samples, greatest times."""
    how = {'lost %': np.mean, 'passed over %': np.mean, 'out of order': np.sum,
           'age greatest': np.max, 'longest gap': np.max}
    return {key: float(how.get(key, np.median)([turn[key] for turn in turns])) for key in turns[0]}
