# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How the dynamics server starts: requests wait for it, and where that is long get the reason."""

from concurrent.futures import Future


from liedyn_interfaces.msg import DynamicsQuery
from liedyn_interfaces.srv import DescribeModel, Dynamics, EquationsOfMotion
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from support.bench.dynamics_bench import AERIAL, ALGORITHMS, Motion, SERVER, ServerBench

from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.ros.node import start

pytestmark = pytest.mark.ros
WAIT = 'expected the node to be active, got not configured yet: it is starting'


class SlowStart(ServerBench):
    """A server whose model is being read until `finish` is called."""

    def __init__(self, bench, monkeypatch, **parameters):
        """Start the server and do not wait for it."""
        self._read, read_ahead = Future(), DynamicsServerNode.read_ahead

        def slowly(node):
            return read_ahead(node) if self._read.done() else self._read

        monkeypatch.setattr(DynamicsServerNode, 'read_ahead', slowly)
        self.bench = bench
        self.node = bench.add(DynamicsServerNode, model_file=AERIAL.name, **parameters)

    def let_go(self):
        """Let the model be read."""
        if not self._read.done():
            self._read.set_result(None)

    def finish(self):
        """Let the model be read and wait until the node has started, or would not."""
        self.let_go()
        self.bench.until(lambda: not self.node.starting, 'the end of the start')

    def change(self, transition):
        """Return whether the server has made a transition."""
        return self.call(ChangeState, 'change_state', transition=Transition(id=transition)).success

    @property
    def state(self):
        """Return the state of its life."""
        return self.call(GetState, 'get_state').current_state.id


@pytest.fixture
def server(bench, monkeypatch):
    """Return a server that does not finish its start by itself."""
    server = SlowStart(bench, monkeypatch)
    yield server
    server.let_go()


@pytest.mark.smoke
def test_requests_wait_until_the_model_is_read(server):
    partner, query = server.bench.partner, Motion(AERIAL).query()
    clients = {name: partner.create_client(kind, f'{SERVER}/{name}') for kind, name in (
        *((Dynamics, name) for name in ALGORITHMS), (EquationsOfMotion, 'equations_of_motion'),
        (DescribeModel, 'describe_model'))}
    server.bench.until(lambda: all(
        client.service_is_ready() for client in clients.values()), 'the services')
    asked = [client.call_async(Dynamics.Request(query=query) if name in ALGORITHMS
                               else client.srv_type.Request()) for name, client in clients.items()]
    assert server.state == State.PRIMARY_STATE_UNCONFIGURED
    assert not any(future.done() for future in asked)
    server.finish()
    server.bench.until(lambda: all(future.done() for future in asked), 'answers')
    answers = [getattr(future.result(), 'answer', future.result()) for future in asked]
    assert not any('expected the node to be active' in answer.message for answer in answers)
    assert answers[list(clients).index('inverse_dynamics')].success
    assert server.state == State.PRIMARY_STATE_ACTIVE


def test_callers_get_the_reason_after_configure_timeout(bench, monkeypatch):
    server = SlowStart(bench, monkeypatch, configure_timeout=0.0)
    for algorithm in ALGORITHMS:
        answer = server.ask(algorithm, Motion(AERIAL).query())
        assert (answer.success, answer.message) == (False, f'dynamics_server: {WAIT}')
    for service, name in ((EquationsOfMotion, 'equations_of_motion'),
                          (DescribeModel, 'describe_model')):
        response = server.call(service, name)
        assert (response.success, response.message) == (False, f'dynamics_server: {WAIT}')
    assert server.state == State.PRIMARY_STATE_UNCONFIGURED
    server.finish()
    assert server.ask('inverse_dynamics', Motion(AERIAL).query()).success
    assert server.state == State.PRIMARY_STATE_ACTIVE


def test_parameters_set_meanwhile_count(server):
    assert not server.configure(dissipation=3).successful
    assert server.configure(model_file='').successful
    server.finish()
    assert 'expected a model, got none yet' in server.call(DescribeModel, 'describe_model').message


@pytest.mark.parametrize('autostart', [False, True])
def test_a_manager_that_comes_meanwhile_waits(bench, monkeypatch, autostart):
    """Nav2's lifecycle manager takes a refusal as the end; the executor goes on meanwhile."""
    server = SlowStart(bench, monkeypatch, autostart=autostart)
    response = bench.begin_to_configure(server.node)
    try:
        assert server.configure(dissipation=True).successful
        assert server.state == State.PRIMARY_STATE_UNCONFIGURED and not response.done()
    finally:
        server.finish()
    bench.until(response.done, 'a configured node')
    assert response.result().success and server.state == State.PRIMARY_STATE_INACTIVE
    assert server.change(Transition.TRANSITION_ACTIVATE)
    assert server.ask('inverse_dynamics', Motion(AERIAL).query()).success


def test_a_shutdown_meanwhile_ends_the_start(server):
    assert server.change(Transition.TRANSITION_UNCONFIGURED_SHUTDOWN)
    server.finish()
    assert server.state == State.PRIMARY_STATE_FINALIZED
    assert not server.bench.logged(server.node)


def test_wrong_parameters_are_reported_once(server):
    assert server.configure(model_file='nowhere.urdf').successful
    server.finish()
    server.bench.until_logged(server.node, 'not configured: ')
    looks = []
    server.node.create_timer(start.READ_LOOK_PERIOD, lambda: looks.append(None))
    server.bench.until(lambda: len(looks) > 5, 'time for more starts')
    assert server.state == State.PRIMARY_STATE_UNCONFIGURED
    logged = server.bench.logged(server.node)
    assert len(logged) == 1 and 'nowhere.urdf' in logged[0]


def test_a_query_that_gets_no_answer_is_logged(bench):
    server = ServerBench(bench, model_file=AERIAL.name)
    assert server.call(ChangeState, 'change_state', transition=Transition(
        id=Transition.TRANSITION_DEACTIVATE)).success
    queries = bench.publisher(DynamicsQuery, f'{SERVER}/hybrid_dynamics/query')
    bench.until(lambda: bench.logged(server.node), 'a complaint',
                act=lambda: queries.publish(DynamicsQuery()))
    assert bench.logged(server.node)[0] == (
        'hybrid_dynamics/query: no answer; expected the node to be active, got inactive')


def test_the_services_are_there_in_every_state_of_a_node_that_starts_warm(bench):
    """It is active before its constructor returns; what it opened for good stays open."""
    ServerBench(bench).node.destroy_node()
    server = ServerBench(bench)
    for transition, state in (('deactivate', 'inactive'), ('cleanup', 'not configured')):
        assert getattr(server.node, f'trigger_{transition}')() is TransitionCallbackReturn.SUCCESS
        for algorithm in ALGORITHMS:
            answer = server.ask(algorithm, Motion(AERIAL).query())
            assert answer.message == (
                f'dynamics_server: expected the node to be active, got {state}')
