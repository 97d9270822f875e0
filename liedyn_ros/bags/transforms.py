# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Transforms of robots that are recorded, made from their descriptions and joint states."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
import sys
from typing import Any, NamedTuple, TYPE_CHECKING

from liedyn_ros.common.errors import spelled
from liedyn_ros.common.stamps import Pace

if TYPE_CHECKING:  # it takes seconds to load, so the thread does
    from liedyn_ros.model import Model
    from liedyn_ros.recordings.bags.transforms import RobotFrames

MAX_WAITING_MESSAGES = 1000  # messages whose transforms are not made yet; those beyond have none
DESCRIPTION_TOPIC = 'robot_description'
TOPIC_TYPES = {'joint_states': 'sensor_msgs/msg/JointState',
               'multi_dof_joint_states': 'sensor_msgs/msg/MultiDOFJointState',
               'odometry': 'nav_msgs/msg/Odometry'}


class BagMessage(NamedTuple):
    """A message for a bag: topic, type, time (ns), and its bytes."""

    topic: str
    type_name: str
    received_ns: int
    data: bytes


class RobotTransforms:
    """
    Makes messages of /tf from what a recorder hears, in a thread of its own.

    A robot is described by a topic robot_description, or by a file. What is heard beside that
    topic, in its namespace, is in TOPIC_TYPES. Transforms are made so many a second at most, by
    the times of arrival. The thread loads the model, so the recorder goes on meanwhile;
    MAX_WAITING_MESSAGES messages wait for it at most.
    """

    def __init__(self, rate: float, file: Path | None = None, namespace: str = '') -> None:
        """
        Wait for descriptions; or take that of a file, for a namespace such as '/left'.

        Raises DescriptionError and OSError for the file.
        """
        self._thread = ThreadPoolExecutor(1, 'transforms')
        self._made: deque[Future[list[BagMessage]]] = deque()
        self._rate, self._paces = rate, dict[str, Pace]()
        self._robots: dict[str, RobotFrames | None] = {}
        self._given: tuple[Model, str | None] | None = None
        if file is not None:
            from liedyn_ros.recordings.bags.transforms import robot_of_file
            self._given, self._robots[namespace] = robot_of_file(file), None
        self._waits = file is None

    def hear(self, topic: str, type_name: str, received_ns: int, data: bytes) -> None:
        """Take a message as it was received."""
        namespace, _, name = topic.rpartition('/')
        if name == DESCRIPTION_TOPIC and self._waits:
            self._robots.setdefault(namespace)
            self._later(self._adopt, namespace, received_ns, data)
        elif TOPIC_TYPES.get(name) == type_name and namespace in self._robots:
            if self._given is not None:  # the first message, so that the description has a time
                self._later(self._adopt, namespace, received_ns, self._given)
                self._given = None
            pace = self._paces.setdefault(topic, Pace(self._rate))
            if pace.is_due(received_ns):
                self._later(self._place, topic, received_ns, data)

    def made(self, *, wait: bool = False) -> Iterator[BagMessage]:
        """Yield the transforms made so far, in the order of messages; wait: for all of them."""
        while self._made and (wait or self._made[0].done()):
            yield from self._made.popleft().result()
        if wait:
            self._thread.shutdown()

    def _later(self, make: Callable[[str, int, Any], list[BagMessage]], name: str,
               received_ns: int, data: Any) -> None:
        if len(self._made) < MAX_WAITING_MESSAGES:
            self._made.append(self._thread.submit(make, name, received_ns, data))

    def _adopt(self, namespace: str, received_ns: int, given: Any) -> list[BagMessage]:
        """Take a description, or the model of a file, whose URDF is written if there is one."""
        from liedyn_ros.recordings.bags.transforms import (
            description_message, robot_of_description, RobotFrames, TEXT)
        try:
            model, urdf = given if isinstance(given, tuple) else (
                robot_of_description(given), None)
            self._robots[namespace] = RobotFrames(model)
        except Exception as error:  # of a message that may have any content
            print(f'no transforms: {spelled(str(error))}', file=sys.stderr, flush=True)
            return []
        return [] if urdf is None else [BagMessage(
            f'{namespace}/{DESCRIPTION_TOPIC}', TEXT, received_ns, description_message(urdf))]

    def _place(self, topic: str, received_ns: int, data: bytes) -> list[BagMessage]:
        from liedyn_ros.recordings.bags.transforms import TRANSFORM_TOPIC, TRANSFORM_TYPE
        namespace, _, name = topic.rpartition('/')
        robot = self._robots[namespace]
        try:
            found = None if robot is None else robot.message(TOPIC_TYPES[name], data)
        except Exception as error:
            print(f'{topic}: {spelled(str(error))}', file=sys.stderr, flush=True)
            found = None
        return [] if found is None else [
            BagMessage(TRANSFORM_TOPIC, TRANSFORM_TYPE, received_ns, found)]
