# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Refusals of Dynamics and their errors; they leave nothing behind."""

from operator import attrgetter

import numpy as np
import pytest
from support.machines.dynamics_cases import Case, make_case
from support.refusals import ANY, refused

from liedyn_ros.common.errors import (
    LiedynError, LimitError, ModelError, NotFiniteError, NotInGroupError, ShapeError,
    SingularError)
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import Model, ModelBuilder, pose, SpatialInertia


@pytest.fixture
def tree() -> Case:
    """Return a floating machine."""
    return make_case(1, True)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('name', ['q', 'v', 'a'])
def test_every_entry_must_be_finite(tree: Case, name: str, bad: float) -> None:
    for k in range(len(getattr(tree, name))):
        values = {'q': tree.q, 'v': tree.v, 'a': tree.a}
        values[name] = values[name].copy()
        values[name][k] = bad
        with refused(NotFiniteError, name, indices=(k,)):
            tree.dynamics.inverse(**values)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_every_force_must_be_finite(tree: Case, bad: float) -> None:
    for k in range(len(tree.a)):
        tau = np.where(np.arange(len(tree.a)) == k, bad, tree.a)
        with refused(NotFiniteError, 'tau', indices=(k,)):
            tree.dynamics.forward(tree.q, tree.v, tau)


def test_wrenches_must_be_finite_and_are_forgotten(tree: Case) -> None:
    before = tree.dynamics.inverse(tree.q, tree.v, tree.a)
    bad = tree.external.copy()
    bad[2, 5] = np.nan
    with refused(NotFiniteError, 'external', indices=(2, 5)):
        tree.dynamics.inverse(tree.q, tree.v, tree.a, bad)
    np.testing.assert_array_equal(tree.dynamics.inverse(tree.q, tree.v, tree.a), before)


def test_quaternions_must_be_of_unit_length(tree: Case) -> None:
    q = tree.q.copy()
    q[3:7] *= 1.0 + 2e-4
    for call in (tree.dynamics.mass_matrix, tree.dynamics.kinematics,
                 tree.dynamics.center_of_mass, tree.dynamics.gravity_vector,
                 lambda q: tree.dynamics.coriolis_matrix(q, tree.v),
                 lambda q: tree.dynamics.frames.jacobian(q, 'base'),
                 lambda q: tree.dynamics.forward(q, tree.v, tree.a)):
        with refused(NotInGroupError, 'q', indices=(3,)):
            call(q)
    q[3:7] = tree.q[3:7] * (1.0 + 5e-7)  # rounded elsewhere: the same rotation
    np.testing.assert_allclose(tree.dynamics.inverse(q, tree.v, tree.a),
                               tree.dynamics.inverse(tree.q, tree.v, tree.a), atol=1e-12)


@pytest.mark.parametrize('huge', [1e100, 1e200, 1e307])
def test_results_are_finite_or_refused(tree: Case, huge: float) -> None:
    d, q = tree.dynamics, tree.q.copy()
    q[0] = huge
    for call in (lambda: d.inverse(q, tree.v, tree.a), lambda: d.forward(q, tree.v, tree.a),
                 lambda: d.inverse(tree.q, huge * tree.v, tree.a),
                 lambda: d.forward(tree.q, huge * tree.v, tree.a),
                 lambda: d.inverse.batch([tree.q], [huge * tree.v], [tree.a]),
                 lambda: d.kinetic_energy(tree.q, huge * tree.v), lambda: d.mass_matrix(q),
                 lambda: d.coriolis_matrix(tree.q, huge * tree.v), lambda: d.potential_energy(q),
                 lambda: np.concatenate([x.ravel() for x in d.kinematics(q, huge * tree.v)])):
        try:
            assert np.isfinite(call()).all()
        except LimitError as error:
            assert 'expected numbers whose results are finite' in str(error)


def test_shapes_and_types_are_checked(tree: Case) -> None:
    d, n = tree.dynamics, tree.model.nv
    with refused(ShapeError, 'v', expected=(n,), got=(n - 1,)):
        d.inverse(tree.q, tree.v[1:], tree.a)
    with refused(ShapeError, 'external'):
        d.forward(tree.q, tree.v, tree.a, tree.external[1:])
    for wrong in (['1'] * n, tree.v + 1j, tree.v.astype(object)):
        with refused(LiedynError, 'v'):
            d.inverse(tree.q, wrong, tree.a)
    with refused(LiedynError, 'a', got='fast'):
        d.hybrid(tree.q, tree.v, np.zeros(n, dtype=bool), 'fast', tree.a)
    with refused(ShapeError, 'tau'):
        d.hybrid(tree.q, tree.v, np.zeros(n, dtype=bool), tree.a, tree.a[1:])
    with refused(LiedynError, 'prescribed', got='int64'):
        d.hybrid(tree.q, tree.v, np.zeros(n, dtype=int), tree.a, tree.a)
    with refused(ModelError, 'tail', got='tail'):
        d.frames.jacobian(tree.q, 'tail')
    for out in (np.empty(n + 1), np.empty(n, dtype=np.float32), np.empty(2 * n)[::2], [0.0] * n):
        with refused(ShapeError, 'out'):
            d.inverse(tree.q, tree.v, tree.a, out=out)


ARGUMENTS = {'inverse': 'qva', 'forward': 'qva', 'mass_matrix': 'q',
             'inverse.time_derivatives': 'qvr', 'forward.time_derivatives': 'qvr'}


@pytest.mark.parametrize('name', ARGUMENTS)
@pytest.mark.parametrize('change', [-1, 1])
def test_kernels_that_are_compiled_take_no_other_size(
        tree: Case, name: str, change: int) -> None:
    """A short array must not be read beyond its end, even by kernels that run unasked."""
    rows = np.tile(tree.a, (4, 1))
    good = [{'q': tree.q, 'v': tree.v, 'a': tree.a, 'r': rows}[letter]
            for letter in ARGUMENTS[name]]
    method = attrgetter(name)(tree.dynamics)
    method(*good)
    for k, value in enumerate(good):
        size = np.array(value.shape)
        size[-1] += change  # the number of rows may be any
        with refused(ShapeError, ANY):
            method(*good[:k], np.resize(value, size), *good[k + 1:])


@pytest.mark.parametrize('odd', [
    [], (), {}, {1}, None, 'fast', b'fast', 1.0, 1j * np.ones(3), np.array('fast'), iter([]),
    np.ma.array([1.0, 2.0]), np.zeros(3, 'M8[s]'), np.zeros(3, 'V8'), np.zeros(3, '>f8'),
], ids=lambda odd: type(odd).__name__)
def test_kernels_that_are_compiled_meet_no_other_type(tree: Case, odd: object) -> None:
    """Messages of a kernel about an argument of another type reach nobody."""
    d, rows = tree.dynamics, np.tile(tree.a, (4, 1))
    calls = [lambda v: d.inverse(tree.q, v, tree.a), lambda v: d.forward(tree.q, v, tree.a),
             lambda v: d.inverse.time_derivatives(tree.q, v, rows), lambda q: d.mass_matrix(q),
             lambda a: d.inverse.time_derivatives(tree.q, tree.v, a),
             lambda v: d.forward.time_derivatives(tree.q, v, rows),
             lambda tau: d.forward.time_derivatives(tree.q, tree.v, tau),
             lambda w: d.inverse(tree.q, tree.v, tree.a, [] if w is None else w)]
    for call, good in zip(calls, (tree.v, tree.v, tree.v, tree.q, rows, tree.v, rows,
                                  tree.external)):
        call(good)
        with refused(LiedynError, ANY) as caught:
            call(odd)
        assert len(caught.value.names) == 1


def test_out_is_written_and_returned(tree: Case) -> None:
    d, n = tree.dynamics, tree.model.nv
    out, matrix = np.empty(n), np.empty((n, n))
    assert d.inverse(tree.q, tree.v, tree.a, out=out) is out
    np.testing.assert_array_equal(out, d.inverse(tree.q, tree.v, tree.a))
    assert d.coriolis_matrix(tree.q, tree.v, out=matrix) is matrix
    np.testing.assert_array_equal(matrix, d.coriolis_matrix(tree.q, tree.v))


def test_any_layout_of_input_runs_the_one_compiled_kernel(tree: Case) -> None:
    d, q, v, a = tree.dynamics, tree.q, tree.v, tree.a
    wanted = d.inverse(q, v, a)
    frozen = v.copy()
    frozen.setflags(write=False)
    for same in (list(v), np.repeat(v, 2)[::2], frozen, np.array([v, v])[0]):
        np.testing.assert_array_equal(d.inverse(q, same, a), wanted)
    d.forward(list(q), frozen, tuple(a))


def rod(*joints: tuple[str, str, tuple[float, float, float]], inertia: SpatialInertia | None):
    """Return a machine of massless bodies in a row, but for the last one."""
    builder, parent = ModelBuilder('rod'), None
    for name, kind, axis in joints:
        last = name == joints[-1][0]
        builder.add_body(f'{name}_body', inertia if last else None)
        builder.add_joint(name, kind, parent, f'{name}_body', axis=axis)
        parent = f'{name}_body'
    return Dynamics(builder.build())


X, Y, Z = np.eye(3)
BODY = SpatialInertia(1.0, (0.3, 0.2, 0.1), np.diag((0.1, 0.2, 0.15)))


@pytest.mark.parametrize('dynamics, named', [
    (rod(('elbow', 'revolute', X), ('tip', 'revolute', Y), inertia=None), 'tip'),
    (rod(('slide', 'prismatic', X), ('ball', 'spherical', None), inertia=None), 'ball/wz'),
    (rod(('first', 'revolute', Z), ('second', 'revolute', Z), inertia=BODY), 'first'),
    (rod(('first', 'prismatic', Y), ('second', 'prismatic', Y), inertia=BODY), 'first'),
    (rod(('screw', 'helical', X), ('cylinder', 'cylindrical', X), inertia=BODY), 'screw'),
], ids=['massless tip', 'massless ball', 'axis twice', 'slide twice', 'screw twice'])
def test_a_coordinate_that_moves_no_inertia_is_named(dynamics: Dynamics, named: str) -> None:
    q, zero = dynamics.model.random(np.random.default_rng(0)), np.zeros(dynamics.model.nv)
    with refused(SingularError, named):
        dynamics.forward(q, zero, zero)
    with refused(SingularError, named):
        dynamics.forward.batch([q, q], *np.zeros((2, 2, dynamics.model.nv)))
    a, _ = dynamics.hybrid(q, zero, np.ones(len(zero), dtype=bool), zero, zero)
    np.testing.assert_array_equal(a, zero)  # nothing is solved for


@pytest.mark.parametrize('seed', range(20))
def test_rounding_does_not_pass_for_inertia(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axis = tuple(rng.normal(size=3))
    dynamics = rod(('first', 'revolute', axis), ('second', 'revolute', axis), inertia=BODY)
    with refused(SingularError, 'first', indices=(0,)):
        dynamics.forward(rng.normal(size=2), np.zeros(2), np.zeros(2))


def test_a_machine_without_mass_has_no_center() -> None:
    with refused(SingularError, 'mass'):
        rod(('tip', 'revolute', X), inertia=None).center_of_mass([0.0])


@pytest.mark.parametrize('spin', [1e-3, 1e-9, 1e-12])
def test_coaxial_joints_turn_a_load_far_along_the_axis(spin: float) -> None:
    dynamics = Dynamics(coaxial(SpatialInertia(1e-6, [0, 0, 0], spin * np.eye(3))))
    state = np.array([0.3, -0.2]), np.array([2.0, 5.0]), np.array([1e-2, 0.5])
    relative = 0.5 / 0.1  # of the load, whose moment about the axis is 0.1 kg m^2
    first = (1e-2 - 0.5) / spin  # the rest turns the first ring, which bears the reaction
    wanted = [first, relative - first]
    rtol = 1e-15 / spin + 1e-12  # rounding of 0.1 kg m^2 stands in the pivot
    np.testing.assert_allclose(dynamics.forward(*state), wanted, rtol=rtol)
    many = dynamics.forward.batch(*(np.tile(x, (40, 1)) for x in state))
    np.testing.assert_allclose(many, [wanted] * 40, rtol=rtol)
    rows = dynamics.forward.time_derivatives(*state[:2], [state[2], np.zeros(2)])
    np.testing.assert_allclose(rows, [wanted, [0, 0]], rtol=rtol)


def test_coaxial_joints_without_inertia_between_them_are_refused() -> None:
    dynamics = Dynamics(coaxial(None))
    with refused(SingularError, 'ring_joint', indices=(0,)):
        dynamics.forward(np.zeros(2), np.zeros(2), np.ones(2))
    with refused(SingularError, 'ring_joint', indices=(0,)):
        dynamics.forward.batch(np.zeros((3, 2)), np.zeros((3, 2)), np.ones((3, 2)))


def test_a_state_behind_a_small_pivot_is_refused_too() -> None:
    dynamics = Dynamics(coaxial(SpatialInertia(1e-6, [0, 0, 0], 1e-12 * np.eye(3))))
    rest, tau = np.zeros((40, 2)), np.ones((40, 2))
    tau[20, 0] = np.nan
    with refused(NotFiniteError, 'tau[20]', indices=(0,)):
        dynamics.forward.batch(rest, rest, tau)


def test_a_rod_has_no_inertia_about_itself_by_a_rounded_right_angle() -> None:
    """Its moments about other axes leave 4e-33 kg m^2 about the hinge, beside its own 1e-40."""
    builder = ModelBuilder('rod')
    builder.add_body('hinged', None)
    builder.add_body('rod', SpatialInertia(1.0, [0.0, 0.0, 0.0], np.diag([1.0, 1e-40, 1.0])))
    builder.add_joint('hinge', 'revolute', None, 'hinged', axis=[0, 0, 1])
    builder.add_joint('turned', 'fixed', 'hinged', 'rod',
                      placement=pose((0.0, 0.0, 0.0), (0.5 * np.pi, 0.0, 0.0)))
    with refused(SingularError, 'hinge', indices=(0,)):
        Dynamics(builder.build()).forward([0.0], [0.0], [1.0])


def test_an_armature_beyond_all_numbers_is_refused() -> None:
    builder = ModelBuilder('wheel')
    builder.add_body('wheel', SpatialInertia(1.0, [0.0, 0.0, 0.0], 1e308 * np.eye(3)))
    builder.add_joint('axle', 'revolute', None, 'wheel', axis=[0, 0, 1], armature=1e308)
    with refused(LimitError, 'q'):
        Dynamics(builder.build()).mass_matrix([0.0])


def coaxial(inertia: SpatialInertia | None) -> Model:
    """Return a ring that turns on the ground, and a load 100 m along the axis that turns on it."""
    builder = ModelBuilder('coaxial')
    builder.add_body('ring', inertia)
    builder.add_body('load', SpatialInertia(1000.0, [0, 0, 100.0], np.diag([1.0, 1.0, 0.1])))
    builder.add_joint('ring_joint', 'revolute', None, 'ring', axis=[0, 0, 1])
    builder.add_joint('load_joint', 'revolute', 'ring', 'load', axis=[0, 0, 1])
    return builder.build()
