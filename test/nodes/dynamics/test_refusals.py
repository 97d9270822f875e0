# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bad requests: success false, a message that names the fault, and the server goes on."""

from contextlib import closing
from itertools import cycle

from geometry_msgs.msg import Accel, Quaternion, Wrench
from liedyn_interfaces.msg import (
    BodyWrench, DynamicsAnswer, DynamicsQuery, TreeAcceleration, TreeEffort)
from liedyn_interfaces.srv import DescribeModel, EquationsOfMotion
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
import pytest
from rclpy.serialization import serialize_message
from support.bench.dynamics_bench import (
    AERIAL, ALGORITHMS, Motion, random_file, ServerBench, vector)
from support.bench.ros_bench import Bench, unused_namespace

from liedyn_ros.nodes.dynamics.algorithms import TreeAlgorithms
from liedyn_ros.ros.messages.tree_messages import MAX_WRENCHES

pytestmark = pytest.mark.ros
inverse, forward, hybrid = ALGORITHMS
BOTH = {'accelerations': True, 'efforts': True}


@pytest.fixture(scope='module')
def server(context):
    """Return a server of the aerial manipulator, which tests share: no refusal changes it."""
    with closing(Bench(context, unused_namespace())) as bench:
        yield ServerBench(bench, model_file='aerial_manipulator.yaml')


def refused(server, algorithm, query):
    """Return the message of a query that must be refused; the next good one must not."""
    answer = server.ask(algorithm, query)
    assert not answer.success
    assert not (answer.accelerations or answer.efforts)
    assert server.ask(inverse, Motion(AERIAL).query()).success
    return answer.message


STATES = {
    'unknown joint': (
        lambda s: s.joint_names.__setitem__(0, 'tail'), "unknown ['tail']"),
    'missing joint': (
        lambda s: s.joint_names.pop(), "joint_names: expected each of ['left_shoulder_roll', "),
    'joint given twice': (
        lambda s: s.joint_names.append(s.joint_names[0]), 'repeated ['),
    'the base among the joints': (
        lambda s: s.joint_names.append('base_joint'), "unknown ['base_joint']"),
    'no joints': (
        lambda s: setattr(s, 'joint_names', []), "missing ['left_shoulder_roll', "),
    'far too many joints': (
        lambda s: setattr(s, 'joint_names', ['x'] * 100_000),
        'joint_names: expected 6 names, got 100000'),
    'too few positions': (
        lambda s: setattr(s, 'positions', s.positions[:5]),
        'positions: expected 6 numbers for the joints named, got 5'),
    'too many velocities': (
        lambda s: setattr(s, 'velocities', [*s.velocities, 0.0]),
        'velocities: expected 6 numbers for the joints named, got 7'),
    'NaN position': (
        lambda s: s.positions.__setitem__(s.joint_names.index('left_elbow'), np.nan),
        'position of left_elbow: expected a finite number, got nan'),
    'infinite velocity': (
        lambda s: s.velocities.__setitem__(s.joint_names.index('right_elbow'), -np.inf),
        'velocity of right_elbow: expected a finite number, got -inf'),
    'NaN base position': (
        lambda s: setattr(s.base_pose.position, 'y', np.nan),
        'base_pose.position.y: expected a finite number, got nan'),
    'NaN base twist': (
        lambda s: setattr(s.base_twist.linear, 'z', np.nan),
        'base_twist.linear.z: expected a finite number, got nan'),
    'unnormalised quaternion': (
        lambda s: setattr(s.base_pose, 'orientation', Quaternion(x=0.6, w=0.9)),
        'base_pose.orientation: expected a quaternion x, y, z, w of norm 1 within 0.0001, '
        'got norm 1.08166538'),
    'no quaternion': (
        lambda s: setattr(s.base_pose, 'orientation', Quaternion(w=0.0)), 'got norm 0'),
    'twist without a frame': (
        lambda s: setattr(s, 'child_frame_id', ''),
        "child_frame_id: expected 'base', the floating base in whose frame base_twist is, got ''"),
    'twist in another frame': (
        lambda s: setattr(s, 'child_frame_id', 'world'), "got 'world'"),
}


@pytest.mark.smoke
@pytest.mark.parametrize(('spoil', 'reason'), STATES.values(), ids=STATES)
def test_bad_state(server, spoil, reason):
    x = Motion(AERIAL)
    for algorithm, given in ((inverse, (True, False)), (forward, (False, True)),
                             (hybrid, (True, True))):
        query = x.query(*given)
        spoil(query.state)
        assert reason in refused(server, algorithm, query)
    response = server.call(EquationsOfMotion, 'equations_of_motion', state=query.state)
    assert not response.success
    assert reason in response.message
    assert not (response.mass_matrix or response.coriolis_matrix or response.gravity)


QUERIES = {
    'no accelerations': (
        inverse, {'accelerations': []},
        'accelerations: expected an entry for each order from 0 on, got none'),
    'accelerations of too high an order': (
        inverse, {'accelerations': [TreeAcceleration(joints=[0.0] * 6)] * 32},
        'accelerations: expected 31 entries at most, up to order 30, got 32'),
    'efforts of a huge order': (
        forward, {'accelerations': [], 'efforts': [TreeEffort()] * 5000},
        'efforts: expected 31 entries at most, up to order 30, got 5000'),
    'efforts of inverse dynamics': (
        inverse, {'efforts': [TreeEffort(joints=[0.0] * 6)]},
        'efforts: expected none, as they are what is asked for, got 1'),
    'accelerations of forward dynamics': (
        forward, BOTH, 'accelerations: expected none, as they are what is asked for, got 1'),
    'no efforts': (
        forward, {'accelerations': []},
        'efforts: expected an entry for each order from 0 on, got none'),
    'hybrid without efforts': (
        hybrid, {}, 'efforts: expected an entry for each order from 0 on, got none'),
    'hybrid with fewer efforts': (
        hybrid, {**BOTH, 'accelerations': [TreeAcceleration(joints=[0.0] * 6)] * 3},
        'accelerations and efforts: expected as many of both, got 3 and 1'),
    'accelerations too short': (
        inverse, {'accelerations': [TreeAcceleration(joints=[0.0] * 5)]},
        'accelerations[0].joints: expected 6 numbers for the joints named, got 5'),
    'NaN acceleration of the base': (
        inverse, {'accelerations': [TreeAcceleration(
            base=Accel(linear=vector((0.0, 0.0, np.nan))), joints=[0.0] * 6)]},
        'accelerations[0].base.linear.z: expected a finite number, got nan'),
    'infinite effort of the base': (
        forward, {'accelerations': [], 'efforts': [TreeEffort(joints=[0.0] * 6), TreeEffort(
            base=Wrench(torque=vector((np.inf, 0.0, 0.0))), joints=[0.0] * 6)]},
        'efforts[1].base.torque.x: expected a finite number, got inf'),
    'derivative too short': (
        inverse, {'accelerations': [TreeAcceleration(joints=[0.0] * n) for n in (6, 6, 4)]},
        'accelerations[2].joints: expected 6 numbers for the joints named, got 4'),
    'efforts too long': (
        forward, {'accelerations': [], 'efforts': [TreeEffort(joints=[0.0] * 7)]},
        'efforts[0].joints: expected 6 numbers for the joints named, got 7'),
    'NaN acceleration': (
        inverse, {'accelerations': [TreeAcceleration(joints=[np.nan] * 6)]},
        'acceleration of left_shoulder_roll: expected a finite number, got nan'),
    'NaN derivative': (
        inverse, {'accelerations': [TreeAcceleration(joints=[x] * 6) for x in (0.0, np.nan)]},
        'derivative 1 of the acceleration of left_shoulder_roll: expected a finite number, '
        'got nan'),
    'huge derivative': (
        forward, {'accelerations': [],
                  'efforts': [TreeEffort(joints=[x] * 6) for x in (0.0, 0.0, -1e308)]},
        'derivative 2 of the effort of left_shoulder_roll: expected numbers whose results are '
        'finite, got -1e+308'),
    'infinite effort': (
        forward, {'accelerations': [], 'efforts': [TreeEffort(joints=[np.inf] * 6)]},
        'effort of left_shoulder_roll: expected a finite number, got inf'),
    'huge effort': (
        forward, {'accelerations': [], 'efforts': [TreeEffort(joints=[1e308] * 6)]},
        'effort of left_shoulder_roll: expected numbers whose results are finite, got 1e+308'),
    'unknown name prescribed': (
        hybrid, {**BOTH, 'prescribed': ['tail']}, "got 'tail'"),
    'joint prescribed twice': (
        hybrid, {**BOTH, 'prescribed': ['left_elbow', 'left_elbow']},
        "prescribed: expected each coordinate once, got 'left_elbow' again"),
    'base prescribed twice': (
        hybrid, {**BOTH, 'prescribed': ['base', 'base_joint']}, "got 'base_joint' again"),
    'coordinate prescribed with its base': (
        hybrid, {**BOTH, 'prescribed': ['base', 'base_joint/wx']}, "got 'base_joint/wx' again"),
    'prescribed in inverse dynamics': (
        inverse, {'prescribed': ['left_elbow']}, 'prescribed: expected no names'),
    'wrench on an unknown body': (
        inverse, {'external': [BodyWrench(body='tail')]},
        "external[0].body: expected one of ['base', "),
    'derivative of a wrench': (
        inverse, {'external': [BodyWrench(body='base', order=1)]},
        "external[0].order: expected 0 at most of the wrench on 'base', got 1"),
    'derivative of a wrench of too high an order': (
        inverse, {'external': [BodyWrench(body='base', order=255)],
                  'accelerations': [TreeAcceleration(joints=[0.0] * 6)] * 3},
        "external[0].order: expected 2 at most of the wrench on 'base', got 255"),
    'unknown convention': (
        forward, {'accelerations': [], 'efforts': [TreeEffort(joints=[0.0] * 6)],
                  'base_twist_frame': 2},
        'base_twist_frame: expected BODY = 0 or SPATIAL = 1, got 2'),
    'errors of inverse dynamics': (
        inverse, {'max_error': 1e-6},
        'max_error: expected 0, as errors are found for forward and hybrid dynamics of trees '
        'alone, got 1e-06'),
    'no limit of errors': (
        forward, {'accelerations': [], 'efforts': [TreeEffort(joints=[0.0] * 6)],
                  'max_error': float('nan')},
        'max_error: expected a number from 0 on, got nan'),
    'mixed conventions': (
        hybrid, {**BOTH, 'prescribed': ['base_joint/wx', 'left_elbow'], 'base_twist_frame': 1},
        'prescribed: expected all coordinates of the base or none, as base_twist_frame is '
        'SPATIAL, got 1'),
}


@pytest.mark.parametrize(('algorithm', 'fields', 'reason'), QUERIES.values(), ids=QUERIES)
def test_bad_query(server, algorithm, fields, reason):
    x = Motion(AERIAL)
    query = x.query(**{k: v for k, v in fields.items() if v is True})
    for name, value in fields.items():
        if value is not True:
            setattr(query, name, value)
    assert reason in refused(server, algorithm, query)


@pytest.mark.parametrize(('force', 'reason'), [
    (np.nan, 'external wrench on left_forearm[0, 4]: expected a finite number, got nan'),
    (1e308, 'external wrench on left_forearm[0, 4]: expected a finite number, got inf')])
def test_wrenches_that_do_not_add_up(server, force, reason):
    wrench = BodyWrench(body='left_forearm')
    wrench.wrench.force = vector((0.0, force, 0.0))
    query = Motion(AERIAL).query(external=[wrench, wrench])
    assert reason in refused(server, inverse, query)


def with_one_more_wrench(query):
    """Return the bytes of a query with a copy of its second wrench, whatever the bound."""
    raw, count = serialize_message(query), len(query.external)
    two, three = (len(serialize_message(DynamicsQuery(external=query.external[:n])))
                  for n in (2, 3))
    entry = three - two
    at = raw.index(count.to_bytes(4, 'little')) + 4
    return (raw[:at - 4] + (count + 1).to_bytes(4, 'little') + raw[at:at + entry]
            + raw[at + entry:at + 2 * entry] + raw[at + entry:])


@pytest.mark.parametrize(('count', 'message'), [
    (MAX_WRENCHES, ''),
    (MAX_WRENCHES + 1, 'external: expected 10000 wrenches at most, got 10001')])
def test_wrenches_have_a_bound_for_strange_writers_too(server, count, message):
    """The middleware checks the bound where it writes, and not where it reads."""
    wrench = BodyWrench(body='left_forearm', wrench=Wrench(force=vector((0.0, 1e-3, 0.0))))
    query = Motion(AERIAL).query(external=[wrench] * (count - 1), request_id=count)
    raw = with_one_more_wrench(query)
    answers = server.bench.collect(DynamicsAnswer, f'dynamics_server/{inverse}/answer')
    queries = server.bench.publisher(DynamicsQuery, f'dynamics_server/{inverse}/query')
    looks = cycle([True, *[False] * 99])  # a message of a megabyte, once a second
    answer, *_ = server.bench.until(
        lambda: [each for each in answers if each.request_id == count], 'an answer',
        act=lambda: queries.get_subscription_count() and next(looks) and queries.publish(raw))
    assert (answer.success, answer.message) == (not message, message)
    assert server.ask(inverse, Motion(AERIAL).query()).success


@pytest.mark.parametrize(('order', 'convention'), [(0, 0), (0, 1), (3, 0), (3, 1)])
@pytest.mark.parametrize('algorithm', ALGORITHMS)
def test_numbers_too_large(server, algorithm, order, convention):
    for coordinate, label in (('left_elbow', 'velocity of left_elbow'),
                              ('base_joint/vx', 'base_twist.linear.x')):
        x = Motion(AERIAL, order=order)
        x.v[x.model.coordinate_names.index(coordinate)] = 1e308
        query = x.query(algorithm != forward, algorithm != inverse, base_twist_frame=convention)
        assert refused(server, algorithm, query).startswith(
            f'{label}: expected numbers whose results are finite, got 1e+308')


def test_equations_of_motion_too_large(server):
    x = Motion(AERIAL)
    x.v[3] = 1e308
    response = server.call(EquationsOfMotion, 'equations_of_motion', state=x.state())
    assert not response.success
    assert 'base_twist.linear.x: expected numbers whose results' in response.message


def test_a_fixed_base_has_no_frame(bench, tmp_path):
    path = random_file(tmp_path, 0, False)
    query = Motion(path).query()
    query.state.child_frame_id = 'body_0'
    answer = ServerBench(bench, model_file=str(path)).ask(inverse, query)
    assert not answer.success
    assert answer.message == (
        "child_frame_id: expected none, as the base is fixed, got 'body_0'")


def test_a_quaternion_of_a_joint(bench, tmp_path):
    path = random_file(tmp_path, 0, False)
    x = Motion(path)
    joint = next(x.model.joint(name) for name in x.names if name.startswith('spherical'))
    x.q[joint.q_slice] *= 1.001
    answer = ServerBench(bench, model_file=str(path)).ask(inverse, x.query())
    assert not answer.success
    assert f'position of {joint.name}: expected a quaternion' in answer.message


def test_a_quaternion_of_a_base_that_stands_somewhere(bench, tmp_path):
    query = Motion(random_file(tmp_path, 0, True)).query()
    query.state.base_pose.orientation = Quaternion(w=2.0)
    answer = ServerBench(bench, model_file=str(tmp_path / 'random_0.yaml')).ask(inverse, query)
    assert not answer.success
    assert answer.message.startswith('base_pose: quaternion: expected norm 1')


def test_no_answer_before_there_is_a_model(bench):
    server = ServerBench(bench)
    for algorithm in ALGORITHMS:
        answer = server.ask(algorithm, Motion(AERIAL).query())
        assert not answer.success
        assert 'dynamics_server: expected a model, got none yet' in answer.message
    for service, name in ((EquationsOfMotion, 'equations_of_motion'),
                          (DescribeModel, 'describe_model')):
        response = server.call(service, name)
        assert not response.success
        assert 'dynamics_server: expected a model, got none yet' in response.message


@pytest.mark.parametrize(('transitions', 'state'), [
    ((), 'not configured'),
    ((Transition.TRANSITION_CONFIGURE,), 'inactive'),
    ((Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE,
      Transition.TRANSITION_DEACTIVATE), 'inactive')])
def test_no_answer_of_a_node_that_is_not_active(bench, transitions, state):
    server = ServerBench(bench, model_file='aerial_manipulator.yaml', autostart=False)
    for transition in transitions:
        assert server.call(ChangeState, 'change_state',
                           transition=Transition(id=transition)).success
    answer = server.ask(inverse, Motion(AERIAL).query())
    assert not answer.success
    assert answer.message == f'dynamics_server: expected the node to be active, got {state}'


def test_a_fault_in_the_server_does_not_end_it(server, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(TreeAlgorithms, 'inverse', lambda *_: 1 // 0)
        answer = server.ask(inverse, Motion(AERIAL).query())
    assert not answer.success
    assert answer.message.startswith('internal fault: ZeroDivisionError')
    server.bench.until_logged(server.node, 'ZeroDivisionError')
    assert server.ask(inverse, Motion(AERIAL).query()).success
