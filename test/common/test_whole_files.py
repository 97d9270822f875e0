# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Files have their name when they are whole; those of the package are found."""

import os
from pathlib import Path
import stat

import pytest
from support.refusals import refused

from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file, named_file
from liedyn_ros.common.whole_files import own_folder, whole_file, whole_folder, write_whole
from liedyn_ros.model import load_model
from liedyn_ros.stewart import load_geometry


@pytest.mark.parametrize('content', ['new \u03c9\n', b'new \xff\n'])
def test_a_file_is_replaced(tmp_path, content):
    path = tmp_path / 'file'
    for _ in range(2):
        write_whole(path, content)
        assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert os.listdir(tmp_path) == ['file']


def test_after_an_error_the_old_file_stays(tmp_path):
    path = tmp_path / 'file'
    path.write_text('old')
    with pytest.raises(ValueError, match='half'), whole_file(path) as part:
        part.write_text('new')
        raise ValueError('half')
    assert path.read_text() == 'old' and os.listdir(tmp_path) == ['file']


def test_a_full_disk_names_the_file():
    with pytest.raises(OSError, match=r"No space left on device; not written: '/dev/full'"):
        write_whole(Path('/dev/full'), 'text')


def test_a_link_stays(tmp_path):
    (tmp_path / 'file').write_text('old')
    (tmp_path / 'link').symlink_to('file')
    write_whole(tmp_path / 'link', 'new')
    assert (tmp_path / 'link').is_symlink() and (tmp_path / 'file').read_text() == 'new'


@pytest.mark.parametrize('plant', [
    lambda place, own: place.symlink_to(own), lambda place, own: place.symlink_to(own.parent),
    lambda place, own: os.link(own, place), lambda place, own: os.mkfifo(place),
    lambda place, own: (place.mkdir(), (place / 'file').symlink_to(own))])
def test_nothing_that_others_planted_is_written_to(tmp_path, plant):
    own, shared = tmp_path / 'own', tmp_path / 'shared'
    own.mkdir(), shared.mkdir()
    (own / 'file').write_text('mine')
    for write in (lambda: write_whole(shared / 'file', 'new'), folder_of(shared / 'folder')):
        for name in ('.file.part', '.folder.part'):
            if not os.path.lexists(shared / name):
                plant(shared / name, own / 'file')
        write()
    assert (own / 'file').read_text() == 'mine' and os.listdir(own) == ['file']
    assert (shared / 'file').read_text() == (shared / 'folder' / 'a').read_text() == 'new'


def folder_of(path):
    """Return a function that writes a folder with a file."""
    def write():
        with whole_folder(path) as place:
            place.mkdir()
            (place / 'a').write_text('new')
    return write


def test_a_folder_of_ours_is_no_link_and_nobody_else_may_write_to_it(tmp_path):
    """What is in it is linked and run."""
    assert stat.S_IMODE(own_folder(tmp_path / 'a' / 'b').stat().st_mode) == 0o700
    (tmp_path / 'link').symlink_to(tmp_path / 'a')
    (tmp_path / 'shared').mkdir()
    (tmp_path / 'shared').chmod(0o777)
    for path in (tmp_path / 'link', tmp_path / 'shared'):
        with pytest.raises(LiedynError) as caught:
            own_folder(path)
        assert caught.value.names == (str(path),)


def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    own_folder(tmp_path / 'a')
    monkeypatch.setattr(os, 'geteuid', lambda: (tmp_path / 'a').stat().st_uid + 1)
    if (tmp_path / 'a').stat().st_uid == 0:
        os.chown(tmp_path / 'a', 12345, -1)
    with pytest.raises(LiedynError) as caught:
        own_folder(tmp_path / 'a')
    assert caught.value.names == (str(tmp_path / 'a'),)


def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    reader = os.open(tmp_path / 'pipe', os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(tmp_path / 'pipe', 'text')
        assert os.read(reader, 10) == b'text'
    finally:
        os.close(reader)
    assert stat.S_ISFIFO((tmp_path / 'pipe').stat().st_mode)


IMPOSSIBLE = {'too long': 'x' * 3000, 'zero byte': 'a\0b', 'half a character': '\ud800',
              'empty': '', 'absent': 'absent.yaml'}


def test_a_file_of_the_package_is_found() -> None:
    assert config_file('stewart_geometry.yaml').is_file()


@pytest.mark.parametrize('case', IMPOSSIBLE)
def test_a_name_without_a_file_is_refused_by_name(case: str) -> None:
    name = IMPOSSIBLE[case]
    with pytest.raises(LiedynError) as refused:
        config_file(name)
    assert str(refused.value).startswith(
        f'configuration file {abbreviate(name)}: not found in any of [')
    assert len(abbreviate(name)) < 100


def test_a_bare_name_is_never_one_of_two_files(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert named_file('arm.urdf') == config_file('arm.urdf')
    for name in ('arm.urdf', 'own.urdf'):
        (tmp_path / name).touch()
        with refused(LiedynError, f'./{name}'):
            named_file(name)
        assert named_file(f'./{name}') == f'./{name}'
    monkeypatch.chdir(config_file('arm.urdf').parent)
    assert named_file('arm.urdf') == config_file('arm.urdf')


@pytest.mark.parametrize('load', [load_model, load_geometry])
@pytest.mark.parametrize('case', ['too long', 'zero byte', 'half a character'])
@pytest.mark.parametrize('suffix', ['', '.yaml', '.urdf', '.xacro'])
def test_a_path_that_no_file_can_have_is_refused(load, case: str, suffix: str) -> None:
    name = IMPOSSIBLE[case] + suffix
    for path in (name, Path(name)):
        with pytest.raises(LiedynError) as refused:
            load(path)
        assert len(str(refused.value)) < 3500
