# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that plans the fastest run along a path, and runs it, scaled while it runs."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
import math
from typing import Any

from liedyn_interfaces.msg import RetimingLimits, RetimingStatus
from liedyn_interfaces.srv import RetimeTrajectory
from rclpy.callback_groups import ReentrantCallbackGroup
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.nodes.dynamics.answers import DynamicsAnswers, warm_up_derivatives
from liedyn_ros.nodes.dynamics.machines import read_machine
from liedyn_ros.nodes.dynamics.platform_answers import answers_about
from liedyn_ros.nodes.running.parameters import PATH_RUNNER
from liedyn_ros.ros.messages.conversions import stamp_of
from liedyn_ros.ros.node.lifecycle import ManagedNode, set_rate
from liedyn_ros.ros.process.run import run
from liedyn_ros.ros.process.threads import ReadAhead
from liedyn_ros.ros.qos import LATCHED, sensor_data
from liedyn_ros.ros.streams.diagnostics import StreamDiagnostics
from liedyn_ros.ros.streams.stream import Stream

CYCLES = 0.5, 3.0  # of the period, which a cycle takes at least and at most


def warm_up_running() -> None:
    """Compile the kernels of dynamics and of scaling, or load them."""
    warm_up_derivatives()
    try:
        from liedyn_ros.nodes.running.warm_up import warm_up_scaling
    except ModuleNotFoundError:  # without the conic solver; a request says so
        return
    warm_up_scaling()


class PathRunnerNode(ManagedNode):
    """
    Requests for runs in, commands out, one a cycle until the end.

    A request is planned in its own stream. Commands, joint states, limits and speeds have another
    one. One run goes on at a time; the joints that lag are waited for.
    """

    warm_up = staticmethod(warm_up_running)

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        self._answers: DynamicsAnswers | None = None
        self._run: Any = None  # the PathRun, which needs the conic solver
        self._latest: String | None = None  # of the descriptions that came
        self._models = ReadAhead(self, self._read)
        super().__init__('path_runner', PATH_RUNNER, **options)

    def prepare(self) -> None:
        """Open the service, which tells in each state why there is no answer."""
        planning = Stream(self, name='planning', guarded=False)
        planning.open_service(RetimeTrajectory, '~/run', self._plan)
        planning.start()

    def read_ahead(self) -> Future[Any] | None:
        """Begin to read the model in a thread."""
        return self._models.begin(self._values(), None)

    def configure(self) -> None:
        """Take the model if there is one yet, open the topics."""
        self.on_close(self._forget)
        answers = self._models.take(self._values(), None)
        for kernels in answers.warm_ups if answers is not None else ():
            self.require_kernels(kernels)
        self._models.forget()
        self._adopt(answers)
        self.open_subscription(  # in a group of its own, as it awaits what it reads
            String, 'robot_description', self._take_description, LATCHED,
            callback_group=ReentrantCallbackGroup())
        self._commands = self.open_publisher(JointTrajectory, 'joint_trajectory')
        self._poses = self.open_publisher(MultiDOFJointTrajectory, 'multi_dof_joint_trajectory')
        self._statuses = self.open_publisher(RetimingStatus, '~/status')
        stream = Stream(self)
        StreamDiagnostics(self, stream, 'joints', lambda: self._run is not None)
        stream.subscribe(JointState, 'joint_states', self._hear, sensor_data(1))
        stream.subscribe(RetimingLimits, '~/limits', self._take_limits, 1)
        stream.subscribe(Float64, '~/speed', self._take_speed, 1)
        self._ticks = stream.open_timer(0.0, self._tick)
        stream.start()

    def activate(self) -> None:
        """Stand until a run is asked for."""
        with self.lock:
            self._run, self._speed = None, 1.0
            self._heard: dict[str, float] = {}
            self._heard_ns = self._last_ns = 0
        set_rate(self._ticks, self.parameters['rate'])
        self.on_close(lambda: set_rate(self._ticks, 0.0))

    def _forget(self) -> None:
        """Forget the model and the run."""
        self._answers = self._latest = self._run = None

    def _values(self) -> dict[str, Any]:
        return {p.name: self.parameters[p.name] for p in PATH_RUNNER}

    def _read(self, values: Mapping[str, Any], description: str | None
              ) -> DynamicsAnswers | None:
        """Return the answers about the model of parameters, else of a description, if any."""
        machine = read_machine(values, description)
        return None if machine is None else answers_about(
            machine, dissipation=values['dissipation'], hold_couplings=values['hold_couplings'],
            stamp=self.get_clock().now().to_msg())

    def _adopt(self, answers: DynamicsAnswers | None) -> None:
        if answers is not None:
            self._answers = answers
            self.get_logger().info(f'running {answers.model}')

    async def _take_description(self, message: String) -> None:
        """Take the topic's model, unless the parameters name one."""
        if self.parameters['model_file'] or self.parameters['robot_description']:
            return
        self._latest, values = message, self._values()
        async with self._models.ahead(values, message.data):
            if self._latest is not message:  # a newer one came, or the node was cleaned up
                return
            try:
                self._adopt(self._models.take(values, message.data))
            except LiedynError as error:
                self.complain(f'{error}; the model stays as it was')

    def _plan(self, request: RetimeTrajectory.Request, response: RetimeTrajectory.Response
              ) -> None:
        """Plan a run and begin it."""
        answers = self._ready()
        self.await_kernels(warm_up_derivatives)
        planned = answers.retime(
            request, response, lambda retiming: retiming.retiming_budget(self._ready))
        from liedyn_ros.nodes.running.path_run import PathRun
        run = PathRun(planned, answers.messages, list(request.trajectory.joint_names))
        with self.lock:
            self._ready()
            run.require_near(self._heard, self.parameters['largest_lag'])
            self._run, self._last_ns = run, 0
        response.success = True

    def _ready(self) -> DynamicsAnswers:
        """Return the answers; raise LiedynError where no run can begin."""
        if not self.active:
            raise LiedynError(f'{self.get_name()}: expected the node to be active, got inactive')
        answers = self._answers  # which another thread may replace
        if answers is None:
            raise LiedynError(f'{self.get_name()}: expected a model, got none yet from the '
                              'parameters model_file and robot_description and the topic '
                              'robot_description')
        if self._run is not None:
            raise LiedynError('run: expected the run before to have ended, got another one')
        return answers

    def _hear(self, message: JointState) -> None:
        if not self.active:
            return
        positions = {name: value for name, value in zip(message.name, message.position)
                     if math.isfinite(value)}
        if len(positions) < len(message.name):
            self.complain('joint_states: expected a finite position of each joint, got '
                          f'{len(positions)} for {len(message.name)} names', 'positions')
        self._heard.update(positions)
        self._heard_ns = self.now_ns()

    def _take_limits(self, message: RetimingLimits) -> None:
        if not self.active or self._run is None:
            return
        from liedyn_ros.nodes.dynamics.retiming.limits import read_limits
        try:
            self._run.use(read_limits(self._run.scaling.run.dynamics.model, message))
        except LiedynError as error:
            self.complain(f'limits: {error}; the limits stay as they were', 'limits')

    def _take_speed(self, message: Float64) -> None:
        if not self.active:
            return
        if not 0.0 <= message.data <= 1.0:
            self.complain(LimitError(f'speed: expected a share from 0 to 1, got {message.data}; '
                                     'it stays as it was'), 'speed')
            return
        self._speed = message.data

    def _tick(self) -> None:
        """Go on by the time since the last cycle, and publish."""
        run, now = self._run, self.now_ns()
        if run is None or not self.active:
            return
        period = 1.0 / self.parameters['rate']
        passed = 1e-9 * (now - self._last_ns) if self._last_ns else period
        cycle = min(max(passed, CYCLES[0] * period), CYCLES[1] * period)
        self._last_ns = now
        status = run.step(
            cycle, self._asked(now), run.lag(self._heard) if self._heard_ns else 0.0,
            (self.parameters['tolerated_lag'], self.parameters['largest_lag']))
        stamp = stamp_of(now)
        for message, publisher in ((status, self._statuses), (run.joints, self._commands),
                                   (run.base, self._poses)):
            message.header.stamp = stamp
            if message is not run.base or run.base.points:
                publisher.publish(message)
        if run.ended:
            self._run = None

    def _asked(self, now: int) -> float:
        """Return the share of the plan's speed that is asked for, 0 while joints are silent."""
        timeout, silent = self.parameters['input_timeout'], 1e-9 * (now - self._heard_ns)
        if not self._heard_ns or not timeout or silent <= timeout:
            return self._speed
        self.complain(f'joint_states: expected every {timeout:g} s, got none for {silent:.1f} s; '
                      'the run stops', 'silence')
        return 0.0


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(PathRunnerNode, args)
