# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Friction of Stribeck and by load, and scales of efforts: the truth is found, and its spread."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import least_squares
from support.machines.looped_machines import five_bar
from support.recordings.recorded_motion import arm_motion, coloured, loop_motion, true_arm
from support.refusals import refused

from liedyn_ros.common.errors import LimitError, NameSetError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.identification import identify, is_consistent, LoopRegressor, Recording
from liedyn_ros.identification.equations import equations_of
from liedyn_ros.identification.joints.scales import with_scales
from liedyn_ros.identification.motion.motion import motion_of
from liedyn_ros.identification.robust_fit import robust_fit
from liedyn_ros.lie import so3
from liedyn_ros.model import with_gravity, with_inertias, with_resistances

FRICTION = 'damping', 'friction', 'offset'
ARM = true_arm()
NAMES = ARM.coordinate_names
SPEED, SIZE = np.array([0.05, 0.1, 0.2]), np.array([0.4, 0.9, 0.3])  # rad/s, N m
LOAD = np.array([0.03, 0.05, 0.08])
UNITS = np.array([1.0, 8.0, 0.2])  # recorded ones of a N m
FIXED_SETTINGS = {'prior': 0.1, 'smoothing': 5.0, 'cutoff': 4.0}  # without a search


def wrong(model):
    return with_inertias(model, {
        body.name: 1.3 * body.inertia.parameters() for body in model.body_list})


def without_friction(model):
    zero = dict.fromkeys(model.coordinate_names, 0.0)
    return with_resistances(model, zero, zero)


@cache
def motion():
    """Return a motion of the arm, its efforts, and those without friction."""
    time, q, v, a, tau = arm_motion(ARM, 1, 24.0, 200.0)
    return time, q, v, tau, Dynamics(without_friction(ARM)).inverse.batch(q, v, a)


def recorded(*, stribeck=False, load=False, units=None):
    """Return time, q and efforts of an arm with more friction than models have."""
    time, q, v, tau, bearing = motion()
    if stribeck:
        tau = tau + SIZE * np.sign(v) * np.exp(-(v / SPEED)**2)
    if load:
        tau = tau + LOAD * np.abs(bearing) * np.sign(v)
    return time, q, tau if units is None else tau * units


def found(time, q, tau, **options):
    pytest.importorskip('clarabel')
    result = identify(wrong(ARM), Recording(ARM, time, q, tau), rotor_inertia=False, **options)
    assert result.offered, result.verdict
    assert all(is_consistent(each) for each in result.estimate.bodies.values())
    return result


def assert_dissipates_as_the_arm(result):
    table = result.model.link_table
    np.testing.assert_allclose(table.damping, ARM.link_table.damping, rtol=0.02)
    np.testing.assert_allclose(table.friction, ARM.link_table.friction, rtol=0.05)


def test_stribeck_friction_and_its_speeds_are_found():
    result = found(*recorded(stribeck=True), friction=(*FRICTION, 'stribeck'))
    size, speed = np.array([result.stribeck[name] for name in NAMES]).T
    np.testing.assert_allclose(speed, SPEED, rtol=0.1)
    np.testing.assert_allclose(size, SIZE, rtol=0.1)
    assert_dissipates_as_the_arm(result)
    assert any('parameters.json has' in each for each in result.verdict.remarks)


@pytest.mark.full
def test_friction_by_load_is_that_of_the_identified_bodies():
    """The load is of what is identified, not of the given model, which is wrong by a third."""
    result = found(*recorded(load=True), friction=(*FRICTION, 'load'))
    np.testing.assert_allclose([result.load_friction[name] for name in NAMES], LOAD, rtol=0.01)
    assert_dissipates_as_the_arm(result)


def test_scales_follow_from_bodies_that_joints_share():
    result = found(*recorded(units=UNITS), scales=NAMES[1:])
    for name, unit in zip(NAMES[1:], UNITS[1:]):
        assert result.scales[name][0] == pytest.approx(1.0 / unit, rel=1e-3)
    assert_dissipates_as_the_arm(result)


@pytest.mark.full
def test_all_together():
    """The given model, wrong by a third, pulls scales: their deviations count it."""
    result = found(*recorded(stribeck=True, load=True, units=UNITS), scales=NAMES[1:],
                   friction=(*FRICTION, 'stribeck', 'load'))
    for name, unit in zip(NAMES[1:], UNITS[1:]):
        value, deviation = result.scales[name]
        assert abs(value - 1.0 / unit) < 2.0 * deviation < 0.1 * value
    assert (result.held_out['consistent'] < 0.05 * result.held_out['given']).all()


def noisy_equations(rng, memory):
    time, q, tau = recorded(units=UNITS)
    noise = 0.02 * np.abs(tau).max(axis=0) * coloured(rng, tau.shape, memory)
    motion = motion_of(ARM, Recording(ARM, time, q + 1e-5 * rng.normal(size=q.shape), tau + noise))
    return equations_of(ARM, motion, rotor_inertia=False)


def test_scales_are_those_of_a_general_least_squares_search():
    """The same bilinear problem, by scipy, with the weights of the robust fit."""
    plain = noisy_equations(np.random.default_rng(3), 0.0)
    scaled = with_scales(ARM, plain, NAMES[1:], 0.7 * UNITS)
    fit = robust_fit(scaled.rows, scaled.forces)
    by = fit.weight * np.sqrt(fit.huber) / scaled.scales
    count = plain.rows.shape[2]

    def errors(x):
        units = np.concatenate([[1.0], x[count:]])
        return (by * (units * (plain.rows @ x[:count]) - plain.forces)).ravel()

    start = np.concatenate([fit.x[:count], 0.9 * scaled.scales[1:]])
    searched = least_squares(errors, start, x_scale=np.maximum(np.abs(start), 0.1), xtol=1e-12)
    np.testing.assert_allclose(searched.x[count:], scaled.scales[1:], rtol=2e-3)


@pytest.mark.full
@pytest.mark.parametrize('memory', (0.0, 0.9))
def test_true_scales_lie_within_the_stated_spread(memory):
    rng, squares = np.random.default_rng(4), []
    for _ in range(8):
        equations = with_scales(ARM, noisy_equations(rng, memory), NAMES[1:], UNITS)
        spread = robust_fit(equations.rows, equations.forces).deviations[-2:]
        squares += (((equations.scales / UNITS)[1:] - 1.0) / spread).tolist()
    assert 0.3 < np.mean(np.square(squares)) < 2.2


@pytest.mark.full
def test_a_five_bar_has_friction_by_load_and_of_stribeck():
    """The load of its motors is what they give without friction, loops included."""
    model = without_friction(five_bar())
    start = assemble(ConstrainedDynamics(model), held={'left_0_joint': 2.2, 'right_0_joint': 0.9})
    time, q, v, _, tau = loop_motion(model, 3, 24.0, 50.0, start)
    side = np.sign(v) * model.actuated
    tau = tau + 0.06 * np.abs(tau) * side + 0.2 * side * np.exp(-(v / 0.05)**2)
    motion = motion_of(model, Recording(model, time, q, tau))
    pytest.importorskip('clarabel')
    result = identify(wrong(model), Recording(model, time, q, tau), rotor_inertia=False,
                      friction=('friction', 'stribeck', 'load'))
    assert len(motion.time) > 0 and isinstance(result.equations.regressor, LoopRegressor)
    np.testing.assert_allclose(list(result.load_friction.values()), 0.06, rtol=0.1)


@pytest.mark.parametrize(('options', 'error', 'name'), (
    ({'scales': NAMES}, LimitError, 'scales'), ({'scales': ('wrist',)}, NameSetError, 'wrist')))
def test_what_cannot_be_is_refused(options, error, name):
    time, q, tau = recorded()
    with refused(error, name):
        identify(ARM, Recording(ARM, time, q, tau), **options)


def test_a_negated_effort_of_unknown_unit_is_refused():
    time, q, tau = recorded(units=UNITS * [1.0, -1.0, 1.0])
    with refused(LimitError, "effort of ['shoulder', 'elbow']", got='negated ones'):
        identify(ARM, Recording(ARM, time, q, tau), scales=NAMES[1:])


def test_the_tilt_of_the_base_is_tried_named_and_found():
    """The recording is of an arm whose base leans by 0.6 and -0.4 degrees: gravity tells both."""
    lean = np.radians([0.6, -0.4])
    turned = so3.exp([*lean, 0.0]).T @ ARM.gravity
    time, q, v, a, _ = arm_motion(ARM, 5, 40.0, 100.0)
    tau = Dynamics(with_gravity(ARM, turned)).inverse.batch(q, v, a)
    tau = tau + 1e-3 * np.random.default_rng(3).normal(size=tau.shape)
    blind = found(time, q, tau, **FIXED_SETTINGS)
    assert 'tilt' in blind.missing and not blind.tilt.size
    result = found(time, q, tau, friction=(*FRICTION, 'tilt'), **FIXED_SETTINGS)
    np.testing.assert_allclose(result.tilt, lean, atol=np.radians(0.02))
    assert (result.held_out['consistent'] < blind.held_out['consistent']).any()
    assert 'tilt' not in result.missing


def test_springs_of_joints_are_tried_named_and_found():
    """As those of balancers, whose forces bodies cannot have; their rest is in the offset."""
    time, q, tau = recorded()
    springs = np.array([4.0, -3.0, 2.0])  # N m/rad, one that pushes away
    blind = found(time, q, tau + springs * (q - 0.3), **FIXED_SETTINGS)
    assert blind.missing[0] == 'spring' and not blind.springs
    result = found(
        time, q, tau + springs * (q - 0.3), friction=(*FRICTION, 'spring'), **FIXED_SETTINGS)
    np.testing.assert_allclose(list(result.springs.values()), springs, rtol=0.02)
    assert (result.held_out['consistent'] < blind.held_out['consistent']).all()


@pytest.mark.parametrize(('side', 'damping'), ((1, 0.7), (-1, 0.0)), ids=('sum', 'difference'))
def test_friction_of_motors_that_turn_with_two_joints_is_tried_named_and_found(side, damping):
    """As in hollow wrists, where one motor turns as a sum of joints, and in differentials."""
    time, q, v, tau, _ = motion()
    turns = v[:, 1] + side * v[:, 2]
    drag = damping * turns + 1.5 * np.sign(turns)
    tau = tau + np.column_stack([np.zeros(len(v)), drag, side * drag])
    blind = found(time, q, tau, **FIXED_SETTINGS)
    assert blind.missing[0] == 'coupled' and not blind.coupled
    result = found(time, q, tau, friction=(*FRICTION, 'coupled'), **FIXED_SETTINGS)
    assert 'coupled' not in result.missing
    others, pair = result.coupled, f'{NAMES[1]} {"+" if side > 0 else "-"} {NAMES[2]}'
    assert others.pop(f'{pair}/friction') == pytest.approx(1.5, rel=0.05)
    assert others.pop(f'{NAMES[1]} + {NAMES[2]}/damping') == pytest.approx(
        damping, rel=0.05, abs=0.05)
    assert len(others) == 4 and max(map(abs, others.values())) < 0.05
    assert_dissipates_as_the_arm(result)
    assert (result.held_out['consistent'] < blind.held_out['consistent'])[1:].all()
