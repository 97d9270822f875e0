# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Models from files of any format that is read."""

from collections.abc import Mapping
import os
from pathlib import Path
from typing import Any

from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.model.io.urdf_reader import load_urdf
from liedyn_ros.model.io.yaml_reader import load_yaml
from liedyn_ros.model.model import Model


def load_model(path: str | os.PathLike[str], **options: Any) -> Model:
    """
    Return the model of a file: .urdf, .xacro, or .yaml and .yml in the package's own format.

    options are those of load_urdf and load_xacro; a YAML file says all itself and takes none.
    Raises DescriptionError.
    """
    suffix = Path(path).suffix
    if suffix == '.urdf':
        return load_urdf(path, **options)
    if suffix == '.xacro':
        return load_xacro(path, **options)
    if suffix not in ('.yaml', '.yml'):
        raise DescriptionError(f'{path}: expected a file .urdf, .xacro, .yaml or .yml, '
                               f'got {suffix or "no suffix"}')
    if options:
        raise DescriptionError(f'{path}: expected no options for a YAML file, got {options}')
    return load_yaml(path)


def load_xacro(path: str | os.PathLike[str], arguments: Mapping[str, str] | None = None,
               **options: Any) -> Model:
    """
    Return the model of a xacro file, expanded with the arguments; options are those of load_urdf.

    Raises DescriptionError, also where the Python package xacro is missing.
    """
    try:
        import xacro
    except ImportError as error:
        raise DescriptionError(f'{path}: expected the Python package xacro, which expands .xacro '
                               'files (apt install ros-${ROS_DISTRO}-xacro), got none') from error
    try:
        text = xacro.process_file(str(path), mappings=dict(arguments or {})).toxml()
    except Exception as error:  # a faulty file makes xacro raise AttributeError, TypeError, any
        raise DescriptionError(f'{path}: expected a file that xacro can expand, '
                               f'got {type(error).__name__}: {error}') from error
    try:
        return load_urdf(text, **options)
    except DescriptionError as error:
        raise DescriptionError(f'{path}: {error}') from error
