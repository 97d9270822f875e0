# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Machines with closed loops, with a state on their constraints."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from support.machines.random_models import add_random_joint, random_inertia, random_pose

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import (
    CLOSURE_TYPES, Joint, JOINT_TYPES, Model, ModelBuilder, pose, SpatialInertia)

SINGLE = ('revolute', 'prismatic', 'helical', 'universal', 'cylindrical', 'planar')
PITCH, LENGTH = 0.3, 0.7


class Looped(NamedTuple):
    """A model and a closed configuration of it."""

    model: Model
    q: Array


def bar(mass: float, length: float) -> SpatialInertia:
    """Return a slender bar along x, with some thickness."""
    return SpatialInertia(mass, [0.5 * length, 0.0, 0.0], mass * np.diag(
        [1e-4, length**2 / 12.0 + 1e-4, length**2 / 12.0 + 1e-4]))


def planar_linkage(left: tuple[float, ...], right: tuple[float, ...], span: float,
                   actuated: tuple[str, ...], closure: str = 'revolute') -> Model:
    """Return two chains of bars whose tips meet, turning about the ground's z, gravity along y."""
    builder = ModelBuilder('linkage', gravity=(0.0, -9.81, 0.0))
    for side, lengths, start in (('left', left, 0.0), ('right', right, span)):
        parent, at = None, start
        for i, length in enumerate(lengths):
            name = f'{side}_{i}'
            builder.add_body(name, bar(1.0 + i, length))
            builder.add_joint(f'{name}_joint', 'revolute', parent, name, axis=[0.0, 0.0, 1.0],
                              placement=pose([at, 0.0, 0.0]), actuated=name in actuated)
            parent, at = name, length
    tips = f'left_{len(left) - 1}', f'right_{len(right) - 1}'
    builder.add_closure('tip', closure, *tips, placement_a=pose([left[-1], 0.0, 0.0]),
                        placement_b=pose([right[-1], 0.0, 0.0]))
    return builder.build()


def four_bar() -> Model:
    """Return a crank, a coupler and a rocker; the crank is driven."""
    return planar_linkage((0.2, 0.5), (0.4,), 0.45, ('left_0',))


def five_bar(*actuated: str) -> Model:
    """Return the five-bar linkage of Kim's section 3, with two cranks driven by default."""
    return planar_linkage((0.3, 0.4), (0.3, 0.4), 0.25, actuated or ('left_0', 'right_0'))


def bennett() -> Looped:
    """Return Bennett's linkage: four skew hinges, one degree of freedom, rank 2 of 5."""
    a, b, alpha = 0.5, 0.3, 0.9
    beta = np.arcsin(b * np.sin(alpha) / a)  # sin(alpha) / a = sin(beta) / b
    builder = ModelBuilder('bennett')
    for i, length in enumerate((a, b, a)):
        builder.add_body(f'link_{i}', bar(1.0 + 0.3 * i, length))
    placements = (np.eye(4), link(a, alpha), link(b, beta))
    for i, placement in enumerate(placements):
        builder.add_joint(f'hinge_{i}', 'revolute', f'link_{i - 1}' if i else None, f'link_{i}',
                          axis=[0.0, 0.0, 1.0], placement=placement, actuated=i == 0)
    # The fourth hinge: from link 2 over its own length to the ground, which is the fourth link.
    builder.add_closure('hinge_3', 'revolute', None, 'link_2',
                        placement_a=np.linalg.inv(link(b, beta)), placement_b=link(a, alpha))
    return Looped(builder.build(), np.array([0.4, 0.6, -0.5]))


def link(length: float, twist: float) -> Array:
    """Return the pose of the next hinge: along x, then turned about it."""
    return pose([length, 0.0, 0.0]) @ pose(rpy=[twist, 0.0, 0.0])


def side_by_side(parts: Sequence[Looped], gear: tuple[str, str, float] | None = None) -> Looped:
    """
    Return machines on one ground, names with the number of each and `_` before.

    Branches come in turn, first those that are first in their machine: so the coordinates of none
    follow each other. gear couples a joint to another with a ratio, as they stand.
    """
    builder = ModelBuilder('side_by_side', gravity=(0.3, -9.81, 0.5))
    branches = [(at, p, joint) for p, part in enumerate(parts)
                for at, joint in _branches(part.model)]
    for _, p, joint in sorted(branches, key=lambda each: each[:2]):
        _add_again(builder, parts[p].model, joint, f'{p}_')
    for p, (model, _) in enumerate(parts):
        for each in model.closures:
            a, b = (body and f'{p}_{body}' for body in (each.body_a, each.body_b))
            builder.add_closure(f'{p}_{each.name}', each.type_name, a, b, pitch=each.pitch,
                                placement_a=each.frame_a, placement_b=each.frame_b,
                                length=each.length)
    model = builder.build()
    q = model.neutral()
    for p, part in enumerate(parts):
        for joint in part.model.joint_list:
            q[model.joint(f'{p}_{joint.name}').q_slice] = part.q[joint.q_slice]
    if gear is not None:
        joint, leader, ratio = gear
        builder.add_coupling(joint, leader, ratio, float(
            q[model.joint(joint).qi] - ratio * q[model.joint(leader).qi]))
    return Looped(builder.build(), q)


def remade(looped: Looped, masses: Array | None = None, unit: float = 1.0) -> Looped:
    """Return a machine whose bodies are so many times as heavy, in a unit of that many metres."""
    model, q = looped.model, looped.q.copy()
    builder = ModelBuilder('remade', gravity=model.gravity / unit)
    factors = np.ones(len(model.body_list)) if masses is None else masses
    for body, joint, factor in zip(model.body_list, model.joint_list, factors):
        own = body.inertia
        builder.add_body(body.name, own and SpatialInertia(
            factor * own.mass, own.center_of_mass / unit,
            factor * own.inertia_about_com / unit**2))
        _add_joint(builder, joint, '', unit)
        if joint.type_name in ('prismatic', 'free', 'planar'):
            q[joint.q_slice][:3] /= unit
    for each in model.closures:
        frames = [frame.copy() for frame in (each.frame_a, each.frame_b)]
        for frame in frames:
            frame[:3, 3] /= unit
        builder.add_closure(each.name, each.type_name, each.body_a, each.body_b,
                            placement_a=frames[0], placement_b=frames[1],
                            pitch=each.pitch / unit, length=each.length / unit)
    for each in model.couplings:  # of angles
        builder.add_coupling(each.joint, each.leader, each.multiplier, each.offset)
    return Looped(builder.build(), q)


def _branches(model: Model) -> list[tuple[int, Joint]]:
    """Return the joints, each with the number of its branch on the ground."""
    branch: dict[str, int] = {}
    for joint in model.joint_list:
        branch[joint.child] = branch.get(joint.parent or '', len(set(branch.values())))
    return [(branch[joint.child], joint) for joint in model.joint_list]


def _add_again(builder: ModelBuilder, model: Model, joint: Joint, prefix: str) -> None:
    """Add a joint of a model and the body that it moves."""
    builder.add_body(prefix + joint.child, model.body(joint.child).inertia)
    _add_joint(builder, joint, prefix)


def _add_joint(builder: ModelBuilder, joint: Joint, prefix: str, unit: float = 1.0) -> None:
    """Add a joint as it is, in a unit of so many metres."""
    kind, placement = JOINT_TYPES[joint.type_name], joint.placement.copy()
    placement[:3, 3] /= unit
    builder.add_joint(
        prefix + joint.name, joint.type_name, joint.parent and prefix + joint.parent,
        prefix + joint.child, placement=placement, pitch=joint.pitch / unit,
        axis=joint.axis if kind.has_axis else None,
        second_axis=joint.second_axis if kind.has_second_axis else None,
        damping=joint.damping, friction=joint.friction, actuated=joint.actuated)


def random_looped(seed: int, closures: tuple[str, ...], joints: int = 8,
                  types: tuple[str, ...] = SINGLE, floating: bool = False,
                  grounded: bool = False) -> Looped:
    """
    Return a random chain with closures of the given types, closed at the configuration given.

    grounded closes every loop to the ground.
    """
    rng = np.random.default_rng(seed)

    def tree(closing: list[tuple]) -> ModelBuilder:
        inner = np.random.default_rng(seed + 1000)
        builder = ModelBuilder(f'looped_{seed}', gravity=inner.normal(size=3) * 5.0)
        parents: list[str | None] = [None]
        if floating:
            builder.add_body('base', random_inertia(inner))
            builder.add_joint('base_joint', 'free', None, 'base')
            parents = ['base']
        for i in range(joints):
            name, kind = f'body_{i}', types[i % len(types)]
            builder.add_body(name, random_inertia(inner))
            add_random_joint(inner, builder, f'{kind}_{i}', kind, parents[-1], name)
            parents.append(name)
        for each in closing:
            name, kind, a, b, frame_a, frame_b = each
            builder.add_closure(name, kind, a, b, placement_a=frame_a, placement_b=frame_b,
                                pitch=PITCH if kind == 'helical' else 0.0,
                                length=LENGTH if kind == 'rod' else 0.0)
        return builder

    open_model = tree([]).build()
    q = open_model.random(rng)
    poses = dict(zip(open_model.bodies, Dynamics(open_model).kinematics(q).poses))
    closing = []
    for i, kind in enumerate(closures):
        high = int(rng.integers(joints // 2, joints))
        a = None if grounded else f'body_{int(rng.integers(0, joints // 2 - 1))}'
        b = f'body_{high}'
        frame_a = random_pose(rng)
        there = (np.eye(4) if a is None else poses[a]) @ frame_a @ freedom(kind, rng)
        closing.append((f'{kind}_{i}', kind, a, b, frame_a, se3.normalize(
            np.linalg.inv(poses[b]) @ there)))
    return Looped(tree(closing).build(), q)


def freedom(kind: str, rng: np.random.Generator) -> Array:
    """Return a random relative pose that a closure leaves free."""
    assert kind in CLOSURE_TYPES
    x, y, z, angle = rng.uniform(-0.6, 0.6, 4)
    turn = random_pose(rng)
    turn[:3, 3] = 0.0
    along = {'revolute': pose(rpy=[0, 0, angle]), 'prismatic': pose([0, 0, z]),
             'helical': pose([0, 0, PITCH * angle], [0, 0, angle]),
             'cylindrical': pose([0, 0, z], [0, 0, angle]),
             'planar': pose([x, y, 0], [0, 0, angle]),
             'universal': pose(rpy=[x, 0, 0]) @ pose(rpy=[0, y, 0]), 'spherical': turn,
             'point_on_line': pose([0, 0, z]) @ turn, 'point_on_plane': pose([x, y, 0]) @ turn,
             'weld': np.eye(4)}
    if kind == 'rod':
        direction = rng.normal(size=3)
        return pose(LENGTH * direction / np.linalg.norm(direction)) @ turn
    return along[kind]
