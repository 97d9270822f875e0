# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Centre of mass, centroidal map and inverse mass matrix: differences, invariants, Pinocchio."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, rate_along
from support.refusals import ANY, refused

from liedyn_ros.common.errors import NotFiniteError, ShapeError, SingularError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder


def massless() -> Dynamics:
    """Return a machine of one body without mass, on one joint."""
    builder = ModelBuilder('massless')
    builder.add_body('tip', None)
    builder.add_joint('turn', 'revolute', None, 'tip', axis=[1.0, 0.0, 0.0])
    return Dynamics(builder.build())


def test_the_motion_of_the_center_of_mass(case: Case) -> None:
    d, (q, v, a) = case.dynamics, case[2:5]
    center = d.center_of_mass_motion(q, v, a)
    np.testing.assert_allclose(center.position, d.center_of_mass(q), atol=1e-13)
    np.testing.assert_allclose(center.velocity, rate_along(case, d.center_of_mass), atol=1e-9)
    jacobian = d.center_of_mass_jacobian(q)
    np.testing.assert_allclose(jacobian @ v, center.velocity, atol=1e-12)
    along = rate_along(case, lambda at: d.center_of_mass_motion(at, v, a).velocity)
    np.testing.assert_allclose(center.acceleration, along + jacobian @ a, atol=1e-7)


def test_the_map_and_its_rate(case: Case) -> None:
    d, (q, v, a) = case.dynamics, case[2:5]
    momentum = d.centroidal_map(q) @ v
    assert_same(momentum, d.centroidal_momentum(q, v), 1e-12, floor=1.0)
    rate = d.centroidal_map_rate(q, v)
    assert_same(rate, rate_along(case, d.centroidal_map), 1e-7, floor=1.0)
    mass = case.model.link_table.inertia[:, 0].sum()
    assert_same((d.centroidal_map(q) @ a + rate @ v)[3:],
                mass * d.center_of_mass_motion(q, v, a).acceleration, 1e-11, floor=1.0)


def test_momentum_about_the_center_of_mass_does_not_see_where_the_ground_is(case: Case) -> None:
    d, (q, v) = case.dynamics, case[2:4]
    own, about = d.momentum(q, v), d.centroidal_momentum(q, v)
    np.testing.assert_allclose(own[3:], about[3:], atol=1e-13)
    shift = np.cross(d.center_of_mass(q), own[3:])
    np.testing.assert_allclose(own[:3] - shift, about[:3], atol=1e-12)


def test_gravity_is_inverse_dynamics_at_rest(case: Case) -> None:  # (Park 22)
    rest = np.zeros(case.model.nv)
    assert_same(case.dynamics.gravity_vector(case.q), case.dynamics.inverse(case.q, rest, rest),
                1e-12, floor=1.0)
    for k, unit in enumerate(np.eye(case.model.nv)):
        along = rate_along(case._replace(v=unit), case.dynamics.potential_energy)
        assert case.dynamics.gravity_vector(case.q)[k] == pytest.approx(along, abs=1e-6)


def test_inverse_mass_matrix(case: Case) -> None:
    d, q = case.dynamics, case.q
    inverse = d.inverse_mass_matrix(q)
    np.testing.assert_array_equal(inverse, inverse.T)
    assert_same(d.mass_matrix(q) @ inverse, np.eye(case.model.nv), 1e-8)
    assert_same(inverse, d.forward.partial_derivatives(q, case.v, case.a).by_tau, 1e-10)
    with refused(SingularError, 'turn', indices=(0,)):
        massless().inverse_mass_matrix([0.0])


def test_pinocchio(case: Case) -> None:
    pin = pytest.importorskip('pinocchio')
    witness = pytest.importorskip('support.witnesses.pinocchio_twin')
    twin = witness.to_pinocchio(case.model)
    right = witness.rates_are_right(case.model)[twin.velocity_order]
    d, (q, v, a), other, data = case.dynamics, case[2:5], twin.model, twin.model.createData()
    pq, pv, pa = twin.to_configuration(q), twin.to_velocity(v), twin.to_velocity(a)
    swap, center = [3, 4, 5, 0, 1, 2], d.center_of_mass_motion(q, v, a)
    pin.centerOfMass(other, data, pq, pv, pa)
    for ours, theirs in zip(center, (data.com[0], data.vcom[0], data.acom[0])):
        assert_same(ours, theirs, 1e-10, floor=1.0)
    assert_same(twin.to_velocity(d.center_of_mass_jacobian(q)),
                pin.jacobianCenterOfMass(other, data, pq), 1e-10, floor=1.0)
    pin.dccrba(other, data, pq, pv)
    assert_same(twin.to_velocity(d.centroidal_map(q)), data.Ag[swap], 1e-10)
    rate = twin.to_velocity(d.centroidal_map_rate(q, v))
    assert_same(rate[:, right], data.dAg[swap][:, right], 1e-10, floor=1.0)
    assert_same(d.centroidal_momentum(q, v),
                pin.computeCentroidalMomentum(other, data, pq, pv).vector[swap], 1e-10)
    order = np.ix_(twin.velocity_order, twin.velocity_order)
    theirs = np.triu(pin.computeMinverse(other, data, pq))
    assert_same(np.triu(d.inverse_mass_matrix(q)[order]), theirs, 1e-8)


def test_compiled_calls_write_into_nothing_else(case: Case) -> None:
    """A kernel that runs unasked must not write beyond an array, nor over its input."""
    d, q, v, n = case.dynamics, case.q, case.v, case.model.nv
    calls = {
        (n, n): (d.mass_matrix, d.inverse_mass_matrix, lambda q, out=None: (
            d.coriolis_matrix(q, v, out))),
        (6, n): (d.centroidal_map, lambda q, out=None: d.centroidal_map_rate(q, v, out),
                 lambda q, out=None: d.frames.jacobian(q, 0, out=out)),
        (n,): (d.gravity_vector, d.spring_forces,
               lambda q, out=None: case.model.difference(q, q, out)),
        (6,): (lambda q, out=None: d.momentum(q, v, out),), (3,): (d.center_of_mass,),
        (len(case.model.frames), 4, 4): (d.frames.poses,),
        (2, 6, n): (lambda q, out=None: d.frames.jacobian(q, [0, 1], out=out),)}
    for shape, of_shape in calls.items():
        for call in of_shape:
            wanted, memory = call(q), np.zeros(len(q) + 2 * int(np.prod(shape)))
            for axis in range(len(shape)):
                for change in (-1, 1):
                    other = np.array(shape)
                    other[axis] += change
                    with refused(ShapeError, 'out'):
                        call(q, out=np.empty(other))
            memory[:len(q)] = q
            with refused(ShapeError, ANY):
                call(memory[:len(q)], out=memory[:int(np.prod(shape))].reshape(shape))
            np.testing.assert_array_equal(memory[:len(q)], q)
            np.testing.assert_array_equal(call(q), wanted)


def test_refusals(case: Case) -> None:
    d, q, v = case.dynamics, case.q, case.v
    for call in (d.centroidal_map, d.inverse_mass_matrix, d.center_of_mass):
        call(q)
        with refused(ShapeError, 'q'):
            call(q[1:])
        with refused(NotFiniteError, 'q', indices=(0,)):
            call(np.full_like(q, np.nan))
    with refused(ShapeError, 'v'):
        d.centroidal_map_rate(q, v[1:])
    with refused(NotFiniteError, 'v', indices=(0,)):
        d.resistance(np.full_like(v, np.nan))
    for call in (d.centroidal_map, d.mass_matrix):
        with refused(ShapeError, 'out'):
            call(q, out=np.empty(3))
    light = massless()
    for call in (light.center_of_mass, light.centroidal_map, light.center_of_mass_jacobian):
        with refused(SingularError, 'mass'):
            call([0.0])
