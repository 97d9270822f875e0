# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Per-object cache with weak keys."""

from collections.abc import Callable
import functools
from typing import TypeVar
from weakref import WeakKeyDictionary

Key = TypeVar('Key')
Value = TypeVar('Value')


def weak_cache(function: Callable[[Key], Value]) -> Callable[[Key], Value]:
    """
    Return the function with a cache of its values, one for each living argument.

    An entry goes with its argument. So a value must not hold a reference to it.
    """
    cache: WeakKeyDictionary[Key, Value] = WeakKeyDictionary()

    @functools.wraps(function)
    def cached(key: Key) -> Value:
        try:
            return cache[key]
        except KeyError:
            return cache.setdefault(key, function(key))

    return cached
