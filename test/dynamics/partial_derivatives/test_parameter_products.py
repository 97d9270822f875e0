# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Products by parameters of trees beside full Jacobians, complex steps and Pinocchio."""

import copy
import pickle

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import make_case, TREES
from support.machines.model_variants import placed_turn
from support.refusals import refused
from support.witnesses.complex_step import along, ComplexTree, hat
from support.witnesses.kinematic_parameters import inverse_kinematic_jacobians

from liedyn_ros.common.errors import (
    LiedynError, LimitError, NotFiniteError, ShapeError, SingularError)
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.identification import Regressor
from liedyn_ros.model import load_model, ModelBuilder

PARTS = ('gravity', 'external', 'inertia', 'damping', 'friction', 'rotor_inertia', 'placement',
         'axis', 'pitch')
TOLERANCE = 1e-12  # of the largest entry, between exact results


@pytest.fixture(scope='module', params=TREES[:4], ids=str)
def damped(request):
    """Return a machine with damping and friction."""
    return make_case(*request.param, dissipation=True)


@pytest.fixture(scope='module')
def change(damped) -> Parameters:
    """Return a random change of every parameter."""
    size = len(Parameters(damped.model).vector)
    return Parameters(damped.model, damped.rng.normal(size=size))


@pytest.fixture(scope='module')
def forces(damped, change) -> dict:
    """Return what each part of the change adds to tau (nv,), by the full Jacobians."""
    partial, state = damped.dynamics.inverse.partial_derivatives, (damped.q, damped.v, damped.a)
    kinematic = inverse_kinematic_jacobians(damped.model, *state, damped.external)
    regressor = Regressor(damped.model, dissipation=True, rotor_inertia=True)
    inertial = np.concatenate([change.inertia.ravel(), change.damping, change.friction,
                               change.rotor_inertia])
    sizes = np.cumsum([change.inertia.size, *[damped.model.nv] * 2])
    columns = np.split(regressor.torque(*state) * inertial, sizes, axis=1)
    inertia, damping, friction, rotor_inertia = (part.sum(axis=1) for part in columns)
    return {
        'gravity': partial(*state, damped.external).by_gravity @ change.gravity,
        'external': np.einsum('kbc,bc->k', partial.by_external(damped.q), change.external),
        'inertia': inertia, 'damping': damping, 'friction': friction,
        'rotor_inertia': rotor_inertia,
        'placement': np.einsum('kbc,bc->k', kinematic.by_placement, change.placement),
        'axis': np.einsum('kbc,bc->k', kinematic.by_axis, change.axis),
        'pitch': kinematic.by_pitch @ change.pitch}


def test_each_part_of_inverse_dynamics(damped, change, forces) -> None:
    partial, state = damped.dynamics.inverse.partial_derivatives, (damped.q, damped.v, damped.a)
    rest, y = np.zeros(damped.model.nv), damped.rng.normal(size=damped.model.nv)
    gradient = Parameters(damped.model, np.ones(len(change.vector)))  # what is there is lost
    partial.gradient(*state, y, damped.external, parameters=gradient)
    for name in PARTS:
        alone = Parameters(damped.model)
        getattr(alone, name)[:] = getattr(change, name)
        product = partial.product(*state, *[rest] * 3, damped.external, parameters=alone)
        assert_same(product, forces[name], TOLERANCE)
        assert gradient.vector @ alone.vector == pytest.approx(
            y @ forces[name], rel=0.0, abs=TOLERANCE * np.abs(y) @ np.abs(forces[name]))


def test_everything_at_once(damped, change, forces) -> None:
    d, n, w = damped.dynamics, damped.model.nv, damped.external
    moves, needed = damped.rng.normal(size=(3, n)), sum(forces.values())
    tau, y = d.inverse(damped.q, damped.v, damped.a, w), damped.rng.normal(size=n)
    for partial, given, extra in ((d.inverse.partial_derivatives, damped.a, needed), (
            d.forward.partial_derivatives, tau, None)):
        state, gradient = (damped.q, damped.v, given), Parameters(damped.model)
        full, plain = partial(*state, w), partial.gradient(*state, y, w)
        if extra is None:
            extra = -full.by_tau @ needed
        wanted = partial.product(*state, *moves, w) + extra
        assert_same(partial.product(*state, *moves, w, parameters=change), wanted, 1e-11)
        found = partial.gradient(*state, y, w, parameters=gradient)
        assert type(found) is type(plain)
        for ours, theirs in zip(found, plain):
            assert_same(ours, theirs, 1e-10)
        got = sum(by @ x for by, x in zip(found[-3:], moves)) + gradient.vector @ change.vector
        assert got == pytest.approx(y @ wanted, abs=1e-10 * np.abs(y) @ np.abs(wanted))


@pytest.mark.parametrize('share', (0.0, 0.5, 1.0))
def test_hybrid(damped, change, forces, share: float) -> None:
    d, n, w = damped.dynamics, damped.model.nv, damped.external
    which, (dq, dv, given, y) = damped.rng.random(n) < share, damped.rng.normal(size=(4, n))
    tau = d.inverse(damped.q, damped.v, damped.a, w)
    state, partial = (damped.q, damped.v, which, damped.a, tau), d.hybrid.partial_derivatives
    full = partial(*state, w)
    a_by, tau_by = full.by_parameters(sum(forces.values()))
    plain = (full.a_by_q @ dq + full.a_by_v @ dv + full.a_by_given @ given,
             full.tau_by_q @ dq + full.tau_by_v @ dv + full.tau_by_given @ given)
    product = partial.product(*state, dq, dv, given, w)
    for ours, wanted in zip(product, plain):
        assert_same(ours, wanted, 1e-11)
    product = partial.product(*state, dq, dv, given, w, parameters=change)
    for ours, wanted, more in zip(product, plain, (a_by, tau_by)):
        assert_same(ours, wanted + more, 1e-11)
    gradient = Parameters(damped.model)
    found = partial.gradient(*state, y, w, parameters=gradient)
    assert_same(np.stack(found[:2]), np.stack(full[:2]), 1e-11)
    for ours, by_a, by_tau in zip(found[2:], full[2:5], full[5:8]):
        assert_same(ours, y @ np.where(which[:, None], by_tau, by_a), 1e-11)
    sought = np.where(which, product.tau, product.a)
    got = found.by_q @ dq + found.by_v @ dv + found.by_given @ given
    assert got + gradient.vector @ change.vector == pytest.approx(
        y @ sought, abs=1e-11 * np.abs(y) @ np.abs(sought))


def test_beside_complex_steps(damped) -> None:
    """Gravity, damping, wrenches, inertias, placements and pitches, all at once."""
    d, model, rng, n = damped.dynamics, damped.model, damped.rng, damped.model.nv
    tree, change = ComplexTree(model, damped.q), Parameters(model)
    for part in (change.gravity, change.damping, change.external):
        part[:] = rng.normal(size=part.shape)
    change.inertia[:] = Regressor(model).parameters.reshape(-1, 10)  # the same, times 1 + s
    start, moved, x = (tree.gravity, tree.damping, tree.inertia, tree.pitch), [], rng.normal(
        size=(3, n))
    for j, joint in enumerate(model.joint_list):
        if joint.type_name != 'fixed':
            link = int(np.flatnonzero(model.link_table.vi == joint.v_slice.start)[0])
            turn, change.placement[j] = np.eye(4), rng.normal(size=6)
            turn[:3, :3] = placed_turn(joint, link, model)
            moved.append((link, tree.placement[link].copy(), turn, change.placement[j]))
        if joint.type_name == 'helical':
            change.pitch[j] = 1.0
    helical = model.link_table.pitch != 0.0

    def vary(s) -> None:
        tree.gravity, tree.damping = start[0] + s * change.gravity, start[1] + s * change.damping
        tree.inertia, tree.pitch = (1.0 + s) * start[2], start[3] + s * helical
        for link, place, turn, twist in moved:
            tree.placement[link] = place @ turn.T @ (np.eye(4) + hat(s * twist)) @ turn

    def inverse(s):
        vary(s)
        return tree.inverse(damped.v + s * x[1], damped.a + s * x[2],
                            damped.external + s * change.external, s * x[0])

    def forward(s):
        vary(s)
        return tree.forward(damped.v + s * x[1], tau + s * x[2],
                            damped.external + s * change.external, s * x[0])

    state, w = (damped.q, damped.v), damped.external
    tau = d.inverse(*state, damped.a, w)
    assert_same(d.inverse.partial_derivatives.product(
        *state, damped.a, *x, w, parameters=change), along(inverse), TOLERANCE)
    assert_same(d.forward.partial_derivatives.product(
        *state, tau, *x, w, parameters=change), along(forward), 1e-9)


def test_damping_that_does_not_count(damped, change) -> None:
    d, zero = Dynamics(damped.model, dissipation=False), np.zeros(damped.model.nv)
    alone, gradient = Parameters(damped.model), Parameters(damped.model)
    alone.damping[:], alone.friction[:] = change.damping, change.friction
    state, partial = (damped.q, damped.v, damped.a), d.inverse.partial_derivatives
    assert not partial.product(*state, zero, zero, zero, parameters=alone).any()
    partial.gradient(*state, damped.a, parameters=gradient)
    assert not gradient.damping.any() and not gradient.friction.any()


def test_pinocchio_has_the_same_regressor() -> None:
    pin = pytest.importorskip('pinocchio')
    from support.witnesses.pinocchio_twin import to_pinocchio
    model, rng = load_model(config_file('aerial_manipulator.yaml')), np.random.default_rng(5)
    twin, d = to_pinocchio(model), Dynamics(model, dissipation=False)
    q, (v, a, y) = model.random(rng), rng.normal(size=(3, model.nv))
    gradient = Parameters(model)
    d.inverse.partial_derivatives.gradient(q, v, a, y, parameters=gradient)
    theirs = pin.computeJointTorqueRegressor(
        twin.model, twin.model.createData(), twin.to_configuration(q), twin.to_velocity(v),
        twin.to_velocity(a))
    # Ten numbers a joint: mass, first moments, and xx, xy, yy, xz, yz, zz.
    wanted = (twin.to_velocity(y) @ theirs).reshape(-1, 10)[:, [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]
    assert_same(gradient.inertia, wanted, TOLERANCE)


def test_refusals(damped, change) -> None:
    d, state = damped.dynamics, (damped.q, damped.v, damped.a)
    partial, rest = d.inverse.partial_derivatives, np.zeros(damped.model.nv)
    with refused(LiedynError, 'parameters', got='ndarray'):
        partial.gradient(*state, rest, parameters=change.vector)
    other = load_model(config_file('four_bar.yaml'))
    with refused(ShapeError, 'parameters'):
        partial.product(*state, rest, rest, rest, parameters=Parameters(other))
    with refused(ShapeError, 'vector'):
        Parameters(damped.model, np.zeros(3))
    broken = Parameters(damped.model)
    broken.gravity[1] = np.nan
    for call in (partial, d.forward.partial_derivatives):
        with refused(NotFiniteError, 'parameters', indices=(1,)):
            call.product(*state, rest, rest, rest, parameters=broken)
    with refused(NotFiniteError, 'y', indices=(0,)):
        d.forward.partial_derivatives.gradient(
            *state, np.full_like(rest, np.inf), parameters=Parameters(damped.model))
    with refused(ShapeError, 'given'):
        d.hybrid.partial_derivatives.product(
            damped.q, damped.v, np.zeros(len(rest), dtype=bool), rest, rest, rest, rest, rest[1:])


@pytest.mark.parametrize('copied', [
    copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))],
    ids=['copy', 'deepcopy', 'pickle'])
def test_parts_of_a_copy_are_views_of_its_vector(damped, copied) -> None:
    change = copied(Parameters(damped.model))
    change.inertia[:], change.damping[:] = 0.5, 1.0
    plain = Parameters(damped.model, change.vector)
    assert np.array_equal(plain.inertia, change.inertia) and change.vector.any()
    state, rates = (damped.q, damped.v, damped.a), np.ones((3, damped.model.nv))
    product = damped.dynamics.inverse.partial_derivatives.product
    np.testing.assert_array_equal(product(*state, *rates, parameters=change),
                                  product(*state, *rates, parameters=plain))
    with pytest.raises(AttributeError, match='vector'):
        change.vector = np.zeros(3)


def test_a_refused_call_leaves_nothing(damped, change) -> None:
    d, state = damped.dynamics, (damped.q, damped.v, damped.a)
    partial, n = d.inverse.partial_derivatives, damped.model.nv
    y, *rates = damped.rng.normal(size=(4, n))
    product, first = partial.product(*state, *rates, parameters=change), Parameters(damped.model)
    partial.gradient(*state, y, parameters=first)
    broken = Parameters(damped.model)
    broken.vector[:] = np.inf
    with refused(NotFiniteError, 'parameters', indices=(0,)):
        partial.product(*state, *rates, parameters=broken)
    again = Parameters(damped.model)
    partial.gradient(*state, y, parameters=again)
    np.testing.assert_array_equal(again.vector, first.vector)
    with pytest.raises(LimitError):
        partial.gradient(*state, np.full(n, 1e308), parameters=Parameters(damped.model))
    np.testing.assert_array_equal(partial.product(*state, *rates, parameters=change), product)
    again = Parameters(damped.model)
    partial.gradient(*state, y, parameters=again)
    np.testing.assert_array_equal(again.vector, first.vector)


def test_massless_joints_and_empty_machines() -> None:
    builder = ModelBuilder('empty')
    builder.add_body('nothing', None)
    builder.add_joint('loose', 'revolute', None, 'nothing', axis=(0, 0, 1))
    model, one = builder.build(), np.ones(1)
    with refused(SingularError, 'loose', indices=(0,)):
        Dynamics(model).forward.partial_derivatives.gradient(
            one, one, one, one, parameters=Parameters(model))
    builder = ModelBuilder('rock')
    builder.add_body('rock', None)
    builder.add_joint('ground', 'fixed', None, 'rock')
    model, gradient = builder.build(), Parameters(builder.build())
    Dynamics(model).inverse.partial_derivatives.gradient([], [], [], [], parameters=gradient)
    assert not gradient.vector.any()
