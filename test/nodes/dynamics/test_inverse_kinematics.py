# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The service of inverse kinematics: what it reaches, how far off it is, and what it refuses."""

from threading import Event

from geometry_msgs.msg import Point, Pose, Quaternion
from liedyn_interfaces.msg import FrameTarget, TreeState
from liedyn_interfaces.srv import InverseKinematics
import numpy as np
import pytest
from std_msgs.msg import Header
from support.bench.dynamics_bench import AERIAL, Motion, pose_of, SERVER, ServerBench
from support.refusals import refused

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.errors import (
    BudgetError, LimitError, ModelError, NameSetError, NotFiniteError, NotInGroupError, ShapeError)
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import load_model, pose
from liedyn_ros.nodes.dynamics import linear_models, reaching
from liedyn_ros.nodes.dynamics.answers import DynamicsAnswers
from liedyn_ros.nodes.dynamics.platform_answers import answers_about
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import TreeMessages
from liedyn_ros.stewart import leg_lengths, load_geometry

pytestmark = pytest.mark.ros
POSE, POINT, ORIENTATION, TOOL = (getattr(FrameTarget, name) for name in (
    'POSE', 'POINT', 'ORIENTATION', 'TOOL'))
REACHED = 1e-6 + 1e-9  # rad and m, as the service says; a pose goes through a quaternion


def target(frame, *poses, **fields):
    """Return a target of a frame: poses (4, 4), or messages."""
    return FrameTarget(frame=frame, poses=[
        each if isinstance(each, Pose) else pose_of(each) for each in poses], **fields)


def asked(answers, *targets, budget=None, **fields):
    """Return the response of the handler."""
    response = InverseKinematics.Response()
    answers.inverse_kinematics(InverseKinematics.Request(
        targets=list(targets), **fields), response, budget or Budget())
    return response


def answers_of(path):
    """Return the handler of a model's requests."""
    return DynamicsAnswers(load_model(path), dissipation=True)


def found(answers, response, frame):
    """Return the poses (K, 4, 4) of a frame in the states of a response."""
    messages = TreeMessages(answers.model)
    return np.array([answers._dynamics.frames.pose(messages.read_state(state)[0], frame)
                     for state in response.states])


@pytest.mark.smoke
def test_a_frame_reaches_a_pose(server, path):
    x, rng = Motion(path), np.random.default_rng(3)
    frame, header = x.model.bodies[-1], Header()
    header.stamp.sec = 7
    wanted = x.dynamics.frames.pose(x.model.random(rng), frame)
    response = server.call(InverseKinematics, 'inverse_kinematics', header=header,
                           targets=[target(frame, wanted)], start=x.state())
    assert (response.success, response.message, list(response.reached)) == (True, '', [True])
    assert response.header == Header(
        stamp=header.stamp, frame_id='' if x.base is None else x.base.child)
    q = TreeMessages(x.model).read_state(response.states[0])[0]
    assert np.abs(x.dynamics.frames.pose(q, frame) - wanted).max() < REACHED
    assert max(*response.angles, *response.distances) <= 1e-6
    assert response.solve_time > 0.0


def test_out_of_reach_has_the_nearest_and_says_how_far(bench):
    server, file = ServerBench(bench, model_file='arm.urdf'), config_file('arm.urdf')
    answers = answers_of(file)
    far = Pose(position=Point(x=3.0, y=4.0, z=0.5))
    response = server.call(InverseKinematics, 'inverse_kinematics', targets=[
        target('tool', far, kind=POINT)])
    assert not response.success and list(response.reached) == [False]
    at = found(answers, response, 'tool')[0, :3, 3]
    assert response.distances[0] == pytest.approx(np.linalg.norm(at - [3.0, 4.0, 0.5]))
    assert f'tool {response.distances[0]:.3g} m' in response.message


def test_kinds_weights_limits_and_what_stays():
    """Of the flying base with two arms: each field does what it says."""
    answers, rng = answers_of(AERIAL), np.random.default_rng(5)
    model, frames = answers.model, answers._dynamics.frames
    q = model.random(rng)
    goal = frames.pose(model.random(rng), 'left_forearm')
    start = TreeState()
    TreeMessages(model).to_state(q, np.zeros(model.nv), start)
    at = {}
    for kind in (POINT, ORIENTATION, TOOL):
        response = asked(answers, target('left_forearm', goal, kind=kind), start=start)
        assert response.success
        at[kind] = found(answers, response, 'left_forearm')[0]
    assert np.abs(at[POINT] - goal)[:3, 3].max() < REACHED < np.abs(at[POINT] - goal)[:3, :3].max()
    assert np.abs(at[ORIENTATION] - goal)[:3, :3].max() < REACHED
    assert np.abs(at[TOOL] - goal)[:3, 2:].max() < REACHED < np.abs(at[TOOL] - goal)[:3, 0].max()

    far = frames.pose(q, 'left_forearm').copy()
    far[:3, 3] += [9.0, 0.0, 0.0]
    far[:3, :3] = far[:3, :3] @ so3.exp([0.7, 0.0, 0.0])
    turned, moved = (asked(answers, target(
        'left_forearm', far, angle_weight=weight), start=start, locked=['base'])
        for weight in (100.0, 0.01))
    assert turned.angles[0] < moved.angles[0] and turned.distances[0] > moved.distances[0]
    for response in (turned, moved):
        assert conversions.from_pose(response.states[0].base_pose) == pytest.approx(
            conversions.from_pose(start.base_pose))

    two = asked(answers, target('left_forearm', goal),
                target('right_forearm', goal @ pose([0.0, 0.3, 0.0]), kind=POINT), starts=1)
    assert len(two.angles) == 2 and two.angles[1] == 0.0
    bent = q.copy()
    bent[model.joint('left_elbow').qi] = 3.0  # of 2.6
    beyond = target('left_forearm', frames.pose(bent, 'left_forearm'))
    for ignored in (False, True):
        response = asked(answers, beyond, start=start, locked=['base'], ignore_limits=ignored)
        assert response.success == ignored


def test_rest_is_approached_and_a_path_goes_on():
    answers, rng = answers_of(AERIAL), np.random.default_rng(6)
    model, messages = answers.model, TreeMessages(answers.model)
    q, rest = model.random(rng), TreeState()
    messages.to_state(model.neutral(), np.zeros(model.nv), rest)
    at = answers._dynamics.frames.pose(q, 'left_forearm')
    path = [at @ se3.exp([0.0, 0.0, 0.0, 0.01 * k, 0.0, 0.0]) for k in range(5)]
    start = TreeState()
    messages.to_state(q, np.zeros(model.nv), start)
    plain, near = (asked(answers, target('left_forearm', *path), start=start, rest=each)
                   for each in (TreeState(), rest))
    assert plain.success and near.success and len(plain.states) == 5
    away = [np.linalg.norm(model.difference(
        model.neutral(), messages.read_state(each.states[-1])[0])) for each in (plain, near)]
    assert away[1] < away[0]
    steps = [model.difference(*(messages.read_state(each)[0] for each in pair))
             for pair in zip(plain.states, plain.states[1:])]
    assert np.abs(steps).max() < 0.1


def test_poses_are_in_a_frame_that_does_not_move():
    model = load_model(config_file('arm.urdf')).with_frame(
        'table', 'base', pose([1.0, 2.0, 0.3], [0.0, 0.0, 0.5]))
    answers = DynamicsAnswers(model, dissipation=True)
    wanted = answers._dynamics.frames.pose(
        0.3 * model.random(np.random.default_rng(0)), 'tool')
    table = model.place('table')[1]
    for frame, at in (('table', se3.inverse(table) @ wanted), ('base', wanted), ('', wanted)):
        response = asked(answers, target('tool', at), header=Header(frame_id=frame))
        assert response.success
        assert np.abs(found(answers, response, 'tool')[0] - wanted).max() < REACHED


@pytest.mark.parametrize('far', [False, True])
def test_loops_stay_closed(far):
    model = load_model(config_file('five_bar.yaml')).with_frame(
        'tip', 'left_coupler', pose([0.4, 0.0, 0.0]))
    answers, robot = DynamicsAnswers(model, dissipation=True), ConstrainedDynamics(model)
    place = np.array([5.0 if far else 0.1, 0.0, 0.4])
    response = asked(answers, target('tip', pose(place), kind=POINT))
    assert response.success != far
    q = TreeMessages(model).read_state(response.states[0])[0]
    assert np.abs(robot.residual(q)).max() < 1e-9
    assert response.distances[0] == pytest.approx(
        np.linalg.norm(robot.frames.pose(q, 'tip')[:3, 3] - place), abs=1e-9)


def test_a_platform_is_a_machine_as_others():
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    answers = answers_about(geometry, dissipation=True, hold_couplings=False, stamp=None)
    wanted = geometry.home @ pose([0.02, -0.01, 0.03], [0.02, 0.05, -0.04])
    response = asked(answers, target('platform', wanted))
    assert response.success
    q = TreeMessages(answers.model).read_state(response.states[0])[0]
    assert [q[answers.model.joint(name).qi] for name in geometry.leg_names] == pytest.approx(
        leg_lengths(geometry, wanted), abs=1e-6)


NAN, PLACE = float('nan'), Pose(position=Point(x=0.2, z=0.2))
JOINTS = ['shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3']
REFUSED = {
    'no target': (ShapeError, {'targets': []}, ('targets',)),
    'no pose': (ShapeError, {'targets': [target('tool')]}, ('targets[0].poses',)),
    'poses of other counts': (ShapeError, {'targets': [
        target('tool', PLACE), target('upper_arm', PLACE, PLACE)]}, ('targets[1].poses',)),
    'too many poses': (ShapeError, {'targets': [
        target('tool', *[PLACE] * 1001)]}, ('targets[0].poses',)),
    'too many frames': (ShapeError, {'targets': [target('tool', PLACE)] * 101}, ('targets',)),
    'a frame twice': (NameSetError, {'targets': [target('tool', PLACE)] * 2}, ('tool',)),
    'unknown frame': (ModelError, {'targets': [target('tol', PLACE)]}, ('tol',)),
    'unknown kind': (LimitError, {'targets': [target('tool', PLACE, kind=9)]},
                     ('targets[0].kind',)),
    'NaN': (NotFiniteError, {'targets': [target('tool', Pose(position=Point(x=NAN)))]}, None),
    'no rotation': (NotInGroupError, {'targets': [target(
        'tool', Pose(orientation=Quaternion(w=0.3)))]}, None),
    'negative weight': (LimitError, {'targets': [
        target('tool', PLACE, angle_weight=-1.0)]}, ('tool',)),
    'NaN weight': (NotFiniteError, {'targets': [
        target('tool', PLACE, distance_weight=NAN)]}, None),
    'unknown joint to stay': (NameSetError, {'locked': ['waist']}, ('waist',)),
    'starts': (LimitError, {'starts': 1001}, ('starts',)),
    'unknown frame of the poses': (ModelError, {'header': Header(frame_id='map')}, None),
    'moving frame of the poses': (ModelError, {'header': Header(frame_id='tool')}, ('tool',)),
    'short start': (NameSetError, {'start': TreeState(
        joint_names=['elbow'], positions=[0.0])}, None),
    'NaN rest': (NotFiniteError, {'rest': TreeState(
        joint_names=JOINTS, positions=[0.0, NAN] + 4 * [0.0])}, None),
}


@pytest.mark.parametrize('kind, given, names', REFUSED.values(), ids=REFUSED)
def test_refusals(kind, given, names):
    fields = {'targets': [target('tool', PLACE)], **given}
    with refused(kind, *(names or ())) if names else pytest.raises(kind):
        asked(answers_of(config_file('arm.urdf')), *fields.pop('targets'), **fields)


def test_huge_numbers_are_refused_and_the_node_goes_on(bench):
    server = ServerBench(bench, model_file='arm.urdf')
    for place in (Pose(position=Point(x=1e308, y=-1e308)), Pose(position=Point(x=NAN))):
        response = server.call(InverseKinematics, 'inverse_kinematics', targets=[
            target('tool', place)])
        assert not (response.success or response.states) and response.message
    assert server.call(InverseKinematics, 'inverse_kinematics', targets=[
        target('tool', Pose(), kind=ORIENTATION)]).reached


def test_work_is_bounded_and_holds_no_other_request(bench, monkeypatch):
    """A request of minutes: dynamics are answered beside it, and it ends by its bound."""
    server, x = ServerBench(bench, model_file=AERIAL.name), Motion(AERIAL)
    begun, go_on, spend = Event(), Event(), Budget.spend

    def held(budget, share):
        begun.set()
        assert go_on.wait(600.0)
        spend(budget, share)
    monkeypatch.setattr(Budget, 'spend', held)
    monkeypatch.setattr(linear_models, 'MAX_EVALUATIONS', 20)
    client = bench.partner.create_client(InverseKinematics, f'{SERVER}/inverse_kinematics')
    bench.until(client.service_is_ready, 'the service')
    far = target('left_forearm', *[Pose(position=Point(x=9e9))] * 1000)
    future = client.call_async(InverseKinematics.Request(targets=[far], locked=['base']))
    bench.until(begun.is_set, 'the first start')
    x.found(server.ask('inverse_dynamics', x.query()))
    assert not future.done()
    go_on.set()
    bench.until(future.done, 'the end of the work')
    assert not (future.result().success or future.result().states)
    with refused(BudgetError):
        asked(answers_of(AERIAL), far, budget=Budget(evaluations=3), locked=['base'])
    monkeypatch.setattr(reaching, 'MAX_PRODUCTS', 2 * 6 * 12**2)  # of two frames
    with refused(ShapeError, 'targets'):
        asked(answers_of(AERIAL), *[target(name, PLACE) for name in (
            'left_forearm', 'right_forearm', 'base')])
    monkeypatch.setattr(reaching, 'MAX_REACH_COORDINATES', 5)
    with refused(LimitError, 'model'):
        asked(answers_of(AERIAL), far)
