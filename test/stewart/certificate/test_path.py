# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Proofs of paths, against many poses of each, crossings, and interval arithmetic."""

import dataclasses
import functools
import itertools

import numpy as np
import pytest
from support.platforms.stewart_motion import pose_of
from support.refusals import refused

from liedyn_ros.common.errors import GeometryError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import leg_lengths, load_geometry, PathProver
from liedyn_ros.stewart.certificate import path as proofs
from liedyn_ros.stewart.platform.state import PlatformMeter


def poses_along(path, count=200):
    """Return poses of the screws between the poses of a path."""
    shares = np.linspace(0.0, 1.0, count)
    return np.concatenate([
        se3.compose(a, se3.exp(np.outer(shares, se3.log(se3.compose(se3.inverse(a), b)))))
        for a, b in itertools.pairwise(path)])


def test_paths_in_the_good_workspace_are_proved(geometry, random_poses):
    prover, meter = PathProver(geometry), PlatformMeter(geometry)
    for k in range(0, 60, 3):
        path = random_poses[k:k + 3]
        proof = prover.prove(path)
        assert proof.proved and proof.reason == '' and proof.tests < 2000
        values = np.abs(meter.signed_values(poses_along(path)))
        assert proof.smallest_singular_value <= values.min()


def test_a_path_through_a_singularity_is_not_proved_where_it_crosses(geometry, home):
    end = pose_of((0.0, 0.0, 0.5), (0.0, 0.0, 120.0))
    proof = PathProver(geometry).prove([home, end])
    assert not proof.proved and 'singularity' in proof.reason
    # Fichter: singular at a yaw of 90 degrees.
    assert proof.begin <= 0.75 <= proof.end and proof.end - proof.begin < 1e-3


def test_no_path_whose_determinant_changes_sign_is_proved(geometry, random_poses):
    prover, meter = PathProver(geometry), PlatformMeter(geometry)
    rng, crossings = np.random.default_rng(3), 0
    for pose in random_poses[:150]:
        end = se3.compose(pose, se3.exp(rng.normal(size=6) * [1, 1, 1, 0.2, 0.2, 0.2]))
        values = meter.signed_values(poses_along([pose, end]))
        proof = prover.prove([pose, end])
        if values.min() * values.max() < 0.0:
            crossings += 1
            assert not proof.proved
        assert not proof.proved or proof.smallest_singular_value <= np.abs(values).min()
    assert crossings > 20


@pytest.mark.parametrize(('change', 'to', 'name'), [
    ({'length_limits': np.tile([0.0, 0.6], (6, 1))}, pose_of((0.0, 0.0, 0.7), (0, 0, 0)),
     'travel of leg_1'),
    ({'base_cones': np.tile([0.0, 0.0, 1.0, 0.6], (6, 1))}, pose_of((0.25, 0.0, 0.5), (0, 0, 0)),
     'base joint of leg'),
    ({'platform_cones': np.tile([0.0, 0.0, -1.0, 0.6], (6, 1))},
     pose_of((0.0, 0.0, 0.5), (0, 30, 0)), 'platform joint of leg'),
    ({'leg_diameter': 0.1}, pose_of((0.0, 0.0, 0.5), (0.0, 0.0, 70.0)), 'clearance of leg')])
def test_a_limit_is_named_where_it_is_exceeded(geometry, home, change, to, name):
    limited = dataclasses.replace(geometry, **change)
    proof = PathProver(limited).prove([home, to])
    assert not proof.proved and name in proof.reason
    before = se3.compose(home, se3.exp(
        max(proof.begin - 1e-3, 0.0) * se3.log(se3.compose(se3.inverse(home), to))))
    after = se3.compose(home, se3.exp(
        (proof.end + 0.02) * se3.log(se3.compose(se3.inverse(home), to))))
    meter = PlatformMeter(limited)
    assert [meter.measure(each).margins.within_limits for each in (before, after)] == [True, False]


def test_a_tube_holds_the_poses_beside_the_screw(geometry, home, random_poses):
    path, rng = [home, random_poses[3]], np.random.default_rng(4)
    proof = PathProver(geometry).prove(path, 0.05, 0.01)
    assert proof.proved
    meter, lowest = PlatformMeter(geometry), np.inf
    for pose in poses_along(path, 40):
        turn, shift = rng.normal(size=(2, 3))
        twist = np.concatenate((0.05 * turn / np.linalg.norm(turn),
                                0.01 * shift / np.linalg.norm(shift)))
        lowest = min(lowest, meter.measure(
            se3.compose(pose, se3.exp(twist))).smallest_singular_value)
    assert proof.smallest_singular_value <= lowest
    assert proof.smallest_singular_value < PathProver(geometry).prove(
        path).smallest_singular_value


def test_a_threshold_is_kept_or_the_path_is_not_proved(geometry, home, random_poses):
    path = [home, random_poses[5]]
    lowest = np.abs(PlatformMeter(geometry).signed_values(poses_along(path))).min()
    assert PathProver(geometry, 0.05).prove(path).smallest_singular_value > 0.05
    proof = PathProver(geometry, 1.01 * lowest).prove(path)
    assert not proof.proved and 'singularity' in proof.reason


def interval_matrix(iv, geometry, start, displacement, low, high):
    """Return J's rows times the leg lengths over s in [low, high], by intervals alone."""
    s = iv.mpf([low, high])
    axis = displacement[:3] / np.linalg.norm(displacement[:3])
    angle = s * float(np.linalg.norm(displacement[:3]))
    sine, versed = iv.sin(angle), 1 - iv.cos(angle)
    x, y, z = (iv.mpf(float(a)) for a in axis)
    skew = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    square = [[sum(skew[i][k] * skew[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    turn = [[(1 if i == j else 0) + sine * skew[i][j] + versed * square[i][j]
             for j in range(3)] for i in range(3)]
    rotation = [[sum(float(start[i, k]) * turn[k][j] for k in range(3)) for j in range(3)]
                for i in range(3)]
    position = [float(start[i, 3]) + s * float(displacement[3 + i]) for i in range(3)]
    rows = []
    for a, b in zip(geometry.base_joints.tolist(), geometry.platform_joints.tolist()):
        arm = [sum(rotation[i][k] * b[k] for k in range(3)) for i in range(3)]
        leg = [arm[i] + position[i] - a[i] for i in range(3)]
        moment = [arm[1] * leg[2] - arm[2] * leg[1], arm[2] * leg[0] - arm[0] * leg[2],
                  arm[0] * leg[1] - arm[1] * leg[0]]
        rows.append(moment + leg)
    return rows


def regular_by_intervals(iv, rows, middle):
    """Return whether a preconditioned interval matrix is strictly diagonally dominant."""
    inverse = np.linalg.inv(middle)
    for i in range(6):
        off = iv.mpf(0)
        for j in range(6):
            entry = sum(float(inverse[i, k]) * rows[k][j] for k in range(6))
            off += abs(entry - 1) if i == j else abs(entry)
        if not off.b < 1:
            return False
    return True


def test_intervals_prove_what_the_prover_does(geometry, home):
    """With position and rotation apart, a path that mpmath's intervals can follow: a witness."""
    iv = pytest.importorskip('mpmath').iv
    displacement = np.array([0.1, 0.0, 0.3, 0.0, 0.0, 0.05])
    path = [pose_at(home, displacement, s) for s in np.linspace(0.0, 1.0, 33)]
    assert PathProver(geometry).prove(path, 1e-4, 1e-4).proved
    pieces = np.linspace(0.0, 1.0, 65)
    for low, high in itertools.pairwise(pieces):
        rows = interval_matrix(iv, geometry, home, displacement, low, high)
        exact = interval_matrix(
            iv, geometry, home, displacement, 0.5 * (low + high), 0.5 * (low + high))
        middle = np.array([[float(entry.mid) for entry in row] for row in exact])
        assert regular_by_intervals(iv, rows, middle)


def test_neither_intervals_nor_the_prover_prove_a_crossing(geometry, home):
    iv = pytest.importorskip('mpmath').iv
    displacement = np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    path = [pose_at(home, displacement, s) for s in np.linspace(0.0, 1.0, 33)]
    proof = PathProver(geometry).prove(path)
    assert not proof.proved
    share = 0.25 * np.pi  # a yaw of 90 degrees of the 2 rad
    assert proof.begin / 32.0 <= share <= proof.end / 32.0
    rows = interval_matrix(iv, geometry, home, displacement, share - 1e-3, share + 1e-3)
    middle = np.array([[float(entry.mid) for entry in row] for row in interval_matrix(
        iv, geometry, home, displacement, share - 1e-4, share - 1e-4)])
    assert not regular_by_intervals(iv, rows, middle)


def pose_at(home, displacement, share):
    """Return home turned about a body axis and moved along the base's axes."""
    pose = se3.compose(home, se3.exp(np.append(share * displacement[:3], np.zeros(3))))
    pose[:3, 3] = home[:3, 3] + share * displacement[3:]
    return pose


def test_a_screw_motion_is_its_two_ends(geometry, home):
    poses = se3.compose(home, se3.exp(np.multiply.outer(
        np.linspace(0.0, 1.0, 500), [0.2, 0.1, 0.3, 0.05, 0.0, 0.05])))
    proof = PathProver(geometry).prove(poses[[0, -1]])
    finer = PathProver(geometry).prove(poses[::25])
    assert proof.proved and finer.proved
    lengths = leg_lengths(geometry, poses)
    assert geometry.within_limits(lengths).all()


def test_a_path_is_one_call_of_a_kernel_beside_which_other_threads_run(
        geometry, random_poses, monkeypatch):
    prover, calls = PathProver(geometry), []
    whole = prover.prove(random_poses[:9])
    pieces = [prover.prove(pair) for pair in itertools.pairwise(random_poses[:9])]
    assert whole.proved and whole.tests == sum(piece.tests for piece in pieces)
    assert whole.smallest_singular_value == min(
        piece.smallest_singular_value for piece in pieces)

    class Counted:
        """The kernels, which note when they are called."""

        def __getattr__(self, name):
            found = getattr(kernels, name)
            is_kernel = hasattr(found, 'unlocked')
            return functools.partial(self.note, found) if is_kernel else found

        def note(self, kernel, *arguments):
            calls.append(kernel)
            return kernel(*arguments)

    kernels = proofs.kernels
    monkeypatch.setattr(proofs, 'kernels', Counted())
    assert prover.prove(random_poses[:9]) == whole
    assert len(calls) == 1 and calls[0].unlocked


def test_what_no_path_is_is_refused(geometry, home):
    with refused(LimitError, 'path'):
        PathProver(geometry).prove([home])
    with refused(LimitError, 'threshold'):
        PathProver(geometry, -1.0)
    with refused(GeometryError, 'path', got="['Wire']"):
        PathProver(load_geometry(config_file('stewart_wires.yaml')))
