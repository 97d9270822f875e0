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

"""The parameters of the dynamics server, in the order of its page's table, and their model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import load_model, load_urdf, Model
from liedyn_ros.model.io.urdf_reader import BYTE_ORDER_MARK
from liedyn_ros.ros.parameters import Parameter

DYNAMICS_SERVER = (
    Parameter('model_file', '', 'the model: path of a .yaml, .urdf or .xacro file; a bare name is '
              "one of the package's config folder; empty for none", run_time=True),
    Parameter('robot_description', '', 'the model: text of a URDF; empty for none. Without either '
              'the model comes from the topic `robot_description`', run_time=True),
    Parameter('floating', False, 'free the root link of a URDF from the ground', run_time=True),
    Parameter('mimic', 'refuse', 'what to do with mimic joints of a URDF: refuse the model, or '
              'take them for joints of their own', choices=('refuse', 'independent'),
              run_time=True),
    Parameter('physical', True, 'refuse inertias of a URDF that no rigid body has',
              run_time=True),
    Parameter('gravity', [0.0, 0.0, -9.81], 'acceleration of gravity in the world for a URDF; a '
              'YAML file has its own', 'm/s^2', least=-1000.0, most=1000.0, size=3,
              run_time=True),
    Parameter('dissipation', True, 'let the joints feel the damping and the friction of the model',
              run_time=True),
)
SOURCES = ('model_file', 'robot_description')
_URDF_OPTIONS = ('floating', 'mimic', 'physical', 'gravity')
_DEFAULTS = {parameter.name: parameter.default for parameter in DYNAMICS_SERVER}


def read_model(values: Mapping[str, Any], description: str | None) -> Model | None:
    """
    Return the model that parameters of these values name, else that of the topic's description.

    Return None where there is neither. Raises LiedynError where the model cannot be read, and
    where an option of URDFs is set for a YAML file.
    """
    file, text = (values[name] for name in SOURCES)
    if file and text:
        raise DescriptionError('model_file and robot_description: expected one of them, got both')
    options = {name: values[name] for name in _URDF_OPTIONS if values[name] != _DEFAULTS[name]}
    if file:
        return load_model(config_file(file) if Path(file).name == file else file, **options)
    urdf = text or description
    if urdf is None:
        return None
    if not urdf.removeprefix(BYTE_ORDER_MARK).lstrip().startswith('<'):
        raise DescriptionError('robot_description: expected the text of a URDF, which starts '
                               f"with '<', got {urdf[:40]!r}")
    return load_urdf(urdf, **options)
