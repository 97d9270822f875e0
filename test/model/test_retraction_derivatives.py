# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of retraction and difference, and interpolation: differences and Pinocchio."""

import copy
import pickle

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.random_models import random_model
from support.refusals import ANY, refused
from support.witnesses.tangents import difference

from liedyn_ros.common.errors import ShapeError

MODEL = random_model(seed=7, joint_count=12, floating=True)
EYE = np.eye(MODEL.nv)


def state(seed):
    """Return two configurations, and a displacement with rotations below pi."""
    rng = np.random.default_rng(seed)
    return MODEL.random(rng), MODEL.random(rng), rng.uniform(-1.0, 1.0, MODEL.nv)


@pytest.mark.parametrize('seed', range(4))
def test_derivatives_of_integrate(seed):
    q, _, dv = state(seed)
    ours, there = MODEL.integrate_derivatives(q, dv), MODEL.integrate(q, dv)
    by_q = np.array([difference(lambda s, e=e: MODEL.difference(
        there, MODEL.integrate(MODEL.integrate(q, s * e), dv))) for e in EYE]).T
    by_dv = np.array([difference(lambda s, e=e: MODEL.difference(
        there, MODEL.integrate(q, dv + s * e))) for e in EYE]).T
    assert_same(ours.by_q, by_q, 1e-9)
    assert_same(ours.by_dv, by_dv, 1e-9)


@pytest.mark.parametrize('seed', range(4))
def test_derivatives_of_difference(seed):
    q0, _, dv = state(seed)
    q1 = MODEL.integrate(q0, dv)
    ours = MODEL.difference_derivatives(q0, q1)
    by_q0 = np.array([difference(lambda s, e=e: MODEL.difference(
        MODEL.integrate(q0, s * e), q1)) for e in EYE]).T
    by_q1 = np.array([difference(lambda s, e=e: MODEL.difference(
        q0, MODEL.integrate(q1, s * e))) for e in EYE]).T
    assert_same(ours.by_q0, by_q0, 1e-9)
    assert_same(ours.by_q1, by_q1, 1e-9)
    there = MODEL.integrate_derivatives(q0, MODEL.difference(q0, q1))
    assert_same(ours.by_q1 @ there.by_dv, EYE, 1e-12)  # one undoes the other


@pytest.mark.parametrize('seed', range(4))
def test_interpolation(seed):
    q0, q1, _ = state(seed)
    for fraction, wanted in ((0.0, q0), (1.0, q1)):
        np.testing.assert_allclose(
            MODEL.difference(MODEL.interpolate(q0, q1, fraction), wanted), 0.0, atol=1e-12)
    middle, whole = MODEL.interpolate(q0, q1, 0.3), MODEL.difference(q0, q1)
    np.testing.assert_allclose(MODEL.difference(q0, middle), 0.3 * whole, atol=1e-12)


@pytest.mark.parametrize('seed', range(4))
def test_pinocchio(seed):
    pin = pytest.importorskip('pinocchio')
    twin = pytest.importorskip('support.witnesses.pinocchio_twin').to_pinocchio(MODEL)
    other, order = twin.model, np.ix_(twin.velocity_order, twin.velocity_order)
    q0, q1, dv = state(seed)
    there = MODEL.integrate_derivatives(q0, dv)
    for ours, of in zip(there, (pin.ARG0, pin.ARG1)):
        theirs = pin.dIntegrate(
            other, twin.to_configuration(q0), twin.to_velocity(dv), of)
        assert_same(ours[order], theirs, 1e-10)
    pair = twin.to_configuration(q0), twin.to_configuration(MODEL.integrate(q0, dv))
    for ours, of in zip(MODEL.difference_derivatives(q0, MODEL.integrate(q0, dv)),
                        (pin.ARG0, pin.ARG1)):
        assert_same(ours[order], pin.dDifference(other, *pair, of), 1e-9)
    assert_same(MODEL.interpolate(q0, q1, 0.4), pin.interpolate(
        other, twin.to_configuration(q0), twin.to_configuration(q1), 0.4), 1e-10)


def test_a_result_can_be_written_into_an_array():
    q, _, dv = state(0)
    out = np.empty(MODEL.nq)
    assert MODEL.integrate(q, dv, out) is out
    np.testing.assert_array_equal(out, MODEL.integrate(q, dv))
    for wrong in (q, np.empty(3), np.empty(MODEL.nq, dtype=np.float32),
                  np.empty(2 * MODEL.nq)[::2]):
        with refused(ShapeError, ANY):
            MODEL.integrate(q, dv, wrong)


def test_copies_integrate():
    q, _, dv = state(0)
    wanted = MODEL.integrate(q, dv)
    for again in (copy.deepcopy(MODEL), pickle.loads(pickle.dumps(MODEL))):
        np.testing.assert_array_equal(again.integrate(q, dv), wanted)
