# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sweeps in two processes are equal bit for bit to those in one."""

import numpy as np
import pytest

from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.stewart.drawings import workspace
from liedyn_ros.common.resources import config_file

pytestmark = pytest.mark.full


@pytest.fixture(scope='module', autouse=True)
def few_pixels():
    """Draw all pixels here: another process does, which knows nothing of the other tests' few."""


def files(folder):
    return {each.name: each.read_bytes() for each in folder.iterdir()
            if each.name != 'report.html'}


def test_maps_of_workspaces(tmp_path, capsys):
    given = ['--steps', '5', '--yaw', '0', '90', '10', '--format', 'svg']
    for name, where in (('there', ['--jobs', '2']), ('here', ['--jobs', '1'])):
        assert workspace.main([*given, '--folder', str(tmp_path / name), *where]) == 1
        assert 'yaw_90: --home: expected' in capsys.readouterr().err  # and the others are done
    there, here = (files(tmp_path / name) for name in ('there', 'here'))
    pictures = [name for name in here if name.endswith('.svg')]
    assert len(pictures) == 2
    for name in here.keys() - set(pictures):  # an SVG has the time in it
        assert there[name] == here[name], name
    rows = here['stewart_geometry_volumes.csv'].decode().splitlines()
    assert len(rows) == 4 and rows[2] == '0.0,0.0,90.0,,,'
    assert 0.0 < float(rows[1].split(',')[4]) < float(rows[1].split(',')[3])


def table_of_cranks(path, seed):
    """Write a trajectory of the cranks of a five-bar."""
    rng, time = np.random.default_rng(seed), np.arange(0.0, 8.0, 0.02)
    cranks = [at + 0.3 * np.sin(time + shift) for at, shift in zip((2.0, 1.2), rng.random(2))]
    np.savetxt(path, np.column_stack([time, *cranks]), delimiter=',', comments='',
               header='time,left_crank_joint.position [rad],right_crank_joint.position [rad]')
    return str(path)


def test_dynamics_along_trajectories(tmp_path):
    given = [*(table_of_cranks(tmp_path / f'run_{k}.csv', k) for k in range(3)), '--model',
             str(config_file('five_bar.yaml')), '--folder']
    assert process_bag.main([*given, str(tmp_path / 'there'), '--jobs', '2']) == 0
    assert process_bag.main([*given, str(tmp_path / 'here'), '--jobs', '1']) == 0
    there, here = (files(tmp_path / name) for name in ('there', 'here'))
    assert there == here and len(here) == 3
    assert b'left_crank_joint.torque [N m]' in here['run_0.csv']
