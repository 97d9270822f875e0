# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The example node in C: its efforts are those of Dynamics, and it refuses incomplete messages."""

from contextlib import contextmanager
import os
import signal
import subprocess

import numpy as np
import pytest
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support import forked
from support.c_library.c_library import HOST, installed, project, ROOT, run
from support.machines.example_robots import example_robot
from support.machines.random_models import random_model
from support.scripts import running
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.export import write_loops, write_model
from liedyn_ros.model import load_model, ModelBuilder, SpatialInertia

pytestmark = [pytest.mark.ros, HOST, pytest.mark.full]
EXAMPLE = ROOT.parent / 'examples' / 'c_controller'
KP, KD = 100.0, 20.0
COLUMNS = 5  # of a row of cycles


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with the node, the watcher of its cycles, and the model file of an arm."""
    folder = tmp_path_factory.mktemp('c_controller')
    (folder / 'build').symlink_to(project(
        EXAMPLE, f'-DCMAKE_PREFIX_PATH={installed()}', '-DCMAKE_C_FLAGS=-Wall -Wextra -Werror'))
    run('gcc', '-O2', '-shared', '-fPIC', ROOT / 'test' / 'cycles.c', '-o', folder / 'cycles.so',
        '-ldl')
    write_model(folder / 'arm.liedyn', arm())
    return folder


def arm():
    """Return the model of a UR5."""
    return load_model(example_robot('ur_description/urdf/ur5_robot.urdf'))


def sliding():
    """Return the model of a joint with three coordinates, one for each number in q."""
    builder = ModelBuilder('sliding')
    builder.add_body('puck', SpatialInertia(1.0, np.zeros(3), np.eye(3)))
    builder.add_joint('table', 'planar', None, 'puck', axis=(0.0, 0.0, 1.0))
    return builder.build()


@contextmanager
def controller(bench, folder, tmp_path, *arguments):
    """Run the node in the namespace of a bench; see that it ends well, and allocated nothing."""
    environment = os.environ | {'LD_PRELOAD': str(folder / 'cycles.so'),
                                'LIEDYN_CYCLES': str(tmp_path / 'cycles')}
    command = [folder / 'build' / 'c_controller', folder / 'arm.liedyn', *arguments, '--ros-args',
               '-r', f'__ns:={bench.namespace}']
    with (tmp_path / 'log').open('w') as log, running(
            command, env=environment, stderr=log) as node:
        yield
    assert node.returncode == 0
    rows = np.fromfile(tmp_path / 'cycles', dtype=np.int64).reshape(-1, COLUMNS)
    assert len(rows) and not rows[:, 0].any()


def state_of(names, q, v):
    """Return a joint state with its joints in another order, and with one of another machine."""
    order = [*reversed(range(len(names)))]
    return JointState(name=['gripper', *(names[k] for k in order)], position=[0.5, *q[order]],
                      velocity=[0.0, *v[order]])


def near(command, efforts):
    """Return whether a command has these efforts."""
    return np.allclose(command, efforts, rtol=0.0, atol=1e-12 * max(1.0, np.abs(efforts).max()))


def test_efforts_are_those_of_python_beside_busy_loops(bench, folder, tmp_path):
    model, rng = arm(), np.random.default_rng(5)
    dynamics, names = Dynamics(model), list(model.coordinate_names)
    goal = rng.normal(size=(3, 6))
    reference = JointTrajectory(joint_names=names, points=[JointTrajectoryPoint(
        positions=goal[0], velocities=goal[1], accelerations=goal[2])])
    commands = bench.collect(Float64MultiArray, 'effort_controller/commands')
    states = bench.publisher(JointState, 'joint_states', qos_profile_sensor_data)
    references = bench.publisher(JointTrajectory, 'reference', qos_profile_sensor_data)
    allowed = []

    def require(state, efforts, *, follows):
        def act():
            if follows:
                references.publish(reference)
            states.publish(state)

        bench.until(lambda: commands and near(commands[-1].data, efforts), 'the efforts', act)

    def require_next(*, follows):
        q, v = rng.normal(size=(2, 6))
        a = goal[2] + KD * (goal[1] - v) + KP * (goal[0] - q)
        held, moved = dynamics.inverse(q, 0 * v, 0 * v), dynamics.inverse(q, v, a)
        allowed.extend([held, moved])
        require(state_of(names, q, v), moved if follows else held, follows=follows)

    with controller(bench, folder, tmp_path, '--kp', str(KP), '--kd', str(KD)):
        require_next(follows=False)  # it is there
        with forked.busy():
            for k in range(6):
                require_next(follows=k > 1)
    assert all(any(near(command.data, efforts) for efforts in allowed) for command in commands)


def test_efforts_are_in_the_order_of_the_controller(bench, folder, tmp_path):
    model = arm()
    names, q = list(model.coordinate_names), np.linspace(-1.0, 1.0, 6)
    efforts = Dynamics(model).inverse(q, np.zeros(6), np.zeros(6))
    commands = bench.collect(Float64MultiArray, 'effort_controller/commands')
    states = bench.publisher(JointState, 'joint_states', qos_profile_sensor_data)
    with controller(bench, folder, tmp_path, '--joints', names[2], names[1]):
        state = JointState(name=names, position=q)  # at rest no velocities are needed
        bench.until(lambda: commands, 'efforts', lambda: states.publish(state))
    assert near(commands[0].data, efforts[[2, 1]])


def test_incomplete_messages_are_refused_with_a_warning(bench, folder, tmp_path):
    names = list(arm().coordinate_names)
    commands = bench.collect(Float64MultiArray, 'effort_controller/commands')
    states = bench.publisher(JointState, 'joint_states', qos_profile_sensor_data)
    references = bench.publisher(JointTrajectory, 'reference', qos_profile_sensor_data)
    good = JointState(name=names, position=[0.1] * 6)
    with controller(bench, folder, tmp_path):
        bench.until(lambda: commands, 'efforts', lambda: states.publish(good))
        for publisher, message, told in (
                (states, JointState(name=names[1:], position=[0.0] * 5),
                 f"joint_states: expected joint '{names[0]}', got 5 other names"),
                (states, JointState(name=names, position=[0.0] * 5),
                 'joint_states: expected a position and a velocity for each joint'),
                (states, JointState(name=names, position=[0.0] * 5 + [np.nan]),
                 f"position of joint_states: expected a finite number for '{names[5]}', got nan"),
                (references, JointTrajectory(joint_names=names),
                 'reference: expected a point with a position for each joint')):
            bench.until(lambda told=told: told in (tmp_path / 'log').read_text(), told,
                        lambda publisher=publisher, message=message: publisher.publish(message))
    assert all(near(command.data, commands[0].data) for command in commands)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_where_no_message_came(bench, folder, number):
    states = bench.publisher(JointState, 'joint_states', qos_profile_sensor_data)
    with running([folder / 'build' / 'c_controller', folder / 'arm.liedyn', '--ros-args', '-r',
                  f'__ns:={bench.namespace}'], number) as node:
        bench.until(states.get_subscription_count, 'the node')
    assert node.returncode == 0


def test_wrong_arguments_are_told(folder, tmp_path):
    run('cmake', '--install', folder / 'build', '--prefix', tmp_path)  # it starts there, too
    program, model = tmp_path / 'lib' / 'c_controller' / 'c_controller', folder / 'arm.liedyn'
    write_model(tmp_path / 'flying.liedyn', random_model(0, 3, True))
    write_model(tmp_path / 'sliding.liedyn', sliding())
    write_loops(tmp_path / 'loops.liedyn', load_model(config_file('four_bar.yaml')), order=0)
    for arguments, told in (
            ([], 'expected MODEL'), ([tmp_path / 'none'], 'none: '),
            ([model, '--kp', '-1'], '--kp: expected a number of 0 or more'),
            ([tmp_path], 'the file cannot be read'),
            ([model, '--kd', ''], '--kd: expected a number of 0 or more'),
            ([tmp_path / 'loops.liedyn'], 'the model file is of another kind of machine'),
            ([tmp_path / 'sliding.liedyn'], ': expected joints of one coordinate each'),
            ([model, '--joints', 'elbow_joint', 'elbow_joint'], 'expected each joint once'),
            ([model, '--ros-args', 'joint_states:=/joints'], 'expected options of ROS, such as'),
            ([model, '--joints'], '--joints: expected names'), ([model, '--k'], '--k: expected'),
            ([model, '--joints', 'elbow'], 'elbow: expected a joint of the model that moves'),
            ([tmp_path / 'flying.liedyn'], 'expected 1 to 64 joints of one coordinate each')):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and told in done.stderr
