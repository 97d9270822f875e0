# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Shared memory of the middleware: room for a further node, and what nodes that crashed left."""

from collections.abc import Iterator
from contextlib import suppress
import fcntl
import os
from pathlib import Path

from liedyn_ros.commands.operation.computer import DoctorLine, Severity

SHARED_MEMORY_PART = 'shared memory'
SHARED_MEMORY = Path('/dev/shm')
SEGMENT = 549_000  # bytes of a participant of Fast DDS by default, with its ports
MAX_NAMES = 3  # names
OF_LOCK = '_el'  # ends the name of the file that a participant holds locked while it is there


def findings(folder: Path = SHARED_MEMORY) -> Iterator[DoctorLine]:
    """Yield findings on free shared memory, and on segments of participants that have gone."""
    try:
        room = os.statvfs(folder)
        left = sorted(left_over(folder))
    except OSError as error:
        yield DoctorLine(SHARED_MEMORY_PART, Severity.WARN,
                         f'{folder}: expected a folder that can be read, got '
                         f'{error.strerror}: Fast DDS sends by UDP')
        return
    free, whole = (count * room.f_frsize for count in (room.f_bavail, room.f_blocks))
    text = f'{free / 1e6:.0f} of {whole / 1e6:.0f} MB of {folder} are free'
    if free < SEGMENT:
        yield DoctorLine(SHARED_MEMORY_PART, Severity.ERROR,
                         f'{text}: it is full; a further node sends by UDP',
                         'remove leftovers, or give a container more (--shm-size)')
    else:
        yield DoctorLine(SHARED_MEMORY_PART, Severity.OK, text)
    if left:
        size = sum(_size(folder / name) for name in left)
        more = f' and {len(left) - MAX_NAMES} more' if len(left) > MAX_NAMES else ''
        yield DoctorLine(SHARED_MEMORY_PART, Severity.WARN,
                         f'{len(left)} segments of participants that were '
                         f'killed or crashed hold {size / 1e6:.1f} MB: '
                         f'{", ".join(left[:MAX_NAMES])}{more}',
                         'fastdds shm clean, or remove these files')


def left_over(folder: Path) -> Iterator[str]:
    """Yield the names of segments whose lock nobody holds."""
    for lock in folder.glob(f'fastdds_*{OF_LOCK}'):
        segment = lock.with_name(lock.name.removesuffix(OF_LOCK))
        with suppress(OSError):  # another user's, or one that ends meanwhile
            handle = os.open(lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            finally:
                os.close(handle)
            if segment.exists():
                yield segment.name


def _size(path: Path) -> int:
    with suppress(OSError):
        return 512 * path.lstat().st_blocks
    return 0
