# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Identified models as files, and the parameters with which dynamics_server loads them."""

from __future__ import annotations

from pathlib import Path

import yaml

from liedyn_ros.common.untrusted_files import read_file
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.common.xacro_reader import expand
from liedyn_ros.common.xml_reader import text_of
from liedyn_ros.model import (
    Model, to_urdf, updated_urdf, updated_yaml, with_armatures, with_inertias, with_resistances)

SERVER_PARAMETERS = 'dynamics_server.yaml'
YAML = '.yaml', '.yml'


def model_files(folder: Path, source: Path, *, moved: bool = False) -> tuple[Path, Path]:
    """Return the files of the model and of the parameters that write_model writes."""
    suffix = '.yaml' if source.suffix in YAML else '.urdf'
    name = f'{source.stem}_{"calibrated" if moved else "identified"}{suffix}'
    return folder / name, folder / SERVER_PARAMETERS


def write_model(folder: Path, source: Path, before: Model, after: Model, whole: Model, *,
                moved: bool = False) -> list[Path]:
    """
    Write the file of a model with what was identified; return the files that were written.

    source is the file that whole was read from. before and after are the model without and with
    the new parameters; their joints may be locked, or have moved placements (moved). A URDF keeps
    all else that it has, such as meshes; xacro is expanded. MJCF becomes URDF. Raises
    DescriptionError and OSError.
    """
    new = after if moved else _unlocked(whole, before, after)
    if source.suffix in YAML:
        text = updated_yaml(read_file(source).decode(), whole, new)
    elif source.suffix == '.xml':
        text = to_urdf(new)
    else:
        urdf = expand(source, {}) if source.suffix == '.xacro' else text_of(source)
        text = updated_urdf(urdf, whole, new)
    model, parameters = model_files(folder, source, moved=moved)
    write_whole(model, text)
    write_whole(parameters, yaml.safe_dump({'dynamics_server': {'ros__parameters': {
        'model_file': str(model.resolve())}}}))
    return [model, parameters]


def _unlocked(whole: Model, before: Model, after: Model) -> Model:
    """Return the whole model with what differs between two that have some joints locked."""
    changed = {name: body.parameters() for name in after.bodies
               if (body := after.body(name).inertia) is not None
               and body is not before.body(name).inertia}
    model = with_inertias(whole, changed)
    table = after.link_table
    damping, friction, armature = (dict(zip(after.coordinate_names, each.tolist()))
                                   for each in (table.damping, table.friction, table.armature))
    return with_armatures(with_resistances(model, damping, friction), armature)
