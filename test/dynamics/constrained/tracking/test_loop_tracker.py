# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""All joints from the measured ones: on the loops, on one branch, with their derivatives."""

from dataclasses import replace
import re

import numpy as np
import pytest
from support.machines.looped_machines import bar, bennett, five_bar, four_bar, planar_linkage
from support.refusals import refused

from liedyn_ros.common.errors import (
    ConvergenceError, LiedynError, ModelError, ShapeError, SingularError)
from liedyn_ros.dynamics.constrained import (
    assemblies, complete_trajectory, ConstrainedDynamics, ConstraintFunction, LoopTracker)
from liedyn_ros.model import Limits, ModelBuilder

CLOSED = 1e-11


def crank(count: int = 400, turns: float = 1.0):
    """Return the crank's position, velocity and acceleration along a smooth motion, and dt."""
    t = np.linspace(0.0, 1.0, count)
    rate = 2.0 * np.pi * turns
    return (rate * (t - np.sin(2.0 * np.pi * t) / (2.0 * np.pi))[:, None],
            rate * (1.0 - np.cos(2.0 * np.pi * t))[:, None],
            rate * 2.0 * np.pi * np.sin(2.0 * np.pi * t)[:, None], t[1])


def test_a_crank_turns_on_the_branch_it_started_on() -> None:
    dynamics = ConstrainedDynamics(four_bar())
    x, dx, ddx, dt = crank()
    both = assemblies(dynamics, held={'left_0_joint': 0.0})
    assert len(both) == 2
    for start in both:
        found = complete_trajectory(dynamics, x, dx, ddx, start=start)
        np.testing.assert_allclose(found.q[0], start, atol=1e-6)
        np.testing.assert_allclose(found.q[:, 0], x[:, 0], atol=1e-12)
        for q in found.q:
            assert np.abs(dynamics.residual(q)).max() < CLOSED
        # Coupler and rocker never align, so the sine of their angle keeps its sign on a branch.
        angle = np.sin(found.q[:, 0] + found.q[:, 1] - found.q[:, 2])
        assert (np.sign(angle) == np.sign(angle[0])).all()
        # A turn leads back; what follows is central differences.
        np.testing.assert_allclose(np.sin(found.q[-1]), np.sin(found.q[0]), atol=1e-9)
        middle = slice(1, -1)
        np.testing.assert_allclose(
            found.v[middle], (found.q[2:] - found.q[:-2]) / (2.0 * dt), atol=0.05)
        np.testing.assert_allclose(
            found.a[middle], (found.v[2:] - found.v[:-2]) / (2.0 * dt), atol=1.0)


def test_a_sparse_trajectory_is_followed_as_a_dense_one() -> None:
    dynamics = ConstrainedDynamics(four_bar())
    start = assemblies(dynamics, held={'left_0_joint': 0.0})[0]
    x = crank()[0]
    dense = complete_trajectory(dynamics, x, start=start).q
    sparse = complete_trajectory(dynamics, x[::57], start=start)
    np.testing.assert_allclose(sparse.q, dense[::57], atol=1e-9)
    assert sparse.v is None
    assert sparse.a is None


def test_an_encoder_may_start_again_after_a_turn() -> None:
    builder = four_bar()
    dynamics = ConstrainedDynamics(builder)
    start = assemblies(dynamics, held={'left_0_joint': 0.0})[0]
    x = crank()[0]
    straight = complete_trajectory(dynamics, x, start=start).q
    wrapped = np.remainder(x + np.pi, 2.0 * np.pi) - np.pi
    tracker = LoopTracker(dynamics, start=start)
    for row, expected in zip(wrapped, straight):
        np.testing.assert_allclose(
            np.cos(tracker.update(row).q), np.cos(expected), atol=1e-8)


def test_the_time_to_a_singularity_is_reported_before_it() -> None:
    """A rocker that drives a crank ends at the dead centre of crank and coupler."""
    model = planar_linkage((0.2, 0.5), (0.4,), 0.45, ('right_0',))
    dynamics = ConstrainedDynamics(model)
    span, reach = 0.45, 0.7
    dead = np.pi - np.arccos((span**2 + 0.4**2 - reach**2) / (2.0 * span * 0.4))
    tracker = LoopTracker(dynamics, start=assemblies(
        dynamics, held={'right_0_joint': dead + 0.3})[0])
    times, left = np.linspace(0.0, 0.299, 300), []
    for t in times:
        state = tracker.update([dead + 0.3 - t], [-1.0])
        left.append(state.time_to_singularity)
        assert np.abs(dynamics.residual(state.q)).max() < CLOSED
    assert state.inverse_condition_number < 0.1
    # It falls as a square root, so its tangent meets zero at twice the distance, up to shares
    # of that order.
    np.testing.assert_allclose(left[-50:], 2.0 * (0.3 - times[-50:]), rtol=0.2)
    assert np.isinf(tracker.update([dead + 0.002], [1.0]).time_to_singularity)
    good = tracker.update([dead + 0.001]).q
    with refused(ConvergenceError, 'right_0_joint'):
        tracker.update([dead - 0.1])
    np.testing.assert_allclose(tracker.update([dead + 0.001]).q, good, atol=1e-9)


def test_redundant_closures_and_more_encoders_than_freedoms() -> None:
    looped = bennett()
    dynamics = ConstrainedDynamics(looped.model)
    x = np.linspace(looped.q[0], looped.q[0] + 1.0, 50)[:, None]
    found = complete_trajectory(dynamics, x, np.ones_like(x), start=looped.q)
    for q, v in zip(found.q, found.v):
        assert np.abs(dynamics.residual(q)).max() < CLOSED
        assert np.abs(dynamics.jacobian(q) @ v).max() < CLOSED
    names = ['hinge_0', 'hinge_1']
    again = complete_trajectory(dynamics, found.q[:, :2], measured=names, start=looped.q)
    np.testing.assert_allclose(again.q, found.q, atol=1e-8)
    tracker = LoopTracker(dynamics, names, start=looped.q)
    tracker.update(found.q[0, :2])
    with refused(ConvergenceError, 'hinge_1'):
        tracker.update(found.q[0, :2] + [0.0, 0.2])


def test_noise_of_redundant_encoders_is_evened_out() -> None:
    looped, rng = bennett(), np.random.default_rng(2)
    dynamics, names = ConstrainedDynamics(looped.model), ['hinge_0', 'hinge_1', 'hinge_2']
    x = np.linspace(looped.q[0], looped.q[0] + 0.5, 100)[:, None]
    true = complete_trajectory(dynamics, x, np.ones_like(x), np.zeros_like(x), start=looped.q)
    noise = 0.01 * rng.normal(size=true.q.shape)
    found = complete_trajectory(
        dynamics, true.q + noise, true.v + noise, true.a, measured=names, start=looped.q)
    for q, v, noisy in zip(found.q, found.v, true.q + noise):
        assert np.abs(dynamics.residual(q)).max() < CLOSED
        rows = dynamics.jacobian(q)
        assert np.abs(rows @ v).max() < CLOSED
        along = np.linalg.svd(rows)[2][-1]  # the only motion: errors are least across it
        assert abs(along @ (noisy - q)) < 1e-3
    assert np.std(found.q - true.q) < np.std(noise)
    np.testing.assert_allclose(found.a, true.a, atol=0.2)


def test_the_base_of_a_walking_robot_stays_where_it_is() -> None:
    builder, flat = ModelBuilder('walker'), four_bar()
    builder.add_body('trunk', bar(5.0, 0.5))
    builder.add_joint('trunk_joint', 'free', None, 'trunk', actuated=False)
    for body, joint in zip(flat.body_list, flat.joint_list):
        builder.add_body(body.name, body.inertia)
        builder.add_joint(joint.name, 'revolute', joint.parent or 'trunk', body.name,
                          axis=joint.axis, placement=joint.placement, actuated=joint.actuated)
    tip = flat.closures[0]
    builder.add_closure('tip', 'revolute', tip.body_a, tip.body_b,
                        placement_a=tip.frame_a, placement_b=tip.frame_b)
    x, dx, ddx, _ = crank(20)
    start = assemblies(ConstrainedDynamics(flat), held={'left_0_joint': 0.0})[0]
    fixed = complete_trajectory(ConstrainedDynamics(flat), x, dx, ddx, start=start)
    walker = ConstrainedDynamics(builder.build())
    found = complete_trajectory(
        walker, x, dx, ddx, start=np.concatenate([walker.model.neutral()[:7], start]))
    np.testing.assert_allclose(found.q[:, 7:], fixed.q, atol=1e-9)
    np.testing.assert_allclose(found.v[:, 6:], fixed.v, atol=1e-9)
    np.testing.assert_allclose(found.a[:, 6:], fixed.a, atol=1e-7)
    assert not found.v[:, :6].any()


@pytest.mark.parametrize('measured', [['hinge_0'], ['hinge_0', 'hinge_1']])
def test_condition_and_motion_are_those_of_numpy(measured: list[str]) -> None:
    looped = bennett()
    dynamics, rng = ConstrainedDynamics(looped.model), np.random.default_rng(3)
    crank = np.linspace(looped.q[0], looped.q[0] + 2.0, 7)[:, None]
    trajectory = complete_trajectory(dynamics, crank, start=looped.q).q
    tracker = LoopTracker(dynamics, measured, start=trajectory[0])
    scale = 1.0 / np.linalg.norm(dynamics.jacobian(trajectory[0]), axis=1)
    for q in trajectory:
        rates = rng.normal(size=len(measured))
        given = q[:len(measured)]
        given.setflags(write=False)
        state = tracker.update(given, rates)
        rows = scale[:, None] * dynamics.jacobian(state.q)
        sizes = np.linalg.svd(rows[:, len(measured):])[1]
        assert state.inverse_condition_number == pytest.approx(sizes[-1] / sizes[0], rel=1e-6)
        assert state.redundant == (len(measured) > 1)
        free = np.linalg.svd(rows)[2][-1]  # the only motion
        wanted = free * (free[:len(measured)] @ rates) / (free[:len(measured)]**2).sum()
        np.testing.assert_allclose(state.v, wanted, atol=1e-9)


def test_a_constraint_function_is_tracked_as_the_closure_that_it_is() -> None:
    model = four_bar()
    closed = ConstrainedDynamics(model)
    start = assemblies(closed, held={'left_0_joint': 0.0})[0]
    own = ConstraintFunction('loop', closed.m, closed.residual, closed.jacobian,
                             lambda q, v: np.zeros(closed.m))
    x, dx, _, _ = crank(40)
    wanted, found = (complete_trajectory(dynamics, x, dx, start=start) for dynamics in (
        closed, ConstrainedDynamics(replace(model, closures=()), functions=[own])))
    assert [each is None for each in found] == [each is None for each in wanted]
    for each, expected in zip(*([x for x in one if x is not None] for one in (found, wanted))):
        np.testing.assert_allclose(each, expected, atol=1e-9)


def test_what_is_refused() -> None:
    dynamics = ConstrainedDynamics(five_bar())
    with refused(ModelError, 'knee'):
        LoopTracker(dynamics, ['knee'])
    with refused(ModelError, 'measured'):
        LoopTracker(dynamics, ['left_0_joint', 'left_0_joint'])
    with refused(LiedynError, 'left_0_joint'):
        LoopTracker(dynamics, ['left_0_joint']).update([0.5])
    tracker = LoopTracker(dynamics)
    with refused(ShapeError, 'positions'):
        tracker.update([1.0])
    with refused(LiedynError, 'accelerations'):
        tracker.update([1.8, 0.5], None, [0.0, 0.0])
    with refused(ConvergenceError, 'sample 1'):
        complete_trajectory(dynamics, [[2.0, 1.0], [np.pi, 0.0]], start=[2.0, -1.5, 1.0, 1.5])


@pytest.mark.parametrize('bars', [((0.2, 0.5), (0.2,), 0.5), ((0.2, 0.3), (0.3,), 0.2),
                                  ((0.2, 0.50001), (0.2,), 0.5)],
                         ids=['parallelogram', 'kite', 'rounded'])
def test_a_start_where_assemblies_meet_is_refused_with_two_that_are_apart(bars) -> None:
    dynamics = ConstrainedDynamics(planar_linkage(*bars, ('left_0',)))
    measured = ['left_0_joint']
    with refused(SingularError, 'start') as caught:
        LoopTracker(dynamics, measured)
    ends = []
    for proposed in re.findall("'(.*?)'", str(caught.value)):
        start = dynamics.model.neutral()
        for name, value in re.findall(r'(\w+):=(\S+)', proposed):
            start[dynamics.model.joint(name).qi] = float(value)
        state = LoopTracker(dynamics, measured, start=start).update([0.3])
        assert np.abs(dynamics.residual(state.q)).max() < CLOSED
        ends.append(state.q)
    assert len(ends) == 2
    assert np.abs(np.sin(0.5 * (ends[0] - ends[1]))).max() > 0.05


def test_limits_choose_the_branch_and_are_told() -> None:
    model = four_bar()
    up, down = (replace(model, joint_list=tuple(
        replace(joint, limits=Limits(*limits)) if joint.name == 'right_0_joint' else joint
        for joint in model.joint_list)) for limits in ((0.05, 2.0), (-3.1, -0.05)))
    for limited, sign in ((up, 1.0), (down, -1.0)):
        start = limited.neutral() + [0.5, 0.0, -sign * 2.0]
        tracker = LoopTracker(
            ConstrainedDynamics(limited), ['left_0_joint'], start=start, within_limits=True)
        state = tracker.update([0.5])
        assert np.sign(state.q[2]) == sign and state.beyond_limits == ()
    tracker = LoopTracker(ConstrainedDynamics(up), ['left_0_joint'],
                          start=[0.5, 0.0, 1.0], within_limits=True)
    beyond = [tracker.update([angle]).beyond_limits for angle in np.linspace(0.5, 3.0, 30)]
    assert beyond[0] == () and beyond[-1] == ('right_0_joint',)
