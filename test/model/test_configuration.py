# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Retraction, difference and their derivatives: axioms, a matrix exponential, Pinocchio."""

import copy
import pickle

from hypothesis import given, settings, strategies
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from support.comparison import assert_same
from support.machines.random_models import random_model
from support.refusals import ANY, refused
from support.witnesses.tangents import difference

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import (
    LiedynError, LimitError, NotFiniteError, NotInGroupError, QuaternionWarning, ShapeError)
from liedyn_ros.dynamics import Dynamics

MODEL = random_model(seed=7, joint_count=20, floating=True)
SEEDS = strategies.integers(0, 2**32 - 1)


@settings(deadline=None)
@given(SEEDS, strategies.floats(-12.0, 0.25))
def test_difference_undoes_integrate(seed: int, exponent: float) -> None:
    rng = np.random.default_rng(seed)
    q = MODEL.random(rng)
    dv = rng.uniform(-1.0, 1.0, MODEL.nv) * 10.0**exponent  # rotations below pi
    np.testing.assert_allclose(
        MODEL.difference(q, MODEL.integrate(q, dv)), dv, rtol=0.0, atol=2e-14)


@settings(deadline=None)
@given(SEEDS)
def test_integrate_undoes_difference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q0, q1 = MODEL.random(rng), MODEL.random(rng)
    again = MODEL.integrate(q0, MODEL.difference(q0, q1))
    np.testing.assert_allclose(MODEL.difference(again, q1), 0.0, atol=2e-13)


@settings(deadline=None)
@given(SEEDS, strategies.floats(-2.0, 2.0), strategies.floats(-2.0, 2.0))
def test_steps_along_one_velocity_add_up(seed: int, s: float, t: float) -> None:
    rng = np.random.default_rng(seed)
    q, v = MODEL.random(rng), rng.normal(size=MODEL.nv)
    twice = MODEL.integrate(MODEL.integrate(q, s * v), t * v)
    np.testing.assert_allclose(
        MODEL.difference(MODEL.integrate(q, (s + t) * v), twice), 0.0, atol=1e-13)


def test_free_joint_follows_the_matrix_exponential() -> None:
    rng = np.random.default_rng(1)
    base = MODEL.joint('base_joint')
    for _ in range(20):
        q, dv = MODEL.random(rng), rng.normal(size=MODEL.nv) * 2.0
        w, v = np.split(dv[base.v_slice], 2)
        step = np.zeros((4, 4))
        step[:3, :3], step[:3, 3] = np.cross(np.eye(3), w), v
        np.testing.assert_allclose(
            pose_of(MODEL.integrate(q, dv)[base.q_slice]),
            pose_of(q[base.q_slice]) @ expm(step), atol=2e-14)


def test_same_as_pinocchio() -> None:
    pin = pytest.importorskip('pinocchio')
    from support.witnesses.pinocchio_twin import to_pinocchio
    twin, rng = to_pinocchio(MODEL), np.random.default_rng(2)
    for _ in range(20):
        q0, q1, dv = MODEL.random(rng), MODEL.random(rng), rng.normal(size=MODEL.nv)
        other = pin.integrate(twin.model, q0, twin.to_velocity(dv))
        np.testing.assert_allclose(MODEL.difference(MODEL.integrate(q0, dv), other), 0, atol=1e-13)
        np.testing.assert_allclose(
            MODEL.difference(q0, q1),
            twin.from_velocity(pin.difference(twin.model, q0, q1)), atol=1e-12)


def test_quaternions_stay_unit_and_keep_their_sign() -> None:
    rng = np.random.default_rng(3)
    q, v = MODEL.random(rng), rng.normal(size=MODEL.nv)
    at = MODEL.joint('base_joint').q_slice.start + 3
    for _ in range(1000):
        after = MODEL.integrate(q, 0.05 * v)
        assert q[at:at + 4] @ after[at:at + 4] > 0.9
        q = after
    assert abs(np.linalg.norm(q[at:at + 4]) - 1.0) < 1e-15


def test_neutral_is_zero_and_random_within_limits() -> None:
    rng, base = np.random.default_rng(4), MODEL.joint('base_joint')
    np.testing.assert_array_equal(MODEL.neutral()[base.q_slice], [0, 0, 0, 0, 0, 0, 1])
    assert np.isfinite(MODEL.limits.lower).any() and np.isinf(MODEL.limits.lower).any()
    for _ in range(100):
        travel = MODEL.difference(MODEL.neutral(), MODEL.random(rng))
        assert (travel >= MODEL.limits.lower).all() and (travel <= MODEL.limits.upper).all()


def test_refuses_an_invalid_configuration() -> None:
    good = MODEL.neutral()
    with refused(ShapeError, 'q', expected=(MODEL.nq,)):
        MODEL.check_configuration(good[:-1])
    with refused(NotFiniteError, 'q', indices=(0,)):
        MODEL.check_configuration(np.where(np.arange(MODEL.nq) == 0, np.nan, good))
    with refused(NotInGroupError, 'q1', indices=(3,)):
        MODEL.difference(good, np.where(np.arange(MODEL.nq) == 6, 2.0, good))
    with refused(LiedynError, 'rng', got=0):
        MODEL.random(0)


@pytest.mark.filterwarnings('error')
def test_refuses_a_huge_quaternion_without_a_warning() -> None:
    huge = np.where(np.arange(MODEL.nq) == 6, 1e200, MODEL.neutral())
    with refused(NotInGroupError, 'q', indices=(3,)):
        MODEL.check_configuration(huge)


@pytest.mark.parametrize('digits', [4, 5, 6])
def test_quaternions_printed_with_few_digits_are_scaled_with_a_warning(digits: int) -> None:
    rng = np.random.default_rng(5)
    exact, at = MODEL.random(rng), MODEL.joint('base_joint').q_slice.start + 3
    printed = exact.copy()
    printed[at:at + 4] = np.round(exact[at:at + 4], digits)
    printed[at + 3] += 3e-6
    with pytest.warns(QuaternionWarning, match='within 1e-4, as printed with few digits, are sc'):
        q = MODEL.check_configuration(printed)
    assert abs(np.linalg.norm(q[at:at + 4]) - 1.0) < 1e-15
    np.testing.assert_allclose(q, exact, atol=1e-4)
    dynamics, v = Dynamics(MODEL), rng.normal(size=MODEL.nv)
    with pytest.warns(QuaternionWarning):
        np.testing.assert_array_equal(dynamics.mass_matrix(printed), dynamics.mass_matrix(q))
    with pytest.warns(QuaternionWarning):
        np.testing.assert_array_equal(dynamics.inverse(printed, v, v), dynamics.inverse(q, v, v))
    with pytest.warns(QuaternionWarning):
        first, second = dynamics.inverse.batch([printed, q], [v, v], [v, v])
    np.testing.assert_array_equal(first, second)


@pytest.mark.filterwarnings('error')
def test_quaternions_of_single_precision_are_taken_as_they_are() -> None:
    q = MODEL.random(np.random.default_rng(6)).astype(np.float32)
    np.testing.assert_array_equal(MODEL.check_configuration(q), q)


def pose_of(q: Array) -> Array:
    """Return the pose (4, 4) of a free joint's configuration."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_quat(q[3:]).as_matrix(), q[:3]
    return pose


@pytest.mark.parametrize('rate', [1e155, 1e160, 1e300])
def test_a_step_without_a_finite_result_is_refused(rate: float) -> None:
    q, dv = MODEL.neutral(), np.zeros(MODEL.nv)
    dv[:6] = rate  # of the free base
    with refused(LimitError, 'dv'):
        MODEL.integrate(q, dv)


SMALLER = random_model(seed=7, joint_count=12, floating=True)
EYE = np.eye(SMALLER.nv)


def state(seed):
    """Return two configurations, and a displacement with rotations below pi."""
    rng = np.random.default_rng(seed)
    return SMALLER.random(rng), SMALLER.random(rng), rng.uniform(-1.0, 1.0, SMALLER.nv)


@pytest.mark.parametrize('seed', range(4))
def test_derivatives_of_integrate(seed):
    q, _, dv = state(seed)
    ours, there = SMALLER.integrate_derivatives(q, dv), SMALLER.integrate(q, dv)
    by_q = np.array([difference(lambda s, e=e: SMALLER.difference(
        there, SMALLER.integrate(SMALLER.integrate(q, s * e), dv))) for e in EYE]).T
    by_dv = np.array([difference(lambda s, e=e: SMALLER.difference(
        there, SMALLER.integrate(q, dv + s * e))) for e in EYE]).T
    assert_same(ours.by_q, by_q, 1e-9)
    assert_same(ours.by_dv, by_dv, 1e-9)


@pytest.mark.parametrize('seed', range(4))
def test_derivatives_of_difference(seed):
    q0, _, dv = state(seed)
    q1 = SMALLER.integrate(q0, dv)
    ours = SMALLER.difference_derivatives(q0, q1)
    by_q0 = np.array([difference(lambda s, e=e: SMALLER.difference(
        SMALLER.integrate(q0, s * e), q1)) for e in EYE]).T
    by_q1 = np.array([difference(lambda s, e=e: SMALLER.difference(
        q0, SMALLER.integrate(q1, s * e))) for e in EYE]).T
    assert_same(ours.by_q0, by_q0, 1e-9)
    assert_same(ours.by_q1, by_q1, 1e-9)
    there = SMALLER.integrate_derivatives(q0, SMALLER.difference(q0, q1))
    assert_same(ours.by_q1 @ there.by_dv, EYE, 1e-12)  # one undoes the other


@pytest.mark.parametrize('seed', range(4))
def test_interpolation(seed):
    q0, q1, _ = state(seed)
    for fraction, wanted in ((0.0, q0), (1.0, q1)):
        np.testing.assert_allclose(
            SMALLER.difference(SMALLER.interpolate(q0, q1, fraction), wanted), 0.0, atol=1e-12)
    middle, whole = SMALLER.interpolate(q0, q1, 0.3), SMALLER.difference(q0, q1)
    np.testing.assert_allclose(SMALLER.difference(q0, middle), 0.3 * whole, atol=1e-12)


@pytest.mark.parametrize('seed', range(4))
def test_pinocchio(seed):
    pin = pytest.importorskip('pinocchio')
    twin = pytest.importorskip('support.witnesses.pinocchio_twin').to_pinocchio(SMALLER)
    other, order = twin.model, np.ix_(twin.velocity_order, twin.velocity_order)
    q0, q1, dv = state(seed)
    there = SMALLER.integrate_derivatives(q0, dv)
    for ours, of in zip(there, (pin.ARG0, pin.ARG1)):
        theirs = pin.dIntegrate(
            other, twin.to_configuration(q0), twin.to_velocity(dv), of)
        assert_same(ours[order], theirs, 1e-10)
    pair = twin.to_configuration(q0), twin.to_configuration(SMALLER.integrate(q0, dv))
    for ours, of in zip(SMALLER.difference_derivatives(q0, SMALLER.integrate(q0, dv)),
                        (pin.ARG0, pin.ARG1)):
        assert_same(ours[order], pin.dDifference(other, *pair, of), 1e-9)
    assert_same(SMALLER.interpolate(q0, q1, 0.4), pin.interpolate(
        other, twin.to_configuration(q0), twin.to_configuration(q1), 0.4), 1e-10)


def test_a_result_can_be_written_into_an_array():
    q, _, dv = state(0)
    out = np.empty(SMALLER.nq)
    assert SMALLER.integrate(q, dv, out) is out
    np.testing.assert_array_equal(out, SMALLER.integrate(q, dv))
    for wrong in (q, np.empty(3), np.empty(SMALLER.nq, dtype=np.float32),
                  np.empty(2 * SMALLER.nq)[::2]):
        with refused(ShapeError, ANY):
            SMALLER.integrate(q, dv, wrong)


def test_copies_integrate():
    q, _, dv = state(0)
    wanted = SMALLER.integrate(q, dv)
    for again in (copy.deepcopy(SMALLER), pickle.loads(pickle.dumps(SMALLER))):
        np.testing.assert_array_equal(again.integrate(q, dv), wanted)
