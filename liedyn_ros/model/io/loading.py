# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Models from files of any format that is read."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path

from numpy.typing import ArrayLike

from liedyn_ros.common.description import short
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.common.xacro_reader import expand, has_xacro
from liedyn_ros.common.xml_reader import read
from liedyn_ros.model.builder import STANDARD_GRAVITY
from liedyn_ros.model.io.mjcf.reader import load_mjcf
from liedyn_ros.model.io.sdf.reader import load_sdf
from liedyn_ros.model.io.urdf_reader import load_urdf
from liedyn_ros.model.io.yaml_reader import load_yaml
from liedyn_ros.model.model import Model


def load_model(
        path: str | os.PathLike[str], *, arguments: Mapping[str, str] | None = None,
        floating: bool = False, strict: bool = False,
        gravity: ArrayLike | None = None, urdf_constraints: bool = False,
        sdf_model: str | None = None) -> Model:
    """
    Return the model of a file: .urdf, .xacro, .xml (MJCF), .sdf, or this package's .yaml and .yml.

    arguments are those of a xacro file, the others those of load_urdf. MJCF and SDF files say
    themselves what floats, and have no urdf_constraints; MuJoCo is strict by itself. sdf_model
    names one of the models of an SDF world. A YAML file
    says all itself and takes no option. Raises DescriptionError.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise DescriptionError(f'expected a path, got {short(path)}')
    suffix = Path(path).suffix
    if suffix not in ('.urdf', '.xacro', '.xml', '.sdf', '.yaml', '.yml'):
        raise DescriptionError(f'{path}: expected a file .urdf, .xacro, .xml, .sdf, .yaml or '
                               f'.yml, got {suffix or "no suffix"}')
    if arguments and suffix != '.xacro':
        raise DescriptionError(f'{path}: expected no xacro arguments for a file {suffix}, '
                               f'got {short(arguments)}')
    if suffix != '.sdf':
        _refuse_model(path, suffix, sdf_model)
    if suffix not in ('.urdf', '.xacro'):
        _refuse_constraints(path, suffix, urdf_constraints)
    if suffix in ('.yaml', '.yml'):
        options = {'floating': floating, 'strict': strict, 'gravity': gravity is not None}
        given = [name for name, value in options.items() if value]
        if given:
            raise DescriptionError(f'{path}: expected no options for a YAML file, got {given}')
        return load_yaml(path)
    if suffix == '.xml':
        return _load_mjcf(path, floating, gravity)
    if suffix == '.sdf':
        return load_sdf(path, floating=floating or None, strict=strict, gravity=gravity,
                        sdf_model=sdf_model)
    gravity = STANDARD_GRAVITY if gravity is None else gravity
    if suffix == '.xacro':
        return load_xacro(path, arguments, floating=floating, strict=strict, gravity=gravity,
                          urdf_constraints=urdf_constraints)
    return load_urdf(path, floating=floating, strict=strict, gravity=gravity,
                     urdf_constraints=urdf_constraints)


def load_text(text: str, *, floating: bool = False, strict: bool = False,
              gravity: ArrayLike | None = None, urdf_constraints: bool = False,
              sdf_model: str | None = None) -> Model:
    """
    Return the model of a text of URDF, MJCF or SDF, by its root element; options as load_model.

    Raises DescriptionError.
    """
    tag = read(text, 'URDF, MJCF or SDF').value.tag
    if tag in ('sdf', 'gazebo', 'mujoco'):
        _refuse_constraints(f'text of {tag}', tag, urdf_constraints)
    if tag in ('sdf', 'gazebo'):
        return load_sdf(text, floating=floating or None, strict=strict, gravity=gravity,
                        sdf_model=sdf_model)
    _refuse_model(f'text of {tag}', tag, sdf_model)
    if tag == 'mujoco':
        return _load_mjcf(text, floating, gravity)
    return load_urdf(text, floating=floating, strict=strict, urdf_constraints=urdf_constraints,
                     gravity=STANDARD_GRAVITY if gravity is None else gravity)


def _refuse_model(path: str | os.PathLike[str], kind: str, sdf_model: str | None) -> None:
    if sdf_model is not None:
        raise DescriptionError(f'{path}: expected no option sdf_model for {kind}, as it is of '
                               f'SDF, got {short(sdf_model)}')


def _refuse_constraints(path: str | os.PathLike[str], kind: str, urdf_constraints: bool) -> None:
    if urdf_constraints:
        raise DescriptionError(f'{path}: expected no option urdf_constraints for {kind}, as it is '
                               'of URDFs, got it')


def _load_mjcf(source: str | os.PathLike[str], floating: bool, gravity: ArrayLike | None
               ) -> Model:
    if floating:
        name = 'MJCF text' if str(source).lstrip().startswith('<') else source
        raise DescriptionError(f'{name}: expected no option floating for an MJCF file, which '
                               'says by its free joint what floats, got it')
    return load_mjcf(source, gravity=gravity)


def load_xacro(path: str | os.PathLike[str], arguments: Mapping[str, str] | None = None, *,
               floating: bool = False, strict: bool = False,
               gravity: ArrayLike = STANDARD_GRAVITY, urdf_constraints: bool = False) -> Model:
    """
    Return the model of a xacro file, expanded with the arguments; the others as for load_urdf.

    Raises DescriptionError, also where the Python package xacro is missing, and where it takes
    more than the limits of common.xacro_reader.
    """
    if not isinstance(arguments, Mapping | None):
        raise DescriptionError(f'{path}: expected xacro arguments as a Mapping of names, '
                               f'got {short(arguments)}')
    if not has_xacro():
        raise DescriptionError(f'{path}: expected the Python package xacro, which expands .xacro '
                               'files (with ROS: apt install ros-${ROS_DISTRO}-xacro, else: '
                               f'{remedy_of("xacro")}), got none')
    try:
        text = expand(path, arguments or {})
        return load_urdf(text, floating=floating, strict=strict, gravity=gravity,
                         urdf_constraints=urdf_constraints)
    except DescriptionError as error:
        raise DescriptionError(f'{path}: {error}') from error
