# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every derivative of first order beside complex steps, on machines with every type of joint."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import make_case
from support.machines.model_variants import exp, placed_turn, rebuilt, turned
from support.refusals import refused
from support.witnesses.complex_step import along, ComplexTree, hat
from support.witnesses.tangents import difference, SHORT

from liedyn_ros.common.errors import ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification import Regressor
from liedyn_ros.model import JOINT_TYPES

TOLERANCE = 1e-9  # of the largest entry


@pytest.fixture(scope='module',
                params=((0, False, True, False), (1, True, True, False), (2, True, True, True)),
                ids=('fixed', 'floating', 'springs'))
def damped(request):
    """Return a machine with damping and friction."""
    return make_case(*request.param)


@pytest.fixture(scope='module')
def tree(damped):
    """Return the same in complex arithmetic."""
    return ComplexTree(damped.model, damped.q)


def test_the_witness_has_the_same_dynamics(damped, tree) -> None:
    d, state, w = damped.dynamics, (damped.q, damped.v), damped.external
    tau = d.inverse(*state, damped.a, w)
    assert_same(tree.inverse(damped.v, damped.a, w).real, tau, 1e-12)
    assert_same(tree.forward(damped.v, tau, w).real, damped.a, 1e-9)


def test_inverse(damped, tree) -> None:  # (Kim Table 5)
    v, a, w, units = damped.v, damped.a, damped.external, np.eye(damped.model.nv)
    got = damped.dynamics.inverse.partial_derivatives(damped.q, v, a, w)
    for k, e in enumerate(units):
        assert_same(got.by_q[:, k], along(lambda s, e=e: tree.inverse(v, a, w, s * e)))
        assert_same(got.by_v[:, k], along(lambda s, e=e: tree.inverse(v + s * e, a, w)))
        assert_same(got.by_a[:, k], along(lambda s, e=e: tree.inverse(v, a + s * e, w)))


def test_products(damped, tree) -> None:
    d, v, a, w = damped.dynamics, damped.v, damped.a, damped.external
    x, y, z, weights = damped.rng.normal(size=(4, damped.model.nv))
    partial, state = d.inverse.partial_derivatives, (damped.q, v, a)
    wanted = along(lambda s: tree.inverse(v + s * y, a + s * z, w, s * x))
    assert_same(partial.product(*state, x, y, z, w), wanted, 1e-12)
    by_q, by_v, by_a = partial.gradient(*state, weights, w)
    assert by_q @ x + by_v @ y + by_a @ z == pytest.approx(weights @ wanted, rel=1e-11)


def test_forward_and_hybrid(damped, tree) -> None:  # (Kim Table 6, 7)
    d, v, w, n = damped.dynamics, damped.v, damped.external, damped.model.nv
    tau = d.inverse(damped.q, v, damped.a, w)
    which = np.arange(n) % 3 == 0
    forward = d.forward.partial_derivatives(damped.q, v, tau, w)
    hybrid = d.hybrid.partial_derivatives(damped.q, v, which, damped.a, tau, w)
    gradient = d.forward.partial_derivatives.gradient(damped.q, v, tau, damped.a, w)
    for _ in range(3):
        x, y, z = damped.rng.normal(size=(3, n))
        wanted = along(lambda s: tree.forward(v + s * y, tau + s * z, w, s * x))
        assert_same(forward.by_q @ x + forward.by_v @ y + forward.by_tau @ z, wanted)
        assert_same(d.forward.partial_derivatives.product(damped.q, v, tau, x, y, z, w), wanted)
        gained = gradient.by_q @ x + gradient.by_v @ y + gradient.by_tau @ z
        assert gained == pytest.approx(damped.a @ wanted, rel=TOLERANCE)
        # A change of the given forces by what keeps the prescribed accelerations.
        moved = hybrid.a_by_q @ x + hybrid.a_by_v @ y + hybrid.a_by_given @ z
        forces = hybrid.tau_by_q @ x + hybrid.tau_by_v @ y + hybrid.tau_by_given @ z
        wanted = along(lambda s: tree.forward(v + s * y, tau + s * forces, w, s * x))
        assert_same(moved, wanted)
        np.testing.assert_allclose(moved[which], z[which], rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(forces[~which], z[~which], rtol=0.0, atol=1e-9)


def test_gravity_and_wrenches_that_keep_still(damped) -> None:
    d, v, a, w, tree = (damped.dynamics, damped.v, damped.a, damped.external,
                        ComplexTree(damped.model, damped.q))
    partial, units = d.inverse.partial_derivatives, np.eye(damped.model.nv)
    gravity, forward = tree.gravity.copy(), d.forward.partial_derivatives
    tau = d.inverse(damped.q, v, a, w)
    for k, e in enumerate(np.eye(3)):
        def pulled(s, e=e):
            tree.gravity = gravity + s * e
            return tree.inverse(v, a, w)
        assert_same(partial(damped.q, v, a, w).by_gravity[:, k], along(pulled))
    tree.gravity = gravity
    x = damped.rng.normal(size=damped.model.nv)
    for held, at_body in (('ground', False), ('direction', True)):
        tree.held = held
        by_q = (partial(damped.q, v, a, w).by_q
                + partial.by_world_fixed_wrenches(damped.q, w, at_body=at_body))
        assert_same(by_q, np.transpose([
            along(lambda s, e=e: tree.inverse(v, a, w, s * e)) for e in units]))
        found = forward(damped.q, v, tau, w)
        by_q = found.by_q + found.by_parameters(
            partial.by_world_fixed_wrenches(damped.q, w, at_body=at_body))
        assert_same(by_q @ x, along(lambda s: tree.forward(v, tau, w, s * x)))
    with refused(ShapeError, 'external'):
        partial.by_world_fixed_wrenches(damped.q, w[1:])


def test_hybrid_by_parameters(damped) -> None:
    """By gravity and by placements: beside forward dynamics under the forces that hybrid finds."""
    d, q, v, a, w = damped.dynamics, damped.q, damped.v, damped.a, damped.external
    which, tree = np.arange(damped.model.nv) % 3 == 0, ComplexTree(damped.model, damped.q)
    tau, x = d.inverse(q, v, a, w), damped.rng.normal(size=3)
    own, gravity = d.inverse.partial_derivatives, tree.gravity
    hybrid = d.hybrid.partial_derivatives(q, v, which, a, tau, w)
    moved, forces = hybrid.by_parameters(own(q, v, a, w).by_gravity @ x)

    def pulled(s):
        tree.gravity = gravity + s * x
        return tree.forward(v, tau + s * forces, w)
    assert_same(moved, along(pulled))
    np.testing.assert_allclose(moved[which], 0.0, rtol=0.0, atol=TOLERANCE)
    assert not forces[~which].any()
    placements = own.by_kinematics(q, v, a, w).by_placement
    moved, forces = hybrid.by_parameters(placements)
    assert moved.shape == forces.shape == placements.shape
    assert_same(np.tensordot(d.mass_matrix(q), moved, 1) + placements, forces)


def test_placements(damped) -> None:
    """The placement of a joint is that of its first link, turned to its axis."""
    model, v, a, w = damped.model, damped.v, damped.a, damped.external
    got = damped.dynamics.inverse.partial_derivatives.by_kinematics(damped.q, v, a, w)
    tree = ComplexTree(model, damped.q)
    moving = [(j, joint) for j, joint in enumerate(model.joint_list)
              if joint.type_name != 'fixed']  # those are beside differences, below
    for j, joint in moving:
        x = damped.rng.normal(size=6)
        link = next(i for i in range(model.link_table.N)
                    if joint.v_slice.start <= model.link_table.vi[i] < joint.v_slice.stop)
        place = tree.placement[link].copy()
        turn = np.eye(4)  # of the link's frame in the joint's: what the placement ends in
        turn[:3, :3] = placed_turn(joint, link, model)

        def moved(s, link=link, place=place, turn=turn, x=x):
            tree.placement[link] = place @ turn.T @ (np.eye(4) + hat(s * x)) @ turn
            return tree.inverse(v, a, w)
        assert_same(got.by_placement[:, j] @ x, along(moved))
        tree.placement[link] = place


def test_placements_axes_and_pitches_beside_models_that_differ(damped) -> None:
    model, v, a, w = damped.model, damped.v, damped.a, damped.external
    got = damped.dynamics.inverse.partial_derivatives.by_kinematics(damped.q, v, a, w)

    def changed(joint, **options):
        return Dynamics(rebuilt(model, joint.name, **options)).inverse(damped.q, v, a, w)

    for j, joint in enumerate(model.joint_list):
        spec, x = JOINT_TYPES[joint.type_name], damped.rng.normal(size=6)
        wanted = difference(lambda s: changed(
            joint, placement=joint.placement @ exp(s * x)), stencil=SHORT)
        assert_same(got.by_placement[:, j] @ x, wanted)
        if spec.has_axis:
            axes = {'axis': joint.axis}
            if spec.has_second_axis:
                axes['second_axis'] = joint.second_axis
            wanted = difference(lambda s: changed(joint, **{
                name: turned(s * x[:3], each) for name, each in axes.items()}), stencil=SHORT)
            assert_same(got.by_axis[:, j] @ x[:3], wanted)
        else:
            assert not got.by_axis[:, j].any()
        if joint.type_name == 'helical':
            wanted = difference(
                lambda s: changed(joint, pitch=joint.pitch + s), stencil=SHORT)
            assert_same(got.by_pitch[:, j], wanted)
        else:
            assert not got.by_pitch[:, j].any()


def test_forward_by_parameters(damped) -> None:
    """-M^-1 times those of inverse dynamics, so that forces of both keep the accelerations."""
    d, v, a, w = damped.dynamics, damped.v, damped.a, damped.external
    tau = d.inverse(damped.q, v, a, w)
    back = d.inverse.partial_derivatives.by_kinematics(damped.q, v, a, w)
    ahead = d.forward.partial_derivatives.by_kinematics(damped.q, v, tau, w)
    for one, other in zip(back, ahead):
        assert_same(np.tensordot(d.mass_matrix(damped.q), other, 1), -one)
    regressor = Regressor(damped.model, dissipation=True)
    got = regressor.acceleration(damped.q, v, tau, w)
    tree, x = ComplexTree(damped.model, damped.q), damped.rng.normal(size=damped.model.nv)
    damping = tree.damping.copy()

    def resisted(s):
        tree.damping = damping + s * x
        return tree.forward(v, tau, w)
    start = 10 * len(damped.model.bodies)
    assert_same(got[:, start:start + len(x)] @ x, along(resisted))
    assert_same(d.mass_matrix(damped.q) @ got, -regressor.torque(damped.q, v, a))


def test_refusals(damped) -> None:
    partial = damped.dynamics.inverse.partial_derivatives
    with refused(ShapeError, 'a'):
        partial.by_kinematics(damped.q, damped.v, damped.a[1:])
    with refused(ShapeError, 'external'):
        partial.by_kinematics(damped.q, damped.v, damped.a, damped.external[1:])
