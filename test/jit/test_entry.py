# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Entries: the one way from Python to a kernel that does not pass numba's dispatcher."""

import ctypes
import gc
import sys
import weakref

from numba import njit
import numpy as np
import pytest

from liedyn_ros.jit import entry as entries
from liedyn_ros.jit.bound_kernel import BoundKernel, CheckedKernel
from liedyn_ros.jit.first_call import OtherTypesError

PLAIN = np.arange(6.0).reshape(2, 3)


@njit
def weigh(factor, x, number, twice, out):
    """Write multiples of the sums of rows; return whether the factor is not negative."""
    for i in range(x.shape[0]):
        out[i] = 0.0
        for j in range(x.shape[1]):
            out[i] += factor[0] * x[i, j] * number * (2 if twice else 1)
    return factor[0] >= 0.0


@njit(nogil=True)
def free(factor):
    """Return whether the factor is not negative, without the lock of Python."""
    return factor[0] >= 0.0


@njit
def judge(table, limit, x):
    """Count in a table; return how many numbers exceed a limit, or -1 for a limit below zero."""
    table[0] += 1.0
    if limit < 0.0:
        return -1
    above = 0
    for each in x:
        above += each > limit
    return above


def made(factor, kernel=weigh, given=None):
    """Return an entry, and the list of calls that it passed on."""
    passed, arguments = [], (PLAIN, 3, True, np.empty(2)) if given is None else given
    kernel(factor, *arguments)
    return entries.entry(kernel, (factor,), arguments, True,
                         lambda *args: passed.append(args) or 'passed'), passed


def test_numpy_has_the_fields_of_an_array_where_entries_read_them():
    def word(offset, kind=ctypes.c_int64):
        return kind.from_address(id(PLAIN) + offset).value

    assert word(entries.TYPE) == id(np.ndarray)
    assert word(entries.DATA) == PLAIN.ctypes.data
    assert word(entries.DIMENSIONS, ctypes.c_int32) == PLAIN.ndim
    assert word(entries.DTYPE) == id(np.dtype(np.float64))
    assert word(entries.FLAGS, ctypes.c_int32) & entries.PLAIN == entries.PLAIN
    lengths = ctypes.cast(word(entries.LENGTHS), ctypes.POINTER(ctypes.c_int64))
    assert tuple(lengths[:2]) == PLAIN.shape


def test_an_entry_runs_the_kernel_as_numba_does():
    run, passed = made(np.array([2.0]))
    for x, number, twice in ((PLAIN, 3, True), (-PLAIN[:1], -(2 ** 40), False),
                             (np.empty((0, 3)), 1, True)):
        got, wanted = np.ones(len(x)), np.ones(len(x))
        assert run(x, number, twice, got) is None
        weigh(np.array([2.0]), x, number, twice, wanted)
        np.testing.assert_array_equal(got, wanted)
    assert not passed


def with_one(place, value):
    """Return arguments of which one is another."""
    arguments = [PLAIN, 3, True, np.zeros(2)]
    arguments[place] = value
    return arguments


class Subclass(np.ndarray):
    """Arrays that are not numpy's own."""


def read_only():
    """Return an array that nothing may write."""
    array = PLAIN.copy()
    array.flags.writeable = False
    return array


OTHERS = {
    'no array': with_one(0, None), 'list': with_one(0, [[1.0]]), 'subclass': with_one(
        0, PLAIN.view(Subclass)), 'mask': with_one(0, np.ma.masked_array(PLAIN)),
    'order': with_one(0, np.asfortranarray(PLAIN)), 'stride': with_one(0, PLAIN[:, ::2]),
    'axes': with_one(0, PLAIN[0]), 'more axes': with_one(0, PLAIN[None]),
    'width': with_one(0, PLAIN.astype(np.float32)), 'bytes': with_one(0, PLAIN.astype('>f8')),
    'whole': with_one(0, PLAIN.astype(np.int64)), 'read-only': with_one(0, read_only()),
    'unaligned': with_one(0, np.zeros(49, np.uint8)[1:].view(np.float64).reshape(2, 3)),
    'number': with_one(1, 3.0), 'numpy number': with_one(1, np.int64(3)),
    'large': with_one(1, 2 ** 63), 'truth as number': with_one(1, True),
    'number as truth': with_one(2, 1), 'numpy truth': with_one(2, np.True_),
    'few': [PLAIN, 3, True], 'many': [PLAIN, 3, True, np.zeros(2), None], 'none': []}


@pytest.mark.parametrize('arguments', OTHERS.values(), ids=OTHERS)
def test_arguments_of_any_other_type_are_passed_on_as_they_are(arguments):
    run, passed = made(np.array([2.0]))
    assert run(*arguments) == 'passed'
    assert len(passed) == 1
    assert all(got is given for got, given in zip(passed[0], arguments, strict=True))
    assert not isinstance(arguments[-1:], np.ndarray) or not arguments[-1].any()


def test_another_code_is_passed_on_too():
    factor = np.array([2.0])
    run, passed = made(factor)
    factor[0] = -1.0  # the tables are those of the object, not a copy
    assert run(PLAIN, 3, True, np.empty(2)) == 'passed'
    assert len(passed) == 1


def test_an_entry_without_a_wanted_code_returns_each_code_of_one_run():
    table, x = np.zeros(1), np.arange(5.0)
    judge(table, 1.0, x)
    run = entries.entry(judge, (table,), (1.0, x), None, lambda *arguments: arguments)
    for limit, code in ((1.0, 3), (-1.0, -1), (10.0, 0), (float('inf'), 0), (float('nan'), 0)):
        table[0] = 0.0
        got = run(limit, x)
        assert (type(got), got, table[0]) == (int, code, 1.0)
    for other in (1, True, np.float64(1.0), None, '1'):
        assert run(other, x) == (other, x)


def test_a_bound_kernel_becomes_an_entry_that_returns_what_the_first_call_did():
    table, x = np.zeros(1), np.arange(5.0)
    bound = BoundKernel(judge, table)
    assert bound.attempt(1.0, x) is None
    assert (bound.call(1.0, x), bound.call(1.0, x), bound.attempt(1.0, x)) == (3, 3, 3)
    assert type(bound.call) is type(bound.attempt) is type(len)
    assert bound.attempt('1', x) is None
    with pytest.raises(OtherTypesError, match='got ndarray, int, ndarray'):
        bound.call(1, x)
    free_of_lock = BoundKernel(free, np.ones(1))
    assert (free_of_lock.call(), free_of_lock.call(), free_of_lock.attempt()) == (True, True, True)


def test_an_exception_of_the_other_function_is_the_callers():
    def fail(*arguments):
        raise KeyError('deadline')

    run = entries.entry(weigh, (np.ones(1),), (PLAIN, 3, True, np.empty(2)), True, fail)
    with pytest.raises(KeyError, match='deadline'):
        run(None)


def test_calls_leave_the_counts_of_references_as_they_are():
    out = np.empty(2)
    run = entries.entry(weigh, (np.ones(1),), (PLAIN, 3, True, out), True, lambda *_: None)
    watched = PLAIN, out, None, weigh

    def calls():
        for _ in range(1000):
            run(PLAIN, 3, True, out)
            run(PLAIN, 3.0, True, out)

    before = [sys.getrefcount(each) for each in watched]
    calls()
    after = [sys.getrefcount(each) for each in watched]
    assert max(abs(x - y) for x, y in zip(before, after)) < 100


def test_an_entry_lives_with_its_object_alone():
    class Check:
        done = True

        def prepare(self, *given):
            return given

        def refuse(self, code, *given):
            raise AssertionError(code)

    factor = np.array([2.0])
    gone, kernel = weakref.ref(factor), CheckedKernel(Check(), weigh, factor)
    del factor
    gc.collect()
    gc.disable()  # no cycle keeps the tables
    try:
        for _ in range(2):
            kernel.call(PLAIN, 3, True, np.empty(2))
        run = kernel.call
        del kernel
        assert run(PLAIN, 3, True, np.empty(2)) is None
        assert gone() is not None
        del run
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(('kernel', 'given', 'fault'), [
    (free, (), 'expected a kernel that keeps the lock of Python'),
    (njit(lambda factor, x: x.real > 0.0), (1j,), 'expected numbers, truth values and'),
    (njit(lambda factor, x: x[0] > 0.0), (PLAIN.T[0],), 'contiguous arrays')])
def test_what_an_entry_cannot_read_is_refused(kernel, given, fault):
    with pytest.raises(TypeError, match=fault):
        made(np.ones(1), kernel, given)
