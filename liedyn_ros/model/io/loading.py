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
from typing import Any

from numpy.typing import ArrayLike

from liedyn_ros.common.checks import listed
from liedyn_ros.common.description import abbreviate, Place
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.xacro_reader import expand
from liedyn_ros.common.xml_reader import is_document, read
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
        floating: whether the root moves freely, if the file does not decide it.
        strict: whether to refuse mass properties that no rigid body has, and names in mimic that
            the file has not; other doubts stay warnings.
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
        raise DescriptionError(
            "expected the path of a file, or its text, which starts with '<', got a "
            f'{type(source).__module__}.{type(source).__qualname__}; name the file that it was '
            'made of', got=source)
    if suffix not in _LOADERS:
        raise DescriptionError(f'{name}: expected a file {", ".join(_LOADERS)}, got '
                               f'{suffix or "no suffix"}')
    given: dict[str, Any] = {option: value for option, value in (
        ('arguments', arguments or None), ('floating', floating or None),
        ('strict', (strict and suffix != '.xml') or None),  # MuJoCo is strict by itself
        ('gravity', gravity), ('sdf_model', sdf_model)) if value is not None}
    for option, value in given.items():
        known = ['.xacro'] if option == 'arguments' else [
            kind for kind, loader in _LOADERS.items() if option in signature(loader).parameters]
        if suffix not in known:
            raise DescriptionError(f'{name}: expected no {option} for {suffix}, as only '
                                   f'{listed(known)} have them, got {abbreviate(value)}')
    if suffix == '.xacro':
        with Place(None, name).context():
            source = expand(name, given.pop('arguments', {}))
            return load_urdf(source, **given)
    return _LOADERS[suffix](source, **given)


_LOADERS: dict[str, Callable[..., Model]] = {
    '.urdf': load_urdf, '.xacro': load_urdf, '.xml': load_mjcf, '.sdf': load_sdf,
    '.world': load_sdf, '.yaml': load_yaml, '.yml': load_yaml}
