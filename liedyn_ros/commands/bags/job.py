# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The job of liedyn bag process for one bag, and its outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
import re
from typing import Any

from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.recordings.bags import AnyBag, Bag

_NUMBER = re.compile(r'[-+]?\d+(\.\d+)?(e[-+]?\d+)?')
MAX_CURVE_POINTS = 2000  # points of a curve that a report shows
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Job:
    """Job for one bag: settings of the command, and the files to write, by suffix."""

    bag: Path
    files: Mapping[str, Path]
    settings: Mapping[str, Any]


@dataclass
class JobOutcome:
    """
    Outcome of a job: numbers of messages by their fates, losses and remarks.

    error is why there is nothing, damaged whether the bag lacks a part. curves has points
    (time, value) by column, for a report.
    """

    counts: dict[str, int] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)
    error: str = ''
    curves: dict[str, list[list[float]]] = field(default_factory=dict)
    damaged: bool = False


class JobCurves:
    """Keeps some points of columns, ever fewer of the rows."""

    def __init__(self, columns: list[str]) -> None:
        """Take the names of the columns."""
        self.points: dict[str, list[list[float]]] = {name: [] for name in columns}
        self._step, self._row = 1, 0
        self._first: int | None = None

    def take(self, stamp_ns: int, values: list[float] | None) -> None:
        """Take a row, or one without numbers."""
        if self._first is None:
            self._first = stamp_ns
        if values is not None and self._row % self._step == 0:
            for each, value in zip(self.points.values(), values):
                each.append([1e-9 * (stamp_ns - self._first), value])
            if self.points and len(next(iter(self.points.values()))) > MAX_CURVE_POINTS:
                self._step *= 2
                self.points = {name: each[::2] for name, each in self.points.items()}
        self._row += 1


class Reasons:
    """Counts why messages led to nothing; reasons that differ by numbers alone are one."""

    def __init__(self) -> None:
        """Begin without any."""
        self._of: dict[str, Counter[str]] = {}

    def take(self, reason: str) -> None:
        """Count a reason."""
        found = self._of.setdefault(_NUMBER.sub('', reason), Counter())
        found[reason if reason in found or len(found) < 2 else ''] += 1

    def lines(self, most: int = 5) -> list[str]:
        """Return the usual ones, each by its first, and how many others there were."""
        usual = sorted(self._of.values(), key=lambda each: -each.total())
        rest = usual[most:]
        return [*(f'{each.total()} times{", first" if len(each) > 1 else ""}: {next(iter(each))}'
                  for each in usual[:most]),
                *([f'{sum(each.total() for each in rest)} times: {len(rest)} other reasons']
                  if rest else [])]

    def firsts(self) -> list[str]:
        """Return the first of each kind, as they came, and how many differed by numbers."""
        return [first + (f'; {more} more that differ by numbers' if more else '')
                for each in self._of.values()
                for first, more in [(next(iter(each)), each.total() - next(iter(each.values())))]]


def require_messages(bag: AnyBag, topic: str, counts: Counter[str]) -> None:
    """Require that a topic led to messages, before files without any take the place of others."""
    if not counts.total():
        raise DescriptionError(f'{bag.path}: {topic}: expected messages, got none' + ''.join(
            f'; {loss}' for loss in bag.losses))


def damaged(bag: AnyBag) -> bool:
    """Return whether a bag lacks a part; what a table lacks are rows that say so."""
    return isinstance(bag, Bag) and bool(bag.losses)
