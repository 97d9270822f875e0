# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The machines that are measured, each as a model and as a URDF for other libraries."""

from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.resources import config_file
from liedyn_ros.model import load_urdf, load_yaml, Model, ModelBuilder, SpatialInertia
from liedyn_ros.model.io.urdf import to_urdf

EXAMPLE_ROBOTS = {  # of the wheel example-robot-data; True: with a free base
    'arm (panda)': ('panda_description/urdf/panda.urdf', False),
    'arm (ur5)': ('ur_description/urdf/ur5_robot.urdf', False),
    'quadruped (go2)': ('go2_description/urdf/go2.urdf', True),
    'humanoid (g1)': ('g1_description/urdf/g1_29dof_rev_1_0.urdf', True),
}


class Robot(NamedTuple):
    """A model, its URDF, and whether to read the URDF with a free base."""

    model: Model
    urdf: str
    floating: bool


def robots() -> dict[str, Robot]:
    """Return all machines by name; those of the wheel only where it is installed."""
    machines = {'A: aerial manipulator': load_yaml(config_file('aerial_manipulator.yaml')),
                'B: 5 branches of 20': branches(5, 20)}
    result = {name: Robot(model, to_urdf(model), True) for name, model in machines.items()}
    try:
        wheel = metadata.distribution('example-robot-data')
    except metadata.PackageNotFoundError:
        return result
    folder = Path(str(wheel.locate_file('cmeel.prefix/share/example-robot-data/robots')))
    for name, (path, floating) in EXAMPLE_ROBOTS.items():
        model = load_urdf(folder / path, floating=floating)
        result[name] = Robot(model, (folder / path).read_text(), floating)
    return result


def branches(count: int, length: int) -> Model:
    """Return a free base with chains of revolute joints, axes and placements random."""
    rng = np.random.default_rng(0)
    builder = ModelBuilder(f'branches_{count}_{length}')
    bodies = [('base', 'base')] + [
        (f'body_{i}_{j}', f'body_{i}_{j - 1}' if j else 'base')
        for i in range(count) for j in range(length)]
    for name, parent in bodies:
        moments = np.diag(rng.uniform(0.01, 0.018, 3))
        builder.add_body(name, SpatialInertia(
            rng.uniform(0.5, 2.0), rng.uniform(-0.1, 0.1, 3), moments))
        if name == 'base':
            builder.add_joint('root', 'free', None, name)
            continue
        placement = np.eye(4)
        placement[:3, 3] = rng.uniform(-0.2, 0.2, 3)
        builder.add_joint(f'joint_of_{name}', 'revolute', parent, name, placement=placement,
                          axis=rng.normal(size=3))
    return builder.build()
