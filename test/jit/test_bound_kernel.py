# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Calls of compiled kernels: for arguments as they come, for others, and for wrong ones."""

import contextlib
import copy
import gc
import inspect
import pickle
import sys
import threading
from typing import NamedTuple
import weakref

import numpy as np
import pytest

from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError
from liedyn_ros.jit.bound_kernel import BoundKernel, CheckedKernel, Direct, direct
from liedyn_ros.jit.decorators import CHECKED
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.lie.kernels.batch import so3_exp
from liedyn_ros.model.kernels.configuration import checked_integrate
from liedyn_ros.model.kernels.kinds import PRISMATIC

pytestmark = pytest.mark.skipif(CHECKED, reason='numba compiles for what it is called with')
W = np.array([0.1, -0.2, 0.3])


def links(size: int = 3):
    """Return the links of joints on whose coordinates a displacement adds up."""
    return np.array([[PRISMATIC] * size, range(size), range(size)], dtype=np.int64)


class Configuration(NamedTuple):
    """Arrays (size,) of finite numbers."""

    size: int
    done: bool = True

    def prepare(self, q, dv, out):
        """Return arrays of floats and the output."""
        arrays = [np.array(x, dtype=float) for x in (q, dv)]
        for array in arrays:
            if array.shape != (self.size,):
                raise ShapeError(f'q: expected {(self.size,)}, got {array.shape}')
        return *arrays, out

    def refuse(self, code, q, dv, out):
        """Refuse the numbers."""
        raise LimitError('q: expected finite numbers, got others', got=code)


def added(size: int = 3) -> CheckedKernel:
    """Return a kernel that adds."""
    return CheckedKernel(Configuration(size), checked_integrate, links(size))


def test_arguments_of_every_kind_have_one_result():
    add, x = added(), np.array([1.0, 2.0, 3.0])
    for given in (x, x.tolist(), x.astype(np.float32), np.repeat(x, 2)[::2], np.ma.array(x), x):
        out = np.empty(3)
        add.call(given, x, out)
        np.testing.assert_array_equal(out, 2.0 * x)


def test_a_call_returns_the_prepared_arguments_if_the_kernel_ran_on_them():
    add, x, out = added(), np.ones(3), np.empty(3)
    assert add.call(x, x, out) is None
    assert add.call([1, 1, 1], x, out)[0].dtype == np.float64


def test_errors_are_those_of_the_check():
    add, x, out = added(), np.ones(3), np.empty(3)
    with pytest.raises(LimitError) as caught:
        add.call(np.array([1.0, np.nan, 1.0]), x, out)
    assert caught.value.got is False
    with pytest.raises(ShapeError):
        add.call([1.0, 1.0], x, out)


def test_what_the_check_takes_but_no_kernel_is_named():
    with pytest.raises(TypeError, match='checked_integrate'):
        added().call(W, W, 'no array')


@pytest.mark.parametrize('again', [copy.copy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copy_has_tables_and_a_check_of_its_own(again):
    other, out = again(added(2)), np.empty(2)
    other.call([1.0, 2.0], [1.0, 1.0], out)
    np.testing.assert_array_equal(out, [2.0, 3.0])
    with pytest.raises(ShapeError):
        other.call([1.0], [1.0], out)


def test_a_bound_kernel_attempts_and_calls():
    bound, out = BoundKernel(checked_integrate, links()), np.empty(3)
    assert bound.attempt(W, W, out) is True and bound.call(W, W, out) is True
    assert bound.attempt(W.astype(np.float32), W, out) is None
    assert bound.attempt(W, W) is None
    assert bound.call(np.repeat(W, 2)[::2], W, out) is True


class Adder(Direct):
    """An object that is called as its kernel, and counts what its kernel did not take."""

    def __init__(self, size: int = 3) -> None:
        """Bind the kernel."""
        self.size, self.left = size, 0
        self.kernel = CheckedKernel(
            Configuration(size), checked_integrate, links(size), shape=(size,))

    @direct
    def __call__(self, q, dv, out=None):
        """Add."""
        self.left += 1
        return self.kernel.answer(q, dv, out)

    @direct
    def add(self, q, dv=None, out=None):
        """Add, too."""
        self.left += 1
        return self.kernel.answer(q, q if dv is None else dv, out)

    def _direct_calls(self):
        return {'__call__': self.kernel.direct('q dv out', None),
                'add': self.kernel.direct('q dv out', None, None)}


def test_a_direct_call_takes_names_in_any_order_and_defaults():
    add, out = Adder(), np.empty(3)
    for result in (add(W, W), add(W, dv=W), add(dv=W, q=W), add(W, W, None), add(W, W, out=None),
                   add.add(W, W), add.add(dv=W, q=W)):
        np.testing.assert_array_equal(result, 2.0 * W)
    for result in (add(W, W, out), add(W, W, out=out), add(out=out, q=W, dv=W),
                   add.add(W, out=out, dv=W)):
        assert result is out
    assert add.left == 0


def test_what_does_not_fit_a_direct_call_is_for_python():
    add, x = Adder(), np.ones(3)
    np.testing.assert_array_equal(add([1.0, 1.0, 1.0], x), 2.0 * x)
    np.testing.assert_array_equal(add.add(x), 2.0 * x)
    assert add.left == 2
    for refused in (lambda: add(), lambda: add(x), lambda: add(x, x, None, x),
                    lambda: add(x, x, q=x), lambda: add(x, x, other=x), lambda: add.add(dv=x),
                    lambda: Adder.add(x)):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(ShapeError):
        add(x, None)
    with pytest.raises(ShapeError):
        add(x, x, np.empty(4))
    with pytest.raises(LimitError):
        add(x, np.full(3, np.nan))


def test_direct_calls_are_those_of_a_class_and_of_each_object():
    class Doubler(Adder):

        def __call__(self, q, dv, out=None):
            return 2.0 * super().__call__(q, dv, out)

        def add(self, q, dv=None, out=None):
            return 2.0 * super().add(q, dv, out)

    for twice in (Doubler()(W, W), Doubler().add(W, W)):
        np.testing.assert_array_equal(twice, 4.0 * W)
    assert inspect.signature(Adder.add).parameters.keys() == {'self', 'q', 'dv', 'out'}
    assert inspect.signature(Adder().add).parameters.keys() == {'q', 'dv', 'out'}
    assert Adder().add.__doc__ == 'Add, too.' and Adder().add.__name__ == 'add'
    for again in (copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        other, method = again(Adder(3)), again(Adder(2).add)
        np.testing.assert_array_equal(other(W, W), 2.0 * W)
        np.testing.assert_array_equal(method(W[:2], W[:2]), 2.0 * W[:2])
        assert other.left == 0 and method.__self__.left == 0


def test_direct_calls_keep_no_references():
    add, x, out = Adder(), np.ones(3), np.empty(3)
    add(x, x), add.add(x, x)
    counted = [add, x, out, add.kernel, None]
    before = [sys.getrefcount(each) for each in counted]
    for _ in range(1000):
        add(x, x, out=out), add(x, x), add.add(dv=x, q=x), add(x, [1.0, 1.0, 1.0], out)
        with contextlib.suppress(ShapeError):
            add(x, x, x[:2])
    grown = np.subtract([sys.getrefcount(each) for each in counted], before)
    assert np.all(grown < 100)
    gone = weakref.ref(add)
    del add, counted
    gc.collect()
    assert gone() is None


def test_arrays_with_gaps_are_read_and_written():
    wanted, out = np.empty(9), np.zeros(18)
    so3_exp(W, wanted)
    so3_exp(np.repeat(W, 2)[::2], out[::2])
    np.testing.assert_array_equal(out[::2], wanted)
    assert not out[1::2].any()


def test_read_only_arrays_are_read():
    given, wanted, out = W.copy(), np.empty(9), np.empty(9)
    given.flags.writeable = False
    so3_exp(W, wanted)
    so3_exp(given, out)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize('given', [
    (), (W,), (W, W, W), (W, None), (W, 1.0), (W, W[None]), (W + 1j, W), (W, 'text'),
    (np.ma.array(W), np.empty(9)), (np.array(['a'] * 3), np.empty(9)), ([0.1, 0.2, 0.3], W)])
def test_other_arguments_are_refused_with_the_name_of_the_kernel(given):
    with pytest.raises(TypeError, match='so3_exp'):
        so3_exp(*given)


def test_kernels_take_no_names_and_no_other_attributes():
    with pytest.raises(TypeError):
        so3_exp(w=W, out=np.empty(9))
    assert so3_exp.__name__ == 'so3_exp' and so3_exp.__doc__.startswith('Turn')
    assert pickle.loads(pickle.dumps(so3_exp)) is so3_exp


def test_threads_share_a_kernel():
    wanted, outs = np.empty(9), np.empty((8, 9))
    so3_exp(W, wanted)

    def work(k):
        for _ in range(200):
            so3_exp(W, outs[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(outs))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    np.testing.assert_array_equal(outs, np.tile(wanted, (8, 1)))


def test_python_does_not_call_what_only_kernels_call(monkeypatch):
    monkeypatch.setattr('liedyn_ros.jit.rooms.DEVELOPMENT', False)
    with pytest.raises(LiedynError) as caught:
        vec3.cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    assert 'cross' in str(caught.value)
