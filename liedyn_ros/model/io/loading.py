# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Models from files of any format that is read."""

from collections.abc import Callable, Mapping
import os
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.common.xacro_reader import expand, has_xacro
from liedyn_ros.common.xml_reader import read
from liedyn_ros.model.builder import STANDARD_GRAVITY
from liedyn_ros.model.io.mjcf.reader import load_mjcf
from liedyn_ros.model.io.sdf.reader import load_sdf
from liedyn_ros.model.io.urdf import load_urdf
from liedyn_ros.model.io.yaml_reader import load_yaml
from liedyn_ros.model.model import Model


def load_model(
        path: str | os.PathLike[str], *, arguments: Mapping[str, str] | None = None,
        floating: bool = False, strict: bool = False,
        gravity: ArrayLike | None = None, urdf_constraints: bool = False,
        sdf_model: str | None = None) -> Model:
    """
    Return the model of a file: .urdf, .xacro, .xml (MJCF), .sdf, or this package's .yaml and .yml.

    arguments are those of a xacro file, the others those of load_urdf; sdf_model names one of the
    models of an SDF world. Options that a format does not have are refused. Raises
    DescriptionError.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise DescriptionError(f'expected a path, got {abbreviate(path)}')
    suffix = Path(path).suffix
    if suffix not in _OPTIONS:
        raise DescriptionError(f'{path}: expected a file {", ".join(_OPTIONS)}, got '
                               f'{suffix or "no suffix"}')
    return _load(path, suffix, path, arguments=arguments, floating=floating, strict=strict,
                 gravity=gravity, urdf_constraints=urdf_constraints, sdf_model=sdf_model)


def load_text(text: str, *, floating: bool = False, strict: bool = False,
              gravity: ArrayLike | None = None, urdf_constraints: bool = False,
              sdf_model: str | None = None) -> Model:
    """
    Return the model of a text of URDF, MJCF or SDF, by its root element; options as load_model.

    Raises DescriptionError.
    """
    tag = read(text, 'URDF, MJCF or SDF').value.tag
    suffix = {'sdf': '.sdf', 'gazebo': '.sdf', 'mujoco': '.xml'}.get(tag, '.urdf')
    return _load(text, suffix, f'text of {tag}', floating=floating, strict=strict,
                 gravity=gravity, urdf_constraints=urdf_constraints, sdf_model=sdf_model)


def _load(source: Any, suffix: str, name: Any, **options: Any) -> Model:
    """Return the model of a source, loaded with the options that were given."""
    given = {}
    for option, value in options.items():
        if value is None or value is False or (option == 'arguments' and not value):
            continue
        if option in _OPTIONS[suffix]:
            given[option] = value
        elif (option, suffix) != ('strict', '.xml'):  # MuJoCo is strict by itself
            what = 'xacro arguments' if option == 'arguments' else f'option {option}'
            raise DescriptionError(f'{name}: expected no {what} for {suffix}, as it is '
                                   f'{_OF[option]}, got {abbreviate(value)}')
    return _LOADERS[suffix](source, **given)


def load_xacro(path: str | os.PathLike[str], arguments: Mapping[str, str] | None = None, *,
               floating: bool = False, strict: bool = False,
               gravity: ArrayLike = STANDARD_GRAVITY, urdf_constraints: bool = False) -> Model:
    """
    Return the model of a xacro file, expanded with the arguments; the others as for load_urdf.

    Raises DescriptionError, also where the Python package xacro is missing, and where it takes
    more than the limits of common.xacro_reader.
    """
    if not isinstance(arguments, Mapping | None):
        raise DescriptionError(
            f'{path}: expected xacro arguments as a Mapping of names, got {abbreviate(arguments)}')
    if not has_xacro():
        raise DescriptionError(f'{path}: expected the Python package xacro, which expands .xacro '
                               'files (with ROS: apt install ros-${ROS_DISTRO}-xacro, else: '
                               f'{remedy_of("xacro")}), got none')
    try:
        return load_urdf(expand(path, arguments or {}), floating=floating, strict=strict,
                         gravity=gravity, urdf_constraints=urdf_constraints)
    except DescriptionError as error:
        raise DescriptionError(f'{path}: {error}') from error


_URDF = 'floating', 'strict', 'gravity', 'urdf_constraints'
_OPTIONS: dict[str, tuple[str, ...]] = {  # that the loader of each kind of file has
    '.urdf': _URDF, '.xacro': ('arguments', *_URDF), '.xml': ('gravity',),
    '.sdf': ('floating', 'strict', 'gravity', 'sdf_model'), '.yaml': (), '.yml': ()}
_LOADERS: dict[str, Callable[..., Model]] = {
    '.urdf': load_urdf, '.xacro': load_xacro, '.xml': load_mjcf, '.sdf': load_sdf,
    '.yaml': load_yaml, '.yml': load_yaml}
_OF = {'arguments': 'of xacro', 'urdf_constraints': 'of URDFs', 'sdf_model': 'of SDF',
       'floating': 'of URDF and SDF, as others say it themselves', 'strict': 'of URDF and SDF',
       'gravity': 'of URDF, SDF and MJCF'}
