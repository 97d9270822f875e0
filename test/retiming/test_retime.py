# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Retimed paths keep their limits, are the fastest found, and refuse what cannot be done."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
import pytest
from support.comparison import assert_same
from support.machines.example_robots import example_robot
from support.refusals import ANY, refused
from toppra.algorithm import TOPPRA
from toppra.constraint import DiscretizationType, JointTorqueConstraint
from toppra.interpolator import AbstractGeometricPath

import liedyn_ros as ld
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, ModelError, NameSetError, ShapeError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, MinimalCoordinates
from liedyn_ros.lie import se3
from liedyn_ros.model import ModelBuilder, SpatialInertia
from liedyn_ros.retiming import (
    FrameLimits, LoopPath, MotionLimits, PathSamples, PlatformPath, retime, Retimed, SplinePath)
from liedyn_ros.retiming.result import travel_time
from liedyn_ros.stewart import load_geometry

LOOP_INTERVALS = 50
TORQUE = np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0])
POINTS = np.random.default_rng(0).uniform(-1.5, 1.5, (7, 6))


@cache
def ur5() -> Dynamics:
    """Return the dynamics of an arm."""
    return ld.load(example_robot('ur_description/urdf/ur5_robot.urdf'))


def test_limits_of_a_model_stay_until_infinity_takes_them_off() -> None:
    """Those of torque alone keep velocities, and of_model says so."""
    builder = ModelBuilder('rod')
    builder.add_body('rod', SpatialInertia(1.0, [0.0, 0.0, 0.5], 0.1 * np.eye(3)))
    builder.add_joint('pivot', 'revolute', None, 'rod', axis=[0.0, 1.0, 0.0],
                      limits={'velocity': 2.5, 'effort': 40.0})
    model, limits = builder.build(), MotionLimits(torque=5.0)
    assert limits.of(model)['velocity'].tolist() == [2.5]
    assert limits.of_model(model) == {'velocity': ('pivot',)}
    free = MotionLimits(torque=5.0, velocity=np.inf)
    assert np.isinf(free.of(model)['velocity']).all() and free.of_model(model) == {}


@cache
def arm_path(seed: int = 0) -> SplinePath:
    """Return a path of the arm through random waypoints."""
    waypoints = np.random.default_rng(seed).uniform(-1.5, 1.5, (7, 6))
    return SplinePath(ur5().model, waypoints)


def arm(limits: MotionLimits, **options: bool | int) -> Retimed:
    """Return a run of the arm."""
    return retime(ur5(), arm_path(), limits, **options)


def platform() -> Retimed:
    """Return a run of a platform under limited leg forces and their rates."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    home = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
    path = PlatformPath(
        geometry, home @ se3.exp(np.random.default_rng(1).uniform(-0.1, 0.1, (6, 6))))
    return retime(path.dynamics, path, MotionLimits(
        velocity=dict.fromkeys(geometry.leg_names, 1.0),
        torque=dict.fromkeys(geometry.leg_names, 2000.0),
        torque_rate=dict.fromkeys(geometry.leg_names, 20000.0)), intervals=LOOP_INTERVALS)


def five_bar(minimal: bool = False, frames: tuple[FrameLimits, ...] = ()) -> Retimed:
    """Return a run of a five-bar, of all its coordinates or of its cranks alone."""
    machine = ld.load(config_file('five_bar.yaml'))
    robot = MinimalCoordinates(machine) if minimal else machine
    path = LoopPath(robot, np.array([[0.3, 2.0], [0.8, 2.4], [0.6, 1.8]]))
    cranks = path.measured
    return retime(robot, path, MotionLimits(
        torque=dict.fromkeys(cranks, 12.0), torque_rate=dict.fromkeys(cranks, 200.0),
        frames=frames), intervals=LOOP_INTERVALS)


EVERY = MotionLimits(velocity=2.5, acceleration=8.0, jerk=80.0, torque=TORQUE,
                     torque_rate=20.0 * TORQUE, power=150.0, torque_per_speed=5.0)
RUNS: dict[str, Callable[[], Retimed]] = {
    'torque': lambda: arm(MotionLimits(velocity=np.inf)),
    'model': lambda: retime(ur5(), arm_path()),
    'rates': lambda: arm(MotionLimits(velocity=np.inf, torque_rate=20.0 * TORQUE)),
    'slow rates': lambda: arm(MotionLimits(velocity=np.inf, torque_rate=5.0 * TORQUE)),
    'every limit': lambda: arm(EVERY),
    'platform': platform, 'five-bar': five_bar}


@cache
def run(name: str) -> Retimed:
    """Return a run, found once."""
    return RUNS[name]()


@pytest.mark.parametrize('name', RUNS)
def test_limits_hold_at_every_instant_and_some_bind(name: str) -> None:
    result = run(name)
    # Loops are completed instant by instant: 40 an interval of theirs, 80 of the others'.
    looped = isinstance(result.dynamics, ConstrainedDynamics)
    count = 40 * LOOP_INTERVALS + 3 if looped else 8011
    at = result.at(np.linspace(0.0, result.duration, count))
    given = {'velocity': at.v, 'acceleration': at.a, 'jerk': at.jerk, 'torque': at.torque,
             'torque_rate': at.torque_rate, 'power': at.torque * at.v}
    names = list(result.dynamics.model.coordinate_names)
    worst = 0.0
    for (limit, coordinate), used in result.used.items():
        k = names.index(coordinate)
        rows = result.margins.states if limit in result.margins.states.names \
            else result.margins.rates
        column = next(j for j, key in enumerate(zip(rows.names, rows.of))
                      if key == (limit, coordinate))
        bound = rows.bound[0, column]**(0.5 if limit == 'velocity' else 1.0)
        most = np.abs(given[limit][:, k]).max() / bound
        assert most <= 1.0 + 1e-9
        assert used.max() <= 1.0
        worst = max(worst, most)
    assert worst > 0.99


def test_the_use_of_a_limit_of_velocity_is_no_square() -> None:
    result = arm(MotionLimits(velocity=50.0), intervals=20)
    at, used = result.at(result.interval_times[:-1]), result.used
    for k, name in enumerate(result.dynamics.model.coordinate_names):
        assert_same(used['velocity', name][:, 0], np.abs(at.v[:, k]) / 50.0, 1e-9)


def test_minimal_coordinates_have_the_run_of_the_whole_machine() -> None:
    frame = FrameLimits(ld.load(config_file('five_bar.yaml')).model.bodies[-1], acceleration=20.0)
    whole, least = (five_bar(minimal, (frame,)) for minimal in (False, True))
    assert least.duration == pytest.approx(whole.duration, rel=1e-6)
    t = np.linspace(0.0, min(least.duration, whole.duration), 11)
    known, at, wanted = least.dynamics.known, least.at(t), whole.at(t)
    assert_same(at.q, wanted.q, 1e-4)
    assert_same(at.v, wanted.v[:, known], 1e-4)
    assert_same(at.torque, wanted.torque[:, known], 1e-3)


@pytest.mark.parametrize('name', RUNS)
def test_the_run_is_the_path_with_the_torques_of_inverse_dynamics(name: str) -> None:
    result = run(name)
    t = np.linspace(0.0, result.duration, 4001)
    at = result.at(t[[0, -1]])
    model = result.dynamics.model
    assert_same(at.q, result.law.path(np.array([0.0, result.law.path.length])).q, 1e-12)
    assert_same(at.v, np.zeros((2, model.nv)), 1e-12, floor=1.0)
    h = 1e-6 * result.duration
    inside = t[200:-200:100]
    before, here, after = (result.at(inside + k * h) for k in (-1, 0, 1))
    moved = np.array([model.difference(*pair) for pair in zip(before.q, after.q)]) / (2.0 * h)
    assert_same(moved, here.v, 1e-6)
    assert_same((after.v - before.v) / (2.0 * h), here.a, 1e-4)
    assert_same((after.torque - before.torque) / (2.0 * h), here.torque_rate, 1e-3)


@pytest.mark.parametrize('name', RUNS)
def test_rounds_get_faster_between_the_bounds(name: str) -> None:
    result = run(name)
    assert (np.diff(result.round_times) < 0.0).all()
    assert result.lower_bound <= result.round_times[-1] * (1.0 + 1e-6)
    assert result.round_times[-1] <= result.duration <= 1.01 * result.round_times[-1]
    assert result.uniform_duration == result.round_times[0]


@pytest.mark.full
@pytest.mark.parametrize('name', ['torque', 'rates', 'every limit'])
def test_without_strict_limits_are_exceeded_by_a_fifth_of_a_percent(name: str) -> None:
    options = {'torque': MotionLimits(velocity=np.inf),
               'rates': MotionLimits(velocity=np.inf, torque_rate=20.0 * TORQUE),
               'every limit': EVERY}
    for intervals in (40, 60):
        loose = arm(options[name], strict=False, intervals=intervals)
        assert loose.margins.most(loose.grid, loose.unknowns) <= 1.002
        assert loose.duration < arm(options[name], intervals=intervals).duration


def test_a_path_back_and_forth_has_a_symmetric_law() -> None:
    half = np.random.default_rng(3).uniform(-1.0, 1.0, (4, 6))
    path = SplinePath(ur5().model, np.vstack([half, half[-2::-1]]))
    free = Dynamics(ur5().model, dissipation=False)
    result = retime(free, path, MotionLimits(torque=TORQUE, torque_rate=20.0 * TORQUE))
    assert_same(result.unknowns[::-1], result.unknowns, 1e-3)


@pytest.mark.full
def test_a_warm_start_ends_at_the_same_run_after_fewer_rounds() -> None:
    before = run('rates')
    for share in (0.9, 1.1):
        limits = MotionLimits(velocity=np.inf, torque=share * TORQUE,
                              torque_rate=20.0 * share * TORQUE)
        cold, warm = (retime(ur5(), arm_path(), limits, strict=False, warm=each)
                      for each in (None, before))
        assert_same(warm.duration, cold.duration, 1e-3)
        assert len(warm.round_times) <= len(cold.round_times)
    few = retime(ur5(), arm_path(), limits, intervals=33, warm=before)
    assert_same(few.duration, warm.duration, 4e-2)  # strict, and coarse


def test_a_payload_takes_time() -> None:
    limits = MotionLimits(velocity=np.inf, torque=2.0 * TORQUE)
    builder = ModelBuilder.of(ur5().model)
    box = SpatialInertia(5.0, [0.0, 0.0, 0.1], 0.01 * np.eye(3))
    builder.add_payload('box', 'wrist_3_link', box)
    loaded = retime(Dynamics(builder.build()), arm_path(), limits)
    assert loaded.duration > 1.05 * arm(limits).duration


def test_a_wrench_on_a_body_is_that_of_inverse_dynamics() -> None:
    wrenches = np.zeros((len(ur5().model.bodies), 6))
    wrenches[ur5().model.body_index('wrist_3_link')] = [1.0, -2.0, 0.5, 10.0, -20.0, 5.0]
    pushed = retime(ur5(), arm_path(), MotionLimits(velocity=np.inf), external=wrenches)
    at = pushed.at([0.3 * pushed.duration])
    assert_same(at.torque[0], ur5().inverse(at.q[0], at.v[0], at.a[0], wrenches), 1e-12)


def test_a_path_that_the_motors_cannot_hold_names_joint_and_place() -> None:
    with refused(LimitError, 'shoulder_lift_joint'):
        arm(MotionLimits(torque=20.0))


def test_a_singular_place_on_the_path_is_named() -> None:
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    turns = np.outer([0.0, 1.0], [0.0, 0.0, np.pi / 2.0, 0.0, 0.0, 0.0])
    home = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
    path = PlatformPath(geometry, home @ se3.exp(turns))
    with refused(ModelError, ANY, indices=(1000,), got=1):
        retime(path.dynamics, path, MotionLimits(torque=dict.fromkeys(geometry.leg_names, 1e3)))


@pytest.mark.parametrize(('limits', 'error', 'name'), [
    (MotionLimits(velocity=np.inf, torque=np.inf), LimitError, 'retiming'),
    (MotionLimits(torque=0.0), LimitError, 'shoulder_pan_joint'),
    (MotionLimits(jerk=-1.0), LimitError, 'shoulder_pan_joint'),
    (MotionLimits(power=np.nan), LimitError, 'shoulder_pan_joint'),
    (MotionLimits(torque_per_speed=-1.0), LimitError, 'shoulder_pan_joint'),
    (MotionLimits(velocity=np.ones(5)), ShapeError, 'velocity'),
    (MotionLimits(velocity={'elbow': 1.0}), NameSetError, 'elbow'),
    (MotionLimits(velocity={'elbow_joint': [1.0, 2.0]}), ShapeError, 'elbow_joint')])
def test_bad_limits_are_refused(limits: MotionLimits, error: type[Exception], name: str) -> None:
    with refused(error, name):
        arm(limits)


class SamePath(AbstractGeometricPath):
    """A path of this package as toppra takes it."""

    def __init__(self, path: SplinePath) -> None:
        """Take the path."""
        self._path, self.dof = path, path.model.nv
        self.path_interval = np.array([0.0, path.length])

    def __call__(self, s: ArrayLike, order: int = 0) -> Array:
        """Return q or a derivative by s."""
        rows = self._path(np.atleast_1d(s))[order]
        return rows if np.ndim(s) else rows[0]

    dof = 0
    path_interval = np.zeros(2)
    waypoints = None


@pytest.mark.full
@pytest.mark.parametrize(('seed', 'points'), [(0, 1600), (1, 400), (2, 400)])
def test_toppra_needs_the_same_time_with_equal_points_under_limits_of_torque(
        seed: int, points: int) -> None:
    """Up to what points leave open, which falls with their distance."""
    free, path = Dynamics(ur5().model, dissipation=False), arm_path(seed)
    limit = JointTorqueConstraint(
        lambda q, v, a: free.inverse(*map(np.ascontiguousarray, (q, v, a))),
        np.stack([-TORQUE, TORQUE], axis=1), np.zeros(6),
        discretization_scheme=DiscretizationType.Interpolation)
    gridpoints = np.linspace(0.0, path.length, points + 1)
    _, speed, *_ = TOPPRA([limit], SamePath(path), gridpoints=gridpoints).compute_parameterization(
        0.0, 0.0, return_data=True)
    wanted = (2.0 * np.diff(gridpoints) / (speed[1:] + speed[:-1])).sum()
    found = retime(free, path, MotionLimits(velocity=np.inf, torque=TORQUE), intervals=points)
    assert abs(found.duration / wanted - 1.0) < 0.003 * 1600 / points


def test_places_without_inertia_are_passed_within_the_limits() -> None:
    # Where a joint's a = M q' changes its sign, methods that integrate along limits are singular.
    result = run('torque')
    margins, checks = result.margins, result.margins.p.shape[1]
    slopes = margins.states.slope.reshape(len(margins.p), checks, -1)
    passed = (slopes[:, :-1] * slopes[:, 1:] < 0.0).any(axis=1)
    assert passed.sum() > 10
    used = margins.within(margins.states, result.grid, result.unknowns)
    assert used.max(axis=1)[passed].max() <= 1.0
    assert used.max(axis=(1, 2))[passed.any(axis=1)].min() > 0.9  # some limit binds there


def test_no_perturbed_law_is_faster() -> None:
    result, rng = run('slow rates'), np.random.default_rng(5)
    grid, best = result.grid, result.duration
    for scale in np.geomspace(1e-3, 0.3, 200):
        bumps = np.convolve(rng.normal(size=grid.unknowns), np.ones(9) / 3.0, mode='same')
        tried = result.unknowns * np.exp(scale * bumps)
        worst = max(result.margins.worst(rows, grid, tried).max()
                    for rows in (result.margins.states, result.margins.rates))
        assert worst > 1.0 or travel_time(grid, tried)[-1] > (1.0 - 1e-3) * best


def test_instants_beyond_the_run_are_refused() -> None:
    with refused(LimitError, 't'):
        run('torque').at([-0.1])


def test_limits_of_the_model_that_stay_are_named() -> None:
    model = ur5().model
    assert MotionLimits(torque=10.0).of_model(model) == {'velocity': model.coordinate_names}
    assert list(MotionLimits().of_model(model)) == ['velocity', 'torque']
    assert MotionLimits(velocity=np.inf, torque=10.0).of_model(model) == {}


def test_joints_that_are_not_named_keep_the_limit_of_the_model() -> None:
    model, given = ur5().model, {'elbow_joint': 1.0, 'wrist_1_joint': np.inf,
                                 'wrist_2_joint': 180.0}
    limits = MotionLimits(velocity=given, torque={'elbow_joint': 100.0}, power={'elbow_joint': 9})
    found = limits.of(model)
    for name, bound in (('velocity', model.limits.velocity), ('torque', model.limits.effort)):
        wanted = dict(zip(model.coordinate_names, bound.tolist())) | getattr(limits, name)
        assert found[name].tolist() == list(wanted.values())
    assert np.isinf(found['power']).sum() == 5
    stays = limits.of_model(model)
    assert stays['velocity'] == ('shoulder_pan_joint', 'shoulder_lift_joint', 'wrist_3_joint')
    assert set(model.coordinate_names) - set(stays['torque']) == {'elbow_joint'}
    assert limits.above_model(model) == (('velocity', 'wrist_2_joint', 180.0, 3.2),)
    at = (run := arm(MotionLimits(torque={'elbow_joint': 100.0}), intervals=20)).at(
        np.linspace(0.0, run.duration, 200))
    assert (np.abs(at.torque).max(axis=0) <= [*TORQUE[:2], 100.0, *TORQUE[3:]]).all()
    assert (np.abs(at.v) <= model.limits.velocity).all()


@pytest.fixture(name='arm', scope='module')
def fixture_arm() -> Dynamics:
    return ur5()


class Bent:
    """A path of one joint after another that stands still up to a place."""

    def __init__(self, still: float, length: float = 1.0) -> None:
        """Take where it begins to move."""
        self._still, self.length = still, length

    def __call__(self, s: Array) -> PathSamples:
        """Return the samples."""
        x = np.maximum(s[:, None] - self._still, 0.0) * np.ones(6)
        return PathSamples(x**4, 4.0 * x**3, 12.0 * x**2, 24.0 * x)


@pytest.mark.parametrize('scale', [1.0, 1e6])
@pytest.mark.parametrize('rate', [np.inf, 20.0])
@pytest.mark.parametrize('points', [POINTS, POINTS[:2], POINTS[0] + 1e-9 * POINTS,
                                    [[0.0] * 6, [0.0, -1.0, *[0.0] * 4], [0.0, -2.0, *[0.0] * 4]]])
def test_limits_and_paths_of_any_size_are_solved(arm: Dynamics, scale: float, rate: float,
                                                 points: Array) -> None:
    limits = MotionLimits(velocity=np.inf, torque=scale * TORQUE,
                          torque_rate=rate * scale * TORQUE)
    run = retime(arm, SplinePath(arm.model, points), limits)
    assert max(used.max() for used in run.used.values()) <= 1.0
    assert run.duration <= run.uniform_duration


@pytest.mark.parametrize('seed', [0, 1, 2, 28])
@pytest.mark.parametrize('rate', [5.0, 100.0])
def test_random_paths_keep_their_limits_at_every_instant(
        arm: Dynamics, seed: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(-3.0, 3.0, (rng.integers(2, 8), 6))
    run = retime(arm, SplinePath(arm.model, points), MotionLimits(
        velocity=np.inf, torque=TORQUE, torque_rate=rate * TORQUE))
    at = run.at(np.linspace(0.0, run.duration, 5003))
    assert (np.abs(at.torque) <= TORQUE * (1.0 + 1e-9)).all()
    assert (np.abs(at.torque_rate) <= rate * TORQUE * (1.0 + 1e-9)).all()


def test_the_slowest_limits_are_solved(arm: Dynamics) -> None:
    run = retime(arm, SplinePath(arm.model, POINTS), MotionLimits(velocity=1e-6))
    assert 0.99 < max(used.max() for used in run.used.values()) <= 1.0


@pytest.mark.parametrize('room', [1.0 - 1e-9, 1.0001])
@pytest.mark.parametrize('rate', [np.inf, 20.0])
def test_no_room_to_move_names_joint_and_place(arm: Dynamics, room: float, rate: float) -> None:
    free, path = Dynamics(arm.model, dissipation=False), SplinePath(arm.model, POINTS)
    hold = max(abs(free.inverse(q, np.zeros(6), np.zeros(6))[1])
               for q in path(np.linspace(0.0, path.length, 4001)).q)
    torque = {'shoulder_lift_joint': hold / room}
    with refused(LimitError, 'shoulder_lift_joint'):
        retime(free, path, MotionLimits(velocity=np.inf, torque=torque, torque_rate=rate * TORQUE))


@pytest.mark.parametrize('limits', [MotionLimits(torque_rate=1e-6), MotionLimits(power=1e-6)])
def test_limits_below_any_speed_name_joint_and_place(arm: Dynamics, limits: MotionLimits) -> None:
    with refused(LimitError, 'shoulder_lift_joint'):
        retime(arm, SplinePath(arm.model, POINTS), limits)


@pytest.mark.parametrize(('path', 'named', 'got'), [
    (Bent(0.5), 'path', ANY), (Bent(2.0), 'path', ANY),
    (Bent(0.0, 0.0), 'path', 0.0),
    (Bent(0.0, np.nan), 'path', ANY)])
def test_paths_that_stand_still_are_refused(arm: Dynamics, path: Bent,
                                            named: str, got: object) -> None:
    with refused(LimitError, named, got=got):
        retime(arm, path, MotionLimits(torque=TORQUE))


@pytest.mark.parametrize('intervals', [-1, 0, 1, 2, 9, 20.0, True, 'many', None])
def test_too_few_intervals_are_refused(arm: Dynamics, intervals: object) -> None:
    with refused(LimitError, 'intervals'):
        retime(arm, SplinePath(arm.model, POINTS), intervals=intervals)
