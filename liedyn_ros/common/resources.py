# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Paths of the package's files, installed or in the source tree, with or without ROS."""

import os
from pathlib import Path

from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import LiedynError


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
