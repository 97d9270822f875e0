# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Forward kinematics against the paper, known poses and scaled copies of the platform."""

import numpy as np
import pytest
from support.platforms.stewart_motion import ROUNDED_LENGTHS_CM
from support.refusals import ANY, refused
from transforms3d.euler import mat2euler

from liedyn_ros.common.errors import (
    LiedynError, LimitError, NotFiniteError, NotInGroupError, ShapeError)
from liedyn_ros.lie import SE3, se3
from liedyn_ros.stewart import (
    leg_lengths, length_jacobian, LevenbergMarquardt, PoseSolver, Status, StewartGeometry)
from liedyn_ros.stewart.platform.state import PlatformMeter


def coordinates(pose):
    """Return x, y, z in cm and roll, pitch, yaw in degrees, as the paper prints a pose."""
    return np.concatenate((100.0 * pose[:3, 3], np.degrees(mat2euler(pose[:3, :3], 'sxyz'))))


def test_a_batch_names_how_each_solve_ended(geometry, home):
    lengths = leg_lengths(geometry, home)
    once = PoseSolver(geometry, LevenbergMarquardt(max_iterations=1))
    found = once.solve_batch([lengths, 1.05 * lengths], home)
    assert [str(each) for each in found.statuses] == ['CONVERGED', 'MAX_ITERATIONS']
    assert found.statuses[0] is found[0].status is Status.CONVERGED
    with refused(LiedynError, 'guess', got=None):
        PoseSolver(geometry).solve(lengths, None)


def test_paper_case_from_home(geometry, home, paper_pose):
    solver = PoseSolver(geometry)
    q_c = [0.0, 0.0, 50.0, 20.0, 0.0, -30.0]
    rounded = solver.solve(0.01 * np.array(ROUNDED_LENGTHS_CM), home)
    exact = solver.solve(leg_lengths(geometry, paper_pose), home)
    assert rounded.converged and exact.converged
    assert np.abs(coordinates(exact.pose) - q_c).max() < 1e-9
    # Rounding the lengths to 1e-4 cm turns their own pose by 1.3e-4 degree in yaw.
    error = np.abs(coordinates(rounded.pose) - q_c)
    assert error[:5].max() < 1e-4
    assert error[5] == pytest.approx(1.272137e-4, abs=1e-9)


def test_twenty_thousand_targets_from_home(geometry, home, random_poses):
    # (Stewart 28, Stewart Algorithm 2)
    solutions = PoseSolver(geometry).solve_batch(leg_lengths(geometry, random_poses), home)
    assert (solutions.statuses == Status.CONVERGED).all()
    assert np.abs(solutions.poses - random_poses).max() < 1e-11
    assert solutions.iterations.max() <= 15
    assert solutions.residuals.max() < 1e-13


def test_batch_equals_single_and_smallest_singular_value_equals_lapack(
        geometry, home, random_poses):
    poses = random_poses[:50]
    solver = PoseSolver(geometry)
    solutions = solver.solve_batch(leg_lengths(geometry, poses), home)
    scale = np.repeat([geometry.characteristic_length, 1.0], 3)
    assert len(solutions) == 50
    for pose, solution in zip(poses, solutions):
        single = solver.solve(leg_lengths(geometry, pose), home)
        assert np.array_equal(single.pose, solution.pose)
        assert (single.status, single.iterations) == (solution.status, solution.iterations)
        singular = np.linalg.svd(length_jacobian(geometry, pose) / scale, compute_uv=False)
        assert solution.smallest_singular_value == pytest.approx(singular[-1], rel=1e-12)


def test_units_do_not_change_the_iterates(geometry, home, random_poses):
    reference = iterates(geometry, home, random_poses[0])
    for unit in (100.0, 1000.0):
        larger = StewartGeometry(
            geometry.leg_names, unit * geometry.base_joints, unit * geometry.platform_joints,
            unit * geometry.length_limits)
        scaled = iterates(larger, *(in_unit(p, unit) for p in (home, random_poses[0])))
        assert len(scaled) == len(reference)
        for a, b in zip(reference, scaled):
            assert np.allclose(in_unit(a.pose, unit), b.pose, rtol=0.0, atol=1e-12 * unit)
            assert a.status == b.status


def in_unit(pose, unit):
    """Return the pose with its position in another unit of length."""
    return np.block([[pose[:3, :3], unit * pose[:3, 3:]], [pose[3:]]])


def iterates(geometry, guess, target):
    """Return the solution after 1, 2, 3 ... iterations, to convergence."""
    lengths, found = leg_lengths(geometry, target), []
    while not (found and found[-1].converged):
        limited = LevenbergMarquardt(max_iterations=len(found) + 1)
        found.append(PoseSolver(geometry, limited).solve(lengths, guess))
    return found


def test_a_start_at_the_solution_takes_no_iteration(geometry, home):
    solution = PoseSolver(geometry).solve(leg_lengths(geometry, home), home)
    assert (solution.status, solution.iterations) == (Status.CONVERGED, 0)


@pytest.mark.parametrize(('ahead', 'used'), [(3.5, True), (4.5, False)])
def test_a_guess_moves_on_unless_that_misses_lengths_by_three_times(geometry, home, ahead, used):
    """Lengths change by nearly as much as the pose does, so it misses by ahead - 1."""
    step = np.array([0.0, 0.0, 0.0, 1e-3, 0.0, 0.0])
    lengths = leg_lengths(geometry, se3.compose(home, se3.exp(step)))
    solver = PoseSolver(geometry, LevenbergMarquardt(max_iterations=1))
    numbers = PlatformMeter(geometry).empty()
    start = se3.compose(home, se3.exp(ahead * step)) if used else home
    (got, *_), (wanted, *_) = (
        solver.solve_checked(lengths, guess, numbers, *further)
        for guess, further in ((home, (0.5 * ahead * step, 2.0)), (start, ())))
    np.testing.assert_allclose(got, wanted, rtol=0.0, atol=1e-14)


def test_too_few_iterations_are_reported(geometry, home, random_poses):
    solver = PoseSolver(geometry, LevenbergMarquardt(max_iterations=1))
    solution = solver.solve(leg_lengths(geometry, random_poses[0]), home)
    assert (solution.status, solution.iterations) == (Status.MAX_ITERATIONS, 1)
    assert not solution.converged


def test_lengths_of_no_pose_do_not_converge(geometry, home):
    solver = PoseSolver(geometry, LevenbergMarquardt(max_iterations=2000))
    solution = solver.solve([0.3, 0.9, 0.3, 0.9, 0.3, 0.9], home)
    assert solution.status in (Status.STALLED, Status.SINGULAR, Status.MAX_ITERATIONS)
    assert solution.residual > 1e-3


def test_a_singular_pose_is_reported(geometry):
    # Platform and base similar hexagons, one above the other (Fichter 1986: yaw of 90 degrees).
    angles = np.radians([15.0, 105.0, 135.0, 225.0, 255.0, 345.0])
    ring = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(6)))
    similar = StewartGeometry(geometry.leg_names, 0.3 * ring, 0.2 * ring, geometry.length_limits)
    pose = np.eye(4)
    pose[2, 3] = 0.5
    solution = PoseSolver(similar).solve(leg_lengths(similar, pose), pose)
    assert solution.status is Status.SINGULAR
    assert solution.smallest_singular_value < 1e-12


@pytest.mark.parametrize(('lengths', 'guess', 'error', 'named', 'got'), [
    (np.ones(5), np.eye(4), ShapeError, 'lengths', (5,)),
    (np.ones(6), np.eye(3), ShapeError, 'guess', (3, 3)),
    (1.0, np.eye(4), ShapeError, 'lengths', ()),
    (np.ones(6), np.ones(4), ShapeError, 'guess', (4,)),
    ([1, 1, np.nan, 1, 1, 1], np.eye(4), NotFiniteError, 'lengths', ANY),
    ([1, 1, 1, np.inf, 1, 1], np.eye(4), NotFiniteError, 'lengths', ANY),
    ([1, 0, 1, 1, 1, 1], np.eye(4), LimitError, 'leg_2', 0.0),
    ([1, 1, 1, 1, 1, -2], np.eye(4), LimitError, 'leg_6', -2.0),
    ([1, 1, 1, 1, 1, 1e200], np.eye(4), LimitError, 'lengths and guess', ANY),
    (np.ones(6), 2.0 * np.eye(4), NotInGroupError, 'guess', 3.0),
    (np.ones(6), np.diag([1.0, 1.0, -1.0, 1.0]), NotInGroupError, 'guess', -1.0),
    (np.ones(6), np.eye(4) + 0.5 * np.eye(4, k=-3), NotInGroupError, 'guess', 0.5),  # its last row
    (np.ones(6), np.full((4, 4), np.nan), NotFiniteError, 'guess', ANY),
    (['1'] * 6, np.eye(4), LiedynError, 'lengths', ANY),
    (np.ma.ones(6), np.eye(4), LiedynError, 'lengths', ANY),
    (np.ones(6), np.ma.identity(4), LiedynError, 'guess', ANY),
    (np.ones(6) + 1j, np.eye(4), LiedynError, 'lengths', ANY),
    (np.ones(6), [[1, 0], [0]], LiedynError, 'guess', [[1, 0], [0]]),
])
def test_bad_input_is_refused(geometry, lengths, guess, error, named, got):
    with refused(error, named, got=got):
        PoseSolver(geometry).solve(lengths, guess)


def test_a_guess_may_be_a_pose_object(geometry, home, random_poses):
    solver, lengths = PoseSolver(geometry), leg_lengths(geometry, random_poses[:2])
    guess = SE3(home)
    assert np.array_equal(
        solver.solve(lengths[0], guess).pose, solver.solve(lengths[0], home).pose)
    assert np.array_equal(
        solver.solve_batch(lengths, [guess, guess]).poses, solver.solve_batch(lengths, home).poses)


@pytest.mark.parametrize('setting', [
    {'damping': 0.0}, {'damping': float('nan')}, {'damping': 'x'}, {'max_iterations': 0},
    {'max_iterations': True}, {'residual_tolerance': -1.0}, {'residual_tolerance': 1.0},
    {'step_tolerance': None}])
def test_settings_outside_their_range_are_refused(setting):
    with refused(LiedynError, *setting):
        LevenbergMarquardt(**setting)
