# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Smoothed motions of recordings: exact paths, stated noise, lost samples, measured velocities."""

from dataclasses import replace

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.random_models import random_model
from support.recordings.recorded_motion import arm_motion, coloured, group_motion

from liedyn_ros.identification import Recording
from liedyn_ros.identification.equations import equations_of
from liedyn_ros.identification.motion.motion import motion_of
from liedyn_ros.identification.motion.spectrum import (
    derivative_noise, smoothed, spectrum_of)
from liedyn_ros.model import JOINT_TYPES

ARM = random_model(3, 4, False, types=('revolute', 'prismatic', 'revolute'))
FREE = random_model(5, 2, True, types=('revolute', 'spherical'))


@pytest.mark.parametrize(('model', 'path'), ((ARM, arm_motion), (FREE, group_motion)))
def test_derivatives_of_exact_positions(model, path) -> None:
    """On the groups too, beside differences of configurations."""
    time, q, v, a, tau = path(model, 1, 12.0, 100.0)
    turned = q.copy()
    for joint in model.joint_list:
        spec = JOINT_TYPES[joint.type_name]
        last = slice(joint.q_slice.stop - 4 * (spec.nq - spec.nv), joint.q_slice.stop)
        turned[500:, last] *= -1.0  # the same rotation
    motion = motion_of(model, Recording(model, time, turned, tau))
    kept = np.isin(time, motion.time)
    assert np.abs(motion.v - v[kept]).max() < 1e-7
    assert np.abs(motion.a - a[kept]).max() < 1e-5
    assert motion.remarks == ()


def test_the_filter_leaves_as_much_noise_as_stated() -> None:
    """The root of the sum of squares of what one sample leaves, and the integral of F^2 f^2k."""
    time, q, _v, _a, tau = arm_motion(ARM, 2, 40.0, 200.0)
    spoilt = q.copy()
    spoilt[len(q) // 2] += 1e-4
    clean, motion = (motion_of(ARM, Recording(ARM, time, x, tau), 5.0) for x in (q, spoilt))
    for order, name in enumerate('qva'):
        left = np.linalg.norm(getattr(motion, name) - getattr(clean, name), axis=0)
        angle = (2 * order + 1) * np.pi / 8.0  # (16.3) is of a filter without a slope
        share = np.sqrt(angle / np.sin(angle) * (1.0 - (2 * order + 1) / 8.0))
        # A digital filter is another by (cut-off / rate)^2.
        stated = derivative_noise(1e-4, 5.0, 200.0, order)
        np.testing.assert_allclose(left, share * stated, rtol=10.0 * (5.0 / 200.0)**2)


@pytest.mark.parametrize('noise', (1e-5, 1e-3))
def test_noise_is_as_stated(noise: float) -> None:
    """
    Of 100 recordings of a joint; the formula's noise is that of the spectrum.

    25 bins, which a window makes 25 / 2.6 of their own, tell one to 16 %; so 100 tell the mean of
    estimates to 2 %, and what medians of few bins add is some squares of 16 %.
    """
    time, q, _v, _a, tau = arm_motion(ARM, 2, 40.0, 200.0)
    rng = np.random.default_rng(1)
    noisy = [q + noise * rng.normal(size=q.shape) for _ in range(25)]
    found = np.array([[spectrum_of(x, 200.0).noise for x in each.T] for each in noisy])
    assert found.mean() == pytest.approx(noise, rel=0.2)
    assert found.std() < 2.0 * 0.16 * noise
    motion = motion_of(ARM, Recording(ARM, time, noisy[0], tau), 5.0)
    for order in range(3):
        assert_same(motion.noise[order], derivative_noise(found[0], 5.0, 200.0, order))


@pytest.mark.full
def test_the_cut_off_is_near_the_best() -> None:
    """Beside all others, by the true acceleration."""
    time, q, _, a, tau = arm_motion(ARM, 3, 40.0, 200.0)
    noisy = q + 1e-4 * np.random.default_rng(2).normal(size=q.shape)
    recording = Recording(ARM, time, noisy, tau)

    def error(cutoff):
        motion = motion_of(ARM, recording, cutoff)
        return np.sqrt(np.mean((motion.a - a[np.isin(time, motion.time)])**2, axis=0))

    best = np.min([error(each) for each in np.geomspace(0.6, 20.0, 16)], axis=0)
    assert np.all(error(None) < 1.5 * best)


def recorded(noise: str, rate: float = 200.0):
    """Return a recording of ARM with noise of sensors on q and tau, and its true acceleration."""
    rng = np.random.default_rng(7)
    time, q, _, a, tau = arm_motion(ARM, 3, 60.0, rate)
    size = np.abs(tau).max(axis=0)
    if noise == 'quantized':  # an encoder of 4096 steps, a torque of 8 bits
        q, tau = (np.round(x / step) * step for x, step in (
            (q, 2.0 * np.pi / 4096), (tau, size / 128.0)))
    elif noise == 'filtered by the driver':
        white = rng.normal(size=(2, *q.shape))
        soft = smoothed(white[0], 30.0, rate), smoothed(white[1], 30.0, rate)
        q, tau = q + 1e-3 * soft[0], tau + 0.1 * size * soft[1]
    elif noise == 'coloured':
        q = q + 1e-4 * rng.normal(size=q.shape)
        tau = tau + 0.1 * size * coloured(rng, tau.shape, 0.9)
    else:  # a vibration far above the motion, of 1e-3 rad
        q = q + 1e-4 * rng.normal(size=q.shape) + 1e-3 * np.sin(
            2.0 * np.pi * 29.0 * time)[:, None]
        tau = tau + 0.05 * size * rng.normal(size=tau.shape)
    return Recording(ARM, time, q, tau), time, a


@pytest.mark.full
@pytest.mark.parametrize('noise', (
    'quantized', 'filtered by the driver', 'coloured', 'a line'))
def test_cut_offs_of_other_noise_are_near_the_best(noise: str) -> None:
    """The motion goes up to 0.4 Hz: no noise makes the band or the equations much wider."""
    recording, time, a = recorded(noise)
    motion = motion_of(ARM, recording)

    def error(motion):
        kept = np.isin(time, motion.time)
        return np.sqrt(np.mean((motion.a - a[kept])**2, axis=0))

    best = np.min([error(motion_of(ARM, recording, each))
                   for each in np.geomspace(0.6, 20.0, 12)], axis=0)
    assert np.all(error(motion) < 1.7 * best)
    assert 0.3 < motion.core <= motion.band < 0.7  # Hz
    assert 0.3 < equations_of(ARM, motion).cutoff < 1.8


def test_lost_samples_do_not_change_speeds() -> None:
    time, q, v, _, tau = arm_motion(ARM, 4, 20.0, 200.0)
    kept = np.random.default_rng(3).random(len(time)) > 0.03
    motion = motion_of(ARM, Recording(ARM, time[kept], q[kept], tau[kept]))
    assert 'resampled' in motion.remarks[0]
    exact = np.column_stack([np.interp(motion.time, time, each) for each in v.T])
    assert_same(motion.v, exact, 5e-3)  # at the ends the filter knows one side
    # Cubic splines over 15 ms of motions up to 0.4 Hz: (h w)^3 / 24, and five of it.
    assert_same(motion.v[200:-200], exact[200:-200], 5.0 * (0.015 * 2.0 * np.pi * 0.4)**3 / 24.0)


def test_a_gap_is_not_felt_by_the_pieces_beside_it() -> None:
    """Each piece is that of its own recording, and 0.2 s are too short."""
    time, q, v, a, tau = arm_motion(ARM, 4, 20.0, 200.0)
    kept = ((time < 9.0) | (time > 10.5)) & ((time < 15.0) | (time > 15.3)) & (
        (time < 15.5) | (time > 15.8))
    motion = motion_of(ARM, Recording(ARM, time[kept], q[kept], tau[kept]))
    assert '3 gaps without samples, the longest 1.51 s at 8.995 s' in motion.remarks[0]
    assert '1 of 4 are too short and left out' in motion.remarks[0]
    assert len(motion.pieces) == 3 and motion.pieces[-1].stop == len(motion.time)
    at = np.round(200.0 * motion.time).astype(int)
    assert_same(motion.q, q[at], 1e-4)
    assert_same(motion.v, v[at], 1e-3)
    assert np.sqrt(np.mean((motion.a - a[at])**2)) < 0.02 * np.sqrt(np.mean(a**2))
    first = motion_of(ARM, Recording(ARM, time[time < 9.0], q[time < 9.0], tau[time < 9.0]))
    assert np.array_equal(motion.a[motion.pieces[0]], first.a)
    rows = equations_of(ARM, motion)
    assert len(rows.time) == len(rows.rows) and not (
        (rows.time > 9.0) & (rows.time < 10.5)).any()


def test_measured_velocities_are_taken_where_they_agree() -> None:
    time, q, v, a, tau = arm_motion(ARM, 5, 40.0, 200.0)
    rng = np.random.default_rng(4)
    coarse = q + 1e-3 * rng.normal(size=q.shape)
    given = v + 1e-4 * rng.normal(size=v.shape)
    given[:, 1] *= 1.2  # of a wrong scale
    motion = motion_of(ARM, Recording(ARM, time, coarse, tau, given))
    alone = motion_of(ARM, Recording(ARM, time, coarse, tau))
    kept = np.isin(time, motion.time)
    good = [0, 2, 3]
    assert np.all(np.std(motion.a - a[kept], axis=0)[good]
                  < np.std(alone.a - a[kept], axis=0)[good])
    taken, refused = motion.remarks
    assert 'taken' in taken and ARM.coordinate_names[1] not in taken
    assert 'left out' in refused and ARM.coordinate_names[1] in refused


def test_the_cut_off_of_fast_motions_stays_below_the_rate() -> None:
    """Where most of a motion is near the end of the spectrum: 0.4 of the rate, not an error."""
    time, q, _, _, tau = arm_motion(ARM, 1, 24.0, 100.0)
    motion = replace(motion_of(ARM, Recording(ARM, time, q, tau)), core=45.0, band=49.0)
    assert equations_of(ARM, motion).cutoff == pytest.approx(40.0)
