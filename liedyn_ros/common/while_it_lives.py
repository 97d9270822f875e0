# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a function makes of an object, kept as long as the object lives and no longer."""

from collections.abc import Callable
import functools
from typing import TypeVar
from weakref import WeakKeyDictionary

Of = TypeVar('Of')
Made = TypeVar('Made')


def while_it_lives(function: Callable[[Of], Made]) -> Callable[[Of], Made]:
    """Return the function so that it runs once for each object; what it makes must not hold it."""
    kept: WeakKeyDictionary[Of, Made] = WeakKeyDictionary()

    @functools.wraps(function)
    def made(of: Of) -> Made:
        try:
            return kept[of]
        except KeyError:
            return kept.setdefault(of, function(of))

    return made
