# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Task space beside its own forward dynamics, a closed form and Pinocchio's matrices."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import five_bar, planar_linkage, random_looped
from support.machines.random_models import random_model

import liedyn_ros as ld
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, MinimalCoordinates, ORIENTATION, POINT, POSE, project,
    TaskSpace)
from liedyn_ros.dynamics.constrained.kernels.task_mobility import loop_mobility
from liedyn_ros.model import ModelBuilder, pose, SpatialInertia


def tree(seed: int, floating: bool) -> tuple[ld.Dynamics, Array, Array, Array]:
    """Return a random tree of all joints, a state, and joint forces."""
    robot, rng = ld.Dynamics(random_model(seed, 10, floating)), np.random.default_rng(seed)
    nv = robot.model.nv
    return robot, robot.model.random(rng), *rng.normal(size=(2, nv))


@pytest.mark.parametrize('floating', [False, True])
@pytest.mark.parametrize('seed', range(5))
def test_efforts_give_tasks_their_accelerations(seed: int, floating: bool) -> None:
    robot, q, v, others = tree(seed, floating)
    names = {robot.model.bodies[-1]: POSE, robot.model.bodies[5]: POINT}
    at = TaskSpace(robot, names)(q, v)
    rng = np.random.default_rng(seed)
    wanted = at.jacobian @ rng.normal(size=robot.model.nv) + at.drift  # which they can have
    for tau in (at.efforts(wanted), at.efforts(wanted, others)):
        a = robot.forward(q, v, tau)
        assert_same(at.jacobian @ a + at.drift, wanted, 1e-6)
        spatial = robot.frames.acceleration(
            q, v, a, list(names)[1], ld.LOCAL_WORLD_ALIGNED, classical=True)
        assert_same((at.jacobian @ a + at.drift)[6:], spatial[3:], 1e-6)
    assert np.abs(at.jacobian @ at.null).max() < 1e-6 * np.abs(at.jacobian).max()
    assert_same(at.null @ at.null, at.null, 1e-6)


@pytest.mark.parametrize('seed', range(5))
def test_energy_is_that_of_tasks_and_of_what_moves_none(seed: int) -> None:
    robot, q, v, _ = tree(seed, True)
    at = TaskSpace(robot, {robot.model.bodies[-1]: POSE})(q, v)
    x, mass = at.jacobian @ v, robot.mass_matrix(q)
    rest = at.null @ v
    assert 0.5 * v @ mass @ v == pytest.approx(0.5 * x @ at.inertia @ x + 0.5 * rest @ mass @ rest)
    assert_same(at.inverse.T @ mass @ at.inverse, at.inertia, 1e-8)


@pytest.mark.parametrize('seed', range(3))
def test_inertia_is_that_of_the_other_library(seed: int) -> None:
    pin = pytest.importorskip('pinocchio')
    from support.witnesses import pinocchio_twin
    model = random_model(seed, 8, True, ('revolute', 'prismatic', 'spherical'))
    robot, rng = ld.Dynamics(model, dissipation=False), np.random.default_rng(seed)
    q, v = model.random(rng), rng.normal(size=model.nv)
    twin = pinocchio_twin.to_pinocchio(model)
    data, there = twin.model.createData(), twin.to_configuration(q)
    body = model.bodies[-1]
    minverse = np.array(pin.computeMinverse(twin.model, data, there))
    minverse = np.triu(minverse) + np.triu(minverse, 1).T
    pin.computeJointJacobians(twin.model, data, there)
    joint = twin.model.njoints - 1
    linear_first = pin.getJointJacobian(twin.model, data, joint, pin.LOCAL_WORLD_ALIGNED)
    rows = linear_first[[3, 4, 5, 0, 1, 2]]
    at = TaskSpace(robot, body)(q, v)
    wanted = rows @ minverse @ rows.T
    assert_same(at.jacobian @ at.response @ at.jacobian.T, wanted, 1e-9)
    assert_same(at.inertia, np.linalg.pinv(wanted, 1e-10), 1e-6)


@pytest.mark.parametrize('angle', [0.5, -1.2, 2.0])
def test_two_point_masses_on_bars_have_the_inertia_of_the_textbook(angle: float) -> None:
    builder, parent, at = ModelBuilder('bars', gravity=[0.0, 0.0, 0.0]), None, 0.0
    for i, length in enumerate((0.5, 0.4)):
        builder.add_body(f'bar_{i}', SpatialInertia(2.0, [length, 0.0, 0.0], np.zeros((3, 3))))
        builder.add_joint(f'turn_{i}', 'revolute', parent, f'bar_{i}', axis=[0.0, 0.0, 1.0],
                          placement=pose([at, 0.0, 0.0]))
        parent, at = f'bar_{i}', length
    robot = ld.Dynamics(builder.build().with_frame('tip', 'bar_1', pose([0.4, 0.0, 0.0])))
    found = TaskSpace(robot, {'tip': POINT})([0.0, angle], np.zeros(2))
    # Along the last bar both masses move, across it the last one alone (Craig, 6.10).
    along = np.array([np.cos(angle), np.sin(angle)])
    across = np.array([-along[1], along[0]])
    assert across @ found.inertia[:2, :2] @ across == pytest.approx(2.0)
    assert along @ found.inertia[:2, :2] @ along == pytest.approx(2.0 + 2.0 / np.sin(angle)**2)
    assert found.rank == 2 and np.abs(found.inertia[2]).max() < 1e-9


@pytest.mark.parametrize('closures', [('spherical',), ('weld',), ('revolute', 'rod')])
def test_loops_give_tasks_their_accelerations(closures: tuple[str, ...]) -> None:
    looped = random_looped(80, closures, 10)
    robot, rng = ConstrainedDynamics(looped.model), np.random.default_rng(2)
    q, v = project(robot, looped.q, rng.normal(size=looped.model.nv))
    at = TaskSpace(robot, {looped.model.bodies[-1]: POINT, looped.model.bodies[3]: ORIENTATION})(
        q, v)
    wanted = at.jacobian @ (at.response @ rng.normal(size=looped.model.nv)) + at.drift + (
        at.jacobian @ np.asarray(robot.forward(q, v, np.zeros(looped.model.nv))))
    a = robot.forward(q, v, at.efforts(wanted, rng.normal(size=looped.model.nv)))
    assert_same(at.jacobian @ a + at.drift, wanted, 1e-6)


@pytest.mark.parametrize('seed', range(4))
def test_of_any_velocity_of_loops_the_null_space_leaves_what_moves_no_task(seed: int) -> None:
    model, rng = random_looped(80 + seed, ('spherical',), 10).model, np.random.default_rng(seed)
    robot = ConstrainedDynamics(model)
    q = assemble(robot, model.integrate(assemble(robot), 0.1 * rng.normal(size=model.nv)))
    at = TaskSpace(robot, model.bodies[-1])(q, np.zeros(model.nv))
    v, tau = rng.normal(size=(2, model.nv))  # off the loops, too
    assert_same(at.jacobian @ at.null @ v, np.zeros(6), 1e-9, floor=1.0)
    assert_same(robot.jacobian(q) @ at.null @ v, np.zeros(robot.m), 1e-9, floor=1.0)
    rest = np.zeros(model.nv)
    moved = robot.forward(q, rest, at.null.T @ tau).a - robot.forward(q, rest, rest).a
    assert_same(at.jacobian @ moved, np.zeros(6), 1e-8, floor=1.0)


def test_motors_of_a_five_bar_do_what_all_joints_would() -> None:
    model = five_bar().with_frame('tip', 'left_1', five_bar().closures[0].frame_a)
    robot = ConstrainedDynamics(model)
    q, rest = assemble(robot), np.zeros(model.nv)
    at = TaskSpace(robot, {'tip': POINT})(q, rest)
    assert at.rank == 2
    tau = at.efforts([0.3, -0.2, 0.0], actuated=model.actuated)
    assert not tau[~model.actuated].any()
    motors = [name for name, driven in zip(model.coordinate_names, model.actuated) if driven]
    assert_same(at.efforts([0.3, -0.2, 0.0], actuated=motors), tau, 1e-12)
    assert_same(at.jacobian @ robot.forward(q, rest, tau) + at.drift, [0.3, -0.2, 0.0], 1e-8)
    with pytest.raises(ModelError) as caught:
        at.efforts([0.3, -0.2, 0.0], actuated=np.zeros(model.nv, dtype=bool))
    assert caught.value.got > 0.0


def test_loops_have_tasks_where_their_motor_is_at_a_dead_centre() -> None:
    robot = ConstrainedDynamics(planar_linkage((0.3, 0.5), (0.3,), 0.7, ('right_0',)))
    q, rest = assemble(robot, held={'left_1_joint': 0.0}), np.zeros(3)  # crank along the coupler
    at, tau = TaskSpace(robot, {'left_0': ORIENTATION})(q, rest), np.array([0.3, -0.2, 0.5])
    assert at.rank == 1
    with pytest.raises(ModelError):
        MinimalCoordinates(robot).mass_matrix(q)
    moved = np.asarray(robot.forward(q, rest, tau)) - np.asarray(robot.forward(q, rest, rest))
    assert_same(at.response @ tau, moved, 1e-6)


def test_mobility_refuses_a_coordinate_that_moves_no_inertia() -> None:
    motions = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 2.0, 0.0]])  # the last depends
    for inertia, good in ((3.0, True), (0.0, False)):
        mobility, response = np.empty((2, 2)), np.empty((2, 3))
        assert loop_mobility(np.diag([2.0, inertia, 0.0]), motions, np.eye(2, 3), np.empty(
            (3, 3)), response, mobility) == good
        if good:
            assert_same(mobility, np.diag([0.5, 1.0 / inertia]), 1e-15)


def test_unknown_frames_and_kinds_are_refused() -> None:
    robot = ld.Dynamics(random_model(0, 4, False))
    for frames, name in (('nothing', 'nothing'), ({robot.model.bodies[0]: 'pos'}, 'pos')):
        with pytest.raises(ModelError) as caught:
            TaskSpace(robot, frames)
        assert caught.value.names == (name,)
