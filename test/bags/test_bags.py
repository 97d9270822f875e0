# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Topics into a bag and back: what comes out is what was published, in files others read."""

import threading
import time

from geometry_msgs.msg import PoseStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest
import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

rosbags = pytest.importorskip('rosbags', reason='bags are not installed here')
mcap = pytest.importorskip('mcap.reader', reason='bags are not installed here')

from liedyn_ros.bags.play import Player  # noqa: E402
from liedyn_ros.bags.record import Recorder  # noqa: E402
from liedyn_ros.bags.types import Definitions, message_class  # noqa: E402
from liedyn_ros.common.errors import DescriptionError, LiedynError  # noqa: E402
from liedyn_ros.recordings.bags import Bag  # noqa: E402

pytestmark = pytest.mark.ros
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def node():
    """Return a node of a name of its own, in a context that is begun if none was."""
    begun = rclpy.ok()
    if not begun:
        rclpy.init(args=[])
    node = Node('bag_test', start_parameter_services=False)
    yield node
    node.destroy_node()
    if not begun:
        rclpy.try_shutdown()


def until(reached, act):
    end, pause = time.monotonic() + 60.0, threading.Event()
    while not reached():
        assert time.monotonic() < end, 'the condition did not come to hold'
        act()
        pause.wait(0.02)


def test_a_bag_holds_what_was_published_and_it_is_played_again(node, tmp_path):
    poses = node.create_publisher(PoseStamped, 'bag_pose', 10)
    statuses = node.create_publisher(StewartStatus, 'bag_status', 10)
    node.create_publisher(String, 'bag_description', LATCHED).publish(String(data='<robot/>'))
    recorder = Recorder(node, tmp_path / 'bag', ['bag_pose', 'bag_status', 'bag_description'])

    def send():
        recorder.discover()
        message = PoseStamped()
        message.pose.position.x = 0.25
        poses.publish(message)
        statuses.publish(StewartStatus(message='seen', length=np.arange(6.0)))
        recorder.take()

    until(lambda: len(recorder.counts) == 3 and all(recorder.counts.values()), send)
    recorder.close()
    bag = Bag(tmp_path / 'bag')
    assert bag.topics['/bag_status'] == 'liedyn_interfaces/msg/StewartStatus'
    assert dict(bag.counts) == recorder.counts
    first = {each.topic: each.message for each in bag.messages(bag.topics)}
    assert first['/bag_pose'].pose.position.x == 0.25
    assert first['/bag_status'].message == 'seen'
    with (tmp_path / 'bag' / 'bag.mcap').open('rb') as stream:  # the library of MCAP itself
        schema, _, _ = next(mcap.make_reader(stream).iter_messages(topics=['/bag_status']))
    assert (schema.encoding, schema.name) == ('ros2msg', 'liedyn_interfaces/msg/StewartStatus')
    assert b'FLAG_NEAR_SINGULARITY=1' in schema.data

    heard = []
    node.destroy_publisher(poses)
    player = Player(node, bag, ['bag_pose'])
    taken = node.create_subscription(PoseStamped, 'bag_pose', heard.append, 100).handle
    until(lambda: taken.take_message(PoseStamped, False), lambda: list(player.play(rate=1e6)))
    assert list(player.play(rate=1e6, start=1e6)) == []


def test_errors_name_what_was_expected(node, tmp_path):
    (tmp_path / 'there').mkdir()
    with pytest.raises(LiedynError, match='there: expected a folder that can be made'):
        Recorder(node, tmp_path / 'there')
    with pytest.raises(DescriptionError, match='nowhere/msg/X: expected a type'):
        message_class('nowhere/msg/X')
    with pytest.raises(DescriptionError, match='expected its file in a package'):
        Definitions().text('nowhere/msg/X')


def test_the_text_of_a_type_has_those_of_its_fields():
    text, identity = Definitions().text('liedyn_interfaces/msg/LoopStatus')
    assert 'MSG: std_msgs/Header' in text
    assert 'MSG: builtin_interfaces/Time' in text
    assert identity.startswith('RIHS01_')


def test_a_namespace_moves_the_names_of_topics(tmp_path):
    begun = rclpy.ok()
    if not begun:
        rclpy.init(args=[])
    node = Node('bag_test_left', namespace='left', start_parameter_services=False)
    recorder = Recorder(node, tmp_path / 'bag', ['pose', '/other'])
    assert recorder._wanted == {'/left/pose', '/other'}
    recorder.close()
    node.destroy_node()
    if not begun:
        rclpy.try_shutdown()
