# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Proofs of paths of rails and cranks, against many poses of each ball and path."""

import dataclasses

import numpy as np
import pytest
from support.platforms.leg_types import example

from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import leg_lengths, load_geometry, PathProver
from liedyn_ros.stewart.certificate.kernels import path as kernels
from liedyn_ros.stewart.certificate.kernels.sweeps import (
    BENT, DIRECTION_TURN, END_WAY, OTHER_TURN, SWEEP, VALUE_CHANGE)
from liedyn_ros.stewart.platform.description.leg_types import Strut
from liedyn_ros.stewart.platform.kinematics import leg_ends
from liedyn_ros.stewart.platform.state import PlatformMeter


def mixed():
    """Return cranks of which two are struts, and home."""
    geometry, home = example('cranks')
    types = [Strut() if i in (1, 4) else leg for i, leg in enumerate(geometry.leg_types)]
    limits = [[0.0, np.inf] if isinstance(leg, Strut) else [-np.inf, np.inf] for leg in types]
    return dataclasses.replace(
        geometry, leg_types=tuple(types), length_limits=limits, masses=None), home


def circular():
    """Return six carriages on one circular rail, and home."""
    return (load_geometry(config_file('stewart_circular_rail.yaml')),
            se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 0.3]))


MACHINES = {'rails': lambda: example('hexaglide'), 'cranks': lambda: example('cranks'),
            'circular rail': circular, 'cranks and struts': mixed}


@pytest.fixture(params=MACHINES)
def machine(request):
    """Return a geometry, its home and its size, m."""
    geometry, home = MACHINES[request.param]()
    return geometry, home, geometry.characteristic_length


def unit_vectors(geometry, pose):
    """Return the unit vectors (6, 3) along the rods, in the base frame, and their ends."""
    feet, tips = leg_ends(geometry, pose)
    return (tips - feet) / np.linalg.norm(tips - feet, axis=1, keepdims=True), feet, tips


def turns(a, b):
    """Return the angles between unit vectors (6, 3)."""
    return 2.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(a - b, axis=1), 1.0))


@pytest.mark.full
def test_no_pose_of_a_ball_is_beyond_what_the_legs_are_said_to_go(machine):
    """The poses are at the rim of the ball, where nothing but the bounds is shared."""
    geometry, home, size = machine
    prover, meter, rng = PathProver(geometry), PlatformMeter(geometry), np.random.default_rng(5)
    centre = geometry.platform_joints.mean(axis=0)
    shift = se3.from_rotation_translation(np.eye(3), centre)
    used = []
    for _ in range(12):
        pose = home @ se3.exp(rng.normal(size=6) * ([0.05] * 3 + [0.05 * size] * 3))
        hw, hv = rng.uniform(0.0, 0.02, size=2)
        at = pose @ shift
        bound = kernels.smallest_singular_value(
            prover._table, tuple(at[:3, :3].ravel()), tuple(at[:3, 3] / size), size, hw, hv,
            prover._work)
        if bound == 0.0:
            continue
        sweeps = prover._work[kernels.SWEEPS_AT:].reshape(6, SWEEP)
        before, values = unit_vectors(geometry, pose), leg_lengths(geometry, pose)
        for _ in range(40):
            w, v = (each / np.linalg.norm(each) for each in rng.normal(size=(2, 3)))
            other = at.copy()
            other[:3, :3] = at[:3, :3] @ se3.exp(np.append(hw * w, np.zeros(3)))[:3, :3]
            other[:3, 3] += hv * size * (at[:3, :3] @ v)
            other = other @ se3.inverse(shift)
            after = unit_vectors(geometry, other)
            most = np.array([
                np.abs(leg_lengths(geometry, other) - values), turns(before[0], after[0]),
                turns(before[0] @ pose[:3, :3], after[0] @ other[:3, :3]),
                np.linalg.norm(np.array(before[1:]) - after[1:], axis=2).max(axis=0) / size,
                np.linalg.norm(before[0] - after[0], axis=1)])
            said = sweeps[:, [VALUE_CHANGE, DIRECTION_TURN, OTHER_TURN, END_WAY, BENT]].T
            assert (most <= said + 1e-9).all()
            used.append((most / said).max(axis=1))
            assert abs(meter.signed_values(other[None])[0]) >= bound
            assert min(meter.transmissions(other)) > 0.0
    assert len(used) > 300 and (np.max(used, axis=0) > 0.3).all(), 'the bounds are not idle'


def test_paths_about_home_are_proved_and_no_other_than_safe_ones(machine):
    geometry, home, size = machine
    prover, meter, rng = PathProver(geometry), PlatformMeter(geometry), np.random.default_rng(3)
    proofs = []
    for width in [0.1] * 5 + [1.0] * 5 + [3.0] * 3:
        path = np.array([home @ se3.exp(width * rng.normal(size=6) * (
            [0.3] * 3 + [0.3 * size] * 3)) for _ in range(2)])
        proof = prover.prove(path, 1e-4, 1e-4 * size)
        proofs.append(proof.proved)
        if proof.proved:
            twist = se3.log(se3.inverse(path[0]) @ path[1])
            poses = path[0] @ se3.exp(np.outer(np.linspace(0.0, 1.0, 100), twist))
            values = np.abs(meter.signed_values(poses))
            assert 0.0 < proof.smallest_singular_value <= values.min()
            assert geometry.within_limits(leg_lengths(geometry, poses)).all()
            assert all(min(meter.transmissions(pose)) > 0.0 for pose in poses)
    assert all(proofs[:5]) and not all(proofs)


def test_a_dead_centre_and_a_limit_are_named():
    geometry, home = example('hexaglide')
    aside = home.copy()
    aside[0, 3] += 2.0
    endless = dataclasses.replace(geometry, length_limits=np.tile([-np.inf, np.inf], (6, 1)))
    proof = PathProver(endless).prove([home, aside])
    assert not proof.proved and 'dead centre of' in proof.reason
    there = se3.compose(home, se3.exp(proof.begin * se3.log(se3.inverse(home) @ aside)))
    assert 0.0 < np.abs(PlatformMeter(geometry).transmissions(there)).min() < 0.05
    values = leg_lengths(geometry, home)
    limited = dataclasses.replace(geometry, length_limits=np.stack(
        (values - 0.02, values + 0.02), axis=1))
    proof = PathProver(limited).prove([home, aside])
    assert not proof.proved and 'travel of' in proof.reason
