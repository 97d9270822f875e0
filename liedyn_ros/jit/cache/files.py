# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
One file of the cache: a compiled kernel behind a checksum, written whole or not at all.

Nothing of a file is unpickled or run before its checksum, owner and mode are right.
"""

from hashlib import sha256
import os
from pathlib import Path
import stat
import tempfile

from liedyn_ros.jit.cache.folder import clear, PRIVATE, require_trust

SUFFIX = '.kernel'
_MAGIC = b'liedyn_ros kernel 1\n'
_LENGTH = sha256().digest_size  # of a key, and of the checksum
_PAYLOAD = len(_MAGIC) + 2 * _LENGTH  # where it begins


class DamageError(Exception):
    """A file of the cache is not as it was written."""


def key_of(description: str) -> bytes:
    """Return the key of a kernel from all that tells it from others."""
    return sha256(description.encode()).digest()


def read(path: Path, key: bytes | None = None, judge: bool = True) -> bytes:
    """
    Return the payload that `write` kept by a key, or by whichever key.

    judge: whether to look at the owner, as for files of a user. Raises DamageError for a changed
    file, DistrustError where others can write it. Raises OSError where it cannot be read, and
    FileNotFoundError where there is none.
    """
    # A FIFO would wait for a writer; a link may lead to a device.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, 'rb') as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise DamageError('expected a file, got a folder or device')
        if judge:
            require_trust(found, path)
        content = file.read()
    start, rest = content[:len(_MAGIC) + _LENGTH], content[len(_MAGIC) + _LENGTH:]
    if start != _MAGIC + sha256(rest).digest() or key not in (None, rest[:_LENGTH]):
        raise DamageError(f'expected a kernel with its checksum, got {len(content)} other bytes')
    return content[_PAYLOAD:]


def write(path: Path, key: bytes, payload: bytes) -> None:
    """
    Keep a payload by a key, in place of what stands there.

    After a loss of power there is the whole file or none. Raises OSError.
    """
    folder = path.parent
    if not os.path.isdir(folder):
        clear(folder)
        for each in (folder.parent, folder):
            each.mkdir(mode=PRIVATE, exist_ok=True)
    content = key + payload
    descriptor, unfinished = tempfile.mkstemp(prefix=path.name, suffix='.tmp', dir=folder)
    try:
        with open(descriptor, 'wb') as file:
            file.write(_MAGIC + sha256(content).digest() + content)
            file.flush()
            os.fsync(descriptor)
        if os.path.isdir(path):  # which no file replaces
            clear(path)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
