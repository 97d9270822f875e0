# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of twists, wrenches and poses from one frame to the other, and back."""

from math import comb

import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, NotInGroupError, ShapeError
from liedyn_ros.lie import se3
from liedyn_ros.lie.time_derivatives import BODY, SPATIAL, Twists, twists_of, Wrenches

ORDERS = 11
RNG = np.random.default_rng(5)


@pytest.fixture
def motion() -> Twists:
    """Return a random motion."""
    return Twists(se3.exp(RNG.normal(size=6)), RNG.normal(size=(ORDERS, 6)), BODY)


def ladder(pose: Array, values: Array, twists: Array, sign: float, dual: bool) -> Array:
    """Return spatial derivatives of body ones by the table (0.9), or (0.10) for a wrench."""
    ads = [se3.ad(v).T if dual else se3.ad(v) for v in twists]
    row, out = list(values), [values[0]]
    while len(row) > 1:
        row = [row[b + 1] + sign * sum(comb(b, j) * ads[j] @ row[b - j] for j in range(b + 1))
               for b in range(len(row) - 1)]
        out.append(row[0])
    change = se3.adjoint(np.linalg.inv(pose)).T if dual else se3.adjoint(pose)
    return np.array(out) @ change.T


def assert_rows(got: Array, wanted: Array, by_way_of: Array | None = None) -> None:
    """Compare every order to 1e-12 of its largest entry, or of that of numbers on the way."""
    way = wanted if by_way_of is None else by_way_of[:len(wanted)]
    scale = np.maximum(np.abs(wanted).reshape(len(wanted), -1).max(axis=1),
                       np.abs(way).reshape(len(way), -1).max(axis=1))
    error = np.abs(got - wanted).reshape(len(wanted), -1).max(axis=1)
    assert (error <= 1e-12 * scale).all()


def test_twists_follow_the_table_both_ways(motion: Twists) -> None:
    spatial = motion.to(SPATIAL)
    assert_rows(spatial.time_derivatives,
                ladder(motion.pose, motion.time_derivatives, motion.time_derivatives, 1.0,
                       False))
    assert_rows(
        spatial.to(BODY).time_derivatives, motion.time_derivatives, spatial.time_derivatives)
    # To first order the derivatives are those of one vector (0.2); to second they are not.
    other = motion.time_derivatives @ se3.adjoint(motion.pose).T
    np.testing.assert_allclose(spatial.time_derivatives[:2], other[:2])
    assert not np.allclose(spatial.time_derivatives[2], other[2])


def test_wrenches_follow_the_table_both_ways(motion: Twists) -> None:  # (Ali 69)
    body = Wrenches(RNG.normal(size=(ORDERS, 6)), BODY)
    spatial = body.to(SPATIAL, motion)
    assert_rows(spatial.time_derivatives,
                ladder(motion.pose, body.time_derivatives, motion.time_derivatives, -1.0, True))
    assert_rows(spatial.to(BODY, motion.to(SPATIAL)).time_derivatives, body.time_derivatives,
                spatial.time_derivatives)
    power = [np.sum([comb(k, j) * w.time_derivatives[j] @ v.time_derivatives[k - j]
                     for j in range(k + 1)])
             for k in range(ORDERS)
             for w, v in ((body, motion), (spatial, motion.to(SPATIAL)))]
    np.testing.assert_allclose(power[::2], power[1::2], rtol=1e-10)  # seen from anywhere


@pytest.mark.parametrize('frame', [BODY, SPATIAL])
def test_twists_of_poses(motion: Twists, frame: str) -> None:
    poses = motion.to(frame).poses()
    assert_rows(poses, motion.poses())
    assert_rows(
        twists_of(poses, frame).time_derivatives, motion.to(frame).time_derivatives, poses[1:])


def test_poses_and_adjoints_by_their_taylor_series(motion: Twists) -> None:  # (Ali 20, 70)
    dt, steps = 0.02, 2000
    powers = np.cumprod([1.0] + [dt / k for k in range(1, ORDERS + 1)])
    later = motion.pose
    for s in range(steps):
        t = (s + 0.5) * dt / steps
        twist = np.cumprod([1.0] + [t / k for k in range(1, ORDERS)]) @ motion.time_derivatives
        later = later @ se3.exp(twist * dt / steps)
    for series, wanted in ((motion.poses(), later), (motion.adjoints(), se3.adjoint(later)),
                           (motion.inverse_adjoints(), se3.adjoint(np.linalg.inv(later)))):
        np.testing.assert_allclose(np.tensordot(powers, series, axes=1), wanted, atol=1e-9)


def test_adjoints_follow_their_recursion(motion: Twists) -> None:
    ads = [se3.ad(v) for v in motion.to(SPATIAL).time_derivatives]
    wanted = [se3.adjoint(np.linalg.inv(motion.pose))]
    for r in range(1, ORDERS + 1):  # (0.13)
        wanted.append(-sum(comb(r - 1, j) * wanted[r - 1 - j] @ ads[j] for j in range(r)))
    assert_rows(motion.inverse_adjoints(), np.array(wanted))


def test_refusals(motion: Twists) -> None:
    wrench = Wrenches(np.ones((ORDERS + 2, 6)), BODY)
    for call in (lambda: motion.to('world'), lambda: wrench.to('world', motion),
                 lambda: Twists(motion.pose, motion.time_derivatives, 'left')):
        with refused(LiedynError, 'frame'):
            call()
    with refused(LiedynError, 'wrenches'):
        wrench + Wrenches(wrench.time_derivatives, SPATIAL)
    with refused(ShapeError, 'wrenches', got=12):
        wrench + Wrenches(wrench.time_derivatives[1:], BODY)
    with refused(ShapeError, 'twists'):
        wrench.to(SPATIAL, motion)
    with refused(ShapeError, 'twists'):
        Twists(motion.pose, np.zeros((3, 5)), BODY)
    with refused(NotInGroupError, 'pose'):
        Twists(2.0 * motion.pose, motion.time_derivatives, BODY)
    with refused(ShapeError, 'poses'):
        twists_of(motion.pose[None], BODY)
