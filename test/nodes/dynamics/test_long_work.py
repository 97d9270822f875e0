# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Work that takes long: it has a bound, tells its progress, ends when asked, and blocks nobody."""

from contextlib import closing
import math
import signal
from threading import Event

from action_msgs.msg import GoalStatus, GoalStatusArray
from geometry_msgs.msg import Twist
from liedyn_interfaces.action import Linearize as LinearizeAction
from liedyn_interfaces.srv import DescribeModel, EquationsOfMotion, Linearize
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
import pytest
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_action_status_default
from std_msgs.msg import String
from support import forked
from support.bench.command_lines import NODES
from support.bench.dynamics_bench import AERIAL, Motion, SERVER, ServerBench, vector

from benchmarks.processes import held_segments
from liedyn_ros.commands.operation.shared_memory import left_over, SHARED_MEMORY
from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.dynamics import linear_models
from liedyn_ros.nodes.dynamics import server as server_module
from liedyn_ros.nodes.dynamics.machines import read_machine
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.ros.node import goals
from liedyn_ros.ros.qos import LATCHED

pytestmark = pytest.mark.ros


def spinning():
    """Return a request of hours: the flying base at 1000 rad/s over 10 s."""
    state = Motion(AERIAL).state()
    state.base_twist = Twist(angular=vector((1000.0, 0.0, 0.0)))
    return {'states': [state], 'step': 10.0, 'follow_motion': True}


class Client:
    """An action client of the server's partner."""

    def __init__(self, server):
        """Find the action."""
        self.bench, self.feedback = server.bench, []
        self.client = ActionClient(self.bench.partner, LinearizeAction, f'{SERVER}/linearize')
        self.bench.until(self.client.server_is_ready, 'the action')

    def close(self):
        """Leave."""
        self.client.destroy()

    def send(self, **goal):
        """Return the handle of a goal, accepted or not."""
        return self._wait(self.client.send_goal_async(
            LinearizeAction.Goal(**goal),
            lambda message: self.feedback.append(message.feedback)), 'the answer to a goal')

    def send_and_hear(self, **goal):
        """Return the handle of a goal that is being worked on."""
        handle = self.send(**goal)
        self.bench.until(lambda: self.feedback, 'feedback')
        return handle

    def result(self, handle):
        """Return status and result of a goal."""
        found = self._wait(handle.get_result_async(), 'the result of a goal')
        return found.status, found.result

    def cancel(self, handle):
        """Cancel a goal."""
        assert self._wait(handle.cancel_goal_async(), 'a cancel').goals_canceling

    def _wait(self, future, what):
        self.bench.until(future.done, what)
        return future.result()


@pytest.fixture
def server(bench):
    """Return a server of the flying base with two arms."""
    return ServerBench(bench, model_file=AERIAL.name)


@pytest.fixture
def client(server):
    """Return a client of its action."""
    with closing(Client(server)) as client:
        yield client


def assert_answers(server):
    """Everything but the long work is answered."""
    name = 'aerial_manipulator'
    assert server.call(DescribeModel, 'describe_model').name == name
    assert server.call(EquationsOfMotion, 'equations_of_motion', state=Motion(AERIAL).state()
                       ).success
    assert server.configure(dissipation=False).successful
    assert server.call(GetParameters, 'get_parameters', names=['dissipation']).values
    assert server.call(GetState, 'get_state').current_state.id == State.PRIMARY_STATE_ACTIVE
    x = Motion(AERIAL, dissipation=False)
    x.found(server.ask('inverse_dynamics', x.query()))


@pytest.mark.parametrize(('bound', 'value', 'reason'), [
    ('MAX_EVALUATIONS', 100, 'states[0]: expected at most 100 evaluations of motion, got more'),
    ('MAX_SECONDS', 0.1, 'states[0]: expected at most 0.1 s of work, got 0.')])
def test_a_request_has_a_bound(server, monkeypatch, bound, value, reason):
    monkeypatch.setattr(linear_models, bound, value)
    response = server.call(Linearize, 'linearize', **spinning())
    assert not response.success
    assert reason in response.message
    assert response.message.endswith('; a goal of the action linearize may take more')
    assert not response.models


def test_models_that_are_too_large_are_refused(bench, monkeypatch):
    monkeypatch.setattr(linear_models, 'MAX_LINEAR_COORDINATES', 11)
    server, state = ServerBench(bench, model_file=AERIAL.name), Motion(AERIAL).state()
    message = server.call(Linearize, 'linearize', states=[state]).message
    assert 'model: expected at most 11 velocity coordinates for linear models, got 12' in message
    monkeypatch.setattr(linear_models, 'MAX_LINEAR_COORDINATES', 12)
    monkeypatch.setattr(linear_models, 'MAX_MATRIX_NUMBERS', 6 * 12 * 12 * 2 + 1)
    assert server.call(Linearize, 'linearize', states=[state] * 2).success
    message = server.call(Linearize, 'linearize', states=[state] * 3).message
    assert 'states: expected 1 to 2, got 3' in message


def test_all_else_is_answered_during_a_request_which_ends_with_the_active_state(
        server, monkeypatch):
    monkeypatch.setattr(linear_models, 'MAX_EVALUATIONS', math.inf)
    monkeypatch.setattr(linear_models, 'MAX_SECONDS', math.inf)
    client = server.bench.partner.create_client(Linearize, f'{SERVER}/linearize')
    server.bench.until(client.service_is_ready, 'the service')
    assert server.call(Linearize, 'linearize', states=spinning()['states']).success
    future = client.call_async(Linearize.Request(**spinning()))
    assert_answers(server)
    assert not future.done()
    server.node.trigger_deactivate()
    server.bench.until(future.done, 'the end of the request')
    assert future.result().message.endswith('expected the node to be active, got inactive')


def test_a_goal_tells_its_progress_and_can_be_cancelled(server, client):
    handle = client.send_and_hear(**spinning())
    assert_answers(server)
    client.bench.until(lambda: client.feedback[-1].progress > 0.0, 'progress')
    client.cancel(handle)
    status, result = client.result(handle)
    assert (status, result.success) == (GoalStatus.STATUS_CANCELED, False)
    assert result.message == 'states[0]: cancelled'
    assert 0.0 < client.feedback[-1].progress < 1.0
    assert client.feedback[-1].elapsed > 0.0


def test_a_goal_has_the_result_of_a_request(server, client):
    request = {'states': [Motion(AERIAL, seed).state() for seed in range(3)], 'step': 0.01,
               'follow_motion': True}
    status, result = client.result(client.send(**request))
    assert (status, result.message) == (GoalStatus.STATUS_SUCCEEDED, '')
    wanted = server.call(Linearize, 'linearize', **request)
    assert result.models == wanted.models
    assert (result.header, result.coordinate_names) == (wanted.header, wanted.coordinate_names)


@pytest.mark.parametrize(('limit', 'reason'), [
    (0.2, 'expected at most 0.2 s of work, got 0.'), (-1.0, 'time_limit: expected 0 to 86400 s'),
    (1e5, 'time_limit: expected 0 to 86400 s'), (math.nan, 'time_limit: expected 0 to 86400 s')])
def test_a_goal_has_a_bound_of_time(client, limit, reason):
    status, result = client.result(client.send(time_limit=limit, **spinning()))
    assert (status, result.success) == (GoalStatus.STATUS_ABORTED, False)
    assert reason in result.message


@pytest.mark.full
def test_a_small_goal_waits_for_no_large_ones_and_too_many_are_rejected(client, monkeypatch):
    """Behind as many large ones as are worked on side by side it waited for hours."""
    monkeypatch.setattr(goals, 'MAX_WAITING_GOALS', 1)
    large = [client.send(**spinning()) for _ in range(server_module.MAX_CONCURRENT + 1)]
    assert all(goal.accepted for goal in large)
    assert not client.send(**spinning()).accepted
    for _ in range(2):
        small = client.send(states=spinning()['states'])
        assert client.result(small)[0] == GoalStatus.STATUS_SUCCEEDED
    for goal in large:
        client.cancel(goal)
    assert {client.result(goal)[0] for goal in large} == {GoalStatus.STATUS_CANCELED}


def test_a_small_request_does_not_wait_for_large_ones(server, monkeypatch):
    """It took 47 s behind five: they were answered one after the other."""
    monkeypatch.setattr(linear_models, 'MAX_EVALUATIONS', math.inf)
    monkeypatch.setattr(linear_models, 'MAX_SECONDS', math.inf)
    client = server.bench.partner.create_client(Linearize, f'{SERVER}/linearize')
    server.bench.until(client.service_is_ready, 'the service')
    assert server.call(Linearize, 'linearize', states=spinning()['states']).success
    large = [client.call_async(Linearize.Request(**spinning())) for _ in range(5)]
    assert server.call(Linearize, 'linearize', states=spinning()['states']).success
    assert not any(each.done() for each in large)
    server.node.trigger_deactivate()
    for each in large:
        server.bench.until(each.done, 'the end of a request')


def test_a_goal_ends_when_its_client_leaves(server):
    statuses = server.bench.collect(
        GoalStatusArray, f'{SERVER}/linearize/_action/status', qos_profile_action_status_default)
    with closing(Client(server)) as client:
        client.send_and_hear(**spinning())
    server.bench.until(lambda: statuses and statuses[-1].status_list[-1].status
                       == GoalStatus.STATUS_ABORTED, 'the end of the goal')


def test_a_process_ends_during_a_goal(bench, namespace):
    with forked.start(
            '-c', f'from {NODES[SERVER]} import main; main()', '--ros-args', '-r',
            f'__ns:={namespace}', '-p', f'model_file:={AERIAL.name}') as process:
        bench.until(lambda: bench.partner.count_services(
            f'{namespace}/{SERVER}/describe_model'), 'the server')
        bench.until(lambda: bench.call(
            DescribeModel, f'{SERVER}/describe_model').success, 'its model')
        server = type('Remote', (), {'bench': bench})
        with closing(Client(server)) as client:
            client.send_and_hear(**spinning())
            held = held_segments(process.pid)
            process.send_signal(signal.SIGTERM)
            code = process.wait()  # of hours of work
        output = ''.join(process.read())
    assert code == 0, output
    assert 'Traceback' not in output
    assert held.isdisjoint(left_over(SHARED_MEMORY))


@pytest.fixture
def bare(bench):
    """Return a server without a model."""
    return ServerBench(bench)


@pytest.fixture
def held(monkeypatch):
    """Return an event without which no machine is read."""
    event = Event()

    def read(*arguments):
        event.wait()
        return read_machine(*arguments)

    monkeypatch.setattr(server_module, 'read_machine', read)
    yield event
    event.set()


def test_all_else_is_answered_while_a_parameter_names_a_model_to_be_read(server, held):
    bench = server.bench
    client = bench.partner.create_client(SetParameters, f'{SERVER}/set_parameters')
    bench.until(client.service_is_ready, 'the service')
    five_bar = str(config_file('five_bar.yaml'))
    future = client.call_async(SetParameters.Request(parameters=[
        Parameter(name, value=value).to_parameter_msg()
        for name, value in (('model_file', five_bar), ('dissipation', False))]))
    for _ in range(3):
        assert server.call(DescribeModel, 'describe_model').name == 'aerial_manipulator'
        assert server.call(GetState, 'get_state').current_state.id == State.PRIMARY_STATE_ACTIVE
    assert not future.done()
    held.set()
    bench.until(future.done, 'the parameters')
    assert [result.successful for result in future.result().results] == [True, True]
    assert server.call(GetParameters, 'get_parameters', names=['model_file']
                       ).values[0].string_value == five_bar


def test_all_else_is_answered_while_a_description_is_read_and_the_newest_counts(bare, held):
    server, bench = bare, bare.bench
    publisher = bench.publisher(String, 'robot_description', LATCHED)
    bench.until(publisher.get_subscription_count, 'the server')
    for name in ('first', 'second'):
        publisher.publish(String(data=f'<robot name="{name}"><link name="a"/></robot>'))
        for _ in range(3):
            assert not server.call(DescribeModel, 'describe_model').success
    held.set()
    bench.until(lambda: server.call(DescribeModel, 'describe_model').name == 'second',
                'the newest description')


class Starting(ServerBench):
    """A server that has not started yet."""

    def __init__(self, bench, **parameters):
        """Start the server and do not wait for it."""
        self.bench, self.node = bench, bench.add(DynamicsServerNode, **parameters)


def test_all_else_is_answered_while_a_manager_lets_a_node_read_its_model(bench, held):
    server = Starting(bench, model_file=AERIAL.name, autostart=False)
    future = bench.begin_to_configure(server.node)
    for _ in range(3):
        assert not server.call(DescribeModel, 'describe_model').success
        assert server.configure(dissipation=True).successful
        state = server.call(GetState, 'get_state').current_state.id
        assert state == State.PRIMARY_STATE_UNCONFIGURED
    held.set()
    bench.until(future.done, 'a configured node')
    assert future.result().success
    server.node.trigger_activate()
    bench.until(lambda: server.call(DescribeModel, 'describe_model').success, 'the model')


def test_a_request_waits_for_a_node_that_starts_itself_and_all_else_is_answered(bench, held):
    server = Starting(bench, model_file=AERIAL.name, autostart=True)
    client = bench.partner.create_client(DescribeModel, f'{SERVER}/describe_model')
    bench.until(client.service_is_ready, 'the service')
    asked = client.call_async(DescribeModel.Request())
    for _ in range(3):
        assert server.configure(dissipation=True).successful
        state = server.call(GetState, 'get_state').current_state.id
        assert state == State.PRIMARY_STATE_UNCONFIGURED
    assert not asked.done()
    held.set()
    bench.until(asked.done, 'the description')
    assert asked.result().success
