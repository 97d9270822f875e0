# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The markers by themselves: shapes, places, and the colours of the legs."""

from dataclasses import replace

from builtin_interfaces.msg import Time
import numpy as np
import pytest
from scipy.spatial import ConvexHull
from support.bench.pose_bench import FAR, GEOMETRY
from support.platforms.stewart_motion import pose_of
from visualization_msgs.msg import Marker

from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import so3
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.pose.markers import StewartMarkers
from liedyn_ros.ros.messages.conversions import from_pose
from liedyn_ros.stewart import leg_lengths, load_geometry
from liedyn_ros.stewart.input.actuators import LegActuators
from liedyn_ros.stewart.platform.kinematics import leg_ends
from liedyn_ros.stewart.platform.picture import (
    BEYOND_COLOR, END_COLOR, MIDDLE_COLOR, plate, PlatformPicture)

LOW = pose_of((0.01, -0.01, 0.24), (3.0, -2.0, 4.0))  # where the cranks' rods reach
ON_STAGES = pose_of((0.004, -0.003, 0.055), (3.0, -2.0, 4.0))
LIMITS = np.tile([0.3, 0.7], (6, 1))


def markers_of(limits, home=FAR, geometry=GEOMETRY):
    geometry = replace(geometry, length_limits=limits)
    actuators = LegActuators(geometry.leg_names, np.ones(6), np.zeros(6))
    return StewartMarkers(Platform(geometry, home, actuators, 'floor', 'plate'))


def colors_of(lengths, limits=LIMITS):
    geometry = replace(GEOMETRY, length_limits=limits)
    return PlatformPicture(geometry, FAR).colors(np.array(lengths))


def test_legs_are_green_in_the_middle_amber_at_the_ends_red_beyond():
    colors = colors_of([0.5, 0.3, 0.7, 0.29, 0.71, 0.4])
    np.testing.assert_allclose(colors[0], MIDDLE_COLOR, atol=1e-12)
    np.testing.assert_allclose(colors[1:3], [END_COLOR, END_COLOR], atol=1e-12)
    np.testing.assert_allclose(colors[3:5], [BEYOND_COLOR, BEYOND_COLOR])
    np.testing.assert_allclose(colors[5], np.add(MIDDLE_COLOR, END_COLOR) / 2.0, atol=1e-12)


def test_legs_without_limits_are_green():
    colors = colors_of([0.1, 0.5, 1.0, 2.0, 5.0, 9.0], np.tile([0.0, np.inf], (6, 1)))
    np.testing.assert_allclose(colors, [MIDDLE_COLOR] * 6)


def test_rviz_can_draw_them():
    """Each has a frame, a unit quaternion, sizes, and colours that can be seen."""
    array = markers_of(LIMITS).at(Time(sec=3), FAR, leg_lengths(GEOMETRY, FAR))
    assert [(m.ns, m.id, m.type) for m in array.markers] == [
        ('base', 0, Marker.TRIANGLE_LIST), ('platform', 0, Marker.TRIANGLE_LIST),
        ('joints', 0, Marker.SPHERE_LIST), *((part, leg, Marker.CYLINDER)
                                             for part in ('tubes', 'rods') for leg in range(6))]
    for marker in array.markers:
        assert (marker.header.frame_id, marker.header.stamp.sec) == ('floor', 3)
        turn = marker.pose.orientation
        assert abs(np.linalg.norm([turn.x, turn.y, turn.z, turn.w]) - 1.0) < 1e-12
        assert min(marker.scale.x, marker.scale.y, marker.scale.z) > 0.0
        assert marker.color.a == 1.0


def ends_of(cylinder):
    """Return where a cylinder marker ends (2, 3), the lower end first."""
    at, turn = cylinder.pose.position, cylinder.pose.orientation
    up = so3.from_quaternion([turn.x, turn.y, turn.z, turn.w])[:, 2] * cylinder.scale.z / 2.0
    center = np.array([at.x, at.y, at.z])
    return np.stack((center - up, center + up))


@pytest.mark.parametrize('home', [np.eye(4), FAR], ids=['flat', 'far'])
def test_tubes_and_rods_lead_from_joint_to_joint(home):
    legs = markers_of(LIMITS, home).at(Time(), FAR, leg_lengths(GEOMETRY, FAR)).markers[3:]
    base, tips = leg_ends(GEOMETRY, FAR)
    for tube, rod, begin, end in zip(legs[:6], legs[6:], base, tips):
        np.testing.assert_allclose(ends_of(tube)[0], begin, atol=1e-12)
        np.testing.assert_allclose(ends_of(tube)[1], ends_of(rod)[0], atol=1e-12)
        np.testing.assert_allclose(ends_of(rod)[1], end, atol=1e-12)


@pytest.mark.parametrize(('file', 'pose'), [
    ('stewart_cranks.yaml', LOW), ('stewart_hexaglide.yaml', FAR),
    ('stewart_stages.yaml', ON_STAGES)], ids=['cranks', 'rails', 'stages'])
def test_driven_legs_are_drawn_from_their_joint_by_their_drive_to_the_platform(file, pose):
    geometry = load_geometry(config_file(file))
    legs = markers_of(geometry.length_limits, pose, geometry).at(
        Time(), pose, leg_lengths(geometry, pose)).markers[3:]
    ends, tips = leg_ends(geometry, pose)
    for tube, rod, begin, middle, end in zip(
            legs[:6], legs[6:], geometry.base_joints, ends, tips):
        for cylinder, wanted in ((tube, (begin, middle)), (rod, (middle, end))):
            found = ends_of(cylinder)
            if np.linalg.norm(found[0] - wanted[0]) > 1e-6:
                found = found[::-1]
            np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_a_carriage_at_its_joint_has_a_tube_that_rviz_accepts():
    geometry = load_geometry(config_file('stewart_hexaglide.yaml'))
    geometry = replace(geometry, base_joints=leg_ends(geometry, FAR)[0])
    for tube in markers_of(geometry.length_limits, FAR, geometry).at(
            Time(), FAR, leg_lengths(geometry, FAR)).markers[3:9]:
        assert tube.scale.z > 0.0
        assert ends_of(tube).shape == (2, 3)


def test_the_plate_of_the_platform_moves_with_it():
    platform = markers_of(LIMITS).at(Time(), FAR, leg_lengths(GEOMETRY, FAR)).markers[1]
    np.testing.assert_allclose(from_pose(platform.pose), FAR, atol=1e-12)


@pytest.mark.parametrize('order', [
    range(6), range(5, -1, -1), (0, 3, 1, 4, 2, 5)], ids=['ccw', 'clockwise', 'any order'])
def test_a_plate_is_a_closed_body_lit_on_all_sides(order):
    """Its volume, by the divergence theorem, is area times thickness; its faces sum to zero."""
    joints = GEOMETRY.base_joints[list(order)]
    a, b, c = plate(joints, 0.01).reshape(-1, 3, 3).transpose(1, 0, 2)
    np.testing.assert_allclose(np.cross(b - a, c - a).sum(axis=0), 0.0, atol=1e-12)
    hull = ConvexHull(joints[:, :2])
    volume = np.einsum('ij,ij', a, np.cross(b, c)) / 6.0
    np.testing.assert_allclose(volume, 0.01 * hull.volume, rtol=1e-9)
