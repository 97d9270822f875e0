# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg values of every type by root finders of scipy, and platforms of seven legs and more."""

from functools import cache
import math

import numpy as np
from scipy.optimize import brentq, root
from scipy.spatial.transform import Rotation

from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import (
    Crank, load_geometry, OffsetStrut, Rail, SmoothTrajectory, Stage, StewartGeometry, Strut,
    Wire)

# The examples of config/, and how far above its base each is at home, m.
HOMES = {'geometry': 0.5, '6_3': 0.45, 'octahedron': 0.45, 'offset': 0.5, 'hexaglide': 0.55,
         'cranks': 0.24, 'circular_rail': 0.3}
# Legs with forces that are not along the line of their ends.
OTHERS = {'spindles': 0.29, 'wires': 1.2, 'stages': 0.05, 'carried_guides': 0.05}
ALL = HOMES | OTHERS
OF_MORE_LEGS = {'cable_robot': 1.2}


@cache
def geometry_of(name):
    """Return an example's geometry."""
    return load_geometry(config_file(f'stewart_{name}.yaml'))


def example(name):
    """Return an example's geometry and its home pose; or those of nine legs of all types."""
    if name == 'mixed':
        return mixed(), home()
    at = np.eye(4)
    at[2, 3] = (ALL | OF_MORE_LEGS)[name]
    return geometry_of(name), at


def reference_values(geometry, pose):
    """Return the values (n,) of the legs at a pose, each by a separate search."""
    return np.array([
        reference_value(leg, base, pose, joint) for leg, base, joint in zip(
            geometry.leg_types, geometry.base_joints, geometry.platform_joints)])


def reference_value(leg, base, pose, joint):
    """Return the value of one leg."""
    tip = pose[:3, :3] @ joint + pose[:3, 3]
    if isinstance(leg, OffsetStrut):
        return spindle_reading(leg, base, pose, joint)
    if isinstance(leg, Wire):
        return wire_length(leg, tip - base)
    if isinstance(leg, Stage):
        return stage_position(leg, base, pose, joint)
    if isinstance(leg, Rail):
        middle = (tip - base) @ leg.direction
        way = -leg.rod if leg.pushes else leg.rod

        def excess(position):
            return np.linalg.norm(tip - base - position * np.array(leg.direction)) - leg.rod
        return brentq(excess, middle, middle + way, xtol=1e-15, rtol=1e-15)
    if isinstance(leg, Crank):
        return crank_angle(leg, tip - base)
    return np.linalg.norm(tip - base)


def crank_angle(leg, tip):
    """Return the angle at which a crank's pin is a rod away from a tip, of two by its side."""
    zero, side = np.array(leg.zero), np.cross(leg.axis, leg.zero)

    def pin(angle):
        return leg.radius * (math.cos(angle) * zero + math.sin(angle) * side)

    def excess(angle):
        return math.dist(tip, pin(angle)) - leg.rod
    grid = np.linspace(-np.pi, np.pi, 721)
    pins = leg.radius * (np.outer(np.cos(grid), leg.zero) + np.outer(np.sin(grid), side))
    signs, found = np.linalg.norm(tip - pins, axis=1) > leg.rod, []
    for k in np.flatnonzero(signs[1:] != signs[:-1]):
        angle = brentq(excess, grid[k], grid[k + 1], xtol=1e-15, rtol=1e-15)
        ahead = pin(angle + 1e-6) - pin(angle - 1e-6)
        if ((tip - pin(angle)) @ ahead > 0.0) == leg.pushes:
            found.append(angle)
    assert len(found) == 1
    return found[0]


def wire_length(leg, tip):
    """Return how long a wire is from where it arrives at its pulley; tip: seen from there."""
    axis = np.array(leg.axis)
    out = tip - (tip @ axis) * axis
    out /= np.linalg.norm(out)
    middle = leg.radius * out

    def touch(wrap):
        arm = np.cos(wrap) * -out + np.sin(wrap) * axis
        return middle + leg.radius * arm, arm

    def lean(wrap):
        point, arm = touch(wrap)
        return (tip - point) @ arm
    # A quarter of a turn before the direction from the middle, the wire touches at the latest.
    towards = tip - middle
    latest = np.pi - np.arctan2(towards @ axis, towards @ out)
    wrap = brentq(lean, latest - 0.5 * np.pi, latest, xtol=1e-15, rtol=1e-15)
    return leg.radius * wrap + np.linalg.norm(tip - touch(wrap)[0])


def stage_position(leg, base, pose, joint):
    """Return how far a stage is along its direction, by the closure of its vectors."""
    tip = pose[:3, :3] @ joint + pose[:3, 3]
    guide = pose[:3, :3] @ leg.guide if leg.carried else np.array(leg.guide)
    return np.linalg.solve(np.column_stack((leg.direction, leg.other, guide)), tip - base)[0]


def spindle_reading(leg, base, pose, joint):
    """Return the length at which both second axes of a leg are across it, less its screw's."""
    rotation, tip = pose[:3, :3], pose[:3, :3] @ joint + pose[:3, 3]
    ends = [(base, np.array(leg.base_axis), leg.base_offset, tip - base),
            (tip, rotation @ leg.platform_axis, leg.platform_offset, base - tip)]

    def circle(origin, axis, offset, towards):
        """Return the middle, the length and both directions of the circle of an arm's end."""
        zero = towards - (towards @ axis) * axis
        zero /= np.linalg.norm(zero)
        return origin, offset, zero, cross(axis, zero)

    def arm(origin, offset, zero, side, angle):
        c, s = math.cos(angle), math.sin(angle)
        return origin + offset * (c * zero + s * side), c * side - s * zero
    circles = [circle(*end) for end in ends]

    def closure(angles):
        (foot, first), (head, second) = (arm(*each, angle) for each, angle in zip(circles, angles))
        away = head - foot
        return away @ first, away @ second
    angles = root(closure, np.zeros(2), tol=1e-11).x
    assert np.abs(closure(angles)).max() < 1e-10  # the length's error is of its square
    (foot, nut), (head, spindle) = (arm(*each, angle) for each, angle in zip(circles, angles))
    length = np.linalg.norm(head - foot)
    along = (head - foot) / length
    nut, spindle = (np.array((x, cross(along, x), along)).T for x in (nut, -spindle))
    turn = Rotation.from_matrix(spindle @ nut.T).as_rotvec() @ along
    return length - leg.lead * (turn - leg.lead_zero) / (2.0 * np.pi)


def cross(a, b):
    """Return the product of two vectors; numpy's takes ten times as long for one."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))


def poses_about(home, count, seed, turn=0.2, shift=0.04):
    """Return poses (n, 4, 4) about home, turned (rad) and moved (m) at random."""
    rng = np.random.default_rng(seed)
    poses = np.tile(home, (count, 1, 1))
    for pose in poses:
        axis = rng.normal(size=3)
        angle = rng.uniform(0.0, turn)
        x, y, z = np.sin(angle) * axis / np.linalg.norm(axis)
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        pose[:3, :3] = np.eye(3) + cross + cross @ cross / (1.0 + np.cos(angle))
        pose[:3, 3] += rng.uniform(-shift, shift, 3)
    return poses


NOISE = 1e-5  # m


def home():
    """Return the pose at which all of them are far from singular."""
    pose = np.eye(4)
    pose[2, 3] = 0.6
    return pose


def redundant(count, seed=0, noise=NOISE, leg_types=()):
    """Return a platform of irregular hexagons with more corners."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    turned = angles + 0.5 * (-1.0) ** np.arange(count)
    base, platform = (radius * np.stack((np.cos(a), np.sin(a), 0.0 * a), 1)
                      for radius, a in ((0.6, angles), (0.3, turned)))
    base += 0.1 * rng.normal(size=base.shape)
    platform += 0.05 * rng.normal(size=platform.shape)
    limits = [[0.0 if not leg_types or leg_types[k].positive else -np.inf, np.inf]
              for k in range(count)]
    return StewartGeometry(
        tuple(f'leg_{k + 1}' for k in range(count)), base, platform, limits,
        leg_types=leg_types, leg_noise=np.full(count, noise))


def mixed():
    """Return a platform of nine legs: two struts and one or two of each other type."""
    return redundant(9, 3, leg_types=(
        Strut(), OffsetStrut((1.0, 0.2, 0.0), 0.02, (0.3, 1.0, 0.0), 0.015),
        Wire((0.0, 0.0, 1.0), 0.03), Rail((0.0, 0.1, 1.0), 0.9), Strut(),
        Crank((0.3, 1.0, 0.0), (1.0, -0.3, 0.2), 0.2, 0.7),
        OffsetStrut((1.0, 0.0, 0.1), 0.01, (0.0, 1.0, 0.0), 0.01, 0.005, 0.3),
        Rail((0.2, 0.0, 1.0), 0.95, False), Wire((0.1, 0.0, 1.0), 0.02)))


def motion(start, seconds, rate):
    """Return times (n,), s, and poses (n, 4, 4) of a motion in all coordinates, once it runs."""
    times = np.arange(round(seconds * rate)) / rate
    trajectory = SmoothTrajectory(
        start, np.array([0.15, 0.15, 0.2, 0.05, 0.05, 0.05]),
        np.array([0.4, 0.5, 0.3, 0.45, 0.35, 0.6]), np.arange(6.0), 0.1)
    return times, trajectory.pose(1.0 + times)
