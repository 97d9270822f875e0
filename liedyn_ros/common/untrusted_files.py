# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Files that others wrote: regular ones alone are opened, and what is read of them is bounded."""

from collections.abc import Iterator
from io import TextIOWrapper
import os
from pathlib import Path
import stat
from typing import BinaryIO

from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import DescriptionError

MAX_DESCRIPTION_BYTES = 16 * 2**20  # of a description; that of a humanoid has some 2**20
MAX_LINE = 2**20  # characters of a line of a table


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """
    Open a regular file to read its bytes.

    Raises DescriptionError, also for a directory, a pipe or a device, none of which is waited for.
    The error does not name the file.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise DescriptionError(f'expected a path, got {abbreviate(path)}')
    try:
        # Without O_NONBLOCK, opening a named pipe waits for a writer.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise DescriptionError(f'expected a readable file, got {error.strerror}') from error
    except ValueError as error:  # a character that no path has
        raise DescriptionError(f'expected a path, got {error}') from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise DescriptionError('expected a regular file, got a directory, pipe or device')
    return os.fdopen(handle, 'rb')


def read_file(path: str | os.PathLike[str], most: int = MAX_DESCRIPTION_BYTES) -> bytes:
    """Return the content of a regular file of at most so many bytes; raise DescriptionError."""
    with open_regular(path) as file:
        try:
            content = file.read(most + 1)
        except OSError as error:
            raise DescriptionError(f'expected a readable file, got {error.strerror}') from error
    if len(content) > most:
        raise DescriptionError(f'expected a file of at most {most} bytes, got a larger one')
    return content


def text_lines(path: Path) -> Iterator[str]:
    """
    Yield the lines of a regular file in UTF-8, of at most MAX_LINE characters each.

    A mark of the order of bytes before the first one is left out. Raises DescriptionError.
    """
    with TextIOWrapper(open_regular(path), encoding='utf-8-sig', newline='') as file:
        number = 1
        try:
            while line := file.readline(MAX_LINE + 1):
                if len(line) > MAX_LINE:
                    raise DescriptionError(f'expected lines of at most {MAX_LINE} characters, got '
                                           f'a longer one in line {number}')
                yield line
                number += 1
        except UnicodeDecodeError as error:
            raise DescriptionError(
                f'expected text in UTF-8, got {error} in line {number}') from error
