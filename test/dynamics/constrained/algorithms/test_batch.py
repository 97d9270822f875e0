# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constrained dynamics of many states: as one by one, as dense matrices, and without work."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.machines.loop_states import ALL
from support.machines.looped_machines import (
    five_bar, four_bar, Looped, planar_linkage)
from support.refusals import refused
from support.witnesses import loop_witness

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, ModelError, ShapeError
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, ConstrainedSolutions, ConstraintFunction, ConstraintStatus,
    LEAST_FORCE, LEAST_TORQUE, project)
from liedyn_ros.model import ModelBuilder, SpatialInertia

COUNT, ORDER = 70, 2  # states: several shares of the threads and a last one that is not full
FLAT = planar_linkage((0.3, 0.5), (0.3,), 0.5, ('left_0',))  # a parallelogram


def states(looped: Looped, count: int = COUNT) -> tuple[ConstrainedDynamics, Array, Array, Array]:
    """Return the dynamics, closed states and forces (count, ORDER + 1, nv)."""
    rng, model = np.random.default_rng(3), looped.model
    dynamics = ConstrainedDynamics(model)
    few = [project(dynamics, model.integrate(looped.q, 0.02 * rng.normal(size=model.nv)),
                   rng.normal(size=model.nv)) for _ in range(5)]
    q, v = (np.array([few[i % len(few)][part] for i in range(count)]) for part in (0, 1))
    v *= rng.uniform(-1.0, 1.0, (count, 1))
    return dynamics, q, v, rng.normal(size=(count, ORDER + 1, model.nv))


def flat_states(angles: list[float]) -> tuple[Array, Array, Array]:
    """Return states of the parallelogram at rest, and the force of its crank."""
    q = np.array([[angle, -angle, angle] for angle in angles])
    return q, 0.0 * q, np.tile([1.0, 0.0, 0.0], (len(q), 1))


def assert_solutions(many: ConstrainedSolutions, dynamics: ConstrainedDynamics, name: str,
                     *arguments: Array, **options: object) -> None:
    """Compare with the calls of single states; what is the same for all has no states."""
    count = len(many.a)
    for s in range(0, count, 7):
        one = getattr(dynamics, name)(
            *(each[s] if len(each) == count else each for each in arguments),
            **{key: value[s] if isinstance(value, np.ndarray) and len(value) == count else value
               for key, value in options.items()}).solution
        for got, wanted in zip(many.state(s)[:4], one[:4]):
            assert_allclose(got, wanted, rtol=1e-12, atol=1e-12 * (
                1.0 + np.abs(wanted).max(initial=0.0)))
        assert many.state(s)[4:] == one[4:]


@pytest.mark.parametrize('name', ['bennett', 'floating', 'balls'])
def test_each_state_is_as_alone(name: str) -> None:
    looped = ALL[name]
    dynamics, q, v, tau = states(looped)
    external = np.random.default_rng(4).normal(size=(*tau.shape[:2], len(looped.model.bodies), 6))
    forward = dynamics.forward.batch(q, v, tau, external=external)
    assert_solutions(forward, dynamics, 'forward', q, v, tau, external=external)
    low = dynamics.forward.batch(q, v, tau[:, 0], external=external[:, 0])
    assert_allclose(low.a, forward.a[:, 0], rtol=1e-12, atol=1e-12)
    assert low.wrenches.shape == (COUNT, len(looped.model.closures), 6)
    some = np.zeros(looped.model.nv, dtype=bool)
    some[0] = True
    hybrid = dynamics.hybrid.batch(q, v, some, forward.a, tau, external=external)
    assert_solutions(hybrid, dynamics, 'hybrid', q, v, some, forward.a, tau, external=external)
    everything = np.ones_like(some)
    for redundancy in (LEAST_TORQUE, LEAST_FORCE):
        inverse = dynamics.inverse.batch(q, v, forward.a, actuated=everything,
                                         redundancy=redundancy, external=external)
        assert_solutions(inverse, dynamics, 'inverse', q, v, forward.a, actuated=everything,
                         redundancy=redundancy, external=external)


def test_as_dense_matrices_and_closures_do_no_work() -> None:
    model = five_bar()
    dynamics, q, v, tau = states(Looped(model, assemble(ConstrainedDynamics(model))))
    found = dynamics.forward.batch(q, v, tau[:, 0])
    for s in (0, 36, COUNT - 1):
        dense = loop_witness.forward(model, q[s], v[s], tau[s, 0])
        assert_allclose(found.a[s], dense.a, atol=1e-7 * (1.0 + np.abs(dense.a).max()))
    closing = np.array([dynamics.tree.inverse(*each) for each in zip(q, v, found.a)]) - tau[:, 0]
    assert np.abs((closing * v).sum(axis=1)).max() < 1e-9 * np.abs(closing).max()
    again = dynamics.inverse.batch(q, v, found.a, actuated=np.ones(4, dtype=bool))
    assert_allclose(dynamics.forward.batch(q, v, again.tau).a, found.a, rtol=1e-9, atol=1e-9)


def test_one_singular_state_costs_the_others_nothing() -> None:
    dynamics = ConstrainedDynamics(FLAT)
    q, v, tau = flat_states([0.5, 0.0, 0.7, 1e-6])
    found = dynamics.forward.batch(q, v, tau)
    assert found.status == (ConstraintStatus.REDUNDANT, ConstraintStatus.SINGULAR,
                            ConstraintStatus.REDUNDANT, ConstraintStatus.NEAR_SINGULAR)
    assert found.rank.tolist() == [2, 1, 2, 2]
    for s in range(4):
        assert_allclose(found.a[s], dynamics.forward(q[s], v[s], tau[s]).a, rtol=1e-12)


def test_what_is_refused_names_the_state() -> None:
    model = four_bar()
    dynamics, q, v, tau = states(Looped(model, assemble(ConstrainedDynamics(model))))
    tau = tau[:, 0]
    for name, at in (('q', 65), ('v', 40)):
        bad = {'q': q.copy(), 'v': v.copy()}
        bad[name][at:] += 0.01
        with refused(LiedynError, 'tip/force_x', 'tip/force_y') as caught:
            dynamics.forward.batch(**bad, tau=tau)
        assert str(caught.value).startswith(f'{name}[{at}]: ')
    broken = q.copy()
    broken[31, 0] = np.nan
    with refused(LiedynError, 'q[31]', indices=(0,)):
        dynamics.forward.batch(broken, v, tau)
    a = dynamics.forward.batch(q, v, tau).a
    a[66] += 0.01
    with refused(LiedynError, 'a', indices=(66,)):
        dynamics.inverse.batch(q, v, a)
    for name, indices, given in (
            ('q', (), (q[0], v, tau)), ('v', (), (q, v[1:], tau)), ('tau', (), (q, v, tau[1:])),
            ('tau', (), (q, v, tau[:, :2])), ('tau', (2, 0, 1), (q, v, np.where(
                np.arange(tau.size).reshape(tau.shape) == 7, np.nan, tau)))):
        with refused(LiedynError, name, indices=indices):
            dynamics.forward.batch(*given)
    with refused(LimitError, 'tau', got=39):
        dynamics.forward.batch(q, v, np.zeros((COUNT, 40, 3)))
    with refused(ShapeError, 'external'):
        dynamics.forward.batch(q, v, tau, external=np.zeros((COUNT, 2, 6)))
    none = np.zeros((0, 3))
    assert dynamics.forward.batch(none, none, none).a.shape == (0, 3)


def test_a_state_that_the_actuators_do_not_decide_is_named() -> None:
    # Laid flat, the coupler alone cannot move the crank.
    dynamics = ConstrainedDynamics(FLAT)
    q, v, _ = flat_states([0.5, 0.0, 0.7])
    with refused(ModelError, 'left_1_joint', 'right_0_joint', indices=(1,)):
        dynamics.inverse.batch(q, v, v)


def test_functions_are_evaluated_at_each_state() -> None:
    builder = ModelBuilder('bead', gravity=[0.0, -9.81, 0.0])
    builder.add_body('slide', SpatialInertia(0.1, [0.0, 0.0, 0.0], 1e-3 * np.eye(3)))
    builder.add_joint('x', 'prismatic', None, 'slide', axis=[1.0, 0.0, 0.0])
    builder.add_body('bead', SpatialInertia(1.0, [0.0, 0.0, 0.0], 1e-3 * np.eye(3)))
    builder.add_joint('y', 'prismatic', 'slide', 'bead', axis=[0.0, 1.0, 0.0])
    circle = ConstraintFunction(
        'circle', rows=1, residual=lambda q: [0.5 * (q @ q - 1.0)], jacobian=lambda q: [q],
        bias=lambda q, v: [v @ v])
    dynamics = ConstrainedDynamics(builder.build(), functions=[circle])
    angle = np.linspace(-1.0, 2.0, 8)[:, None]
    q = np.hstack((np.sin(angle), -np.cos(angle)))
    v, tau = 0.7 * np.hstack((np.cos(angle), np.sin(angle))), np.ones((8, 2))
    found = dynamics.forward.batch(q, v, tau)
    assert_solutions(found, dynamics, 'forward', q, v, tau)
    assert_allclose((found.a * q).sum(axis=1), -0.49, rtol=1e-9)  # to the centre
    q[5] += 0.01
    with refused(LiedynError, 'circle'):
        dynamics.forward.batch(q, v, tau)
