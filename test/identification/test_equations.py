# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Equations of a motion: their filter, sparser samples, merged bodies, and the robust fit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import butter, sosfreqz
from support.comparison import assert_same
from support.machines.random_models import random_inertia, random_model
from support.recordings.recorded_motion import arm_motion, coloured, true_arm

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification import identify, Recording, Regressor
from liedyn_ros.identification.equations import equations_of
from liedyn_ros.identification.joints import FRICTION_TERMS
from liedyn_ros.identification.motion.motion import motion_of
from liedyn_ros.identification.motion.spectrum import decimated, FILTER_ORDER, response
from liedyn_ros.identification.robust_fit import robust_fit
from liedyn_ros.model import ModelBuilder, with_inertias

ARM = random_model(3, 4, False, types=('revolute', 'prismatic', 'revolute'))


def noisy(seed: int, rate: float = 400.0) -> Recording:
    """Return a recording of ARM with noise of encoders and coloured noise of torques."""
    rng = np.random.default_rng(seed)
    time, q, _, _, tau = arm_motion(ARM, 1, 30.0, rate)
    noise = 0.02 * np.abs(tau).max(axis=0) * coloured(rng, tau.shape, 0.9)
    return Recording(ARM, time, q + 1e-4 * rng.normal(size=q.shape), tau + noise)


def test_the_filter_has_the_response_that_is_stated() -> None:
    """One half at its cut-off (16.2), beside the transfer function of scipy's filter."""
    cutoff, rate = 3.0, 200.0
    weights = response(cutoff, rate, int(16.0 * rate / cutoff))
    frequency = np.array([0.0, 0.5, 1.5, 3.0, 4.5, 6.0, 12.0])
    half = len(weights) // 2
    gain = np.cos(2.0 * np.pi * frequency[:, None] * np.arange(-half, half + 1) / rate) @ weights
    stated = np.abs(sosfreqz(butter(FILTER_ORDER, cutoff, fs=rate, output='sos'), frequency,
                             fs=rate)[1])
    # What fades over T smooths the response: by its second derivative, 7.3 / cutoff^2 at most,
    # times half the variance 1 / (8 T^2) of the spectrum of what fades.
    np.testing.assert_allclose(gain, stated**2, atol=7.3 / (16.0 * 16.0**2) * 2.0)
    assert gain[0] == pytest.approx(1.0) and abs(gain[-1]) < 1e-3
    coarse = response(cutoff, rate / 5.0, half // 5)
    assert_same(coarse, 5.0 * weights[half % 5::5][:len(coarse)], 1e-2)


def test_sums_about_places_are_those_of_a_convolution() -> None:
    rng = np.random.default_rng(2)
    samples, weights = rng.normal(size=(500, 3, 2)), rng.normal(size=31)
    whole = np.apply_along_axis(lambda x: np.convolve(x, weights[::-1], 'valid'), 0, samples)
    for places in (np.arange(20, 480, 7), np.arange(15, 485, 40), np.array([33])):
        assert_same(decimated(samples, weights, places), whole[places - 15], 1e-12)


def test_a_smooth_motion_needs_few_samples() -> None:
    """Columns of inertia of every fourteenth sample are those of all of them."""
    motion = motion_of(ARM, noisy(3), 5.0)
    sparse = equations_of(ARM, motion, cutoff=3.57)
    dense = equations_of(ARM, replace(motion, cutoff=np.full(4, np.inf)), cutoff=3.57)
    np.testing.assert_array_equal(dense.time, sparse.time)
    rows = dense.rows
    size = np.sqrt((rows**2).mean(axis=0))
    error = np.abs(sparse.rows - rows)
    assert (error <= 1e-4 * size + 1e-12).all()


def with_plates(count: int = 3):
    """Return ARM with bodies that are fixed to its last two, and a frame without mass."""
    rng, builder = np.random.default_rng(4), ModelBuilder.of(ARM)
    for k in range(count):
        place = np.eye(4)
        place[:3, 3] = 0.1 * rng.normal(size=3)
        builder.add_body(f'plate_{k}', random_inertia(rng) if k else None)
        builder.add_joint(f'plate_{k}_joint', 'fixed', ARM.bodies[-1 - k % 2], f'plate_{k}',
                          placement=place)
    return builder.build()


def test_merged_bodies_have_the_forces_of_all() -> None:
    """The same forces, energies and momentum of ten numbers a link, beside the recursions."""
    model, rng = with_plates(), np.random.default_rng(5)
    merged, dynamics = Regressor(model, merged=True), Dynamics(model, dissipation=False)
    assert len(merged.names) == 10 * len(ARM.bodies) and len(model.bodies) == len(ARM.bodies) + 3
    q, (v, a) = model.random(rng), rng.normal(size=(2, model.nv))
    pi = merged.parameters
    assert_same(merged.torque(q, v, a) @ pi, dynamics.inverse(q, v, a), 1e-12)
    assert merged.kinetic_energy(q, v) @ pi == pytest.approx(dynamics.kinetic_energy(q, v))
    assert merged.potential_energy(q) @ pi == pytest.approx(dynamics.potential_energy(q))
    assert_same(merged.momentum(q, v) @ pi, dynamics.momentum(q, v), 1e-12)


@pytest.mark.full
def test_names_of_sums_do_not_grow_with_fixed_bodies() -> None:
    model = with_plates()
    time, q, _, _, tau = arm_motion(model, 1, 24.0, 100.0)
    given = with_inertias(model, {
        body.name: 1.4 * body.inertia.parameters() for body in model.body_list if body.inertia})
    result = identify(given, Recording(model, time, q, tau), rotor_inertia=False)
    assert result.offered
    assert not any('plate' in name for name in result.equations.names)
    assert {'plate_1', 'plate_2'} < set(result.estimate.bodies)


def test_a_robust_fit_is_where_its_weighted_residuals_balance() -> None:
    """The gradient vanishes, and least squares by its weights has the same unknowns."""
    equations = equations_of(ARM, motion_of(ARM, noisy(6)))
    fit = robust_fit(equations.rows, equations.forces)
    by = fit.weight * np.sqrt(fit.huber)
    rows = (by[..., None] * equations.rows).reshape(-1, len(fit.x))
    told = np.linalg.lstsq(rows, (by * equations.forces).ravel(), rcond=1e-9)[0]
    seen = np.isfinite(fit.deviations)
    assert np.abs((told - fit.x) / fit.deviations)[seen].max() < 0.05
    residuals = equations.forces - equations.rows @ fit.x
    assert fit.huber.min() < 1.0 <= fit.huber.max()
    spread = (fit.huber * residuals).std(axis=0) * fit.weight
    assert ((0.5 < spread) & (spread < 2.0) | (fit.samples < 0.5 * len(residuals))).all()


def test_a_joint_that_nothing_moves_has_no_part_in_a_fit() -> None:
    """Its rows and forces are zeros."""
    rng = np.random.default_rng(7)
    rows, truth = rng.normal(size=(200, 3, 4)), rng.normal(size=4)
    rows[:, 1] = 0.0
    forces = rows @ truth + 0.01 * rng.normal(size=(200, 3))
    forces[:, 1] = 0.0
    fit, without = robust_fit(rows, forces), robust_fit(rows[:, [0, 2]], forces[:, [0, 2]])
    assert_same(fit.x, without.x, 1e-9)
    assert_same(fit.deviations, without.deviations, 1e-9)


def test_a_short_recording_has_rows_for_the_terms_that_are_added_later():
    model = true_arm()
    time, q, _, _, tau = arm_motion(model, 5, 12.0, 100.0)
    motion = motion_of(model, Recording(model, time, q, tau))
    plain, more = (equations_of(model, motion, friction=each) for each in (
        FRICTION_TERMS, (*FRICTION_TERMS, 'load', 'spring')))
    assert more.names == plain.names
    unknowns = len(plain.names) + 2 * model.nv
    assert plain.forces.size < 6 * unknowns <= more.forces.size
