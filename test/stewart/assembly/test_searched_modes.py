# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Modes of offset joints, screws and wires: as many as an independent dense search finds."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.platforms.leg_types import example, poses_about, reference_values

from liedyn_ros.stewart import (
    AssemblyModeSolver, leg_lengths, OffsetStrut, PoseCertifier, Strut, Wire)

STARTS, STEPS = 800, 20  # in which every start has come to a pose


def lengths_at(geometry, rotations, positions):
    """Return lengths (n, 6), m, by the formulas of textbooks, of struts, base offsets, wires."""
    found = []
    for leg, a, b in zip(geometry.leg_types, geometry.base_joints, geometry.platform_joints):
        away = rotations @ b + positions - a
        axis = np.array(getattr(leg, 'base_axis', getattr(leg, 'axis', (0.0, 0.0, 1.0))))
        up = away @ axis
        side = np.linalg.norm(away - np.outer(up, axis), axis=1)
        if isinstance(leg, Wire):
            far = np.hypot(side - leg.radius, up)
            turned = np.pi - np.arctan2(up, side - leg.radius) - np.arccos(
                np.minimum(leg.radius / far, 1.0))
            found.append(np.sqrt(np.maximum(far ** 2 - leg.radius ** 2, 0.0))
                         + leg.radius * turned)
        else:
            assert isinstance(leg, Strut) or leg.platform_offset == 0.0
            found.append(np.hypot(side - getattr(leg, 'base_offset', 0.0), up))
    return np.transpose(found)


def dense_search(geometry, values, seed):
    """Return all poses (k, 4, 4) that damped Newton steps by differences reach from STARTS."""
    rng, size = np.random.default_rng(seed), np.abs(values).max()
    turns = Rotation.random(STARTS, random_state=rng).as_matrix()
    places = geometry.base_joints.mean(axis=0) + 0.6 * size * rng.normal(size=(STARTS, 3))
    step = 1e-6
    for _ in range(STEPS):
        error = lengths_at(geometry, turns, places) - values
        slopes = np.empty((STARTS, 6, 6))
        for k in range(3):
            turned = Rotation.from_rotvec(step * np.eye(3)[k]).as_matrix()
            slopes[:, :, k] = (lengths_at(geometry, turned @ turns, places)
                               - values - error) / step
            slopes[:, :, 3 + k] = (lengths_at(geometry, turns, places + step * np.eye(3)[k])
                                   - values - error) / step
        squares = slopes.transpose(0, 2, 1) @ slopes + 1e-12 * np.eye(6)
        move = np.linalg.solve(
            squares, -(slopes.transpose(0, 2, 1) @ error[:, :, None]))[:, :, 0]
        move /= np.maximum(1.0, np.linalg.norm(move, axis=1, keepdims=True) / 0.5)
        turns = Rotation.from_rotvec(move[:, :3]).as_matrix() @ turns
        places = places + move[:, 3:]
    good = np.abs(lengths_at(geometry, turns, places) - values).max(axis=1) < 1e-9
    found = []
    for turn, place in zip(turns[good], places[good]):
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = turn, place
        if all(np.abs(pose - other).max() > 1e-5 for other in found):
            found.append(pose)
    return found


def base_offsets():
    """Return a platform whose joints on the base alone have offsets, and its home."""
    geometry, home = example('offset')
    return dataclasses.replace(geometry, leg_types=tuple(
        OffsetStrut(leg.base_axis, leg.base_offset or 0.02) for leg in geometry.leg_types)), home


@pytest.mark.full
@pytest.mark.parametrize('machine', [base_offsets, lambda: example('wires')])
def test_a_dense_search_by_other_formulas_finds_the_same_modes(machine):
    geometry, home = machine()
    solver = AssemblyModeSolver(geometry)
    for k, pose in enumerate(poses_about(home, 1, 3, 0.3, 0.05)):
        values = lengths_at(geometry, pose[None, :3, :3], pose[None, :3, 3])[0]
        assert values == pytest.approx(leg_lengths(geometry, pose), abs=1e-12)
        modes, others = solver.solve(values).modes, dense_search(geometry, values, k)
        assert len(modes) == len(others) >= 8
        for other in others:
            assert min(np.abs(mode.pose - other).max() for mode in modes) < 1e-6


@pytest.mark.parametrize(('name', 'lead'), [
    ('offset', 0.0), ('spindles', 0.0), ('spindles', 0.005), ('wires', 0.0)])
def test_modes_have_the_values_and_are_certified(name, lead):
    geometry, home = example(name)
    if name == 'spindles':
        geometry = dataclasses.replace(geometry, leg_types=tuple(
            dataclasses.replace(leg, lead=lead) for leg in geometry.leg_types))
    solver, certifier = AssemblyModeSolver(geometry), PoseCertifier(geometry)
    pose = poses_about(home, 1, 5, 0.3, 0.05)[0]
    values = reference_values(geometry, pose)
    found = solver.solve(values)
    assert min(np.abs(mode.pose - pose).max() for mode in found.modes) < 1e-9
    for mode in found.modes:
        assert certifier.certify(mode.pose, values).certified
    assert reference_values(geometry, found.modes[-1].pose) == pytest.approx(values, abs=1e-9)
    assert not found.complete and 'found by a search from' in found.defect
    signs = sum(mode.determinant_sign for mode in found.modes)
    assert lead or (signs == 0 and 'add up to 0' in found.defect)


def test_offsets_of_zero_have_the_modes_of_plain_struts(geometry, paper_pose):
    values = leg_lengths(geometry, paper_pose)
    none = dataclasses.replace(geometry, leg_types=(OffsetStrut(),) * 6)
    plain, searched = (AssemblyModeSolver(each).solve(values) for each in (geometry, none))
    assert plain.complete and len(searched.modes) == len(plain.modes)
    for one, other in zip(plain.modes, searched.modes):
        assert np.abs(one.pose - other.pose).max() < 1e-9
