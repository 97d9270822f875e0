# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Arms whose geometry is wrong: poses of a tool frame tell what of it matters."""

import re

from mpmath import mp
import numpy as np
import pytest
from scipy.stats import chi2
from support.refusals import refused

from liedyn_ros.common.errors import ConvergenceError, LimitError, ModelError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification.calibration import calibrate_arm
from liedyn_ros.identification.calibration.calibrate import _configurations, _samples
from liedyn_ros.identification.calibration.fit import CalibrationFit
from liedyn_ros.identification.calibration.problem import ArmProblem
from liedyn_ros.identification.calibration.unknowns import unknowns_of
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import ModelBuilder, SpatialInertia, with_placements

INERTIA = SpatialInertia(1.0, np.zeros(3), 0.01 * np.eye(3))
NOISE = 1e-5, 5e-5  # m and rad
BASE = se3.exp([0.3, 0.2, 1.0, 0.5, 0.6, 0.7])
TARGET = se3.exp([0.1, -0.2, 0.3, 0.02, 0.03, 0.04])


def arm(sliding=False):
    """Return an arm of six joints and a tool that is fixed to the last."""
    builder, parent = ModelBuilder('arm'), None
    for k, axis in enumerate('zyyxyx'):
        builder.add_body(f'link_{k}', INERTIA)
        place = np.eye(4)
        place[:3, 3] = (0.0, 0.05 * (k % 2), 0.3) if parent else (0.0, 0.0, 0.1)
        builder.add_joint(f'joint_{k}', 'prismatic' if sliding and k == 3 else 'revolute', parent,
                          f'link_{k}', axis=[axis == each for each in 'xyz'], placement=place)
        parent = f'link_{k}'
    builder.add_body('tool', INERTIA)
    builder.add_joint('tool_joint', 'fixed', parent, 'tool', placement=se3.exp(
        [0.1, 0.2, 0.3, 0.0, 0.0, 0.15]))
    return builder.build()


def built(model, rng, size=1e-3, turn=2e-3):
    """Return the model as the workshop built it."""
    scale = np.array([turn] * 3 + [size] * 3)
    return with_placements(model, {
        joint.name: joint.placement @ se3.exp(scale * rng.normal(size=6))
        for joint in model.joint_list if joint.type_name != 'fixed'})


def poses_at(model, q, body='tool'):
    """Return the poses (n, 4, 4) of a body."""
    dynamics = Dynamics(model)
    return np.array([dynamics.kinematics(each).poses[model.body_index(body)] for each in q])


def measured(poses, rng, base=BASE, target=TARGET, noise=NOISE):
    """Return positions and rotations of a target on a body, with noise."""
    seen = base @ poses @ target
    turns = so3.exp(noise[1] * rng.normal(size=(len(poses), 3)))
    return (seen[:, :3, 3] + noise[0] * rng.normal(size=(len(poses), 3)),
            so3.normalize(seen[:, :3, :3] @ turns))


@pytest.mark.parametrize('sliding', (False, True))
def test_an_arm_gets_better_where_nobody_measured(sliding):
    """Frames of the instrument and the target unknown; 60 poses, as issue 31 asks of platforms."""
    model, rng = arm(sliding), np.random.default_rng(1)
    true = built(model, rng)
    q = rng.uniform(-1.5, 1.5, (60, 6))
    found = calibrate_arm(model, 'tool', q, *measured(poses_at(true, q), rng), deviations=NOISE)
    assert found.offered and found.used.all() and found.noise == 1.0
    others = rng.uniform(-1.5, 1.5, (40, 6))
    wanted = BASE @ poses_at(true, others) @ TARGET
    got = found.instrument @ poses_at(found.model, others) @ found.target
    apart = np.linalg.norm(got[:, :3, 3] - wanted[:, :3, 3], axis=1)
    assert np.sqrt((apart ** 2).mean()) < 2e-5  # m
    assert found.before[0] > 1e-3 and found.after[0] < 3e-5 and found.after[1] < 2e-4


def test_derivatives_are_those_of_differences():
    model, rng = arm(), np.random.default_rng(2)
    q = rng.uniform(-1.0, 1.0, (9, 6))
    samples = _samples(model, tuple(f'joint_{k}' for k in range(6)), q, *measured(
        poses_at(model, q), rng), NOISE)
    assert_slopes(model, 'tool', samples, _configurations(model, samples, None)[0], rng)
    several = _samples(model, samples.names, q, reflected(model, q, rng), None, NOISE)
    assert_slopes(model, 'tool', several, q, rng)
    lengths = _samples(model, samples.names, q, several.positions[:, :1], None, NOISE)
    assert_slopes(model, 'tool', lengths, q, rng)


def assert_slopes(model, body, samples, q, rng):
    unknowns = unknowns_of(model, body, (1e-3, 1e-3), offsets=False, further=samples.further,
                           frames=('instrument', 'target'), names=samples.names)
    problem = ArmProblem(unknowns, body, samples, {'instrument': BASE, 'target': TARGET}, q)
    z = 0.1 * rng.normal(size=unknowns.size)
    z[:unknowns.of_machine] *= 10.0
    slopes, step = problem.at(z).derivatives, 1e-4
    for k in rng.choice(unknowns.size, min(12, unknowns.size), replace=False):
        by = step * np.eye(unknowns.size)[k]
        difference = (problem.at(z + by).errors - problem.at(z - by).errors) / (2.0 * step)
        np.testing.assert_allclose(slopes[:, :, k], difference, rtol=1e-5,
                                   atol=1e-6 * np.abs(slopes).max())


@pytest.mark.full
def test_errors_are_within_the_stated_covariance():
    """Of the place of the tool, over arms: NEES of three numbers at poses nobody measured."""
    squares = []
    for seed in range(6):
        model, rng = arm(), np.random.default_rng((3, seed))
        true = built(model, rng)
        q = rng.uniform(-1.5, 1.5, (40, 6))
        found = calibrate_arm(model, 'tool', q, *measured(
            poses_at(true, q), rng, np.eye(4), np.eye(4)), deviations=NOISE,
            instrument=np.eye(4), target=np.eye(4))
        others = rng.uniform(-1.5, 1.5, (10, 6))
        wanted = poses_at(true, others)
        got = poses_at(found.model, others)
        unknowns = unknowns_of(found.model, 'tool', (1.0, 1.0), offsets=False, frames=(), names=())
        names = tuple(f'joint_{k}' for k in range(6))
        samples = _samples(model, names, others, wanted[:, :3, 3], None, (1.0, 1.0))
        rows = ArmProblem(unknowns, 'tool', samples, {
            'instrument': np.eye(4), 'target': np.eye(4)}, others).at(
                np.zeros(unknowns.size)).derivatives
        for row, error in zip(rows, got[:, :3, 3] - wanted[:, :3, 3]):
            squares.append(error @ np.linalg.solve(row @ found.covariance @ row.T, error))
    assert 2.0 < np.mean(squares) < 4.5  # 3 where the covariance holds
    assert np.mean(np.array(squares) < chi2.ppf(0.95, 3)) > 0.85


def test_offsets_alone_are_found_from_few_positions():
    """Of all joints but the first, whose offset is a turn of the instrument."""
    model, rng = arm(), np.random.default_rng(4)
    off = 0.01 * rng.normal(size=6)
    q = rng.uniform(-1.5, 1.5, (15, 6))
    places, _ = measured(poses_at(model, q + off), rng)
    found = calibrate_arm(model, 'tool', q, places, offsets=True, instrument=BASE)
    offsets = np.array([found.offset(f'joint_{k}') for k in range(6)])
    told = [k for k in range(6) if f'joint_{k} offset' not in found.unobservable]
    assert found.offered and len(told) >= 5
    np.testing.assert_allclose(offsets[told], off[told], atol=1e-3)
    assert np.isnan(found.after[1])


def test_wrong_poses_are_left_out():
    model, rng = arm(), np.random.default_rng(5)
    q = rng.uniform(-1.5, 1.5, (50, 6))
    places, turns = measured(poses_at(built(model, rng), q), rng)
    places[7] += (0.0, 0.02, 0.0)
    found = calibrate_arm(model, 'tool', q, places, turns)
    assert not found.used[7] and found.used.sum() >= 48
    assert any('left out' in each and ' 8' in each for each in found.remarks)
    assert not found.offered and '--leave-out 8' in found.next_step  # 20 mm are no noise
    assert 0.05 < found.noise < 1.0  # deviations were assumed ten times too large


def sweeps(rng):
    """Return readings of an arm that turned joint after joint, six poses each."""
    q = np.tile([0.2, -0.4, 0.9, 0.3, 0.7, -0.5], (36, 1))
    for k in range(6):
        q[6 * k:6 * k + 6, k] = np.linspace(-1.2, 1.2, 6) + 0.01 * rng.normal(size=6)
    return q


WAYS = {
    'coupled': (lambda q: q + np.outer(q[:, 1], [0, 0, 1, 0, 0, 0]), 'joint_2=joint_2-joint_1'),
    'coupled, other sign': (lambda q: q - np.outer(q[:, 1], [0, 0, 1, 0, 0, 0]),
                            'joint_2=joint_2+joint_1'),
    'sign': (lambda q: q * [1, 1, 1, 1, -1, 1], 'joint_4=-joint_4'),
    'elsewhere': (lambda q: q + [0, np.pi / 2, 0, 0, 0, 0], 'joint_1=joint_1-90deg')}


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('swept', (True, False))
@pytest.mark.full
def test_readings_that_count_otherwise_are_named(way, swept):
    """A sweep of one joint would be left out, and the rest explained; random poses fit nowhere."""
    model, rng = arm(), np.random.default_rng(7)
    q = sweeps(rng) if swept else rng.uniform(-1.2, 1.2, (40, 6))
    places, _ = measured(poses_at(built(model, rng), q), rng)
    change, option = WAYS[way]
    try:
        found = calibrate_arm(model, 'tool', change(q), places)
        said, offered = ' '.join(found.objections), found.offered
    except (LimitError, ConvergenceError) as error:
        said, offered = str(error), False
    said = re.sub(r'(\d)\.\d+deg', r'\1deg', said)  # a zero off by less than a degree is found too
    assert not offered and f'--reads {option}' in said
    assert calibrate_arm(model, 'tool', q, places).offered


def test_a_right_model_stays():
    model, rng = arm(), np.random.default_rng(6)
    q = rng.uniform(-1.5, 1.5, (40, 6))
    found = calibrate_arm(model, 'tool', q, *measured(poses_at(model, q), rng), deviations=NOISE)
    assert not found.offered


@pytest.mark.parametrize(('change', 'error', 'name'), (
    ({'body': 'hand'}, ModelError, 'hand'),
    ({'readings': np.zeros((40, 5))}, ShapeError, 'readings'),
    ({'readings': np.full((40, 6), 90.0)}, LimitError, 'joint_0'),
    ({'positions': np.zeros((2, 3)), 'readings': np.zeros((2, 6))}, ShapeError, 'positions'),
    ({'positions': np.full((40, 3), np.nan)}, ValueError, 'positions'),
    ({'tolerance': (0.0, 1.0)}, LimitError, 'tolerance')))
def test_bad_input_is_refused(change, error, name):
    given = {'body': 'tool', 'readings': np.zeros((40, 6)), 'positions': np.zeros((40, 3))}
    with refused(error, name):
        calibrate_arm(arm(), **{**given, **change})


PLACES = np.array([[0.0, 0.0, 0.05], [0.12, 0.0, 0.0], [-0.04, 0.1, 0.02]])  # m, on the tool


def reflected(model, q, rng, places=PLACES):
    """Return the positions (n, k, 3) that a tracker measures of reflectors on the tool."""
    poses = BASE @ poses_at(model, q)
    seen = np.einsum('nij,kj->nki', poses[:, :3, :3], places) + poses[:, None, :3, 3]
    return seen + NOISE[0] * rng.normal(size=seen.shape)


@pytest.mark.parametrize('count', (2, 3))
def test_several_reflectors_tell_how_the_body_is_turned(count):
    model, rng = arm(), np.random.default_rng(8)
    true, q = built(model, rng), rng.uniform(-1.5, 1.5, (40, 6))
    found = calibrate_arm(model, 'tool', q, reflected(true, q, rng, PLACES[:count]),
                          deviations=NOISE)
    assert found.offered and found.used.sum() >= 38 and found.noise == 1.0
    others = rng.uniform(-1.5, 1.5, (20, 6))
    got, wanted = found.instrument @ poses_at(found.model, others), BASE @ poses_at(true, others)
    places = np.vstack([np.zeros(3), found.further.reshape(-1, 3)]) @ found.target[
        :3, :3].T + found.target[:3, 3]
    off = [(got[:, :3, :3] @ x + got[:, :3, 3]) - (wanted[:, :3, :3] @ y + wanted[:, :3, 3])
           for x, y in zip(places, PLACES)]
    assert np.sqrt(np.mean(np.square(off))) < 2e-5  # m


def test_three_reflectors_on_a_line_are_as_good_as_two():
    model, rng = arm(), np.random.default_rng(9)
    true, q = built(model, rng), rng.uniform(-1.5, 1.5, (40, 6))
    line = np.array([PLACES[0], PLACES[1], 2.0 * PLACES[0] - PLACES[1]])
    assert calibrate_arm(model, 'tool', q, reflected(true, q, rng, line), deviations=NOISE).offered


def test_reflectors_that_are_not_on_the_body_are_never_offered():
    model, rng = arm(), np.random.default_rng(9)
    q = rng.uniform(-1.5, 1.5, (40, 6))
    seen = reflected(built(model, rng), q, rng)
    seen[:, 1] += 0.05 * rng.normal(size=(40, 3))
    assert not calibrate_arm(model, 'tool', q, seen).offered


@pytest.mark.parametrize('zero', (0.0, 0.15, -0.04))
def test_lengths_of_a_cable_calibrate_what_they_tell(zero):
    """From an unknown place and zero to an unknown point of the tool, which lengths alone give."""
    model, rng = arm(), np.random.default_rng(10)
    true, q = built(model, rng), rng.uniform(-1.5, 1.5, (120, 6))
    other = rng.uniform(-1.5, 1.5, (40, 6))

    def lengths(q):
        return np.linalg.norm(reflected(true, q, rng, PLACES[:1])[:, 0], axis=1)[:, None] - zero

    found = calibrate_arm(model, 'tool', q, lengths(q), deviations=NOISE)
    assert found.offered and found.after[0] < 2e-5 < 5e-4 < found.before[0]
    assert abs(found.further[0] - zero) < 1e-3
    seen = found.instrument @ poses_at(found.model, other) @ found.target
    off = np.linalg.norm(seen[:, :3, 3], axis=1) - found.further - lengths(other)[:, 0]
    assert np.sqrt(np.mean(off**2)) < 3e-5
    assert np.isnan(found.after[1])


def test_a_covariance_keeps_its_digits_where_the_prior_holds_some_numbers():
    """Against 60 digits: two directions of six have 1e-18 of the greatest information."""
    rng, prior = np.random.default_rng(4), np.full(6, 1e3)
    root = np.linalg.qr(1e6 * rng.normal(size=(30, 4)) @ rng.normal(size=(4, 6)), 'r')
    fit = CalibrationFit(np.zeros(6), np.ones(30, bool), np.zeros((30, 1)), 1.0, 24.0, root)
    with mp.workdps(60):
        exact = mp.inverse(mp.matrix(root).T * mp.matrix(root) / 4 + mp.diag(list(prior ** -2.0)))
        wanted = np.array(exact.tolist(), dtype=float)
    error = np.finfo(float).eps * np.linalg.cond(np.vstack((root / 2.0, np.diag(1.0 / prior))))
    sizes = np.sqrt(np.diag(wanted))
    off = (fit.scaled_covariance(4.0, prior) - wanted) / np.outer(sizes, sizes)
    assert np.abs(off).max() < 10.0 * error
