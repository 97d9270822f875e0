# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The end of a process or a context whose nodes nobody destroyed."""

import subprocess
import sys
from threading import Event, Thread
import time

import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation

from liedyn_ros.ros.lifecycle import ManagedNode
from liedyn_ros.ros.stream import Stream

pytestmark = pytest.mark.ros


def test_python_ends_after_the_threads_of_the_nodes(namespace):
    """A thread that returns from C++ once Python has ended aborts the process, mostly."""
    code = f"""
import atexit
import threading

def tell():  # last, as it is registered first
    print('left:', [each.name for each in threading.enumerate() if 'stream' in each.name])

atexit.register(tell)
import rclpy
from liedyn_ros.ros.lifecycle import ManagedNode
from liedyn_ros.ros.stream import Stream

class Node(ManagedNode):
    def configure(self):
        Stream(self).start()

rclpy.init(args=['--ros-args', '-r', '__ns:={namespace}'])
node = Node('node', ())
while not node.active:
    rclpy.spin_once(node)
"""
    result = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, 'left: []\n'), result.stderr


class Failing(ManagedNode):
    """A node whose stream meets an error of the middleware as soon as the node ends."""

    def __init__(self, **options):
        """Start."""
        self.inside = Event()
        super().__init__('failing', (), **options)

    def configure(self):
        """Open the stream."""
        self.stream = Stream(self)
        self.stream.open_timer(100.0, self._fail)
        self.stream.start()

    def _fail(self):
        self.inside.set()
        while self.context.handle.ok() and not self.stream._ended:
            time.sleep(0.001)
        raise rclpy_implementation.RCLError('publisher is invalid')


def test_a_stream_that_fails_while_the_context_ends_does_not_hold_it(other_context, namespace):
    """On Kilted the context destroys its nodes, so it waits for the stream, with a lock held."""
    node = Failing(context=other_context, namespace=namespace)
    assert node.inside.wait(60.0)
    ending = Thread(target=other_context.shutdown, daemon=True)
    ending.start()
    ending.join(60.0)
    assert not ending.is_alive()
    node.destroy_node()
