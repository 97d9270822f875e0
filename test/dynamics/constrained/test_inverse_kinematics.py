# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inverse kinematics: what is reached, what is nearest, limits, postures, loops and bad input."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize
from support.comparison import assert_same
from support.machines.looped_machines import five_bar
from support.machines.random_models import random_model

import liedyn_ros as ld
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, ModelError, NameSetError, ShapeError
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, InverseKinematics, ORIENTATION, POINT, POSE, Reached, TOOL)
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model, ModelBuilder, pose, SpatialInertia

BAR = SpatialInertia(1.0, [0.2, 0.0, 0.0], 0.01 * np.eye(3))


def chain(lengths: tuple[float, ...], bound: float = np.inf) -> Model:
    """Return a planar chain about z, and its tip."""
    builder, parent, at = ModelBuilder('chain'), None, 0.0
    for i, length in enumerate(lengths):
        builder.add_body(f'bar_{i}', BAR)
        builder.add_joint(f'turn_{i}', 'revolute', parent, f'bar_{i}', axis=[0.0, 0.0, 1.0],
                          placement=pose([at, 0.0, 0.0]), limits={'lower': -bound, 'upper': bound})
        parent, at = f'bar_{i}', length
    return builder.build().with_frame('tip', parent, pose([at, 0.0, 0.0]))


def arm(seed: int, bound: float = 2.5) -> Model:
    """Return a serial arm of seven hinges, and its hand."""
    builder, rng, parent = ModelBuilder('arm'), np.random.default_rng(seed), None
    for i in range(7):
        builder.add_body(f'link_{i}', BAR)
        builder.add_joint(
            f'joint_{i}', 'revolute', parent, f'link_{i}', axis=[0.0, i % 2, 1 - i % 2],
            placement=pose([0.0, 0.0, 0.25 * (i > 0)], 0.1 * rng.normal(size=3)),
            limits={'lower': -bound, 'upper': bound})
        parent = f'link_{i}'
    return builder.build().with_frame('hand', parent, pose([0.0, 0.0, 0.2]))


@pytest.mark.parametrize('seed', range(6))
@pytest.mark.parametrize('floating', [False, True])
def test_poses_of_random_trees_of_all_joints_are_reached(seed: int, floating: bool) -> None:
    model = random_model(seed, 9, floating)
    robot, rng = ld.Dynamics(model), np.random.default_rng(seed)
    frames = [model.bodies[-1], model.bodies[len(model.bodies) // 2]]
    wanted = robot.frames.pose(model.random(rng), frames)
    found = InverseKinematics(robot, frames)(dict(zip(frames, wanted)))
    assert found.reached
    assert_same(robot.frames.pose(found.q, frames), wanted, 1e-6)
    bounded = np.isfinite(model.limits.lower)
    at = found.q[model.link_table.position_at[bounded]]
    assert (at >= model.limits.lower[bounded]).all() and (at <= model.limits.upper[bounded]).all()


@pytest.mark.parametrize('seed', range(3))
def test_the_other_library_finds_the_frame_there(seed: int) -> None:
    pin = pytest.importorskip('pinocchio')
    model = arm(seed)
    twin = pin.buildModelFromXML(ld.to_urdf(model))
    data, robot = twin.createData(), ld.Dynamics(model)
    wanted = robot.frames.pose(model.random(np.random.default_rng(seed)), 'hand')
    found = ld.reach(robot, {'hand': wanted})
    pin.framesForwardKinematics(twin, data, found.q)
    body = data.oMf[twin.getFrameId('link_6')].homogeneous
    assert_same(body @ pose([0.0, 0.0, 0.2]), wanted, 1e-6)


@pytest.mark.parametrize(('x', 'y'), [(0.5, 0.2), (-0.3, 0.6), (0.1, -0.25)])
def test_two_bars_reach_a_point_as_the_cosine_law_says(x: float, y: float) -> None:
    robot = ld.Dynamics(chain((0.4, 0.35)))
    found = ld.reach(robot, {'tip': [x, y, 0.0]}, [0.1, 0.4])
    cosine = (x * x + y * y - 0.4**2 - 0.35**2) / (2 * 0.4 * 0.35)
    assert found.reached and np.cos(found.q[1]) == pytest.approx(cosine)


@pytest.mark.parametrize('angle', [0.3, 2.0, -2.8])
def test_a_point_out_of_reach_is_approached_as_far_as_the_bars_go(angle: float) -> None:
    robot = ld.Dynamics(chain((0.4, 0.35)))
    found = ld.reach(robot, {'tip': [np.cos(angle), np.sin(angle), 0.0]}, [0.1, 0.4], starts=5)
    assert not found.reached
    assert found.distances['tip'] == pytest.approx(1.0 - 0.75, abs=1e-6)
    assert_same(robot.frames.pose(found.q, 'tip')[:2, 3],
                0.75 * np.array([np.cos(angle), np.sin(angle)]), 1e-3)


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.full
def test_the_nearest_pose_is_that_of_another_optimiser(seed: int) -> None:
    model = arm(seed)
    robot, rng = ld.Dynamics(model), np.random.default_rng(seed)
    far = pose([2.5, 0.4, 0.3], [0.3, 0.2, 0.1])
    ours = InverseKinematics(robot, 'hand', weights={'hand': (0.2, 1.0)})

    def residual(q: Array) -> Array:
        at = robot.frames.pose(q, 'hand')
        s = so3.to_quaternion(far[:3, :3].T @ at[:3, :3])
        return np.concatenate((0.4 * s[:3], at[:3, :3].T @ (at[:3, 3] - far[:3, 3])))

    found = ours({'hand': far}, starts=30)
    best = min(least_squares(residual, model.random(rng), bounds=(
        model.limits.lower, model.limits.upper)).cost for _ in range(6))
    assert not found.reached
    assert 0.5 * np.sum(residual(found.q)**2) <= best * (1.0 + 1e-3)


def test_limits_hold_where_the_pose_would_leave_them() -> None:
    model = chain((0.4, 0.35), bound=0.5)
    robot = ld.Dynamics(model)
    point = [-0.5, 0.2, 0.0]
    assert ld.reach(ld.Dynamics(chain((0.4, 0.35))), {'tip': point}).reached
    found = ld.reach(robot, {'tip': point}, starts=5)
    assert not found.reached and np.abs(found.q).max() <= 0.5
    free = InverseKinematics(robot, {'tip': POINT}, within_limits=False)({'tip': point})
    assert free.reached and np.abs(free.q).max() > 0.5


@pytest.mark.parametrize('seed', range(4))
def test_a_rest_posture_is_as_near_as_the_pose_lets_it_be(seed: int) -> None:
    model = arm(seed)
    robot, rng = ld.Dynamics(model), np.random.default_rng(seed)
    q, rest = 0.6 * model.random(rng), np.zeros(7)
    wanted = robot.frames.pose(q, 'hand')
    plain, near = (ld.reach(robot, {'hand': wanted}, q, rest=at) for at in (None, rest))
    assert near.reached and np.linalg.norm(near.q) <= np.linalg.norm(plain.q)
    rows = robot.frames.jacobian(near.q, 'hand')
    inner = np.abs(near.q) < 2.5 - 1e-9
    free = np.linalg.svd(rows[:, inner])[2][6:]
    assert np.abs(free @ (near.q - rest)[inner]).max() < 1e-3  # stationary


def test_locked_joints_stay_and_tools_spin() -> None:
    model = arm(1)
    robot, rng = ld.Dynamics(model), np.random.default_rng(1)
    q = 0.5 * model.random(rng)
    start = q + np.array([0.0, 0.1, -0.1, 0.1, 0.1, -0.1, 0.1])
    wanted = robot.frames.pose(q, 'hand')
    found = InverseKinematics(robot, 'hand', locked=['joint_0'])({'hand': wanted}, start)
    assert found.reached and found.q[0] == start[0]
    for name in ('joint_0', 'joint_3'):  # other starts keep it too
        far = InverseKinematics(robot, 'hand', locked=[name])({'hand': pose([9.0, 1.0, 2])}, start)
        assert far.starts == 50 and far.q[int(name[-1])] == start[int(name[-1])]
    spun = wanted.copy()
    spun[:3, :3] = wanted[:3, :3] @ so3.exp([0.0, 0.0, 2.0])
    tool = InverseKinematics(robot, {'hand': TOOL}, locked=['joint_0', 'joint_6'])
    assert tool({'hand': spun}, q).reached
    turned = InverseKinematics(robot, {'hand': ORIENTATION})({'hand': spun[:3, :3]}, q)
    assert turned.reached and turned.distances == {'hand': 0.0}
    assert_same(robot.frames.pose(turned.q, 'hand')[:3, :3], spun[:3, :3], 1e-6)


def tip_of(model: Model) -> Model:
    """Return the five-bar with a frame where its chains meet."""
    return model.with_frame('tip', 'left_1', model.closures[0].frame_a)


def test_loops_stay_closed_within_reach_and_beyond() -> None:
    robot = ConstrainedDynamics(tip_of(five_bar()))
    q = assemble(robot)
    point = robot.frames.pose(q, 'tip')[:3, 3]
    near = ld.reach(robot, {'tip': point + [0.02, 0.03, 0.0]}, q)
    assert near.reached and np.abs(robot.residual(near.q)).max() < 1e-9
    far = np.array([3.0, 4.0, 0.0])
    found = ld.reach(robot, {'tip': far}, q, starts=70)
    assert not found.reached and np.abs(robot.residual(found.q)).max() < 1e-9
    assert found.starts == 70

    def distance(x: Array) -> float:
        return float(np.linalg.norm(robot.frames.pose(x, 'tip')[:2, 3] - far[:2]))

    others = [minimize(distance, assemble(robot, robot.model.random(rng)), method='SLSQP',
                       constraints={'type': 'eq', 'fun': lambda x: robot.residual(x)[3:5]})
              for rng in map(np.random.default_rng, range(4))]
    best = min(each.fun for each in others if np.abs(robot.residual(each.x)).max() < 1e-6)
    assert found.distances['tip'] <= best * (1.0 + 1e-4)


def test_many_poses_are_as_each_alone() -> None:
    model = arm(2)
    robot, rng = ld.Dynamics(model), np.random.default_rng(2)
    wanted = np.array([robot.frames.pose(model.random(rng), 'hand') for _ in range(8)])
    solver, start = InverseKinematics(robot, 'hand'), model.neutral()
    many = solver.batch({'hand': wanted}, start)
    for k in range(8):
        alone: Reached = solver({'hand': wanted[k]}, start)
        np.testing.assert_array_equal(many.q[k], alone.q)
        assert many.distances[k, 0] == alone.distances['hand']
    assert many.reached.all()
    none = solver.batch({'hand': np.zeros((0, 4, 4))})
    assert (none.q.shape, none.distances.shape) == ((0, model.nq), (0, 1))
    path = np.array([se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 1e-3 * k]) @ wanted[0] for k in range(5)])
    along = solver.batch({'hand': path})
    assert np.abs(np.diff(along.q, axis=0)).max() < 0.1  # one after the other


def test_units_and_the_ground_play_no_part() -> None:
    model, moved = arm(3), pose([1.0, -2.0, 0.5], [0.4, 0.2, -0.3])
    robot, q = ld.Dynamics(model), 0.5 * model.random(np.random.default_rng(3))
    builder = ModelBuilder('moved')
    for joint, body in zip(model.joint_list, model.body_list):
        builder.add_body(body.name, body.inertia)
        builder.add_joint(joint.name, joint.type_name, joint.parent, joint.child, axis=joint.axis,
                          placement=moved @ joint.placement if joint.parent is None else (
                              joint.placement), limits={'lower': -2.5, 'upper': 2.5})
    other = ld.Dynamics(builder.build().with_frame('hand', 'link_6', pose([0.0, 0.0, 0.2])))
    wanted = robot.frames.pose(q, 'hand')
    ours, theirs = (ld.reach(each, {'hand': at}, 0.9 * q) for each, at in (
        (robot, wanted), (other, moved @ wanted)))
    assert_same(ours.q, theirs.q, 1e-6)


def wrong(call: Callable[[], object], error: type[Exception]) -> Exception:
    """Return the error of a call."""
    with pytest.raises(error) as caught:
        call()
    return caught.value


def test_wrong_requests_are_refused_by_name() -> None:
    robot = ld.Dynamics(arm(0))
    solver, here = InverseKinematics(robot, 'hand'), np.eye(4)
    assert wrong(lambda: InverseKinematics(robot, 'hnd'), ModelError).names == ('hnd',)
    assert wrong(lambda: InverseKinematics(robot, {'hand': 'pos'}), ModelError).got == 'pos'
    assert wrong(lambda: ld.reach(robot, {}), ModelError).names == ('frames',)
    assert wrong(lambda: solver({'link_6': here}), NameSetError).expected == ['hand']
    assert wrong(lambda: ld.reach(robot, {'hand': [1.0, 2.0]}), ShapeError).names == ('hand',)
    assert wrong(lambda: solver({'hand': here}, starts=0), LimitError).got == 0
    assert wrong(lambda: InverseKinematics(
        robot, 'hand', weights={'hand': (1.0, -1.0)}), LimitError).names == ('hand',)
    assert wrong(lambda: InverseKinematics(
        robot, 'hand', weights={'foot': (1.0, 1.0)}), ModelError).names == ('foot',)
    for kind, shape in ((POINT, (3,)), (ORIENTATION, (3, 3)), (POSE, (4, 4))):
        narrow = InverseKinematics(robot, {'hand': kind})
        assert wrong(lambda narrow=narrow: narrow({'hand': [1.0, 2.0]}), ShapeError
                     ).expected == shape
    assert wrong(lambda: solver.batch({'hand': here}), ShapeError)
    assert wrong(lambda: solver({'hand': here}, np.zeros(6)), ShapeError)
