# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The YAML of trajectories: whatever the names and the numbers, PyYAML reads them back."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from liedyn_ros.commands.retiming.trajectory_files import write_yaml
from liedyn_ros.model import ModelBuilder, SpatialInertia

NAMES = 'plain', 'yes', '1.0', 'a: b', "it's", '[x', '0x10', 'Gelenk ä', '#no', 60 * 'long '
NUMBERS = [0.0, -0.0, 1e-5, -1e-300, 1e22, 5e-324, 0.1 + 0.2, np.inf, -np.inf, -123456.789]


@pytest.mark.parametrize('loader', [yaml.SafeLoader, yaml.CSafeLoader])
@pytest.mark.parametrize('free', [False, True])
def test_names_and_numbers_are_read_back(tmp_path: Path, loader, free: bool) -> None:
    builder, parent = ModelBuilder('odd'), None
    for k, name in enumerate(('base', *NAMES) if free else NAMES):
        builder.add_body(f'body_{k}', SpatialInertia(1.0, [0, 0, 0], np.eye(3)))
        builder.add_joint(name, 'free' if name == 'base' else 'revolute', parent, f'body_{k}',
                          axis=None if name == 'base' else [0, 0, 1])
        parent = f'body_{k}'
    model = builder.build()
    q, v = np.tile(model.neutral(), (2, 1)), np.zeros((2, model.nv))
    q[:, -len(NAMES):] = v[:, -len(NAMES):] = NUMBERS
    write_yaml(tmp_path / 'a.yaml', model, SimpleNamespace(
        t=np.array([0.0, 61.000000001]), q=q, v=v, a=-v, torque=2.0 * v))
    document = yaml.load((tmp_path / 'a.yaml').read_text(encoding='utf-8'), Loader=loader)
    joints = document['joint_trajectory'] if free else document
    assert joints['joint_names'] == list(NAMES)
    last = joints['points'][-1]
    for kind, factor in (('positions', 1.0), ('velocities', 1.0), ('accelerations', -1.0),
                         ('effort', 2.0)):
        assert last[kind] == [factor * each for each in NUMBERS]
    assert last['time_from_start'] == {'sec': 61, 'nanosec': 1}
    points = document.get('multi_dof_joint_trajectory', {'points': []})['points']
    assert [each['transforms'] for each in points] == 2 * free * [[{
        'translation': {'x': 0.0, 'y': 0.0, 'z': 0.0},
        'rotation': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}}]]
