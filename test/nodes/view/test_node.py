# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node of the view: what it hears reaches its page, and who may reach the page."""

from functools import partial

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from liedyn_ros.common.resources import config_file
from liedyn_ros.model import Model
from liedyn_ros.nodes.view import topics
from liedyn_ros.nodes.view.node import ViewNode
from liedyn_ros.nodes.view.topics import FLAG_SENTENCES
from liedyn_ros.ros.qos import LATCHED
from liedyn_ros.stewart import Flag, StewartGeometry

pytestmark = pytest.mark.ros


LEG = """<robot name="r"><link name="o"/><link name="x"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="@" type="revolute"><parent link="o"/><child link="x"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="9" velocity="9"/></joint></robot>"""


class FakePage:
    """A page that keeps what it is given."""

    address, viewers = 'http://127.0.0.1:0', 0

    def __init__(self, *settings, dark):
        self.settings, self.dark = settings, dark
        self.machine, self.seen, self.closed = None, None, False
        self.description = None
        self.file = None

    def adopt(self, machine, home, description=None):
        self.machine, self.home, self.description = machine, home, description

    def show(self, seen):
        self.seen = seen

    def record_to(self, path):
        self.file = path

    def close(self):
        self.closed = True


@pytest.fixture
def view(bench):
    """Return a function that starts a view on a page that is not one."""
    pages = []

    def open_page(*settings, **look):
        pages.append(FakePage(*settings, **look))
        return pages[-1]

    def start(**parameters):
        node = bench.start(partial(ViewNode, open_page), **parameters)
        return node, pages[-1]

    return start


def test_a_platform_is_shown_with_every_flag_between_two_pictures(bench, view):
    _, page = view(rate=5.0)
    assert isinstance(page.machine, StewartGeometry)
    assert page.file is None
    assert page.settings == ('127.0.0.1', 8080, 60.0, 10.0)
    assert not page.dark
    assert page.home[2, 3] == 0.5
    poses, statuses = (bench.publisher(kind, name) for kind, name in (
        (PoseStamped, 'pose'), (StewartStatus, 'status')))
    pose = PoseStamped()
    pose.pose.position.x, pose.pose.orientation.w = 0.25, 1.0
    lengths = np.arange(1.0, 7.0)

    def send():
        poses.publish(pose)
        for flags in (int(Flag.LEG_FROZEN), 0, 0):
            statuses.publish(StewartStatus(
                flags=flags, length=lengths, suspected_legs=['leg_3'] if flags else []))

    seen = bench.until(
        lambda: page.seen is not None and page.seen.pose is not None and page.seen.warnings
        and page.seen, 'a pose and a warning', send)
    assert seen.pose[0, 3] == 0.25
    np.testing.assert_array_equal(seen.solved.lengths, lengths)
    assert seen.warnings == (f'{FLAG_SENTENCES[Flag.LEG_FROZEN]} (leg_3)',)


def test_a_platform_of_eight_legs_is_shown_with_all_lengths(bench, view):
    _, page = view(rate=5.0, geometry_file=str(config_file('stewart_cable_robot.yaml')),
                   home_position=[0.0, 0.0, 1.2])
    assert isinstance(page.machine, StewartGeometry)
    status, lengths = bench.publisher(StewartStatus, 'status'), np.arange(1.0, 9.0)
    seen = bench.until(lambda: page.seen is not None and page.seen.solved and page.seen,
                       'a status', lambda: status.publish(StewartStatus(
                           length=lengths[:6], further_lengths=lengths[6:].tolist())))
    np.testing.assert_array_equal(seen.solved.lengths, lengths)


def test_every_flag_has_a_sentence_or_names_a_limit():
    limits = {Flag.LEG_TRAVEL, Flag.JOINT_ANGLE, Flag.LEG_CLEARANCE}
    assert set(FLAG_SENTENCES) | limits == set(Flag)


def test_topics_that_fall_silent_are_named_while_others_go_on(bench, view, monkeypatch):
    monkeypatch.setattr(topics, 'QUIET_TIME', 0.5)
    _, page = view(rate=20.0)
    poses, true_poses, statuses = (bench.publisher(kind, name) for kind, name in (
        (PoseStamped, 'pose'), (PoseStamped, 'true_pose'), (StewartStatus, 'status')))
    pose = PoseStamped()
    pose.pose.orientation.w = 1.0

    def send():
        poses.publish(pose)
        statuses.publish(StewartStatus())

    bench.until(lambda: page.seen is not None and page.seen.pose is not None and page.seen.tracks,
                'tracking', send)
    bench.until(lambda: set(page.seen.quiet) == {'pose', 'status'}, 'silence of the pose node',
                lambda: true_poses.publish(pose))
    assert not page.seen.tracks and page.seen.pose is not None
    assert page.seen.quiet['status'] > 0.5
    bench.until(lambda: page.seen.tracks and 'pose' not in page.seen.quiet, 'tracking', send)


def test_joints_that_fall_silent_are_named(bench, view, monkeypatch):
    monkeypatch.setattr(topics, 'QUIET_TIME', 0.5)
    _, page = view(model_file='linkage_leg.urdf', rate=20.0)
    joints = bench.publisher(JointState, 'joint_states')
    bench.until(lambda: page.seen is not None and page.seen.positions, 'the joints',
                lambda: joints.publish(JointState(name=['a'], position=[2.0])))
    bench.until(lambda: set(page.seen.quiet) == {'joint_states'}, 'silence')
    assert page.seen.positions == {'a': 2.0}


@pytest.mark.parametrize(('name', 'position', 'told'), [
    ('joint_1', 0.1, ("'a'", "'joint_1'")), ('upper', 90.0, ('upper', '90'))])
def test_wrong_names_and_degrees_are_told_once(bench, view, tmp_path, name, position, told):
    file = tmp_path / 'leg.urdf'
    file.write_text(LEG.replace('@', 'a' if name == 'joint_1' else name))
    node, page = view(model_file=str(file), rate=20.0)
    joints = bench.publisher(JointState, 'joint_states')
    message = JointState(name=[name], position=[position], effort=[1.0])
    for _ in range(3):
        sentence, = bench.until(lambda: page.seen is not None and page.seen.warnings, 'a warning',
                                lambda: joints.publish(message))
        page.seen = None
    assert all(each in sentence for each in told)
    assert bench.logged(node, LoggingSeverity.WARN).count(sentence) == 1


def test_what_is_drawn_is_on_diagnostics(bench, view):
    node, _ = view(rate=10.0)
    poses, pose = bench.publisher(PoseStamped, 'pose'), PoseStamped()
    pose.pose.orientation.w = 1.0
    reports = bench.collect(DiagnosticArray, '/diagnostics')

    def told():
        return [{each.key: each.value for each in status.values} | {'message': status.message}
                for report in reports for status in report.status
                if status.name == node.status_name('page')]

    bench.until(lambda: any(
        int(each['taken']) and int(each['pictures']) and each['message'] == 'shows what comes'
        and each['viewers'] == '0' for each in told()), 'pictures', lambda: poses.publish(pose))


def test_a_tree_comes_from_the_topic_and_joints_are_found_by_name(bench, view):
    node, page = view(machine='tree')
    assert page.machine is None
    bench.until_logged(node, 'waiting for the topic robot_description', LoggingSeverity.INFO)
    bench.publisher(String, 'robot_description', LATCHED).publish(
        String(data=config_file('linkage_leg.urdf').read_text()))
    joints = bench.publisher(JointState, 'joint_states')
    bench.until(lambda: isinstance(page.machine, Model), 'the model')
    bench.until(lambda: page.seen is not None and page.seen.positions, 'the joints', lambda: (
        joints.publish(JointState(name=['b', 'a'], position=[1.0, 2.0], effort=[3.0, 4.0]))))
    assert page.description.source == config_file('linkage_leg.urdf').read_text()
    assert page.seen.positions == {'a': 2.0, 'b': 1.0}
    assert page.seen.efforts == {'a': 4.0, 'b': 3.0}


def test_a_file_of_a_robot_brings_its_folder_and_one_of_many_legs_is_shown(view):
    _, page = view(model_file='linkage_leg.urdf')
    assert page.description.source == config_file('linkage_leg.urdf')
    assert page.description.folder == config_file('linkage_leg.urdf').parent
    _, page = view(geometry_file=str(config_file('stewart_cable_robot.yaml')))
    assert len(page.machine.leg_names) == 8
    assert page.description is None


def test_a_recording_is_asked_of_the_page(view, tmp_path):
    _, page = view(recording=str(tmp_path / 'seen.html'))
    assert page.file == tmp_path / 'seen.html'


@pytest.mark.parametrize('path', ['nowhere/seen.html', 'seen.png'])
def test_a_recording_that_cannot_be_written_is_refused(bench, view, path):
    node, page = view(recording=path)
    bench.until_logged(node, 'recording: expected a file .html in a folder that exists')
    assert page.file is None


@pytest.mark.parametrize(('address', 'warned'), [
    ('127.0.0.1', False), ('localhost', False), ('0.0.0.0', True)])
def test_an_open_address_is_told(bench, view, address, warned):
    node, page = view(address=address)
    bench.until_logged(node, 'the view is on', LoggingSeverity.INFO)
    told = [line for line in bench.logged(node, LoggingSeverity.WARN) if 'to the network' in line]
    assert bool(told) == warned
    assert page.settings[0] == address


def test_a_wrong_file_is_named_and_the_node_lives(bench, view):
    node = bench.start(partial(ViewNode, FakePage), model_file='/nowhere.urdf')
    assert not node.configured


def test_the_page_closes_with_the_configuration(bench, view):
    node, page = view()
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert page.closed
