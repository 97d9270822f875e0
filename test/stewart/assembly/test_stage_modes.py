# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Three stages have up to eight poses, and all of them are found."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation
from support.platforms.leg_types import example, poses_about, reference_values
from support.refusals import refused

from liedyn_ros.common.errors import GeometryError
from liedyn_ros.stewart import AssemblyModeSolver, leg_lengths, PoseSolver, Strut

STAGES = ['stages', 'carried_guides']


@pytest.mark.parametrize('name', STAGES)
def test_modes_have_the_values_and_the_pose_is_among_them(name):
    geometry, home = example(name)
    solver = AssemblyModeSolver(geometry)
    for pose in poses_about(home, 10, 1, 0.3, 0.02):
        values = reference_values(geometry, pose)
        found = solver.solve(values)
        assert found.complete and found.complex_solutions == 8 and len(found.modes) % 2 == 0
        assert min(np.abs(mode.pose - pose).max() for mode in found.modes) < 1e-11
        for mode in found.modes:
            assert reference_values(geometry, mode.pose) == pytest.approx(values, abs=1e-11)
        heights = [mode.height for mode in found.modes]
        assert heights == sorted(heights, reverse=True)


@pytest.mark.parametrize('name', STAGES)
def test_searches_from_random_poses_find_no_other_mode(name):
    geometry, home = example(name)
    rng, solver = np.random.default_rng(2), PoseSolver(geometry)
    pose = poses_about(home, 1, 3, 0.3, 0.02)[0]
    values = leg_lengths(geometry, pose)
    modes, reached = AssemblyModeSolver(geometry).solve(values).modes, set()
    for _ in range(150):
        start = np.eye(4)
        start[:3, :3] = Rotation.random(random_state=rng).as_matrix()
        start[:3, 3] = rng.normal(0.0, 0.15, 3)
        solution = solver.solve(values, start)
        if solution.converged:
            apart = [np.abs(mode.pose - solution.pose).max() for mode in modes]
            assert min(apart) < 1e-9
            reached.add(int(np.argmin(apart)))
    assert len(reached) == len(modes)


def test_scipy_finds_a_mode_far_from_the_pose():
    geometry, home = example('stages')
    values = leg_lengths(geometry, home)
    mode = AssemblyModeSolver(geometry).solve(values).modes[0].pose

    def at(x):
        moved = np.eye(4)
        moved[:3, :3], moved[:3, 3] = Rotation.from_rotvec(x[:3]).as_matrix(), x[3:]
        return moved
    near = np.append(Rotation.from_matrix(mode[:3, :3]).as_rotvec(), mode[:3, 3]) + 1e-3
    found = least_squares(lambda x: reference_values(geometry, at(x)) - values, near,
                          xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.abs(at(found.x) - mode).max() < 1e-8 and np.abs(mode - home).max() > 0.01


def test_lines_that_no_platform_joins_have_complex_modes_alone():
    geometry, home = example('stages')
    small = dataclasses.replace(geometry, platform_joints=0.2 * geometry.platform_joints)
    far = leg_lengths(geometry, home) + [0.2, 0.1, 0.0, 0.1, -0.1, 0.2]
    found = AssemblyModeSolver(small).solve(far)
    assert found.modes == () and found.complete and found.complex_solutions == 8


def test_parallel_guides_leave_a_continuum():
    geometry, home = example('stages')
    upright = dataclasses.replace(geometry, leg_types=tuple(
        dataclasses.replace(leg, guide=(0.0, 0.0, 1.0)) for leg in geometry.leg_types))
    found = AssemblyModeSolver(upright).solve(leg_lengths(upright, home))
    assert found.modes == () and not found.complete and found.lost == 8


def test_a_stage_beside_struts_has_no_modes():
    geometry, home = example('stages')
    mixed = dataclasses.replace(
        geometry, leg_types=(*geometry.leg_types[:4], Strut(), Strut()), base_joints=np.vstack((
            geometry.base_joints[:4], [[0.1, -0.1, 0.0], [0.05, -0.15, 0.0]])),
        length_limits=np.vstack((geometry.length_limits[:4], [[0.0, 1.0]] * 2)))
    with refused(GeometryError, 'assembly modes'):
        AssemblyModeSolver(mixed).solve(leg_lengths(mixed, home))
