# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every service of every node answers, rclpy's own too, also where its callback fails."""

from threading import Event

from lifecycle_msgs.srv import ChangeState
import pytest
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import (
    DescribeParameters, GetParameters, GetParameterTypes, ListParameters, SetParameters,
    SetParametersAtomically)
from rclpy.logging import LoggingSeverity
from std_srvs.srv import Empty, Trigger
from support.bench.command_lines import node_class, NODES

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import SERVICES as SERVICE_QOS
from liedyn_ros.ros.streams.stream import Stream

pytestmark = pytest.mark.ros
SERVICES = {  # of each executable
    'aerial_manipulator_controller': set(),
    'aerial_manipulator_simulator': {'reset'},
    'dynamics_server': {
        'inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'equations_of_motion',
        'linearize', 'retime', 'describe_model', 'reset_payload', 'inverse_kinematics',
        'learn_contact_levels'},
    'loop_state_publisher': set(),
    'mujoco_simulator': {'reset'},
    'path_runner': {'run'},
    'stewart_controller': set(),
    'stewart_dynamics_simulator': {'reset'},
    'stewart_pose': {'solve', 'inverse_kinematics', 'reset', 'predict', 'assembly_modes',
                     'prove_path', 'confirm'},
    'stewart_simulator': set(),
}
FAULT = "internal fault: RuntimeError('a fault of the callback')"
ODD_NAMES = ['', ' ', 'x' * 3000, 'autostart', '/', '..', 'a\n', 'θ', 'use_sim_time']


class Busy(ManagedNode):
    """A node with two services, in the executor and in a stream, that take nothing at first."""

    def __init__(self, **options):
        """Start."""
        self.free = Event()
        super().__init__('busy', (), **options)

    def prepare(self):
        """Open the services."""
        self.open_service(Empty, '~/executor', lambda *_: None)
        stream = Stream(self, name='services', guarded=False)
        stream.open_service(Empty, '~/stream', lambda *_: self.free.wait())
        stream.start()


@pytest.mark.parametrize('where', ['executor', 'stream'])
def test_requests_that_come_while_the_node_is_busy_wait(bench, where):
    """As many as come in a second at 200 Hz; the client keeps as many answers."""
    node = bench.start(Busy)
    client = bench.partner.create_client(Empty, f'busy/{where}', qos_profile=SERVICE_QOS)
    bench.call(Empty, 'busy/executor')
    bench.until(client.service_is_ready, 'the service')
    futures = [client.call_async(Empty.Request()) for _ in range(200)]
    node.free.set()
    bench.until(lambda: all(future.done() for future in futures), 'all answers')


class Asker(ManagedNode):
    """A node with a client whose answers nobody takes."""

    def prepare(self):
        """Open the client."""
        self.client = Stream(self).open_client(Empty, 'busy/executor')


def test_a_busy_client_does_not_lose_its_answer_to_those_of_others(bench):
    """The middleware hands each client the answers to all clients of a service."""
    bench.start(Busy)
    client = bench.start(lambda **options: Asker('asker', (), **options)).client
    bench.until(client.service_is_ready, 'the service')
    number = client.handle.send_request(Empty.Request())
    for _ in range(50):
        bench.call(Empty, 'busy/executor')

    def answered():
        header, _ = client.handle.take_response(Empty.Response)
        return header is not None and header.request_id.sequence_number == number

    bench.until(answered, 'the answer')


@pytest.fixture
def opened(monkeypatch):
    """Let callbacks of services fail by name; return the services' types, and who still fails."""
    open_service, types, failing = ManagedNode.open_service, {}, set()

    def opened_to_fail(node, service_type, name, callback, **options):
        known = name.removeprefix('~/')
        types[known] = service_type
        failing.add(known)

        def answer(request, response):
            if known in failing:
                raise RuntimeError('a fault of the callback')
            callback(request, response)

        return open_service(node, service_type, name, answer, **options)

    monkeypatch.setattr(ManagedNode, 'open_service', opened_to_fail)
    return types, failing


def messages_of(response):
    """Return the texts `message` of a response and of its parts that also tell success."""
    parts = (response, *(getattr(response, name)
                         for name in response.get_fields_and_field_types()))
    return {part.message for part in parts if hasattr(part, 'success') and not part.success}


def test_the_table_names_every_node():
    assert set(SERVICES) == set(NODES)


@pytest.mark.parametrize('executable', SERVICES)
def test_every_service_answers_that_its_callback_failed_and_lives(bench, opened, executable):
    robot = {'model_file': 'arm.urdf'} if executable == 'mujoco_simulator' else {}
    node = bench.start(node_class(executable), **robot)
    types, failing = opened
    assert set(types) == SERVICES[executable]
    for name, service_type in types.items():
        service = f'{executable}/{name}'
        assert messages_of(bench.call(service_type, service)) == {FAULT}
        failing.remove(name)
        assert FAULT not in messages_of(bench.call(service_type, service))
    if types:
        bench.until_logged(node, 'a fault of the callback')


class Answerer(ManagedNode):
    """A node with services in a stream and in the executor; their callbacks raise."""

    def __init__(self, error, **options):
        """Take what callbacks raise."""
        self.error = error
        super().__init__('answerer', (), **options)

    def configure(self):
        """Open the services."""
        stream = Stream(self)
        for opener, where in ((stream, 'stream'), (self, 'executor')):
            opener.open_service(Trigger, f'{where}/trigger', self._fail)
            opener.open_service(Empty, f'{where}/empty', self._fail)
        stream.start()

    def _fail(self, _, response):
        raise self.error


@pytest.mark.smoke
@pytest.mark.parametrize('where', ['stream', 'executor'])
@pytest.mark.parametrize(('error', 'message', 'logged'), [
    (LiedynError('expected more, got less'), 'expected more, got less', False),
    (RuntimeError('a fault of the callback'), FAULT, True)], ids=['refusal', 'fault'])
def test_an_error_is_the_answer_and_only_a_fault_is_logged(bench, where, error, message, logged):
    node = bench.start(lambda **options: Answerer(error, **options))
    response = bench.call(Trigger, f'{where}/trigger')
    assert (response.success, response.message) == (False, message)
    assert bench.call(Empty, f'{where}/empty') == Empty.Response()  # nothing can carry the error
    if logged:
        bench.until_logged(node, 'a fault of the callback')
    assert bool(bench.logged(node, LoggingSeverity.ERROR)) == logged


class Plain(ManagedNode):
    """A node without anything of its own."""

    def __init__(self, **options):
        """Start."""
        super().__init__('plain', (), **options)


@pytest.mark.smoke
@pytest.mark.parametrize('node_class', [Plain, StewartSimulatorNode, DynamicsServerNode])
@pytest.mark.parametrize('kind', [10, 99, 255])
def test_an_unknown_type_of_a_parameter_is_refused(bench, node_class, kind):
    node = bench.start(node_class)
    name = f'{node.get_name()}/set_parameters'
    wrong = Parameter(name='autostart', value=ParameterValue(type=kind))
    good = Parameter(name='autostart', value=ParameterValue(type=1, bool_value=True))
    results = bench.call(SetParameters, name, parameters=[good, wrong]).results
    assert len(results) == 2 and not results[1].successful
    assert f'{kind} is not a valid Parameter.Type' in results[1].reason
    result = bench.call(SetParametersAtomically, f'{name}_atomically', parameters=[wrong]).result
    assert not result.successful and str(kind) in result.reason
    bench.until_logged(node, 'expected a request that rclpy can serve')
    assert len(bench.call(GetParameters, f'{node.get_name()}/get_parameters',
                          names=['autostart']).values) == 1


@pytest.mark.parametrize('node_class', [Plain, DynamicsServerNode])
def test_odd_names_are_answered(bench, node_class):
    node = bench.start(node_class)
    prefix = node.get_name()
    for name in ODD_NAMES:
        for service, path in ((GetParameters, 'get_parameters'),
                              (GetParameterTypes, 'get_parameter_types'),
                              (DescribeParameters, 'describe_parameters')):
            bench.call(service, f'{prefix}/{path}', names=[name])
        bench.call(ListParameters, f'{prefix}/list_parameters', prefixes=[name], depth=2**64 - 1)
        for kind in range(10):
            results = bench.call(SetParameters, f'{prefix}/set_parameters', parameters=[
                Parameter(name=name, value=ParameterValue(type=kind))]).results
            assert len(results) == 1
    assert not bench.call(ChangeState, f'{prefix}/change_state').success
