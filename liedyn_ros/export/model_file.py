# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The file `.liedyn` of a model: what `libliedyn` needs of it, written without compiling anything.

The sections of a tree are the constants (`Constants`), and of each link the kind, the place in q
and the place in v. Then come the names of joints, of velocity coordinates and of frames. The last
has of each joint where its coordinates begin in q, how many they are, and the same in v.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from liedyn_ros.common.checks import require_kind
from liedyn_ros.common.errors import ModelError
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.export.machine_file import file_bytes, Section, texts, TREE
from liedyn_ros.model import Model


def model_bytes(model: Model, *, dissipation: bool = True, tree: bool = False) -> bytes:
    """
    Return the content of a model file, for `liedyn_open`.

    Without dissipation, damping and friction are zero. With tree, closed loops and couplings, such
    as mimic joints, are left out, as Dynamics does. Raises LiedynError for anything but a Model,
    ModelError for closures or couplings otherwise: loops_bytes writes those.
    """
    require_kind('model', model, Model, 'as load_model returns')
    if not tree and (model.closures or model.couplings):
        raise ModelError('model: expected a tree, got one with closures or couplings, '
                         'which loops_bytes writes (tree leaves them out)')
    return file_bytes(TREE, tree_sections(model, dissipation))


def tree_sections(model: Model, dissipation: bool) -> list[Section]:
    """Return the sections of a tree, and of the spanning tree of a machine with closed loops."""
    constants, links = Constants(model, dissipation), model.link_table
    places = [(joint.q_slice.start, joint.q_slice.stop - joint.q_slice.start,
               joint.v_slice.start, joint.v_slice.stop - joint.v_slice.start)
              for joint in model.joint_list]
    return [
        (constants.table.tobytes(), len(constants.table)),
        (np.array((links.kind, links.qi, links.vi), dtype='<i8').tobytes(), 3),
        *(texts(names) for names in (model.joints, model.coordinate_names, model.frames)),
        (np.array(places, dtype='<i8').tobytes(), len(places))]


def write_model(path: str | os.PathLike[str], model: Model, *, dissipation: bool = True,
                tree: bool = False) -> None:
    """Write the model file of a model; raises the errors of model_bytes, and OSError."""
    write_whole(Path(path), model_bytes(model, dissipation=dissipation, tree=tree))
