# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Threads that share a ConstrainedDynamics get what each would get alone."""

from concurrent.futures import ThreadPoolExecutor
import copy
import os
import pickle
import signal
from threading import Event

import numpy as np
from support.machines.loop_states import EVERY, state


def test_products_gradients_and_orders(switching):
    """Products read what the call before has left: no other thread may come between."""
    dynamics, calls = machine()
    wanted = [call(dynamics) for call in calls]

    def work(k):
        wrong = 0
        for turn in range(60):
            which = (k + turn) % len(calls)
            got = calls[which](dynamics)
            wrong += not all(np.array_equal(x, y) for x, y in zip(got, wanted[which]))
        return wrong

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) == 0


def test_copies_have_a_lock_of_their_own():
    dynamics, calls = machine()
    wanted = calls[1](dynamics)
    for again in (copy.deepcopy(dynamics), pickle.loads(pickle.dumps(dynamics))):
        assert again.lock is not dynamics.lock
        assert again.forward.partial_derivatives.lock is again.lock
        with dynamics.lock.inner, ThreadPoolExecutor(1) as pool:
            got = pool.submit(calls[1], again).result(timeout=600.0)
        for x, y in zip(got, wanted):
            np.testing.assert_array_equal(x, y)


def test_a_child_is_not_held_up_by_a_thread_of_its_parent():
    """It has no such thread, so the lock would stay taken."""
    dynamics, calls = machine()
    wanted = calls[1](dynamics)
    held, done = Event(), Event()

    def hold():
        with dynamics.lock.inner:
            held.set()
            done.wait()

    with ThreadPoolExecutor(1) as pool:
        holder = pool.submit(hold)
        held.wait()
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends a child that waits for ever
            signal.alarm(60)
            same = all(map(np.array_equal, calls[1](dynamics), wanted))
            os.write(writer, b'same' if same else b'other')
            os._exit(0)
        os.close(writer)
        done.set()
        holder.result()
        answer = os.read(reader, 10)
        os.close(reader)
        os.waitpid(child, 0)
    assert answer == b'same'


def machine():
    """Return a machine, and calls that use its tables in different ways."""
    dynamics, q, v, tau, _, rng = state(EVERY['two loops'])
    dq, dv, y = rng.normal(size=(3, dynamics.model.nv))
    calls = []
    for at in ((q, v, tau[0]), (q, 0.3 * v, tau[1])):
        calls += [
            lambda d, at=at: d.forward(*at)[:3],
            lambda d, at=at: d.forward.partial_derivatives.product(*at, dq, dv, tau[0]),
            lambda d, at=at: d.forward.partial_derivatives.gradient(*at, y),
            lambda d, at=at: d.forward(*at[:2], np.tile(at[2], (3, 1)))[:3],
            lambda d, at=at: d.forward.partial_derivatives(*at)[:4]]
    return dynamics, calls
