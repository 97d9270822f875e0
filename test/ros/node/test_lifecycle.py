# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Both nodes as managed nodes: every transition through the services that drive them."""

import gc
import subprocess
import sys

from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from support import forked
from support.bench.pose_bench import NEAR, ns, PoseBench

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.stewart.pose import node as stewart_pose
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode
from liedyn_ros.ros.node import lifecycle
from liedyn_ros.ros.node.lifecycle import ManagedNode, MAX_KINDS, StepWatch

pytestmark = pytest.mark.ros
NODES = {'stewart_pose': StewartPoseNode, 'stewart_simulator': StewartSimulatorNode}


class Plain(ManagedNode):
    """A node that does nothing."""

    def __init__(self, **options):
        """Start."""
        super().__init__('plain', (), **options)


def change(bench, transition, node='stewart_pose'):
    """Ask for a transition and return whether it was made."""
    return bench.call(ChangeState, f'{node}/change_state',
                      transition=Transition(id=transition)).success


def state(bench, node='stewart_pose'):
    return bench.call(GetState, f'{node}/get_state').current_state.id


@pytest.mark.parametrize('name', NODES)
def test_a_manager_takes_the_node_through_its_life_twice(bench, name):
    bench.start(NODES[name], autostart=False)
    for _ in range(2):
        assert state(bench, name) == State.PRIMARY_STATE_UNCONFIGURED
        assert change(bench, Transition.TRANSITION_CONFIGURE, name)
        assert state(bench, name) == State.PRIMARY_STATE_INACTIVE
        assert change(bench, Transition.TRANSITION_ACTIVATE, name)
        assert state(bench, name) == State.PRIMARY_STATE_ACTIVE
        assert change(bench, Transition.TRANSITION_DEACTIVATE, name)
        assert state(bench, name) == State.PRIMARY_STATE_INACTIVE
        assert change(bench, Transition.TRANSITION_CLEANUP, name)
    assert change(bench, Transition.TRANSITION_UNCONFIGURED_SHUTDOWN, name)
    assert state(bench, name) == State.PRIMARY_STATE_FINALIZED


def test_a_transition_that_the_state_does_not_have_is_refused_and_the_node_lives(bench):
    node = bench.start(Plain)
    for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP, 77):
        assert not change(bench, transition, 'plain')
        assert state(bench, 'plain') == State.PRIMARY_STATE_ACTIVE
    assert node.trigger_configure() is TransitionCallbackReturn.ERROR
    bench.until_logged(node, 'transition', LoggingSeverity.ERROR)
    assert change(bench, Transition.TRANSITION_DEACTIVATE, 'plain')


def test_the_clock_is_read_as_rclpy_reads_it_by_either_time(bench):
    node = bench.start(StewartPoseNode)
    for simulated in (False, True, False):
        assert bench.set_parameters(node, use_sim_time=simulated)[0].successful
        assert node.time_is_simulated() == simulated
        before, now_ns = node.get_clock().now().nanoseconds, node.now_ns()
        assert before <= now_ns <= node.get_clock().now().nanoseconds
        assert (now_ns == 0) == simulated  # no /clock has come


@pytest.mark.parametrize('name', NODES)
def test_an_active_node_can_be_shut_down(bench, name):
    bench.start(NODES[name])
    assert change(bench, Transition.TRANSITION_ACTIVE_SHUTDOWN, name)
    assert state(bench, name) == State.PRIMARY_STATE_FINALIZED


@pytest.mark.parametrize('name', NODES)
def test_an_error_of_activate_is_reported_and_leaves_the_node_inactive(bench, monkeypatch, name):
    def fail(self):
        raise RuntimeError('no more threads')

    with monkeypatch.context() as patch:
        patch.setattr(NODES[name], 'activate', fail)
        node = bench.start(NODES[name])
        bench.until_logged(node, 'not activated: no more threads')
    assert 'Traceback' in bench.logged(node)[0]
    assert not node.active
    assert state(bench, name) == State.PRIMARY_STATE_INACTIVE
    assert change(bench, Transition.TRANSITION_ACTIVATE, name)
    assert node.active


def test_cleanup_closes_what_configure_opened(bench):
    node = bench.start(StewartPoseNode, autostart=False)
    before = interfaces_of(node)
    assert change(bench, Transition.TRANSITION_CONFIGURE)
    during = interfaces_of(node)
    assert change(bench, Transition.TRANSITION_CLEANUP)
    assert interfaces_of(node) == before
    assert during - before - {'/tf'} == {  # which is opened where tf2_ros is installed
        '/diagnostics', *(f'{node.get_namespace()}/{name}' for name in (
            'pose', 'twist', 'pose_with_covariance', 'twist_with_covariance', 'odometry', 'status',
            'markers', 'leg_states', 'stewart_pose/solve',
            'stewart_pose/inverse_kinematics', 'stewart_pose/predict', 'stewart_pose/reset',
            'stewart_pose/confirm',
            'stewart_pose/assembly_modes', 'stewart_pose/prove_path'))}


def test_a_configuration_that_fails_late_leaves_nothing_open(bench, monkeypatch):
    def fail(*_):
        raise LiedynError('no modes today')

    node = bench.start(StewartPoseNode, autostart=False)
    before = sorted(open_in(node))
    monkeypatch.setattr(stewart_pose, 'StewartModes', fail)
    assert not change(bench, Transition.TRANSITION_CONFIGURE)
    bench.until_logged(node, 'not configured: no modes today')
    assert sorted(open_in(node)) == before


def interfaces_of(node):
    """Return the topics and services that a node has open."""
    return set(open_in(node))


def open_in(node):
    """Return the name of each topic and service of a node, as often as it is open."""
    return [*(entity.topic_name for entity in (*node.publishers, *node.subscriptions)),
            *(service.service_name for service in node.services)]


def test_only_an_active_node_publishes(bench):
    node = PoseBench(bench).settle()
    assert change(bench, Transition.TRANSITION_DEACTIVATE)
    stream = node.node._stream
    taken = stream.taken
    ignored = node.send_pose(NEAR, wait=False)
    bench.until(lambda: stream.taken > taken, 'the sample to be taken')
    assert change(bench, Transition.TRANSITION_ACTIVATE)
    tracked = node.send_pose(NEAR)
    node.pose_at(tracked), node.status_at(tracked)
    assert len(node.poses) == len(node.statuses) == 1
    assert ignored != tracked


def test_tracking_goes_on_after_a_second_configuration(bench):
    node = PoseBench(bench).settle()
    for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP,
                       Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        assert change(bench, transition)
    node.settle()
    node.pose_at(node.send_pose(NEAR))


def test_the_simulator_starts_again_when_activated_again(bench):
    poses = bench.collect(PoseStamped, 'true_pose')
    bench.start(StewartSimulatorNode, rate=200.0, rise_time=0.01)
    bench.until(lambda: poses and abs(poses[-1].pose.position.x) > 0.005, 'a pose off home')
    assert change(bench, Transition.TRANSITION_DEACTIVATE, 'stewart_simulator')
    again_ns = bench.partner.get_clock().now().nanoseconds
    assert change(bench, Transition.TRANSITION_ACTIVATE, 'stewart_simulator')
    bench.until(lambda: ns(poses[-1]) > again_ns, 'a pose of the new motion')
    first = next(pose for pose in poses if ns(pose) > again_ns)
    assert abs(first.pose.position.x) < 1e-12


def test_kinds_that_are_no_constants_fill_neither_log_nor_memory(bench, monkeypatch):
    """They share one; those before them are told apart as ever."""
    node = bench.start(StewartSimulatorNode, autostart=False)  # logs nothing of its own
    monkeypatch.setattr(lifecycle, 'LOG_PERIOD', 0.0)
    monkeypatch.setattr(lifecycle, 'WAIT_PERIOD', 1e6)
    node.complain('a leg', 'legs')
    for k in range(5 * MAX_KINDS):
        node.wait_for(f'sample {k}', f'sample {k}')
    node.complain('the same leg', 'legs')
    bench.until_logged(node, 'the same leg')
    warnings = bench.logged(node, LoggingSeverity.WARN)
    assert warnings == [f'sample {k}' for k in range(MAX_KINDS)]
    assert len(node._quiet_until) == MAX_KINDS + 1


def test_a_fault_that_goes_on_is_logged_less_often(bench, monkeypatch):
    node, now = bench.start(StewartSimulatorNode, autostart=False), [0.0]
    monkeypatch.setattr(lifecycle.time, 'monotonic', lambda: now[0])
    logged = []
    for k in range(6000):  # tenths of a second, and none for two minutes from the fifth
        now[0] = 0.1 * k
        if not 3000 <= k < 4200 and node._is_due('legs', lifecycle.LOG_PERIOD):
            logged.append(round(now[0]))
    assert np.diff(logged)[:7].tolist() == [1, 2, 4, 8, 16, 32, 60]
    assert logged[logged.index(420):][:3] == [420, 421, 423]


@pytest.mark.parametrize('number', ['SIGINT', 'SIGTERM'])
@pytest.mark.parametrize(('method', 'ends'), [('configure', False), ('work', True)])
def test_an_interrupt_ends_the_start_at_once_but_no_callback(namespace, number, method, ends):
    """An exception in the middle of a callback could come out as any other."""
    code = f"""
import os, signal
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process.run import run

def interrupted(self):
    os.kill(os.getpid(), signal.{number})
    sum(range(10))
    print('went on')

class Node(ManagedNode):
    configure = work = lambda self: None

    def __init__(self):
        super().__init__('node', ())
        self.create_timer(0.01, self.work)

Node.{method} = interrupted
run(Node, ['--ros-args', '-r', '__ns:={namespace}'])
"""
    result = forked.run('-c', code)
    assert (result.returncode, 'Traceback' in result.stderr) == (0, False), result.stderr
    assert ('went on' in result.stdout) == ends


def test_an_interrupt_in_a_transition_is_no_error_of_it(namespace):
    """What opens a topic then finds that ROS has ended."""
    code = f"""
import os, signal
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process.run import run
from std_msgs.msg import Empty

class Node(ManagedNode):
    def __init__(self):
        super().__init__('node', ())
        self.create_timer(0.01, self.trigger_configure)

    def configure(self):
        os.kill(os.getpid(), signal.SIGINT)
        print('went on')
        self.open_publisher(Empty, 'late')
        print('never')

run(Node, ['--ros-args', '-r', '__ns:={namespace}', '-p', 'autostart:=false'])
"""
    result = forked.run('-c', code)
    assert (result.returncode, result.stdout) == (0, 'went on\n'), result.stderr
    assert not any(word in result.stderr for word in ('Traceback', 'not configured'))


def test_more_interrupts_than_one_do_no_harm(namespace):
    """While the node is destroyed, when Python ends, and when it has nearly ended."""
    code = f"""
import os, signal, sys
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process.run import run

def interrupt(*_, kill=os.kill, own=os.getpid(), number=signal.SIGINT):
    kill(own, number)

class Node(ManagedNode):
    configure = lambda self: None

    def __init__(self):
        super().__init__('node', ())
        self.create_timer(0.01, interrupt)

    def destroy_node(self):
        interrupt()
        super().destroy_node()

class Last:
    __del__ = interrupt

sys.last = Last()  # of what is deleted late
run(Node, ['--ros-args', '-r', '__ns:={namespace}'])
interrupt()
"""
    result = forked.run('-c', code)
    assert (result.returncode, result.stderr.count('Traceback')) == (0, 0), result.stderr


def test_a_composed_node_leaves_the_garbage_of_its_process_alone(bench, monkeypatch):
    collected = []
    monkeypatch.setattr(gc, 'collect', lambda: collected.append('collect'))
    frozen, enabled = gc.get_freeze_count(), gc.isenabled()
    assert bench.start(Plain).active
    assert (gc.get_freeze_count(), gc.isenabled(), collected) == (frozen, enabled, [])


def test_a_process_of_one_node_freezes_its_objects(namespace):
    code = f"""
import gc
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process.run import run

class Node(ManagedNode):
    def __init__(self):
        super().__init__('node', ())

    def activate(self):
        print(gc.get_freeze_count() > 10 * len(gc.get_objects()))
        raise KeyboardInterrupt

run(Node, ['--ros-args', '-r', '__ns:={namespace}'])
"""
    result = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, 'True\n'), result.stderr


HOUR_NS, PERIOD_NS = 3600 * 1_000_000_000, 20_000_000


@pytest.fixture
def stepped(bench):
    """Return a function that moves the clock by so many ns, and returns which timers were set."""
    node = bench.adopt(Node('stepped', context=bench.partner.context))
    looks = []

    class Timer:

        timer_period_ns = PERIOD_NS

        def __init__(self, name, canceled):
            self.name, self.is_canceled, self.left_ns = name, lambda: canceled, PERIOD_NS // 2
            self.canceled, self.set_again = canceled, 0

        def time_until_next_call(self):
            return None if self.canceled else self.left_ns

        def reset(self):
            self.left_ns, self.set_again = PERIOD_NS, self.set_again + 1

    timers = [Timer('running', False), Timer('at rest', True)]

    class Watched:

        def create_timer(self, period, look, clock):
            return node.create_timer(period, lambda: looks.append(look()), clock=clock)

    Watched.timers = timers
    StepWatch(Watched())

    def step(by_ns):
        for timer in timers:
            timer.left_ns, timer.set_again = timer.left_ns - by_ns, 0
        seen = len(looks)
        bench.until(lambda: len(looks) > seen, 'a look at the timers')
        return [timer.name for timer in timers if timer.set_again]

    return step


@pytest.mark.parametrize('by_ns, timers', [
    (-HOUR_NS, ['running']), (-100_000_000, ['running']), (-1_000_000, []), (HOUR_NS, [])])
def test_timers_are_set_again_after_a_step_back(stepped, by_ns, timers):
    assert stepped(by_ns) == timers
    assert stepped(0) == []


def test_a_timer_that_was_armed_by_the_time_before_the_step_is_set_again(stepped):
    """As by a thread that serves it meanwhile, after the others were set."""
    for _ in range(2):
        assert stepped(-HOUR_NS) == ['running']


def test_every_node_looks(bench):
    class Plain(ManagedNode):

        def __init__(self, **options):
            super().__init__('plain', (), **options)

    node = bench.start(Plain)
    before = [timer.timer_period_ns for timer in node.timers]
    assert round(1e9 * lifecycle.TIMER_LOOK_PERIOD) in before
