# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Files that have their name when they are whole: an older one stays until then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """
    Yield a place beside path, which is moved there at the end.

    After an error, such as of a full disk, path is as it was. An OSError that names no other file
    names it. A link stays, and what it leads to is replaced; a pipe or device is yielded itself.
    """
    if path.exists() and not path.is_file():
        with naming(path, path):
            yield path
        return
    path = path.resolve()
    part = path.with_name(f'.{path.name}.part')
    try:
        with naming(path, part):
            yield part
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


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
