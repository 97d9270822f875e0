# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sweeps on a cluster of two workers, one of which is lost: equal bit for bit to one machine's."""

import argparse

import numpy as np
import pytest
from support.clusters import local_cluster
from support.work_parts import LostOnce

from benchmarks.identification import coverage
from benchmarks.stewart import calibration, defaults, safety
from liedyn_ros.commands import work
from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.stewart.drawings import workspace
from liedyn_ros.common.resources import config_file

pytestmark = pytest.mark.full

RESTART = 60.0  # s, within which a lost worker comes back on a busy machine


@pytest.fixture(scope='module', autouse=True)
def few_pixels():
    """Draw all pixels here: a worker does, which knows nothing of the other tests' few."""


@pytest.fixture(scope='module')
def cluster():
    """Return the cluster of these tests."""
    with local_cluster(2) as cluster:
        yield cluster


@pytest.fixture
def address(cluster):
    """Return the scheduler of two workers: each test loses one, and a nanny starts another."""
    cluster.wait_for_workers(2, timeout=RESTART)
    return cluster.scheduler_address


@pytest.fixture
def lost(tmp_path, monkeypatch):
    """Let the first part of each sweep on a cluster end its worker; yield the trace of that."""
    on_cluster, marker = work._on_cluster, tmp_path / 'a worker was lost'
    monkeypatch.setattr(work, '_on_cluster', lambda function, *given: on_cluster(
        LostOnce(function, str(marker)), *given))
    return marker


def files(folder):
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.suffix != '.json'
            and each.name != 'report.html'}


def test_maps_of_workspaces(address, lost, tmp_path, capsys):
    given = ['--steps', '5', '--yaw', '0', '90', '10', '--format', 'svg']
    for name, where in (('there', ['--cluster', address]), ('here', ['--jobs', '1'])):
        assert workspace.main([*given, '--folder', str(tmp_path / name), *where]) == 1
        assert 'yaw_90: --home: expected' in capsys.readouterr().err  # and the others are done
    assert lost.exists()
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


def test_dynamics_along_trajectories(address, lost, tmp_path):
    given = [*(table_of_cranks(tmp_path / f'run_{k}.csv', k) for k in range(3)), '--model',
             str(config_file('five_bar.yaml')), '--folder']
    assert process_bag.main([*given, str(tmp_path / 'there'), '--cluster', address]) == 0
    assert process_bag.main([*given, str(tmp_path / 'here'), '--jobs', '1']) == 0
    assert lost.exists()
    there, here = (files(tmp_path / name) for name in ('there', 'here'))
    assert there == here and len(here) == 3
    assert b'left_crank_joint.torque [N m]' in here['run_0.csv']


SWEEPS = {
    'calibration': (calibration.random_platform, range(3)),
    'kinds of calibration': (calibration.one_trial, [('position', 1), ('full', 2)]),
    'safety, nothing set': (defaults.run, [defaults.Run(
        each, 100, 200, defaults.PLATFORMS[0], 1) for each in defaults.DISTURBANCES[:3]]),
    'safety, crossings': (safety.cross, [('turn', 0.3, 1e-5, 1), ('tilt', 0.3, 1e-5, 2)]),
    'safety, turns': (safety.turn, [(safety.Return('turn', 'stop', 0.5, 1.5), 1e-5, 1)] * 2),
    'identification': (coverage.one_trial, [
        coverage.Trial('arm', 0.9, k, seconds=10.0, lacking=bool(k)) for k in range(2)])}


@pytest.mark.parametrize('sweep', SWEEPS)
def test_monte_carlo(sweep, address, lost):
    function, parts = SWEEPS[sweep]
    there = work.all_results(function, parts, argparse.Namespace(jobs=1, cluster=address))
    assert lost.exists()
    np.testing.assert_equal(there, work.all_results(function, parts, work.LOCAL_WORK))
