# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The markers by themselves: their shapes, and the colours of the legs."""

from dataclasses import replace

from builtin_interfaces.msg import Time
import numpy as np
import pytest
from support.bench.pose_bench import FAR, GEOMETRY
from visualization_msgs.msg import Marker

from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.pose.markers import BEYOND, END, MIDDLE, StewartMarkers
from liedyn_ros.stewart import leg_lengths, LegActuators

LIMITS = np.tile([0.3, 0.7], (6, 1))


def markers_of(limits):
    geometry = replace(GEOMETRY, length_limits=limits)
    actuators = LegActuators(geometry.leg_names, np.ones(6), np.zeros(6))
    return StewartMarkers(
        Platform(geometry, np.eye(4), actuators, 'floor', 'plate'))


def colors_of(lengths, limits=LIMITS):
    return [(c.r, c.g, c.b) for c in markers_of(limits).leg_colors(np.array(lengths))]


def test_legs_are_green_in_the_middle_amber_at_the_ends_red_beyond():
    colors = colors_of([0.5, 0.3, 0.7, 0.29, 0.71, 0.4])
    np.testing.assert_allclose(colors[0], MIDDLE, atol=1e-12)
    np.testing.assert_allclose(colors[1:3], [END, END], atol=1e-12)
    np.testing.assert_allclose(colors[3:5], [BEYOND, BEYOND])
    np.testing.assert_allclose(colors[5], np.add(MIDDLE, END) / 2.0, atol=1e-12)


def test_legs_without_limits_are_green():
    colors = colors_of([0.1, 0.5, 1.0, 2.0, 5.0, 9.0], np.tile([0.0, np.inf], (6, 1)))
    np.testing.assert_allclose(colors, [MIDDLE] * 6)


def test_rviz_can_draw_them():
    """Each has a frame, a unit quaternion, a size and as many colours as points, or none."""
    array = markers_of(LIMITS).at(Time(sec=3), FAR, leg_lengths(GEOMETRY, FAR))
    assert [(m.ns, m.type) for m in array.markers] == [
        ('base', Marker.LINE_STRIP), ('platform', Marker.LINE_STRIP),
        ('joints', Marker.SPHERE_LIST), ('legs', Marker.LINE_LIST)]
    for marker in array.markers:
        assert (marker.header.frame_id, marker.header.stamp.sec) == ('floor', 3)
        assert marker.pose.orientation.w == 1.0
        assert marker.scale.x > 0.0
        assert len(marker.colors) in (0, len(marker.points))
        assert marker.color.a == 1.0


@pytest.mark.parametrize(('index', 'joints'), [
    (0, GEOMETRY.base_joints),
    (1, (FAR[:3, :3] @ GEOMETRY.platform_joints.T).T + FAR[:3, 3]),
])
def test_base_and_platform_are_closed_outlines(index, joints):
    outline = markers_of(LIMITS).at(Time(), FAR, leg_lengths(GEOMETRY, FAR)).markers[index]
    points = np.array([[p.x, p.y, p.z] for p in outline.points])
    np.testing.assert_allclose(points, np.concatenate((joints, joints[:1])), atol=1e-12)
