# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Names in any order: matched, refused, and remembered while the same names come."""

from support.refusals import refused

from liedyn_ros.common import name_order
from liedyn_ros.common.errors import NameSetError
from liedyn_ros.common.name_order import NameOrder


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
