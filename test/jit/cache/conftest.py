# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A cache of one small kernel, in a folder of the test."""

from collections.abc import Callable, Iterator
import logging
from pathlib import Path
from typing import Any

from numba.core import config
import pytest

from liedyn_ros.jit.cache import folder
from liedyn_ros.jit.cache.kernel_cache import KernelCache
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels.vec3 import dot

ARGUMENTS = (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)
RESULT = 32.0


class Store:
    """A cache of one kernel, as processes would use it one after the other."""

    def __init__(self, root: Path, caplog: pytest.LogCaptureFixture) -> None:
        """Take the folder."""
        self.root, self.caplog = root, caplog
        self.cache: KernelCache | None = None

    @property
    def file(self) -> Path:
        """Return the file of the kernel."""
        found, = self.root.glob('*/*.kernel')
        return found

    def start(self) -> bool:
        """Call the kernel as a new process would; return whether the cache had it."""
        forget()
        self.caplog.clear()
        fresh = kernel(dot.py_func)
        self.cache = fresh._cache
        assert fresh(*ARGUMENTS) == RESULT
        return bool(sum(fresh.stats.cache_hits.values()))

    @property
    def warnings(self) -> list[str]:
        """Return what the last start logged."""
        return [record.getMessage() for record in self.caplog.records
                if record.levelno >= logging.WARNING]


def forget() -> None:
    """Look at the folder again."""
    for remembered in (folder.trusted_root, folder.mark_used, folder.remove_unused):
        remembered.cache_clear()
    folder._TOLD.clear()


def of_one(own: Store, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of caches that does something for the kernel of a store alone."""
    return lambda cache, *arguments: method(cache, *arguments) if cache is own.cache else None


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
          ) -> Iterator[Store]:
    """Return a cache that does not exist yet; kernels that tests before still compile miss it."""
    own = Store(tmp_path / 'kernels', caplog)
    for name in ('load_overload', 'save_overload'):
        monkeypatch.setattr(KernelCache, name, of_one(own, getattr(KernelCache, name)))
    monkeypatch.setattr(config, 'CACHE_DIR', str(tmp_path / 'kernels'))
    yield own
    monkeypatch.undo()
    forget()
