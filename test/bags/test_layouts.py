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
# Settings of the layouts, with the types that Lichtblick 1.28.1 declares. A kind is a type, a set
# of words, a tuple of types, a list of the type of its items, or settings in a mapping. A mapping
# of one setting '*' has any names.
NUMBER, COLOR = (int, float), re.compile('#[0-9a-f]{8}')
POINT, QUATERNION = (NUMBER,) * 3, (NUMBER,) * 4
CAMERA = {
    'perspective': bool, **dict.fromkeys(
        ('distance', 'phi', 'thetaOffset', 'fovy', 'near', 'far'), NUMBER),
    'target': POINT, 'targetOffset': POINT, 'targetOrientation': QUATERNION}
GRID = {'visible': bool, 'frameLocked': bool, 'label': str, 'instanceId': str,
        'layerId': {'foxglove.Grid'}, 'size': NUMBER, 'divisions': int, 'lineWidth': NUMBER,
        'color': COLOR, 'position': POINT, 'rotation': POINT, 'order': int}
TOPIC = {'visible': bool, 'type': {'axis', 'arrow'}, 'axisScale': NUMBER, 'showCovariance': bool,
         'covarianceColor': COLOR}
PATH = {'value': str, 'enabled': bool, 'timestampMethod': {'receiveTime', 'headerStamp'},
        'label': str}
SETTINGS = {
    '3D': {'cameraState': CAMERA, 'followTf': str,
           'followMode': {'follow-pose', 'follow-position', 'follow-none'},
           'imageMode': {}, 'publish': {},
           'scene': {'transforms': {'showLabel': bool}},
           'transforms': {},
           'layers': {'*': GRID}, 'topics': {'*': TOPIC}},
    'Plot': {'paths': [PATH], 'title': str, 'legendDisplay': {'floating', 'top', 'left', 'none'},
             'xAxisVal': {'timestamp', 'index', 'custom', 'currentCustom'},
             'sidebarDimension': NUMBER, **dict.fromkeys(
                 ('isSynced', 'showLegend', 'showPlotValuesInLegend', 'showXAxisLabels',
                  'showYAxisLabels'), bool)},
    'DiagnosticSummary': {'hardwareIdFilter': str, 'minLevel': int, 'pinnedIds': [str],
                          'sortByLevel': bool, 'topicToRender': str}}
DRAWN = {'/markers', '/pose', '/pose_with_covariance', '/reference', '/true_pose',
         '/robot_description'}  # markers, poses, a URDF; no nav_msgs/Odometry


def layout_of(path):
    return json.loads(path.read_text())


def misfits(value, kind, name=''):
    """Return the names of the settings in a value that are not of their kind."""
    if isinstance(kind, dict):
        inside = {each: kind.get('*', kind.get(each, {'no setting'})) for each in value}
        return [each for key, wanted in inside.items()
                for each in misfits(value[key], wanted, f'{name}/{key}')]
    if isinstance(kind, list):
        return [each for item in value for each in misfits(item, kind[0], name)]
    if isinstance(kind, tuple) and kind != NUMBER:
        fits = len(value) == len(kind) and all(map(isinstance, value, kind))
    elif isinstance(kind, set):
        fits = value in kind
    elif kind is COLOR:
        fits = bool(COLOR.fullmatch(value))
    else:
        fits = isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
    return [] if fits else [name]


def panels(tree):
    """Return the panels of a layout's tree, whose branches are as react-mosaic has them."""
    if isinstance(tree, str):
        return [tree]
    assert set(tree) == {'direction', 'first', 'second', 'splitPercentage'}
    assert tree['direction'] in ('row', 'column')
    assert 0 < tree['splitPercentage'] < 100
    return [*panels(tree['first']), *panels(tree['second'])]


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
def test_each_setting_is_of_the_type_that_is_read_and_each_topic_of_the_scene_drawn(path):
    layout = layout_of(path)
    assert set(layout) == {'configById', 'globalVariables', 'layout', 'playbackConfig',
                           'userNodes'}
    for panel, config in layout['configById'].items():
        assert misfits(config, SETTINGS[panel.partition('!')[0]]) == []
        assert set(config.get('topics', ())) <= DRAWN


def test_a_platform_has_the_topics_and_the_frame_that_rviz_has():
    layout, = (layout_of(path) for path in LAYOUTS if path.stem == 'stewart')
    scene = layout['configById']['3D!machine']
    rviz = yaml.safe_load((ROOT / 'config' / 'stewart.rviz').read_text())['Visualization Manager']
    assert scene['followTf'] == rviz['Global Options']['Fixed Frame']
    shown = {f"/{each['Topic']['Value'].lstrip('/')}" for each in rviz['Displays']
             if 'Topic' in each}
    assert shown <= set(scene['topics'])


@pytest.mark.parametrize(('panel', 'changed', 'name'), [
    ('Plot!age', {'xAxisVal': 'time'}, '/xAxisVal'), ('Plot!age', {'isSynced': 1}, '/isSynced'),
    ('Plot!age', {'color': 'red'}, '/color'),
    ('3D!machine', {'cameraState': {'target': [0.0, 0.0]}}, '/cameraState/target'),
    ('3D!machine', {'topics': {'/pose': {'covarianceColor': 'red'}}},
     '/topics//pose/covarianceColor')])
def test_a_setting_of_another_type_is_found(panel, changed, name):
    assert misfits(changed, SETTINGS[panel.partition('!')[0]]) == [name]
