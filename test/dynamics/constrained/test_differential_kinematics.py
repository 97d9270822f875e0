# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Differential inverse kinematics: limits held, targets approached, loops kept."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from support.comparison import assert_same
from support.machines.looped_machines import five_bar, random_looped
from support.refusals import refused

import liedyn_ros as ld
from liedyn_ros.common.errors import LiedynError, LimitError, NameSetError, ShapeError
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, ConstraintFunction, DifferentialKinematics, POINT, project)
from liedyn_ros.dynamics.constrained.configurations.kernels.velocity import (
    MAX_OPENING, MAX_OPENING_SHARE)
from liedyn_ros.model import Model, ModelBuilder, pose, SpatialInertia

DT = 0.01
MOST_OPEN = MAX_OPENING / (5.0 * DT - MAX_OPENING_SHARE)  # where each step opens by MAX_OPENING


def arm(seed: int) -> Model:
    """Return seven hinges with limits of position and velocity, and a hand."""
    builder, rng, parent = ModelBuilder('arm'), np.random.default_rng(seed), None
    for i in range(7):
        builder.add_body(f'link_{i}', SpatialInertia(1.0, [0.0, 0.0, 0.1], 0.01 * np.eye(3)))
        builder.add_joint(
            f'joint_{i}', 'revolute', parent, f'link_{i}', axis=[0.0, i % 2, 1 - i % 2],
            placement=pose([0.0, 0.0, 0.25 * (i > 0)], 0.1 * rng.normal(size=3)),
            limits={'lower': -1.5, 'upper': 1.5, 'velocity': 2.0})
        parent = f'link_{i}'
    return builder.build().with_frame('hand', parent, pose([0.0, 0.0, 0.2]))


@pytest.mark.parametrize('seed', range(4))
def test_a_pose_is_followed_within_all_limits(seed: int) -> None:
    robot, rng = ld.Dynamics(arm(seed)), np.random.default_rng(seed)
    wanted = robot.frames.pose(rng.uniform(-1.0, 1.0, 7), 'hand')
    follow = DifferentialKinematics(robot, 'hand', acceleration=20.0)
    q, v = 0.5 * rng.uniform(-1.0, 1.0, 7), np.zeros(7)
    for _ in range(400):
        last, v = v, follow(q, {'hand': wanted}, DT, v)
        q = q + DT * v
        assert np.abs(v).max() <= 2.0 and np.abs(v - last).max() <= 20.0 * DT + 1e-9
        assert np.abs(q).max() <= 1.5 + 1e-9
    left = ld.reach(robot, {'hand': wanted}, q, starts=1)
    assert np.linalg.norm(robot.frames.pose(q, 'hand') - wanted) < 1e-3 or not left.reached


@pytest.mark.parametrize('seed', range(4))
def test_the_velocity_is_that_of_another_solver(seed: int) -> None:
    model = arm(seed)
    robot, rng = ld.Dynamics(model), np.random.default_rng(seed)
    q, wanted = model.random(rng), robot.frames.pose(model.random(rng), 'hand')
    follow = DifferentialKinematics(robot, {'hand': POINT}, acceleration=30.0, damping=1e-3)
    before = rng.uniform(-0.5, 0.5, 7)
    found = follow(q, {'hand': wanted[:3, 3]}, DT, before)
    at, rows = robot.frames.pose(q, 'hand'), robot.frames.jacobian(q, 'hand')[3:]
    error = 5.0 * at[:3, :3].T @ (wanted[:3, 3] - at[:3, 3])
    bounds = [(max(-2.0, b - 0.3, min((-1.5 - x) / DT, 0.0)),
               min(2.0, b + 0.3, max((1.5 - x) / DT, 0.0))) for b, x in zip(before, q)]
    matrix, wanted = np.vstack((rows, np.sqrt(1e-3) * np.eye(7))), np.append(error, np.zeros(7))
    exact = lsq_linear(matrix, wanted, np.transpose(bounds), method='bvls', tol=1e-15).x
    assert_same(found, exact, 1e-10)


def test_loops_stay_closed_on_the_way() -> None:
    model = five_bar().with_frame('tip', 'left_1', five_bar().closures[0].frame_a)
    robot = ConstrainedDynamics(model)
    q = assemble(robot)
    wanted = robot.frames.pose(q, 'tip')[:3, 3] + [0.03, 0.02, 0.0]
    follow, v = DifferentialKinematics(robot, {'tip': POINT}), np.zeros(model.nv)
    for _ in range(300):
        v = follow(q, {'tip': wanted}, DT, v)
        q = q + DT * v
        assert np.abs(robot.residual(q)).max() < MOST_OPEN
    assert_same(robot.frames.pose(q, 'tip')[:3, 3], wanted, 1e-4)


@pytest.mark.parametrize(('seed', 'closures', 'joints'), [
    (86, ('rod', 'weld'), 9), (87, ('spherical', 'revolute'), 10)])
def test_loops_are_led_along_limits(seed: int, closures: tuple[str, ...], joints: int) -> None:
    """Where joints rest at limits, loops and bounds leave velocities by their rounding alone."""
    model = random_looped(seed, closures, joints).model
    robot, rng, frame = ConstrainedDynamics(model), np.random.default_rng(seed), model.bodies[-1]
    q, v = assemble(robot), np.zeros(model.nv)
    goal = robot.frames.pose(project(
        robot, model.integrate(q, 0.1 * rng.normal(size=model.nv)), v)[0], frame)
    follow = DifferentialKinematics(robot, frame, acceleration=30.0)
    for _ in range(200):
        last, v = v, follow(q, {frame: goal}, DT, v)
        q = model.integrate(q, DT * v)
        assert np.abs(v - last).max() <= 30.0 * DT + 1e-12
    assert_same(robot.frames.pose(q, frame), goal, 1e-3)


@pytest.mark.parametrize('seed', [5, 8, 20, 29])
def test_loops_stay_closed_on_the_way_to_a_posture(seed: int) -> None:
    closures = [('spherical', 'rod'), (), (), ('universal',), ('point_on_line', 'spherical')]
    model, q = random_looped(seed, closures[seed % 5], 10)
    robot, rng, frame = ConstrainedDynamics(model), np.random.default_rng(seed), model.bodies[-1]
    goal = robot.frames.pose(model.integrate(q, 0.5 * rng.normal(size=model.nv)), frame)
    rest = model.integrate(q, rng.normal(size=model.nv))
    follow, v = DifferentialKinematics(robot, frame), np.zeros(model.nv)
    for _ in range(150):
        v = follow(q, {frame: goal}, DT, v, rest=rest)
        q = model.integrate(q, DT * v)
        assert np.abs(robot.residual(q) / robot.row_sizes).max() < MOST_OPEN


@pytest.mark.parametrize(('seed', 'closures'), [
    (12, ('revolute', 'spherical')), (51, ('rod', 'weld'))])
def test_loops_go_before_limits_of_acceleration_and_the_excess_is_said(
        seed: int, closures: tuple[str, ...]) -> None:
    model, q = random_looped(seed, closures, 10)
    robot, rng, frame = ConstrainedDynamics(model), np.random.default_rng(seed), model.bodies[-1]
    goal = robot.frames.pose(model.integrate(q, 0.5 * rng.normal(size=model.nv)), frame)
    follow, v, exceeded = DifferentialKinematics(robot, frame, acceleration=5.0), 0.0 * q, 0
    for _ in range(150):
        last, v = v, follow(q, {frame: goal}, DT, v)
        q = model.integrate(q, DT * v)
        rise = dict(zip(model.coordinate_names, (v - last) / DT))
        assert follow.exceeded == {
            name: each for name, each in rise.items() if abs(each) > 5.0 * (1.0 + 1e-12)}
        exceeded += bool(follow.exceeded)
        assert np.abs(robot.residual(q) / robot.row_sizes).max() < MOST_OPEN
        assert np.abs(v).max() <= model.limits.velocity.max()
    assert 0 < exceeded < 10


def test_a_function_is_followed_as_loops_are() -> None:
    builder = ModelBuilder('bead')
    for axis, name, parent in ((0, 'slide', None), (1, 'bead', 'slide')):
        builder.add_body(name, SpatialInertia(1.0, [0.0, 0.0, 0.0], np.eye(3)))
        builder.add_joint(name, 'prismatic', parent, name, axis=np.eye(3)[axis])
    wire = ConstrainedDynamics(builder.build(), functions=[ConstraintFunction(
        'parabola', 1, lambda q: [q[1] - q[0]**2], lambda q: [[-2.0 * q[0], 1.0]],
        bias=lambda q, v: [-2.0 * v[0]**2])])
    q, v = np.array([0.3, 0.09]), np.zeros(2)
    follow = DifferentialKinematics(wire, {'bead': POINT})
    for _ in range(300):
        v = follow(q, {'bead': [1.0, 1.0, 0.0]}, DT, v)
        q = q + DT * v
        assert abs(wire.residual(q)[0]) < MOST_OPEN
    assert_same(q, [1.0, 1.0], 1e-4)


@pytest.mark.parametrize('radius', [0.05, 0.3])
def test_loops_stay_closed_where_a_circle_leaves_the_reach(radius: float) -> None:
    model = five_bar().with_frame('tip', 'left_1', five_bar().closures[0].frame_a)
    robot = ConstrainedDynamics(model)
    q, v = assemble(robot), np.zeros(model.nv)
    center = robot.frames.pose(q, 'tip')[:3, 3] - [radius, 0.0, 0.0]
    follow, missed = DifferentialKinematics(robot, {'tip': POINT}), []
    for angle in 0.03 * np.arange(2 * np.pi / 0.03):
        wanted = center + radius * np.array([np.cos(angle), np.sin(angle), 0.0])
        v = follow(q, {'tip': wanted}, DT, v)
        q = model.integrate(q, DT * v)
        missed.append(np.linalg.norm(robot.frames.pose(q, 'tip')[:3, 3] - wanted))
        assert np.abs(robot.residual(q)).max() < MOST_OPEN
    assert max(missed) > 0.01


def test_a_gap_closes_as_errors_do() -> None:
    robot = ConstrainedDynamics(five_bar())
    q = robot.model.integrate(assemble(robot), 1e-3 * np.ones(robot.model.nv))
    at = robot.frames.pose(q, 'left_1')
    gap = robot.residual(q)
    v = DifferentialKinematics(robot, 'left_1', gain=4.0)(q, {'left_1': at}, DT)
    assert_same(robot.jacobian(q) @ v, -4.0 * gap, 0.02)


def test_a_joint_that_cannot_stop_before_its_limit_brakes() -> None:
    robot = ld.Dynamics(arm(0))
    follow = DifferentialKinematics(robot, 'hand', acceleration=20.0)
    q, v = np.zeros(7), np.zeros(7)
    q[2], v[2] = 1.49, 1.8
    assert follow(q, {'hand': robot.frames.pose(q, 'hand')}, DT, v)[2] == pytest.approx(1.6)
    v[2] = 2.5  # beyond its limit of velocity
    assert follow(q, {'hand': robot.frames.pose(q, 'hand')}, DT, v)[2] == pytest.approx(2.3)


def test_moving_targets_and_postures() -> None:
    robot = ld.Dynamics(arm(0))
    q, rest = 0.3 * np.ones(7), np.zeros(7)
    here = robot.frames.pose(q, 'hand')
    follow = DifferentialKinematics(robot, 'hand')
    twist = np.array([0.0, 0.0, 0.0, 0.05, 0.0, 0.02])
    v = follow(q, {'hand': here}, DT, twists={'hand': twist})
    assert_same(robot.frames.jacobian(q, 'hand') @ v, twist, 1e-3, floor=0.1)
    still = follow(q, {'hand': here}, DT)
    eased = follow(q, {'hand': here}, DT, rest=rest)
    assert np.abs(still).max() < 1e-6 and eased @ (rest - q) > 1e-3
    assert np.abs(robot.frames.jacobian(q, 'hand') @ eased).max() < 1e-6
    free = np.linalg.svd(robot.frames.jacobian(q, 'hand'))[2][6:]
    assert_same(eased, free.T @ free @ (5.0 * (rest - q)), 1e-6)  # all that the pose leaves


def test_wrong_requests_are_refused() -> None:
    robot = ld.Dynamics(arm(0))
    follow = DifferentialKinematics(robot, 'hand', locked=['joint_0'])
    assert follow(np.zeros(7), {'hand': pose([0.3, 0.3, 0.9])}, DT)[0] == 0.0
    with pytest.raises(NameSetError):
        follow(np.zeros(7), {'link_6': np.eye(4)}, DT)
    with pytest.raises(LiedynError) as bare:
        follow(np.zeros(7), np.eye(4), DT)
    assert (bare.value.names, bare.value.expected) == (('targets',), 'Mapping')
    with pytest.raises(LimitError) as caught:
        DifferentialKinematics(robot, 'hand', acceleration=-1.0)
    assert caught.value.names == ('acceleration',)
    with pytest.raises(LimitError):
        follow(np.zeros(7), {'hand': np.eye(4)}, 0.0)


@pytest.mark.parametrize('gain', [5.0, 200.0])
def test_a_joint_beyond_its_limit_goes_back(gain: float) -> None:
    robot = ld.Dynamics(arm(0))
    q = np.array([0.2, 1.8, 0.4, -1.6, 0.3, 0.5, 0.1])
    follow = DifferentialKinematics(robot, 'hand', gain=gain)
    staying, beyond = robot.frames.pose(q, 'hand'), np.clip(np.abs(q) - 1.5, 0.0, None)
    for _ in range(400):
        q = q + DT * follow(q, {'hand': staying}, DT)
        beyond, last = np.clip(np.abs(q) - 1.5, 0.0, None), beyond
        share = 1.0 - min(gain * DT, 1.0)  # of what is beyond; a limit of speed leaves more
        assert (beyond <= np.maximum(share * last, last - 2.0 * DT) + 1e-12).all()
    assert beyond.max() < 1e-8


def test_states_of_a_batch_are_those_of_calls() -> None:
    robot, rng = ld.Dynamics(arm(0)), np.random.default_rng(0)
    approach = DifferentialKinematics(robot, {'hand': POINT}, acceleration=1.0)
    q, v = 0.5 * rng.uniform(-1.0, 1.0, (3, 7)), 0.1 * rng.normal(size=(3, 7))
    targets = {'hand': rng.uniform(-0.5, 0.5, (3, 3))}
    found = approach.batch(q, targets, DT, v)
    for k in range(3):
        assert (found[k] == approach(q[k], {'hand': targets['hand'][k]}, DT, v[k])).all()
    with refused(ShapeError, 'hand', expected=3, got=2):
        approach.batch(q, {'hand': targets['hand'][:2]}, DT)
