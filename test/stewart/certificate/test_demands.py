# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Speeds and forces of the drives along a path: no sample is beyond what is proved."""

import numpy as np
import pytest
from support.platforms.leg_types import example
from support.refusals import refused

from liedyn_ros.common.errors import LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    ForceLimits, leg_lengths, load_geometry, PathProver, SpeedLimits)

DURATIONS = np.array([0.5, 1.0])
FORCE, POINT = np.array([10.0, -5.0, -200.0]), np.array([0.02, 0.01, 0.05])
STEP = 1e-6  # of a difference, rad and m


def plain():
    """Return the platform of Table 1, and its home."""
    return (load_geometry(config_file('stewart_geometry.yaml')),
            se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 0.5]))


MACHINES = {'struts': plain, **{
    name: lambda name=name: example(name) for name in ('hexaglide', 'cranks', 'circular_rail')}}


@pytest.fixture(params=MACHINES)
def journey(request):
    """Return a prover, a path of three poses (3, 4, 4), m, and the platform's size, m."""
    geometry, home = MACHINES[request.param]()
    rng, size = np.random.default_rng(1), geometry.characteristic_length
    path = np.array([home @ se3.exp(0.06 * rng.normal(size=6) * ([1.0] * 3 + [size] * 3))
                     for _ in range(3)])
    return PathProver(geometry), path, size


def along(path, count):
    """Return poses of the screws of a path, their body twists, and their times from 0 on."""
    for k in range(len(path) - 1):
        screw = se3.log(se3.inverse(path[k]) @ path[k + 1])
        for share in np.linspace(0.0, 1.0, count):
            yield path[k] @ se3.exp(share * screw), screw / DURATIONS[k], k + share


def jacobian(geometry, pose):
    """Return d(value)/d(body twist), (6, 6), by differences of inverse kinematics alone."""
    steps = STEP * np.vstack((np.eye(6), -np.eye(6)))
    values = leg_lengths(geometry, np.array([pose @ se3.exp(step) for step in steps]))
    return (values[:6] - values[6:]).T / (2.0 * STEP)


def demands_at(geometry, pose, twist):
    """Return speeds and forces of the drives (6,): J twist, and by the power of the load."""
    rates = jacobian(geometry, pose)
    force = pose[:3, :3].T @ FORCE
    wrench = np.concatenate((np.cross(POINT, force), force))
    return np.abs(rates @ twist), np.abs(np.linalg.solve(rates.T, wrench))


def greatest(prover, path, count=61):
    """Return the greatest speeds and forces (6,) of samples of a path."""
    found = [demands_at(prover.geometry, pose, twist) for pose, twist, _ in along(path, count)]
    return np.max([speed for speed, _ in found], axis=0), np.max([f for _, f in found], axis=0)


def test_what_is_proved_bounds_dense_samples_and_leaves_little(journey):
    prover, path, _ = journey
    speeds, forces = greatest(prover, path)
    asked = (SpeedLimits(limits=1.02 * speeds, durations=DURATIONS),
             ForceLimits(limits=1.02 * forces, force=FORCE, point=POINT))
    proof = prover.prove(path, speeds=asked[0], forces=asked[1])
    assert proof.proved and proof.reason == ''
    for said, true in ((proof.speeds, speeds), (proof.forces, forces)):
        assert (true <= 1.000001 * np.array(said)).all() and (said <= 1.02 * true).all()


def test_a_speed_beyond_its_limit_names_its_leg_and_its_place(journey):
    prover, path, _ = journey
    speeds, _ = greatest(prover, path)
    for leg in (1, 4):
        limits = np.where(np.arange(6) == leg, 0.97 * speeds, np.inf)
        proof = prover.prove(path, speeds=SpeedLimits(limits=limits, durations=DURATIONS))
        assert not proof.proved and f'the speed of leg_{leg + 1} is' in proof.reason
        before = [demands_at(prover.geometry, pose, twist)[0][leg] for pose, twist, time in along(
            path, 61) if time < proof.begin]
        there = [demands_at(prover.geometry, pose, twist)[0][leg] for pose, twist, time in along(
            path, 61) if abs(time - proof.begin) < 0.02]
        assert max(before, default=0.0) <= limits[leg] and max(there) > 0.97 * limits[leg]


def test_a_force_beyond_its_limit_names_its_leg_and_its_place(journey):
    prover, path, _ = journey
    _, forces = greatest(prover, path)
    limits = np.where(np.arange(6) == 2, 0.97 * forces, np.inf)
    proof = prover.prove(path, forces=ForceLimits(limits=limits, force=FORCE, point=POINT))
    assert not proof.proved and 'the force of leg_3 is not proved to be kept' in proof.reason
    assert proof.speeds == () and proof.end - proof.begin < 1e-3
    before = [demands_at(prover.geometry, pose, twist)[1][2] for pose, twist, time in along(
        path, 61) if time < proof.begin]
    assert max(before, default=0.0) <= limits[2]


def test_twists_wrenches_and_tubes_within_their_bounds_are_covered(journey):
    prover, path, size = journey
    rng, centre = np.random.default_rng(4), prover.geometry.platform_joints.mean(axis=0)
    proof = prover.prove(
        path, 1e-3, 1e-3 * size,
        SpeedLimits(limits=np.inf, angular=0.3, linear=0.1 * size),
        ForceLimits(limits=np.inf, force=FORCE, point=POINT, further_force=20.0,
                    further_moment=20.0 * size))
    assert proof.proved
    used = []
    for pose, _, _ in along(path, 15):
        turn, shift, spin, way, pull, moment = (
            each / np.linalg.norm(each) for each in rng.normal(size=(6, 3)))
        at_centre = np.eye(4)
        at_centre[:3, 3] = centre
        moved = pose @ at_centre @ se3.exp(np.append(1e-3 * turn, np.zeros(3)))
        moved[:3, 3] += 1e-3 * size * shift
        rates = jacobian(prover.geometry, moved @ se3.inverse(at_centre))
        spin, way = 0.3 * spin, 0.1 * size * way
        speeds = np.abs(rates @ np.append(spin, way - np.cross(spin, centre)))
        held = moved[:3, :3].T @ FORCE
        pull, moment = 20.0 * pull, 20.0 * size * moment
        wrench = np.append(np.cross(POINT, held) + moment + np.cross(centre, pull), held + pull)
        forces = np.abs(np.linalg.solve(rates.T, wrench))
        used.append((speeds / proof.speeds, forces / proof.forces))
    assert np.max(used) <= 1.0 and np.max(used) > 0.2


def test_numbers_that_are_no_demands_are_refused():
    geometry, home = plain()
    prover, path = PathProver(geometry), [home, home @ se3.exp([0.0, 0.0, 0.1, 0.0, 0.0, 0.0])]
    for named, speeds, forces in (
            ('durations', SpeedLimits(
                limits=1.0, durations=[1.0, 2.0]), None),
            ('limits of speeds', SpeedLimits(limits=[1.0] * 5), None),
            ('angular', SpeedLimits(limits=1.0, angular=-1.0), None),
            ('limits of forces', None, ForceLimits(limits=-1.0)),
            ('further_force', None, ForceLimits(limits=1.0, further_force=-1.0))):
        with refused(LimitError, named):
            prover.prove(path, speeds=speeds, forces=forces)
