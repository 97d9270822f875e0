# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A damaged file of the cache is a miss: the kernel is compiled, the file named and replaced."""

from collections.abc import Callable
import errno
import os
from pathlib import Path
import pickle
import shutil

import pytest

from liedyn_ros.jit.cache import files, kernel_cache


class Planted:
    """An object whose unpickling runs a function."""

    executed: list[int] = []  # noqa: RUF012 - of the class, where it is unpickled

    def __reduce__(self) -> object:
        """Return the call."""
        return Planted.executed.append, (1,)


def flip(path: Path, at: float) -> None:
    """Change one bit of a file, at a part of its length."""
    content = bytearray(path.read_bytes())
    content[int(at * len(content))] ^= 1
    path.write_bytes(content)


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / 'inside').touch()


def replace_by_link(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


def replace_by_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replace_folder_by_file(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.touch()


DAMAGES: dict[str, Callable[[Path], object]] = {
    'length 0': lambda path: os.truncate(path, 0),
    'half': lambda path: os.truncate(path, path.stat().st_size // 2),
    'one byte short': lambda path: os.truncate(path, path.stat().st_size - 1),
    'one byte longer': lambda path: path.write_bytes(path.read_bytes() + b'0'),
    'random': lambda path: path.write_bytes(os.urandom(9000)),
    'zeros': lambda path: path.write_bytes(bytes(path.stat().st_size)),
    'a bit at the begin': lambda path: flip(path, 0.0),
    'a bit in the middle': lambda path: flip(path, 0.5),
    'a bit near the end': lambda path: flip(path, 0.99),
    'a planted pickle': lambda path: path.write_bytes(pickle.dumps(Planted())),
    'a folder': replace_by_folder,
    'a loop of links': lambda path: replace_by_link(path, path.name),
    'a link to nothing': lambda path: replace_by_link(path, 'nowhere'),
    'a link to a device': lambda path: replace_by_link(path, '/dev/zero'),
    'a FIFO': replace_by_fifo,
    'a file as its folder': replace_folder_by_file,
    'writable by all': lambda path: path.chmod(0o666),
}


@pytest.mark.parametrize('damage', DAMAGES)
def test_damage_is_a_miss(store, damage):
    assert not store.start()
    file = store.file
    DAMAGES[damage](file)
    assert not store.start()
    warning, = store.warnings
    assert str(file) in warning
    assert store.start() and not store.warnings
    assert store.file == file and not Planted.executed


def test_every_flipped_bit_is_found(tmp_path):
    path, key = tmp_path / 'digest' / 'x.kernel', files.key_of('x')
    files.write(path, key, b'payload')
    whole = path.read_bytes()
    for bit in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(files.DamageError, match='expected a kernel with its checksum'):
            files.read(path, key)


def test_the_file_of_another_kernel_is_a_miss(store):
    store.start()
    files.write(store.file, files.key_of('another'), files.read(store.file))
    assert not store.start()
    assert store.start()


@pytest.mark.parametrize('payload', [
    pickle.dumps(Planted())[:-1], b'cno_such_module\nno_such_class\n.',
    kernel_cache.dumps((('name', 'bitcode', b'no bitcode'), *[None] * 8))],
    ids=['not a pickle', 'names a class that is gone', 'no code of LLVM'])
def test_what_was_kept_wrong_is_a_miss(store, monkeypatch, payload):
    with monkeypatch.context() as patch:
        patch.setattr(kernel_cache, 'dumps', lambda reduced: payload)
        store.start()
    assert not store.start()
    assert str(store.file) in store.warnings[0]
    assert store.start() and not store.warnings


@pytest.mark.parametrize('number', [errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE])
def test_a_file_that_cannot_be_read_is_a_miss(store, monkeypatch, number):
    store.start()
    usual = os.open

    def refuse(path: object, *options: int, **named: int) -> int:
        if path == store.file:
            raise OSError(number, os.strerror(number), str(path))
        return usual(path, *options, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, 'open', refuse)
        assert not store.start()
    assert os.strerror(number) in store.warnings[0] and str(store.file) in store.warnings[0]
    assert store.start()
