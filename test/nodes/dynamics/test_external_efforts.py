# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the dynamics server tells from joint states: external efforts, contact, the payload."""

from contextlib import closing
from dataclasses import replace

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from liedyn_interfaces.msg import Payload
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool, Trigger
from support.bench.dynamics_bench import SERVER, ServerBench
from support.bench.pose_bench import HOME
from support.bench.ros_bench import Bench, unused_namespace
from support.machines.collision import ARM, collision, STEP
from support.machines.looped_machines import five_bar
from support.machines.mimic_gripper import FOLLOWERS, GRIPPER, LEADERS
from support.machines.model_variants import write_yaml
from support.recordings.recorded_motion import arm_motion, JOINTS, true_arm
from support.refusals import refused

from liedyn_ros.common.errors import (
    LiedynError, LimitError, ModelError, NameSetError, NotFiniteError, ShapeError, StampError)
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, MomentumObserver, projected_runge_kutta)
from liedyn_ros.identification import PayloadStream, with_payload
from liedyn_ros.model import load_mjcf, load_model, load_urdf, SpatialInertia
from liedyn_ros.model.followers import Followers
from liedyn_ros.nodes.dynamics.external_efforts import ExternalEfforts
from liedyn_ros.nodes.dynamics.payload import message_of
from liedyn_ros.nodes.dynamics.platform_answers import PlatformAnswers
from liedyn_ros.ros.messages.conversions import nanoseconds, stamp_of
from liedyn_ros.stewart import load_geometry, PlatformSimulation, StewartDynamics

pytestmark = pytest.mark.ros
NAMES, START_NS, STEP_NS = ['elbow', 'shoulder'], 10**9, round(1e9 * STEP)


@pytest.fixture(scope='module')
def samples():
    """Return the arguments of `take` of an arm that falls onto a box, and where it first does."""
    found, touched = [], None
    for k, (q, v, tau, touches) in enumerate(collision()):
        found.append((START_NS + k * STEP_NS, NAMES, q[::-1], v[::-1], tau[::-1]))
        touched = k if touched is None and touches else touched
    return found, touched


def arm(**options):
    """Return the estimator of that arm."""
    return ExternalEfforts(Dynamics(load_mjcf(ARM)), **{'gain': 300.0, 'levels': {}, **options})


def test_a_collision_is_told_within_milliseconds_by_levels_that_were_learned(samples):
    taken, touched = samples
    estimator, beside, told = arm(), MomentumObserver(Dynamics(load_mjcf(ARM)), gain=300.0), []
    estimator.learn(True)
    for k, sample in enumerate(taken[:touched + 20]):
        if k == touched - 100:
            text = estimator.learn(False)
        found = estimator.take(*sample)
        np.testing.assert_allclose(found.efforts, beside(
            *(np.asarray(each)[::-1] for each in sample[2:]), STEP), rtol=1e-9)
        told.append(found.beyond)
    assert told[touched - 101] is None and not any(told[touched - 100:touched])
    assert told[touched + 10]  # 5 ms
    given = arm(levels=dict(part.split(':=') for part in text.split()))
    assert given.levels == pytest.approx(estimator.levels, rel=1e-5)


def test_a_force_on_closed_loops_is_told():
    robot = ConstrainedDynamics(five_bar())
    names = [each.name for each in robot.model.joint_list]
    estimator = ExternalEfforts(robot, gain=1000.0, levels=dict.fromkeys(
        MomentumObserver(robot).names, '0.1'))
    q, v, tau = assemble(robot, [0.7, 0.9, 1.9, -0.5]), np.zeros(4), np.array([2.0, 0.0, 2.5, 0.0])
    external, told = np.zeros((len(robot.model.bodies), 6)), []
    for k in range(60):
        external[robot.model.body_index('left_1'), 3] = 5.0 if k >= 40 else 0.0
        told.append(estimator.take(START_NS + k * 500_000, names, q, v, tau).beyond)
        q, v = projected_runge_kutta.step(robot, q, v, 5e-4, tau, external)
    assert not any(told[:41]) and told[-1]


@pytest.mark.parametrize('file', ['stewart_geometry.yaml', 'stewart_cranks.yaml'])
def test_a_load_on_a_platform_is_told_by_its_legs_alone(file):
    """At rest it is what inverse dynamics says that the legs need less."""
    geometry = load_geometry(config_file(file))
    if geometry.home is None:
        geometry = replace(geometry, home=HOME)
    simulation, still = PlatformSimulation(geometry, geometry.home), np.zeros(6)
    bear = StewartDynamics(geometry).inverse(geometry.home, still, still).forces
    simulation.load = np.array([0.0, 0.05, 0.1, 2.0, -1.0, -3.0])
    answers = PlatformAnswers(geometry, dissipation=True)
    answers.watch_external_efforts(200.0, '')
    names = list(geometry.leg_names)[::-1]
    for k in range(60):  # before it has moved far
        simulation.command(bear)
        simulation.step()
        sample = simulation.sample()
        told = answers.external_efforts.take(
            START_NS + k * 10**6, names, sample.lengths[::-1], sample.leg_rates[::-1],
            sample.forces[::-1]).efforts
    wanted = bear - StewartDynamics(geometry).inverse(
        simulation.pose, still, still, external=simulation.load).forces
    assert answers.external_efforts.names == geometry.leg_names
    np.testing.assert_allclose(told, wanted, atol=0.1 * np.abs(wanted).max())


def test_gaps_begin_again_and_what_is_missing_is_refused(samples):
    taken, _ = samples
    estimator = arm()
    for sample in taken[:50]:
        found = estimator.take(*sample)
    assert found.efforts.any()
    stamp, names, *numbers = taken[50]
    with refused(StampError, 'stamp'):
        estimator.take(taken[49][0], names, *numbers)
    with refused(ShapeError, 'effort'):  # as most robots' joint states
        estimator.take(stamp, names, *numbers[:2], [])
    with refused(NameSetError, 'shoulder'):
        estimator.take(stamp, ['elbow'], [0.0], [0.0], [0.0])
    with pytest.raises(NotFiniteError):
        estimator.take(stamp, names, *numbers[:2], [np.nan, 0.0])
    with_others = [*names, 'finger'], *([*each, 9.0] for each in numbers)
    assert estimator.take(stamp, *with_others).efforts.any()
    for moved in (10**8, -10**9):  # a gap, and a clock that is set back
        assert not estimator.take(stamp + moved, names, *numbers).efforts.any()


@pytest.mark.filterwarnings('ignore::liedyn_ros.common.errors.DescriptionWarning')
def test_leaders_of_held_couplings_are_enough():
    model = load_urdf(GRIPPER)
    held, q = ConstrainedDynamics(model), Followers(model).positions(model.neutral())
    sample = ([0.0, 0.0], [0.0, 0.0], held.inverse(q, 0.0 * q, 0.0 * q).tau[
        [model.joint(name).vi for name in LEADERS]] + [1.0, -0.5])
    with refused(NameSetError, *FOLLOWERS):
        ExternalEfforts(Dynamics(model), gain=50.0, levels={}).take(START_NS, LEADERS, *sample)
    estimator, payload = ExternalEfforts(held, gain=50.0, levels={}), PayloadStream(model, 'tip')
    for k in range(600):
        told = estimator.take(START_NS + k * STEP_NS, LEADERS, *sample)
        payload.take(START_NS + k * STEP_NS, LEADERS, sample[0], sample[2])
    assert estimator.names == payload.joint_names == LEADERS
    np.testing.assert_allclose(told.efforts, [-1.0, 0.5], atol=1e-3)
    assert not payload.refused


def test_wrong_levels_and_machines_are_refused():
    for levels, error, names in (
            ({'shoulder': '1'}, NameSetError, ('elbow',)),
            ({'shoulder': '1', 'elbow': '1', 'hand': '1'}, NameSetError, ('hand',)),
            ({'shoulder': '1', 'elbow': '-1'}, LimitError, ('external_effort_levels',)),
            ({'shoulder': '1', 'elbow': 'nan'}, LimitError, ('external_effort_levels',))):
        with refused(error, *names):
            arm(levels=levels)
    with pytest.raises(LimitError):
        arm(levels={'shoulder': '1', 'elbow': 'one'})
    with pytest.raises(ModelError):
        ExternalEfforts(Dynamics(load_model('aerial_manipulator.yaml')), gain=1.0, levels={})
    estimator = arm()
    with pytest.raises(LiedynError):
        estimator.learn(False)
    estimator.learn(True)
    with refused(LiedynError, 'residuals'):
        estimator.learn(False)  # of no sample


def test_the_node_tells_estimates_contact_and_what_is_missing(bench, tmp_path, samples):
    path, (taken, touched) = tmp_path / 'arm.xml', samples
    path.write_text(ARM)
    server = ServerBench(bench, model_file=str(path), external_effort_gain=300.0)
    told = bench.collect(JointState, f'{SERVER}/external_efforts')
    contact = bench.collect(Bool, f'{SERVER}/contact')
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    publisher, beside = bench.publisher(JointState, 'joint_states'), arm()
    bench.until(publisher.get_subscription_count, 'the topic')

    def send(sample):
        stamp, names, q, v, tau = sample
        message = JointState(name=names, position=q, velocity=v, effort=tau)
        message.header.stamp = stamp_of(stamp)
        publisher.publish(message)
        count = len(told) + 1
        bench.until(lambda: len(told) >= count, 'the estimate')  # newest first: none waits
        return beside.take(*sample)

    assert server.call(SetBool, 'learn_contact_levels', data=True).success
    before = taken[touched - 160:touched - 40]
    for sample in before:
        wanted = send(sample)
    assert list(told[-1].name) == ['shoulder', 'elbow'] and not contact
    np.testing.assert_array_equal(told[-1].effort, wanted.efforts)
    levels = server.call(SetBool, 'learn_contact_levels', data=False)
    assert levels.success and levels.message.startswith('shoulder:=')
    for sample in taken[touched - 40:touched + 12]:
        send(sample)
    assert contact[-1].data and not contact[0].data

    def said(text, level=DiagnosticStatus.WARN):
        return any(text in each.message and each.level == level
                   for report in reports for each in report.status)
    bench.until(lambda: said('contact: beyond the levels of'), 'contact among the diagnostics')
    publisher.publish(JointState(name=NAMES, position=[0.0, 0.0], velocity=[0.0, 0.0]))
    bench.until(lambda: said('joint_states: effort'), 'the missing efforts')
    bench.until(lambda: said('no messages for', DiagnosticStatus.ERROR), 'silence, an error')


def test_a_server_without_it_says_so(bench):
    server = ServerBench(bench, model_file='arm.urdf')
    answer = server.call(SetBool, 'learn_contact_levels', data=True)
    assert not answer.success and 'external_effort_gain' in answer.message


TRUE = SpatialInertia(1.5, [0.02, -0.03, 0.1], np.diag([0.01, 0.012, 0.005]))


@pytest.fixture(scope='module')
def motion():
    """Return stamps (ns), positions and efforts of an arm that carries the payload."""
    time, q, _, _, tau = arm_motion(
        with_payload(true_arm(), 'fore', TRUE.parameters()), 3, 12.0, 50.0)
    return (START_NS + np.round(1e9 * time)).astype(int).tolist(), q.tolist(), tau.tolist()


@pytest.fixture(scope='module')
def loaded_arm(context, tmp_path_factory):
    """Return a server that watches the arm's last body."""
    path = write_yaml(true_arm(), tmp_path_factory.mktemp('arm') / 'arm.yaml')
    with closing(Bench(context, unused_namespace())) as bench:
        yield ServerBench(bench, model_file=str(path), payload_body='fore')


def joint_states(motion):
    """Yield a motion as messages."""
    for stamp_ns, position, effort in zip(*motion):
        message = JointState(name=list(JOINTS), position=position, effort=effort)
        message.header.stamp = stamp_of(stamp_ns)
        yield message


def test_joint_states_in_and_the_payload_out(loaded_arm, motion):
    """Every sample counts; the messages agree with the estimator beside the node."""
    bench, stamps = loaded_arm.bench, motion[0]
    told, publisher = bench.collect(Payload, f'{SERVER}/payload'), bench.publisher(
        JointState, 'joint_states')
    bench.until(lambda: publisher.get_subscription_count() and told, 'both topics')
    assert not told[-1].success and 'expected samples over 4 s' in told[-1].message
    publisher.publish(JointState(name=['elbow'], position=[0.0]))
    bench.until(lambda: told[-1].refused, 'the refused sample')
    assert "'base_joint'" in told[-1].message and bench.logged(loaded_arm.node)
    beside = PayloadStream(true_arm(), 'fore')
    for message in joint_states(motion):
        publisher.publish(message)
        beside.take(nanoseconds(message.header.stamp), message.name, message.position,
                    message.effort)
        if message.header.stamp.nanosec == 0:  # each second, so that no queue overflows
            bench.until(lambda m=message: loaded_arm.node._payload().stamp_ns == nanoseconds(
                m.header.stamp), 'the samples so far')
    bench.until(lambda: nanoseconds(told[-1].header.stamp) == stamps[-1], 'the last sample')
    last = told[-1]
    assert last.success and last.message == '' and last.header.frame_id == 'fore'
    assert last.samples == len(stamps) - 20 and last.joint_names == list(JOINTS)
    assert abs(last.inertia.m - 1.5) < 0.02
    np.testing.assert_allclose([last.inertia.com.x, last.inertia.com.y, last.inertia.com.z],
                               TRUE.center_of_mass, atol=3e-3)
    expected = message_of(beside, 'fore')
    np.testing.assert_array_equal(last.parameters, expected.parameters)
    np.testing.assert_array_equal(last.covariance, expected.covariance)
    np.testing.assert_allclose(
        np.sqrt(np.reshape(last.covariance, (10, 10)).diagonal()), last.deviations)
    assert loaded_arm.call(Trigger, 'reset_payload').success
    bench.until(lambda: told[-1].samples == 0, 'a new estimate')


def test_a_body_that_is_not_there_is_refused(context, tmp_path):
    path = write_yaml(true_arm(), tmp_path / 'arm.yaml')
    with closing(Bench(context, unused_namespace())) as bench:
        server = ServerBench(bench, model_file=str(path), payload_body='hand')
        assert not server.node.configured
        bench.until_logged(server.node, "'hand'")


def test_a_server_without_a_payload_says_so(server):
    answer = server.call(Trigger, 'reset_payload')
    assert not answer.success and 'payload_body' in answer.message


def test_a_message_has_the_inertia_about_the_centre_of_mass(motion):
    stream = PayloadStream(true_arm(), 'fore')
    for stamp, q, tau in zip(*motion):
        stream.take(stamp, JOINTS, q, tau)
    found, told = stream.estimate, message_of(stream, 'fore').inertia
    about = np.array([[told.ixx, told.ixy, told.ixz], [told.ixy, told.iyy, told.iyz],
                      [told.ixz, told.iyz, told.izz]])
    body = SpatialInertia(told.m, [told.com.x, told.com.y, told.com.z], about, physical=False)
    np.testing.assert_allclose(body.parameters(), found.possible(), atol=1e-12)
