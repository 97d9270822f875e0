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
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
import hashlib
import json
from pathlib import Path
import re
from typing import Any
import warnings

import numpy as np

from liedyn_ros.commands.inputs import settings_of
from liedyn_ros.commands.operation.environment import LIEDYN_PACKAGE
from liedyn_ros.commands.stewart.bag_processing.tracking import platform_of
from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.common.untrusted_files import read_file
from liedyn_ros.common.xacro_reader import expand
from liedyn_ros.model import load_model
from liedyn_ros.recordings.bags import AnyBag, Bag

_NUMBER = re.compile(r'[-+]?\d+(\.\d+)?(e[-+]?\d+)?')
MAX_CURVE_POINTS = 2000  # points of a curve that a report shows
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Job:
    """
    Job for one bag: settings of the command, and the files to write, by suffix.

    done is the file that tells what was done; None where nobody asks.
    """

    bag: Path
    files: Mapping[str, Path]
    settings: Mapping[str, Any]
    done: Path | None = None

    @cached_property
    def key(self) -> str:
        """Return a digest of all that was read and of the settings: equal where results are."""
        files = sorted(self.bag.rglob('*')) if self.bag.is_dir() else [self.bag]
        stated = [(str(each), each.stat().st_size, each.stat().st_mtime_ns)
                  for each in files if each.is_file()]
        text = json.dumps([LIEDYN_PACKAGE.__version__, stated, _digest(self.settings),
                           {key: str(value) for key, value in self.settings.items()},
                           {key: str(value) for key, value in self.files.items()}])
        return hashlib.sha256(text.encode()).hexdigest()


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
    again: bool = False  # an earlier run did it
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


def _digest(settings: Mapping[str, Any]) -> str:
    """Return a digest of the machine, which files that others name or include describe too."""
    with warnings.catch_warnings():  # whoever takes the machine shows them
        warnings.simplefilter('ignore', DescriptionWarning)
        found: Any
        if settings['model'] is None:
            parameters = settings_of(settings['params'])
            found = parameters, platform_of(parameters)
        else:
            path = settings['model']
            found = read_file(path), (
                expand(path, {}) if path.suffix == '.xacro' else load_model(path))
    return hashlib.sha256(repr(_plain(found)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return a description as texts, numbers, and the bytes of arrays."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return [(_plain(key), _plain(each)) for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if is_dataclass(value):
        return type(value).__name__, [_plain(getattr(value, each.name)) for each in fields(value)]
    return value


def done_before(job: Job) -> JobOutcome | None:
    """Return the outcome of an earlier run of an equal job whose files are there, else None."""
    if job.done is None or not all(each.exists() for each in job.files.values()):
        return None
    try:
        stored = json.loads(read_file(job.done))
        if stored.pop('key') == job.key:
            return JobOutcome(**{**stored, 'again': True})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return None
