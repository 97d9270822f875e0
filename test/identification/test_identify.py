# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Identification from simulated recordings: true parameters, stated covariances, real bodies."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import t as student
from support.comparison import assert_same
from support.machines.looped_machines import five_bar
from support.machines.model_variants import sprung
from support.machines.random_models import random_inertia, random_model
from support.recordings.recorded_motion import (
    arm_motion, coloured, group_motion, loop_motion, true_arm)
from support.refusals import refused

from liedyn_ros.common.errors import LimitError, ShapeError, StampError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.identification import (
    base_parameters, ExcitationLimits, identify, is_consistent, next_motion, Recording)
from liedyn_ros.identification.equations import equations_of
from liedyn_ros.identification.estimate import given_unknowns
from liedyn_ros.identification.held_out import HeldOutForces
from liedyn_ros.identification.motion.motion import motion_of
from liedyn_ros.identification.robust_fit import robust_fit
from liedyn_ros.identification.verdict import judge
from liedyn_ros.model import ModelBuilder, SpatialInertia, with_armatures, with_inertias

ARM = random_model(3, 4, False, types=('revolute', 'prismatic', 'revolute'))
FIXED_CUTOFFS = {'smoothing': 5.0, 'cutoff': 4.0}  # without a search


def free_body():
    """Return a floating base that carries two bodies on elbows."""
    return random_model(5, 2, True, types=('revolute',))


def bent_five_bar():
    """Return a five-bar linkage, in an assembly away from singular ones."""
    model = five_bar()
    return model, assemble(ConstrainedDynamics(model), held={
        'left_0_joint': 2.2, 'right_0_joint': 0.9})


def arm_case():
    time, q, _, _, tau = arm_motion(ARM, 1, 24.0, 100.0)
    return ARM, time, q, tau


def floating_case():
    model = free_body()
    time, q, _, _, tau = group_motion(model, 2, 24.0, 100.0)
    return model, time, q, tau


def loop_case():
    model, start = bent_five_bar()
    time, q, _, _, tau = loop_motion(model, 3, 24.0, 50.0, start)
    return model, time, q, tau


@cache
def case(name):
    """Return a model and a clean recording of it."""
    return CASES[name]()


@cache
def identified(name):
    """Return what a clean recording gives, from a model whose bodies are others."""
    model, time, q, tau = case(name)
    return identify(
        wrong(model), Recording(model, time, q, tau), rotor_inertia=False, sure=True)


CASES = {'arm': arm_case, 'floating base': floating_case, 'five-bar': loop_case}


def wrong(model, seed=0):
    """Return a model whose bodies are others."""
    rng = np.random.default_rng(seed)
    return with_inertias(model, {
        body.name: random_inertia(rng).parameters() * body.inertia.mass
        for body in model.body_list})


@pytest.mark.parametrize('name', CASES)
def test_clean_recordings_are_explained_and_bodies_are_possible(name) -> None:
    model, time, q, tau = case(name)
    result = identified(name)
    assert result.offered, result.verdict
    left = result.equations.rows @ result.estimate.consistent - result.equations.forces
    assert np.abs(left).max() < 1e-5  # N m
    assert all(is_consistent(each) for each in result.estimate.bodies.values())
    assert np.all(result.held_out['consistent'] < 1e-4 * result.held_out['given'])
    truth = given_unknowns(model, equations_of(
        model, motion_of(model, Recording(model, time, q, tau)), rotor_inertia=False))
    blind = result.estimate.plain.unseen
    seen = np.eye(len(truth)) - blind @ blind.T
    assert_same(seen @ result.estimate.plain.x, seen @ truth, 1e-4)


@pytest.mark.parametrize('name', CASES)
def test_the_new_model_has_the_forces_of_the_old_one(name) -> None:
    """Base parameters of the written bodies, which no part of the fit computes."""
    result = identified(name)
    equations = result.equations
    written = type(equations.regressor)(result.model)
    rows = equations.rows[..., :equations.base.rank]
    base = base_parameters(written, np.random.default_rng(20))
    assert base.rank == equations.base.rank
    found = rows @ base.values(written.parameters)
    found += equations.rows[..., base.rank:] @ result.estimate.extra
    assert np.abs(found - equations.forces).max() < 1e-5  # N m


def with_fixed_parts(model, count=12):
    """Return a model whose last body carries small ones, fixed to it and to each other."""
    rng = np.random.default_rng(10)
    builder, parent = ModelBuilder.of(model), model.bodies[-1]
    for k in range(count):
        builder.add_body(f'part_{k}', SpatialInertia(0.05, 0.02 * rng.normal(size=3),
                                                     1e-5 * np.eye(3)))
        place = np.eye(4)
        place[:3, 3] = 0.05 * rng.normal(size=3)
        builder.add_joint(f'part_{k}_joint', 'fixed', parent, f'part_{k}', placement=place)
        parent = f'part_{k}'
    return builder.build()


@pytest.mark.full
def test_bodies_fixed_to_each_other_are_fitted_as_one() -> None:
    """A hand of many parts has one cone, and the written parts have the recorded forces."""
    model = with_fixed_parts(ARM)
    time, q, v, a, tau = arm_motion(model, 1, 24.0, 100.0)
    given = with_inertias(model, {each.name: 1.5 * each.inertia.parameters()
                                  for each in model.body_list})
    found = identify(given, Recording(model, time, q, tau), rotor_inertia=False,
                     friction=('damping', 'friction'))
    assert found.offered and not found.verdict.worse
    np.testing.assert_allclose(Dynamics(found.model).inverse.batch(q, v, a), tau, atol=2e-4)
    assert set(found.estimate.bodies) == set(model.bodies)
    assert all(is_consistent(each) for each in found.estimate.bodies.values())


def test_a_joint_that_gets_worse_is_named() -> None:
    """What is better over all is offered, and the joint that is not is said, with its errors."""
    given, result = wrong(ARM), identified('arm')
    assert result.offered and not result.verdict.worse
    predicted = {method: each.copy() for method, each in result.unseen.predicted.items()}
    before = min(result.held_out[each][3] for each in ('given', 'refitted friction'))
    predicted['consistent'][:, 3] = result.unseen.forces[:, 3] + 1.25 * before
    verdict = judge(given, result.motion, result.equations, result.estimate,
                    replace(result.unseen, predicted=predicted))
    name = ARM.coordinate_names[3]
    assert verdict.offered and verdict.worse == (name,)
    assert verdict.reasons[1] == f'better at 3 of 4 joints, no better at {name}'
    assert any(f'{1.25 * before:.4g} against {before:.4g}. Record' in each
               for each in verdict.remarks if name in each)


def test_armatures_are_found_and_springs_are_known() -> None:
    """The new model holds both, so its inverse dynamics has the recorded forces."""
    model = sprung(ARM)
    time, q, v, a, tau = arm_motion(model, 6, 24.0, 100.0)
    bare = with_armatures(wrong(model), dict.fromkeys(model.coordinate_names, 0.0))
    terms = 'damping', 'friction'
    found = identify(
        bare, Recording(model, time, q, tau), friction=terms, sure=True, **FIXED_CUTOFFS)
    assert found.offered
    np.testing.assert_allclose(Dynamics(found.model).inverse.batch(q, v, a), tau, atol=2e-4)
    given = identify(wrong(model), Recording(model, time, q, tau), friction=terms,
                     rotor_inertia=False, sure=True, **FIXED_CUTOFFS)
    np.testing.assert_array_equal(given.model.link_table.armature, model.link_table.armature)
    np.testing.assert_allclose(Dynamics(given.model).inverse.batch(q, v, a), tau, atol=2e-4)


def test_held_out_parts_choose_how_much_the_given_model_counts() -> None:
    """Much where it is right, little where it is wrong; without noise no weight is better."""
    model, time, q, tau = case('arm')
    tau = tau + 0.3 * np.abs(tau).max(axis=0) * np.random.default_rng(8).normal(size=tau.shape)
    right, other = (identify(given, Recording(given, time, q, tau), rotor_inertia=False, sure=True,
                             **FIXED_CUTOFFS) for given in (model, wrong(model)))
    assert right.prior >= 10.0 > 1.0 >= other.prior


def slow_and_next():
    """Return an arm with a wrong description, a slow recording of it, and one as proposed."""
    model, rng = true_arm(), np.random.default_rng(4)
    given = with_inertias(model, {each.name: SpatialInertia(
        factor * each.inertia.mass, each.inertia.center_of_mass + 0.02 * rng.normal(size=3),
        factor * each.inertia.inertia_about_com).parameters()
        for each, factor in zip(model.body_list, (0.8, 1.25, 0.85))})
    time, q, v, a, _ = arm_motion(model, 5, 60.0, 100.0)  # a third as fast
    time, q, v, a = 3.0 * time[:2000], q[:2000], v[:2000] / 3.0, a[:2000] / 9.0
    keep = time < 20.0
    time, q, v, a = time[keep], q[keep], v[keep], a[keep]

    def recorded(q, v, a):
        tau = Dynamics(model).inverse.batch(q, v, a)
        return tau + 0.01 * np.abs(tau).max(axis=0) * coloured(rng, tau.shape, 0.9)

    first = Recording(given, time, q, recorded(q, v, a))
    limits = ExcitationLimits(*np.array([[-2.0] * 3, [2.0] * 3, [2.0] * 3, [6.0] * 3, [np.inf]
                                         * 3]))
    ahead = next_motion(identify(given, first), limits, rounds=20).excitation
    start = float(time[-1]) + 1.0
    both = Recording(
        given, np.concatenate([time, start + ahead.t]), np.concatenate([q, ahead.q]),
        np.concatenate([first.tau, recorded(ahead.q, ahead.v, ahead.a)]), starts=(0.0, start))
    return model, given, first, both


@pytest.mark.full
def test_the_proposed_motion_is_accepted_beside_a_slow_first_recording() -> None:
    """Held-out parts have a share of both recordings, and both are smoothed as the faster one."""
    model, given, first, both = slow_and_next()
    result = identify(given, both)
    assert result.offered, result.verdict
    assert 'first recording' in result.held_out
    _, q, v, a, tau = arm_motion(model, 8, 10.0, 50.0)
    errors = [np.sqrt(np.mean((Dynamics(each).inverse.batch(q, v, a) - tau)**2, axis=0))
              for each in (given, identify(given, first).model, result.model)]
    assert (errors[2] < np.minimum(errors[0], errors[1])).all()


@pytest.mark.full
@pytest.mark.parametrize('memory', (0.0, 0.9, 0.97))
def test_the_truth_lies_within_the_stated_covariance(memory: float) -> None:
    """In 95 % of trials each, within what ten trials can tell."""
    time, q, _, _, tau = arm_motion(ARM, 4, 30.0, 100.0)
    rng, inside, distance = np.random.default_rng(5), [], []
    for _ in range(10):
        noise = 0.02 * np.abs(tau).max(axis=0) * coloured(rng, tau.shape, memory)
        motion = motion_of(ARM, Recording(
            ARM, time, q + 1e-5 * rng.normal(size=q.shape), tau + noise))
        equations = equations_of(ARM, motion)
        fit = robust_fit(equations.rows, equations.forces)
        seen = np.isfinite(fit.deviations)
        error = (fit.x - given_unknowns(ARM, equations))[seen]
        inside.append(np.abs(error) < student.ppf(0.975, fit.freedom) * fit.deviations[seen])
        distance.append(error @ np.linalg.solve(
            fit.covariance[np.ix_(seen, seen)], error) / seen.sum())
    assert 0.88 < np.mean(inside) <= 1.0
    assert 0.4 < np.mean(distance) < 1.6


def test_no_joint_is_given_up_where_the_model_is_wrong() -> None:
    """What two joints contradict each other in is shared by the noise of each alone (16.17)."""
    rng, noise = np.random.default_rng(0), np.array([0.01, 0.02])
    rows, x = rng.normal(size=(400, 2, 5)), rng.normal(size=5)
    forces = rows @ x + noise * rng.normal(size=(400, 2))
    forces[:, 1] += 0.5 * rows[:, 1, 0]
    weight = robust_fit(rows, forces).weight
    assert weight[0] / weight[1] == pytest.approx(2.0, rel=0.2)


def test_outliers_count_little() -> None:
    rng = np.random.default_rng(6)
    rows, truth = rng.normal(size=(400, 2, 5)), rng.normal(size=5)
    forces = rows @ truth + rng.normal(size=(400, 2))
    bad = rng.random((400, 2)) < 0.05
    spoilt = forces + 15.0 * bad * rng.normal(size=bad.shape)
    robust = robust_fit(rows, spoilt)
    plain = np.linalg.lstsq(rows.reshape(-1, 5), spoilt.ravel(), rcond=None)[0]
    assert np.linalg.norm(robust.x - truth) < 0.7 * np.linalg.norm(plain - truth)
    assert np.all(np.abs(robust.x - truth) < 4.0 * robust.deviations)
    # Those of least squares of variance 1, 1.11 times: Huber's sqrt(E psi^2) / E psi' where 5 % of
    # errors are 15 times as large. 800 samples tell a deviation to 2.5 %, of which five are 0.13.
    plain = np.sqrt(np.diag(np.linalg.inv(np.tensordot(rows, rows, ((0, 1), (0, 1))))))
    np.testing.assert_allclose(robust.deviations, 1.11 * plain, rtol=0.13)


@pytest.mark.full
def test_a_right_model_stays() -> None:
    """Held-out parts of pure noise get no better by numbers that were fitted to noise."""
    time, q, _, _, tau = arm_motion(ARM, 7, 30.0, 100.0)
    rng = np.random.default_rng(8)
    noise = np.abs(tau).max(axis=0) * coloured(rng, tau.shape, 0.9)
    result = identify(ARM, Recording(ARM, time, q, tau + noise))
    assert not result.offered
    assert any('given model' in reason for reason in result.verdict.reasons)


def test_a_machine_of_one_joint_is_identified() -> None:
    """Whether the base is tilted is tried too, about two axes."""
    builder = ModelBuilder('rod')
    builder.add_body('rod', SpatialInertia(2.0, [0.0, 0.0, -0.5], np.diag([0.2, 0.2, 0.01])))
    builder.add_joint('pivot', 'revolute', None, 'rod', axis=[0.0, 1.0, 0.0])
    model = builder.build()
    time, q, _, _, tau = arm_motion(model, 7, 10.0, 100.0)
    wrong = with_inertias(model, {'rod': 1.3 * model.body_list[0].inertia.parameters()})
    result = identify(wrong, Recording(model, time, q, tau), sure=True)
    assert_same(result.model.body_list[0].inertia.parameters()[[3, 7]],
                model.body_list[0].inertia.parameters()[[3, 7]], 0.02)


def test_what_does_not_move_is_said() -> None:
    time, q, v, a, _ = arm_motion(ARM, 9, 30.0, 100.0)
    q, v, a = q.copy(), v.copy(), a.copy()
    q[:, 3], v[:, 3], a[:, 3] = 0.1, 0.0, 0.0
    tau = Dynamics(ARM).inverse.batch(q, v, a)
    tau += 0.01 * np.random.default_rng(0).normal(size=tau.shape)
    result = identify(wrong(ARM), Recording(ARM, time, q, tau), sure=True, **FIXED_CUTOFFS)
    last = ARM.joints[3]
    assert any(last in each for each in result.verdict.unknown)
    assert any(last in each for each in result.verdict.advice)


@pytest.mark.parametrize(('change', 'error', 'name'), (
    ({'time': lambda x: x[::-1]}, StampError, 'time'),
    ({'time': lambda x: np.where(np.arange(len(x)) == 7, x[6], x)}, StampError, 'time'),
    ({'q': lambda x: x[:, :2]}, ShapeError, 'q'),
    ({'tau': lambda x: np.where(x == x[5], np.nan, x)}, ValueError, 'tau')))
def test_bad_recordings_are_refused(change, error, name) -> None:
    time, q, _, _, tau = arm_motion(ARM, 1, 30.0, 100.0)
    given = {'time': time, 'q': q, 'tau': tau}
    given |= {name: by(given[name]) for name, by in change.items()}
    with refused(error, name):
        Recording(ARM, **given)


@pytest.mark.parametrize(('options', 'error', 'named'), (
    ({'prior': 0.0}, LimitError, 'prior'), ({'prior': 1e300}, LimitError, 'prior'),
    ({'smoothing': 0.0}, LimitError, 'smoothing'),
    ({'smoothing': np.nan}, LimitError, 'smoothing'),
    ({'smoothing': 1e-9}, ShapeError, 'recording'), ({'cutoff': 1e3}, LimitError, 'cutoff'),
    ({'friction': ('stiction',)}, LimitError, 'stiction'),
    ({'cutoff': 1e-2}, ShapeError, 'recording')))
def test_bad_options_are_refused(options, error, named) -> None:
    time, q, _, _, tau = arm_motion(ARM, 1, 30.0, 100.0)
    with refused(error, named):
        identify(ARM, Recording(ARM, time, q, tau), **options)


def test_a_machine_that_stood_still_is_refused() -> None:
    """Rounding of constant positions is no motion, at any position; neither are forces of zero."""
    time, q, _, _, tau = arm_motion(ARM, 1, 30.0, 100.0)
    noise = 0.1 * np.random.default_rng(0).normal(size=tau.shape)
    with refused(LimitError, 'cutoff'):
        identify(ARM, Recording(ARM, time, np.tile(q[5], (len(q), 1)), tau[5] + noise))
    with refused(ShapeError, 'recording', got='zeros everywhere'):
        identify(ARM, Recording(ARM, time, q, np.zeros_like(tau)))


def test_a_model_without_joints_is_refused() -> None:
    builder = ModelBuilder('post')
    builder.add_body('post', SpatialInertia(1.0, np.zeros(3), np.eye(3)))
    builder.add_joint('post_joint', 'fixed', None, 'post')
    model = builder.build()
    nothing = np.zeros((100, 0))
    with refused(ShapeError, expected=1):
        identify(model, Recording(model, 0.01 * np.arange(100), nothing, nothing))


@pytest.mark.parametrize(('gains', 'better'), (
    ((0.0, 1.5), True), ((0.0, 0.0), False), ((-0.1, 0.0), False), ((0.4, 0.4), True)))
def test_a_second_recording_that_tells_more_is_no_scatter(gains, better) -> None:
    """Blocks scatter about their own recording: a first one without a gain hides none."""
    rng, blocks, size = np.random.default_rng(7), np.repeat(np.arange(10), 40), 0.1
    recording = blocks % 2
    old = np.exp(size * rng.normal(size=10))[blocks, None] * np.tile([[1.0, -1.0]], (400, 1))
    new = old * np.exp(-np.asarray(gains)[recording] + size * rng.normal(size=10)[blocks])[:, None]
    found = HeldOutForces(np.arange(400.0), np.zeros((400, 2)), {
        'given': 2.0 * old, 'refitted friction': old, 'consistent': new}, blocks, recording)
    assert found.is_better() is better
