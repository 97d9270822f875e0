# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which of several pieces of work are done side by side, and which wait for which."""

from contextlib import contextmanager
from threading import Event
from types import SimpleNamespace

from liedyn_ros.ros.node.workers import Workers

BOUND = 60.0  # s, of a wait


class Held:
    """Work that goes on until it is let go."""

    def __init__(self):
        self.begun, self.let_go, self.done = Event(), Event(), Event()

    def __call__(self):
        self.begun.set()
        assert self.let_go.wait(BOUND)
        self.done.set()


@contextmanager
def workers(most):
    """Yield workers of a node that runs, what submits held work of a size, and complaints."""
    told, held = [], []
    node = SimpleNamespace(context=SimpleNamespace(handle=SimpleNamespace(ok=lambda: True)),
                           get_name=lambda: 'node', complain=lambda *error: told.append(error))
    found = Workers(node, 'work', most)

    def submit(size):
        held.append(Held())
        found.submit(held[-1], size)
        return held[-1]
    yield found, submit, told
    for each in held:
        each.let_go.set()
    found.close()


def test_much_smaller_work_waits_for_no_larger_and_its_equals_wait_for_it():
    with workers(2) as (found, submit, _):
        running = [submit(size) for size in (100.0, 100.0, 49.0, 24.0, 1.0)]
        assert all(each.begun.wait(BOUND) for each in running)
        waiting = [submit(size) for size in (100.0, 49.0, 1.0)]
        assert [found.waiting(size) for size in (0.4, 1.0, 30.0, 1000.0)] == [0, 1, 2, 3]
        assert not any(each.begun.is_set() for each in waiting)
        running[-1].let_go.set()
        assert waiting[-1].begun.wait(BOUND)
        for each in (*running, waiting[-1]):
            each.let_go.set()
        assert all(each.begun.wait(BOUND) for each in waiting)


def test_a_stream_of_ever_smaller_work_has_a_bound():
    with workers(2) as (found, submit, _):
        work = [submit(1e4 * 0.999**k) for k in range(9200)]  # to 1
        begun = sum(each.begun.wait(0.0) for each in work)
        assert begun <= 2 + 14
        assert found.waiting(1e4) == len(work) - begun


def test_a_fault_is_told_and_ends_nothing():
    with workers(1) as (found, submit, told):
        found.submit(lambda: 1 / 0)
        assert submit(0.0).begun.wait(BOUND)
        assert len(told) == 1
