# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose of seven lengths and more, against scipy, six legs and chance."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import least_squares
from support.platforms.leg_types import example, home, mixed, NOISE, redundant
from support.platforms.stewart_motion import noise_covariance

from liedyn_ros.common.errors import (
    GeometryError, LimitError, NameSetError, NotFiniteError, ShapeError)
from liedyn_ros.lie import se3
from liedyn_ros.stewart import leg_lengths, PathProver, PoseSolver, Status, StewartGeometry
from liedyn_ros.stewart.platform.state import PlatformMeter

MACHINES = [(redundant(7), home()), (redundant(8), home()), (redundant(12, 1), home()),
            example('mixed'), example('cable_robot')]
IDS = ['7', '8', '12', 'all leg types', 'cable robot']


def some_poses(start, count, seed=0):
    """Return poses about a home."""
    twists = 0.05 * np.random.default_rng(seed).normal(size=(count, 6))
    return np.array([start @ se3.exp(twist) for twist in twists])


@pytest.fixture(params=MACHINES, ids=IDS)
def machine(request):
    return request.param


def test_noisy_lengths_give_the_pose_of_scipy(machine):
    geometry, start = machine
    rng, solver = np.random.default_rng(3), PoseSolver(geometry)
    pose = some_poses(start, 1, 3)[0]
    lengths = leg_lengths(geometry, pose) + 50.0 * geometry.leg_noise * rng.normal(
        size=len(geometry.leg_names))

    def weighted(twist):
        return (leg_lengths(geometry, pose @ se3.exp(twist)) - lengths) / geometry.leg_noise
    expected = least_squares(weighted, np.zeros(6), xtol=1e-15, ftol=1e-15, gtol=1e-15,
                             x_scale='jac')
    solution = solver.solve(lengths, start)
    np.testing.assert_allclose(
        se3.log(se3.inverse(pose) @ solution.pose), expected.x, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(solution.fit.chi_square, 2.0 * expected.cost, rtol=1e-9)
    np.testing.assert_allclose(
        solution.fit.covariance, np.linalg.inv(expected.jac.T @ expected.jac), rtol=0.05,
        atol=0.01 * np.abs(solution.fit.covariance).max())


@pytest.mark.full
def test_chance_makes_the_chi_square_and_the_errors_of_the_pose(machine):
    geometry, start = machine
    rng, solver, n = np.random.default_rng(4), PoseSolver(geometry), len(geometry.leg_names)
    pose = some_poses(start, 1, 4)[0]
    exact, squares, errors, normalized = leg_lengths(geometry, pose), [], [], []
    for _ in range(1000):
        solution = solver.solve(exact + geometry.leg_noise * rng.normal(size=n), pose)
        twist = se3.log(se3.inverse(pose) @ solution.pose)
        squares.append(solution.fit.chi_square)
        errors.append(twist @ np.linalg.solve(solution.fit.covariance, twist))
        normalized.append(solution.fit.residuals / (
            np.sqrt(solution.fit.redundancies) * solution.fit.deviations))
    assert stats.kstest(squares, stats.chi2(n - 6).cdf).pvalue > 1e-3
    assert stats.kstest(errors, stats.chi2(6).cdf).pvalue > 1e-3
    np.testing.assert_allclose(np.std(normalized, axis=0), 1.0, atol=0.1)


@pytest.mark.whole
@pytest.mark.parametrize('left_out', [*((leg,) for leg in range(7)), (1, 6)])
def test_without_further_legs_the_pose_is_that_of_six(left_out):
    n = 6 + len(left_out)
    geometry, pose = redundant(n), some_poses(home(), 1, 5)[0]
    lengths = leg_lengths(geometry, pose) + 1e-4 * np.random.default_rng(5).normal(size=n)
    rest = [k for k in range(n) if k not in left_out]
    six = geometry.six([geometry.leg_names[k] for k in rest])
    np.testing.assert_allclose(leg_lengths(six, pose), leg_lengths(geometry, pose)[rest])
    solution = PoseSolver(geometry).solve(lengths, pose, without=left_out)
    np.testing.assert_allclose(
        solution.pose, PoseSolver(six).solve(lengths[rest], pose).pose, rtol=0.0, atol=1e-10)
    expected = noise_covariance(six, geometry.leg_noise[rest], solution.pose)
    np.testing.assert_allclose(solution.fit.covariance, expected, rtol=1e-8, atol=0.0)


def test_a_bias_shows_by_its_redundancy(machine):
    geometry, start = machine
    solver, n = PoseSolver(geometry), len(geometry.leg_names)
    pose = some_poses(start, 1, 6)[0]
    exact = solver.solve(leg_lengths(geometry, pose), pose)
    assert np.isclose(exact.fit.redundancies.sum(), n - 6)
    for leg in range(n):
        bias = 1e-2 * geometry.leg_noise[leg] * np.eye(n)[leg]
        solution = solver.solve(leg_lengths(geometry, pose) + bias, pose)
        np.testing.assert_allclose(
            solution.fit.residuals[leg], bias[leg] * exact.fit.redundancies[leg],
            atol=1e-4 * bias[leg])


def test_a_crank_may_turn_on():
    geometry = mixed()
    pose = some_poses(home(), 1, 7)[0]
    turned = leg_lengths(geometry, pose) + 2.0 * np.pi * np.eye(9)[5]
    np.testing.assert_allclose(
        PoseSolver(geometry).solve(turned, home()).pose, pose, rtol=0.0, atol=1e-11)


def test_a_guess_that_no_rod_reaches_leads_to_no_pose():
    far = home() @ se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 10.0])
    for fit in PoseSolver(mixed()).solve(leg_lengths(mixed(), home()), far), PoseSolver(
            redundant(8)).solve(np.full(8, 1e200), home()):
        assert fit.status is Status.STALLED


def test_a_platform_that_is_free_to_turn_has_no_covariance():
    geometry = redundant(8)
    flat = StewartGeometry(
        geometry.leg_names, geometry.base_joints, 0.5 * geometry.base_joints,
        geometry.length_limits)
    solution = PoseSolver(flat).solve(leg_lengths(flat, home()), home())
    assert solution.smallest_singular_value < 1e-6 or solution.status is Status.SINGULAR


def test_it_is_singular_where_all_legs_meet_a_line():
    geometry = redundant(8)
    base = geometry.base_joints * [0.0, 0.0, 1.0] + np.linspace(0.1, 0.9, 8)[:, None] * [0, 0, 1]
    upright = StewartGeometry(
        geometry.leg_names, base, geometry.platform_joints, geometry.length_limits,
        leg_noise=geometry.leg_noise)
    solution = PoseSolver(upright).solve(leg_lengths(upright, home()), home())
    assert solution.status is Status.SINGULAR
    assert solution.fit.covariance is None


def test_wrong_input_is_named():
    geometry = redundant(8)
    solver, lengths = PoseSolver(geometry), leg_lengths(geometry, home())
    parts = geometry.leg_names, geometry.base_joints, geometry.platform_joints, (
        geometry.length_limits)
    with pytest.raises(ShapeError) as caught:
        solver.solve(lengths[:7], home())
    assert caught.value.expected == (8,)
    with pytest.raises(NotFiniteError):
        solver.solve(np.full(8, np.nan), home())
    with pytest.raises(LimitError):
        solver.solve(lengths, home(), without=[0, 1, 2])
    with pytest.raises(LimitError):
        StewartGeometry(*parts, leg_noise=[1e-5] * 7 + [0.0])
    with pytest.raises(NameSetError) as caught:
        StewartGeometry(*(part[:5] for part in parts))
    assert caught.value.got == 5
    with pytest.raises(NameSetError):
        geometry.six(['leg_9'])


def test_what_holds_for_six_legs_alone_is_refused():
    with pytest.raises(GeometryError) as caught:
        PathProver(redundant(8))
    assert (caught.value.expected, caught.value.got) == (6, 8)


def test_limits_of_all_legs_are_measured():
    geometry = redundant(8)
    state = PlatformMeter(geometry).measure(home())
    margins = state.margins
    assert (len(margins.travel), len(margins.joint_angles), len(margins.clearance)) == (8, 16, 28)
    assert not state.flags and not state.exceeded_limits()
    short = StewartGeometry(
        geometry.leg_names, geometry.base_joints, geometry.platform_joints,
        np.tile([0.0, 0.1], (8, 1)))
    assert PlatformMeter(short).measure(home()).exceeded_limits() == [
        f'travel of {name}' for name in geometry.leg_names]


def test_solving_twice_gives_the_same(machine):
    geometry, start = machine
    solver = PoseSolver(geometry)
    lengths = leg_lengths(geometry, start) + NOISE
    first, second = (solver.solve(lengths, start) for _ in range(2))
    assert np.array_equal(first.pose, second.pose)
    assert first.fit.chi_square == second.fit.chi_square
