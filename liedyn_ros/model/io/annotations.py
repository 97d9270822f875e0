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

"""What a URDF cannot say: closures, couplings and passive joints, in a file beside it."""

import os

from liedyn_ros.common.errors import DescriptionError, LiedynError
from liedyn_ros.common.yaml_reader import read
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.yaml_reader import add_loops, require_format
from liedyn_ros.model.model import Model


def annotate(model: Model, path: str | os.PathLike[str]) -> Model:
    """
    Return a model with the closures, couplings and passive joints that a YAML file adds to it.

    `closures` and `couplings` are as in a model file; `passive` lists the joints that no actuator
    drives. Raises DescriptionError naming the file, the place in it, what was expected and what
    came.
    """
    try:
        root, builder = read(path, 'loops'), ModelBuilder.of(model)
        require_format(root)
        for joint in root.take('passive', []).sequence():
            builder.make_passive(joint.text())
        add_loops(builder, root)
        root.finish()
        return builder.build()
    except LiedynError as error:
        raise DescriptionError(f'{path}: {error}') from error
