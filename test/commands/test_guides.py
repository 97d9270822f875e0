# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The commands of the guides run as they stand, from an empty folder."""

from pathlib import Path
import re
import shlex
import shutil

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from support.platforms.calibration import built, seen, spread
from support.recordings import calibration_tables
from support.recordings.bag_files import as_messages, START_NS, write_bag
from support.recordings.recorded_motion import (
    arm_bag, arm_motion, arm_recording, forces_error, JOINTS, true_arm, wrong_urdf)
from support.scripts import run_command
import yaml

from liedyn_ros.commands.identification import identify
from liedyn_ros.commands.identification.options import with_locked_joints
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, LoopTracker
from liedyn_ros.lie import se3
from liedyn_ros.model import load_model, to_urdf, with_inertias, with_placements, with_resistances
from liedyn_ros.stewart import load_geometry

ROOT = Path(__file__).parents[2]
CRANKS = 'left_crank_joint', 'right_crank_joint'
START, TIP = np.array([2.0, -1.4, 1.2, 1.4]), se3.exp([0.0, 0.0, 0.0, 0.4, 0.0, 0.0])
TARGET = se3.exp([0.0, 0.0, 0.0, 0.05, 0.02, 0.3])


def guide(name):
    return (ROOT / f'docs/guides/{name}.md').read_text()


def commands_of(name):
    """Return the lines of a guide that run liedyn."""
    return [line for block in re.findall(r'```sh\n(.*?)```', guide(name), re.DOTALL)
            for line in block.splitlines() if line.startswith('liedyn ')]


@pytest.mark.full
def test_from_a_folder_with_a_bag_to_a_better_urdf(tmp_path):
    pytest.importorskip('clarabel')
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
    lines = [line for line in commands_of('identify')
             if line.startswith('liedyn identify robot.urdf') and not line.endswith('\\')]
    assert len(lines) == 4
    for line in lines:
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
    for extra in re.search(r'liedyn_ros\[(.*?)\]', guide('identify'))[1].split(','):
        assert f"'{extra}': [" in setup


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
    pytest.importorskip('clarabel')
    rng = np.random.default_rng(1)
    arm = write_arm(tmp_path, rng)
    five_bar, at_rest = write_five_bar(tmp_path, rng)
    lines = commands_of('calibrate_arm')
    assert len(lines) == 3
    for line in lines:
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


@pytest.mark.full
def test_from_a_folder_with_a_table_to_a_calibrated_platform(tmp_path):
    source = config_file('stewart_geometry.yaml')
    shutil.copy(source, tmp_path / 'my_platform.yaml')
    home = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
    rng, drawing = np.random.default_rng(8), load_geometry(source)
    machine, poses = built(drawing, rng), spread(home, 40, rng)
    calibration_tables.write_table(tmp_path / 'samples.csv', calibration_tables.leg_columns(
        drawing.leg_names, machine.readings(poses, rng)) | calibration_tables.measured_columns(
            seen('full', poses, rng, known=False)))
    calibration_tables.stands_bag(tmp_path / 'my_bag', machine, poses[:20], rng)
    lines = commands_of('calibrate')
    assert len(lines) == 3
    for line in lines:
        code = run_command(line, tmp_path)
        assert code == 0 or (code == 1 and 'platform path' in line)
    for folder in ('calibrated', 'from_bag'):
        found = load_geometry(tmp_path / folder / 'my_platform_calibrated.yaml')
        assert found.calibration_covariance is not None
        for name in re.findall(r'^\| `(.*?)` \|', guide('calibrate'), re.MULTILINE)[:5]:
            assert (tmp_path / folder / name).is_file()
