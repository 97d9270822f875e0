# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that serves the dynamics of a tree, or of loops, by services and by topics."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
import traceback
from typing import Any

from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery
from liedyn_interfaces.srv import DescribeModel, Dynamics, EquationsOfMotion, Linearize
from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter as RosParameter
from std_msgs.msg import String

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.dynamics.answers import DynamicsAnswers, warm_up
from liedyn_ros.nodes.dynamics.parameters import DYNAMICS_SERVER, read_machine, SOURCES
from liedyn_ros.nodes.dynamics.platform_answers import answers_about
from liedyn_ros.ros.node.lifecycle import INTERNAL_FAULT, ManagedNode
from liedyn_ros.ros.node.process import run
from liedyn_ros.ros.qos import DEPTH, LATCHED
from liedyn_ros.ros.streams.diagnostics import StreamDiagnostics
from liedyn_ros.ros.streams.stream import Stream

Handler = Callable[[DynamicsAnswers, Any, Any], None]
ALGORITHMS: dict[str, Handler] = {
    'inverse_dynamics': DynamicsAnswers.inverse, 'forward_dynamics': DynamicsAnswers.forward,
    'hybrid_dynamics': DynamicsAnswers.hybrid}


class DynamicsServerNode(ManagedNode):
    """
    Queries in, answers out.

    The services exist in every state, so a caller learns why there is no answer. The topics exist
    while the node is configured. Separate streams answer queries; the executor answers rare
    requests. Of queries on topics that wait, the newest of each publisher is answered.
    """

    warm_up = staticmethod(warm_up)

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        self._answers: DynamicsAnswers | None = None
        self._description: str | None = None  # of the topic
        self._next: DynamicsAnswers | None = None
        super().__init__('dynamics_server', DYNAMICS_SERVER, **options)

    def prepare(self) -> None:
        """Open the services."""
        self.add_on_set_parameters_callback(self._judge_model)
        stream = Stream(self, name='services')
        for name, handler in ALGORITHMS.items():
            stream.open_service(Dynamics, f'~/{name}', partial(self._serve_query, handler))
        stream.start()
        for service, name, handler in (
                (EquationsOfMotion, 'equations_of_motion', DynamicsAnswers.equations_of_motion),
                (Linearize, 'linearize', DynamicsAnswers.linearize),
                (DescribeModel, 'describe_model', DynamicsAnswers.describe_model)):
            self.open_service(service, f'~/{name}', partial(self._serve, handler))

    def configure(self) -> None:
        """Read the model if there is one yet, open the topics."""
        self.on_close(self._forget)
        answers = self._read({}, self._description)
        for kernels in answers.warm_ups if answers is not None else ():
            self.require_kernels(kernels)
        self._adopt(answers)
        self.open_subscription(String, 'robot_description', self._take_description, LATCHED)
        stream = Stream(self, name='topics')
        StreamDiagnostics(self, stream, 'queries')
        for name, handler in ALGORITHMS.items():
            self._open_topics(stream, name, handler)
        stream.start()

    def parameters_changed(self) -> None:
        """Take over the model by which the new parameters were judged."""
        self._adopt(self._next)

    def _forget(self) -> None:
        """Forget the model."""
        self._answers = self._description = None

    def _open_topics(self, stream: Stream, name: str, handler: Handler) -> None:
        """Open the topics of one algorithm; of each publisher's queries that wait, the newest."""
        publisher = self.open_publisher(DynamicsAnswer, f'~/{name}/answer')

        def take(query: DynamicsQuery) -> None:
            if not self.active:  # nor is the publisher
                self.complain(f'{name}/query: no answer; {self._why_inactive()}')
            elif publisher.get_subscription_count():
                publisher.publish(self.answer(
                    partial(self._answer_query, handler), query, DynamicsAnswer()))

        stream.subscribe(DynamicsQuery, f'~/{name}/query', take, DEPTH, newest_only=True)

    def _serve_query(
            self, handler: Handler, request: Dynamics.Request,
            response: Dynamics.Response) -> None:
        self._answer_query(handler, request.query, response.answer)

    def _answer_query(
            self, handler: Handler, query: DynamicsQuery, answer: DynamicsAnswer) -> None:
        answer.header.stamp, answer.request_id = query.header.stamp, query.request_id
        self._serve(handler, query, answer)

    def _serve(self, handler: Handler, request: Any, response: Any) -> None:
        handler(self._ready(), request, response)
        response.success = True

    def _ready(self) -> DynamicsAnswers:
        if not self.active:
            raise LiedynError(f'{self.get_name()}: {self._why_inactive()}')
        answers = self._answers  # which another thread may replace
        if answers is None:
            raise LiedynError(f'{self.get_name()}: expected a model, got none yet from the '
                              'parameters model_file and robot_description and the topic '
                              'robot_description')
        return answers

    def _why_inactive(self) -> str:
        """Return why nothing is answered while the node is not active."""
        state = 'inactive' if self.configured else 'not configured'
        if self.starting:
            state += ' yet: its kernels are being compiled'
        return f'expected the node to be active, got {state}'

    def _read(self, changed: Mapping[str, Any], description: str | None) -> DynamicsAnswers | None:
        """
        Return the answers of the model of the parameters with changes, or of a description.

        Raises LiedynError, whatever a file or text holds, and changes nothing.
        """
        values = {p.name: changed.get(p.name, self.parameters[p.name]) for p in DYNAMICS_SERVER}
        try:
            machine = read_machine(values, description)
            return None if machine is None else answers_about(
                machine, dissipation=values['dissipation'],
                hold_couplings=values['hold_couplings'], stamp=self.get_clock().now().to_msg())
        except LiedynError:
            raise
        except Exception as error:  # a fault of this package, which must not end the server
            self.complain(traceback.format_exc(), INTERNAL_FAULT)
            raise LiedynError(f'internal fault: {error!r}') from error

    def _adopt(self, answers: DynamicsAnswers | None) -> None:
        """Serve a model from now on, or none where the parameters name none any more."""
        self._answers = answers
        model = None if answers is None else answers.model
        self.get_logger().info(f'serving {model or "no model yet"}')
        for warning in model.warnings if model else ():
            self.get_logger().warning(warning)

    def _take_description(self, message: String) -> None:
        """Keep the topic's model if it can be read; serve it unless the parameters name one."""
        try:
            answers = self._read(dict.fromkeys(SOURCES, ''), message.data)
        except LiedynError as error:
            self.complain(f'{error}; the model stays as it was')
            return
        self._description = message.data
        if not any(self.parameters[name] for name in SOURCES):
            self._adopt(answers)

    def _judge_model(self, changes: Sequence[RosParameter]) -> SetParametersResult:
        """Refuse a change of parameters by which no model can be read."""
        known = {parameter.name: parameter for parameter in DYNAMICS_SERVER}
        self._next = None
        try:
            changed = {change.name: known[change.name].accept(change.value)
                       for change in changes if change.name in known}
            if changed and self.configured:
                self._next = self._read(changed, self._description)
        except LiedynError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(DynamicsServerNode, args)


if __name__ == '__main__':
    main()
