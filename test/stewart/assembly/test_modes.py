# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""All poses of given leg lengths: known poses, blind search, symmetry, other random numbers."""

import re

import numpy as np
import pytest
from support.platforms.leg_types import example, poses_about
from support.platforms.stewart_motion import pose_of
from support.refusals import refused
from transforms3d.axangles import axangle2mat

from liedyn_ros.common.errors import LimitError, NotFiniteError, ShapeError
from liedyn_ros.lie import se3, SO3
from liedyn_ros.stewart import (
    AssemblyModeSolver, leg_lengths, length_jacobian, PoseSolver, StewartGeometry)
from liedyn_ros.stewart.assembly import study_coordinates as starts
from liedyn_ros.stewart.assembly.kernels import homotopy
from liedyn_ros.stewart.assembly.modes import PATH_ATTEMPTS
from liedyn_ros.stewart.assembly.study_coordinates import leg_system, to_pose

NAMES = tuple('abcdef')
ANY_LENGTH = np.tile((0.0, np.inf), (6, 1))


@pytest.fixture(scope='module')
def solver(geometry):
    """Return the solver of the paper's platform."""
    return AssemblyModeSolver(geometry)


def random_platform(rng, planar):
    """Return a random platform, its joints in two planes if wanted, and a random pose of it."""
    base, platform = rng.normal(size=(2, 6, 3))
    if planar:
        base[:, 2] = platform[:, 2] = 0.0
    return (StewartGeometry(NAMES, base, platform, ANY_LENGTH),
            se3.exp(rng.normal(size=6) * (1.5, 1.5, 1.5, 1.0, 1.0, 1.0)))


def is_among(pose, modes, tolerance=1e-7):
    """Return whether a pose is one of the modes."""
    return any(np.abs(mode.pose - pose).max() < tolerance for mode in modes)


def from_pose(pose):
    """Return the point (8,) of a pose, of unit e."""
    x, y, z, w = SO3(pose[:3, :3]).quaternion
    v, p = np.array((x, y, z)), pose[:3, 3]
    return np.concatenate(([w], v, [-0.5 * (p @ v)], 0.5 * (w * p + np.cross(p, v))))  # p e / 2


def test_the_system_is_that_of_the_leg_equations():
    rng = np.random.default_rng(1)
    base, platform = rng.normal(size=(2, 6, 3))
    lengths = rng.uniform(1.0, 2.0, 6)
    system = leg_system(base, platform, lengths)
    for xi in rng.normal(size=(5, 6)):
        pose = se3.exp(xi)
        point = from_pose(pose)
        legs = platform @ pose[:3, :3].T + pose[:3, 3] - base
        expected = (legs ** 2).sum(axis=1) - lengths ** 2
        expected[:5] -= expected[5]
        assert np.allclose(values(system, point), [*expected, 0.0], atol=1e-12)
        assert np.allclose(to_pose(-3.0 * point), pose, atol=1e-14)


def values(system, point):
    """Return what the six equations and e.g are at a point."""
    e, g = point[:4], point[4:]
    legs = np.einsum('i,nij,j->n', e, system[:, 0], e) + e @ system[:, 1] @ g
    legs[5] += 4.0 * g @ g
    return [*legs, e @ g]


@pytest.mark.full
def test_the_jacobian_of_the_homotopy_is_its_derivative():
    rng = np.random.default_rng(2)
    start, target = (starts.random_equations(rng).ravel() for _ in range(2))
    paths, t, step = homotopy.Homotopy(start, target, 0.6 + 0.8j), 0.3, 1e-6
    x = rng.normal(size=9) + 1j * rng.normal(size=9)
    jacobian, rate = np.empty(81, dtype=complex), np.empty(9, dtype=complex)
    unused, (ahead, behind) = np.empty_like(rate), np.empty((2, 9), dtype=complex)
    homotopy.evaluate_homotopy(paths, x, t, jacobian, unused, rate)
    for move, column in [*zip(step * np.eye(9), jacobian.reshape(9, 9).T), (None, rate)]:
        for sign, value in ((1.0, ahead), (-1.0, behind)):
            moved = x if move is None else x + sign * move
            homotopy.evaluate_homotopy(paths, moved, t + sign * step * (move is None),
                                       np.empty_like(jacobian), value, unused)
        assert np.allclose((ahead - behind)[:7] / (2.0 * step), column[:7], atol=1e-7)
    normal = jacobian.reshape(9, 9)[7:]
    assert np.allclose(normal.sum(axis=0), x.conj())


@pytest.mark.parametrize('seed', [0, 1])
def test_a_start_system_has_forty_different_solutions(seed):
    equations, solutions = starts.start_system(seed)
    assert solutions.shape == (40, 8)
    assert max(np.abs(values(equations, point)).max() for point in solutions) < 1e-12
    apart = starts.separations(solutions, solutions) + np.eye(40)
    assert apart.min() > 1e-3
    assert (np.abs((solutions[:, :4] ** 2).sum(axis=1)) > 1e-6).all()


@pytest.mark.parametrize('planar', [False, True])
def test_the_true_pose_is_among_them_whatever_the_random_numbers(planar):
    rng = np.random.default_rng(20 + planar)
    for _ in range(6):
        geometry, pose = random_platform(rng, planar)
        lengths = leg_lengths(geometry, pose)
        first, second = (AssemblyModeSolver(geometry, seed).solve(lengths) for seed in (0, 1))
        assert first.complete and second.complete
        assert first.complex_solutions == second.complex_solutions == 40
        assert is_among(pose, first.modes)
        assert len(first.modes) == len(second.modes)
        for mode in second.modes:
            assert is_among(mode.pose, first.modes)


def test_the_papers_platform_has_28_complex_solutions(geometry, solver, paper_pose):
    # Twice 14, the degree that Huang found for symmetric platforms (reference 4 of the paper).
    modes = solver.solve(leg_lengths(geometry, paper_pose))
    assert modes.complete
    assert (modes.complex_solutions, modes.at_infinity, modes.lost) == (28, 12, 0)
    assert is_among(paper_pose, modes.modes, 1e-9)
    t_s = pose_of((0.1758, 0.1034, 0.3671), (-90.72, -112.2, 38.0))  # (Stewart 30)
    assert is_among(t_s, modes.modes, 4e-4)


def test_the_modes_meet_the_lengths_and_mirror_each_other(geometry, solver, home):
    lengths = leg_lengths(geometry, home)
    modes = solver.solve(lengths).modes
    assert len(modes) == 16
    mirror = np.diag((1.0, 1.0, -1.0, 1.0))
    scale = np.repeat((geometry.characteristic_length, 1.0), 3)
    for mode in modes:
        assert np.allclose(leg_lengths(geometry, mode.pose), lengths, atol=1e-14)
        # All joints lie in planes: the mirror image in the base's is a pose as well.
        assert is_among(mirror @ mode.pose @ mirror, modes, 1e-12)
        jacobian = length_jacobian(geometry, mode.pose) / scale
        singular = np.linalg.svd(jacobian, compute_uv=False)
        assert mode.smallest_singular_value == pytest.approx(singular[-1], rel=1e-9)
        assert mode.determinant_sign == np.sign(np.linalg.det(jacobian))
        assert mode.above == (mode.pose[2, 3] > 0.0)
    assert [mode.height for mode in modes] == sorted((m.height for m in modes), reverse=True)


@pytest.mark.parametrize('planar', [False, True])
def test_a_blind_search_finds_no_other_pose(planar):
    rng = np.random.default_rng(30 + planar)
    geometry, pose = random_platform(rng, planar)
    lengths = leg_lengths(geometry, pose)
    modes = AssemblyModeSolver(geometry).solve(lengths).modes
    guesses = np.tile(np.eye(4), (4000, 1, 1))
    for guess in guesses:
        guess[:3, :3] = axangle2mat(rng.normal(size=3), rng.uniform(0.0, np.pi))
        guess[:3, 3] = rng.normal(size=3) * 1.5
    solutions = PoseSolver(geometry).solve_batch(np.tile(lengths, (4000, 1)), guesses)
    found = solutions.poses[solutions.statuses == 0]
    assert len(found) > 400
    distances = np.array([[np.abs(pose - mode.pose).max() for mode in modes] for pose in found])
    assert distances.min(axis=1).max() < 1e-6
    assert len(np.unique(distances.argmin(axis=1))) == len(modes)


def test_frames_far_from_the_joints_change_nothing(geometry, solver, paper_pose):
    shift = np.array((3.0, -2.0, 5.0))
    moved = StewartGeometry(geometry.leg_names, geometry.base_joints + shift,
                            geometry.platform_joints - shift, geometry.length_limits)
    lengths = leg_lengths(geometry, paper_pose)
    for a, b in zip(solver.solve(lengths).modes, AssemblyModeSolver(moved).solve(lengths).modes):
        position = a.pose[:3, 3] + shift + a.pose[:3, :3] @ shift
        assert np.allclose(b.pose[:3, 3], position, atol=1e-9)
        assert b.height == pytest.approx(a.height, abs=1e-9)


def test_lengths_that_no_real_pose_has(solver):
    modes = solver.solve(np.full(6, 0.001))
    assert modes.complete and modes.modes == () and modes.complex_solutions == 28


@pytest.mark.parametrize(('lengths', 'reason'), [
    ((0.3, 0.9, 0.3, 0.9, 0.3, 0.9), r'^lengths of leg_2 and leg_3: expected to differ by 0.438'),
    ((1e9, 0.5, 0.5, 0.5, 0.5, 0.5), r'^lengths of leg_1 and leg_6: .* got 1e\+09 m')])
def test_legs_that_differ_by_more_than_their_joints_allow(solver, lengths, reason):
    modes = solver.solve(lengths)
    assert modes.complete and modes.modes == () and modes.paths == 0
    assert re.search(reason, modes.reason)


def test_legs_that_differ_by_just_what_their_joints_allow():
    base, platform = np.random.default_rng(40).normal(size=(2, 6, 3))
    pose = np.eye(4)
    for tip, foot in ((platform, base), (base, platform)):  # turned to lie in one line
        x = np.linalg.norm(tip[1] - tip[0]) * np.array((1.0, 0.0, 0.0))
        tip[:2] = [0.0, 0.0, 0.0], x if foot is base else -x
    pose[0, 3] = 3.0
    geometry = StewartGeometry(NAMES, base, platform, ANY_LENGTH)
    lengths = leg_lengths(geometry, pose)
    solver = AssemblyModeSolver(geometry)
    assert solver.solve(lengths).reason == ''
    lengths[1] *= 1.0 + 1e-9
    assert 'lengths of a and b' in solver.solve(lengths).reason


def test_what_is_at_infinity_must_be_what_is_there_at_other_lengths(geometry, monkeypatch):
    solver = AssemblyModeSolver(geometry)
    monkeypatch.setattr(solver, '_why_impossible', lambda lengths: '')
    modes = solver.solve((1e15, 0.5, 0.5, 0.5, 0.5, 0.5))
    assert not modes.complete
    assert modes.defect == '40 of 40 paths ended at infinity, 12 at lengths taken at random'


@pytest.mark.parametrize('failing', [1, 2])
def test_a_reference_search_with_a_defect_is_none(geometry, paper_pose, monkeypatch, failing):
    follow, left = starts.follow, iter(range(1 + failing * PATH_ATTEMPTS))

    def lose(*arguments):
        points, times = follow(*arguments)
        kept = next(left, None) in (0, None)  # the search itself, and what comes after those
        return points, times if kept else np.ones_like(times)

    starts.start_system(0)  # is kept
    monkeypatch.setattr(starts, 'follow', lose)
    modes = AssemblyModeSolver(geometry).solve(leg_lengths(geometry, paper_pose))
    assert next(left, None) is None
    assert modes.complete and modes.at_infinity == 12


def test_what_singular_solutions_leave_open_is_reported(geometry):
    # Platform and base similar hexagons: whatever the lengths, poses come in continua.
    angles = np.radians((15.0, 105.0, 135.0, 225.0, 255.0, 345.0))
    ring = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(6)))
    similar = StewartGeometry(NAMES, 0.3 * ring, 0.2 * ring, ANY_LENGTH)
    pose = pose_of((0.01, 0.02, 0.5), (5.0, 10.0, 15.0))
    modes = AssemblyModeSolver(similar).solve(leg_lengths(similar, pose))
    assert not modes.complete
    assert modes.singular > 0 and 'singular' in modes.defect


@pytest.mark.parametrize('seed', [-1, 1.5, 'a', None, True])
def test_a_seed_is_an_integer_of_zero_or_more(geometry, seed):
    with refused(LimitError, 'seed', expected=0):
        AssemblyModeSolver(geometry, seed)


@pytest.mark.parametrize(('lengths', 'error'), [
    (np.ones(5), ShapeError), (np.full(6, np.nan), NotFiniteError), (np.zeros(6), LimitError)])
def test_bad_lengths_are_refused(solver, lengths, error):
    with refused(error, 'leg_1' if error is LimitError else 'lengths'):
        solver.solve(lengths)


@pytest.mark.parametrize('name', ['cranks', 'hexaglide', 'circular_rail'])
def test_a_mode_of_this_machine_has_the_values_asked_and_another_has_not(name):
    geometry, home = example(name)
    solver, others = AssemblyModeSolver(geometry), 0
    for pose in poses_about(home, 4, 3, 0.15, 0.02):
        values = leg_lengths(geometry, pose)
        found = solver.solve(values).modes
        assert any(mode.of_machine and np.abs(mode.pose - pose).max() < 1e-9 for mode in found)
        for mode in found:
            apart = leg_lengths(geometry, mode.pose) - values
            if geometry.reading_unit[1] == 'rad':
                apart -= 2.0 * np.pi * np.round(apart / (2.0 * np.pi))
            wrong = np.flatnonzero(np.abs(apart) > 1e-7)
            assert mode.behind == tuple(wrong.tolist())
            others += not mode.of_machine
    assert others
