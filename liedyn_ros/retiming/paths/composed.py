# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A part of a path, and paths that follow each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.retiming.paths.path import Path, PathSamples

JOIN_TOLERANCE = 1e-9  # of the largest derivative, to which paths that are joined agree


class PathPart:
    """
    A path from one of its s to another; its own s begins at 0.

    Raises LimitError unless 0 <= start < end <= length of the path.
    """

    def __init__(self, path: Path, start: float, end: float) -> None:
        """Take the path and the part of it."""
        if not 0.0 <= start < end <= path.length:
            raise LimitError(f'expected 0 <= start < end <= {path.length:.9g}, got start = '
                             f'{start!r} and end = {end!r}')
        self.path, self.start, self.length = path, float(start), float(end - start)

    def __call__(self, s: Array) -> PathSamples:
        """Return the samples at s (K,), from 0 to length."""
        return self.path(np.clip(self.start + s, 0.0, self.path.length))


class JoinedPath:
    """
    Paths that follow each other without a stop.

    Each begins where the one before ends, in the same direction by s, with the same second
    derivative. Raises LimitError naming the pair and the derivative that differ. Paths that meet
    in a corner want a run each.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        """Take the paths, and compare their ends."""
        if not paths:
            raise LimitError('paths: expected at least one, got none')
        self.paths = tuple(paths)
        self._starts = np.cumsum([0.0] + [path.length for path in self.paths])
        self.length = float(self._starts[-1])
        for k, (before, after) in enumerate(zip(self.paths, self.paths[1:])):
            end, start = before(np.array([before.length])), after(np.zeros(1))
            for name in ('q', 'v', 'a'):
                one, other = getattr(end, name)[0], getattr(start, name)[0]
                apart = np.abs(one - other).max()
                if not apart <= JOIN_TOLERANCE * max(1.0, np.abs(one).max()):
                    raise LimitError(f'paths[{k + 1}]: expected the {name} of the end before, '
                                     f'{one.tolist()}, got {other.tolist()}')

    def __call__(self, s: Array) -> PathSamples:
        """Return the samples at s (K,), which rises from 0 to length."""
        s = np.asarray(s, dtype=float)
        which = np.clip(np.searchsorted(self._starts, s, side='right') - 1, 0,
                        len(self.paths) - 1)
        parts = []
        for k in np.unique(which):
            own = s[which == k] - self._starts[k]
            parts.append(self.paths[k](np.clip(own, 0.0, self.paths[k].length)))
        return PathSamples(*(np.concatenate(each) for each in zip(*parts)))
