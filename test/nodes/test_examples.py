# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The lines of the nodes' pages that call services: each answers as the page shows it."""

import pytest
from support.bench.command_lines import differences, fill, lines_of, node_class, NODES

pytestmark = pytest.mark.ros
PARAMETERS = {name: {'model_file': 'linkage_leg.urdf'}  # as their pages start them
              for name in ('dynamics_server', 'mujoco_simulator', 'path_runner')}
PERIOD = 0.02  # s
OF_ALL_NODES = {
    'describe_parameters', 'get_parameter_types', 'get_parameters', 'list_parameters',
    'set_parameters', 'set_parameters_atomically', 'get_type_description',
    'change_state', 'get_available_states', 'get_available_transitions', 'get_state',
    'get_transition_graph'}


@pytest.mark.parametrize('executable', NODES)
def test_every_service_has_a_line_that_answers_as_shown(bench, executable):
    node, lines = bench.start(
        node_class(executable), **PARAMETERS.get(executable, {})), lines_of(executable)
    bench.until(lambda: node.active, 'an active node')
    called = {line.name.rpartition('/')[2] for line in lines if line.kind == 'service'}
    services = {service.srv_name.rpartition('/')[2] for service in node.services}
    assert called == services - OF_ALL_NODES
    for line in lines:
        if line.kind == 'topic':
            publish_on(bench, line)
        else:
            assert line.answer, line.name
            assert_answers(bench, line)


def publish_on(bench, line):
    """Publish a message from now on, as ros2 topic pub does at a rate."""
    publisher = bench.publisher(line.message_type, line.name.lstrip('/'))

    def publish():
        stamp = bench.partner.get_clock().now().to_msg()
        publisher.publish(fill(line.message_type(), line.fields, stamp))

    bench.partner.create_timer(PERIOD, publish)


def assert_answers(bench, line):
    """See that a service answers as shown, once it has what it needs."""
    request = fill(line.message_type.Request(), line.fields)
    fields = {name: getattr(request, name) for name in request.get_fields_and_field_types()}
    name, found = line.name.lstrip('/'), []

    def answered():
        response = bench.call(line.message_type, name, **fields)
        found[:] = differences(line.answer, response)
        return not found

    try:
        bench.until(answered, 'the answer')
    except pytest.fail.Exception:
        pytest.fail(f'{line.name}: {found}', pytrace=False)
