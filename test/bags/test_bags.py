# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Topics into a bag and back: what comes out is what was published, in files others read."""

from pathlib import Path
import re
import signal
import threading
import time

from geometry_msgs.msg import PoseStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest
import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, qos_profile_sensor_data, QoSProfile
from std_msgs.msg import String
from support import forked

rosbags = pytest.importorskip('rosbags', reason='bags are not installed here')
mcap = pytest.importorskip('mcap.reader', reason='bags are not installed here')
MCAP_WRITER = pytest.importorskip('mcap.writer', reason='bags are not installed here').Writer

from support.recordings.bag_files import (  # noqa: E402
    START_NS, STORE, write_bag, write_mcap)
from support.refusals import refused  # noqa: E402

from liedyn_ros.bags.play import Player  # noqa: E402
from liedyn_ros.bags.record import Recorder  # noqa: E402
from liedyn_ros.bags.types import Definitions, message_class  # noqa: E402
from liedyn_ros.common.errors import DescriptionError, LiedynError  # noqa: E402
from liedyn_ros.recordings.bags import Bag  # noqa: E402

pytestmark = pytest.mark.ros
ROOT = Path(__file__).parents[2]
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


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_player_in_a_silent_hour(node, tmp_path, number):
    words = [(START_NS + seconds * 10 ** 9, STORE.types['std_msgs/msg/String'](str(seconds)))
             for seconds in (0, 1, 3600)]
    write_bag(tmp_path / 'bag', words, topic='/bag_word')
    heard = []
    handle = node.create_subscription(String, 'bag_word', heard.append, LATCHED).handle

    def take():
        found = handle.take_message(String, False)
        heard.extend([found[0].data] if found else ())

    with forked.start('-m', 'liedyn_ros.bags.play', str(tmp_path / 'bag')) as player:
        until(lambda: '1' in heard, take)
        player.send_signal(number)
        code, (output, errors) = player.wait(), player.read()
    assert (code, errors) == (0, '')
    assert re.search(r'\n[12] messages published\n$', output)  # 1: it was about to count


def test_a_publisher_that_serves_less_than_those_before_is_recorded(node, tmp_path):
    reliable = node.create_publisher(String, 'bag_word', 10)
    recorder = Recorder(node, tmp_path / 'bag', ['bag_word'])

    def send(publisher, word):
        recorder.discover()
        publisher.publish(String(data=word))
        recorder.take()

    until(lambda: recorder.counts.get('/bag_word'), lambda: send(reliable, 'reliable'))
    heard = recorder.counts['/bag_word']
    hasty = node.create_publisher(String, 'bag_word', qos_profile_sensor_data)
    until(lambda: recorder.counts['/bag_word'] > heard + 10, lambda: send(hasty, 'hasty'))
    recorder.close()
    words = [each.message.data for each in Bag(tmp_path / 'bag').messages(['/bag_word'])]
    assert words[0] == 'reliable' and words[-1] == 'hasty'


FULL = """
import resource, sys
from liedyn_ros.bags import record
inner = record._record
def limited(*arguments):
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    inner(*arguments)
record._record = limited
sys.exit(record.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(('program', 'topics', 'code', 'errors'), [
    (['-m', 'liedyn_ros.bags.record'], ['/bag_word'], 0, '^$'),
    (['-m', 'liedyn_ros.bags.record'], ['/bag_word', '/bag_typo'], 1,
     '^not recorded: /bag_typo: no publisher came\n$'),
    (['-c', FULL], ['/bag_word'], 2, r'^.*bag: not written to its end: .* File too large\n$')],
    ids=['all', 'a topic is missing', 'full disk'])
def test_a_recorder_says_what_it_did_not_record(node, tmp_path, program, topics, code, errors):
    words = node.create_publisher(String, '/bag_word', 10)

    def send():
        for _ in range(20):
            words.publish(String(data=1000 * 'x'))
        if 'recording /bag_word' in recorder.read()[0]:
            sent.append(20)
        if sum(sent) == 400:
            recorder.send_signal(signal.SIGINT)

    sent = []
    with forked.start(*program, str(tmp_path / 'bag'), *topics) as recorder:
        until(lambda: recorder.poll() is not None, send)
        assert recorder.returncode == code, recorder.read()
        assert re.search(errors, recorder.read()[1])


def whole(path):
    write_mcap(path, [(START_NS + 10 ** 7 * k, STORE.types['std_msgs/msg/Float64'](k / 7.0))
                      for k in range(100)], topic='/bag_number', chunk=1000)


def damaged(path):
    whole(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xff
    path.write_bytes(content)


def foreign(path, others=(('/bag_x', 'nowhere/msg/X', START_NS),)):
    with path.open('wb') as stream:
        writer = MCAP_WRITER(stream)
        writer.start(profile='ros2', library='test')
        for topic, kind, stamp in (('/bag_number', 'std_msgs/msg/Float64', START_NS), *others):
            channel = writer.register_channel(topic, 'cdr', writer.register_schema(
                kind, 'ros2msg', b'float64 data'))
            writer.add_message(channel, stamp, bytes(12), stamp)
        writer.finish()


def hostile(path):
    foreign(path, [('/bag_late', 'std_msgs/msg/Float64', 2**64 - 1), (
        '<script>', 'std_msgs/msg/Float64', START_NS), ('/bag_y', '../msg/X', START_NS)])


@pytest.mark.parametrize(('write', 'options', 'code', 'output', 'errors'), [
    (whole, [], 0, '100 messages published', '^$'),
    (damaged, [], 1, r'[789]\d messages published', r'bag.mcap: \d+ bytes lost from byte'),
    (whole, ['--start', '60'], 1, '0 messages published', '^$'),
    (foreign, ['bag_number', 'bag_x'], 1, '1 messages published', 'not played: /bag_x: nowhere'),
    (foreign, [], 0, '1 messages published', 'not played: /bag_x: nowhere'),
    (hostile, [], 1, '1 messages published', r'<script>(?s:.)*/bag_y(?s:.)*1 messages not')],
    ids=['whole', 'damaged', 'begins behind its end', 'named', 'all', 'hostile'])
def test_a_player_says_what_it_did_not_play(tmp_path, write, options, code, output, errors):
    write(tmp_path / 'bag.mcap')
    with forked.start('-m', 'liedyn_ros.bags.play', str(tmp_path / 'bag.mcap'), *options,
                      '--delay', '0') as player:
        assert player.wait() == code
        told = player.read()
    assert re.search(rf'\n{output}\n$', told[0]) and re.search(errors, told[1])


def test_errors_name_what_was_expected(node, tmp_path):
    (tmp_path / 'there').mkdir()
    with refused(LiedynError, str(tmp_path / 'there')):
        Recorder(node, tmp_path / 'there')
    with refused(DescriptionError, 'nowhere/msg/X'):
        message_class('nowhere/msg/X')
    with refused(DescriptionError, 'nowhere/msg/X'):
        Definitions().text('nowhere/msg/X')


@pytest.mark.parametrize('name', [
    'planted/msg/X', 'planted.part/msg/X', '.planted/msg/X', './msg/X', '/msg/X', '', '../a/msg/B',
    'std_msgs/msg/String\n', 'std_msgs/msg/__doc__', '__main__/msg/X', 'a/msg/\x1b[2J'])
def test_a_type_that_others_name_imports_no_other_module(tmp_path, monkeypatch, name):
    (tmp_path / 'planted.py').write_text('from pathlib import Path\nPath("ran").touch()\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DescriptionError) as caught:
        message_class(name)
    assert not (tmp_path / 'ran').exists()
    assert str(caught.value).isprintable()


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
