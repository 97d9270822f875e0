# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The commands of the guide run as they stand, from an empty folder."""

from pathlib import Path
import re
import shlex

import numpy as np
import pytest
from support.recordings.bag_files import as_messages, START_NS, write_bag
from support.recordings.recorded_motion import (
    arm_bag, arm_motion, arm_recording, forces_error, JOINTS, true_arm, wrong_urdf)
from support.scripts import run_command
import yaml

from liedyn_ros.commands.identification import identify
from liedyn_ros.commands.identification.options import with_locked_joints
from liedyn_ros.model import load_model

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / 'docs/guides/identify.md').read_text()
COMMANDS = [line for block in re.findall(r'```sh\n(.*?)```', GUIDE, re.DOTALL)
            for line in block.splitlines()]
RUN = [line for line in COMMANDS
       if line.startswith('liedyn identify robot.urdf') and not line.endswith('\\')]

pytest.importorskip('clarabel')


@pytest.mark.full
def test_from_a_folder_with_a_bag_to_a_better_urdf(tmp_path):
    urdf = wrong_urdf(tmp_path / 'robot.urdf')
    arm_bag(tmp_path / 'my_bag')
    stamps, q, _, tau = arm_recording()
    np.savetxt(tmp_path / 'run.csv', np.column_stack([(stamps - stamps[0]) / 1e6, q, tau]),
               delimiter=',', comments='', header=','.join(
                   ['time', *(f'{name}/{kind}' for kind in ('position', 'effort')
                              for name in JOINTS)]))
    write_bag(tmp_path / 'second_bag', as_messages(JOINTS, *arm_recording(seed=3)))
    options = identify.parser().parse_args(
        ['x', 'x', '--folder', str(tmp_path / 'unused'), '--hold', 'base_joint=0.0'])
    time, *motion, _, tau = arm_motion(with_locked_joints(true_arm(), options), 1, 24.0, 100.0)
    write_bag(tmp_path / 'bag_without_base_joint', as_messages(
        JOINTS[1:], START_NS + np.round(1e9 * time).astype(np.int64), *motion, tau))
    assert len(RUN) == 4
    for line in RUN:
        assert run_command(line, tmp_path) in (0, 1)
        folder = tmp_path / shlex.split(line)[shlex.split(line).index('--folder') + 1]
        assert (folder / 'report.html').exists()
    before = forces_error(load_model(urdf))
    for name in ('identified', 'again', 'table'):
        parameters = yaml.safe_load((tmp_path / name / 'dynamics_server.yaml').read_text())
        model = load_model(parameters['dynamics_server']['ros__parameters']['model_file'])
        assert (forces_error(model) < 0.1 * before).all()


def test_the_guide_names_extras_of_the_package():
    setup = (ROOT / 'setup.py').read_text()
    for extra in re.search(r'liedyn_ros\[(.*?)\]', GUIDE)[1].split(','):
        assert f"'{extra}': [" in setup
