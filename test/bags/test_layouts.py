# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The layouts of Foxglove and Lichtblick: each plot names a field of a message of our nodes."""

from functools import reduce
from importlib import import_module
import json
from pathlib import Path
import re

import pytest
import yaml

pytestmark = pytest.mark.ros
ROOT = Path(__file__).parents[2]
LAYOUTS = sorted((ROOT / 'config' / 'layouts').glob('*.json'))
TOPICS = {
    '/pose': 'geometry_msgs/PoseStamped', '/status': 'liedyn_interfaces/StewartStatus',
    '/joint_states': 'sensor_msgs/JointState',
    '/loop_state_publisher/status': 'liedyn_interfaces/LoopStatus'}


# What Lichtblick 1.28 reads of the settings of a panel, and what its scene draws, by its source.
SETTINGS = {
    '3D': {'cameraState', 'followMode', 'followTf', 'imageMode', 'layers', 'publish', 'scene',
           'topics', 'transforms'},
    'Plot': {'followingViewWidth', 'isSynced', 'legendDisplay', 'paths', 'showLegend',
             'showPlotValuesInLegend', 'showXAxisLabels', 'showYAxisLabels', 'sidebarDimension',
             'title', 'xAxisVal'},
    'DiagnosticSummary': {'hardwareIdFilter', 'minLevel', 'pinnedIds', 'sortByLevel',
                          'topicToRender'}}
DRAWN = {'/markers', '/pose', '/pose_with_covariance', '/reference', '/true_pose',
         '/robot_description'}  # markers, poses, a URDF; no nav_msgs/Odometry


def layout_of(path):
    return json.loads(path.read_text())


def panels(tree):
    """Return the panels of a layout's tree."""
    return [tree] if isinstance(tree, str) else [*panels(tree['first']), *panels(tree['second'])]


@pytest.mark.parametrize('path', LAYOUTS, ids=lambda path: path.stem)
def test_each_panel_has_its_place_and_each_plot_its_field(path):
    layout = layout_of(path)
    assert sorted(panels(layout['layout'])) == sorted(layout['configById'])
    plots = [each for config in layout['configById'].values() for each in config.get('paths', [])]
    assert plots
    for plot in plots:
        topic, _, fields = plot['value'].partition('.')
        package, _, name = TOPICS[topic].partition('/')
        message = getattr(import_module(f'{package}.msg'), name)()
        reduce(getattr, re.sub(r'\[.*\]', '', fields).split('.'), message)


@pytest.mark.parametrize('path', LAYOUTS, ids=lambda path: path.stem)
def test_each_setting_is_read_and_each_topic_of_the_scene_drawn(path):
    layout = layout_of(path)
    assert set(layout) == {'configById', 'globalVariables', 'layout', 'playbackConfig',
                           'userNodes'}
    for panel, config in layout['configById'].items():
        assert set(config) <= SETTINGS[panel.partition('!')[0]]
        assert set(config.get('topics', ())) <= DRAWN


def test_a_platform_has_the_topics_and_the_frame_that_rviz_has():
    layout, = (layout_of(path) for path in LAYOUTS if path.stem == 'stewart')
    scene = layout['configById']['3D!machine']
    rviz = yaml.safe_load((ROOT / 'config' / 'stewart.rviz').read_text())['Visualization Manager']
    assert scene['followTf'] == rviz['Global Options']['Fixed Frame']
    shown = {f"/{each['Topic']['Value'].lstrip('/')}" for each in rviz['Displays']
             if 'Topic' in each}
    assert shown <= set(scene['topics'])
