# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rods between ball joints spin freely: inverse dynamics and statics ask for no motor there."""

from dataclasses import replace

import numpy as np
import pytest
from support.comparison import assert_same

from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics, ConstraintFunction,
    LoopTracker, MinimalCoordinates, MomentumObserver, POINT, project, projected_runge_kutta,
    statics, TaskSpace)
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.minimal_motions import spread
from liedyn_ros.dynamics.linearization import linearize
from liedyn_ros.model import Model, ModelBuilder, pose, SpatialInertia
from liedyn_ros.retiming import LoopPath, MotionLimits, retime

Z, Y = [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]
CRANK = SpatialInertia(0.1, [0.05, 0.0, 0.0], 1e-4 * np.eye(3))
SLIDE = SpatialInertia(1.0, [0.0, 0.0, 0.0], 0.01 * np.eye(3))
FORMS = 'ball', 'free', 'revolute', 'telescope', 'beyond', 'hinges', 'askew'


def rod(off: float = 0.0, height: float = 0.1) -> SpatialInertia:
    """Return a rod of 0.05 kg along z, whose mass may be off its line."""
    return SpatialInertia(0.05, [off, 0.0, height], np.diag([1e-4, 1e-4, 1e-5]))


def crank_and_slide(form: str, off: float = 0.0) -> Model:
    """Return a crank that lifts a slide by a rod of 0.2 m which spins, in a form of its joints."""
    builder = ModelBuilder(form)
    builder.add_body('crank', CRANK)
    builder.add_joint('motor', 'revolute', None, 'crank', axis=[0.0, -1.0, 0.0])
    builder.add_body('slide', SLIDE)
    placed = pose([0.1, 0.0, 0.2])
    if form != 'beyond':
        builder.add_joint('out', 'prismatic', None, 'slide', axis=Z, placement=placed,
                          actuated=False)
    builder.add_body('rod', rod(off))
    tip = pose([0.1, 0.0, 0.0])
    match form:
        case 'free':
            builder.add_joint('ends', 'free', None, 'rod', placement=tip, actuated=False)
            builder.add_closure('foot', 'spherical', 'crank', 'rod', placement_a=tip)
        case 'revolute':
            builder.add_body('cross', None)
            builder.add_joint('tilt', 'universal', 'crank', 'cross', axis=Y, placement=tip,
                              second_axis=[1.0, 0.0, 0.0], actuated=False)
            builder.add_joint('roll', 'revolute', 'cross', 'rod', axis=Z, actuated=False)
        case 'hinges' | 'askew':  # as URDF writes a ball joint, the spin in no one coordinate
            turn = [0.0, 0.0, 0.0] if form == 'hinges' else [0.4, -0.3, 0.5]
            for parent, child, axis, placed in (('crank', 'one', Z, pose(tip[:3, 3], turn)),
                                                ('one', 'two', [1.0, 0.0, 0.0], np.eye(4)),
                                                ('two', 'rod', Y, pose([0, 0, 0], turn).T)):
                if child != 'rod':
                    builder.add_body(child, None)
                builder.add_joint(f'{parent}_{child}', 'revolute', parent, child, axis=axis,
                                  placement=placed, actuated=False)
        case _:
            builder.add_joint('ball', 'spherical', 'crank', 'rod', placement=tip, actuated=False)
    end = pose([0.0, 0.0, 0.2])
    match form:
        case 'telescope':
            builder.add_body('piston', rod(off))
            builder.add_joint('stroke', 'prismatic', 'rod', 'piston', axis=Z)
            builder.add_closure('head', 'spherical', 'piston', 'slide', placement_a=end)
        case 'beyond':
            builder.add_joint('head', 'spherical', 'rod', 'slide', placement=end, actuated=False)
            builder.add_closure('rail', 'prismatic', None, 'slide', axis=Z, placement_a=placed)
        case _:
            builder.add_closure('head', 'spherical', 'rod', 'slide', placement_a=end)
    return builder.build()


@pytest.mark.parametrize('form', FORMS)
def test_the_motor_carries_what_virtual_work_says(form: str) -> None:
    dynamics = ConstrainedDynamics(crank_and_slide(form))
    q, rest = assemble(dynamics), np.zeros(dynamics.model.nv)
    motor = dynamics.model.joint('motor').vi
    lifted = 1.0 + 0.05 + 0.05 * (form == 'telescope') + 0.05  # slide, rod, piston, half the crank
    found = dynamics.inverse(q, rest, rest)
    assert found.tau[motor] == pytest.approx(lifted * 9.81 * 0.1)
    held = statics(dynamics, q)
    assert held.efforts['motor'] == pytest.approx(lifted * 9.81 * 0.1)
    assert set(held.efforts) == set(held.by) == {
        name for name in ('motor', 'stroke') if name in dynamics.model.joints}


@pytest.mark.parametrize('marked', [True, False])
@pytest.mark.parametrize('form', FORMS)
def test_minimal_coordinates_of_motors_hold_spins(form: str, marked: bool) -> None:
    model, rng = crank_and_slide(form, 0.01), np.random.default_rng(0)
    motors = [name for name in ('motor', 'stroke') if name in model.joints]
    if not marked:
        model = replace(model, joint_list=tuple(
            replace(joint, actuated=True) for joint in model.joint_list))
    dynamics = ConstrainedDynamics(model)
    least = MinimalCoordinates(dynamics, motors if not marked else None)
    assert set(least.by) == set(motors) and least.held.sum() == 1
    f = least.model.nv
    q = least.model.integrate(assemble(dynamics), 0.1 * rng.normal(size=f))
    v, a = rng.normal(size=(2, f))
    rates = least.velocity(q, v)
    assert not rates[least.held].any()
    rises = complete_acceleration(dynamics, q, rates, spread(least, a), least.known)
    tau = least.inverse(q, v, a)
    wanted = dynamics.inverse(q, rates, rises, actuated=motors)
    assert_same(tau, np.asarray(wanted)[least.known], 1e-9)
    assert_same(least.forward(q, v, tau), a, 1e-9)
    again = [[tau, np.zeros(f)]], [[a, np.zeros(f)]]
    assert_same(least.forward.time_derivatives_batch([q], [v], again[0])[0, 0], a, 1e-9)
    assert_same(least.inverse.time_derivatives_batch([q], [v], again[1])[0, 0], tau, 1e-9)
    at, model_at = least.forward.partial_derivatives(q, v, tau), linearize(least, q, v, tau)
    assert_same(model_at.A[f:], np.hstack((at.by_q, at.by_v)), 1e-12)
    calls = (lambda e: least.forward(least.model.integrate(q, e), v, tau),
             lambda e: least.forward(q, v + e, tau), lambda e: least.forward(q, v, tau + e))
    for call, by in zip(calls, at[1:4]):
        assert_same(by, np.column_stack([
            (call(1e-5 * e) - call(-1e-5 * e)) / 2e-5 for e in np.eye(f)]), 1e-6, floor=1.0)
    weights = [MinimalCoordinates(ConstrainedDynamics(replace(model, link_table=replace(
        model.link_table, gravity=g * np.eye(3)[2]))), motors).forward(q, v, tau) for g in (0, 1)]
    assert_same(at.by_gravity[:, 2], weights[1] - weights[0], 1e-9)


@pytest.mark.parametrize('form', FORMS)
def test_tasks_are_those_of_rods_that_spin_and_of_no_rounding(form: str) -> None:
    """A slide that hangs on its rod moves across its rail by 1e-16 m/s: that is no motion."""
    dynamics, rng = ConstrainedDynamics(crank_and_slide(form, 0.01)), np.random.default_rng(0)
    n = dynamics.model.nv
    q, v = project(dynamics, dynamics.model.integrate(
        assemble(dynamics), 0.1 * rng.normal(size=n)), rng.normal(size=n))
    at = TaskSpace(dynamics, {'slide': POINT})(q, v)
    assert at.rank == 1
    a = dynamics.forward(q, v, at.efforts([0.0, 0.0, 0.3]))
    assert_same((at.jacobian @ a + at.drift)[2], 0.3, 1e-9)


@pytest.mark.parametrize('form', FORMS)
def test_a_tracker_of_motors_lets_rods_not_spin(form: str) -> None:
    dynamics = ConstrainedDynamics(crank_and_slide(form))
    motors = [name for name in ('motor', 'stroke') if name in dynamics.model.joints]
    tracker = LoopTracker(dynamics, motors, start=assemble(dynamics))
    spin = idle_spins(dynamics)
    for t in np.linspace(0.0, 0.3, 7):
        at = np.array([t, 0.02 * t])[:len(motors)]
        found = tracker.update(at, np.ones(len(motors)), np.ones(len(motors)))
        assert found.v is not None and found.a is not None
        rates = complete_velocity(dynamics, found.q, found.v, motors)
        assert_same(found.v, rates, 1e-9)
        rises = complete_acceleration(dynamics, found.q, rates, found.a, motors)
        assert_same(found.a, rises, 1e-9)
        assert not found.v[spin].any() and np.abs(dynamics.residual(found.q)).max() < 1e-9
    least, points = MinimalCoordinates(dynamics), 0.2 * np.arange(3)[:, None] * np.eye(
        len(motors))[:1]
    run = retime(least, LoopPath(least, points, motors), MotionLimits(velocity=2.0))
    assert 0.4 / 2.0 < run.duration < 0.3


def test_an_observer_by_motors_takes_rods_that_spin() -> None:
    dynamics, pushed, dt = ConstrainedDynamics(crank_and_slide('ball')), 0.5, 1e-3
    observer, found = MomentumObserver(dynamics, gain=100.0, by=['motor']), np.zeros(1)
    q = assemble(dynamics)
    motors, touch = statics(dynamics, q).solution.tau, np.zeros(dynamics.model.nv)
    touch[dynamics.model.joint('motor').vi] = pushed  # N m
    v, spin = np.zeros(dynamics.model.nv), dynamics.names.mask('', ['ball/wz'])
    v[spin] = 3.0  # rad/s: the rod spins, and nobody minds
    for _ in range(100):
        found = observer(q, v, motors, dt)
        q, v = projected_runge_kutta.step(dynamics, q, v, dt, motors + touch)
    assert_same(found, [pushed], 0.01)
    assert abs(v[spin][0]) > 2.9


@pytest.mark.parametrize('form', FORMS)
def test_motors_of_a_call_leave_spins_of_a_file_that_marks_none(form: str) -> None:
    """As of a URDF, whose joints all count as driven: whoever names motors names no spins."""
    marked = crank_and_slide(form)
    model = replace(marked, joint_list=tuple(
        replace(joint, actuated=True) for joint in marked.joint_list))
    motors = [name for name in ('motor', 'stroke') if name in model.joints]
    found, wanted = ConstrainedDynamics(model), ConstrainedDynamics(marked)
    q, rest = assemble(wanted), np.zeros(model.nv)
    options = {'actuated': motors}
    np.testing.assert_array_equal(found.inverse(q, rest, rest, **options),
                                  wanted.inverse(q, rest, rest))
    assert statics(found, q, **options).efforts == pytest.approx(statics(wanted, q).efforts)
    v = complete_velocity(found, q, np.ones(model.nv), motors)
    np.testing.assert_array_equal(v, complete_velocity(wanted, q, np.ones(model.nv)))


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('off', [0.0, 1e-3])
def test_a_motion_takes_the_forces_that_make_it(form: str, off: float) -> None:
    dynamics, rng = ConstrainedDynamics(crank_and_slide(form, off)), np.random.default_rng(1)
    model = dynamics.model
    q = assemble(dynamics, model.integrate(
        assemble(dynamics), 0.1 * rng.normal(size=model.nv)))
    v = complete_velocity(dynamics, q, rng.normal(size=model.nv))
    a = complete_acceleration(dynamics, q, v, rng.normal(size=(4, model.nv)))
    found = dynamics.inverse(q, v, a)
    assert_same(dynamics.forward(q, v, found.tau).a, a, 1e-8)
    batch = dynamics.inverse.batch([q, q], [v, v], [a, a])
    assert_same(batch.tau[1], found.tau, 1e-12)
    # Forces are those of hybrid dynamics with all spins given, where no moment is needed.
    idle = np.abs(found.tau).max(axis=0) > 1e-10
    given = dynamics.hybrid(q, v, model.actuated | idle, a, np.zeros_like(a))
    assert_same(given.tau[0], found.tau[0], 1e-8)
    varied = dynamics.inverse.partial_derivatives(q, v, a[0])
    apart = [dynamics.inverse(q, s * v, s * s * a[0]).tau for s in (1.0 + 1e-5, 1.0 - 1e-5)]
    assert_same(varied.by_v @ v + varied.by_a @ (2.0 * a[0]), (apart[0] - apart[1]) / 2e-5, 1e-6)


def hanging(form: str) -> Model:
    """Return a machine whose free motion is none of a rod about itself."""
    builder = ModelBuilder(form)
    builder.add_body('crank', CRANK)
    builder.add_joint('motor', 'revolute', None, 'crank', axis=Y)
    builder.add_body('door', rod(0.1 if form == 'door' else 0.0))
    builder.add_joint('ball', 'spherical', 'crank', 'door', actuated=False)
    if form == 'door':
        builder.add_closure('hinge', 'spherical', 'crank', 'door', placement_a=pose([0, 0, 0.2]),
                            placement_b=pose([0, 0, 0.2]))
    return builder.build()


@pytest.mark.parametrize('form', ['door', 'pendulum'])
def test_doors_and_pendulums_are_no_rods(form: str) -> None:
    model = hanging(form)
    dynamics, rest = ConstrainedDynamics(model), np.zeros(model.nv)
    with pytest.raises(ModelError) as caught:
        dynamics.inverse(assemble(dynamics), rest, rest)
    assert any(name.startswith('ball') for name in caught.value.names)


def test_functions_may_hold_a_spin() -> None:
    model = crank_and_slide('revolute')
    at = model.joint('roll').qi

    def residual(q: np.ndarray) -> np.ndarray:
        return q[at:at + 1]

    def jacobian(q: np.ndarray) -> np.ndarray:
        return np.eye(model.nv)[at:at + 1]

    held = ConstraintFunction('no roll', 1, residual, jacobian, bias=lambda q, v: [0.0])
    dynamics = ConstrainedDynamics(model, functions=[held])
    q, rest = assemble(dynamics), np.zeros(model.nv)
    found = dynamics.inverse(q, rest, rest)
    assert np.abs(found.tau[~model.actuated]).max() == 0.0


def test_a_spin_that_is_given_stays() -> None:
    dynamics = ConstrainedDynamics(crank_and_slide('revolute'))
    names = list(dynamics.model.coordinate_names)
    q, rates = assemble(dynamics), np.where([name == 'roll' for name in names], 5.0, 0.3)
    free = complete_velocity(dynamics, q, rates)
    assert free[names.index('roll')] == 0.0
    given = complete_velocity(dynamics, q, rates, ['motor', 'roll'])
    assert given[names.index('roll')] == 5.0
    assert_same(np.where(rates == 5.0, 0.0, given), free, 1e-12)
    a = complete_acceleration(dynamics, q, given, np.zeros(len(names)))
    assert_same(dynamics.forward(q, given, dynamics.inverse(q, given, a).tau).a, a, 1e-9)
