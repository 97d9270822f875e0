# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Finished parts of a bag, kept on disk: an interrupted run goes on after the last of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import os
from pathlib import Path
import pickle
import shutil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.commands.bags.job import Job

MESSAGES = 25_000  # of a part that follows message by message


class Part(NamedTuple):
    """
    What some messages led to, and where to go on: after so many messages, with this state.

    last: whether no part follows, so that none has to be kept.
    """

    rows: Any
    messages: int
    state: Any
    last: bool = False


NOTHING = Part((), 0, None)
Produce = Callable[[Part], Iterator[Part]]


class _StatePickler(pickle.Pickler):
    """Keeps which arrays are views of one buffer, as those of trackers are."""

    def reducer_override(self, each: Any) -> Any:
        """Return how a view is made of its buffer, or NotImplemented for all else."""
        if type(each) is not np.ndarray or not isinstance(each.base, np.ndarray):
            return NotImplemented
        root = each.base
        while isinstance(root.base, np.ndarray):
            root = root.base
        offset = each.ctypes.data - root.ctypes.data
        return _view, (root, offset, each.shape, each.strides, each.dtype.str)


def _view(root: NDArray[Any], offset: int, shape: tuple[int, ...], strides: tuple[int, ...],
          kind: str) -> NDArray[Any]:
    return np.ndarray(shape, kind, root, offset, strides)


class KeptParts:
    """
    The parts of a job in a hidden folder beside its first file, until the job is done.

    A part is kept when it is whole, and counts where settings, bag and version are equal.
    """

    def __init__(self, job: Job) -> None:
        """Take the job."""
        first = next(iter(job.files.values()), None)
        self._folder = None if first is None else first.with_name(f'.{first.name}.parts')
        self._key = job.key
        self.messages = 0  # that an interrupted run had done

    def rows(self, produce: Produce) -> Iterator[Any]:
        """Yield the rows of all parts; produce goes on after the last one that is kept."""
        before, count = NOTHING, 0
        while (part := self._read(count)) is not None:
            before, count = part, count + 1
            self.messages = part.messages
            yield part.rows
        for part in produce(before._replace(rows=())):
            if not part.last:
                self._write(count, part)
            count += 1
            yield part.rows

    def remarks(self) -> list[str]:
        """Return what a report tells of an interrupted run."""
        return [f'went on after {self.messages} messages, which an interrupted run had done'
                ] if self.messages else []

    def clear(self) -> None:
        """Remove the parts, as the files are whole."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, count: int) -> Path | None:
        return None if self._folder is None else self._folder / f'{count:06d}'

    def _read(self, count: int) -> Part | None:
        """Return a part of an equal job, or None; a part of another one goes."""
        path = self._path(count)
        if path is None or not path.is_file():
            return None
        try:
            with path.open('rb') as stream:
                if stream.readline().decode().strip() == self._key:
                    return Part(pickle.load(stream), *pickle.load(stream))
        except (OSError, ValueError, EOFError, pickle.UnpicklingError, AttributeError,
                ImportError, TypeError):
            pass
        if count == 0:
            self.clear()
        return None

    def _write(self, count: int, part: Part) -> None:
        path = self._path(count)
        if path is None:
            return
        path.parent.mkdir(exist_ok=True)
        half = path.with_suffix('.half')
        with half.open('wb') as stream:
            stream.write(f'{self._key}\n'.encode())
            pickle.dump(part.rows, stream, protocol=pickle.HIGHEST_PROTOCOL)
            _StatePickler(stream, pickle.HIGHEST_PROTOCOL).dump(tuple(part)[1:])
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(half, path)
