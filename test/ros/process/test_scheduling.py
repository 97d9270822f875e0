# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Scheduling: what the system permits is done, what not is refused with the reason."""

from contextlib import suppress
import os
from pathlib import Path
import threading

import pytest

from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.process import scheduling
from liedyn_ros.ros.streams.stream import Stream

pytestmark = pytest.mark.ros


class Scheduled(ManagedNode):
    """A node with a stream and with services that take long."""

    def __init__(self, **options):
        """Take the parameters of all nodes."""
        super().__init__('scheduled', (), **options)

    def configure(self):
        """Start both."""
        Stream(self).start()
        Stream(self, name='slow_services', guarded=False).start()


def of_threads(ask):
    """Return what a function returns for each thread; one may end before it is asked."""
    found = set()
    for thread in os.listdir('/proc/self/task'):
        with suppress(ProcessLookupError, FileNotFoundError):
            found.add(ask(int(thread)))
    return found


def processors_of(thread):
    return frozenset(os.sched_getaffinity(thread))


def native_id(name):
    """Return the number of Python's thread of a name."""
    return next(thread.native_id for thread in threading.enumerate() if thread.name == name)


def named(thread):
    """Return the name of a thread of the process."""
    return Path(f'/proc/self/task/{thread}/comm').read_text()


def test_nothing_is_changed_unless_asked_for(bench, monkeypatch):
    for name in ('sched_setscheduler', 'sched_setaffinity'):
        monkeypatch.setattr(os, name, lambda *_: pytest.fail('changed'))
    assert bench.start(Scheduled).active


def test_processors_are_those_asked_for_until_cleanup(bench):
    before = os.sched_getaffinity(0)
    node = bench.start(Scheduled, cpu_affinity=[min(before)])
    assert of_threads(processors_of) == {
        frozenset([min(before)])}
    node.trigger_deactivate(), node.trigger_cleanup()
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(('processors', 'reason'), [
    ([4095], 'Invalid argument'), ([-1, 0], 'negative CPU number'),
    ([min(os.sched_getaffinity(0)), 4095], '[4095] absent, or not for this process')])
def test_processors_that_are_not_there_are_refused(bench, processors, reason):
    before = os.sched_getaffinity(0)
    node = bench.start(Scheduled, cpu_affinity=processors)
    bench.until_logged(node, 'parameter cpu_affinity: expected some of')
    bench.until_logged(node, reason)
    assert not node.configured
    assert of_threads(processors_of) == {frozenset(before)}


def test_a_priority_that_is_not_permitted_is_refused_with_the_reason(bench, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, 'Operation not permitted')

    monkeypatch.setattr(os, 'sched_setscheduler', refuse)
    node = bench.start(Scheduled, realtime_priority=50)
    bench.until_logged(node, 'parameter realtime_priority: expected a limit rtprio or '
                             'CAP_SYS_NICE, got 50: Operation not permitted')
    assert not node.configured


def test_the_stream_and_the_middleware_have_the_priority_and_no_other_thread(bench, monkeypatch):
    given = []
    monkeypatch.setattr(os, 'sched_setscheduler', lambda thread, policy, param: given.append(
        (thread, policy, param.sched_priority)))
    node = bench.start(Scheduled, realtime_priority=50)
    assert {(policy, priority) for _, policy, priority in given} == {(os.SCHED_FIFO, 50)}
    urgent, stream = {thread for thread, *_ in given}, native_id('scheduled_stream')
    assert stream in urgent and len(urgent) > 1
    # Nothing that computes for long: it would run as long as it likes beside its equals.
    assert not urgent & {thread.native_id for thread in threading.enumerate()} - {stream}
    assert native_id('scheduled_slow_services') not in urgent and os.getpid() not in urgent
    assert all(named(thread) != named(os.getpid()) for thread in urgent - {stream})
    given.clear()
    node.trigger_deactivate(), node.trigger_cleanup()
    assert {(policy, priority) for _, policy, priority in given} == {(os.SCHED_OTHER, 0)}
    assert {thread for thread, *_ in given} == urgent


@pytest.mark.parametrize('fails', [0, 1])
def test_memory_is_locked_or_refused(bench, monkeypatch, fails):
    calls = []

    class Library:

        def mlockall(self, flags):
            calls.append(flags)
            return -fails

        def munlockall(self):
            calls.append('unlocked')

    monkeypatch.setattr(scheduling.ctypes, 'CDLL', lambda *_, **__: Library())
    node = bench.start(Scheduled, lock_memory=True)
    assert node.configured == (not fails)
    if fails:
        bench.until_logged(node, 'parameter lock_memory: expected a limit memlock')
    else:
        node.trigger_deactivate(), node.trigger_cleanup()
    assert calls == ([7] if fails else [7, 'unlocked'])
