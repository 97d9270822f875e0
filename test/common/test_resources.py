# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Files of the package are found, and a name that no file can have is refused as any other."""

from pathlib import Path

import pytest
from support.refusals import refused

from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file, named_file
from liedyn_ros.model import load_model
from liedyn_ros.stewart import load_geometry

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
