# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of the dynamics: mechanics with 200 digits, the way there and back, order zero."""

import math

import numpy as np
import pytest
from support.machines.dynamics_cases import Case, make_case, TREES
from support.witnesses.motion_witness import witness

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics

ROUNDING = 1e-12  # of the largest entry
TRIALS = [(seed, floating, 4) for seed, floating in TREES[:4]] + [(4, True, 10), (5, False, 10)]


def twin(case: Case, dissipation: bool = True) -> Case:
    """Return the same machine in the same state, with or without damping and friction."""
    return case._replace(dynamics=Dynamics(case.model, dissipation=dissipation))


def random_motion(case: Case, order: int) -> Array:
    """Return v and its derivatives (order + 2, nv)."""
    return np.vstack([case.v, case.a, case.rng.normal(size=(order, case.model.nv))])


def random_wrenches(case: Case, order: int) -> Array:
    """Return wrenches on all bodies with their derivatives."""
    return case.rng.normal(size=(order + 1, len(case.model.bodies), 6))


def assert_rows(got: Array, wanted: Array, tolerance: float = ROUNDING) -> None:
    """Compare every order with a tolerance of its largest entry."""
    assert got.shape == wanted.shape
    scale = np.maximum(1.0, np.abs(wanted).max(axis=1))
    assert (np.abs(got - wanted).max(axis=1) <= tolerance * scale).all()


@pytest.mark.full
@pytest.mark.parametrize('seed, floating, order', TRIALS)
def test_forces_are_those_of_mechanics(seed: int, floating: bool, order: int) -> None:
    case = make_case(seed, floating)
    external = random_wrenches(case, order)
    paths = 0.5 * case.rng.normal(size=(order + 2, case.model.nv))
    motion, tau, _ = witness(case.model, case.q, paths, external)
    d, (v, a) = case.dynamics, (motion[0], motion[1:])
    assert_rows(d.inverse.time_derivatives(case.q, v, a, external), tau)
    assert_rows(d.forward.time_derivatives(case.q, v, tau, external), a, 1e-10)


@pytest.mark.parametrize('dissipation', [False, True])
def test_forward_and_hybrid_undo_inverse(case: Case, dissipation: bool) -> None:
    case, order = twin(case, dissipation), 10
    motion, external = random_motion(case, order), random_wrenches(case, order)
    d, (v, a) = case.dynamics, (motion[0], motion[1:])
    tau = d.inverse.time_derivatives(case.q, v, a, external)
    tolerance = 1e-11 * np.abs(tau).max(axis=1, keepdims=True)
    found = d.forward.time_derivatives(case.q, v, tau, external, max_error=math.inf)
    assert (np.abs(found - a) <= tolerance).all()
    for given in (np.zeros(len(v), bool), np.ones(len(v), bool), case.rng.random(len(v)) < 0.5):
        got = d.hybrid.time_derivatives(case.q, v, given, np.where(given, a, np.nan),
                                        np.where(given, np.nan, tau), external,
                                        max_error=math.inf)
        np.testing.assert_array_equal(got[0][:, given], a[:, given])
        np.testing.assert_array_equal(got[1][:, ~given], tau[:, ~given])
        assert (np.abs(got[0] - a) <= tolerance).all()
        assert (np.abs(got[1] - tau) <= tolerance).all()


def test_hybrid_reduces_to_both(case: Case) -> None:
    motion, tau = random_motion(case, 3), case.rng.normal(size=(4, case.model.nv))
    d, q, v, a = case.dynamics, case.q, motion[0], motion[1:]
    none, every = np.zeros(len(v), dtype=bool), np.ones(len(v), dtype=bool)
    np.testing.assert_array_equal(
        d.hybrid.time_derivatives(q, v, none, a, tau)[0], d.forward.time_derivatives(q, v, tau))
    assert_rows(d.hybrid.time_derivatives(q, v, every, a, tau)[1],
                d.inverse.time_derivatives(q, v, a))


def test_order_zero_is_the_classical_algorithm(case: Case) -> None:
    case = twin(case)
    d, q, v, a, external = case.dynamics, case.q, case.v, case.a, case.external
    tau = d.inverse(q, v, a, external)
    assert_rows(d.inverse.time_derivatives(q, v, [a], external[None]), tau[None])
    np.testing.assert_array_equal(
        d.forward.time_derivatives(q, v, [tau], external[None])[0],
        d.forward(q, v, tau, external))
    # The first rows of a higher order are a lower order.
    motion = random_motion(case, 6)
    assert_rows(d.inverse.time_derivatives(q, v, motion[1:4]),
                d.inverse.time_derivatives(q, v, motion[1:])[:3])


def test_derivatives_are_those_along_the_motion(case: Case) -> None:
    # The order zero of a time later is the sum of the Taylor series.
    case = twin(case)
    order, dt, motion = 10, 2e-3, random_motion(case, 10)
    tau = case.dynamics.inverse.time_derivatives(case.q, motion[0], motion[1:])
    powers = np.cumprod([1.0] + [dt / k for k in range(1, order + 2)])
    q, steps = case.q, 400
    for s in range(steps):  # midpoint steps, exact to second order
        t = (s + 0.5) * dt / steps
        rate = np.cumprod([1.0] + [t / k for k in range(1, order + 2)]) @ motion
        q = case.model.integrate(q, rate * dt / steps)
    later = case.dynamics.inverse(q, powers @ motion, powers[:-1] @ motion[1:])
    np.testing.assert_allclose(powers[:-1] @ tau, later, atol=1e-8 * np.abs(tau[0]).max())


def test_damping_has_derivatives_and_friction_none(case: Case) -> None:
    model, motion = case.model, random_motion(case, 3)
    extra = (twin(case).dynamics.inverse.time_derivatives(case.q, motion[0], motion[1:])
             - case.dynamics.inverse.time_derivatives(case.q, motion[0], motion[1:]))
    expected = model.link_table.damping * motion[:4]
    expected[0] += model.link_table.friction * np.sign(motion[0])
    assert_rows(extra, expected, 1e-9)
