# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One object in threads, in forked processes, interrupted; constants, copies, shared memory."""

from concurrent.futures import ThreadPoolExecutor
import copy
import os
import pickle
import signal
import subprocess
import sys
from threading import Barrier
from time import monotonic

import numpy as np
import pytest
from support.machines.dynamics_cases import Case, make_case
from support.refusals import refused

from liedyn_ros.common.errors import ShapeError
from liedyn_ros.dynamics import Dynamics, Names

ORDER = 3


@pytest.fixture
def tree() -> Case:
    """Return a floating machine with every type of joint."""
    return make_case(1, True, dissipation=True)


def calls(case: Case) -> dict:
    """Return calls of all kinds on one object, some with wrenches, some with a mask."""
    d, q, v, a, external = case.dynamics, case.q, case.v, case.a, case.external
    rng = np.random.default_rng(0)
    which, rows = rng.random(len(v)) < 0.5, rng.normal(size=(ORDER + 1, len(v)))
    more = rng.normal(size=(ORDER + 1, *external.shape))
    many = [np.repeat(x[None], 40, axis=0) for x in (q, v, a)]
    return {
        'inverse': lambda: d.inverse(q, v, a),
        'inverse, loaded': lambda: d.inverse(q, v, a, external),
        'forward': lambda: d.forward(q, v, a),
        'forward, loaded': lambda: d.forward(q, v, a, external),
        'hybrid': lambda: d.hybrid(q, v, which, a, a),
        'hybrid, loaded': lambda: d.hybrid(q, v, ~which, a, a, external),
        'derivatives': lambda: d.inverse.time_derivatives(q, v, rows),
        'derivatives, loaded': lambda: d.inverse.time_derivatives(q, v, rows, more),
        'lower derivatives': lambda: d.forward.time_derivatives(q, v, rows[:2]),
        'hybrid derivatives': lambda: d.hybrid.time_derivatives(q, v, which, rows, rows, more),
        'batch': lambda: d.inverse.batch(*many),
        'mass matrix': lambda: d.mass_matrix(q),
        'coriolis': lambda: d.coriolis_matrix(q, v),
        'energy': lambda: d.kinetic_energy(q, v),
        'gravity': lambda: d.gravity_vector(q),
        'inverse mass': lambda: d.inverse_mass_matrix(q),
        'momentum': lambda: d.momentum(q, v),
        'center': lambda: d.center_of_mass_motion(q, v, a),
        'map': lambda: d.centroidal_map(q),
        'map, rate': lambda: d.centroidal_map_rate(q, v),
        'poses': lambda: d.frames.poses(q),
        'frames': lambda: d.frames.jacobian_rate(q, v, [0, -1 + len(case.model.frames)]),
        'integrate': lambda: case.model.integrate(q, v)}


def test_threads_share_an_object(tree: Case, switching: None) -> None:
    """Every thread makes every call, in its own order, and finds what one thread finds."""
    every = calls(tree)
    wanted = {name: np.array(call()) for name, call in every.items()}
    start = Barrier(4)

    def work(seed: int) -> list[str]:
        rng, wrong = np.random.default_rng(seed), []
        start.wait()
        for _ in range(150):
            for name in rng.permutation(list(every)).tolist():
                if not np.array_equal(every[name](), wanted[name]):
                    wrong.append(name)
        return wrong

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [[]] * 4


def test_threads_grow_the_buffers_of_an_object(tree: Case, switching: None) -> None:
    """Its first calls come at once, with other orders: none works on the buffer of a lower one."""
    q, v = tree.q, tree.v
    rows = np.random.default_rng(3).normal(size=(12, len(v)))
    which = np.arange(len(v)) % 2 == 0

    def answers(dynamics: Dynamics, order: int) -> list[np.ndarray]:
        given, loose = rows[:order + 1], {'max_error': 1e300}
        return [
            *dynamics.hybrid.time_derivatives(q, v, which, given, given, **loose),
            dynamics.forward.time_derivatives(q, v, given, **loose),
            dynamics.inverse.time_derivatives(q, v, given),
            *dynamics.inverse.partial_derivatives.time_derivatives(q, v, given)]

    orders = 2, 11, 5, 8
    wanted = [answers(tree.dynamics, order) for order in orders]
    for _ in range(60):
        shared, start = Dynamics(tree.model), Barrier(len(orders))

        def work(order: int) -> list[np.ndarray]:
            start.wait()
            return answers(shared, order)

        with ThreadPoolExecutor(len(orders)) as pool:
            for found, expected in zip(pool.map(work, orders), wanted):
                for each, other in zip(found, expected):
                    np.testing.assert_array_equal(each, other)


class Interrupt(Exception):
    """The exception of a handler of signals, as KeyboardInterrupt."""


@pytest.mark.interrupts
@pytest.mark.skipif(not hasattr(signal, 'setitimer'), reason='needs interval timers')
def test_an_interrupt_leaves_nothing_behind(tree: Case) -> None:
    """A timer interrupts calls with masks and wrenches at moments of all kinds."""
    every = calls(tree)
    wanted = {name: np.array(call()) for name, call in every.items()}
    rng, interrupted, rung = np.random.default_rng(0), 0, False

    def handler(*_: object) -> None:
        nonlocal rung
        if not rung:
            rung = True
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            raise Interrupt

    # What a handler raises in a callback of the collector is dropped. Python 3.11 may even look at
    # a signal at the next one alone, as its note of one is no atomic step: so the timer repeats.
    before = signal.signal(signal.SIGALRM, handler)
    try:
        for _ in range(200):
            try:
                rung = False
                signal.setitimer(signal.ITIMER_REAL, 1e-4 * rng.random() + 1e-6, 0.05)
                limit = monotonic() + 60.0
                while not rung and monotonic() < limit:
                    for name in ('hybrid, loaded', 'inverse, loaded', 'hybrid derivatives'):
                        every[name]()
                assert rung
            except Interrupt:
                interrupted += 1
            for name in ('inverse', 'forward', 'hybrid', 'derivatives'):
                np.testing.assert_array_equal(every[name](), wanted[name])
    finally:
        rung = True
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 100


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, 'fork'), reason='needs fork')
def test_a_forked_child_makes_batches(tree: Case) -> None:
    code = """
import os, signal, sys
import numpy as np
from support.machines.dynamics_cases import make_case
case = make_case(1, True)
many = [np.repeat(x[None], 200, axis=0) for x in (case.q, case.v, case.a)]
wanted = case.dynamics.inverse.batch(*many)
child = os.fork()
if child == 0:
    signal.alarm(120)  # ends a child that hangs
    os._exit(0 if np.array_equal(case.dynamics.inverse.batch(*many), wanted) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    result = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                            env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)})
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize('copied', [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_after_a_batch(tree: Case, copied) -> None:
    tree.dynamics.inverse.batch([tree.q], [tree.v], [tree.a])
    names = Names(tree.model)
    names.prescribed(list(names.others))
    other = copied(tree.dynamics)
    for name, call in calls(tree._replace(dynamics=other)).items():
        np.testing.assert_array_equal(call(), calls(tree)[name](), err_msg=name)
    np.testing.assert_array_equal(
        copied(names).prescribed(list(names.others)), names.prescribed(list(names.others)))


def test_constants_never_change(tree: Case) -> None:
    constants = tree.dynamics.constants
    before = constants.table.copy()
    for call in calls(tree).values():
        call()
    np.testing.assert_array_equal(constants.table, before)
    with pytest.raises(ValueError, match='read-only'):
        constants.view[0, 0] = 1.0


@pytest.mark.parametrize('name', ['q', 'v', 'a', 'external'])
def test_out_shares_no_memory_with_an_input(tree: Case, name: str) -> None:
    d, nv = tree.dynamics, tree.model.nv
    room = np.zeros(tree.external.size + nv)
    given = {'q': tree.q, 'v': tree.v, 'a': tree.a, 'external': tree.external}
    shared = room[1:1 + given[name].size].reshape(given[name].shape)
    shared[...] = given[name]
    given[name] = shared
    for call in (d.inverse, d.forward):
        arguments = list(given.values())
        with refused(ShapeError, 'out', 'tau' if (name, call) == ('a', d.forward) else name):
            call(*arguments, out=room[:nv])
    np.testing.assert_array_equal(shared, getattr(tree, name))  # and nothing was written


def test_neighbours_share_no_memory(tree: Case) -> None:
    nv = tree.model.nv
    room = np.concatenate([tree.v, np.zeros(nv)])
    np.testing.assert_array_equal(
        tree.dynamics.inverse(tree.q, room[:nv], tree.a, out=room[nv:]),
        tree.dynamics.inverse(tree.q, tree.v, tree.a))
