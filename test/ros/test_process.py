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

"""The end of a process in which nobody destroyed the nodes."""

import subprocess
import sys

import pytest

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
