# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Actions for requests that take long: their goals run in threads of their own."""

from collections.abc import Callable
from functools import partial
import math
import time
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse

from liedyn_ros.common.errors import BudgetError, LimitError
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.node.workers import Workers

MAX_WAITING_GOALS = 8  # goals; further ones are rejected, but for much smaller ones
FEEDBACK_PERIOD = 0.1  # s
GOAL_SECONDS, MAX_GOAL_SECONDS = 3600.0, 86400.0  # of a goal, unless it says so, and at most
Watch = Callable[[Callable[[], Any]], None]
Work = Callable[[Any, Any, Watch], None]


def seconds_of(goal: Any) -> float:
    """Return how long (s) a goal may work by its time_limit; raise LimitError for a wrong one."""
    if not 0.0 <= goal.time_limit <= MAX_GOAL_SECONDS:  # nor a NaN
        raise LimitError(f'time_limit: expected 0 to {MAX_GOAL_SECONDS:g} s, '
                         f'got {goal.time_limit}')
    return float(goal.time_limit) or GOAL_SECONDS


class GoalServer(ActionServer):
    """
    Serves an action in threads of its own, so that the executor stays free.

    beside: how many goals are worked on side by side; size_of a goal, 0 or above, tells which
    waits for which: see Workers. `name` is that of the action.

    work(goal, result, watch) fills in the result, or raises LiedynError. It calls watch often,
    with a function that returns the feedback; that is sent each FEEDBACK_PERIOD. watch raises
    BudgetError where the goal was cancelled, the node is not active any more, or no client
    listens any more.
    """

    def __init__(self, node: ManagedNode, action_type: Any, name: str, work: Work,
                 beside: int = 1, size_of: Callable[[Any], float] = lambda _: 0.0) -> None:
        """Open the action until the node closes what it opens at present."""
        self.name, self._owner, self._work, self._size_of = name, node, work, size_of
        self._feedback_topic = f'{name}/_action/feedback'
        self._workers = Workers(node, 'goals', beside)
        super().__init__(
            node, action_type, name, self._never, goal_callback=self._judge,
            handle_accepted_callback=lambda goal: self._workers.submit(
                goal.execute, size_of(goal.request)),
            cancel_callback=lambda _: CancelResponse.ACCEPT)
        node.on_close(self._close)

    @property
    def wait(self) -> bool:
        """Return whether goals wait for the one that is worked on."""
        return self._workers.waiting(math.inf) > 0

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """Work on a goal in the thread that executes it; the executor sends the result."""
        result = self.action_type.Result()
        watch = partial(self._watch, goal_handle, _Listening(self._owner, self._feedback_topic))
        self._owner.answer(
            lambda goal, result: self._work(goal, result, watch), goal_handle.request, result)
        super().notify_execute(goal_handle, partial(_finish, result))

    def _judge(self, goal: Any) -> GoalResponse:
        if self._workers.waiting(self._size_of(goal)) < MAX_WAITING_GOALS:
            return GoalResponse.ACCEPT
        self._owner.complain(f'{self._feedback_topic}: expected at most {MAX_WAITING_GOALS} '
                             f'goals that '
                             'wait, got another, which is rejected')
        return GoalResponse.REJECT

    def _watch(self, goal: Any, listening: '_Listening',
               feedback: Callable[[], Any]) -> None:
        if not self._owner.active:
            raise BudgetError('expected the node to stay active, got its end')
        if goal.is_cancel_requested:
            raise BudgetError('cancelled')
        if listening.is_due():
            goal.publish_feedback(feedback())

    def _never(self, _: Any) -> None:
        """Stand for the callback that rclpy wants: notify_execute has its own."""

    def _close(self) -> None:
        self._workers.close()
        self.destroy()


class _Listening:
    """Whether a client listens: once one was seen, all may have left."""

    def __init__(self, node: ManagedNode, topic: str) -> None:
        self._node, self._topic = node, topic
        self._due, self._seen = 0.0, False

    def is_due(self) -> bool:
        """Return whether feedback is due; raise BudgetError where nobody would receive it."""
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = now + FEEDBACK_PERIOD
        listeners = self._node.count_subscribers(self._topic)
        if self._seen and not listeners:
            raise BudgetError('expected a client that listens, got none any more')
        self._seen = bool(listeners)
        return self._seen


def _finish(result: Any, goal: Any) -> Any:
    """Return the result of a goal that was worked on, and end its state."""
    if goal.is_cancel_requested:
        goal.canceled()
    elif result.success:
        goal.succeed()
    else:
        goal.abort()
    return result
