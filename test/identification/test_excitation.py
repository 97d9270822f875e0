# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Excitation keeps the limits, is periodic, and tells more than motions that nobody chose."""

import csv

import numpy as np
from support.machines.looped_machines import five_bar
from support.machines.mimic_gripper import GRIPPER
from support.recordings.recorded_motion import JOINTS, true_arm
from support.refusals import refused
import yaml

from liedyn_ros.commands.identification import excite as command
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.identification import ExcitationLimits, excite
from liedyn_ros.identification.excitation.capsules import Capsule, Clearance, segment_distances
from liedyn_ros.identification.excitation.excite import _Task
from liedyn_ros.model import load_urdf, to_urdf

ARM = ExcitationLimits(*np.array([[-1.5] * 3, [1.5] * 3, [2.0] * 3, [6.0] * 3,
                                  [25.0, 25.0, 12.0]]),
                       clearance=0.05)
FAST = {'period': 5.0, 'rate': 50.0, 'rounds': 15}


def table_above():
    """Return the clearance of the arm from a table beside it."""
    return Clearance(true_arm(), [
        Capsule('fore', np.zeros(3), np.array([0, 0, 0.3]), 0.04),
        Capsule(None, np.array([0.55, -1.0, 0.5]), np.array([0.55, 1.0, 0.5]), 0.05)])


def test_an_arm_keeps_its_limits_and_its_distance():
    clearance = table_above()
    found = excite(true_arm(), ARM, clearance=clearance, **FAST)
    assert (found.q >= ARM.lower).all() and (found.q <= ARM.upper).all()
    assert (np.abs(found.v) <= ARM.speed).all() and (np.abs(found.a) <= ARM.acceleration).all()
    assert (np.abs(found.torque) <= ARM.torque).all()
    assert clearance.distances(found.q).min() >= 0.05 and found.clearance >= 0.05
    assert np.allclose(found.torque, Dynamics(true_arm()).inverse.batch(
        found.q, found.v, found.a))
    for each in (found.q, found.v, found.a):
        assert np.allclose(each[0], each[-1], atol=1e-9)
    assert np.allclose([found.v[0], found.a[0]], 0.0, atol=1e-9)
    assert np.allclose(np.gradient(found.q, found.t, axis=0)[5:-5], found.v[5:-5], atol=0.05)
    assert max(found.used.values()) > 0.7 and found.condition < 100.0


def test_the_search_is_better_than_the_best_of_its_random_motions():
    few, more = (excite(true_arm(), ARM, **{**FAST, 'rounds': rounds}) for rounds in (0, 30))
    task = _Task(true_arm(), ARM, None, 5.0, 5, None)
    scores = [np.linalg.slogdet(rows.T @ rows)[1] for rows in (
        task._rows(each.q, each.v, each.a).reshape(-1, task._base.rank) for each in (few, more))]
    assert scores[1] > scores[0]


def test_the_joints_of_loops_follow():
    model = five_bar()
    start = assemble(ConstrainedDynamics(model), held={'left_0_joint': 2.2, 'right_0_joint': 0.9})
    moved = int(model.actuated.sum())
    at = start[[joint.qi for joint in model.joint_list if joint.actuated]]
    limits = ExcitationLimits(at - 0.4, at + 0.4, *np.array([[1.0] * moved, [8.0] * moved,
                                                             [np.inf] * moved]))
    found = excite(model, limits, start=start, period=5.0, rate=20.0, rounds=3)
    dynamics = ConstrainedDynamics(model)
    for q, v in zip(found.q[::10], found.v[::10]):
        dynamics.require_closed(q, v)
    assert np.isfinite(found.torque).all() and found.used['speed'] <= 1.0


def test_the_default_start_is_amid_the_limits_of_a_leader():
    model = load_urdf(GRIPPER)
    limits = ExcitationLimits(*np.array([
        [-0.7, 0.7, 1.0, 8.0, np.inf], [0.05, 0.75, 1.0, 8.0, np.inf]]).T)
    found = excite(model, limits, period=5.0, rate=20.0, rounds=1)
    at = [model.joint(name).qi for name in ('finger_joint', 'thumb_joint')]
    np.testing.assert_allclose(found.q[:, at[1]], 0.1 - found.q[:, at[0]], atol=1e-9)
    assert 0.05 <= found.q[:, at[0]].min() and found.q[:, at[0]].max() <= 0.75


def test_distances_of_segments_are_those_of_a_search():
    """Against the least of many points of both."""
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 50, 2, 3))
    one[0, 1], other[1, 1] = one[0, 0], other[1, 0]  # points
    other[2] = one[2] + np.array([0.0, 0.0, 0.5])  # parallel
    share = np.linspace(0.0, 1.0, 201)[:, None]
    for x, y, got in zip(one, other, segment_distances(one, other)):
        points = [each[0] + share * (each[1] - each[0]) for each in (x, y)]
        least = np.linalg.norm(points[0][:, None] - points[1][None], axis=2).min()
        assert least - 0.02 < got <= least + 1e-12


def test_a_start_outside_the_limits_is_refused():
    with refused(LimitError, 'shoulder'):
        excite(true_arm(), ARM, start=[0.0, 2.0, 0.0], **FAST)


def test_the_command_writes_a_trajectory_and_a_table(tmp_path, capsys):
    (tmp_path / 'arm.urdf').write_text(to_urdf(true_arm()))
    (tmp_path / 'shapes.yaml').write_text(
        'ground: [{from: [0.55, -1, 0.5], to: [0.55, 1, 0.5], radius: 0.05}]\n'
        'fore: [{center: [0, 0, 0.3], radius: 0.05}]\n')
    given = [str(tmp_path / 'arm.urdf'), '--folder', str(tmp_path / 'out'), '--rounds', '3']
    assert command.main(given) == 2
    assert 'give --speed' in capsys.readouterr().err
    given += ['--speed', '2', '--capsules', str(tmp_path / 'shapes.yaml')]
    assert command.main(given) in (0, 1)
    assert 'least distance of bodies' in capsys.readouterr().out
    text = (tmp_path / 'out' / 'excitation.yaml').read_text()
    message = yaml.load(text, Loader=yaml.CSafeLoader)
    with (tmp_path / 'out' / 'excitation.csv').open() as stream:
        rows = list(csv.DictReader(stream))
    assert message['joint_names'] == list(JOINTS) and len(message['points']) == len(rows) == 1001
    page = (tmp_path / 'out' / 'report.html').read_text()
    assert page.count('<polyline') == 3 * len(JOINTS) and 'least distance of bodies' in page
    assert message['points'][500]['positions'][1] == float(rows[500]['position.shoulder'])
    (tmp_path / 'shapes.yaml').write_text('hand: [{center: [0, 0, 0], radius: 0.05}]\n')
    assert command.main(given) == 2
    assert "expected bodies of the model, got ['hand']" in capsys.readouterr().err
