# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""RViz's files against the nodes: what a display listens to is published, and as it is heard."""

from importlib.util import find_spec
from xml.etree import ElementTree

import pytest
from rclpy.qos import (
    DurabilityPolicy, qos_check_compatible, QoSCompatibility, QoSProfile, ReliabilityPolicy)
from std_msgs.msg import String
import yaml

from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.aerial.controller import AerialManipulatorControllerNode
from liedyn_ros.nodes.aerial.simulator import AerialManipulatorSimulatorNode
from liedyn_ros.nodes.stewart.controller import StewartControllerNode
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode

pytestmark = pytest.mark.ros
TYPES = {'MarkerArray': 'visualization_msgs/msg/MarkerArray', 'Odometry': 'nav_msgs/msg/Odometry',
         'Pose': 'geometry_msgs/msg/PoseStamped', 'RobotModel': 'std_msgs/msg/String',
         'PoseWithCovariance': 'geometry_msgs/msg/PoseWithCovarianceStamped'}
NODES = {
    'stewart.rviz': (
        (StewartPoseNode, {'leg_noise': 1e-5}), (StewartSimulatorNode, {}),
        (StewartControllerNode, {})),
    'aerial_manipulator.rviz': (
        (AerialManipulatorSimulatorNode, {}), (AerialManipulatorControllerNode, {}))}


def settings_of(file):
    return yaml.safe_load(config_file(file).read_text())['Visualization Manager']


def topics_of(file):
    """Return the type, topic and QoS of everything that a file lets RViz listen to."""
    for display in settings_of(file)['Displays']:
        topic = display.get('Topic', display.get('Description Topic'))
        if topic is not None:
            yield TYPES[display['Class'].split('/')[1]], topic['Value'], QoSProfile(
                depth=topic['Depth'],
                durability=DurabilityPolicy[topic['Durability Policy'].upper().replace(' ', '_')],
                reliability=ReliabilityPolicy[
                    topic['Reliability Policy'].upper().replace(' ', '_')])


@pytest.mark.parametrize('file', NODES)
def test_every_display_hears_a_node(bench, namespace, file):
    for node_class, parameters in NODES[file]:
        bench.start(node_class, **parameters)
    for message_type, topic, qos in topics_of(file):
        (publisher,) = bench.until(
            lambda name=f'{namespace}/{topic}': bench.partner.get_publishers_info_by_topic(name),
            f'a publisher of {topic}')
        assert publisher.topic_type == message_type
        assert qos_check_compatible(publisher.qos_profile, qos)[0] != QoSCompatibility.ERROR


@pytest.mark.parametrize('file', NODES)
def test_nothing_squeezes_the_view_and_names_can_be_read(file):
    """Every panel docks on the left, as wide as the widest; names of frames are white."""
    settings = yaml.safe_load(config_file(file).read_text())
    assert [panel['Class'] for panel in settings['Panels']] == ['rviz_common/Displays']
    background = settings['Visualization Manager']['Global Options']['Background Color']
    assert background == '48; 48; 48'  # RViz's own


@pytest.mark.skipif(find_spec('tf2_ros') is None, reason='tf2_ros is not installed here')
def test_every_link_of_the_robot_model_has_a_transform_to_the_fixed_frame(bench):
    from tf2_msgs.msg import TFMessage

    bench.start(AerialManipulatorSimulatorNode)
    heard = bench.collect(TFMessage, '/tf')
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    descriptions = bench.collect(String, 'robot_description', latched)
    bench.until(lambda: heard and descriptions, 'transforms and the robot model')
    parents = {t.child_frame_id: t.header.frame_id for t in heard[0].transforms}
    links = ElementTree.fromstring(descriptions[0].data).iter('link')
    fixed = settings_of('aerial_manipulator.rviz')['Global Options']['Fixed Frame']
    for link in links:
        frame = link.get('name')
        while frame != fixed:
            assert frame in parents, f'{frame} has no transform'
            frame = parents[frame]
