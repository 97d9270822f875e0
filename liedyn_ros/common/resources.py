# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Paths of the package's files, and of those that robot files name."""

from collections.abc import Iterator
import os
from pathlib import Path
from urllib.parse import unquote, urlparse

from liedyn_ros.common.checks import listed
from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import DescriptionError, LiedynError


def config_file(name: str) -> Path:
    """
    Return the path of a file of the package's config folder.

    The folder stands beside the package in the source tree and under share/liedyn_ros of the
    install prefix otherwise. Raises LiedynError naming the paths searched.
    """
    package = Path(__file__).resolve().parents[1]
    places = [package.parent / 'config' / name]
    places += [above / 'share' / 'liedyn_ros' / 'config' / name for above in package.parents]
    for place in places:
        if os.path.isfile(place):  # False for a name too long, where Path.is_file raises
            return place
    raise LiedynError(f'configuration file {abbreviate(name)}: not found in any of '
                      f'{[str(place.parent) for place in places]}')


def named_file(name: str) -> str | Path:
    """
    Return the path that a parameter names; a bare name is a file of the package's config folder.

    Raises LiedynError for a bare name of a file that is in the working directory too, or there
    alone: `./` before it names that one.
    """
    if os.path.basename(name) != name:
        return name
    own = f'./{name}'
    try:
        found = config_file(name)
    except LiedynError as error:
        if os.path.isfile(own):
            raise LiedynError(f'{error}; the file in the working directory is {own}',
                              names=(own,)) from error
        raise
    if os.path.isfile(own) and not os.path.samefile(own, found):
        raise LiedynError(f'file: expected a name of one file, got {name}: {own} is in the '
                          f'working directory, {found} of the package', names=(own,))
    return found


PATHS = ('ROS_PACKAGE_PATH', 'GZ_SIM_RESOURCE_PATH', 'IGN_GAZEBO_RESOURCE_PATH',
         'GAZEBO_MODEL_PATH')  # variables with folders of packages and models


def candidates(uri: str, folder: Path | None) -> Iterator[Path]:
    """
    Yield where the file of an address or path may be; folder is that of the file that names it.

    A package or model is looked for among those of ROS, in the folders of PATHS, and around the
    folder.
    """
    parts = urlparse(uri)
    if parts.scheme not in ('package', 'model'):
        path = Path(unquote(parts.path) if parts.scheme == 'file' else uri)
        yield path if folder is None else folder / path
        return
    inside = unquote(parts.path).lstrip('/')
    for place in _packages(parts.netloc, folder):
        yield place / inside


def found_file(uri: str, folder: Path | None) -> Path | None:
    """Return the first of the candidates that is a file, None where none is."""
    return next((path for path in candidates(uri, folder) if path.is_file()), None)


def package_folder(name: str, folder: Path | None) -> Path:
    """Return the folder of a package. Raises DescriptionError with the places looked at."""
    tried = list(_packages(name, folder))
    for place in tried:
        if place.is_dir():
            return place
    raise DescriptionError(
        f'expected the package {name!r} in a workspace, next to the file or in a folder of '
        f'{PATHS[0]} (export {PATHS[0]}=folder), got none; looked at '
        f'{listed(list(map(str, tried)))}')


def _packages(name: str, folder: Path | None) -> Iterator[Path]:
    for prefix in _folders('AMENT_PREFIX_PATH'):
        yield prefix / 'share' / name
    for variable in PATHS:
        for root in _folders(variable):
            if root.name == name:
                yield root
            yield root / name
    for above in () if folder is None else (folder, *folder.parents):
        if above.name == name:
            yield above
        yield above / name


def _folders(variable: str) -> list[Path]:
    return [Path(each) for each in os.environ.get(variable, '').split(os.pathsep) if each]
