# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Machines with loops whose geometry is wrong: the joints that are not read follow."""

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.stats import chi2
from support.machines.looped_machines import bar, bennett, five_bar, planar_linkage
from support.refusals import refused

from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.identification.calibration import calibrate_arm
from liedyn_ros.identification.calibration.calibrate import _configurations, _samples
from liedyn_ros.identification.calibration.loops import (
    closed_configurations, with_closed_loops)
from liedyn_ros.identification.calibration.problem import ArmProblem
from liedyn_ros.identification.calibration.unknowns import read_joints, unknowns_of
from liedyn_ros.model import ModelBuilder, pose

NOISE = 1e-5, 5e-5  # m and rad
CRANKS = 'left_0_joint', 'right_0_joint'
TIP = pose([0.4, 0.0, 0.0])  # of the drawing, on the left coupler
DRAWN = np.array([0.3, 0.4, 0.3, 0.4, 0.25, 0.0, 0.0])
# m, and rad of both cranks; the tip is 0.4 m from its joint, as the target is there
ERRORS = 1e-3 * np.array([0.7, 0.0, -0.4, 1.1, 0.8, 2.0, -1.5])
START = np.array([2.0, -1.4, 1.2, 1.4])


def tips(numbers, cranks, side=1.0):
    """
    Return where the tip of a five-bar is (n, 3), by circles alone: no model, no solver.

    side is 1, or -1 where the couplers are in their other assembly.
    """
    a, b, c, d, span, left, right = numbers
    first, second = cranks[:, 0] + left, cranks[:, 1] + right
    one = a * np.column_stack([np.cos(first), np.sin(first)])
    two = [span, 0.0] + c * np.column_stack([np.cos(second), np.sin(second)])
    apart = two - one
    far = np.linalg.norm(apart, axis=1)
    along = (b**2 - d**2 + far**2) / (2.0 * far)
    beside = np.sqrt(b**2 - along**2)
    unit = apart / far[:, None]
    tip = one + along[:, None] * unit + (side * beside)[:, None] * np.column_stack(
        [-unit[:, 1], unit[:, 0]])
    return np.column_stack([tip, np.zeros(len(tip))])


def readings(rng, count):
    return np.array([2.0, 1.2]) + rng.uniform(-0.4, 0.4, (count, 2))


def calibrated(rng, count=24):
    """Return a calibration of the five-bar by positions of its tip, and what was given."""
    read = readings(rng, count)
    places = tips(DRAWN + ERRORS, read) + NOISE[0] * rng.normal(size=(count, 3))
    return calibrate_arm(
        five_bar(), 'left_1', read, places, deviations=NOISE, instrument=np.eye(4), target=TIP,
        start=START), read, places


def predicted(model, read):
    """Return where a model's tip is (n, 3)."""
    dynamics = Dynamics(model)
    return np.array([(dynamics.kinematics(each).poses[model.body_index('left_1')] @ TIP)[:3, 3]
                     for each in closed_configurations(model, CRANKS, START, read)[0]])


def test_a_five_bar_gets_better_where_nobody_measured():
    """Beside circles that meet: for the truth, and for a fit of seven numbers to the same tips."""
    rng = np.random.default_rng(1)
    found, read, places = calibrated(rng)
    assert found.offered and found.used.all() and found.noise == 1.0
    others = readings(rng, 30)
    wanted, got = tips(DRAWN + ERRORS, others), predicted(found.model, others)
    assert np.linalg.norm(predicted(five_bar(), others) - wanted, axis=1).max() > 5e-4
    assert np.linalg.norm(got - wanted, axis=1).max() < 2e-5  # m

    def drawn(x, cranks):
        return tips(np.insert(x, 1, DRAWN[1]), cranks)[:, :2].ravel()

    plain = least_squares(lambda x: (drawn(x, read) - places[:, :2].ravel()) / NOISE[0],
                          np.delete(DRAWN, 1), x_scale=1e-3)
    moved = np.column_stack([drawn(plain.x + each, others) - drawn(plain.x - each, others)
                             for each in 1e-6 * np.eye(6)]) / 2e-6
    spread = np.sqrt(np.diag(moved @ np.linalg.inv(plain.jac.T @ plain.jac) @ moved.T))
    # Robust weights move all predictions at once by less than their noise does (Scheffe), with a
    # chance of 1e-9.
    apart = got[:, :2].ravel() - drawn(plain.x, others)
    np.testing.assert_array_less(np.abs(apart) / spread, np.sqrt(chi2.isf(1e-9, 6)))


@pytest.mark.parametrize('seed', range(4))
def test_poses_may_be_in_either_assembly(seed):
    """Measurements tell which, from a start in the wrong one too; a pose without one is named."""
    rng = np.random.default_rng((8, seed))
    read = np.array([2.0, 1.2]) + rng.uniform(-0.6, 0.6, (20, 2))
    side = np.where(np.arange(20) % 3 == seed % 3, -1.0, 1.0)
    places = tips(DRAWN + ERRORS, read, side) + NOISE[0] * rng.normal(size=(20, 3))
    read = np.insert(read, 5, [3.0, 0.1], axis=0)  # cranks further apart than both couplers reach
    places = np.insert(places, 5, [0.2, 0.3, 0.0], axis=0)
    start = START if seed % 2 else np.array([2.0, 1.0, 1.2, -1.0])
    found = calibrate_arm(five_bar(), 'left_1', read, places, deviations=NOISE,
                          instrument=np.eye(4), target=TIP, start=start)
    assert found.offered and found.used.sum() >= 18 and not found.used[5]
    assert any('do not close' in each and each.endswith(': 6') for each in found.remarks)
    assert found.after[0] < 1e-4 < 5e-4 < found.before[0]


def test_large_errors_are_never_offered():
    """Whatever the mean gain says: by size, by a loss at few poses, by a pose without assembly."""
    found, _, _ = calibrated(np.random.default_rng(1), 12)
    held = found.held_out
    for change, match in (({'after': np.array([0.2, np.nan])}, 'large for this machine'),
                          ({'misfits': held.misfits[::-1]}, 'do not get clearly better'),
                          ({'lost': (3, 7)}, 'poses 3, 7 cannot be assembled')):
        found.__dict__['held_out'] = held._replace(**change)
        assert not found.offered and match in ' '.join(found.objections)


@pytest.mark.full
def test_errors_are_within_the_stated_covariance():
    squares = []
    for seed in range(3):
        rng = np.random.default_rng((3, seed))
        found, _, _ = calibrated(rng, 20)
        others = readings(rng, 10)
        problem = problem_of(found.model, 'left_1', others, np.zeros((10, 3)), START, (1.0, 1.0),
                             kept=False)
        rows = problem.at(np.zeros(problem.unknowns.size)).derivatives[:, :2]
        error = (predicted(found.model, others) - tips(DRAWN + ERRORS, others))[:, :2]
        for row, off in zip(rows, error):
            squares.append(off @ np.linalg.solve(row @ found.covariance @ row.T, off))
    assert 1.2 < np.mean(squares) < 3.2  # 2 where the covariance holds
    assert np.mean(np.array(squares) < chi2.ppf(0.95, 2)) > 0.85


def problem_of(model, body, read, places, start, deviations, turns=None, kept=True):
    """Return the equations of a machine whose instrument and target stand at identity and TIP."""
    names = read_joints(model, body)
    samples = _samples(model, names, read, places, turns, deviations)
    q, _ = _configurations(model, samples, start)
    unknowns = unknowns_of(model, body, (1e-3, 1e-3) if kept else (1.0, 1.0), offsets=False,
                           frames=(), names=names)
    closed = with_closed_loops(unknowns, names, body, q)
    if not kept:
        closed = type(closed)(**{**vars(closed), 'kept': None})
    return ArmProblem(closed, body, samples, {'instrument': np.eye(4), 'target': TIP}, q)


def rod_machine():
    """Return a crank that moves a rocker by a rod with free ends."""
    builder = ModelBuilder('rod')
    builder.add_body('crank', bar(1.0, 0.2))
    builder.add_body('rocker', bar(1.0, 0.3))
    builder.add_joint('crank_joint', 'revolute', None, 'crank', axis=[0.0, 0.0, 1.0])
    builder.add_joint('rocker_joint', 'revolute', None, 'rocker', axis=[0.0, 0.6, 0.8],
                      placement=pose([0.5, 0.0, 0.1]), actuated=False)
    builder.add_closure('rod', 'rod', 'crank', 'rocker', placement_a=pose([0.2, 0.0, 0.0]),
                        placement_b=pose([0.3, 0.0, 0.0]), length=0.45)
    return builder.build()


@pytest.mark.parametrize(('machine', 'body', 'start', 'spread'), (
    (five_bar, 'left_1', START, 0.3), (rod_machine, 'rocker', np.array([0.5, 1.5]), 0.3),
    (lambda: bennett().model, 'link_1', bennett().q, 0.2)))
def test_derivatives_are_those_of_differences(machine, body, start, spread):
    model, rng = machine(), np.random.default_rng(2)
    columns = [model.joint(name).qi for name in read_joints(model, body)]
    read = start[columns] + rng.uniform(-spread, spread, (4, len(columns)))
    problem = problem_of(model, body, read, rng.normal(size=(4, 3)), start, (1.0, 1.0),
                         np.tile(np.eye(3), (4, 1, 1)))
    z = rng.normal(size=problem.unknowns.size)
    slopes, step = problem.at(z).derivatives, 1e-2
    assert problem.settled.all()
    for k in rng.choice(len(z), min(10, len(z)), replace=False):
        by = step * np.eye(len(z))[k]
        difference = (problem.at(z + by).errors - problem.at(z - by).errors) / (2.0 * step)
        np.testing.assert_allclose(slopes[:, :, k], difference, rtol=1e-4,
                                   atol=1e-5 * np.abs(slopes).max())


def test_the_length_of_a_rod_is_found():
    """Only its error is there; of the numbers that do the same it takes its share."""
    model, rng = rod_machine(), np.random.default_rng(4)
    true = ModelBuilder.of(model).build()
    true = type(true)(**{**vars(true), 'closures': (type(true.closures[0])(**{
        **vars(true.closures[0]), 'length': 0.4503}),)})
    closed, q, places = Constraints(true), np.array([0.5, 1.5]), []
    read = 0.5 + rng.uniform(-0.6, 0.6, (14, 1))
    turns = []
    for row in read:
        q = assemble(closed, q, held={'crank_joint': row[0]})
        seen = closed.frames.pose(q, 'rocker') @ TIP
        places.append(seen[:3, 3])
        turns.append(seen[:3, :3])
    found = calibrate_arm(model, 'rocker', read, np.array(places) + 1e-6 * rng.normal(
        size=(14, 3)), np.array(turns), deviations=(1e-6, 1e-6), instrument=np.eye(4),
        target=TIP, start=[0.5, 1.5])
    assert found.offered and found.after[0] < 3e-6 < 1e-4 < found.before[0]
    assert found.lengths.shape == found.length_deviations.shape == (1,)
    assert abs(found.lengths[0] - 3e-4) < 4.0 * found.length_deviations[0] < 2e-2


def test_the_result_is_a_model_whose_loops_close():
    """Errors across the plane are found together, so gaps stay of second order."""
    found, read, _ = calibrated(np.random.default_rng(6))
    closure, = found.model.closures
    assert closure.held is None and closure.tolerance < 1e-4
    closed = ConstrainedDynamics(found.model)
    assert closed.mobility.degrees_of_freedom == 2
    gap = closed.gaps(assemble(closed, START, held=dict(zip(CRANKS, read[0]))))['tip']
    assert gap.length <= max(closure.tolerance, 1e-9)


def test_offsets_of_cranks_alone():
    rng = np.random.default_rng(5)
    read, off = readings(rng, 12), np.array([0.004, -0.003])
    found = calibrate_arm(
        five_bar(), 'left_1', read, tips(DRAWN, read + off) + 1e-5 * rng.normal(size=(12, 3)),
        deviations=NOISE, offsets=True, instrument=np.eye(4), target=TIP, start=START)
    assert found.offered and found.frames == CRANKS
    np.testing.assert_allclose([found.offset(name) for name in CRANKS], off, atol=1e-4)


def test_what_does_not_move_the_body_is_left_out():
    """A second linkage beside the first, and readings that do not decide."""
    two = ModelBuilder.of(planar_linkage((0.3, 0.4), (0.3, 0.4), 0.25, ('left_0', 'right_0')))
    two.add_body('other', bar(1.0, 0.1))
    two.add_joint('other_joint', 'revolute', None, 'other', axis=[0.0, 0.0, 1.0])
    model = two.build()
    assert read_joints(model, 'left_1') == CRANKS
    assert 'other_joint' not in [joint.name for joint in unknowns_of(
        model, 'left_1', (1.0, 1.0), offsets=False, frames=(), names=CRANKS).joints]
    read = readings(np.random.default_rng(7), 12)
    with refused(ModelError, 'names', got=1):
        calibrate_arm(five_bar(), 'left_1', read[:, :1], tips(DRAWN, read), names=CRANKS[:1],
                      start=START)


def test_a_tree_has_no_loops_to_close():
    model = Dynamics(five_bar()).model
    assert read_joints(model, 'right_0') == CRANKS
