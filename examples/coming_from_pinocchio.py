# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pinocchio's calls beside those of this package, on one floating robot: they are equal."""

import numpy as np
import pinocchio

from liedyn_ros import Contact, Contacts
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics, Layout, LOCAL, LOCAL_WORLD_ALIGNED, PINOCCHIO, WORLD
from liedyn_ros.dynamics.partial_derivatives import body_jacobian_hessian
from liedyn_ros.identification import Regressor
from liedyn_ros.lie import se3
from liedyn_ros.model import load_model, load_urdf, ModelBuilder, pose, to_urdf

text = to_urdf(load_model(config_file('aerial_manipulator.yaml')))  # or a path of yours
model = load_urdf(text, floating=True)
dynamics = Dynamics(model, dissipation=False)
twin = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
data = twin.createData()
layout = Layout(model, PINOCCHIO)  # its order: joints of one parent by name

rng = np.random.default_rng(1)
q = model.random(rng)
v, a = rng.normal(size=(2, model.nv))
theirs = layout.configuration(q), layout.velocity(q, v), layout.velocity(q, a)
in_v = layout.velocity(q, np.arange(model.nv)).astype(int)  # Pinocchio's rows and columns


def same(ours: np.ndarray, other: np.ndarray) -> bool:
    """Return whether both are equal but for rounding."""
    return np.allclose(ours, other, rtol=1e-9, atol=1e-9)


def changed(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix of velocities in the order of Pinocchio."""
    return matrix[np.ix_(in_v, in_v)]


tau = dynamics.inverse(q, v, a)
assert same(tau[in_v], pinocchio.rnea(twin, data, *theirs))
assert same(dynamics.forward(q, v, tau)[in_v], pinocchio.aba(twin, data, *theirs[:2], tau[in_v]))
upper = np.triu(dynamics.mass_matrix(q)[np.ix_(in_v, in_v)])
assert same(upper, np.triu(pinocchio.crba(twin, data, theirs[0])))
assert same(dynamics.bias(q, v)[in_v], pinocchio.nonLinearEffects(twin, data, *theirs[:2]))
assert same(dynamics.gravity_vector(q)[in_v],
            pinocchio.computeGeneralizedGravity(twin, data, theirs[0]))
coriolis = pinocchio.computeCoriolisMatrix(twin, data, *theirs[:2])
assert same((dynamics.coriolis_matrix(q, v) @ v)[in_v], coriolis @ theirs[1])
assert same(dynamics.center_of_mass(q), pinocchio.centerOfMass(twin, data, theirs[0]))
assert same(dynamics.kinetic_energy(q, v), pinocchio.computeKineticEnergy(twin, data, *theirs[:2]))
assert same(dynamics.potential_energy(q), pinocchio.computePotentialEnergy(twin, data, theirs[0]))

swap = [3, 4, 5, 0, 1, 2]  # of a twist
rows = np.ix_(swap, in_v)
name, frame = 'left_forearm', twin.getFrameId('left_forearm')
pinocchio.computeJointJacobiansTimeVariation(twin, data, *theirs[:2])
pinocchio.forwardKinematics(twin, data, *theirs)
pinocchio.updateFramePlacements(twin, data)
frames = dynamics.frames
assert same(frames.pose(q, name), data.oMf[frame].homogeneous)
for axes, other_axes in ((LOCAL, pinocchio.LOCAL), (WORLD, pinocchio.WORLD),
                         (LOCAL_WORLD_ALIGNED, pinocchio.LOCAL_WORLD_ALIGNED)):
    at = twin, data, frame, other_axes
    assert same(frames.twist(q, v, name, axes), pinocchio.getFrameVelocity(*at).vector[swap])
    assert same(frames.acceleration(q, v, a, name, axes),
                pinocchio.getFrameAcceleration(*at).vector[swap])
    assert same(frames.acceleration(q, v, a, name, axes, classical=True),
                pinocchio.getFrameClassicalAcceleration(*at).vector[swap])
    assert same(frames.jacobian(q, name, axes)[:, in_v], pinocchio.getFrameJacobian(*at)[swap])
    assert same(frames.jacobian_rate(q, v, name, axes)[:, in_v],
                pinocchio.getFrameJacobianTimeVariation(*at)[swap])

pinocchio.centerOfMass(twin, data, *theirs)
for ours, other in zip(dynamics.center_of_mass_motion(q, v, a),
                       (data.com[0], data.vcom[0], data.acom[0])):
    assert same(ours, other)
assert same(dynamics.center_of_mass_jacobian(q)[:, in_v],
            pinocchio.jacobianCenterOfMass(twin, data, theirs[0]))
pinocchio.dccrba(twin, data, *theirs[:2])
assert same(dynamics.centroidal_map(q)[:, in_v], data.Ag[swap])
assert same(dynamics.centroidal_map_rate(q, v)[:, in_v], data.dAg[swap])
assert same(dynamics.centroidal_momentum(q, v),
            pinocchio.computeCentroidalMomentum(twin, data, *theirs[:2]).vector[swap])
assert same(np.triu(dynamics.inverse_mass_matrix(q)[np.ix_(in_v, in_v)]),
            np.triu(pinocchio.computeMinverse(twin, data, theirs[0])))

ours = dynamics.inverse.partial_derivatives(q, v, a)
others = pinocchio.computeRNEADerivatives(twin, data, *theirs)
for block, other in zip((ours.by_q, ours.by_v), others):
    assert same(block[np.ix_(in_v, in_v)], other)
ours = dynamics.forward.partial_derivatives(q, v, tau)
others = pinocchio.computeABADerivatives(twin, data, *theirs[:2], tau[in_v])
for block, other in zip((ours.by_q, ours.by_v), others):
    assert same(block[np.ix_(in_v, in_v)], other)

step = 0.1 * v
assert same(layout.configuration(model.integrate(q, step)),
            pinocchio.integrate(twin, theirs[0], step[in_v]))
assert same(model.difference(model.neutral(), q)[in_v],
            pinocchio.difference(twin, layout.configuration(model.neutral()), theirs[0]))

for ours, of in zip(model.integrate_derivatives(q, step), (pinocchio.ARG0, pinocchio.ARG1)):
    assert same(changed(ours), pinocchio.dIntegrate(twin, theirs[0], step[in_v], of))
start, there = model.neutral(), model.integrate(model.neutral(), step)
ends = layout.configuration(start), layout.configuration(there)
for ours, of in zip(model.difference_derivatives(start, there), (pinocchio.ARG0, pinocchio.ARG1)):
    assert same(changed(ours), pinocchio.dDifference(twin, *ends, of))
assert same(layout.configuration(model.interpolate(start, q, 0.4)),
            pinocchio.interpolate(twin, ends[0], theirs[0], 0.4))

builder = ModelBuilder.of(model)
locked = model.joint(twin.names[2])
there = twin.getJointId(locked.name)
builder.lock_joint(locked.name, q[locked.q_slice])
reduced = pinocchio.buildReducedModel(twin, [there], theirs[0])
mine = Dynamics(builder.build(), dissipation=False)
kept = np.delete(np.arange(model.nq), locked.qi)
assert same(mine.center_of_mass(q[kept]), pinocchio.centerOfMass(
    reduced, reduced.createData(), np.delete(theirs[0], twin.joints[there].idx_q)))

touching = Contacts(model, {'grip': Contact('left_forearm', 'surface')}, dissipation=False)
held = touching.holding(['grip'], q).forward(q, v, tau, closed=False)
grips, their_data = (
    pinocchio.StdVec_RigidConstraintModel(), pinocchio.StdVec_RigidConstraintData())
grips.append(pinocchio.RigidConstraintModel(
    pinocchio.ContactType.CONTACT_6D, twin, twin.frames[frame].parentJoint,
    twin.frames[frame].placement, pinocchio.LOCAL))
their_data.append(grips[0].createData())
pinocchio.initConstraintDynamics(twin, data, grips, their_data)
assert same(held.a[in_v], pinocchio.constraintDynamics(
    twin, data, *theirs[:2], tau[in_v], grips, their_data,
    pinocchio.ProximalSettings(1e-14, 1e-12, 30)))

stopped = touching.impact(touching.holding(['grip'], q), q, v)
rows = pinocchio.computeFrameJacobian(twin, data, theirs[0], frame, pinocchio.LOCAL)
pinocchio.impulseDynamics(twin, data, *theirs[:2], rows, 0.0, 0.0)
assert same(stopped.v[in_v], data.dq_after)

regressor = Regressor(model)
their_bodies = np.concatenate([body.toDynamicParameters() for body in list(twin.inertias)[1:]])
assert same((regressor.torque(q, v, a) @ regressor.parameters)[in_v],
            pinocchio.computeJointTorqueRegressor(twin, data, *theirs) @ their_bodies)

assert same(dynamics.inverse.batch(q[None], v[None], a[None])[0], dynamics.inverse(q, v, a))
assert same(dynamics.forward.batch(q[None], v[None], tau[None])[0], dynamics.forward(q, v, tau))

still = np.zeros(model.nv)
by_q = pinocchio.computeGeneralizedGravityDerivatives(twin, data, theirs[0])
assert same(dynamics.inverse.partial_derivatives(q, still, still).by_q[np.ix_(in_v, in_v)], by_q)
pinocchio.computeForwardKinematicsDerivatives(twin, data, *theirs)
by_q, _ = pinocchio.getFrameVelocityDerivatives(twin, data, frame, pinocchio.LOCAL)
turns = np.einsum('bka,a->kb', body_jacobian_hessian(model, q, name), v)
assert same(turns[:, in_v], by_q[swap])

pinocchio.framesForwardKinematics(twin, data, theirs[0])
at = twin, data, theirs[0], frame
assert same(frames.jacobian(q, name)[:, in_v],
            pinocchio.computeFrameJacobian(*at, pinocchio.LOCAL)[swap])
assert same(dynamics.centroidal_map(q)[:, in_v],
            pinocchio.computeCentroidalMap(twin, data, theirs[0])[swap])

xi, both = 0.5 * rng.normal(size=6), np.ix_(swap, swap)
theirs_there = pinocchio.exp6(pinocchio.Motion(xi[swap]))
assert same(se3.exp(xi), theirs_there.homogeneous)
assert same(se3.log(se3.exp(xi)), pinocchio.log6(theirs_there).vector[swap])
assert same(se3.right_jacobian(xi)[both], pinocchio.Jexp6(pinocchio.Motion(xi[swap])))
assert same(se3.right_jacobian_inverse(xi)[both], pinocchio.Jlog6(theirs_there))

gripping = Dynamics(model.with_frame('gripper', name, pose([0.0, 0.0, 0.1])))
all_poses = gripping.frames.poses(q)  # of all of model.frames, the gripper last
assert same(all_poses[-1], frames.pose(q, name) @ pose([0.0, 0.0, 0.1]))

tool_text = '<robot name="tool"><link name="finger"/></robot>'
builder = ModelBuilder.of(model)
builder.add_payload('load', name, model.body('left_forearm').inertia)
builder.add_model(load_urdf(tool_text), name, prefix='tool_')

print('all calls agree with Pinocchio')
