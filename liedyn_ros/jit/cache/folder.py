# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The folder of compiled kernels, and whether it can be trusted.

A kernel is code that runs. So nothing is read or kept where users other than this one and root can
write.
"""

from contextlib import suppress
import functools
import logging
import os
from pathlib import Path
import pwd
import re
import shutil
import stat
import time

from numba.core import config

LOG = logging.getLogger('liedyn_ros.jit.cache')
PRIVATE = 0o700  # mode of the folders that are made here
UNUSED = 14 * 86400.0  # s, after which the kernels of a digest are removed
USED = 86400.0  # s, within which a folder counts as used now
_DIGEST = re.compile(r'[0-9a-f]{16}')
_TOLD: set[Path] = set()


class DistrustError(Exception):
    """Others than this user and root can write where kernels are kept."""


def cache_root() -> Path | None:
    """
    Return the folder of compiled kernels, or None where the user has no home.

    It is NUMBA_CACHE_DIR, else liedyn_ros in the user's cache folder. Relative paths are ignored:
    the cache would move with the working directory.
    """
    if config.CACHE_DIR and Path(config.CACHE_DIR).is_absolute():
        return Path(config.CACHE_DIR)
    caches = os.environ.get('XDG_CACHE_HOME', '')
    home = os.environ.get('HOME', '')
    if not os.path.isabs(caches):
        if not os.path.isabs(home):
            try:
                home = pwd.getpwuid(os.geteuid()).pw_dir
            except KeyError:  # a user of a container, for example
                return None
        caches = os.path.join(home, '.cache')
    return Path(caches) / 'liedyn_ros'


@functools.cache
def trusted_root() -> Path | None:
    """Return the folder of compiled kernels, made if need be; warn once where there is none."""
    root = cache_root()
    if root is None:
        LOG.warning('no folder for compiled kernels, as this user has no home: each start '
                    'compiles them again. NUMBA_CACHE_DIR names a folder, by an absolute path.')
        return None
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            root.mkdir(mode=PRIVATE)
        require_trust(root.stat(), root)
        os.scandir(root).close()
    except (OSError, DistrustError) as error:
        warn_of_folder(root, error)
        return None
    return root


def require_trust(found: os.stat_result, path: Path) -> None:
    """Raise DistrustError where others than this user and root can write a file or folder."""
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid not in (0, os.geteuid()) or mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise DistrustError(
            f'{path}: expected that only user {os.geteuid()} or root can write here, got owner '
            f'{found.st_uid} and mode {mode:04o}')


def warn_of_folder(folder: Path, error: Exception) -> None:
    """Say why kernels are not kept, and the cure; once a process."""
    if folder not in _TOLD:
        _TOLD.add(folder)
        LOG.warning(
            f'{folder}: compiled kernels are not kept, so each start compiles them again: '
            f'{error}. The folder has to belong to this user ({os.geteuid()}) or root, and others '
            'must not be able to write there. It can be deleted at any time; NUMBA_CACHE_DIR '
            'names another one.')


def clear(path: Path) -> None:
    """Remove what stands at a path, if anything does."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@functools.cache
def mark_used(folder: Path) -> None:
    """Note that a digest is in use, by the time of its folder; once a process."""
    with suppress(OSError):  # a folder that only root can write
        if time.time() - folder.stat().st_mtime > USED:
            os.utime(folder)


@functools.cache
def remove_unused(root: Path) -> None:
    """
    Remove digests that no process has used for UNUSED; once a process.

    A process that reads one at the same time finds no file, and compiles.
    """
    oldest = time.time() - UNUSED
    with suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if (_DIGEST.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
                    and entry.stat(follow_symlinks=False).st_mtime < oldest):
                shutil.rmtree(entry.path, ignore_errors=True)
