# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Warnings of the core in the log of a node: a model file with what is left out, for example."""

from collections.abc import Callable
import logging
from weakref import ref

from rclpy.node import Node

CORE = logging.getLogger('liedyn_ros')


class _Handler(logging.Handler):
    """Handler that passes records of the core's log on to a node."""

    def __init__(self, node: Node) -> None:
        """Take the node, which may be dropped without an end."""
        super().__init__(logging.WARNING)
        self._node = ref(node)

    def emit(self, record: logging.LogRecord) -> None:
        """Log as the node."""
        if (node := self._node()) is not None:
            node.get_logger().warning(record.getMessage())


def pass_on(node: Node) -> Callable[[], None]:
    """Let a node log the warnings of the core; return the function that ends it."""
    handler = _Handler(node)
    CORE.addHandler(handler)
    return lambda: CORE.removeHandler(handler)
