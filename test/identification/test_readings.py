# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recorded columns that are no readings of their own: units, signs, delays, exchanged names."""

from dataclasses import replace
import re

import numpy as np
import pytest
from scipy.stats import t as student
from support.comparison import assert_same
from support.recordings.recorded_motion import arm_motion, true_arm, wrong_urdf
from support.refusals import refused

from liedyn_ros.commands.identification.report import CHECK_OF_UNIT, findings
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification import identify, Recording, with_payload
from liedyn_ros.identification.delays import likely_delay
from liedyn_ros.identification.effort_checks import (
    require_efforts, require_joint_angles, require_own_columns)
from liedyn_ros.identification.equations import Equations, equations_of
from liedyn_ros.identification.joints.friction import with_friction
from liedyn_ros.identification.motion.motion import motion_of
from liedyn_ros.identification.readings import (
    likely_reading, MAX_SPAN, OFFSET_STEP, open_zeros)
from liedyn_ros.model import (
    Limits, load_model, Model, ModelBuilder, SpatialInertia, with_inertias)

FIXED_CUTOFFS = {'smoothing': 5.0, 'cutoff': 4.0}  # without a search


def light_hand():
    """Return an arm whose last body is a tenth of a kilogram, and a recording without friction."""
    arm = true_arm()
    model = with_inertias(arm, {'fore': SpatialInertia(
        0.1, [0.0, 0.0, 0.02], 1e-5 * np.eye(3)).parameters()})
    time, q, v, a, _ = arm_motion(model, 3, 24.0, 100.0)
    return model, time, q, v, Dynamics(model).inverse.batch(q, v, a)


def presliding(v, size, give, step):
    """Return the friction (n,) of Dahl, N m: it lags behind v, as a spring does."""
    force = np.zeros(len(v))
    for k in range(1, len(v)):
        force[k] = np.clip(force[k - 1] + size / give * v[k] * step * (
            1.0 - force[k - 1] / size * np.sign(v[k])), -size, size)
    return force


def mostly_friction(sign):
    """Return a wrong model and a recording of a hand whose friction lags; sign is its unit's."""
    model, time, q, v, tau = light_hand()
    tau[:, 2] += presliding(v[:, 2], 1.5, 0.05, time[1]) + 0.02 * np.random.default_rng(1).normal(
        size=len(time))
    given = with_inertias(model, {each.name: 1.3 * each.inertia.parameters()
                                  for each in model.body_list})
    tau[:, 2] *= sign
    return given, Recording(model, time, q, tau)


@pytest.mark.full
def test_a_joint_that_is_mostly_friction_gives_no_evidence_of_its_unit() -> None:
    """Friction that lags imitates an inertia below 0."""
    told = [each for each in identify(*mostly_friction(1.0)).verdict.remarks
            if 'gives no evidence' in each]
    assert len(told) == 1 and 'elbow' in told[0].partition(':')[0]
    assert 'shoulder' not in told[0]


def test_a_negated_joint_that_is_mostly_friction_is_refused() -> None:
    """Friction drives there."""
    with pytest.raises(LimitError) as caught:
        identify(*mostly_friction(-1.0))
    assert caught.value.names == ('elbow',)


@pytest.mark.parametrize('degrees', (90.0, -70.0, 180.0))
def test_a_last_joint_that_counts_from_elsewhere_is_a_doubt(degrees) -> None:
    """Its body may lie anywhere, so that fitted ones explain both: given ones tell it roughly."""
    model = true_arm()
    time, q, _, _, tau = arm_motion(model, 3, 24.0, 100.0)
    tau = tau + 0.02 * np.random.default_rng(2).normal(size=tau.shape)
    given = with_inertias(model, {each.name: 1.2 * each.inertia.parameters()
                                  for each in model.body_list})

    def read(angles):
        motion = motion_of(given, Recording(given, time, angles, tau))
        return likely_reading(given, motion, equations_of(given, motion))

    assert read(q) == (None, False)
    found, must = read(q - np.radians([0.0, 0.0, degrees]))
    assert found.name == model.joint_list[2].name and not must
    assert np.cos(found.shift - np.radians(degrees)) > np.cos(OFFSET_STEP)


def test_rounding_speaks_for_no_way_of_reading(tmp_path) -> None:
    """Without noise, fitted bodies explain efforts wherever the last joint counts from."""
    def held(model):
        builder = ModelBuilder.of(model)
        builder.lock_joint('base_joint', 0.0)
        return builder.build()

    given = held(load_model(wrong_urdf(tmp_path / 'robot.urdf')))
    time, q, v, _, tau = arm_motion(held(true_arm()), 1, 24.0, 100.0)
    motion = motion_of(given, Recording(given, time, q, tau, v))
    assert not likely_reading(given, motion, equations_of(given, motion))[1]


def arm_of_others(change):
    """Return a description that is 20 % too heavy, and a recording whose angles (n, 3) change."""
    return changed_columns(lambda time, q, tau: (time, change(q), tau))


def changed_columns(change):
    """Return a description that is 20 % too heavy, and a recording whose columns change."""
    model = true_arm()
    time, q, _, _, tau = arm_motion(model, 3, 24.0, 100.0)
    tau = tau + 0.02 * np.random.default_rng(2).normal(size=tau.shape)
    given = with_inertias(model, {each.name: 1.2 * each.inertia.parameters()
                                  for each in model.body_list})
    return given, Recording(given, *change(time, q, tau))


@pytest.mark.parametrize('one, other', [(0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize('exchanged', [(True, False), (False, True), (True, True)])
def test_columns_that_stand_under_each_others_names_are_refused(one, other, exchanged) -> None:
    """They were offered, with bodies that predicted worse than the given ones."""
    def change(time, q, tau):
        order = np.arange(3)
        order[[one, other]] = other, one
        return time, q[:, order] if exchanged[0] else q, tau[:, order] if exchanged[1] else tau

    given, recording = changed_columns(change)
    with pytest.raises(LimitError) as caught:
        identify(given, recording)
    assert caught.value.names == tuple(given.coordinate_names[k] for k in (one, other))
    motion = motion_of(given, recording)
    found, must = likely_reading(given, motion, equations_of(given, motion))
    assert must and found.exchanged == exchanged


def late_efforts(at, late):
    """Return a description, and a recording whose efforts of some joints are steps late."""
    def change(time, q, tau):
        tau[:, at] = np.roll(tau, late, axis=0)[:, at]
        return (each[12:-12] for each in (time, q, tau))

    return changed_columns(change)


@pytest.mark.parametrize('late', (12, -7))
def test_efforts_that_come_late_are_refused_with_the_delay(late) -> None:
    """By less than a step of the recording's clock it is found."""
    given, recording = late_efforts(slice(None), late)
    with pytest.raises(LimitError) as caught:
        identify(given, recording)
    assert caught.value.names == given.coordinate_names
    assert abs(caught.value.got - late / recording.rate) < 1.0 / recording.rate


@pytest.mark.parametrize('at', range(3))
def test_one_joint_whose_effort_comes_late_is_named(at) -> None:
    """Friction that lags is alike, so it is a doubt."""
    given, recording = late_efforts(at, 12)
    motion = motion_of(given, recording)
    found = likely_delay(given, motion, equations_of(given, motion))
    assert found.name == given.coordinate_names[at] and found.share < 0.1
    assert abs(found.seconds - 12.0 / recording.rate) < 1.0 / recording.rate


def test_efforts_in_time_have_no_delay() -> None:
    """Noise moves them by less than a step of the clock, and gains nothing."""
    given, recording = changed_columns(lambda *columns: columns)
    motion = motion_of(given, recording)
    found = likely_delay(given, motion, equations_of(given, motion))
    assert abs(found.seconds) < 1.0 / recording.rate and found.share > 0.9


def test_deviations_count_what_the_model_lacks() -> None:
    """Friction by load pulls parts apart, and unknowns further off than noise does."""
    def change(time, q, tau):
        speed = np.gradient(q, time, axis=0)
        return time, q, tau + 0.1 * np.abs(tau) * np.sign(speed)

    given, recording = changed_columns(change)
    estimate = identify(given, recording).estimate
    inertial = slice(estimate.plain.x.size - estimate.extra.size)
    ratio = (estimate.scatter / estimate.plain.deviations)[inertial]
    assert (estimate.deviations[inertial] >= estimate.scatter[inertial]).all()
    assert ratio.max() > 1.0
    wide = (estimate.half_widths(0.95) / estimate.deviations)[inertial]
    assert_same(wide[ratio > 1.0], student.ppf(0.975, 4), 1e-12)  # of five parts
    assert_same(wide[ratio < 1.0], student.ppf(0.975, estimate.plain.freedom), 1e-12)


@pytest.mark.parametrize('change', (
    lambda tau: np.clip(tau, -0.5 * tau.max(axis=0), 0.5 * tau.max(axis=0)), np.abs))
def test_efforts_that_are_cut_off_or_have_no_signs_are_refused(change) -> None:
    """Models that were worse than the given one were offered."""
    given, recording = changed_columns(lambda time, q, tau: (time, q, change(tau)))
    with pytest.raises(LimitError) as caught:
        identify(given, recording)
    assert {*caught.value.names} <= {*given.coordinate_names}


def swinging_rod(mass):
    builder = ModelBuilder('rod')
    builder.add_body('rod', SpatialInertia(mass, [0.0, 0.0, -0.3], 0.01 * mass * np.eye(3)))
    builder.add_joint('pivot', 'revolute', None, 'rod', axis=[0.0, 1.0, 0.0])
    return builder.build()


@pytest.mark.parametrize('share', (0.05, 0.15))
def test_efforts_in_coarse_steps_are_not_cut_off(share) -> None:
    def change(time, q, tau):
        step = share * np.ptp(tau, axis=0)
        return time, q, np.round(tau / step) * step

    given, recording = changed_columns(change)
    require_own_columns(given, recording)


def test_limits_of_one_position_say_nothing_of_units() -> None:
    """A URDF without lower and upper has 0 for both: all joints were told to be in degrees."""
    given, recording = changed_columns(lambda *columns: columns)
    limits = Limits(0.0, 0.0)
    require_own_columns(replace(given, joint_list=tuple(
        replace(each, limits=limits) for each in given.joint_list)), recording)


def test_one_joint_alone_may_have_half_of_its_mass() -> None:
    """Only several joints tell a unit by less than the factor of one whose body is wrong."""
    true, given = (swinging_rod(mass) for mass in (1.0, 2.2))
    time, q, _, _, tau = arm_motion(true, 3, 24.0, 100.0)
    tau = tau + 0.02 * np.random.default_rng(2).normal(size=tau.shape)
    motion = motion_of(given, Recording(given, time, q, tau))
    equations = equations_of(given, motion)
    unit, doubts = require_efforts(given, equations, with_friction(
        given, motion, equations, ('spring',), {}))
    assert given.coordinate_names[0] in unit and not doubts


@pytest.mark.parametrize('what', ('positions', 'efforts', 'stood'))
def test_columns_that_are_no_readings_of_their_own_are_refused(what) -> None:
    """They are a copy of another joint's, or one number while the joint moves."""
    def change(time, q, tau):
        if what == 'stood':
            tau[800:1600, 1] = tau[800, 1]
        else:
            (q if what == 'positions' else tau)[:, 2] = (q if what == 'positions' else tau)[:, 1]
        return time, q, tau

    given, recording = changed_columns(change)
    with pytest.raises(LimitError) as caught:
        identify(given, recording)
    assert set(caught.value.names) == {*given.coordinate_names[1:2 if what == 'stood' else 3]}


@pytest.mark.parametrize('at', range(3))
@pytest.mark.parametrize('unit, ticks', [(np.pi / 180.0, 0), (2.0 * np.pi, 0), (
    2.0 * np.pi / 4096, 1234)])
def test_a_joint_in_another_unit_is_refused_with_the_unit(at, unit, ticks) -> None:
    """Degrees and turns exactly; ticks, from a zero of their own, to two percent."""
    def change(q):
        q[:, at] = np.round(q[:, at] / unit + ticks) if ticks else q[:, at] / unit
        return q

    given, recording = arm_of_others(change)
    with pytest.raises(LimitError) as caught:
        identify(given, recording)
    assert caught.value.names == (given.coordinate_names[at],)
    motion = motion_of(given, recording)
    found, must = likely_reading(given, motion, equations_of(given, motion))
    assert must and found.row[at] == pytest.approx(unit, rel=0.02 if ticks else 1e-5)
    assert found.option.startswith(f'--reads {given.coordinate_names[at]}={found.row[at]:.7g}*')


@pytest.mark.parametrize('scale', (0.3, 0.6))
def test_efforts_that_are_small_at_all_joints_are_refused(scale) -> None:
    """As in amperes of motors alike: models of a half of the masses were offered."""
    given, recording = changed_columns(lambda time, q, tau: (
        time, q, scale * np.array([1.0, 0.95, 1.05]) * tau))
    with pytest.raises(LimitError) as caught:
        identify(given, recording)
    assert {*given.coordinate_names[1:]} <= {*caught.value.names}  # the first axis is upright


def scaled_equations(scale: float, load: float) -> tuple[Model, Equations]:
    """Return an arm and its equations: a load of that mass, and friction that the model lacks."""
    given = true_arm()
    model = with_payload(given, 'fore', SpatialInertia(
        load, [0.02, 0.0, 0.3], 0.01 * np.eye(3)).parameters()) if load else given
    time, q, v, _, tau = arm_motion(model, 3, 24.0, 100.0)
    tau = scale * (tau + 0.05 * np.abs(tau) * np.sign(v))
    tau += 0.02 * np.random.default_rng(2).normal(size=tau.shape)
    return given, equations_of(given, motion_of(given, Recording(given, time, q, tau)))


@pytest.mark.parametrize('load', (0.0, 1.0))
@pytest.mark.parametrize('scale', (2.6, 3.5))
def test_efforts_that_are_large_at_all_joints_are_no_load(scale, load) -> None:
    """Beside a load too: a heavier one, which looks alike, is more than such arms carry."""
    given, equations = scaled_equations(scale, load)
    with pytest.raises(LimitError) as caught:
        require_efforts(given, equations, equations)
    assert caught.value.names == given.coordinate_names


@pytest.mark.parametrize('scale, load', [(1.0, 2.0), (1.4, 1.0)])
def test_efforts_that_a_load_explains_are_in_doubt(scale, load) -> None:
    """A load of three times the last body was refused."""
    unit, _ = require_efforts(*(found := scaled_equations(scale, load)), found[1])
    assert all(name in unit for name in found[0].coordinate_names)


def test_one_joint_that_carries_several_bodies_shows_a_unit() -> None:
    """Friction hides the others: of a TX40 one joint shows the unit, and models were offered."""
    given, equations = scaled_equations(1.0, 0.0)
    scales = [name for name in given.coordinate_names if name != 'shoulder']  # which say nothing
    require_efforts(given, equations, equations, scales)
    for factor in (3.0, 0.4):
        other = replace(equations, forces=factor * equations.forces)
        with pytest.raises(LimitError) as caught:
            require_efforts(given, other, other, scales)
        assert 'shoulder' in caught.value.names


def test_a_last_body_that_was_not_there_is_no_unit() -> None:
    """A Panda's hand: efforts of all joints were said to be in another unit, or all bodies off."""
    arm = true_arm()
    given = with_inertias(arm, {'fore': 1.5 * arm.body('fore').inertia.parameters()})
    time, q, _, _, tau = arm_motion(arm, 3, 24.0, 100.0)
    tau += 0.02 * np.random.default_rng(2).normal(size=tau.shape)
    equations = equations_of(given, motion_of(given, Recording(given, time, q, tau)))
    assert require_efforts(given, equations, equations) == ('', ())


@pytest.mark.parametrize('load', (0.0, 1.0))
@pytest.mark.parametrize('scale', (0.9, 1.4))
def test_a_load_and_friction_that_the_model_lacks_are_no_unit(scale, load) -> None:
    given, equations = scaled_equations(scale, load)
    require_efforts(given, equations, equations)


def test_a_description_that_is_a_third_too_heavy_is_no_unit() -> None:
    given, recording = changed_columns(lambda time, q, tau: (time, q, 0.9 * tau))
    result = identify(given, recording, **FIXED_CUTOFFS)
    assert result.offered and '0.75 times what the given model needs' in result.verdict.remarks[1]
    unsure = findings(replace(result, verdict=replace(result.verdict, unit='doubled')), None, '')
    assert unsure.good is None and unsure.next_step == CHECK_OF_UNIT


@pytest.mark.parametrize('factors, limits', [
    ([180.0 / np.pi] * 3, True), ([180.0 / np.pi] * 3, False), ([50.0, 100.0, 160.0], True),
    ([50.0, 100.0, 160.0], False)])
def test_angles_of_all_joints_in_another_unit_are_refused(factors, limits) -> None:
    """Degrees and angles of motors before their gears, which efforts tell without limits."""
    given, recording = arm_of_others(lambda q: q * factors)
    if not limits:
        builder = ModelBuilder.of(given)
        for name in given.coordinate_names:
            builder.replace_joint(name, 'continuous', axis=given.joint(name).axis)
        given = builder.build()
    with refused(LimitError, *given.coordinate_names):
        identify(given, recording)


def test_angles_of_motors_are_named_beside_joints_without_limits() -> None:
    given, recording = arm_of_others(lambda q: q * 100.0)
    builder = ModelBuilder.of(given)
    builder.replace_joint('base_joint', 'continuous', axis=given.joint('base_joint').axis)
    with refused(LimitError, *given.coordinate_names):
        require_own_columns(builder.build(), recording)


@pytest.mark.parametrize('unit', (1.0, 0.05))
def test_wheels_that_turn_on_and_on_have_angles_of_their_own(unit) -> None:
    """Efforts in amperes are another unit of theirs, not of the angles."""
    builder = ModelBuilder('cart')
    for k in range(2):
        builder.add_body(f'wheel_{k}', SpatialInertia(2.0, np.zeros(3), 0.02 * np.eye(3)))
        builder.add_joint(f'axle_{k}', 'continuous', None, f'wheel_{k}', axis=[0.0, 1.0, 0.0],
                          friction=0.1)
    model = builder.build()
    time, q, v, a, _ = arm_motion(model, 3, 24.0, 100.0)
    q, v = q + np.outer(time, [12.0, -9.0]), v + [12.0, -9.0]
    tau = unit * Dynamics(model).inverse.batch(q, v, a)
    motion = motion_of(model, Recording(model, time, q, tau))
    assert (np.ptp(motion.q, axis=0) > MAX_SPAN).all()
    require_joint_angles(model, motion, equations_of(model, motion))


def test_zeros_that_efforts_do_not_tell_are_named() -> None:
    """A first axis that is upright, and a last body that may be turned about its axis."""
    def zeros(degrees):
        given, recording = arm_of_others(lambda q: q - np.radians([30.0, 0.0, degrees]))
        motion = motion_of(given, recording)
        return open_zeros(given, motion, equations_of(given, motion))[0]

    named, _, asked = zeros(0.0).partition('are not observable')
    assert 'base_joint, elbow' in named and 'shoulder' not in named
    assert 'shoulder) or better' in asked and 'base_joint' not in asked
    for degrees in (0.0, 5.0, -20.0):
        found = re.search(r'elbow ([+-][0-9]+)', zeros(degrees))
        assert abs(float(found.group(1)) - degrees) < 2.0
