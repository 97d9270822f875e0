# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The same tree in Pinocchio: the witness of another library."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import Joint, Model, SpatialInertia


@dataclass(frozen=True)
class Twin:
    """
    A Pinocchio model with the joints of a Model in the same order; each body is a frame of it.

    velocity_order[i] is the place in v (or tau, or rows of M) of entry i of Pinocchio's, which has
    a free joint's linear part first. Configurations are the same except for the joints named:
    those have another place, and a continuous joint has a cosine and a sine.
    """

    model: pin.Model
    velocity_order: Array
    joints: tuple[Joint, ...] = ()

    def to_configuration(self, q: Array) -> Array:
        """Return a configuration (nq,) as Pinocchio has it."""
        result = pin.neutral(self.model) if self.joints else q
        for joint in self.joints:
            values = q[joint.q_slice]
            if joint.type_name == 'continuous':
                values = np.array([np.cos(values[0]), np.sin(values[0])])
            at = self.model.joints[self.model.getJointId(joint.name)].idx_q
            result[at:at + len(values)] = values
        return result

    def to_velocity(self, v: Array) -> Array:
        """Return velocities, accelerations or efforts (..., nv) in Pinocchio's order."""
        return v[..., self.velocity_order]

    def from_velocity(self, v: Array) -> Array:
        """Return velocities, accelerations or efforts (..., nv) of Pinocchio in our order."""
        return v[..., np.argsort(self.velocity_order)]


def to_pinocchio(model: Model) -> Twin:
    """Return the twin of a model, built from its joints and not from its link table."""
    twin = pin.Model()
    twin.gravity.linear[:] = model.gravity
    place = {None: (0, pin.SE3.Identity())}  # joint of Pinocchio, pose of the body in it
    order = np.arange(model.nv)
    for body, joint in zip(model.body_list, model.joint_list):
        index, pose = place[joint.parent]
        pose = pose * pin.SE3(joint.placement)
        if joint.type_name != 'fixed':
            index, pose = twin.addJoint(index, _joint(joint), pose, joint.name), pin.SE3.Identity()
        if joint.type_name == 'free':
            order[joint.v_slice] = order[joint.v_slice][[3, 4, 5, 0, 1, 2]]
        if body.inertia is not None:
            twin.appendBodyToJoint(index, _inertia(body.inertia), pose)
        twin.addFrame(pin.Frame(body.name, index, 0, pose, pin.FrameType.BODY))
        place[body.name] = index, pose
    return Twin(twin, order)


def parsed_by_pinocchio(path: Path, model: Model) -> Twin:
    """Return Pinocchio's model of the URDF file from which a model was read."""
    root = [pin.JointModelFreeFlyer()] * (model.joint_list[0].type_name == 'free')
    twin, order = pin.buildModelFromUrdf(str(path), *root), np.empty(model.nv, dtype=int)
    joints = tuple(joint for joint in model.joint_list if joint.type_name != 'fixed')
    for joint in joints:
        other = twin.joints[twin.getJointId(joint.name)]
        place = np.arange(model.nv)[joint.v_slice]
        order[other.idx_v:other.idx_v + other.nv] = (
            place[[3, 4, 5, 0, 1, 2]] if joint.type_name == 'free' else place)
    return Twin(twin, order, joints)


def rates_are_right(model: Model) -> Array:
    """
    Return for which velocity coordinates (nv,) Pinocchio's rates of Jacobians are right.

    Pinocchio 4.1 moves the first axes of a composite joint with all of the joint. Derivatives of
    their columns differ from differences of its own Jacobians.
    """
    return np.array([joint.type_name not in ('universal', 'planar') for joint in model.joint_list
                     for _ in joint.coordinate_names], dtype=bool)


def partial_derivatives_of_both(
        dynamics: Dynamics, twin: Twin, q: Array, v: Array, a: Array,
        ) -> Iterator[tuple[Array, Array]]:
    """Yield ours and Pinocchio's: of inverse dynamics by q and v, of forward dynamics likewise."""
    tau, data = dynamics.inverse(q, v, a), twin.model.createData()
    there = twin.model, data, twin.to_configuration(q), twin.to_velocity(v)
    for ours, theirs in (
            (dynamics.inverse.partial_derivatives(q, v, a)[:2],
             pin.computeRNEADerivatives(*there, twin.to_velocity(a))),
            (dynamics.forward.partial_derivatives(q, v, tau)[1:3],
             pin.computeABADerivatives(*there, twin.to_velocity(tau)))):
        for mine, other in zip(ours, theirs):
            yield mine, twin.from_velocity(twin.from_velocity(other.T).T)


def _joint(joint: Joint) -> pin.JointModel:
    if joint.type_name in ('revolute', 'continuous'):
        return pin.JointModelRevoluteUnaligned(joint.axis)
    if joint.type_name == 'prismatic':
        return pin.JointModelPrismaticUnaligned(joint.axis)
    if joint.type_name == 'helical':
        return pin.JointModelHelicalUnaligned(joint.axis, joint.pitch)
    if joint.type_name == 'spherical':
        return pin.JointModelSpherical()
    if joint.type_name == 'free':
        return pin.JointModelFreeFlyer()
    z, x = joint.axis, joint.second_axis
    parts = {
        'universal': (pin.JointModelRevoluteUnaligned(z), pin.JointModelRevoluteUnaligned(x)),
        'cylindrical': (pin.JointModelRevoluteUnaligned(z), pin.JointModelPrismaticUnaligned(z)),
        'planar': (pin.JointModelPrismaticUnaligned(x),
                   pin.JointModelPrismaticUnaligned(np.cross(z, x)),
                   pin.JointModelRevoluteUnaligned(z))}[joint.type_name]
    composite = pin.JointModelComposite()
    for part in parts:
        composite.addJoint(part)
    return composite


def _inertia(inertia: SpatialInertia) -> pin.Inertia:
    return pin.Inertia(inertia.mass, inertia.center_of_mass, inertia.inertia_about_com)
