# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Values that pass for numbers and names in any order, and refusals of all others."""

from fractions import Fraction
import pickle

import numpy as np
import pytest
from support.refusals import ANY, refused

from liedyn_ros.common import name_order
from liedyn_ros.common.checks import (
    as_array, as_number, as_numbers, as_positive, as_seed, as_trailing, order_of)
from liedyn_ros.common.errors import (
    LiedynError, LimitError, NameSetError, NotFiniteError, ShapeError)
from liedyn_ros.common.name_order import NameOrder
from liedyn_ros.lie import so3


@pytest.mark.parametrize('value', [
    [1, 2], (True, False), np.float32((1, 2)), np.array([1, 2], dtype=np.uint8), [1.0, np.inf]])
def test_real_numbers_of_any_kind_become_float64(value):
    array = as_numbers('x', value)
    assert array.dtype == np.float64 and array.flags.c_contiguous
    np.testing.assert_array_equal(array, value)


@pytest.mark.filterwarnings('error')  # numpy only warns where it drops an imaginary part
@pytest.mark.parametrize('value', [
    ['1', '2'], b'12', [1 + 2j, 0], np.array([1j, 2]), [None, 1], [Fraction(1, 2), 1], {'a': 1},
    [[1, 2], [3]], np.array(['1'], dtype=object), np.array([1, 2], dtype='m8[s]')])
@pytest.mark.parametrize('check', [
    as_numbers, lambda name, value: as_array(name, value, (2,)),
    lambda name, value: as_trailing(name, value, (2,))], ids=['any', 'array', 'trailing'])
def test_values_that_are_no_real_numbers_are_refused(check, value):
    with refused(LiedynError, 'x'):
        check('x', value)


@pytest.mark.parametrize('value', [
    np.ma.array([1.0, 2.0]), np.ma.array([1.0, 2.0], mask=[True, False]), np.ma.array([1, 2]),
    [np.ma.array([1.0], mask=[True]), np.ma.array([2.0])]], ids=['no mask', 'mask', 'int', 'rows'])
def test_masked_arrays_are_refused(value):
    with refused(LiedynError, 'x'):
        as_numbers('x', value)


@pytest.mark.parametrize('value', [True, False, np.True_])
def test_true_and_false_are_no_number(value):
    with refused(LiedynError, 'x'):
        as_number('x', value)


def test_names_in_any_order():
    wanted = [f'n{i}' for i in range(200)]
    given = sorted(wanted)
    assert [given[i] for i in order_of('names', wanted, given)] == wanted


@pytest.mark.parametrize(('given', 'message'), [
    (['b', 'c', 'c'], "missing ['a'], unknown ['c', 'c'], repeated ['c']"),
    (['a', 'b', 'b'], "names: expected each of ['a', 'b'] once, got ['a', 'b', 'b']: repeated"),
    (['a'], "missing ['b']"), ([], "missing ['a', 'b']")])
def test_names_that_do_not_fit_are_named(given, message):
    with pytest.raises(NameSetError) as error:
        order_of('names', ['a', 'b'], given)
    assert message in str(error.value)


@pytest.mark.parametrize('count', [3, 1000, 100_000])
@pytest.mark.parametrize('name', ['x', 'x' * 10_000, '{}'])
def test_a_message_about_names_is_short_however_many_come(count, name):
    given = [name.format(i) for i in range(count)] if '{}' in name else [name] * count
    with refused(NameSetError, ANY, expected=('a', 'b')) as error:
        order_of('names', ['a', 'b'], given)
    assert len(str(error.value)) < 15_000


def test_one_number():
    assert as_number('x', np.float32(0.5)) == 0.5 and as_positive('x', 3) == 3.0
    for value, error in (([1.0], ShapeError), (np.nan, NotFiniteError), (0, LimitError),
                         (-1.0, LimitError), ('1', LiedynError)):
        with refused(error, 'x'):
            as_positive('x', value)


@pytest.mark.parametrize('seed', [0, 7, np.int64(7), np.uint8(3)])
def test_seeds_of_python_and_of_numpy(seed):
    assert as_seed('seed', seed) == int(seed)


@pytest.mark.parametrize('seed', [True, np.True_, -1, 1.0, '1', None])
def test_an_invalid_seed_is_refused(seed):
    with refused(LimitError, 'seed'):
        as_seed('seed', seed)


@pytest.mark.parametrize(('call', 'names', 'expected', 'got', 'indices'), [
    (lambda: as_array('x', [1.0, 2.0], (3,)), ('x',), (3,), (2,), ()),
    (lambda: as_array('x', [[0.0, 1.0], [2.0, np.inf]], (2, 2)), ('x',), None, np.inf, (1, 1)),
    (lambda: as_positive('x', -2), ('x',), 0.0, -2.0, ()),
    (lambda: order_of('x', ['a', 'b'], ['b', 'c']), ('a', 'c'), ('a', 'b'), ('b', 'c'), ()),
    (lambda: so3.require_rotation('r', [np.eye(3), np.diag([1.0, 1.0, 0.5])]),
     ('r',), '|R^T R - 1| <= 1e-06', 0.75, (1,))],
    ids=['shape', 'infinity', 'limit', 'names', 'rotations'])
def test_errors_have_their_numbers_as_attributes(call, names, expected, got, indices):
    with pytest.raises(LiedynError) as caught:
        call()
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.names, error.expected, error.got, error.indices) == (
            names, expected, got, indices)
        assert str(error) == str(caught.value)


@pytest.mark.parametrize(('message', 'names', 'expected', 'got', 'indices'), [
    ('dt: expected a number of s above 0, got -1', ('dt',), 0, -1, ()),
    ('a.urdf: joint a: expected at most 1e3 N, got 2000.5 N; sic', ('joint a',), 1e3, 2000.5, ()),
    ('times[2]: expected finite ones, got nan', ('times',), 'finite ones', np.nan, (2,)),
    ("type: expected one of both, got 'weld'", ('type',), 'one of both', 'weld', ()),
    ('x: expected shape (3,), got [[1.5, 2], [3, inf]]', ('x',), (3,), '[[1.5, 2], [3, inf]]', ()),
    ('times: expected increasing ones, got\n[0.0, 2.0, 1.0] s', ('times',), 'increasing ones',
     [0.0, 2.0, 1.0], ()),
    ('q: expected one of 2, got ones of 3 and 4', ('q',), 2, 'ones of 3 and 4', ()),
    ('expected a name', (), 'a name', None, ()), ('cancelled', (), None, None, ()),
    (f'x: expected {"(" * 400}1, got {"[" * 400}', ('x',), 1, '[' * 400, ())])
def test_attributes_that_are_not_given_are_read_from_the_message(
        message, names, expected, got, indices):
    error = LiedynError(message)
    assert (error.names, error.expected, error.indices) == (names, expected, indices)
    assert error.got == got or got != got != error.got


def test_names_that_are_nearest_are_offered():
    with refused(NameSetError, 'elbow', 'wrist', 'elbw', 'wirst'):
        order_of('joints', ['elbow', 'wrist', 'hand'], ['elbw', 'wirst', 'hand'])
    with refused(NameSetError, 'elbow', 'zzz'):
        order_of('joints', ['elbow', 'wrist'], ['zzz', 'wrist'])


def test_places_of_names_in_any_order():
    order = NameOrder('name', ['a', 'b', 'c'])
    assert order.of(['c', 'a', 'b']).tolist() == [1, 2, 0]
    assert order.of(['a', 'b', 'c']).tolist() == [0, 1, 2]


def test_others_are_ignored_where_that_is_wanted():
    given = ['x', 'b', 'y', 'a']
    assert NameOrder('name', ['a', 'b'], ignore_others=True).of(given).tolist() == [3, 1]
    with refused(NameSetError, 'x', 'y'):
        NameOrder('name', ['a', 'b']).of(given)


def test_the_same_names_are_matched_once(monkeypatch):
    searches, order_of = [], name_order.order_of
    monkeypatch.setattr(name_order, 'order_of', lambda *arguments: (
        searches.append(arguments), order_of(*arguments))[1])
    order = NameOrder('name', ['a', 'b'])
    for names in (['b', 'a'], ['b', 'a'], ['a', 'b'], ['a', 'b']):
        order.of(names)
    assert len(searches) == 2


def test_a_list_that_is_filled_again_is_looked_at_again():
    order, names = NameOrder('name', ['a', 'b']), ['a', 'b']
    order.of(names)
    names.reverse()
    assert order.of(names).tolist() == [1, 0]


def test_refused_names_are_refused_again_and_change_nothing():
    order = NameOrder('name', ['a', 'b'])
    assert order.of(['b', 'a']).tolist() == [1, 0]
    for _ in range(2):
        with refused(NameSetError, 'b'):
            order.of(['a'])
    assert order.of(['b', 'a']).tolist() == [1, 0]
