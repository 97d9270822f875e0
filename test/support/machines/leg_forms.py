# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg values of every form by scipy's root finders: none of the package's formulas is used."""


import numpy as np
from scipy.optimize import brentq, root

from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import load_geometry
from liedyn_ros.stewart.platform.leg_types import Crank, OffsetStrut, Rail

# The examples of config/, and how far above its base each is at home, m.
HOMES = {'6_3': 0.45, 'octahedron': 0.45, 'offset': 0.5, 'hexaglide': 0.55, 'cranks': 0.24}


def example(name):
    """Return an example's geometry and its home pose."""
    home = np.eye(4)
    home[2, 3] = HOMES[name]
    return load_geometry(config_file(f'stewart_{name}.yaml')), home


def reference_values(geometry, pose):
    """Return the values (6,) of the legs at a pose, each by a separate search."""
    return np.array([
        reference_value(form, base, pose, joint) for form, base, joint in zip(
            geometry.leg_types, geometry.base_joints, geometry.platform_joints)])


def reference_value(form, base, pose, joint):
    """Return the value of one leg."""
    tip = pose[:3, :3] @ joint + pose[:3, 3]
    if isinstance(form, OffsetStrut):
        return offset_length(form, base, pose, joint)
    if isinstance(form, Rail):
        middle = (tip - base) @ form.direction
        way = -form.rod if form.pushes else form.rod

        def excess(position):
            return np.linalg.norm(tip - base - position * np.array(form.direction)) - form.rod
        return brentq(excess, middle, middle + way, xtol=1e-15, rtol=1e-15)
    if isinstance(form, Crank):
        return crank_angle(form, tip - base)
    return np.linalg.norm(tip - base)


def crank_angle(form, tip):
    """Return the angle at which a crank's pin is a rod away from a tip, of two by its side."""
    side = np.cross(form.axis, form.zero)

    def pin(angle):
        return form.radius * (np.cos(angle) * np.array(form.zero) + np.sin(angle) * side)

    def excess(angle):
        return np.linalg.norm(tip - pin(angle)) - form.rod
    grid = np.linspace(-np.pi, np.pi, 721)
    pins = form.radius * (np.outer(np.cos(grid), form.zero) + np.outer(np.sin(grid), side))
    signs, found = np.linalg.norm(tip - pins, axis=1) > form.rod, []
    for k in np.flatnonzero(signs[1:] != signs[:-1]):
        angle = brentq(excess, grid[k], grid[k + 1], xtol=1e-15, rtol=1e-15)
        ahead = pin(angle + 1e-6) - pin(angle - 1e-6)
        if ((tip - pin(angle)) @ ahead > 0.0) == form.pushes:
            found.append(angle)
    assert len(found) == 1
    return found[0]


def offset_length(form, base, pose, joint):
    """Return the length at which both second axes of a leg are across it."""
    rotation, tip = pose[:3, :3], pose[:3, :3] @ joint + pose[:3, 3]
    ends = [(base, np.array(form.base_axis), form.base_offset, tip - base),
            (tip, rotation @ form.platform_axis, form.platform_offset, base - tip)]

    def arm(origin, axis, offset, towards, angle):
        zero = towards - (towards @ axis) * axis
        zero /= np.linalg.norm(zero)
        along = np.cos(angle) * zero + np.sin(angle) * np.cross(axis, zero)
        return origin + offset * along, np.cross(axis, along)

    def closure(angles):
        (foot, first), (head, second) = (arm(*end, angle) for end, angle in zip(ends, angles))
        return np.array([(head - foot) @ first, (head - foot) @ second])
    angles = root(closure, np.zeros(2), tol=1e-11).x
    assert np.abs(closure(angles)).max() < 1e-10  # the length's error is of its square
    (foot, _), (head, _) = (arm(*end, angle) for end, angle in zip(ends, angles))
    return np.linalg.norm(head - foot)


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
