# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Files and folders that have their name when they are whole: an older one stays until then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import shutil
import stat

from liedyn_ros.common.errors import LiedynError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """
    Yield a place for a file, which is moved to path at the end.

    After an error, such as of a full disk, path is as it was. An OSError that names no other file
    names it. A link stays, and what it leads to is replaced; a pipe or device is yielded itself.
    """
    if path.exists() and not path.is_file():
        with naming(path, path):
            yield path
        return
    with _beside(path.resolve()) as place:
        yield place


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a place for a folder of the same name, which is moved to path when it is whole."""
    if path.exists():
        raise FileExistsError(f'{path}: expected no folder there, got one')
    path.parent.mkdir(parents=True, exist_ok=True)
    with _beside(path) as place:
        yield place


def own_folder(path: Path) -> Path:
    """
    Return a folder whose content is as trusted as its user, made where there is none.

    Raises LiedynError for a link, a folder of another user, and one that others may write to.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) or found.st_uid not in (0, os.geteuid()) or (
            found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        raise LiedynError(f'{path}: expected a folder that its user alone may write to, got '
                          f'{stat.filemode(found.st_mode)} of user {found.st_uid}: remove it',
                          names=(str(path),), got=stat.filemode(found.st_mode))
    return path


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """
    Yield a place of the same name in a folder beside path.

    It is the user's alone: a link that others left where they may write would lead elsewhere.
    """
    folder = path.with_name(f'.{path.name}.part')
    with naming(path, folder):
        if folder.is_dir() and not folder.is_symlink():  # of a run that was killed
            shutil.rmtree(folder)
        else:
            folder.unlink(missing_ok=True)
        folder.mkdir(mode=0o700)
        try:
            yield folder / path.name
            os.replace(folder / path.name, path)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def naming(path: Path, part: Path) -> Iterator[None]:
    """Let an OSError that names no file, or one in part, say that path was not written."""
    try:
        yield
    except OSError as error:
        named = error.filename
        if error.errno is None or not (named is None or str(named).startswith(str(part))):
            raise
        raise OSError(error.errno, f'{error.strerror or error}; not written', str(path)) from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write bytes, or a text as UTF-8, by whole_file. Raises OSError."""
    with whole_file(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
