# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Frames by name, in three axes: beside differences, the motion of bodies, and Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, rate_along
from support.machines.loop_states import EVERY, state
from support.machines.looped_machines import four_bar
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import (
    LiedynError, LimitError, ModelError, NotFiniteError, ShapeError)
from liedyn_ros.dynamics import Dynamics, LOCAL, LOCAL_WORLD_ALIGNED, Names, WORLD
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.partial_derivatives import body_jacobian_rates
from liedyn_ros.dynamics.tree.kernels.joints import LARGEST_ANGLE
from liedyn_ros.lie import se3
from liedyn_ros.model import load_urdf, ModelBuilder, pose, scale_masses, to_urdf
from liedyn_ros.model.kernels.kinds import REVOLUTE

AXES = LOCAL, WORLD, LOCAL_WORLD_ALIGNED
PLACEMENT = pose([0.3, -0.2, 0.5], [0.4, -1.1, 2.0])


@pytest.fixture
def framed(case: Case) -> Case:
    """Return a machine with frames on its last body, on that frame, and on the ground."""
    model = case.model.with_frame('tool', case.model.bodies[-1], PLACEMENT).with_frame(
        'tip', 'tool', PLACEMENT).with_frame('beacon', None, PLACEMENT)
    return case._replace(model=model, dynamics=Dynamics(model, dissipation=False))


def expressed(axes: int, at: Array, body_twist: Array) -> Array:
    """Return a body twist in axes, by matrices."""
    if axes == LOCAL:
        return body_twist
    if axes == WORLD:
        return se3.adjoint(at) @ body_twist
    return np.kron(np.eye(2), at[:3, :3]) @ body_twist


def test_poses_of_bodies_and_of_frames_on_them(framed: Case) -> None:
    frames, bodies = framed.dynamics.frames, framed.dynamics.kinematics(framed.q).poses
    poses = frames.poses(framed.q)
    np.testing.assert_allclose(poses[:len(bodies)], bodies, atol=1e-14)
    np.testing.assert_allclose(poses[-3], bodies[-1] @ PLACEMENT, atol=1e-14)
    np.testing.assert_allclose(poses[-2], bodies[-1] @ PLACEMENT @ PLACEMENT, atol=1e-14)
    np.testing.assert_allclose(poses[-1], PLACEMENT, atol=1e-15)
    for name, wanted in zip(framed.model.frames, poses):
        np.testing.assert_allclose(frames.pose(framed.q, name), wanted, atol=1e-14)
    np.testing.assert_allclose(
        frames.pose(framed.q, framed.model.frames), poses, atol=1e-14)


def test_angles_of_many_turns_place_all_frames_as_one_alone(framed: Case) -> None:
    frames, table, q = framed.dynamics.frames, framed.model.link_table, framed.q.copy()
    q[table.qi[table.kind == REVOLUTE]] += 1e6
    assert np.abs(q).max() > LARGEST_ANGLE
    np.testing.assert_allclose(frames.poses(q), frames.pose(q, framed.model.frames), rtol=1e-12)


def test_a_joint_stands_for_its_child(framed: Case) -> None:
    for joint in framed.model.joint_list:
        np.testing.assert_array_equal(framed.dynamics.frames.pose(framed.q, joint.name),
                                      framed.dynamics.frames.pose(framed.q, joint.child))


def test_twists_are_the_rates_of_poses(framed: Case) -> None:
    frames, names = framed.dynamics.frames, framed.model.frames
    poses = frames.poses(framed.q)
    rates = rate_along(framed, frames.poses)
    for axes in AXES:
        twists = frames.twist(framed.q, framed.v, names, axes)
        for at, rate, twist in zip(poses, rates, twists):
            wanted = expressed(axes, at, se3.vee(se3.inverse(at) @ rate))
            np.testing.assert_allclose(twist, wanted, atol=1e-8)


@pytest.mark.parametrize('axes', AXES)
def test_jacobians_and_rates_give_twists_and_accelerations(framed: Case, axes: int) -> None:
    frames, (q, v, a) = framed.dynamics.frames, framed[2:5]
    for name in framed.model.frames:
        jacobian = frames.jacobian(q, name, axes)
        rate = frames.jacobian_rate(q, v, name, axes)
        assert_same(jacobian @ v, frames.twist(q, v, name, axes), 1e-12, floor=1.0)
        classical = axes == LOCAL_WORLD_ALIGNED
        assert_same(jacobian @ a + rate @ v,
                    frames.acceleration(q, v, a, name, axes, classical=classical),
                    1e-12, floor=1.0)
        wanted = rate_along(framed, lambda at, name=name: frames.jacobian(at, name, axes))
        assert_same(rate, wanted, 1e-7, floor=1.0)


def test_rates_are_those_of_any_order(framed: Case) -> None:
    """The Taylor recursion of body_jacobian_rates is another algorithm."""
    q, v = framed.q, framed.v
    for body in framed.model.bodies:
        wanted = body_jacobian_rates(framed.model, q, [v], body)
        assert_same(framed.dynamics.frames.jacobian(q, body), wanted[0], 1e-12, floor=1.0)
        assert_same(framed.dynamics.frames.jacobian_rate(q, v, body), wanted[1], 1e-12, floor=1.0)


def test_accelerations_of_bodies_and_points(framed: Case) -> None:
    frames, (q, v, a) = framed.dynamics.frames, framed[2:5]
    bodies = framed.dynamics.kinematics(q, v, a).accelerations
    np.testing.assert_allclose(
        frames.acceleration(q, v, a, framed.model.bodies), bodies, atol=1e-11)

    def velocity(at: Array) -> Array:
        return frames.twist(at, v, 'tip', LOCAL_WORLD_ALIGNED)[3:]

    point = rate_along(framed, velocity) + frames.jacobian(q, 'tip', LOCAL_WORLD_ALIGNED)[3:] @ a
    classical = frames.acceleration(q, v, a, 'tip', LOCAL_WORLD_ALIGNED, classical=True)
    np.testing.assert_allclose(classical[3:], point, atol=1e-6)
    local = frames.acceleration(q, v, a, 'tip', classical=True)
    np.testing.assert_allclose(
        frames.pose(q, 'tip')[:3, :3] @ local[3:], classical[3:], atol=1e-11)


def test_several_frames_in_one_call_are_each_alone(framed: Case) -> None:
    frames, (q, v, a), names = framed.dynamics.frames, framed[2:5], ('tip', 0, 'beacon', 'tool')
    for axes in AXES:
        for call in (lambda which: frames.jacobian(q, which, axes),
                     lambda which: frames.jacobian_rate(q, v, which, axes),
                     lambda which: frames.acceleration(q, v, a, which, axes)):
            together = call(names)
            for name, result in zip(names, together):
                np.testing.assert_array_equal(call(name), result)
    out = np.empty((6, framed.model.nv))
    assert frames.jacobian(q, 'tip', WORLD, out) is out
    np.testing.assert_array_equal(out, frames.jacobian(q, 'tip', WORLD))


def test_batches_are_each_state_alone(framed: Case) -> None:
    frames, rng = framed.dynamics.frames, framed.rng
    states = np.array([framed.model.random(rng) for _ in range(4)])
    for q, poses in zip(states, frames.poses_batch(states)):
        np.testing.assert_array_equal(poses, frames.poses(q))
    for axes in AXES:
        for q, jacobian in zip(states, frames.jacobian_batch(states, 'tip', axes)):
            np.testing.assert_array_equal(jacobian, frames.jacobian(q, 'tip', axes))
    assert frames.poses_batch(states[:0]).shape == (0, len(framed.model.frames), 4, 4)
    with refused(ShapeError, 'q'):
        frames.jacobian_batch(states[0], 'tip')
    with refused(LiedynError, 'axes'):
        frames.jacobian_batch(states, 'tip', 7)
    states[2, 0] = np.nan
    for call in (frames.poses_batch, lambda q: frames.jacobian_batch(q, 'tip')):
        with refused(NotFiniteError, 'q[2]', indices=(0,)):
            call(states)


def test_wrenches_at_frames_act_by_their_jacobians(framed: Case) -> None:
    d, (q, v, a) = framed.dynamics, framed[2:5]
    wrench = framed.rng.normal(size=6)
    for axes in AXES:
        external = d.frames.external(q, {'tip': wrench, 0: 2.0 * wrench}, axes)
        wanted = d.inverse(q, v, a) - sum(
            factor * d.frames.jacobian(q, name, axes).T @ wrench
            for name, factor in (('tip', 1.0), (framed.model.bodies[0], 2.0)))
        assert_same(d.inverse(q, v, a, external), wanted, 1e-11, floor=1.0)
    bodies = Names(framed.model).wrenches({framed.model.bodies[0]: wrench})
    np.testing.assert_allclose(
        d.frames.external(q, {framed.model.bodies[0]: wrench}), bodies, atol=1e-13)
    with refused(ModelError, 'frame beacon'):
        d.frames.external(q, {'beacon': wrench})


def test_pinocchio(framed: Case) -> None:
    pin = pytest.importorskip('pinocchio')
    witness = pytest.importorskip('support.witnesses.pinocchio_twin')
    twin = witness.to_pinocchio(framed.model)
    right = witness.rates_are_right(framed.model)[twin.velocity_order]
    frames, (q, v, a), other = framed.dynamics.frames, framed[2:5], twin.model
    parent = other.frames[other.getFrameId(framed.model.bodies[-1])]
    tool = other.addFrame(pin.Frame('tool', parent.parentJoint, 0, parent.placement * pin.SE3(
        PLACEMENT), pin.FrameType.OP_FRAME))
    data = other.createData()
    pq, pv, pa = twin.to_configuration(q), twin.to_velocity(v), twin.to_velocity(a)
    pin.computeJointJacobiansTimeVariation(other, data, pq, pv)
    pin.forwardKinematics(other, data, pq, pv, pa)
    pin.updateFramePlacements(other, data)
    assert_same(frames.pose(q, 'tool'), data.oMf[tool].homogeneous, 1e-10)
    swap = [3, 4, 5, 0, 1, 2]
    for axes, theirs in ((LOCAL, pin.LOCAL), (WORLD, pin.WORLD),
                         (LOCAL_WORLD_ALIGNED, pin.LOCAL_WORLD_ALIGNED)):
        assert_same(frames.twist(q, v, 'tool', axes),
                    pin.getFrameVelocity(other, data, tool, theirs).vector[swap], 1e-10)
        for classical, call in ((False, pin.getFrameAcceleration),
                                (True, pin.getFrameClassicalAcceleration)):
            assert_same(frames.acceleration(q, v, a, 'tool', axes, classical=classical),
                        call(other, data, tool, theirs).vector[swap], 1e-10)
        assert_same(twin.to_velocity(frames.jacobian(q, 'tool', axes)),
                    pin.getFrameJacobian(other, data, tool, theirs)[swap], 1e-10, floor=1.0)
        rate = pin.getFrameJacobianTimeVariation(other, data, tool, theirs)[swap]
        assert_same(twin.to_velocity(frames.jacobian_rate(q, v, 'tool', axes))[:, right],
                    rate[:, right], 1e-10, floor=1.0)


def test_a_urdf_has_frames_as_links() -> None:
    text = to_urdf(load_urdf(URDF).with_frame('tip', 'hand', PLACEMENT).with_frame('post', None))
    again = load_urdf(text)
    assert {'tip', 'post'} <= set(again.bodies)
    ours = Dynamics(load_urdf(URDF).with_frame('tip', 'hand', PLACEMENT)).frames
    np.testing.assert_allclose(Dynamics(again).frames.pose([0.4], 'tip'),
                               ours.pose([0.4], 'tip'), atol=1e-12)


def test_closed_loops_have_frames() -> None:
    model = four_bar().with_frame('pen', four_bar().bodies[-1], PLACEMENT)
    loop, q = ConstrainedDynamics(model), model.neutral()
    np.testing.assert_allclose(
        loop.frames.pose(q, 'pen'), loop.tree.kinematics(q).poses[-1] @ PLACEMENT, atol=1e-14)


@pytest.mark.parametrize('name', ['revolute', 'rod', 'balls', 'floating'])
def test_wrenches_of_closures_in_axes_of_the_ground_do_the_same_work(name: str) -> None:
    loop, q, v, (tau, _), *_ = state(EVERY[name])
    found, frames, model = loop.forward(q, v, tau), loop.frames, loop.model
    closed = np.zeros(model.nv)
    for closure, wrench in zip(model.closures, frames.closure_wrenches(q, found.wrenches, WORLD)):
        for body, sign in ((closure.body_b, 1.0), (closure.body_a, -1.0)):
            if body is not None:
                closed += sign * frames.jacobian(q, body, WORLD).T @ wrench
    assert_same(closed, loop.jacobian(q).T @ found.multipliers, 1e-10)
    aligned = frames.closure_wrenches(q, found.wrenches)
    for closure, wrench, there in zip(model.closures, found.wrenches, aligned):
        at = closure.frame_b
        if closure.body_b is not None:
            at = frames.pose(q, closure.body_b) @ at
        assert_same(there, np.kron(np.eye(2), at[:3, :3]) @ wrench, 1e-12)
    assert_same(frames.closure_wrenches(q, found.wrenches, LOCAL), found.wrenches, 0.0)


def test_names_are_refused_with_the_nearest(framed: Case) -> None:
    frames, model, q = framed.dynamics.frames, framed.model, framed.q
    for wrong in ('tol', ['tip', 'tol']):
        with refused(ModelError, 'tol'):
            frames.pose(q, wrong)
    with refused(ModelError, '1000', got=1000):
        frames.jacobian(q, 1000)
    for wrong in (None, 2.5, object()):
        with refused(ModelError, str(wrong), got=wrong):
            frames.pose(q, wrong)
    with refused(ModelError, "['tip', 'tool']"):
        frames.jacobian_batch(q[None], ['tip', 'tool'])
    with refused(ModelError, "['tip']"):
        model.frame_index(['tip'])
    with pytest.raises(LiedynError):
        frames.poses_batch([q, q[1:]])
    with refused(ModelError, 'frame tool'):
        model.with_frame('tool', model.bodies[0])
    with refused(ModelError, 'nobody'):
        model.with_frame('other', 'nobody')


def test_axes_have_the_numbers_of_pinocchio() -> None:
    pin = pytest.importorskip('pinocchio')
    assert AXES == (int(pin.LOCAL), int(pin.WORLD), int(pin.LOCAL_WORLD_ALIGNED))


def test_axes_and_shapes_are_checked(framed: Case) -> None:
    frames, q, v = framed.dynamics.frames, framed.q, framed.v
    for axes in (3, -1, 'WORLD', None):
        for call in (lambda: frames.jacobian(q, 'tip', axes),
                     lambda: frames.twist(q, v, 'tip', axes),
                     lambda: frames.external(q, {'tip': v[:6]}, axes)):
            with refused(LiedynError, 'axes'):
                call()
    frames.jacobian(q, 'tip')
    for out in (np.empty((6, framed.model.nv + 1)), np.empty((3, framed.model.nv)), q):
        with refused(ShapeError, 'out'):
            frames.jacobian(q, 'tip', out=out)
    with refused(ShapeError, 'v'):
        frames.twist(q, v[1:], 'tip')
    np.testing.assert_array_equal(frames.twist(q, list(v), 'tip'), frames.twist(q, v, 'tip'))
    with refused(LimitError, 'q', 'v', 'a'):
        frames.acceleration(q, 1e200 * v, v, framed.model.frames)


def test_models_keep_their_frames(framed: Case) -> None:
    for model in (ModelBuilder.of(framed.model).build(), scale_masses(framed.model, 2.0),
                  replace(framed.model)):
        np.testing.assert_allclose(Dynamics(model).frames.poses(framed.q),
                                   framed.dynamics.frames.poses(framed.q), atol=1e-14)


URDF = """<robot name="arm"><link name="base"/><link name="hand"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="hand"/>
<axis xyz="0 0 1"/><origin xyz="0 0.2 1"/></joint></robot>"""
