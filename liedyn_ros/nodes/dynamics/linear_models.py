# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The request for linear models about states, of a tree or with its loops closed."""

from collections.abc import Callable
import time

from liedyn_interfaces.action import Linearize as LinearizeAction
from liedyn_interfaces.msg import LinearModel as LinearModelMessage
from liedyn_interfaces.srv import Linearize
import numpy as np

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import complete_acceleration, ConstrainedDynamics
from liedyn_ros.dynamics.linearization import linearize, LinearModel, transition
from liedyn_ros.nodes.dynamics.inputs import explain, RequestInputs
from liedyn_ros.ros.messages.tree_messages import doubles, TreeMessages
from liedyn_ros.ros.node.goals import seconds_of, Watch

MAX_STATES = 1000
MAX_TIME_STEP = 10.0  # s
MAX_LINEAR_COORDINATES = 300  # of velocity
MAX_MATRIX_NUMBERS = 10_000_000  # of A and B, of all models
MAX_EVALUATIONS = 100_000  # of the motions of a request
MAX_SECONDS = 10.0  # of a request


def number_of_states(request: Linearize.Request) -> float:
    """Return by what the work of a request or goal grows: 1 to MAX_STATES * MAX_TIME_STEP."""
    step = request.step if request.follow_motion else 1.0
    return max(1.0, min(len(request.states), MAX_STATES) * min(max(1e-3, step), MAX_TIME_STEP))


def service_budget(require_active: Callable[[], object]) -> Budget:
    """Return the bounds of a request, which ends too where require_active raises an error."""
    def look(_: float) -> None:
        require_active()

    return Budget(evaluations=MAX_EVALUATIONS, seconds=MAX_SECONDS, watch=look,
                  clock=time.thread_time)  # its own: others work beside it


def goal_budget(goal: LinearizeAction.Goal, watch: Watch) -> Budget:
    """Return the bounds of a goal, with what watches it; raise LimitError for its time_limit."""
    def look(done: float) -> None:
        watch(lambda: LinearizeAction.Feedback(
            progress=done, states_done=budget.part, elapsed=budget.seconds))

    budget = Budget(seconds=seconds_of(goal), watch=look)
    return budget


def handle_linearize(dynamics: Dynamics | ConstrainedDynamics, messages: TreeMessages,
                     request: Linearize.Request, response: Linearize.Response,
                     budget: Budget) -> None:
    """
    Fill in the response, or raise LiedynError that names the wrong field and write nothing.

    Request and response are those of the service, or the goal and the result of the action.
    """
    _require_sizes(request, messages.model.nv)
    external = messages.read_external(request.external, 1)
    models, spent = [], 0.0
    for k, state in enumerate(request.states):
        try:
            budget.begin(k, len(request.states))
            q, v, order = messages.read_state(state)
            given = None if not request.efforts else messages.read_efforts(
                [request.efforts[k]], order, 1)
            begin = time.perf_counter()
            found, tau, a = _model(
                dynamics, messages, request, q, v, given, external, budget)
            spent += time.perf_counter() - begin
        except LiedynError as error:
            raise type(error)(f'states[{k}]: {error}') from error
        models.append(LinearModelMessage(
            a_matrix=doubles(found.A), b_matrix=doubles(found.B),
            effort=messages.to_effort(tau, order),
            acceleration=messages.to_acceleration(a, order)))
    response.header.stamp = request.header.stamp
    response.header.frame_id = messages.names.base_body
    response.coordinate_names = list(messages.model.coordinate_names)
    response.models, response.solve_time = models, spent


def _require_sizes(request: Linearize.Request, nv: int) -> None:
    count, efforts = len(request.states), len(request.efforts)
    if nv > MAX_LINEAR_COORDINATES:
        raise LimitError(f'model: expected at most {MAX_LINEAR_COORDINATES} velocity coordinates '
                         f'for '
                         f'linear models, got {nv}')
    most = min(MAX_STATES, MAX_MATRIX_NUMBERS // max(6 * nv * nv, 1))
    if not 0 < count <= most:
        raise ShapeError(f'states: expected 1 to {most}, got {count}')
    if efforts not in (0, count):
        raise ShapeError(f'efforts: expected one for each of {count} states, or none, '
                         f'got {efforts}')
    if not 0.0 <= request.step <= MAX_TIME_STEP:  # nor a NaN
        raise LimitError(f'step: expected 0 to {MAX_TIME_STEP} s, got {request.step}')
    if request.follow_motion and not request.step:
        raise LimitError('step: expected above 0 s with follow_motion, got 0')


def _model(dynamics: Dynamics | ConstrainedDynamics, messages: TreeMessages,
           request: Linearize.Request, q: Array, v: Array, given: Array | None,
           external: Array | None, budget: Budget) -> tuple[LinearModel, Array, Array]:
    """Return the model, and the efforts and accelerations at its state."""
    zero = np.zeros(messages.model.nv)
    try:
        if isinstance(dynamics, ConstrainedDynamics):
            tau, a = _closed_efforts(dynamics, q, v, given, external)
        else:
            tau = dynamics.inverse(q, v, zero, external) if given is None else given
            a = zero if given is None else dynamics.forward(q, v, tau, external)
        if request.follow_motion:
            return transition(
                dynamics, q, v, request.step, tau, external, budget=budget)[2], tau, a
        continuous = linearize(dynamics, q, v, tau, external)
    except LiedynError as error:
        known = np.full(zero.shape, given is None)
        raise explain(messages.names, RequestInputs(
            q, v, zero, zero if given is None else given, known, external), error) from error
    return (continuous.discrete(request.step) if request.step else continuous), tau, a


def _closed_efforts(dynamics: ConstrainedDynamics, q: Array, v: Array, given: Array | None,
                    external: Array | None) -> tuple[Array, Array]:
    """Return the efforts at a state of closed loops, and the accelerations under them."""
    tau = given
    if tau is None:
        still = complete_acceleration(dynamics, q, v, np.zeros(len(v)))
        tau = dynamics.inverse(q, v, still, external=external).tau
    return tau, dynamics.forward(q, v, tau, external=external).a
