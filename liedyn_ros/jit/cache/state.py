# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The contents of the kernel cache, for those who look after a robot."""

from dataclasses import dataclass
import os
from pathlib import Path

from liedyn_ros.jit.cache.files import DamageError, read, SUFFIX
from liedyn_ros.jit.cache.folder import cache_root, DistrustError, require_trust


@dataclass(frozen=True)
class CacheState:
    """
    The cache as it is.

    folder: None where the user has no home. problem: why kernels are neither read nor kept, empty
    if they are. writable: kernels can be kept; else those found are still used. owner: user id,
    and mode, of the folder, None where it does not exist yet. size: of all kernels, bytes.
    damaged: files that are compiled again when they are needed.
    """

    folder: Path | None
    problem: str = ''
    writable: bool = False
    owner: int | None = None
    mode: int | None = None
    kernels: int = 0
    size: int = 0
    damaged: tuple[Path, ...] = ()


def cache_state(folder: Path | None = None) -> CacheState:
    """Return the state of the cache, or of another folder; reads every file, changes nothing."""
    folder = folder or cache_root()
    if folder is None:
        return CacheState(None, 'expected a home of this user, got none')
    if not os.path.lexists(folder):
        above = next(each for each in folder.parents if os.path.lexists(each))
        writable = above.is_dir() and os.access(above, os.W_OK | os.X_OK)
        return CacheState(folder, '' if writable else f'{above}: this user cannot write here',
                          writable)
    try:
        found = folder.stat()
        require_trust(found, folder)
        paths = kernel_files(folder)
        os.scandir(folder).close()
    except (OSError, DistrustError) as error:
        return CacheState(folder, str(error))
    return CacheState(
        folder, '', os.access(folder, os.W_OK | os.X_OK), found.st_uid, found.st_mode & 0o7777,
        len(paths), sum(path.lstat().st_size for path in paths),
        tuple(path for path in paths if not _is_whole(path)))


def kernel_files(folder: Path | None = None) -> list[Path]:
    """Return the kernels in the cache, or in another folder, unread."""
    folder = folder or cache_root()
    return [] if folder is None else sorted(folder.glob(f'*/*{SUFFIX}'))


def _is_whole(path: Path) -> bool:
    try:
        read(path)
    except (OSError, DamageError, DistrustError):
        return False
    return True
