# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The settings of the pose node, from its parameter files, without ROS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from liedyn_ros.common.checks import listed, unknown_name
from liedyn_ros.common.errors import DescriptionError, LiedynError, NameSetError
from liedyn_ros.common.resources import config_file
from liedyn_ros.common.yaml_reader import read

NODE = 'stewart_pose'


def settings_of(path: Path | None) -> dict[str, Any]:
    """
    Return the parameters of the pose node in a file over the defaults of config/stewart.yaml.

    Raises DescriptionError for a file that is no parameter file, and NameSetError for a name that
    is no parameter.
    """
    settings = node_settings(path)
    for name in ('orientation_noise', 'extra_length_noise'):
        if settings[name]:
            raise DescriptionError(f'{path}: {name}: expected 0, as redundant sensors of a bag '
                                   f'are not read, got {settings[name]}')
    return settings


def node_settings(path: Path | None) -> dict[str, Any]:
    """Return the node's parameters from a file, those of redundant sensors too."""
    settings = _parameters(config_file('stewart.yaml'))
    for name, value in ({} if path is None else _parameters(path)).items():
        if name not in settings and name != 'use_sim_time':
            raise unknown_name(NameSetError, f'{path}: parameter', settings, name)
        settings[name] = value
    return settings


def _parameters(path: Path) -> dict[str, Any]:
    """Return the parameters that a file has for the node, those of all nodes included."""
    try:
        content = read(path, str(path)).value
        of_node = {key: section for key, section in content.items()
                   if key.rpartition('/')[2] in ('**', NODE)}
        found: dict[str, Any] = {}
        for section in of_node.values():
            found |= section['ros__parameters']
    except (LiedynError, AttributeError, KeyError, TypeError) as error:
        raise DescriptionError(f'{path}: expected a parameter file of ROS 2, got {error!r}'
                               ) from error
    if content and not of_node:
        raise DescriptionError(f'{path}: expected a section {NODE} or /**, got '
                               f'{listed(list(content))}')
    return found
