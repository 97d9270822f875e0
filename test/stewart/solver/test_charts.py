# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every chart and residual against finite differences, transforms3d, SE(3) and each other."""

import dataclasses

import numpy as np
import pytest
from support.platforms.stewart_cases import pose_of
from transforms3d.euler import euler2mat, mat2euler

from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels import motion as predict
from liedyn_ros.stewart import (
    Chart, GaussNewton, leg_lengths, LevenbergMarquardt, PoseSolver, Residual, Status,
    StewartGeometry)
from liedyn_ros.stewart.solver.kernels import charts, problem

FORMS = [(chart, residual) for chart in Chart for residual in Residual]
METHODS = [method(chart=chart, residual=residual)
           for method in (LevenbergMarquardt, GaussNewton) for chart, residual in FORMS]


def equations_at(geometry, pose, lengths, chart, residual):
    """Return the equations and the state of a pose."""
    unknowns = LevenbergMarquardt(chart=chart).unknowns
    x = np.zeros(charts.CHART_STATE)
    charts.store_state(int(chart), *predict.split(pose), x)
    return problem.Equations(
        geometry.table(), lengths ** 2, int(chart), int(residual), unknowns), x


@pytest.mark.parametrize(('chart', 'residual'), FORMS)
def test_jacobian_is_the_derivative_along_the_retraction(
        geometry, home, random_poses, chart, residual):
    # (Stewart 22 to 24, 28)
    equations, x = equations_at(
        geometry, random_poses[0], leg_lengths(geometry, home), chart, residual)
    if chart is Chart.QUATERNION:
        x[3:7] *= 1.3  # a solver leaves the unit sphere on its way
    n, step = len(equations.unknowns), 1e-6
    jacobian = np.empty(n * n)
    problem.residual_jacobian(equations, x, jacobian)
    values = np.empty((2, n))
    for k, column in enumerate(jacobian.reshape(n, n).T):
        for value, sign in zip(values, (1.0, -1.0)):
            moved = np.zeros(charts.CHART_STATE)
            problem.step_state(equations, x, np.eye(n)[k], sign * step, moved)
            problem.length_residuals(equations, moved, value)
        assert np.allclose(column, (values[0] - values[1]) / (2.0 * step), atol=1e-9)


@pytest.mark.parametrize('residual', Residual)
def test_residuals_are_what_they_are_called(geometry, home, random_poses, residual):
    # (Stewart 16 to 18)
    lengths, target = leg_lengths(geometry, home), leg_lengths(geometry, random_poses[0])
    equations, x = equations_at(geometry, home, target, Chart.QUATERNION, residual)
    values = np.empty(7)
    half_square = problem.length_residuals(equations, x, values)
    power = {Residual.SQUARED_LENGTHS: 2, Residual.LENGTHS: 1}[residual]
    assert np.allclose(values, [*(lengths ** power - target ** power), 0.0], atol=1e-15)
    assert half_square == pytest.approx(0.5 * values @ values)


@pytest.mark.parametrize('chart', Chart)
def test_a_state_stands_for_its_pose(random_poses, chart):
    for pose in random_poses[:20]:
        x = np.zeros(charts.CHART_STATE)
        charts.store_state(int(chart), *predict.split(pose), x)
        rotation, position = charts.state_pose(int(chart), x)
        assert np.allclose(np.reshape(rotation, (3, 3)), pose[:3, :3], atol=1e-15)
        assert np.allclose(position, pose[:3, 3])


def test_angles_are_those_of_transforms3d_and_survive_gimbal_lock():
    rng = np.random.default_rng(5)
    for angles in rng.uniform(-1.5, 1.5, (50, 3)):
        matrix = euler2mat(*angles, 'sxyz')
        assert np.allclose(charts.rotation_of_rpy(*angles), matrix.ravel(), atol=1e-15)
        assert np.allclose(charts.angles(tuple(matrix.ravel())), mat2euler(matrix, 'sxyz'))
    for pitch in (0.5 * np.pi, -0.5 * np.pi):
        locked = charts.rotation_of_rpy(0.4, pitch, -1.1)
        assert np.allclose(charts.rotation_of_rpy(*charts.angles(locked)), locked, atol=1e-15)


@pytest.mark.parametrize('method', METHODS)
def test_all_reach_the_same_pose(geometry, home, random_poses, method):  # (Stewart Algorithm 1, 2)
    poses = random_poses[:200]
    solutions = PoseSolver(geometry, method).solve_batch(leg_lengths(geometry, poses), home)
    assert (solutions.statuses == Status.CONVERGED).all()
    assert np.abs(solutions.poses - poses).max() < 1e-10


@pytest.mark.parametrize('method', [LevenbergMarquardt(chart=Chart.QUATERNION),
                                    GaussNewton(chart=Chart.QUATERNION)])
def test_single_equals_batch_with_seven_unknowns(geometry, home, random_poses, method):
    solver, lengths = PoseSolver(geometry, method), leg_lengths(geometry, random_poses[0])
    single, [row] = solver.solve(lengths, home), solver.solve_batch([lengths], home)
    assert np.array_equal(single.pose, row.pose)
    assert (single.status, single.iterations) == (row.status, row.iterations)


@pytest.mark.parametrize('method', METHODS)
def test_the_scale_is_the_unit_of_length(geometry, home, random_poses, method):
    # Metres with a scale of 1 cm are centimetres with a scale of 1: the same iterates.
    in_cm = StewartGeometry(
        geometry.leg_names, 100.0 * geometry.base_joints, 100.0 * geometry.platform_joints,
        100.0 * geometry.length_limits)
    unit = np.block([[np.ones((3, 3)), np.full((3, 1), 100.0)], [np.ones((1, 4))]])
    lengths = leg_lengths(geometry, random_poses[0])
    for limit in (1, 2, 3):
        limited = dataclasses.replace(method, max_iterations=limit)
        a = PoseSolver(geometry, limited, scale=0.01).solve(lengths, home)
        b = PoseSolver(in_cm, limited, scale=1.0).solve(100.0 * lengths, unit * home)
        assert np.allclose(unit * a.pose, b.pose, rtol=0.0, atol=1e-10)
    default = PoseSolver(geometry, method).solve(lengths, home)
    explicit = PoseSolver(
        geometry, method, scale=geometry.characteristic_length).solve(lengths, home)
    assert np.array_equal(default.pose, explicit.pose)


def test_angles_fail_in_gimbal_lock_where_se3_does_not(geometry):
    target = pose_of((0.0, 0.0, 0.5), (0.0, 88.0, 5.0))
    locked = pose_of((0.0, 0.0, 0.5), (0.0, 90.0, 0.0))
    lengths = leg_lengths(geometry, target)
    on_se3 = PoseSolver(geometry, GaussNewton()).solve(lengths, locked)
    in_angles = PoseSolver(geometry, GaussNewton(chart=Chart.ANGLES)).solve(lengths, locked)
    assert on_se3.converged
    assert np.abs(se3.log(se3.inverse(target) @ on_se3.pose)).max() < 1e-9
    assert not in_angles.converged
