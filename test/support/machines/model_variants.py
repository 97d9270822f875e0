# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Models that differ from others by joints, and where these are in the link table."""

from dataclasses import replace
from math import factorial
from pathlib import Path

import numpy as np
from scipy.linalg import expm
from support.witnesses.complex_step import hat
from support.witnesses.link_kinematics import body_poses, unpack
from transforms3d.euler import mat2euler
import yaml

from liedyn_ros.model import JOINT_TYPES, Limits, Model, ModelBuilder
from liedyn_ros.model.expansion import expand


def sprung(model: Model, seed: int = 0, stiffness: float = 30.0, armature: float = 3.0,
           stops: bool = True) -> Model:
    """Return the model with a random spring, stops and armature at each coordinate of one axis."""
    rng, joints = np.random.default_rng(seed), []
    for joint in model.joint_list:
        spec = JOINT_TYPES[joint.type_name]
        one, bounded = float(spec.nq == spec.nv), stops and spec.has_bounds and spec.nq == spec.nv
        limits = Limits(
            *rng.uniform([[-0.6], [0.1]], [[-0.1], [0.6]], (2, spec.nv)), joint.limits.velocity,
            joint.limits.effort, nv=spec.nv) if bounded else joint.limits
        joints.append(replace(
            joint, stiffness=one * rng.uniform(0.0, stiffness, spec.nv),
            rest=one * rng.normal(size=spec.nv),
            armature=one * rng.uniform(0.0, armature, spec.nv), limits=limits,
            stop_stiffness=bounded * rng.uniform(0.0, stiffness, spec.nv),
            stop_width=rng.uniform(0.2, 0.6, spec.nv)))
    return replace(model, joint_list=tuple(joints),
                   link_table=expand(model.body_list, joints, model.gravity))


def spring_series(model: Model, q, rates) -> np.ndarray:
    """
    Return the forces of springs and stops, and their time derivatives along rates v, v', ...

    Those of the stops are numerical: Cauchy's integral about t = 0 of the forces at complex times.
    """
    table, orders = model.link_table, len(rates) + 1
    stiffness, width, lower, upper = table.stops.T
    width = np.where(stiffness > 0.0, width, 1.0)
    size = np.max([np.abs(rate).max(initial=0.0) ** (1.0 / (k + 1)) for k, rate in enumerate(
        rates)], initial=1.0)
    points = 0.3 / size * np.exp(2j * np.pi * np.arange(64) / 64)
    at = q[table.position_at] + sum(
        np.outer(points ** (k + 1) / factorial(k + 1), rate) for k, rate in enumerate(rates))
    above, below = np.exp((at - upper) / width), np.exp((lower - at) / width)
    forces = stiffness * width * (np.log(1.0 + above) * above / (1.0 + above)
                                  - np.log(1.0 + below) * below / (1.0 + below))
    result = np.array([factorial(k) * (forces / points[:, None] ** k).mean(axis=0).real
                       for k in range(orders)])
    return result + np.vstack([table.stiffness * (q[table.position_at] - table.rest),
                               *(table.stiffness * rate for rate in rates)])


def rebuilt(model: Model, changed: str, **options) -> Model:
    """Return the model with a joint that differs."""
    builder = ModelBuilder(model.name, gravity=model.gravity)
    for body in model.body_list:
        builder.add_body(body.name, body.inertia)
    for joint in model.joint_list:
        spec = JOINT_TYPES[joint.type_name]
        given = {'placement': joint.placement, 'damping': joint.damping,
                 'friction': joint.friction, 'stiffness': joint.stiffness, 'rest': joint.rest,
                 'armature': joint.armature, 'stop_width': joint.stop_width,
                 'stop_stiffness': joint.stop_stiffness,
                 'limits': {name: getattr(joint.limits, name) for name in (
                     'lower', 'upper') if spec.has_bounds}}
        if spec.has_axis:
            given['axis'] = joint.axis
        if spec.has_second_axis:
            given['second_axis'] = joint.second_axis
        if joint.type_name == 'helical':
            given['pitch'] = joint.pitch
        builder.add_joint(joint.name, joint.type_name, joint.parent, joint.child,
                          **{**given, **(options if joint.name == changed else {})})
    return builder.build()


def turned(w, axis):
    """Return an axis turned by a rotation vector."""
    return exp(np.concatenate([w, np.zeros(3)]))[:3, :3] @ axis


def exp(x):
    """Return the exponential of a twist by scipy."""
    return expm(hat(x))


def placed_turn(joint, link: int, model: Model):
    """Return the rotation from a joint's frame to its first link's, by poses at zero."""
    table, neutral = model.link_table, model.neutral()
    poses = body_poses(table, neutral)
    parent = np.eye(4) if joint.parent is None else poses[model.body_index(joint.parent)]
    chain, at = np.eye(4), link
    while at >= 0:
        chain, at = unpack(table.placement[at]) @ chain, table.parent[at]
    return (np.linalg.inv(parent @ joint.placement) @ chain)[:3, :3]


def write_yaml(model: Model, path: Path) -> Path:
    """Write bodies and joints and return the path."""
    path.write_text(yaml.safe_dump({
        'format': 1, 'name': model.name, 'gravity': model.gravity.tolist(),
        'bodies': {body.name: _body(body.inertia) for body in model.body_list},
        'joints': {joint.name: _joint(joint) for joint in model.joint_list}}, sort_keys=False))
    return path


def _body(inertia):
    if inertia is None:
        return {'mass': 0.0}
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.inertia_about_com.tolist()
    return {'mass': float(inertia.mass), 'center_of_mass': inertia.center_of_mass.tolist(),
            'inertia': {'xx': xx, 'yy': yy, 'zz': zz, 'xy': xy, 'xz': xz, 'yz': yz}}


def _joint(joint):
    spec = JOINT_TYPES[joint.type_name]
    entry = {
        'type': joint.type_name, 'parent': joint.parent, 'child': joint.child,
        'placement': [{'xyz': joint.placement[:3, 3].tolist()},
                      {'rpy': [float(angle) for angle in mat2euler(joint.placement[:3, :3])]}],
        'limits': {key: getattr(joint.limits, key).tolist()
                   for key in ('lower', 'upper', 'velocity', 'effort')},
        'damping': joint.damping.tolist(), 'friction': joint.friction.tolist()}
    if spec.has_axis:
        entry['axis'] = joint.axis.tolist()
    if spec.has_second_axis:
        entry['second_axis'] = joint.second_axis.tolist()
    if joint.pitch:
        entry['pitch'] = float(joint.pitch)
    return entry
