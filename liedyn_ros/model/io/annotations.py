# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Closures, couplings and passive joints of a URDF, which has no words for them, from a file.

The file is one of this package, or a robot.yaml of example-parallel-robots.
"""

import os

import numpy as np

from liedyn_ros.common.errors import DescriptionError, LiedynError
from liedyn_ros.common.yaml_reader import Node, read
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.yaml_reader import add_loops, require_format
from liedyn_ros.model.model import Model


def annotate(model: Model, path: str | os.PathLike[str]) -> Model:
    """
    Return a model with the closures, couplings and passive joints that a YAML file adds to it.

    `closures` and `couplings` are as in a model file; `passive` lists the joints that no actuator
    drives. A robot.yaml of example-parallel-robots is recognised by its key closed_loop. It names
    pairs of links that coincide (6d) or whose origins do (3d), the motors, and joints of types
    that URDF lacks.

    Raises DescriptionError naming the file, the place in it, the expected and the given value.
    """
    try:
        root, builder = read(path, 'loops'), ModelBuilder.of(model)
        if root.optional('closed_loop') is not None:
            return _with_pairs(model, builder, root)
        require_format(root)
        for joint in root.take('passive', []).sequence():
            builder.make_passive(joint.text())
        add_loops(builder, root)
        root.finish()
        return builder.build()
    except LiedynError as error:
        raise DescriptionError(f'{path}: {error}') from error


_PAIRS = {'3d': 'spherical', '6d': 'weld'}
_AXES = {'X': np.eye(3)[0], 'Y': np.eye(3)[1], 'Z': np.eye(3)[2]}


def _with_pairs(model: Model, builder: ModelBuilder, root: Node) -> Model:
    """Return a model with the entries of a robot.yaml of example-parallel-robots."""
    replaced = [node.text() for node in root.take('joint_name', []).sequence()]
    for name, node in zip(replaced, root.take('joint_type', []).sequence(len(replaced))):
        kind, _, axes = node.text().upper().partition('_')
        if kind == 'SPHERICAL':
            builder.replace_joint(name, 'spherical')
        elif kind == 'FIXED':
            builder.replace_joint(name, 'fixed')
        elif kind == 'UJOINT' and len(axes) == 2 and set(axes) <= set(_AXES):
            builder.replace_joint(
                name, 'universal', axis=_AXES[axes[0]], second_axis=_AXES[axes[1]])
        else:
            node.fail('SPHERICAL, FIXED or UJOINT_ with two of X, Y and Z')
    motors = root.optional('name_mot')
    if motors is not None:
        driven = {motor.text() for motor in motors.sequence()}
        for joint in model.joints:
            if joint not in driven:
                builder.make_passive(joint)
    moved = {joint.name: joint.child for joint in model.joint_list}  # a joint names its frame
    pairs = root.take('closed_loop').sequence()
    for pair, node in zip(pairs, root.take('type').sequence(len(pairs))):
        kind = node.text().lower()
        if kind not in _PAIRS:
            node.fail(f'a type of {list(_PAIRS)}')
        first, second = (each.text() for each in pair.sequence(2))
        builder.add_closure(f'{first}={second}', _PAIRS[kind], *(
            name if name in model.bodies else moved.get(name, name) for name in (first, second)))
    return builder.build()
