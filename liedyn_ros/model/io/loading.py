# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Models from files of any format that is read."""

from collections.abc import Callable, Mapping
from inspect import signature
import os
from pathlib import Path

from numpy.typing import ArrayLike

from liedyn_ros.common.checks import listed
from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.common.xacro_reader import expand, has_xacro
from liedyn_ros.common.xml_reader import is_document, read
from liedyn_ros.model.builder import STANDARD_GRAVITY
from liedyn_ros.model.io.mjcf.reader import load_mjcf
from liedyn_ros.model.io.sdf.reader import load_sdf
from liedyn_ros.model.io.urdf import load_urdf
from liedyn_ros.model.io.yaml_reader import load_yaml
from liedyn_ros.model.model import Model


def load_model(
        source: str | os.PathLike[str], *, arguments: Mapping[str, str] | None = None,
        floating: bool = False, strict: bool = False, gravity: ArrayLike | None = None,
        sdf_model: str | None = None) -> Model:
    """
    Return the model of a file or text.

    Args:
        source: .urdf, .xacro, .xml (MJCF), .sdf, .world, .yaml or .yml; a text that starts with
            "<" is URDF, MJCF or SDF by its root element.
        arguments: of a xacro file, by name.
        floating: whether the root moves freely, where the file does not say.
        strict: whether to refuse what is otherwise a warning.
        gravity: (3,), m/s^2, in place of the file's.
        sdf_model: name of one of the models of an SDF world.

    Returns:
        the Model.

    Raises:
        DescriptionError: for another file, or options that the format does not have.

    >>> ld.load_model(config_file('arm.urdf')).nq
    6
    """
    if is_document(source):
        tag = read(source, 'URDF, MJCF or SDF').value.tag
        name, suffix = f'text of {tag}', {
            'sdf': '.sdf', 'gazebo': '.sdf', 'mujoco': '.xml'}.get(tag, '.urdf')
    elif isinstance(source, (str, os.PathLike)):
        name, suffix = str(source), Path(source).suffix.lower()  # .URDF of CAD, too
    else:
        raise DescriptionError(f'expected a path, got {abbreviate(source)}')
    if suffix not in _LOADERS:
        raise DescriptionError(f'{name}: expected a file {", ".join(_LOADERS)}, got '
                               f'{suffix or "no suffix"}')
    given, known = {'arguments': arguments or None, 'floating': floating or None,
                    'strict': strict or None, 'gravity': gravity, 'sdf_model': sdf_model}, {
        kind: signature(loader).parameters for kind, loader in _LOADERS.items()}
    for option in [each for each, value in given.items() if value is None or each not in known[
            suffix]]:
        value = given.pop(option)
        if value is not None and (option, suffix) != ('strict', '.xml'):  # MuJoCo is by itself
            what = 'xacro arguments' if option == 'arguments' else f'option {option}'
            raise DescriptionError(
                f'{name}: expected no {what} for {suffix}, as only '
                f'{listed([kind for kind in known if option in known[kind]])} have them, got '
                f'{abbreviate(value)}')
    return _LOADERS[suffix](source, **given)


def _load_xacro(path: str | os.PathLike[str], arguments: Mapping[str, str] | None = None,
                floating: bool = False, strict: bool = False,
                gravity: ArrayLike = STANDARD_GRAVITY) -> Model:
    """Return the model of a xacro file, expanded within the limits of common.xacro_reader."""
    if not isinstance(arguments, Mapping | None):
        raise DescriptionError(
            f'{path}: expected xacro arguments as a Mapping of names, got {abbreviate(arguments)}')
    if not has_xacro():
        raise DescriptionError(f'{path}: expected the Python package xacro, which expands .xacro '
                               'files (with ROS: apt install ros-${ROS_DISTRO}-xacro, else: '
                               f'{remedy_of("xacro")}), got none')
    try:
        return load_urdf(expand(path, arguments or {}), floating=floating, strict=strict,
                         gravity=gravity)
    except DescriptionError as error:
        raise DescriptionError(f'{path}: {error}') from error


_LOADERS: dict[str, Callable[..., Model]] = {
    '.urdf': load_urdf, '.xacro': _load_xacro, '.xml': load_mjcf, '.sdf': load_sdf,
    '.world': load_sdf, '.yaml': load_yaml, '.yml': load_yaml}
