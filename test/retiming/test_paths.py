# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Paths and the laws that they follow have the derivatives that they say."""

from collections.abc import Callable
from itertools import pairwise
import warnings

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.example_robots import example_robot
from support.machines.random_models import random_model
from support.refusals import ANY, refused

import liedyn_ros as ld
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import (
    DescriptionWarning, LimitError, ModelError, NameSetError, NotFiniteError, NotInGroupError,
    ShapeError)
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia
from liedyn_ros.retiming import (
    BlendedPath, JoinedPath, LoopPath, MovingEnd, Path, path_through, PathPart, PlatformPath,
    SplinePath)
from liedyn_ros.retiming.law import Law
from liedyn_ros.retiming.paths.named_path import position_names
from liedyn_ros.stewart import load_geometry

STEP = 3e-4
ARM = """<robot name="arm"><link name="base"/><link name="upper">
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="10" velocity="2"/></joint></robot>"""


def arm_path() -> tuple[Model, Path]:
    """Return a path of an arm of one joint."""
    model = ld.load(ARM).model
    return model, SplinePath(model, np.array([[0.0], [0.4], [0.1], [0.9], [0.8], [1.5]]))


def blended_path() -> tuple[Model, Path]:
    """Return lines with rounded corners, of an arm of one joint."""
    model = ld.load(ARM).model
    return model, BlendedPath(model, [[0.0], [0.4], [1.0], [1.9], [2.3], [2.5]], 0.3)


def joined_path() -> tuple[Model, Path]:
    """Return two parts of a path, put together again."""
    model, path = arm_path()
    return model, JoinedPath([PathPart(path, 0.0, 0.7), PathPart(path, 0.7, path.length)])


def flying_path() -> tuple[Model, Path]:
    """Return a path of a floating base with joints of every type."""
    model = random_model(2, 9, floating=True)
    rng = np.random.default_rng(3)
    return model, SplinePath(model, [
        model.integrate(model.neutral(), rng.uniform(-0.6, 0.6, model.nv)) for _ in range(7)])


def flying_lines() -> tuple[Model, Path]:
    """Return lines with rounded corners of a floating base with joints of every type."""
    model, path = flying_path()
    return model, BlendedPath(model, path.waypoints[:4], 9.0)


def loop_lines() -> tuple[Model, Path]:
    """Return lines with rounded corners of a five-bar."""
    machine = ld.load(config_file('five_bar.yaml'))
    return machine.model, LoopPath(machine, [[0.3, 2.0], [0.8, 2.4], [0.6, 1.8]], blend=9.0)


def platform_lines() -> tuple[Model, Path]:
    """Return screws with rounded corners of a Stewart platform."""
    path = PlatformPath(load_geometry(config_file('stewart_geometry.yaml')),
                        platform_path()[1].poses[:3], blend=9.0)
    return path.dynamics.model, path


def loop_path() -> tuple[Model, Path]:
    """Return a path of a five-bar."""
    machine = ld.load(config_file('five_bar.yaml'))
    waypoints = np.array([[0.3, 2.0], [0.8, 2.4], [0.6, 1.8], [0.5, 1.9], [0.4, 2.1], [0.3, 2.2]])
    return machine.model, LoopPath(machine, waypoints)


def platform_path() -> tuple[Model, Path]:
    """Return a path of a Stewart platform."""
    home = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
    poses = home @ se3.exp(np.random.default_rng(1).uniform(-0.1, 0.1, (6, 6)))
    path = PlatformPath(load_geometry(config_file('stewart_geometry.yaml')), poses)
    return path.dynamics.model, path


@pytest.mark.parametrize('make', [arm_path, blended_path, flying_lines, flying_path, joined_path,
                                  loop_lines, loop_path, platform_lines, platform_path])
@pytest.mark.parametrize('smooth', [False, True])
def test_derivatives_are_those_of_the_path(make: Callable[[], tuple[Model, Path]],
                                           smooth: bool) -> None:
    model, path = make()
    law, p = Law(path, smooth), np.linspace(0.1, 0.9, 7)
    here = law(p)
    near = {k: law(p + k * STEP) for k in (-2, -1, 1, 2)}
    moved = {k: np.array([model.difference(*pair) for pair in zip(here.q, each.q)])
             for k, each in near.items()}
    assert_same(rate(moved), here.v, 1e-8)
    assert_same(rate({k: each.v for k, each in near.items()}), here.a, 1e-7)
    assert_same(rate({k: each.a for k, each in near.items()}), here.jerk, 1e-7)


def rate(values: dict[int, Array]) -> Array:
    """Return the derivative by differences of fourth order."""
    return (8.0 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12.0 * STEP)


@pytest.mark.parametrize('smooth', [False, True])
@pytest.mark.parametrize('ends', [(MovingEnd(1.0), None), (None, MovingEnd(1.0)),
                                  (MovingEnd(1.0), MovingEnd(2.0))])
def test_laws_have_a_slope_where_an_end_is_passed(smooth: bool, ends: tuple) -> None:
    law, p = Law(arm_path()[1], smooth, *ends), np.linspace(0.0, 1.0, 101)
    s, ds, dds, _ = law.derivatives(p)
    assert_same(s[[0, -1]], [0.0, 2.3], 1e-14)
    assert (ds[1:-1] > 0.0).all()
    assert [ds[0] > 1.0, ds[-1] > 1.0] == [end is not None for end in ends]
    assert_same(np.gradient(ds, p)[2:-2], dds[2:-2], 2e-3, floor=1.0)
    given = iter(law.passing())
    for slope, end in zip(ds[[0, -1]], ends):
        speed = slope * next(given)[1]**0.5 if end else slope
        assert_same(speed, end.speed if end else 0.0, 1e-14, floor=1.0)


@pytest.mark.parametrize('smooth', [False, True])
def test_laws_begin_and_end_at_rest(smooth: bool) -> None:
    s, ds, *_ = Law(arm_path()[1], smooth).derivatives(np.array([0.0, 1.0]))
    assert_same(s, [0.0, 2.3], 1e-14)
    assert_same(ds, [0.0, 0.0], 1e-14, floor=1.0)


def test_paths_go_through_their_waypoints() -> None:
    path = arm_path()[1]
    assert_same(path(np.array([0.0, 0.4, 0.7, 1.5, 1.6, 2.3])).q[:, 0],
                [0.0, 0.4, 0.1, 0.9, 0.8, 1.5], 1e-13)


@pytest.mark.parametrize(('waypoints', 'error', 'named', 'got'), [
    ([[0.0]], LimitError, 'waypoints', 1),
    ([[0.0], [1.0], [1.0]], LimitError, 'waypoints', '1 and 2 equal'),
    ([[0.0], [1e104]], LimitError, 'waypoints[1]', 1e104),
    ([[0.0], [1e300]], LimitError, 'waypoints[1]', 1e300),
    ([[0.0], [np.nan]], NotFiniteError, 'waypoints', ANY),
    ([0.0, 1.0], ShapeError, 'waypoints', (2,))])
def test_bad_waypoints_are_refused(waypoints: list, error: type[Exception],
                                   named: str, got: object) -> None:
    with refused(error, named, got=got):
        SplinePath(ld.load(ARM).model, waypoints)


@pytest.mark.parametrize('blend', [0.05, 0.4, 3.0])
def test_corners_are_rounded_near_their_waypoints(blend: float) -> None:
    model = ld.load(example_robot('ur_description/urdf/ur5_robot.urdf')).model
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (6, 6))
    path = BlendedPath(model, points, blend)
    chords = np.diff(points, axis=0)
    lengths = np.linalg.norm(chords, axis=1)
    turns = np.diff(chords / lengths[:, None], axis=0)
    half = np.minimum(np.minimum(lengths[:-1], lengths[1:]) / 2.0, blend)
    at = np.cumsum(lengths)[:-1]
    apart = np.linalg.norm(path(at).q - points[1:-1], axis=1)
    assert_same(apart, 5.0 / 32.0 * half * np.linalg.norm(turns, axis=1), 1e-12)
    assert_same(path(np.array([0.0, path.length])).q, points[[0, -1]], 1e-13)
    places = np.linspace(0.0, path.length, 4001)
    assert (np.linalg.norm(path(places).v, axis=1) <= 1.0 + 1e-12).all()
    corners = np.concatenate([at - half, at + half])
    for name in ('q', 'v', 'a', 'jerk'):  # continuous where pieces meet
        before, after = (getattr(path(corners + side), name) for side in (-1e-9, 1e-9))
        assert_same(before, after, 1e-5, floor=np.abs(getattr(path(places), name)).max())


@pytest.mark.parametrize(('blend', 'name'), [(0.0, 'blend'), (-1.0, 'blend')])
def test_bad_blends_are_refused(blend: float, name: str) -> None:
    with refused(LimitError, name):
        BlendedPath(ld.load(ARM).model, [[0.0], [1.0]], blend)


def test_parts_of_a_path_are_the_path() -> None:
    path = arm_path()[1]
    part, s = PathPart(path, 0.3, 1.9), np.linspace(0.0, 1.6, 9)
    for one, other in zip(part(s), path(0.3 + s)):
        assert_same(one, other, 0.0)


@pytest.mark.parametrize(('start', 'end'), [(-0.1, 1.0), (1.0, 1.0), (0.5, 9.0), (np.nan, 1.0)])
def test_parts_beyond_a_path_are_refused(start: float, end: float) -> None:
    with refused(LimitError, expected='0 <= start < end <= 2.3'):
        PathPart(arm_path()[1], start, end)


def test_paths_that_do_not_go_on_are_not_joined() -> None:
    path = arm_path()[1]
    with refused(LimitError, 'paths', indices=(1,)):
        JoinedPath([PathPart(path, 0.0, 0.7), PathPart(path, 0.8, 1.0)])
    with refused(LimitError, 'paths', got='none'):
        JoinedPath([])


def test_lines_in_space_are_screws_between_rounded_corners() -> None:
    path = flying_lines()[1]
    model, points = path.model, path.waypoints
    steps = np.linalg.norm([model.difference(*pair) for pair in pairwise(points)], axis=1)
    assert_same(path.length, steps.sum(), 1e-14)
    middle = steps[0] / 2.0  # where the corner begins
    whole = model.difference(points[0], points[1])
    found = path(np.array([middle, path.length]))
    assert_same(model.difference(points[0], found.q[0]), whole * middle / steps[0], 1e-12)
    assert_same(found.v[0], whole / steps[0], 1e-12)
    assert_same(model.difference(points[-1], found.q[1]), np.zeros(model.nv), 1e-12, floor=1.0)


@pytest.mark.parametrize('make', [flying_path, loop_path, arm_path])
def test_paths_that_begin_in_motion_go_on_as_it_does(make: Callable) -> None:
    model, path = make()
    points = path.waypoints if isinstance(path, SplinePath) else np.array(
        [[0.3, 2.0], [0.8, 2.4], [0.6, 1.8]])
    size = model.nv if isinstance(path, SplinePath) else 2
    motion = np.random.default_rng(1).uniform(-1.0, 1.0, (2, size))
    if isinstance(path, SplinePath):
        moving, at = SplinePath(model, points, motion), slice(None)
    else:
        machine = ld.load(config_file('five_bar.yaml'))
        moving = LoopPath(machine, points, start=motion)
        at = [model.joint(name).vi for name in moving.measured]
    here = moving(np.zeros(1))
    speed, acceleration = moving.start
    assert_same(here.v[0, at] * speed, motion[0], 1e-12)
    assert_same(here.a[0, at] * speed**2 + here.v[0, at] * acceleration, motion[1], 1e-11)


def test_paths_that_end_in_motion_and_bad_motions_are_told() -> None:
    model = ld.load(ARM).model
    path = SplinePath(model, [[0.0], [1.0], [1.5]], end=[[0.7], [0.3]])
    assert_same(path(np.array([path.length])).v, [[1.0]], 1e-12)
    assert (path.start, path.end) == (None, MovingEnd(0.7, 0.3))
    with refused(ShapeError, 'start'):
        SplinePath(model, [[0.0], [1.0]], [0.7])
    flying = flying_path()[1]
    with refused(LimitError, 'end'):
        SplinePath(flying.model, flying.waypoints, end=np.ones((2, flying.model.nv)))
    loops = ld.load(config_file('five_bar.yaml'))
    with refused(LimitError, 'start'):
        LoopPath(loops, [[0.3, 2.0], [0.8, 2.4]], blend=0.1, start=np.ones((2, 2)))


def test_splines_in_space_go_through_their_waypoints() -> None:
    path = flying_path()[1]
    knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(
        [path.model.difference(path.waypoints[0], q) for q in path.waypoints], axis=0), axis=1))])
    apart = [path.model.difference(*pair) for pair in zip(path(knots).q, path.waypoints)]
    assert_same(apart, np.zeros_like(apart), 1e-13, floor=1.0)


def test_turns_beyond_pi_are_refused() -> None:
    model = ld.load(config_file('aerial_manipulator.yaml')).model
    turns = np.zeros((4, model.nv))
    turns[:, 2] = 0.0, 1.5, 3.0, 4.5
    points = [model.integrate(model.neutral(), turn) for turn in turns]
    SplinePath(model, points[:3])
    with refused(LimitError, 'waypoints', indices=(3,)):
        SplinePath(model, points)
    with pytest.raises(NotInGroupError):
        SplinePath(model, np.zeros((2, model.nq)))


def test_paths_by_names_are_those_of_the_model() -> None:
    machine = ld.load(config_file('aerial_manipulator.yaml'))
    model, names = machine.model, position_names(machine.model)
    points = np.array([model.integrate(model.neutral(), x) for x in np.random.default_rng(
        1).uniform(-0.5, 0.5, (4, model.nv))])
    order = np.random.default_rng(2).permutation(model.nq)
    path = path_through(machine, [names[k] for k in order], points[:, order])
    for one, other in zip(path([0.3]), SplinePath(model, points)([0.3])):
        assert_same(one, other, 0.0)
    loops = ld.load(config_file('five_bar.yaml'))
    cranks = ['left_crank_joint', 'right_crank_joint']
    waypoints = np.array([[0.3, 2.0], [0.8, 2.4], [0.6, 1.8]])
    for one, other in zip(path_through(loops, cranks[::-1], waypoints[:, ::-1])(np.zeros(1)),
                          LoopPath(loops, waypoints)(np.zeros(1))):
        assert_same(one, other, 1e-9, floor=1.0)


@pytest.mark.parametrize(('names', 'named', 'got'), [
    (['shoulder'] * 2, 'waypoints', ANY), (['elbow'], 'elbow', 'elbow'),
    ([], ANY, ANY)])
def test_wrong_names_are_refused(names: list[str], named: str, got: object) -> None:
    with refused(NameSetError, named, got=got):
        path_through(ld.load(ARM), names, np.arange(2.0 * len(names)).reshape(2, -1))


def test_missing_names_are_refused() -> None:
    machine = ld.load(config_file('aerial_manipulator.yaml'))
    names = position_names(machine.model)
    with refused(NameSetError, 'base_joint/x'):
        path_through(machine, names[1:], np.zeros((2, len(names) - 1)))


@pytest.mark.parametrize('assembly', [[0.3, -1.0, 2.0, 1.0], [0.3, 1.0, 2.0, -1.0]])
@pytest.mark.parametrize('seed', [19, 21, 23])
def test_places_of_a_loop_by_themselves_are_those_of_the_whole_path(
        seed: int, assembly: list[float]) -> None:
    # From the assembly at the begin, five of these six would end on another branch.
    machine = ld.load(config_file('five_bar.yaml'))
    points = [0.4, 2.0] + np.cumsum(np.random.default_rng(seed).uniform(-0.4, 0.4, (6, 2)), axis=0)
    path = LoopPath(machine, points, assembly=assembly)
    s = np.linspace(0.0, path.length, 400)
    whole = path(s)
    for k in range(0, 400, 23):
        for given, wanted in zip(path(s[k:k + 1]), whole):
            assert_same(given[0], wanted[k], 1e-9, floor=1.0)
    for given, wanted in zip(path(s[::133]), whole):  # and far apart
        assert_same(given, wanted[::133], 1e-9, floor=1.0)


def test_more_joints_than_needed_are_refused_where_their_rates_disagree() -> None:
    machine = ld.load(config_file('five_bar.yaml'))
    of_two = LoopPath(machine, [[0.3, 2.0], [0.8, 2.4], [0.6, 1.8]])
    q = of_two(np.linspace(0.0, of_two.length, 5)).q
    of_three = LoopPath(machine, q[:, :3], list(machine.model.joints)[:3], assembly=q[0])
    with refused(ModelError, 'v'):
        of_three(np.linspace(0.0, of_three.length, 41))


@pytest.mark.parametrize('make', [SplinePath, lambda *of: BlendedPath(
    *of, 0.05)], ids=['spline', 'lines'])
def test_a_joint_without_limits_that_turns_by_more_than_half_a_turn_is_named(make) -> None:
    model = continuous()
    waypoints = np.array([[3.0], [3.1], [-3.1], [-3.0]])
    with pytest.warns(DescriptionWarning, match=r'waypoints\[2\]: turn, .* -6.2 rad'):
        make(model, waypoints)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        make(model, np.unwrap(waypoints, axis=0))


def continuous() -> Model:
    """Return one link on a joint without limits."""
    builder = ModelBuilder('turn')
    builder.add_body('link', SpatialInertia(1.0, (0.1, 0.0, 0.0), np.eye(3)))
    builder.add_joint('turn', 'continuous', None, 'link', axis=(0.0, 0.0, 1.0))
    return builder.build()
