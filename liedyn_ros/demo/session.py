# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A run of a demo: processes of nodes, and a recorder of their messages."""

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
import time
from types import TracebackType
from typing import Any

from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
import rclpy
from rclpy.client import Client
from rclpy.signals import uninstall_signal_handlers

from liedyn_ros.demo.processes import Drawings, NodeProcess
from liedyn_ros.demo.recorder import DemoRecorder
from liedyn_ros.demo.verdict import NotShownError
from liedyn_ros.nodes.simulator_node import MUJOCO_ENGINE, OWN_ENGINE

NODES_START_LIMIT = 1800.0  # s for the nodes to start; the first time compiles, on any machine
# S of waiting before it is said what for, and said again
WAIT_NOTICE, WAIT_NOTICE_PERIOD = 10.0, 30.0
ANSWER_PERIOD = 0.05  # s between two looks whether what is awaited is there
RETRY_PERIOD = 2.0  # s, of requests for the state of a node
PHYSICS = OWN_ENGINE if find_spec('mujoco') is None else MUJOCO_ENGINE  # of machines under control


@dataclass(frozen=True)
class DemoStage:
    """Stage of all parts: a folder, a process that draws, and the end (s, monotonic clock)."""

    folder: Path
    drawings: Drawings
    end: float


class Session:
    """Owns the processes and the recorder; a context manager that ends them all."""

    def __init__(self, topics: Mapping[str, type], stage: DemoStage) -> None:
        """Take topics with their message types, and the stage."""
        self._stage, self._stack = stage, ExitStack()
        self._processes: dict[str, NodeProcess] = {}
        rclpy.init(args=[])
        self._stack.callback(uninstall_signal_handlers)  # which Jazzy leaves installed
        self._stack.callback(rclpy.try_shutdown)
        self.recorder = DemoRecorder(topics)
        self._stack.callback(self.recorder.destroy_node)

    def start(self, module: str, node: str, log: str = '', **parameters: Any) -> None:
        """Start a module of liedyn_ros.nodes; node: its name, log: that of its file, else so."""
        self._processes[node] = self._stack.enter_context(NodeProcess(
            f'liedyn_ros.nodes.{module}', parameters, self._stage.folder / f'{log or node}.log'))

    def wait_for(self, missing: Callable[[], str], limit: float = NODES_START_LIMIT,
                 idle: Callable[[], object] = lambda: None) -> None:
        """
        Spin until nothing is missing, and say what is awaited where that takes long.

        missing: returns what is, empty for nothing. limit: s. idle: called at each look. Raises
        NotShownError if a process ends, or the time runs out, that of the stage too.
        """
        begin = time.monotonic()
        tell, end = begin + WAIT_NOTICE, min(begin + limit, self._stage.end)
        while what := missing():
            now = time.monotonic()
            if now > end:
                raise NotShownError(f'{what}: waited {now - begin:.0f} s in vain; {self._logs()}')
            self.require_time()
            if now > tell:
                tell = now + WAIT_NOTICE_PERIOD
                print(f'  waiting for {what}, {now - begin:.0f} s of at most '
                      f'{end - begin:.0f}; {self._logs()}', flush=True)
            idle()
            self.recorder.spin_for(ANSWER_PERIOD)

    def require_time(self) -> None:
        """Raise NotShownError where a process has ended, or the stage's time is over."""
        for process in self._processes.values():
            process.require_running()
        if time.monotonic() > self._stage.end:
            raise NotShownError(f'the time of the whole demo is over; {self._logs()}')

    def wait_until_active(self, *nodes: str, idle: Callable[[], object] = lambda: None) -> None:
        """Wait until the nodes of these names are active."""
        asked = {node: _Asked(self.recorder.create_client(GetState, f'{node}/get_state'))
                 for node in nodes}
        active: set[str] = set()

        def missing() -> str:
            active.update(node for node in nodes if node not in active and asked[node].active())
            left = [node for node in nodes if node not in active]
            return f'{", ".join(left)} to be active' if left else ''

        self.wait_for(missing, idle=idle)

    def wait_until_heard(self, topic: str, nodes: Collection[str],
                         idle: Callable[[], object] = lambda: None) -> None:
        """Wait until nodes of these names subscribe to a topic."""
        def missing() -> str:
            left = set(nodes) - {info.node_name for info in
                                 self.recorder.get_subscriptions_info_by_topic(topic)}
            return f'{topic} to be heard by {", ".join(sorted(left))}' if left else ''

        self.wait_for(missing, idle=idle)

    def _logs(self) -> str:
        return 'logs: ' + ', '.join(str(process.log) for process in self._processes.values())

    def __enter__(self) -> 'Session':
        """Return the session."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """End the processes, all at a time, and the recorder."""
        for process in self._processes.values():
            process.ask_to_end()
        self._stack.close()


class _Asked:
    """A question for the state of a node, asked again where no answer comes."""

    def __init__(self, client: Client) -> None:
        self._client, self._at = client, -RETRY_PERIOD
        self._answers: list[Any] = []  # a late one counts, too

    def active(self) -> bool:
        """Return whether the node has answered that it is active; else ask once more."""
        done = [answer.result() for answer in self._answers if answer.done()]
        self._answers = [answer for answer in self._answers if not answer.done()]
        if any(each.current_state.id == State.PRIMARY_STATE_ACTIVE for each in done):
            return True
        if done or time.monotonic() > self._at + RETRY_PERIOD:
            self._at = time.monotonic()
            self._answers.append(self._client.call_async(GetState.Request()))
        return False
