# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The commands of the guide run as they stand, from an empty folder: an arm, then a five-bar."""

from pathlib import Path
import re

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from support.recordings.recorded_motion import JOINTS, true_arm
from support.scripts import run_command
import yaml

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, LoopTracker
from liedyn_ros.lie import se3
from liedyn_ros.model import load_model, to_urdf, with_inertias, with_placements, with_resistances

GUIDE = (Path(__file__).parents[3] / 'docs/guides/calibrate_arm.md').read_text()
RUN = [line for block in re.findall(r'```sh\n(.*?)```', GUIDE, re.DOTALL)
       for line in block.splitlines() if line.startswith('liedyn ')]
CRANKS = 'left_crank_joint', 'right_crank_joint'
START, TIP = np.array([2.0, -1.4, 1.2, 1.4]), se3.exp([0.0, 0.0, 0.0, 0.4, 0.0, 0.0])
TARGET = se3.exp([0.0, 0.0, 0.0, 0.05, 0.02, 0.3])

pytest.importorskip('clarabel')


def write_table(path, header, rows):
    np.savetxt(path, rows, delimiter=',', comments='', header=header)


def write_arm(folder, rng):
    """Write the drawing of an arm and what was measured of it; return it as it is."""
    drawn = true_arm()
    size = np.array([2e-3] * 3 + [1e-3] * 3)
    built = with_placements(drawn, {
        name: drawn.joint(name).placement @ se3.exp(size * rng.normal(size=6)) for name in JOINTS})
    (folder / 'robot.urdf').write_text(to_urdf(drawn))
    q = rng.uniform(-1.5, 1.5, (40, 3))
    places = np.array([(Dynamics(built).kinematics(each).poses[-1] @ TARGET)[:3, 3] for each in q])
    write_table(folder / 'samples.csv', ','.join(f'{name} [deg]' for name in JOINTS)
                + ',x [mm],y [mm],z [mm]', np.column_stack([
                    np.degrees(q), 1e3 * places + 0.01 * rng.normal(size=places.shape)]))
    return built


def write_five_bar(folder, rng):
    """Write drawing, measured poses and a recording of a five-bar; return it as it is."""
    source = folder / 'five_bar.yaml'
    source.write_text(config_file('five_bar.yaml').read_text())
    drawn = load_model(source)
    built = with_placements(drawn, {'right_crank_joint': se3.exp([0, 2e-3, 0, 0.251, 0, 0])})
    built = with_resistances(with_inertias(built, {
        body.name: 1.3 * body.inertia.parameters() for body in built.body_list}),
        dict.fromkeys(CRANKS, 0.4), dict.fromkeys(CRANKS, 0.3))
    closed, rows = ConstrainedDynamics(built), []
    for read in START[[0, 2]] + rng.uniform(-0.2, 0.2, (20, 2)):
        at = assemble(closed, START, held=dict(zip(CRANKS, read)))
        place = (closed.frames.pose(at, 'left_coupler') @ TIP)[:3, 3]
        rows.append([*read, *(place + 1e-5 * rng.normal(size=3))])
    write_table(folder / 'poses.csv', ','.join([*CRANKS, 'x', 'y', 'z']), rows)
    time, k = np.arange(0.0, 24.0, 0.02), 2.0 * np.pi * np.array([[0.1], [0.3], [0.4]])
    size, shift = np.full((3, 1, 2), 0.12), rng.uniform(0.0, 6.0, (3, 1, 2))
    phase, rate = k[..., None] * time[:, None] + shift, k[..., None]
    motion = [(size * each).sum(axis=0) for each in (
        np.sin(phase), rate * np.cos(phase), -rate**2 * np.sin(phase))]
    tracker = LoopTracker(closed, start=assemble(closed, START, held=dict(zip(
        CRANKS, START[[0, 2]]))))
    states = [tracker.update(*each, ahead=False) for each in zip(
        motion[0] + START[[0, 2]], *motion[1:])]
    tau = np.array([closed.inverse(each.q, each.v, each.a).tau for each in states])[:, [0, 2]]
    q = np.array([each.q for each in states])[:, [0, 2]]
    write_table(folder / 'run.csv', 'time [s],' + ','.join(
        f'{name}.{kind}' for kind in ('position', 'effort') for name in CRANKS), np.column_stack([
            time, q + 1e-5 * rng.normal(size=q.shape), tau + 0.01 * rng.normal(size=q.shape)]))
    return built, states[300].q


def between(arm):
    """Return distances between places of the target, which do not depend on the instrument."""
    q = np.random.default_rng(5).uniform(-1.0, 1.0, (6, 3))
    return pdist([(Dynamics(arm).kinematics(each).poses[-1] @ TARGET)[:3, 3] for each in q])


@pytest.mark.full
def test_from_a_drawing_to_a_calibrated_machine(tmp_path):
    rng = np.random.default_rng(1)
    arm = write_arm(tmp_path, rng)
    five_bar, at_rest = write_five_bar(tmp_path, rng)
    assert len(RUN) == 3
    for line in RUN:
        assert run_command(line, tmp_path) == 0, line
    apart = [between(each) for each in (
        arm, true_arm(), load_model(tmp_path / 'calibrated/robot_calibrated.urdf'))]
    assert np.abs(apart[2] - apart[0]).max() < 0.1 * np.abs(apart[1] - apart[0]).max()
    parameters = yaml.safe_load((tmp_path / 'masses/dynamics_server.yaml').read_text())
    found = load_model(parameters['dynamics_server']['ros__parameters']['model_file'])
    errors = []
    for model in (load_model(tmp_path / 'five_bar.yaml'), found):
        closed = ConstrainedDynamics(model)
        at = assemble(closed, at_rest, held=dict(zip(CRANKS, at_rest[[0, 2]])))
        a = np.zeros(4)
        tau = closed.inverse(at, a, a).tau[[0, 2]]
        still = ConstrainedDynamics(five_bar).inverse(at_rest, a, a).tau[[0, 2]]
        errors.append(np.abs(tau - still).max())
    assert errors[1] < 0.1 * errors[0]
