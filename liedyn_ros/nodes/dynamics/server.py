# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that serves the dynamics of a tree, or of loops, by services and by topics."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
import traceback
from typing import Any

from liedyn_interfaces.action import Linearize as LinearizeAction
from liedyn_interfaces.action import RetimeTrajectory as RetimeAction
from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery
from liedyn_interfaces.srv import (
    DescribeModel, Dynamics, EquationsOfMotion, InverseKinematics, Linearize, RetimeTrajectory)
from rcl_interfaces.msg import Parameter as ParameterMessage, SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.parameter import Parameter as RosParameter
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from liedyn_ros.common.checks import listed
from liedyn_ros.common.errors import BudgetError, LiedynError
from liedyn_ros.nodes.dynamics.answers import DynamicsAnswers
from liedyn_ros.nodes.dynamics.linear_models import (
    goal_budget, number_of_states, service_budget)
from liedyn_ros.nodes.dynamics.machines import read_machine
from liedyn_ros.nodes.dynamics.parameters import DYNAMICS_SERVER, MODEL_SOURCES
from liedyn_ros.nodes.dynamics.platform_answers import answers_about, require_answers
from liedyn_ros.nodes.dynamics.reaching import number_of_poses
from liedyn_ros.ros.messages.tree_messages import HOLD_COUPLINGS
from liedyn_ros.ros.node.goals import GoalServer, Watch
from liedyn_ros.ros.node.lifecycle import INTERNAL_FAULT, ManagedNode
from liedyn_ros.ros.process.run import run
from liedyn_ros.ros.process.threads import prepare_parameters, ReadAhead
from liedyn_ros.ros.qos import LATCHED, TOPIC_DEPTH
from liedyn_ros.ros.streams.diagnostics import StreamDiagnostics
from liedyn_ros.ros.streams.stream import Stream

MAX_CONCURRENT = 16  # requests, and goals, that take long: a small one waits for no large ones
ALGORITHMS = {  # services, and the methods of DynamicsAnswers
    'inverse_dynamics': 'inverse', 'forward_dynamics': 'forward', 'hybrid_dynamics': 'hybrid'}


class DynamicsServerNode(ManagedNode):
    """
    Queries in, answers out.

    The services exist in every state, so a caller learns why there is no answer; while the node
    starts itself, requests wait. The topics exist while the node is configured. Separate streams
    answer queries, descriptions and requests that take long; the executor reads models in a
    thread. Of queries on topics that wait, the
    newest of each publisher is answered.
    """

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        self._answers: DynamicsAnswers | None = None
        self._description: str | None = None  # of the topic
        self._next: DynamicsAnswers | None = None
        self._latest: String | None = None  # of the descriptions that came
        self._models = ReadAhead(self, self._read)
        super().__init__('dynamics_server', DYNAMICS_SERVER, **options)

    def prepare(self) -> None:
        """Open the services."""
        self.add_on_set_parameters_callback(self._judge_model)
        prepare_parameters(self, self._read_parameters)
        stream = Stream(self, name='services')
        for name, method in ALGORITHMS.items():
            stream.open_service(Dynamics, f'~/{name}', partial(self._serve_query, method))
        stream.open_service(Trigger, '~/reset_payload', self._reset_payload)
        stream.open_service(SetBool, '~/learn_contact_levels', self._learn_contact_levels)
        stream.start()
        slow = Stream(self, name='slow_services', guarded=False, beside=MAX_CONCURRENT,
                      size_of=_size)
        slow.open_service(Linearize, '~/linearize', self._linearize)
        slow.open_service(InverseKinematics, '~/inverse_kinematics', self._inverse_kinematics)
        slow.start()
        planning = Stream(self, name='planning_services', guarded=False)
        planning.open_service(RetimeTrajectory, '~/retime', self._retime)
        planning.start()
        GoalServer(self, LinearizeAction, '~/linearize', self._work_on_goal, MAX_CONCURRENT,
                   number_of_states)
        GoalServer(self, RetimeAction, '~/retime', self._retime_goal)
        descriptions = Stream(self, name='descriptions')
        for service, name in ((EquationsOfMotion, 'equations_of_motion'),
                              (DescribeModel, 'describe_model')):
            descriptions.open_service(service, f'~/{name}', partial(self._serve, name))
        descriptions.start()

    def read_ahead(self) -> Future[Any] | None:
        """Begin to read the model in a thread."""
        return self._models.begin(self._values({}), self._description)

    def configure(self) -> None:
        """Take the model if there is one yet, open the topics."""
        self.on_close(self._forget)
        answers = self._models.take(self._values({}), self._description)
        self._models.forget()
        self._adopt(answers)
        self.open_subscription(  # in a group of its own, as it awaits what it reads
            String, 'robot_description', self._take_description, LATCHED,
            callback_group=ReentrantCallbackGroup())
        stream = Stream(self, name='topics')
        StreamDiagnostics(self, stream, 'queries')
        for name, method in ALGORITHMS.items():
            self._open_topics(stream, name, method)
        stream.start()
        if self.parameters['payload_body']:
            from liedyn_ros.nodes.dynamics.payload import PayloadTopics
            PayloadTopics(self, self.parameters['payload_body'], self._payload)
        if self.parameters['external_effort_gain']:
            from liedyn_ros.nodes.dynamics.external_efforts import ExternalEffortTopics
            ExternalEffortTopics(self, self._external_efforts)

    def parameters_changed(self) -> None:
        """Take over the model by which the new parameters were judged."""
        self._adopt(self._next)

    def _forget(self) -> None:
        """Forget the model."""
        self._answers = self._description = self._latest = None

    def _open_topics(self, stream: Stream, name: str, method: str) -> None:
        """Open the topics of one algorithm; of each publisher's queries that wait, the newest."""
        publisher = self.open_publisher(DynamicsAnswer, f'~/{name}/answer')

        def take(query: DynamicsQuery) -> None:
            if not self.active:  # nor is the publisher
                self.complain(f'{name}/query: no answer; {self.why_inactive}')
            elif publisher.get_subscription_count():
                publisher.publish(self.answer(
                    partial(self._answer_query, method), query, DynamicsAnswer()))

        stream.subscribe(DynamicsQuery, f'~/{name}/query', take, TOPIC_DEPTH, newest_only=True)

    def _serve_query(
            self, method: str, request: Dynamics.Request, response: Dynamics.Response) -> None:
        self._answer_query(method, request.query, response.answer)

    def _answer_query(self, method: str, query: DynamicsQuery, answer: DynamicsAnswer) -> None:
        answer.header.stamp, answer.request_id = query.header.stamp, query.request_id
        self._serve(method, query, answer)

    def _serve(self, method: str, request: Any, response: Any, *further: Any) -> None:
        getattr(self._ready(), method)(request, response, *further)
        response.success = True

    def _linearize(self, request: Linearize.Request, response: Linearize.Response) -> None:
        self._ready()
        try:
            self._serve('linearize', request, response, service_budget(self._ready))
        except BudgetError as error:
            raise BudgetError(f'{error}; a goal of the action linearize may take more') from error

    def _inverse_kinematics(self, request: InverseKinematics.Request,
                            response: InverseKinematics.Response) -> None:
        self._ready().inverse_kinematics(request, response, service_budget(self._ready))

    def _work_on_goal(self, goal: LinearizeAction.Goal, result: LinearizeAction.Result,
                      watch: Watch) -> None:
        self._ready()
        self._serve('linearize', goal, result, goal_budget(goal, watch))

    def _retime(self, request: RetimeTrajectory.Request,
                response: RetimeTrajectory.Response) -> None:
        self._ready()
        try:
            self._serve('retime', request, response,
                        lambda retiming: retiming.retiming_budget(self._ready))
        except BudgetError as error:
            raise BudgetError(f'{error}; a goal of the action retime may take more') from error

    def _retime_goal(self, goal: RetimeAction.Goal, result: RetimeAction.Result,
                     watch: Watch) -> None:
        self._ready()
        self._serve('retime', goal, result,
                    lambda retiming: retiming.retiming_goal_budget(goal, watch))

    def _payload(self) -> Any:
        """Return the estimator of the payload, None without a model or where nobody asked."""
        return None if self._answers is None else self._answers.payload

    def _reset_payload(self, _: Trigger.Request, response: Trigger.Response) -> None:
        if self._ready().payload is None:
            raise LiedynError('expected the parameter payload_body to name a body, got none')
        self._payload().reset()
        response.success, response.message = True, 'the payload is estimated again'

    def _external_efforts(self) -> Any:
        """Return their estimator, None without a model or where nobody asked."""
        return None if self._answers is None else self._answers.external_efforts

    def _learn_contact_levels(
            self, request: SetBool.Request, response: SetBool.Response) -> None:
        if self._ready().external_efforts is None:
            raise LiedynError('external_effort_gain: expected a parameter above 0, got 0')
        response.success, response.message = True, self._external_efforts().learn(request.data)

    def _ready(self) -> DynamicsAnswers:
        return require_answers(self, self._answers)

    def _values(self, changed: Mapping[str, Any]) -> dict[str, Any]:
        return {p.name: changed.get(p.name, self.parameters[p.name]) for p in DYNAMICS_SERVER}

    @asynccontextmanager
    async def _read_parameters(
            self, parameters: Sequence[ParameterMessage]) -> AsyncIterator[None]:
        """Read the model of new parameters in a thread before they are judged."""
        try:
            changed = _accepted(map(RosParameter.from_parameter_msg, parameters))
        except LiedynError:  # the judge raises it again
            changed = {}
        if not (changed and self.configured):
            yield
            return
        async with self._models.ahead(self._values(changed), self._description):
            yield

    def _read(
            self, values: Mapping[str, Any], description: str | None) -> DynamicsAnswers | None:
        """
        Return the answers of the model of values of the parameters, or of a description.

        Raises LiedynError, whatever a file or text holds, and changes nothing.
        """
        try:
            machine = read_machine(values, description)
            if machine is None:
                return None
            answers = answers_about(
                machine, dissipation=values['dissipation'],
                hold_couplings=values['hold_couplings'], stamp=self.get_clock().now().to_msg())
            if values['payload_body']:
                answers.watch_payload(values['payload_body'], offsets=values['payload_offsets'])
            if values['external_effort_gain']:
                answers.watch_external_efforts(
                    values['external_effort_gain'], values['external_effort_levels'])
            return answers
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
        if answers and answers.model.couplings and not answers.with_loops:
            free = [coupling.joint for coupling in answers.model.couplings]
            self.get_logger().warning(
                f'joints {listed(free)} follow others and move freely here: {HOLD_COUPLINGS} '
                'holds them')

    async def _take_description(self, message: String) -> None:
        """Keep the topic's model if it can be read; serve it unless the parameters name one."""
        self._latest, values = message, self._values(dict.fromkeys(MODEL_SOURCES, ''))
        async with self._models.ahead(values, message.data):
            if self._latest is not message:  # a newer one came, or the node was cleaned up
                return
            try:
                answers = self._models.take(values, message.data)
            except LiedynError as error:
                self.complain(f'{error}; the model stays as it was')
                return
            self._description = message.data
            if not any(self.parameters[name] for name in MODEL_SOURCES):
                self._adopt(answers)

    def _judge_model(self, changes: Sequence[RosParameter]) -> SetParametersResult:
        """Refuse a change of parameters by which no model can be read."""
        self._next = None
        try:
            changed = _accepted(changes)
            if changed and self.configured:
                self._next = self._models.take(self._values(changed), self._description)
        except LiedynError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


def _size(request: Linearize.Request | InverseKinematics.Request) -> float:
    """Return by what the work of a request grows, 1 and more."""
    return (number_of_states(request) if isinstance(request, Linearize.Request)
            else number_of_poses(request))


def _accepted(changes: Iterable[RosParameter]) -> dict[str, Any]:
    """Return the values of the node's own parameters; raise LiedynError for a wrong one."""
    known = {parameter.name: parameter for parameter in DYNAMICS_SERVER}
    return {change.name: known[change.name].accept(change.value)
            for change in changes if change.name in known}


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(DynamicsServerNode, args)


if __name__ == '__main__':
    main()
