# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The core of the controller for ros2_control: its efforts, judged by forward dynamics.

The plugin around it runs on stand-ins of ros2_control's classes, loaded from its library.
"""

import subprocess

import numpy as np
import pytest
from support.c_library.c_library import HOST, installed, project, require_tools, ROOT
from support.machines.example_robots import example_robot

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, LoopTracker, MomentumObserver)
from liedyn_ros.export import write_loops, write_model, write_platform
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.model import load_model
from liedyn_ros.stewart import (
    leg_lengths, leg_rates, load_geometry, model_state, platform_model, PoseSolver,
    StewartDynamics)
from liedyn_ros.stewart.platform.state import SINGULARITY_WARNING

pytestmark = pytest.mark.full

KP, KD, LAG = 400.0, 40.0, 0.02  # 1/s^2, 1/s, s
PACKAGE = ROOT.parent / 'liedyn_controllers'


@pytest.fixture(scope='module')
def program():
    """Return the program that answers states."""
    require_tools('g++')
    return project(PACKAGE, '-DLIEDYN_CORE_ALONE=ON', f'-DCMAKE_PREFIX_PATH={installed()}',
                   '-DCMAKE_CXX_FLAGS=-Werror') / 'efforts'


def efforts(program, model, lag, joints, *states):
    """Return the efforts for states, one row each; a state is what the program reads."""
    given = np.concatenate([np.concatenate(state) for state in states])
    done = subprocess.run([program, model, str(lag), *joints], input=given.tobytes(),
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout).reshape(len(states), -1)


def require_wanted(program, model, joints, state, reference, motion):
    """
    Require efforts and their rates to move the joints as the feedback wants.

    state is position and velocity of the measured joints, then of those with efforts. motion
    returns acceleration and jerk (2, c) of the latter under efforts and their rates (2, c).
    """
    position, velocity, at, rate = state
    goal, goal_rate, acceleration, jerk = reference
    wanted = acceleration + KD * (goal_rate - rate) + KP * (goal - at)
    wanted_jerk = jerk + KD * (acceleration - wanted) + KP * (goal_rate - rate)
    given = position, velocity, *reference
    still, = efforts(program, model, 0.0, joints, given)
    led, = efforts(program, model, LAG, joints, given)
    found = motion(np.stack([still, (led - still) / LAG]))
    np.testing.assert_allclose(found[0], wanted, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found[1], wanted_jerk, rtol=1e-7, atol=1e-5)


@HOST
@pytest.mark.parametrize('joints', [(), ('elbow_joint', 'shoulder_lift_joint', 'wrist_2_joint')])
def test_an_arm_moves_as_wanted_with_or_without_free_joints(program, tmp_path, joints):
    model = load_model(example_robot('ur_description/urdf/ur5_robot.urdf'))
    write_model(tmp_path / 'arm', model)
    rng, dynamics = np.random.default_rng(1), Dynamics(model)
    at = [model.joint(name).vi for name in joints] or [*range(model.nv)]
    q, v = rng.normal(size=(2, model.nv))

    def motion(forces):
        tau = np.zeros((2, model.nv))
        tau[:, at] = forces
        return dynamics.forward.time_derivatives(q, v, tau)[:, at]

    require_wanted(program, tmp_path / 'arm', joints, (q, v, q[at], v[at]),
                   q[at] + 0.1 * rng.normal(size=(4, len(at))), motion)


@HOST
def test_closed_loops_move_as_wanted_from_their_actuators_alone(program, tmp_path):
    model = load_model(config_file('five_bar.yaml'))
    write_loops(tmp_path / 'loops', model, order=1)
    dynamics = ConstrainedDynamics(model)
    tracker, rng = LoopTracker(dynamics), np.random.default_rng(2)
    start = assemble(dynamics)
    at = [model.joint(name).qi for name in tracker.measured]
    position, velocity = start[at] + 0.05, rng.normal(size=len(at))
    tracker.update(start[at])
    found = tracker.update(position, velocity)
    at = [model.joint(name).vi for name in tracker.measured]

    def motion(forces):
        tau = np.zeros((2, model.nv))
        tau[:, at] = forces
        return dynamics.forward(found.q, found.v, tau).a[:, at]

    require_wanted(program, tmp_path / 'loops', (), (position, velocity, position, velocity),
                   position + 0.1 * rng.normal(size=(4, len(at))), motion)


@HOST
def test_legs_of_a_platform_move_as_wanted(program, tmp_path):
    geometry, rng = load_geometry(config_file('stewart_geometry.yaml')), np.random.default_rng(3)
    write_platform(tmp_path / 'platform', geometry)
    pose = SE3.from_rotation_translation(
        SO3.from_rpy(0.05, -0.03, 0.1), [0.02, 0.01, 0.52]).matrix
    twist = 0.2 * rng.normal(size=6)
    lengths, rates = leg_lengths(geometry, pose), leg_rates(geometry, pose, twist)
    dynamics = StewartDynamics(geometry)

    def motion(forces):
        return dynamics.forward(pose, twist, forces).leg_accelerations

    require_wanted(program, tmp_path / 'platform', (), (lengths, rates, lengths, rates),
                   lengths + 0.01 * rng.normal(size=(4, 6)), motion)


@HOST
def test_what_does_not_fit_is_refused(program, tmp_path):
    model = load_model(config_file('five_bar.yaml'))
    write_loops(tmp_path / 'loops', model, order=0)
    write_model(tmp_path / 'tree', model, tree=True)
    for arguments, reason in (
            ((tmp_path / 'none', 0), 'none that can be opened'),
            ((tmp_path / 'loops', 0), '--order 1'),
            ((tmp_path / 'tree', -1), 'lag: expected numbers of 0 or more'),
            ((tmp_path / 'tree', 0, 'tail'), 'tail: expected joints of the model')):
        done = subprocess.run([program, *map(str, arguments)], input=b'', capture_output=True,
                              check=False)
        assert done.returncode == 2 and reason in done.stderr.decode()
    state = np.full(2 * model.nv + 4 * model.nv, np.nan)
    done = subprocess.run([program, tmp_path / 'tree', '0'], input=state.tobytes(),
                          capture_output=True, check=False)
    assert done.returncode == 1 and 'NaN' in done.stderr.decode()


def manager(program, model, lag, period, joints, states, home='-', start='-',
            plugin='computed_torque_controller'):
    """Return the process of a manager in small, which restarts the plugin in its first cycle."""
    return subprocess.run(
        [program.with_name('cycles'), program.with_name(f'lib{plugin}.so'), model, str(lag),
         str(period), home, start, *joints],
        input=np.asarray(states).tobytes(), capture_output=True, check=False)


def cycled(program, model, lag, period, joints, states, **options):
    """Return whether each cycle of the plugin succeeded, and its efforts; for states (k, ...)."""
    done, efforts, _, log = exporting(program, model, lag, period, joints, states, **options)
    return done, efforts, log


def exporting(program, model, lag, period, joints, states, **options):
    """Return whether each cycle succeeded, its efforts, the states it exports, and the log."""
    done = manager(program, model, lag, period, joints, states, **options)
    assert done.returncode == 0, done.stderr.decode()
    rows = np.frombuffer(done.stdout).reshape(len(states), -1)
    count = 2 + int(rows[0, 1])
    return rows[:, 0] == 1.0, rows[:, 2:count], rows[:, count:], done.stderr.decode()


@HOST
def test_the_plugin_holds_and_follows(program, tmp_path):
    model = load_model(example_robot('ur_description/urdf/ur5_robot.urdf'))
    write_model(tmp_path / 'arm', model)
    joints, period = ('elbow_joint', 'wrist_2_joint'), 1e-3
    at, rng = [model.joint(name).vi for name in joints], np.random.default_rng(4)
    q, v = rng.normal(size=(2, model.nv))
    none, zero = np.full(6, np.nan), np.zeros(2)
    moved, rate = q + 0.1, 0.5 * v
    goal, acceleration = q[at] + 0.2, rng.normal(size=(3, 2))
    given = [(goal, v[at], row) for row in acceleration] + [(goal, none[:2], none[:2])]
    references = [none, none, *(np.column_stack(row).ravel() for row in given)]
    states = [np.concatenate(row) for row in zip(
        [q, moved, q, moved, q, q], [v, rate, v, rate, v, v], references)]
    done, found, _ = cycled(program, tmp_path / 'arm', LAG, period, joints, states)
    assert done.all()
    jerk = np.diff(acceleration, axis=0) / period
    wanted = [(q, v, q[at], zero, zero, zero), (moved, rate, q[at], zero, zero, zero),
              (q, v, goal, v[at], acceleration[0], zero),
              (moved, rate, goal, v[at], acceleration[1], jerk[0]),
              (q, v, goal, v[at], acceleration[2], jerk[1]),
              (q, v, goal, zero, zero, -acceleration[2] / period)]
    np.testing.assert_allclose(
        found, efforts(program, tmp_path / 'arm', LAG, joints, *wanted), rtol=1e-12, atol=1e-12)


@HOST
def test_the_plugin_refuses_a_state_without_numbers(program, tmp_path):
    model = load_model(example_robot('ur_description/urdf/ur5_robot.urdf'))
    write_model(tmp_path / 'arm', model)
    states = np.zeros((3, 12 + 18))
    states[:, 12:] = np.nan
    states[1, 0] = np.nan
    done, found, log = cycled(program, tmp_path / 'arm', 0.0, 1e-3, (), states)
    assert done.tolist() == [True, False, True]
    assert 'state: shoulder_pan_joint: ' in log and 'NaN' in log
    np.testing.assert_array_equal(found[0], found[2])


@HOST
@pytest.mark.parametrize(('file', 'reason'), [
    ('none', 'none that can be opened'), ('', 'model_file: expected a file of liedyn export')])
def test_the_plugin_is_not_configured_without_its_file(program, tmp_path, file, reason):
    done = subprocess.run(
        [program.with_name('cycles'), program.with_name('libcomputed_torque_controller.so'),
         file and tmp_path / file, '0', '0.001', '-', '-'], capture_output=True, check=False)
    assert done.returncode == 3 and reason in done.stderr.decode()


@HOST
def test_an_activation_without_numbers_is_refused_and_may_be_tried_again(program, tmp_path):
    model = load_model(example_robot('ur_description/urdf/ur5_robot.urdf'))
    write_model(tmp_path / 'arm', model)
    none = np.full((1, 12 + 18), np.nan)
    done = manager(program, tmp_path / 'arm', 0.0, 1e-3, (), none)
    assert done.returncode == 5 and 'state: shoulder_pan_joint: ' in done.stderr.decode()
    good = np.concatenate((np.zeros(12), none[0, 12:]))
    done = manager(program, tmp_path / 'arm', 0.0, 1e-3, (), [none[0], good])
    assert done.returncode == 0 and np.frombuffer(done.stdout)[0] == 1.0


@HOST
def test_a_restart_within_a_cycle_leaves_no_cycle_without_effort(program, tmp_path):
    """The manager deactivates and activates after the update of a cycle and before its write."""
    model = load_model(example_robot('ur_description/urdf/ur5_robot.urdf'))
    write_model(tmp_path / 'arm', model)
    q = np.random.default_rng(6).normal(size=6)
    states = np.concatenate((q, np.zeros(6), np.full(18, np.nan)))[None].repeat(2, axis=0)
    _, found, _ = cycled(program, tmp_path / 'arm', 0.0, 1e-3, (), states)
    weight = Dynamics(model).inverse(q, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(found, [weight, weight], rtol=1e-9, atol=1e-9)


@HOST
@pytest.mark.parametrize('turns', [-1, 0, 1])
def test_loops_go_by_the_measured_position_in_any_turn(program, tmp_path, turns):
    """The goal is in the turn of the measured position, and so is what it is compared with."""
    model = load_model(config_file('five_bar.yaml'))
    write_loops(tmp_path / 'loops', model, order=1)
    position = np.array([2.0, 1.1])
    at = position + 2.0 * np.pi * np.array([0.0, turns])
    reference = np.column_stack((at + 0.001, np.zeros(2), np.zeros(2))).ravel()
    states = [np.concatenate((at, np.zeros(2), row)) for row in (np.full(6, np.nan), reference)]
    done, found, _ = cycled(program, tmp_path / 'loops', 0.0, 1e-3, (), states)
    assert done.all() and np.abs(found).max() < 10.0  # N m; a turn would take 149
    dynamics = ConstrainedDynamics(model)
    tracker = LoopTracker(dynamics)
    q = tracker.update(position).q
    want = np.zeros(model.nv)
    held = dynamics.inverse(q, want, want).tau
    at_v = [model.joint(name).vi for name in tracker.measured]
    np.testing.assert_allclose(found[0], held[at_v], rtol=1e-6, atol=1e-6)


@HOST
def test_loops_start_on_the_assembly_that_is_asked_for(program, tmp_path):
    """As loop_state_publisher does with the same text, and with none."""
    model = load_model(config_file('five_bar.yaml'))
    write_loops(tmp_path / 'loops', model, order=1)
    dynamics, position, zero = ConstrainedDynamics(model), np.array([2.0, 1.1]), np.zeros(model.nv)
    free = next(joint for joint in model.joint_list
                if joint.name not in LoopTracker(dynamics).measured and joint.type_name != 'fixed')
    found = []
    for value in (-2.0, 2.0):
        start = model.neutral()
        start[free.qi] = value
        tracker = LoopTracker(dynamics, start=start)
        q = tracker.update(position).q
        at_v = [model.joint(name).vi for name in tracker.measured]
        states = np.concatenate((position, np.zeros(2), np.full(6, np.nan)))[None]
        _, given, log = cycled(program, tmp_path / 'loops', 0.0, 1e-3, (), states,
                               start=f'{free.name}:={value}')
        np.testing.assert_allclose(
            given[0], dynamics.inverse(q, zero, zero).tau[at_v], rtol=1e-6, atol=1e-6)
        assert f'{free.name} ' in log
        found.append(given[0])
    assert np.abs(found[0] - found[1]).max() > 0.1
    rows = states.repeat(3, axis=0)
    rows[1, 1] = np.nan
    done, _, log = cycled(program, tmp_path / 'loops', 0.0, 1e-3, (), rows)
    assert done.tolist() == [True, False, True] and f'state: {tracker.measured[1]}: ' in log
    done = manager(program, tmp_path / 'loops', 0.0, 1e-3, (), states, start='knee')
    assert done.returncode == 3 and 'start: expected joint:=position' in done.stderr.decode()


@HOST
def test_a_platform_needs_a_home_and_says_where_it_is(program, tmp_path):
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    write_platform(tmp_path / 'platform', geometry)
    lengths = leg_lengths(geometry, SE3.from_rotation_translation(
        SO3.from_rpy(0.0, 0.0, 0.0), [0.0, 0.0, 0.5]).matrix)
    states = np.concatenate((lengths, np.zeros(6), np.full(18, np.nan)))[None]
    done = manager(program, tmp_path / 'platform', 0.0, 1e-3, (), states)
    assert done.returncode == 3 and 'home: expected x, y, z' in done.stderr.decode()
    _, _, log = cycled(program, tmp_path / 'platform', 0.0, 1e-3, (), states, home='0,0,0.5')
    assert 'platform at ' in log and '0.5 m' in log
    states = states.repeat(3, axis=0)
    states[1, 2] = np.nan
    done, _, log = cycled(program, tmp_path / 'platform', 0.0, 1e-3, (), states, home='0,0,0.5')
    assert done.tolist() == [True, False, True] and f'state: {geometry.leg_names[2]}: ' in log
    states[1, 2] = 9.0  # the others do not reach there: no pose, and no effort of a wrong one
    done, _, _ = cycled(program, tmp_path / 'platform', 0.0, 1e-3, (), states, home='0,0,0.5')
    assert done.tolist() == [True, False, True]
    states[0, 0] *= 9.0  # one leg, which the others do not reach
    states = states[:1]
    done = manager(program, tmp_path / 'platform', 0.0, 1e-3, (), states, home='0,0,0.5')
    assert done.returncode == 5 and '`home`' in done.stderr.decode()


@HOST
def test_the_efforts_of_what_touches_an_arm_are_exported(program, tmp_path):
    """As Python's observer has them; an arm that stays off its goal is held there by them."""
    model = load_model(example_robot('ur_description/urdf/ur5_robot.urdf'))
    write_model(tmp_path / 'arm', model)
    dynamics, observer, period = Dynamics(model), MomentumObserver(Dynamics(model)), 1e-3
    q, v = np.random.default_rng(7).normal(size=(2, 50, 6))
    states = np.concatenate((q, v, np.full((50, 18), np.nan)), axis=1)
    _, given, found, _ = exporting(program, tmp_path / 'arm', 0.0, period, (), states)
    before = np.vstack((np.zeros(6), given[:-1]))
    want = [observer(*row, period) for row in zip(q, v, before)]
    np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())
    still = np.concatenate((q[0], np.zeros(6), np.full(18, np.nan)))[None].repeat(500, axis=0)
    still[1:, :6] += 0.01
    _, given, found, _ = exporting(program, tmp_path / 'arm', 0.0, period, (), still)
    weight = dynamics.inverse(still[1, :6], np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(found[-1], weight - given[-1], rtol=1e-6)


@HOST
@pytest.mark.parametrize('machine', ['five-bar', 'platform'])
def test_the_efforts_of_what_touches_loops_and_platforms_are_exported(program, tmp_path, machine):
    """As Python's observer has them on the way, up to the period squared."""
    period, time = 1e-3, 1e-3 * np.arange(200)
    if machine == 'five-bar':
        model = load_model(config_file('five_bar.yaml'))
        write_loops(tmp_path / 'model', model, order=1)
        tracker = LoopTracker(robot := ConstrainedDynamics(model))
        at = np.array([2.0, 1.1]) + 0.2 * np.sin(np.outer(time, [3.0, 5.0]))
        rates = 0.2 * np.array([3.0, 5.0]) * np.cos(np.outer(time, [3.0, 5.0]))
        samples = [tracker.update(*row)[:2] for row in zip(at, rates)]
        names, home = tracker.measured, '-'
    else:
        geometry = load_geometry(config_file('stewart_geometry.yaml'))
        write_platform(tmp_path / 'model', geometry)
        robot, names = ConstrainedDynamics(platform_model(geometry)), geometry.leg_names
        twist = np.array([0.5, -0.8, 1.0, 0.1, 0.05, -0.1])
        poses = [(SE3.from_rotation_translation(SO3.from_rpy(0.0, 0.0, 0.0), [0.0, 0.0, 0.5])
                  @ SE3.exp(each * twist)).matrix for each in time]
        at = np.array([leg_lengths(geometry, pose) for pose in poses])
        rates = np.array([leg_rates(geometry, pose, twist) for pose in poses])
        samples, home = [model_state(geometry, pose, twist) for pose in poses], '0,0,0.5'
    observer, places = MomentumObserver(robot, by=names), [
        robot.model.joint(name).vi for name in names]
    states = np.concatenate((at, rates, np.full((200, 3 * len(names)), np.nan)), axis=1)
    done, given, found, _ = exporting(
        program, tmp_path / 'model', 0.0, period, (), states, home=home)
    assert done.all()
    want, tau = [], np.zeros(robot.model.nv)
    for (q, v), row in zip(samples, given):
        want.append(observer(q, v, tau, period))
        tau[places] = row
    np.testing.assert_allclose(found, want, atol=2e-3 * np.abs(want).max())


@HOST
@pytest.mark.parametrize('rates', [False, True])
def test_the_pose_of_a_platform_is_exported_and_published(program, tmp_path, rates):
    """A sample without numbers has no pose, and the next has one again."""
    geometry, period = load_geometry(config_file('stewart_geometry.yaml')), 1e-3
    write_platform(tmp_path / 'platform', geometry)
    twist = np.array([0.2, -0.3, 0.4, 0.05, 0.02, -0.03])
    home = SE3.from_rotation_translation(SO3.from_rpy(0.0, 0.0, 0.0), [0.0, 0.0, 0.5])
    poses = [(home @ SE3.exp(period * k * twist)).matrix for k in range(300)]
    states = np.array([leg_lengths(geometry, pose) for pose in poses])
    if rates:
        states = np.concatenate(
            (states, [leg_rates(geometry, pose, twist) for pose in poses]), axis=1)
    states[100] = np.nan
    done, _, found, log = exporting(
        program, tmp_path / 'platform', float(rates), period, (), states, home='0,0,0.5',
        plugin='platform_pose_broadcaster')
    assert done.all() and np.isnan(found[100]).all()
    kept = np.delete(np.arange(300), [0, 100])  # it was restarted in the first cycle
    want = np.array([[*pose[:3, 3], *SO3(pose[:3, :3]).quaternion] for pose in poses])
    np.testing.assert_allclose(found[kept, :7], want[kept], atol=1e-9)
    np.testing.assert_allclose(found[200:, 7:13], twist[None].repeat(100, axis=0), atol=1e-6)
    assert (found[200:, 13] == 0.0).all()
    texts = log.splitlines()
    assert sum(text.startswith('~/pose stewart_base 0.49') for text in texts) > 200
    last = next(text.split() for text in reversed(texts) if text.startswith('~/status 0 0 '))
    least = [PoseSolver(geometry).solve(leg_lengths(geometry, pose), pose).smallest_singular_value
             for pose in poses[-2:]]
    falls = (least[0] - least[1]) / period
    np.testing.assert_allclose(float(last[3]), (least[1] - SINGULARITY_WARNING) / falls, rtol=1e-2)
    refused, = (text for text in texts if text.startswith('~/status 4 '))
    assert 'NaN' in refused
    _, _, found, _ = exporting(
        program, tmp_path / 'platform', float(rates), 0.0, (), states, home='0,0,0.5',
        plugin='platform_pose_broadcaster')
    np.testing.assert_array_equal(found[1:], found[1][None].repeat(299, axis=0))  # time stands
    none = manager(program, tmp_path / 'platform', 0.0, period, (), states,
                   plugin='platform_pose_broadcaster')
    assert none.returncode == 3 and 'home: expected x, y, z' in none.stderr.decode()
