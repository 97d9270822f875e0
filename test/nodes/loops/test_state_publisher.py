# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""All joints from the measured ones: outputs, warnings, bad input, where the model comes from."""

from threading import Event
import time

from liedyn_interfaces.msg import JointMotion, LoopStatus
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from sensor_msgs.msg import MultiDOFJointState
from std_msgs.msg import String
from support.bench.loop_bench import LoopBench, LOOPS, MEASURED, ns, PERIOD_NS, URDF
from support.bench.ros_bench import Broadcaster

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import complete_trajectory, ConstrainedDynamics
from liedyn_ros.lie import SE3, se3, SO3
from liedyn_ros.model import annotate, load_urdf, load_yaml
from liedyn_ros.nodes.dynamics.machines import read_model
from liedyn_ros.nodes.loops import state_publisher
from liedyn_ros.nodes.loops.state_publisher import LoopStatePublisherNode
from liedyn_ros.ros.messages.conversions import stamp_of
from liedyn_ros.ros.qos import LATCHED

pytestmark = pytest.mark.ros
FOUR_BAR = config_file('four_bar.yaml')
AT, RATES = np.array([0.3, 0.2]), np.array([0.05, -0.07])


def test_bytes_that_are_no_message_are_a_refused_sample(bench):
    node = LoopBench(bench).settle(AT)
    node.input.publish(b'\0\1\0\0no message')
    reason = (f'{node.input.topic_name}: expected a serialised sensor_msgs/msg/JointState, '
              'got 14 bytes that are none')
    status = bench.until(lambda: next(
        (status for status in node.statuses if reason == status.message), None), 'its status')
    assert status.status == LoopStatus.REJECTED
    bench.until_logged(node.node, reason)
    assert node.send(AT).status == LoopStatus.COMPLETED
    assert not any('Traceback' in line for line in bench.logged(node.node))


def pose_of(transform):
    """Return the pose (4, 4) of a Transform."""
    t, q = transform.translation, transform.rotation
    return SE3.from_rotation_translation(
        SO3.from_quaternion([q.x, q.y, q.z, q.w]), [t.x, t.y, t.z]).matrix


def listed(model, message, values):
    """Return the numbers of a message in the model's order."""
    return np.array([values[list(message.name).index(name)] for name in model.coordinate_names])


def test_all_joints_come_out_on_the_loops(bench):
    node, leg = LoopBench(bench).settle(AT), ConstrainedDynamics(annotate(load_urdf(URDF), LOOPS))
    for k in range(1, 20):
        at = AT + 0.2 * k * RATES
        status = node.send(at, RATES, [3.0, 4.0])
        assert (status.status, status.message) == (LoopStatus.COMPLETED, '')
        state = node.state()
        q = listed(leg.model, state, state.position)
        v = listed(leg.model, state, state.velocity)
        assert np.abs(leg.residual(q)).max() < 1e-9
        assert np.abs(leg.jacobian(q) @ v).max() < 1e-9
        picked = [list(state.name).index(name) for name in MEASURED]
        np.testing.assert_array_equal(np.array(state.position)[picked], at)
        np.testing.assert_allclose(np.array(state.velocity)[picked], RATES)
        effort = dict(zip(state.name, state.effort))
        assert effort == {'hip': 3.0, 'crank_joint': 4.0, 'knee': 0.0, 'rod_joint': 0.0}
        assert 0.02 < status.inverse_condition_number <= 1.0
        assert not status.near_singularity


def test_accelerations_come_out_where_they_come_in(bench):
    node, leg = LoopBench(bench).settle(AT), ConstrainedDynamics(annotate(load_urdf(URDF), LOOPS))
    motions, motion = bench.collect(JointMotion, 'joint_motion'), JointMotion(
        name=MEASURED[::-1], position=AT[::-1].tolist(), velocity=RATES[::-1].tolist(),
        acceleration=[0.5, -0.3], effort=[4.0, 3.0])
    publisher = bench.publisher(JointMotion, 'measured_joint_motion')

    def send():
        node.stamp_ns += PERIOD_NS
        motion.header.stamp = stamp_of(node.stamp_ns)
        publisher.publish(motion)

    found = bench.until(lambda: motions and motions[-1], 'a joint motion', act=send)
    q, v, a, effort = (listed(leg.model, found, getattr(found, part)) for part in (
        'position', 'velocity', 'acceleration', 'effort'))
    at = [leg.model.joint(name).vi for name in MEASURED]
    for values, wanted in ((q, AT), (v, RATES), (a, [-0.3, 0.5]), (effort, [3.0, 4.0])):
        np.testing.assert_allclose(values[at], wanted, atol=1e-12)
    step = 1e-5  # along the motion, by central differences of closed configurations
    ahead, behind = (complete_trajectory(leg, [
        AT, AT + t * RATES + 0.5 * t * t * a[at]], start=q).q[1] for t in (step, -step))
    np.testing.assert_allclose((ahead - behind) / (2.0 * step), v, atol=1e-6)
    np.testing.assert_allclose((ahead - 2.0 * q + behind) / step**2, a, atol=1e-4)
    state = bench.until(lambda: next(
        (each for each in node.states if ns(each) == ns(found)), None), 'its joint state')
    assert (list(state.position), list(state.effort)) == (list(found.position),
                                                          list(found.effort))
    motion.velocity = []
    status = bench.until(lambda: next(
        (each for each in node.statuses if each.status == LoopStatus.REJECTED), None),
        'the refusal', act=send)
    assert 'acceleration: expected velocity with it, got none' in status.message


def test_topics_of_joints_of_several_degrees_of_freedom_are_open_only_for_such(bench):
    node = LoopBench(bench).settle(AT)
    names = [publisher.topic_name.rpartition('/')[2] for publisher in node.node.publishers]
    assert 'joint_states' in names
    assert 'multi_dof_joint_states' not in names


def test_what_is_not_given_is_left_out(bench):
    node = LoopBench(bench).settle(AT)
    node.send(AT)
    state = node.state()
    assert (list(state.velocity), list(state.effort)) == ([], [])
    assert set(state.name) == {'hip', 'knee', 'crank_joint', 'rod_joint'}


def test_efforts_are_left_out_unless_those_of_all_actuators_are_measured(bench):
    leg, names = ConstrainedDynamics(annotate(load_urdf(URDF), LOOPS)), ['hip', 'knee']
    true = dict(zip(leg.model.coordinate_names, complete_trajectory(leg, [AT]).q[0]))
    node = LoopBench(bench, model_file=str(URDF), loops_file=str(LOOPS), measured_joints=names)
    at = [true[name] for name in names]
    node.settle(at, names).send(at, efforts=[3.0, 0.0], names=names)
    assert list(node.state().effort) == []


@pytest.mark.parametrize(('positions', 'names', 'reason'), [
    (AT, ['hip', 'wheel'], "unknown ['wheel']"), (AT[:1], ['hip'], "missing ['crank_joint']"),
    (AT, ['hip', 'hip'], 'repeated'), (AT[:1], MEASURED, 'position: expected shape (2,)'),
    ([0.3, np.nan], MEASURED, 'position[1]: expected a finite number, got nan'),
    ([0.3, 2.9], MEASURED, 'no motion reaches from the last')])
def test_bad_input_is_named_and_the_next_sample_is_good(bench, positions, names, reason):
    node = LoopBench(bench).settle(AT)
    bad = node.send(positions, names=names)
    assert bad.status == (LoopStatus.OPEN if 'motion' in reason else LoopStatus.REJECTED)
    assert reason in bad.message
    node.bench.until_logged(node.node, reason)
    refused = node.stamp_ns
    assert node.send(AT).status == LoopStatus.COMPLETED
    assert ns(node.state()) == node.stamp_ns
    assert refused not in [ns(state) for state in node.states]


def test_a_refused_sample_has_its_age_at_the_refusal(bench):
    node = LoopBench(bench).settle(AT)
    bad = node.send(AT, names=['hip', 'wheel'], stamp_ns=time.time_ns())
    assert 0.0 <= bad.age < 60.0


def test_noise_of_redundant_encoders_is_evened_out(bench):
    names = ['hip', 'crank_joint', 'knee']
    leg = ConstrainedDynamics(annotate(load_urdf(URDF), LOOPS))
    true = dict(zip(leg.model.coordinate_names, complete_trajectory(leg, [AT]).q[0]))
    at = np.array([true[name] for name in names])
    node = LoopBench(bench, model_file=str(URDF), loops_file=str(LOOPS), measured_joints=names)
    node.settle(at, names)
    status = node.send(at + [0.002, -0.003, 0.004], names=names)
    assert (status.status, status.message) == (LoopStatus.COMPLETED, '')
    state = node.state()
    assert np.abs(leg.residual(listed(leg.model, state, state.position))).max() < 1e-9
    for name, position in zip(state.name, state.position):
        assert abs(position - true[name]) < 0.02
    bad = node.send(at + [0.0, 0.0, 0.5], names=names)
    assert bad.status == LoopStatus.OPEN
    assert 'measured joints that agree within 0.05' in bad.message


SPATIAL = """
format: 1
name: spatial_four_bar
bodies:
  crank: {mass: 1.0, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  coupler: {mass: 1.0, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  rocker: {mass: 1.0, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
joints:
  crank_joint: {type: revolute, parent: null, child: crank, axis: [0, 0, 1]}
  fork: {type: universal, parent: crank, child: coupler, axis: [0, 0, 1],
    second_axis: [0, 1, 0], placement: [x: 0.2], actuated: false}
  rocker_joint: {type: revolute, parent: null, child: rocker, axis: [0, 1, 0],
    placement: [x: 0.6], actuated: false}
closures:
  ball: {type: spherical, body_a: coupler, body_b: rocker, placement_a: [x: 0.5],
    placement_b: [z: 0.3]}
"""


@pytest.fixture
def spatial(bench, tmp_path):
    """Return a node with a spatial four-bar linkage whose coupler hangs in a universal joint."""
    file = tmp_path / 'spatial_four_bar.yaml'
    file.write_text(SPATIAL)
    node = LoopBench(bench, model_file=str(file), measured_joints=['crank_joint'],
                     frame_prefix='left/')
    node.multi_dof = bench.collect(MultiDOFJointState, 'multi_dof_joint_states')
    node.settle([0.3], ['crank_joint'])
    return node, ConstrainedDynamics(load_yaml(file))


def test_joints_of_several_degrees_of_freedom_have_poses_and_twists(spatial):
    node, machine = spatial
    node.send([0.4], [0.7], names=['crank_joint'])
    state = node.state()
    message = node.bench.until(lambda: next(
        (each for each in node.multi_dof if ns(each) == node.stamp_ns), None), 'the fork')
    assert list(message.joint_names) == ['fork']
    fork = pose_of(message.transforms[0])
    crank = machine.tree.kinematics([state.position[0], 0.0, 0.0, 0.0]).poses[0]
    tip = (crank @ fork @ [0.5, 0.0, 0.0, 1.0])[:3]
    angle = state.position[1]  # of the rocker, whose tip is the ball
    np.testing.assert_allclose(
        tip, [0.6 + 0.3 * np.sin(angle), 0.0, 0.3 * np.cos(angle)], atol=1e-9)
    step = 1e-6
    node.send([0.4 + 0.7 * step], names=['crank_joint'])
    later = pose_of(node.bench.until(lambda: next(
        (each for each in node.multi_dof if ns(each) == node.stamp_ns), None),
        'the fork').transforms[0])
    difference = se3.log(se3.compose(se3.inverse(fork), later)) / step
    twist = message.twist[0]
    np.testing.assert_allclose(
        [getattr(part, axis) for part in (twist.angular, twist.linear) for axis in 'xyz'],
        difference, atol=1e-4)


@pytest.fixture
def broadcaster(monkeypatch):
    """Return what the node broadcasts by, in place of that of tf2."""
    return Broadcaster(monkeypatch)


def test_joints_of_several_degrees_of_freedom_are_on_tf(broadcaster, spatial):
    node, _ = spatial

    def both():
        """Return a frame with its joint state; of samples in quick succession not each has one."""
        return next(((each, frames) for each in node.multi_dof for frames in broadcaster.sent
                     if ns(each) == ns(frames[0]) > begin), None)
    begin = node.stamp_ns
    message, (transform,) = node.bench.until(
        both, 'a frame', act=lambda: node.send([0.4], names=['crank_joint']))
    assert (transform.header.frame_id, transform.child_frame_id) == ('left/crank', 'left/coupler')
    assert transform.transform == message.transforms[0]


def test_late_and_old_samples_are_refused(bench):
    node = LoopBench(bench).settle(AT)
    late = node.send(AT, stamp_ns=node.stamp_ns - 1)
    assert late.status == LoopStatus.REJECTED
    assert 'stamp: expected a time after' in late.message
    assert bench.set_parameters(node.node, max_age=0.5)[0].successful
    old = node.send(AT, stamp_ns=node.stamp_ns + PERIOD_NS)
    assert old.status == LoopStatus.REJECTED
    assert 'stamp: expected within 0.5 s of now' in old.message


def test_a_singularity_is_announced_and_silence_reported(bench):
    """The rocker drives the crank towards the dead centre of crank and coupler."""
    names = ['rocker_joint']
    node = LoopBench(bench, model_file=str(FOUR_BAR), measured_joints=names,
                     start='crank_joint:=0.6 coupler_joint:=0.3')
    dead = np.pi - np.arccos((0.45**2 + 0.4**2 - 0.7**2) / (2.0 * 0.45 * 0.4))
    node.settle([dead + 0.3], names)
    assert not node.send([dead + 0.3], [-0.1], names=names).near_singularity
    near = node.send([dead + 0.2], [-1.0], names=names)
    assert near.near_singularity
    assert 0.0 < near.time_to_singularity < 0.5
    assert np.isinf(node.send([dead + 0.2], [1.0], names=names).time_to_singularity)
    estimated = node.send([dead + 0.19], names=names)  # its rate is that since the last sample
    assert 0.0 < estimated.time_to_singularity < 0.5
    assert bench.set_parameters(node.node, input_timeout=0.2)[0].successful
    bench.until(lambda: any('expected measured joints every 0.2 s' in status.message
                            and 'the publisher is silent' in status.message
                            for status in node.statuses), 'word of silence')
    node.send([np.nan], names=names)
    bench.until(lambda: any('the last one: position[0]: expected a finite' in status.message
                            for status in node.statuses), 'why the input is silent')


def test_the_model_may_come_from_the_topic(bench):
    """A model that has not come yet is a warning, and so is the silence without it."""
    node = LoopBench(bench, model_file='', loops_file=str(LOOPS), input_timeout=0.2)
    bench.until(lambda: any('expected a model' in status.message for status in node.statuses),
                'word of the missing model', act=lambda: node.send(AT, wait=False))
    for text in ('expected a model', 'expected measured joints every 0.2 s'):
        bench.until_logged(node.node, text, LoggingSeverity.WARN)
    assert bench.logged(node.node) == []
    bench.publisher(String, 'robot_description', LATCHED).publish(String(data=URDF.read_text()))
    node.settle(AT)
    assert node.send(AT).status == LoopStatus.COMPLETED


@pytest.fixture
def held(monkeypatch):
    """Return an event without which no model is read."""
    event = Event()

    def read(*arguments):
        event.wait()
        return read_model(*arguments)

    monkeypatch.setattr(state_publisher, 'read_model', read)
    yield event
    event.set()


def test_all_else_is_answered_while_the_publisher_starts_and_reads_its_model(bench, held):
    node = bench.add(LoopStatePublisherNode, model_file=str(URDF), loops_file=str(LOOPS))
    for _ in range(3):
        assert bench.set_parameters(node, max_age=0.5)[-1].successful
        assert not node.configured
    held.set()
    bench.until(lambda: node.active, 'the start')


def test_all_else_is_answered_while_a_description_is_read(bench, held):
    held.set()
    node = LoopBench(bench, model_file='', loops_file=str(LOOPS))
    held.clear()
    bench.publisher(String, 'robot_description', LATCHED).publish(String(data=URDF.read_text()))
    for _ in range(3):
        assert bench.set_parameters(node.node, max_age=0.0)[-1].successful
    assert 'expected a model' in node.send(AT).message
    held.set()
    node.settle(AT)
    assert node.send(AT).status == LoopStatus.COMPLETED


def test_measured_joints_that_decide_too_little_are_refused(bench):
    node = LoopBench(bench, measured_joints=['hip'])  # of the leg
    assert not node.node.configured
    node.bench.until_logged(node.node, "leave ['knee', 'crank_joint', 'rod_joint'] free")
