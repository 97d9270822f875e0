# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels behind those that a node awaits, and its reports on the compiler."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import pytest
from rclpy.logging import LoggingSeverity

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.ahead import two_bars
from liedyn_ros.jit.cache import COUNTS
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.node.warm_up import Behind, WHEN_ASKED

pytestmark = pytest.mark.ros


@pytest.fixture
def pool():
    """Return a thread for a request that waits."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


@pytest.fixture
def gate(bench, pool):
    """Return an event that kernels wait for; it is set before the nodes and the thread end."""
    gate = Event()
    yield gate
    gate.set()


def node_of(first, later=None):
    """Return a class of nodes with kernels, and with others behind them."""
    return type('Behind', (ManagedNode,), {
        'warm_up': staticmethod(first), 'behind': (later,) if later else (),
        '__init__': lambda self, **options: ManagedNode.__init__(self, 'behind', (), **options)})


def some_kernels():
    """Stand for kernels that are compiled: then another process compiles those behind."""
    COUNTS.compiled += 1
    Event().wait(0.2)


def test_a_node_is_active_before_the_kernels_behind_are_there(bench, pool, gate):
    kernels = gate.wait
    node = bench.start(node_of(lambda: some_kernels(), kernels))
    waiting = pool.submit(node.await_kernels, kernels)
    assert node.active and not waiting.done()
    gate.set()
    assert waiting.result(60.0) is None


def test_a_request_that_waits_ends_with_the_node(bench, pool, gate):
    kernels = gate.wait
    node = bench.start(node_of(lambda: some_kernels(), kernels))
    waiting = pool.submit(node.await_kernels, kernels)
    node.trigger_deactivate()
    node.trigger_cleanup()
    with pytest.raises(LiedynError, match='expected the compiled kernels of this request'):
        waiting.result(60.0)


def test_kernels_that_fail_are_an_error_of_the_request(bench):
    def fails():
        raise LiedynError('no compiler')

    node = bench.start(node_of(lambda: None, fails))
    with pytest.raises(LiedynError, match='no compiler'):
        node.await_kernels(fails)


def test_what_is_compiled_is_told_on_diagnostics_and_in_the_log(bench, gate):
    def compiles():
        COUNTS.compiled += 1
        gate.wait()

    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = bench.add(node_of(compiles))

    def statuses(level):
        return [status for report in reports for status in report.status
                if status.name == node.status_name('kernels') and status.level == level]

    bench.until(lambda: statuses(DiagnosticStatus.WARN), 'a report of the compiler')
    assert statuses(DiagnosticStatus.WARN)[-1].message.startswith('being compiled: compiled 1 ')
    assert not statuses(DiagnosticStatus.OK)
    gate.set()
    bench.until(lambda: any(status.message == 'ready' for status in statuses(DiagnosticStatus.OK)),
                'a report that they are ready')
    bench.until_logged(node, 'all kernels are ready', LoggingSeverity.INFO)


@pytest.mark.parametrize(('awaited', 'level', 'message'), [
    (True, DiagnosticStatus.ERROR, 'not compiled: no compiler'),
    (False, DiagnosticStatus.WARN, 'those of some services are not compiled: no compiler')])
def test_kernels_that_failed_are_never_told_to_be_ready(bench, awaited, level, message):
    def compiles():
        COUNTS.compiled += 1
        if awaited:
            raise LiedynError('no compiler')

    def fails():
        raise LiedynError('no compiler')

    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = bench.add(node_of(compiles, fails))
    found = bench.until(lambda: [
        status for report in reports for status in report.status
        if status.name == node.status_name('kernels') and status.message == message],
        'a report of the failure')
    assert found[0].level == level
    assert not any('ready' in line for line in bench.logged(node, LoggingSeverity.INFO))


def test_a_process_compiles_what_is_behind():
    behind = Behind((two_bars,))
    behind.start()
    assert not behind.done
    behind.load()
    for future in behind._futures:
        future.result()
    assert behind.done and behind._beside._process.returncode == 0


def test_nothing_is_behind_where_it_waits_for_a_request(monkeypatch):
    monkeypatch.setenv(WHEN_ASKED, '1')
    behind = Behind((two_bars,))
    behind.start()
    behind.load()
    assert behind.done and not behind.beside
