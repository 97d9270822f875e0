# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The machine that parameters or a description name, read from its file or text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
import warnings

from liedyn_ros.common.checks import named_values
from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.common.resources import named_file
from liedyn_ros.common.xacro_reader import expand
from liedyn_ros.common.xml_reader import BYTE_ORDER_MARK
from liedyn_ros.model import annotate, load_model, load_urdf, Model
from liedyn_ros.nodes.dynamics.parameters import MODEL_PARAMETERS, MODEL_SOURCES
from liedyn_ros.stewart import load_geometry, platform_model, StewartGeometry
from liedyn_ros.stewart.platform.io.geometry_file import is_geometry_file

_URDF_OPTIONS = ('floating', 'strict', 'gravity')
_DEFAULTS = {parameter.name: parameter.default for parameter in MODEL_PARAMETERS}


def read_model(values: Mapping[str, Any], description: str | None) -> Model | None:
    """
    Return the model that parameters of these values name, else that of the topic's description.

    A Stewart platform is the one with its loops. Raises and returns None as read_machine does.
    """
    machine = read_machine(values, description)
    return platform_model(machine) if isinstance(machine, StewartGeometry) else machine


def read_machine(
        values: Mapping[str, Any], description: str | None) -> Model | StewartGeometry | None:
    """
    Return the machine that these parameters name, else the model of the topic's description.

    Return None where there is neither. Raises LiedynError where it cannot be read, and where an
    option of URDFs is set for a YAML file. A reader's warnings are in the model.
    """
    file, text = (values[name] for name in MODEL_SOURCES)
    if file and text:
        raise DescriptionError('model_file and robot_description: expected one of them, got both')
    options = {name: values[name] for name in _URDF_OPTIONS if values[name] != _DEFAULTS[name]}
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DescriptionWarning)
        if file:
            path = named_file(file)
            if is_geometry_file(path) and not (options or values['loops_file']):
                return load_geometry(path)
            model = load_model(path, arguments=named_values(
                'xacro_arguments', values['xacro_arguments']), **options)
            return _annotated(model, values['loops_file'])
        urdf = text or description
        if urdf is None:
            return None
        if not urdf.removeprefix(BYTE_ORDER_MARK).lstrip().startswith('<'):
            raise DescriptionError('robot_description: expected the text of a URDF, which starts '
                                   f"with '<', got {urdf[:40]!r}")
        return _annotated(load_urdf(urdf, **options), values['loops_file'])


def urdf_of(values: Mapping[str, Any],
            description: str | None) -> tuple[str | Path, Path | None] | None:
    """
    Return text or file of the URDF that parameters name, else the topic's text, and its folder.

    A text has none. Returns None for files of other formats. Raises as read_machine does.
    """
    file, text = (values[name] for name in MODEL_SOURCES)
    if not file:
        given = text or description
        return None if given is None else (given, None)
    path = Path(named_file(file))
    if path.suffix not in ('.urdf', '.xacro'):
        return None
    if path.suffix == '.urdf':
        return path, path.parent.absolute()
    return expand(path, named_values(
        'xacro_arguments', values['xacro_arguments'])), path.parent.absolute()


def _annotated(model: Model, loops_file: str) -> Model:
    return annotate(model, named_file(loops_file)) if loops_file else model
