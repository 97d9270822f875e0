# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that plans the fastest run along a path, and runs it, scaled while it runs."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
import math
import time
from types import ModuleType
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from liedyn_interfaces.action import RetimeTrajectory as RetimeAction
from liedyn_interfaces.msg import RetimingLimits, RetimingStatus
from liedyn_interfaces.srv import RetimeTrajectory
import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from trajectory_msgs.msg import (
    JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory)

from liedyn_ros.common.errors import BudgetError, LiedynError, LimitError, NameSetError
from liedyn_ros.nodes.control_status import ControlStatus
from liedyn_ros.nodes.dynamics.answers import DynamicsAnswers
from liedyn_ros.nodes.dynamics.machines import read_machine
from liedyn_ros.nodes.dynamics.platform_answers import answers_about, require_answers
from liedyn_ros.nodes.path_runner.parameters import PATH_RUNNER
from liedyn_ros.ros.messages.conversions import stamp_of
from liedyn_ros.ros.node.goals import GoalServer, Watch
from liedyn_ros.ros.node.lifecycle import ManagedNode, set_rate
from liedyn_ros.ros.process.run import run
from liedyn_ros.ros.process.threads import ReadAhead
from liedyn_ros.ros.qos import LATCHED, sensor_data
from liedyn_ros.ros.streams.diagnostics import StreamDiagnostics
from liedyn_ros.ros.streams.stream import Stream

GOAL_PERIOD = 0.02  # s, of looks at a run that is waited for
STOPPING_MARGIN = 1.0  # s beyond its duration, in which a run must have come to rest
MAX_SILENCE = 5.0  # s of real time without a cycle, after which a run comes to no rest
REPORT_RATE = 1.0  # Hz
MAX_START_DISTANCE = 1e-6  # rad or m, by which a path begins where the joints stand
CYCLE_BOUNDS = 0.5, 3.0  # of the period, which a cycle takes at least and at most


class PathRunnerNode(ManagedNode):
    """
    Requests for runs in, commands out, one a cycle until the end.

    A request is planned in its own stream, a goal in its own thread. Commands, joint states,
    limits and speeds have another stream. One run goes on at a time: a new one lets it come to
    rest on its path, and begins there. The joints that lag are waited for.
    """

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else waits for `configure`. Options: of a Node."""
        self._answers: DynamicsAnswers | None = None
        self._run: Any = None  # the PathRun, which needs the conic solver
        self._standing: dict[str, float] | None = None  # where a run was stopped for good
        self._replaced = False  # by a goal that waits
        self._latest: String | None = None  # of the descriptions that came
        self._models = ReadAhead(self, self._read)
        super().__init__('path_runner', PATH_RUNNER, **options)

    def prepare(self) -> None:
        """Open service and action, which tell in each state why there is no answer."""
        planning = Stream(self, name='planning', guarded=False)
        planning.open_service(RetimeTrajectory, '~/run', self._serve)
        planning.start()
        self._goal_server = GoalServer(self, RetimeAction, '~/run', self._work_on_goal)

    def read_ahead(self) -> Future[Any] | None:
        """Begin to read the model in a thread."""
        return self._models.begin(self._values(), None)

    def configure(self) -> None:
        """Take the model if there is one yet, open the topics."""
        self.on_close(self._forget)
        answers = self._models.take(self._values(), None)
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
        self._status = ControlStatus(self, 'run')
        stream.open_timer(REPORT_RATE, self._report)
        stream.start()

    def activate(self) -> None:
        """Stand until a run is asked for."""
        with self.lock:
            self._run, self._speed, self._standing, self._replaced = None, 1.0, None, False
        self.on_close(self._come_to_rest)
        with self.lock:
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

    def _serve(self, request: RetimeTrajectory.Request, response: RetimeTrajectory.Response
               ) -> None:
        """Plan a run and begin it."""
        self._begin(request, response, lambda retiming: retiming.retiming_budget(self._ready))
        response.success = True

    def _work_on_goal(self, goal: RetimeAction.Goal, result: RetimeAction.Result, watch: Watch
                      ) -> None:
        """Plan a run, and tell how it goes on until it is over, cancelled or replaced."""
        run = self._begin(
            goal, result, lambda retiming: retiming.retiming_goal_budget(goal, watch))
        try:
            while not run.over.wait(GOAL_PERIOD):
                watch(lambda: RetimeAction.Feedback(
                    duration=run.scaling.run.duration, elapsed=run.status.planned_time,
                    run=run.status))
                if self._goal_server.wait:
                    self._stop(run)  # the waiting goal begins there
                    self._replaced = True
                    break
        except BudgetError as error:
            self._stop(run)
            raise BudgetError(f'{error}; the machine has stopped on the path, '
                              f'{run.status.planned_time:.6g} s of the plan on') from error
        if not run.ended:
            raise BudgetError('replaced by a new path; the machine stood on this one, '
                              f'{run.status.planned_time:.6g} s of the plan on')
        result.success = True

    def _begin(self, request: Any, response: Any, budget_of: Callable[[ModuleType], Any]) -> Any:
        """Plan a run from where the one before comes to rest, begin it, and return it."""
        answers, before = self._ready(), self._run
        replaced, self._replaced = self._replaced or before is not None, False
        if before is not None:
            self._stop(before)
        standing = self._standing
        if standing is not None and (replaced or self._stands(request, standing)):
            request.trajectory = from_standing(request, standing)
        planned = answers.retime(request, response, budget_of)
        from liedyn_ros.nodes.path_runner.path_run import PathRun
        run = PathRun(planned, answers.messages, list(request.trajectory.joint_names))
        with self.lock:
            self._ready()
            if not replaced:  # else it begins where the last command is; joints may lag
                run.require_near(self._heard, self.parameters['largest_lag'])
            self._run, self._last_ns, self._speed, self._standing = run, 0, 1.0, None
        return run

    def _stands(self, request: Any, standing: dict[str, float]) -> bool:
        """Return whether the joints of a request still stand where a run was stopped."""
        return (set(request.trajectory.joint_names) == set(standing)
                and not request.multi_dof_trajectory.points
                and all(abs(self._heard.get(name, value) - value) <= self.parameters['largest_lag']
                        for name, value in standing.items()))

    def _stop(self, run: Any) -> None:
        """
        Let a run come to rest on its path for good, and keep where it stands.

        Raises BudgetError where no cycle comes, as where simulated time stands still.
        """
        run.stopping = True
        last_ns, end = self._last_ns, time.monotonic() + MAX_SILENCE
        while not run.over.wait(GOAL_PERIOD):
            if not self.active:  # it comes to rest as the node is deactivated
                break
            if self._last_ns != last_ns:
                last_ns, end = self._last_ns, time.monotonic() + MAX_SILENCE
            if time.monotonic() > end:
                raise BudgetError(f'run: expected a cycle within {MAX_SILENCE:g} s, got none: '
                                  'does the clock stand still?')
        self._standing = dict(run.standing)

    def _come_to_rest(self) -> None:
        """Go on with a run until it stands, as the node is deactivated."""
        run = self._run
        if run is None:
            return
        run.stopping, end = True, time.monotonic() + run.scaling.run.duration + STOPPING_MARGIN
        while not run.over.is_set() and self.context.ok() and time.monotonic() < end:
            self._step(run)
            run.over.wait(1.0 / self.parameters['rate'])
        self._run = None

    def _ready(self) -> DynamicsAnswers:
        """Return the answers; raise LiedynError where no run can begin."""
        return require_answers(self, self._answers)

    def _hear(self, message: JointState) -> None:
        """Take the positions of joints of the model; others may be of other machines."""
        if not self.active or self._answers is None:
            return
        known = set(self._answers.model.coordinate_names)
        names = [name for name in message.name if name in known]
        positions = {name: value for name, value in zip(message.name, message.position)
                     if name in known and math.isfinite(value)}
        if len(positions) < len(names):
            self.complain('joint_states: expected a finite position of each joint, got '
                          f'{len(positions)} for {len(names)} names', 'positions')
        if positions:
            self._heard.update(positions)
            self._heard_ns = self.now_ns()

    def _take_limits(self, message: RetimingLimits) -> None:
        if not self.active or self._run is None:
            return
        from liedyn_ros.nodes.dynamics.retiming.request import read_limits
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
        if self._run is not None and self.active:
            self._step(self._run)

    def _step(self, run: Any) -> None:
        now, period = self.now_ns(), 1.0 / self.parameters['rate']
        passed = 1e-9 * (now - self._last_ns) if self._last_ns else period
        cycle = min(max(passed, CYCLE_BOUNDS[0] * period), CYCLE_BOUNDS[1] * period)
        self._last_ns = now
        status = run.step(
            cycle, self._asked(now), run.lag(self._heard) if self._heard_ns else 0.0,
            (self.parameters['tolerated_lag'], self.parameters['largest_lag']))
        stamp = stamp_of(now)
        self._status.commanded()
        for message, publisher in ((status, self._statuses), (run.joints, self._commands),
                                   (run.base, self._poses)):
            message.header.stamp = stamp
            if message is not run.base or run.base.points:
                publisher.publish(message)
        if run.over.is_set():
            self._run = None

    def _asked(self, now: int) -> float:
        """Return the share of the plan's speed that is asked for, 0 while joints are silent."""
        if not (silence := self._silence(now)):
            return self._speed
        self.complain(f'joint_states: {silence}; the run stops', 'silence')
        return 0.0

    def _silence(self, now: int) -> str:
        """Return for how long joints that were heard are silent, beyond what they may be."""
        timeout, silent = self.parameters['input_timeout'], 1e-9 * (now - self._heard_ns)
        if not self._heard_ns or not timeout or silent <= timeout:
            return ''
        return f'expected every {timeout:g} s, got none for {silent:.1f} s'

    def _report(self) -> None:
        """Report the run, its last command, the age of that and its bound."""
        if not self.active:
            return
        with self.lock:
            run, silence = self._run, self._silence(self.now_ns())
        level, message, status = DiagnosticStatus.OK, 'no run', None
        if run is not None:
            level, message, status = DiagnosticStatus.OK, 'runs', run.status
            if silence:
                level, message = DiagnosticStatus.ERROR, f'stops: joint_states: {silence}'
            elif status.lag > self.parameters['tolerated_lag']:
                level, message = DiagnosticStatus.WARN, 'waits for joints that lag'
        values = {} if status is None else {
            'speed': f'{status.speed:.3f}', 'lag': f'{status.lag:.3g}',
            'planned time, s': f'{status.planned_time:.3f}'}
        self._status.publish((level, message, values), {} if run is None else {
            name: (value,) for name, value in run.standing.items()},
            CYCLE_BOUNDS[1] / self.parameters['rate'], moves=run is not None)


def from_standing(request: Any, standing: dict[str, float]) -> JointTrajectory:
    """
    Return the waypoints of a request from where the joints stand.

    Raises NameSetError for other joints than those that stand, or for poses beside them.
    """
    given = request.trajectory
    if set(given.joint_names) != set(standing) or request.multi_dof_trajectory.points:
        raise NameSetError(
            f'trajectory.joint_names: expected the joints of the current run, {list(standing)}, '
            f'and no poses, got {list(given.joint_names)}; the run has stopped', names=standing)
    start = [standing[name] for name in given.joint_names]
    if given.points and np.allclose(
            given.points[0].positions, start, rtol=0.0, atol=MAX_START_DISTANCE):
        return given
    return JointTrajectory(joint_names=given.joint_names, points=[
        JointTrajectoryPoint(positions=start), *given.points])


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(PathRunnerNode, args)
