# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The request for the fastest run along a path, of a tree, closed loops or a platform."""

from __future__ import annotations

from collections.abc import Callable
import time

from liedyn_interfaces.action import RetimeTrajectory as RetimeAction
from liedyn_interfaces.srv import RetimeTrajectory
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.nodes.dynamics.retiming.limits import loaded, read_limits
from liedyn_ros.nodes.dynamics.retiming.paths import read_path
from liedyn_ros.nodes.dynamics.retiming.writing import write_base, write_binding, write_joints
from liedyn_ros.retiming import retime, Retimed, RetimingBudget, stop_along
from liedyn_ros.ros.messages.tree_messages import TreeMessages
from liedyn_ros.ros.node.goals import seconds_of, Watch
from liedyn_ros.stewart import StewartGeometry

MAX_WAYPOINTS, MAX_RUN_COORDINATES, MAX_INTERVALS = 1000, 300, 1000
MAX_PLACES = 30_000  # velocity coordinates times intervals
MAX_ANSWER_POINTS = 10_000  # of the answer
MAX_RUN_SECONDS = 10.0  # of a request
SAMPLE_PERIOD, DEFAULT_INTERVALS = 0.01, 100  # where the request has 0


def retiming_budget(require_active: Callable[[], object]) -> RetimingBudget:
    """Return the bounds of a request, which ends too where require_active raises an error."""
    def look(_: float) -> None:
        require_active()

    return RetimingBudget(seconds=MAX_RUN_SECONDS, watch=look)


def retiming_goal_budget(goal: RetimeAction.Goal, watch: Watch) -> RetimingBudget:
    """Return the bounds of a goal, with what watches it; raise LimitError for its time_limit."""
    def look(_: float) -> None:
        watch(lambda: RetimeAction.Feedback(
            rounds=budget.rounds, duration=budget.duration, elapsed=budget.seconds))

    budget = RetimingBudget(seconds=seconds_of(goal), watch=look)
    return budget


def handle_retime(dynamics: Dynamics | ConstrainedDynamics, geometry: StewartGeometry | None,
                  messages: TreeMessages, request: RetimeTrajectory.Request,
                  response: RetimeTrajectory.Response, budget: RetimingBudget) -> Retimed:
    """
    Fill in the response and return the run, or raise LiedynError and write nothing.

    The error names the wrong field. geometry is that of a platform, whose waypoints are poses.
    Request and response are those of the service, or the goal and the result of the action.
    """
    period = request.sample_period or SAMPLE_PERIOD
    begin = time.perf_counter()
    run = plan(dynamics, geometry, messages, request, budget)
    if not run.duration / period < MAX_ANSWER_POINTS:  # nor a NaN
        raise LimitError(f'sample_period: expected at most {MAX_ANSWER_POINTS} points in '
                         f'{run.duration:.6g} s, got {period} s')
    at = run.at(np.append(np.arange(0.0, run.duration, period), run.duration))
    lower_bound = run.lower_bound
    response.header.stamp = request.header.stamp
    response.header.frame_id = messages.names.base_body
    response.duration = run.duration
    response.uniform_duration = run.uniform_duration if np.isfinite(run.uniform_duration) else 0.0
    response.lower_bound = lower_bound
    write_joints(dynamics, messages, request.trajectory.joint_names, at, response.trajectory)
    write_base(messages, at, response.multi_dof_trajectory)
    write_binding(run, response)
    response.solve_time = time.perf_counter() - begin
    return run


def plan(dynamics: Dynamics | ConstrainedDynamics, geometry: StewartGeometry | None,
         messages: TreeMessages, request: RetimeTrajectory.Request, budget: RetimingBudget
         ) -> Retimed:
    """Return the run that a request asks for; raises as handle_retime does."""
    intervals = request.intervals or DEFAULT_INTERVALS
    _require_sizes(request, dynamics.model.nv, intervals)
    machine = loaded(dynamics, request.payloads)
    limits = read_limits(machine.model, request.limits)
    external = _read_external(machine, messages, request)
    budget.look()
    path = read_path(dynamics, geometry, messages, request, budget)
    if not request.stop:
        return retime(machine, path, limits, start=path.start, end=path.end, intervals=intervals,
                      external=external, budget=budget)
    if path.start is None:
        raise LimitError('stop: expected velocities of the first point, in which the machine '
                         'moves, got none')
    return stop_along(machine, path, limits, start=path.start, intervals=intervals,
                      external=external, budget=budget)


def _read_external(machine: Dynamics | ConstrainedDynamics, messages: TreeMessages,
                   request: RetimeTrajectory.Request) -> Array | None:
    """Return the wrenches (B, 6) on the bodies of a machine, None without any."""
    of = TreeMessages(machine.model) if request.payloads else messages
    return of.read_external(request.external, 1)


def _require_sizes(request: RetimeTrajectory.Request, nv: int, intervals: int) -> None:
    """Raise LimitError or ShapeError for a request beyond the bounds."""
    if nv > MAX_RUN_COORDINATES:
        raise LimitError(f'model: expected at most {MAX_RUN_COORDINATES} velocity coordinates for '
                         f'retiming, got {nv}')
    most = min(MAX_INTERVALS, MAX_PLACES // nv) if nv else MAX_INTERVALS
    if intervals > most:
        raise LimitError(f'intervals: expected at most {most} for {nv} velocity coordinates, '
                         f'got {intervals}')
    for name in ('trajectory', 'multi_dof_trajectory'):
        count = len(getattr(request, name).points)
        if count > MAX_WAYPOINTS:
            raise ShapeError(f'{name}.points: expected at most {MAX_WAYPOINTS}, got {count}')
    if not 0.0 <= request.blend < np.inf:
        raise LimitError(f'blend: expected 0 or more, got {request.blend}')
    if not 0.0 <= request.sample_period < np.inf:
        raise LimitError(f'sample_period: expected 0 or more, got {request.sample_period}')
