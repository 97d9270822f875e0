# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The process of nodes: its end, its memory, the first line of its log."""

from contextlib import suppress
import inspect
from linecache import getlines
from pathlib import Path
import subprocess
import sys

import pytest
import rclpy.logging
from support import forked

from benchmarks.processes import remove_left
from liedyn_ros.ros.process import memory, run

pytestmark = pytest.mark.ros
INTERRUPT = """
import signal
from contextlib import suppress
from liedyn_ros.ros.process.run import until_shutdown

with suppress(KeyboardInterrupt):
    signal.raise_signal(signal.SIGINT)
with until_shutdown(node.context):
    rclpy.spin(node)
"""


def test_python_ends_after_the_threads_of_the_nodes(namespace):
    """A thread that returns from C++ once Python has ended aborts the process, mostly."""
    code = f"""
import atexit
import threading

def tell():  # last, as it is registered first
    print('left:', [each.name for each in threading.enumerate() if 'stream' in each.name])

atexit.register(tell)
import rclpy
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.stream import Stream

class Node(ManagedNode):
    def configure(self):
        Stream(self).start()

rclpy.init(args=['--ros-args', '-r', '__ns:={namespace}'])
node = Node('node', ())
while not node.active:
    rclpy.spin_once(node)
"""
    result = forked.run('-c', code)
    assert (result.returncode, result.stdout) == (0, 'left: []\n'), result.stderr


@pytest.mark.parametrize('where', ('callback', 'thread'))
def test_an_error_while_the_context_ends_does_not_hold_the_process(namespace, where):
    """Kilted's context destroys its nodes, so it waits for their threads, with a lock held."""
    code = f"""
import threading
import rclpy
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process.run import RCLError, until_shutdown
from liedyn_ros.ros.streams.stream import Stream

class Node(ManagedNode):
    def configure(self):
        self.ending, self.inside = threading.Event(), threading.Event()
        if '{where}' == 'callback':
            stream = Stream(self)
            stream.open_timer(100.0, self.fail)
            stream.start()
        else:
            thread = threading.Thread(target=self.run, daemon=True)
            thread.start()
            self.on_close(thread.join)
        self.on_close(self.ending.set)

    def run(self):
        with until_shutdown(self.context):
            self.fail()

    def fail(self):
        self.inside.set()
        while self.context.handle.ok() and not self.ending.wait(0.001):
            pass
        raise RCLError('publisher is invalid')

rclpy.init(args=['--ros-args', '-r', '__ns:={namespace}'])
node = Node('node', ())
while not node.active:
    rclpy.spin_once(node)
node.inside.wait()
"""
    with forked.start('-c', code) as process:
        assert process.wait() == 0, process.read()


@pytest.mark.parametrize(('end', 'code'), [
    ('', 0), ("raise ValueError('of a user')", 1), (INTERRUPT, 0)],
    ids=['return', 'error', 'interrupt'])
def test_a_server_that_nobody_destroyed_does_not_hold_the_process(namespace, end, code):
    """Its threads wait for goals: no signal, nor Jazzy's context, destroys a node."""
    program = f"""
import rclpy
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode

rclpy.init(args=['--ros-args', '-r', '__ns:={namespace}'])
node = DynamicsServerNode()
while not node.active:
    rclpy.spin_once(node)
"""
    with forked.start('-c', program + end) as process:
        assert process.wait() == code, process.read()


ENDS = """
import ctypes
from functools import partial
import os
from pathlib import Path
import signal
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process import run

class Node(ManagedNode):
    def configure(self):
        self.open_publisher(String, 'chatter')
        self.open_subscription(String, 'chatter', print)
        self.open_service(Trigger, '~/nothing', lambda *_: None)

    def activate(self):
        print(*dict.fromkeys(  # segments of Fast DDS that this process holds
            line.rpartition('/')[2].split()[0] for line in Path('/proc/self/maps').open()
            if '/dev/shm/fastdds_' in line and '_port' not in line))
        self.open_timer(10.0, lambda: os.kill(os.getpid(), signal.{name}))
        {more}

from std_msgs.msg import String
from std_srvs.srv import Trigger
run.END_LIMIT = {limit}
run.run(partial(Node, 'node', ()), ['--ros-args', '-r', '__ns:={namespace}'])
"""


@pytest.mark.parametrize(('name', 'more', 'code'), [
    ('SIGINT', '', 0), ('SIGTERM', '', 0),
    ('SIGINT', 'os.kill(os.getpid(), signal.SIGINT); print()', 0),
    ('SIGTERM', 'os.kill(os.getpid(), signal.SIGTERM); print()', 0),
    ('SIGINT', 'self.on_close(lambda: 1 // 0)', 1)],
    ids=['SIGINT', 'SIGTERM', 'SIGINT as it starts', 'SIGTERM as it starts', 'a fault as it ends'])
def test_a_node_that_is_stopped_leaves_no_shared_memory(namespace, name, more, code):
    ended = forked.run('-c', ENDS.format(namespace=namespace, name=name, more=more, limit=60.0))
    assert ended.returncode == code, ended.stderr
    held = ended.stdout.split()
    if not held:
        pytest.skip('the middleware has no segments of Fast DDS here')
    # Another participant's, which it read from, may be there as long as that is.
    mapped = ''.join(map(maps_of, Path('/proc').glob('[0-9]*/maps')))
    assert [each for each in held
            if (Path('/dev/shm') / each).exists() and each not in mapped] == []


def maps_of(path):
    """Return what a process has mapped, nothing where it has ended or is another's."""
    with suppress(OSError):
        return path.read_text()
    return ''


def test_a_middleware_that_hangs_at_the_end_does_not_hold_the_process(namespace):
    """It does so in C++, with Python's lock: no thread of Python could end it."""
    hangs = ('self._type_description_service.destroy = '
             'lambda: ctypes.PyDLL(None).sleep(600)')
    with forked.start('-c', ENDS.format(
            namespace=namespace, name='SIGTERM', more=hangs, limit=1.0)) as process:
        assert process.wait() == 1
        assert 'destroy_node' in process.read()[1]
        remove_left({*process.read()[0].split()})


GROWTH = """
import ctypes
from pathlib import Path
from liedyn_ros.ros.process import memory

libc = ctypes.CDLL(None)
for function in (libc.malloc, libc.calloc):
    function.restype = ctypes.c_void_p

def resident():
    for line in Path('/proc/self/status').read_text().splitlines():
        if line.startswith('VmRSS'):
            return int(line.split()[1]) / 1024

{begin}
before = resident()
for _ in range(3):  # endpoints are opened, something else is kept, and they are closed
    blocks = [libc.calloc(1, 1 << 20) for _ in range(100)]
    libc.malloc(100000)
    found = resident() - before
    for block in blocks:
        libc.free(ctypes.c_void_p(block))
print(found)
"""


@pytest.mark.skipif(not hasattr(memory.ctypes.CDLL(None), 'mallopt'), reason='glibc is not here')
@pytest.mark.parametrize('begin, least, most', [
    ('memory.keep_large_blocks_apart()', 0.0, 8.0),
    ('libc.mallopt(-3, 32 << 20), libc.mallopt(-1, 512 << 20)', 80.0, 200.0)])
def test_what_is_set_aside_and_never_used_takes_no_memory(begin, least, most):
    """
    MB, of 100 MB that are set aside; the second case shows that the test can fail.

    It takes all blocks below 32 MB from the heap and keeps them, as the library comes to do.
    """
    found = subprocess.run(
        [sys.executable, '-c', GROWTH.format(begin=begin)], check=True, text=True,
        stdout=subprocess.PIPE)
    assert least <= float(found.stdout) <= most


@pytest.fixture
def line(monkeypatch):
    """Return a function that logs as one of the package's modules, in a fresh table of Python."""
    monkeypatch.setattr(inspect, 'modulesbyfile', {})
    monkeypatch.setattr(inspect, '_filesbymodname', {}, raising=False)
    own = {'logger': rclpy.logging.get_logger('a')}
    exec(compile('def line(): logger.info("told")', run.__file__, 'exec'), own)
    return own['line']


def test_the_first_line_searches_no_modules(line, capfd):
    run.know_modules()
    known = dict(inspect.modulesbyfile)
    line()
    assert inspect.modulesbyfile == known
    assert known[run.__file__] == run.__name__ and getlines(run.__file__)
    assert 'told' in capfd.readouterr().err


def test_without_the_table_all_modules_are_searched(line):
    """Where this fails, Python searches them no more, and `know_modules` can go."""
    line()
    assert len(inspect.modulesbyfile) > 100
