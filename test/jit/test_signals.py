# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Signal handlers and forks during calls of kernels, first calls among them."""

from contextlib import contextmanager
import ctypes
import os
import signal
import sys
from threading import main_thread, Thread

from numba import njit
from numba.core.errors import NumbaValueError
import numpy as np
import pytest
from support import forked

from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.jit.bound_kernel import BoundKernel, CheckedKernel
from liedyn_ros.jit.first_call import compile_apart

ERRORS = ValueError, TypeError, LiedynError, LimitError, NumbaValueError, KeyboardInterrupt
ROUNDS = 300  # signals at a random moment

pytestmark = pytest.mark.interrupts

raise_signal = ctypes.CDLL(None)['raise']
raise_signal.argtypes, raise_signal.restype = (ctypes.c_int,), ctypes.c_int


class Taken:
    """A check that takes arrays and lists of floats."""

    done = True

    def prepare(self, x, number):
        """Return an array of floats."""
        return np.array(x, dtype=float).ravel(), number

    def refuse(self, code, *arguments):
        """Fail: no numbers are refused."""
        raise AssertionError(code)


def new_kernel():
    """Return a kernel without cache that counts its runs and raises a signal if not 0."""
    def count(runs, x, number):
        runs[0] += 1
        if number:
            raise_signal(number)
        return True

    compiled = njit(count)
    compile_apart(compiled)
    return compiled


@contextmanager
def handler(function):
    """Call a function at SIGUSR1 and at the end of the timer."""
    numbers = signal.SIGUSR1, signal.SIGALRM
    before = [signal.signal(number, lambda *_: function()) for number in numbers]
    try:
        yield
    finally:
        for number, old in zip(numbers, before):
            signal.signal(number, old)


def raiser(error):
    """Return a function that raises an error."""
    def fail():
        raise error
    return fail


@pytest.mark.parametrize('error', ERRORS)
@pytest.mark.parametrize('form', ['checked', 'attempt', 'bound'])
def test_a_handlers_exception_reaches_the_caller_after_one_run(form, error):
    compiled, x, runs = new_kernel(), np.zeros(2), np.zeros(1)
    checked, bound = CheckedKernel(Taken(), compiled, runs), BoundKernel(compiled, runs)
    checked.call(x, 0)
    bound(x, 0)
    run = {'checked': checked.call, 'attempt': bound.attempt, 'bound': bound}[form]
    runs[0] = 0
    with handler(raiser(error('deadline'))), pytest.raises(error):
        run(x, int(signal.SIGUSR1))
    assert runs[0] == 1


@pytest.mark.parametrize('error', ERRORS)
def test_a_handlers_exception_in_a_first_call_reaches_the_caller(error):
    runs = np.zeros(1)
    kernel = CheckedKernel(Taken(), new_kernel(), runs)
    with handler(raiser(error('deadline'))), pytest.raises(error):
        kernel.call([0.0], int(signal.SIGUSR1))
    assert runs[0] == 1
    kernel.call([0.0], 0)
    assert runs[0] == 2


@pytest.mark.parametrize('x', [np.zeros(2), np.zeros(2, '>f8'), np.zeros(2, object), [], [[]],
                               [0.0, 0.0]], ids=repr)
def test_no_exception_at_any_moment_of_a_call_is_lost(x):
    kernel, raised, seen = CheckedKernel(Taken(), new_kernel(), np.zeros(1)), 0, 0
    kernel.call(np.zeros(2), 0)

    def fail():
        nonlocal raised
        raised += 1
        raise ValueError('deadline')

    with handler(fail):
        for k in range(ROUNDS):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + k % 50))
                while raised == k:
                    kernel.call(x, 0)
            except ValueError:
                seen += 1
    assert (seen, raised) == (ROUNDS, ROUNDS)


def first_call_in_a_handler_of_a_first_call():
    """Call one kernel first in a handler, which runs while another one is compiled."""
    outer, inner = new_kernel(), new_kernel()
    compile_outer, runs = outer.compile, np.zeros(2)

    def compiling(types):
        signal.pthread_kill(main_thread().ident, signal.SIGUSR1)
        return compile_outer(types)

    outer.compile = compiling
    with handler(lambda: BoundKernel(inner, runs[1:])(np.zeros(1), 0)):
        BoundKernel(outer, runs)(np.zeros(1), 0)
    assert list(runs) == [1, 1]


def first_call_after_a_fork_beside_a_first_call():
    """Fork while a thread compiles; then the child and the parent compile too."""
    other, runs = new_kernel(), np.zeros(2)
    beside, compile_beside = new_kernel(), None
    compile_beside = beside.compile
    children = []

    def compiling(types):
        forking.start()
        return compile_beside(types)

    def fork():
        children.append(os.fork())
        BoundKernel(other, runs[1:])(np.zeros(1), 0)
        if not children[0]:
            os._exit(0)

    beside.compile, forking = compiling, Thread(target=fork)
    BoundKernel(beside, runs)(np.zeros(1), 0)
    forking.join()
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    assert list(runs) == [1, 1]


@pytest.mark.parametrize('scene', [first_call_in_a_handler_of_a_first_call,
                                   first_call_after_a_fork_beside_a_first_call])
def test_first_calls_end(scene):
    with forked.start(__file__, scene.__name__, env={
            **os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}) as process:
        assert process.wait(timeout=120) == 0, process.read()


if __name__ == '__main__':
    globals()[sys.argv[1]]()
