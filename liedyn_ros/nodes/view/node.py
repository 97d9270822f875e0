# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node of the live view: it listens as any node does, and shows what it hears on a page."""

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from typing import Any, Protocol
from urllib.parse import urlsplit

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from std_msgs.msg import String

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.model import Model
from liedyn_ros.nodes.dynamics.machines import read_machine, urdf_of
from liedyn_ros.nodes.dynamics.parameters import MODEL_PARAMETERS, MODEL_SOURCES
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.view.parameters import AUTO, PLATFORM_VIEW, TREE_MACHINE, VIEW
from liedyn_ros.nodes.view.topics import PlatformTopics, TreeTopics, ViewTopics
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process.threads import in_thread
from liedyn_ros.ros.qos import LATCHED
from liedyn_ros.ros.streams.diagnostics import PeriodicDiagnostics, Report
from liedyn_ros.stewart.home import home_of
from liedyn_ros.view_state import Description, Doubts, Machine, Page

LEAST_DRAWN = 0.5  # share of the pictures of `rate`, below which a warning follows


class ViewDiagnostics(PeriodicDiagnostics):
    """Reports of the pictures drawn since the last report."""

    def __init__(self, node: ManagedNode, page: Page, topics: ViewTopics) -> None:
        """Open the publisher and the timer."""
        self._page, self._topics = page, topics
        self.drawn = 0  # pictures
        super().__init__(node, 'page')

    def _counts(self) -> Sequence[int]:
        return self._topics.taken, self.drawn

    def _report(self, counted: Sequence[int], seconds: float) -> Report:
        taken, drawn = counted
        expected = self._node.parameters['rate'] * seconds
        message = 'shows what comes' if taken else 'no messages'
        if slow := drawn < LEAST_DRAWN * expected:
            message = f'too slow: {drawn} of {expected:.0f} pictures were drawn'
        return Report(message, DiagnosticStatus.WARN if slow else DiagnosticStatus.OK, {
            'taken': taken, 'pictures': drawn, 'viewers': self._page.viewers,
            # Without what lets a browser in: whoever hears this is not to share it.
            'address': '{0.scheme}://{0.netloc}'.format(urlsplit(self._page.address))})


class PageMaker(Protocol):
    """Opens a page."""

    def __call__(self, address: str, port: int, history: float, path_time: float, *,
                 dark: bool) -> Page:
        """Return a page on an address and a port, or the next that is free; times in s."""


class ViewNode(ManagedNode):
    """
    Topics in; a page for browsers out.

    It publishes nothing but what every node does, so nobody waits for it. The page is a server in
    this process; a browser that is slow or leaves changes nothing but its own picture.
    """

    def __init__(self, open_page: PageMaker, **options: Any) -> None:
        """Take a function that opens the page; options are those of a Node."""
        self._open_page, self._showing = open_page, Lock()
        self._latest: String | None = None  # of the descriptions that came
        self._doubts: Doubts | None = None  # about joint states of the model that is shown
        self._told = set[str]()  # kinds of them in the log
        super().__init__('view', VIEW, **options)

    def configure(self) -> None:
        """Open the page and the topics, show the machine if the parameters name it."""
        parameters, machine = self.parameters, self._machine(None)
        try:
            self._page = self._open_page(
                parameters['address'], parameters['port'], parameters['history'],
                parameters['path_time'], dark=parameters['dark'])
        except OSError as error:
            raise LiedynError(f'address, port: expected one that this computer has, got '
                              f'{parameters["address"]!r}: {error}') from error
        self.on_close(self._page.close)
        if not _is_loopback(parameters['address']):
            self.get_logger().warning(
                f'address {parameters["address"]}: the view is open to the network, without '
                'encryption, to whoever has its whole address')
        topics = (TreeTopics if machine is None or isinstance(machine, Model)
                  else PlatformTopics)
        self._topics = topics(self)
        self._diagnostics = ViewDiagnostics(self, self._page, self._topics)
        if machine is not None:
            self._adopt(machine, None)
        else:
            self.open_subscription(  # in a group of its own, as it awaits what it reads
                String, 'robot_description', self._take_description, LATCHED,
                callback_group=ReentrantCallbackGroup())
            self.get_logger().info('waiting for the topic robot_description')
        self._record(parameters['recording'])
        self.get_logger().info(f'the view is on {self._page.address}')

    def _record(self, path: str) -> None:
        """Record the pictures from now on into a file, unless its path is empty."""
        if not path:
            return
        file = Path(path)
        if file.suffix != '.html' or not file.parent.is_dir():
            raise LiedynError('recording: expected a file .html in a folder that exists, got '
                              f'{path!r}')
        self._page.record_to(file)

    def activate(self) -> None:
        """Begin to draw."""
        self.open_timer(self.parameters['rate'], self._draw,
                        clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _shows_platform(self) -> bool:
        kind = self.parameters['machine']
        if kind != AUTO:
            return bool(kind == PLATFORM_VIEW)
        return not any(self.parameters[name] for name in MODEL_SOURCES)

    def _machine(self, description: str | None) -> Machine | None:
        if self._shows_platform():
            return Platform.from_parameters(self.parameters, ignore_others=True).geometry
        return read_machine(self._model_values(), description)

    def _model_values(self) -> dict[str, Any]:
        return {parameter.name: self.parameters[parameter.name] for parameter in MODEL_PARAMETERS}

    def _adopt(self, machine: Machine, description: str | None) -> None:
        found = urdf_of(self._model_values(), description) if isinstance(machine, Model) else None
        home = np.eye(4) if isinstance(machine, Model) else home_of(machine, self.parameters)
        self._doubts = Doubts(machine) if isinstance(machine, Model) else None
        self._told.clear()
        self._page.adopt(
            machine, home,
            None if found is None else Description(*found))

    async def _take_description(self, message: String) -> None:
        """Show the topic's model: it and its meshes are read in a thread, one after the other."""
        self._latest = message
        found = await in_thread(self, lambda: self._show(message))
        try:
            found.result()
        except LiedynError as error:
            self.complain(f'{TREE_MACHINE}: {error}')

    def _show(self, message: Any) -> None:
        """Show the model of a description, unless a newer one waits or the node closes."""
        text: str = message.data
        with self._showing:
            if message is not self._latest or not self.configured:
                return
            machine = self._machine(text)
            if machine is not None:
                self._adopt(machine, text)

    def _draw(self) -> None:
        seen = self._topics.look()
        if self._doubts is not None:
            found = self._doubts.of(seen)
            for kind in found.keys() - self._told:
                self.get_logger().warning(found[kind])
            self._told |= found.keys()
            seen = replace(seen, warnings=(*found.values(), *seen.warnings))
        self._page.show(seen)
        self._diagnostics.drawn += 1


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == 'localhost'
