# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plugins of Gazebo: those that close a loop become closures, others with forces are named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import re

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.description import short
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.lie import se3
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.configuration import body_poses
from liedyn_ros.model.io.vocabulary import said
from liedyn_ros.model.io.xml_parts import with_leaves
from liedyn_ros.model.parts.geometry import pose

# Words of names and files of plugins that put no force on a link by themselves.
_QUIET = re.compile(
    'control|publish|sensor|camera|imu|laser|lidar|ray|gps|nav_?sat|joint_?state|odom|p3d|contact|'
    'bumper|depth|physics|scene|user_?commands|battery|logger|performer|label|thermal|altimeter|'
    'magnetometer|sonar|markers|trajectory|diff_?drive|skid_?steer|ackermann|planar_?move|'
    'tf_|pose|force_?torque|ft_|select|resource|video|keyboard|occupancy|perfect', re.IGNORECASE)
_CLOSED = re.compile('closed?_?-?loop|loop_?clos', re.IGNORECASE)
SCOPE = 'scope_of_liedyn'  # an attribute: the prefix of the model that holds a plugin


def add_plugins(plugins: Iterable[Element], builder: ModelBuilder, links: Sequence[str],
                model: str, mimics: Sequence[str] = ()) -> None:
    """
    Add the closures of plugins, and a warning for each other that may put forces on links.

    A DetachableJoint is a weld where the file has both links. A plugin for closed loops, with a
    joint, its parent and its child, is a revolute one. model is the name of the whole machine,
    mimics are joints that plugins may couple, as the file does so too.
    """
    others = []
    for plugin in map(with_leaves, plugins):
        file, name, follower = (
            plugin.value.get(key, '') for key in ('filename', 'name', 'mimicJoint'))
        if 'detachable' in f'{file} {name}'.lower().replace('-', ''):
            _add_detachable(plugin, builder, links, model)
        elif _CLOSED.search(f'{file} {name}'):
            _add_closed_loop(plugin, builder, links)
        elif follower:
            if follower not in mimics:
                builder.add_warning(
                    f'plugin {said(plugin.value)}: joint {short(follower)} mimics '
                    f'{short(plugin.value.get("joint"))}: not read: add a coupling by a file for '
                    'annotate, or write the element mimic')
        elif not _QUIET.search(name.rpartition(':')[2]) and not _QUIET.search(file):
            others.append(f'{name} of {file}')
    if others:
        builder.add_warning(f'plugins {listed(others)}: not read: add their forces, or their '
                            'loops by a file for annotate')


def _add_detachable(plugin: Element, builder: ModelBuilder, links: Sequence[str], model: str
                    ) -> None:
    scope, inner, child, parent = (plugin.value.get(key, '') for key in (
        SCOPE, 'child_model', 'child_link', 'parent_link'))
    own = inner in ('', model, '__model__', scope.removesuffix('::').rpartition('::')[2])
    a = _one_of((scope + parent, parent), links)
    b = _one_of((f'{inner}::{child}', f'{scope}{inner}::{child}',
                 *((scope + child, child) if own else ())), links)
    what = (f'plugin {said(plugin.value)}: it fixes {short(child)} of {short(inner)} to '
            f'{short(parent)}')
    if a is None or b is None or a == b:
        builder.add_warning(f'{what}, which are not both of this model: not read')
        return
    poses = body_poses(builder.build().joint_list)
    _close(builder, f'{a}={b}', 'weld', a, b, np.eye(4), se3.compose(
        se3.inverse(poses[b]), poses[a]))
    builder.add_warning(f'{what}: read as a weld, as long as nothing detaches it')


def _add_closed_loop(plugin: Element, builder: ModelBuilder, links: Sequence[str]) -> None:
    """Add a revolute closure at the child, or at a position and rotation in it, about y there."""
    given, name = plugin.value.attrib, said(plugin.value)
    parent, child = (_one_of((given.get(SCOPE, '') + link, link), links)
                     for link in (given.get('parent', ''), given.get('child', '')))
    if parent is None or child is None or parent == child:
        builder.add_warning(f'plugin {name}: it closes a loop: expected the links parent and '
                            f'child, got {short(given.get("parent"))} and '
                            f'{short(given.get("child"))}: add it by a file for annotate')
        return
    at = pose(*(plugin.numbers(key if key in given else other, 3, (0.0, 0.0, 0.0))
                for key, other in (('position', 'xyz'), ('rotation', 'rpy'))))
    axis = plugin.numbers('axis', 3, (0.0, 1.0, 0.0))
    poses = body_poses(builder.build().joint_list)
    between = se3.compose(se3.inverse(poses[parent]), poses[child])
    _close(builder, given.get('joint', name), 'revolute', parent, child,
           se3.compose(between, at), at, axis)
    builder.add_warning(f'plugin {name}: read as a revolute closure of {parent} and '
                        f'{child}, about {list(axis)} of {child} at {at[:3, 3].tolist()}')


def _close(builder: ModelBuilder, name: str, kind: str, a: str, b: str, frame_a: Array,
           frame_b: Array, axis: Sequence[float] | None = None) -> None:
    taken = {closure.name for closure in builder.closures}
    while name in taken:
        name += '_'
    builder.add_closure(name, kind, a, b, placement_a=frame_a, placement_b=frame_b, axis=axis)


def _one_of(names: Iterable[str], links: Sequence[str]) -> str | None:
    return next((name for name in names if name in links), None)
