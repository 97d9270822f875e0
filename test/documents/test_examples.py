# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The examples, run as README says, in the environment that the tests run in."""

from pathlib import Path
import re

import numpy as np
import pytest
from support import forked
from support.scripts import run_script

import liedyn_ros as ld
from liedyn_ros.common.resources import config_file

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
NUMBER = r'([\d.e+-]+)'


@pytest.fixture
def run(capfd):
    """Return a function that runs an example and returns what it prints."""
    def printed(name, *arguments):
        run_script(ROOT / 'examples' / f'{name}.py', *arguments, folder=ROOT)
        return capfd.readouterr().out

    return printed


def run_alone(name, *arguments):
    """Return what an example of ROS prints, in a process of its own: it ends rclpy."""
    result = forked.run(f'examples/{name}.py', *arguments, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_aerial_manipulator(run):
    lines = re.findall(rf'{NUMBER} s: position error +{NUMBER} mm, attitude +{NUMBER} degree',
                       run('aerial_manipulator'))
    errors = {float(time): (float(position), float(angle)) for time, position, angle in lines}
    assert list(errors) == list(range(13))
    for time, (position, angle) in errors.items():
        assert time < 2.0 or (position < 10.0 and angle < 1.0)


def test_coming_from_pinocchio(run):
    pytest.importorskip('pinocchio')
    assert run('coming_from_pinocchio') == 'all calls agree with Pinocchio\n'


@pytest.mark.ros
def test_linear_quadratic_flight():
    pytest.importorskip('rclpy')
    printed = run_alone('linear_quadratic_flight', '2')  # its first second does not count
    errors = {name: (float(position), float(angle)) for name, position, angle in re.findall(
        rf'(.*): position error {NUMBER} mm, attitude {NUMBER} degree', printed)}
    assert list(errors) == ['linear-quadratic regulator', 'computed acceleration']
    assert all(position < 4.0 and angle < 0.1 for position, angle in errors.values())


@pytest.mark.ros
def test_gravity_compensation():
    pytest.importorskip('rclpy')
    printed = dict(re.findall(rf'(\w+): {NUMBER} N m', run_alone('gravity_compensation')))
    robot = ld.load(config_file('linkage_leg.urdf'))
    wanted = robot.gravity_vector(np.full(robot.model.nq, 0.3))
    assert list(map(float, printed.values())) == pytest.approx(wanted, abs=1e-4)
    assert tuple(printed) == robot.model.coordinate_names


def test_trajectory_optimization(run):
    printed = run('trajectory_optimization')
    assert float(re.search(rf'gradient off by {NUMBER} of', printed)[1]) < 1e-8
    results = re.findall(rf'(\w+): cost {NUMBER}, misses the goal by {NUMBER} at a speed of '
                         rf'{NUMBER};', printed)
    assert results[0][0] == 'scipy'
    for _, cost, missed, speed in results:
        assert float(cost) < 1.01 * float(results[0][1])
        assert float(missed) < 0.05 and float(speed) < 0.05
    assert len(results) == 2 or 'CasADi is not installed' in printed


def test_stewart_pose(run):
    iterations, rotation, position = re.search(
        rf'converged after {NUMBER} iterations, off by {NUMBER} rad and {NUMBER} m',
        run('stewart_pose')).groups()
    assert int(iterations) < 10
    assert float(rotation) < 1e-9 and float(position) < 1e-9


def test_stewart_dynamics(run):
    printed = run('stewart_dynamics')
    assert float(re.search(rf'round trip, .*: {NUMBER}', printed)[1]) < 1e-9
    without, rates = map(float, re.findall(rf'within {NUMBER} mm', printed))
    assert rates < 1.0 and rates < 0.2 * without


def test_closed_loops(run):
    printed = run('closed_loops')
    mobilities = re.findall(r'(\d+) degrees of freedom, 5 constraints of rank 2', printed)
    assert mobilities == ['1', '2']
    backs = re.findall(rf'back to {NUMBER}', printed)
    assert len(backs) == 2 and all(float(back) < 1e-9 for back in backs)
